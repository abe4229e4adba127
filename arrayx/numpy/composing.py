"""Functions made of many primitives, run as one compiled program once they are called often.

A function is eligible if its result is a matter of types and of what is given beside arrays, so
that its trace is good for every call of a kind.  Calls are counted by their kind; the program is
compiled when there have been enough to pay for it (`docs/decisions/0010-*.md`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from arrayx import errors
from arrayx.backend.concrete import array_types
from arrayx.backend.contract import CompileOptions
from arrayx.backend.dispatch import compile_graph
from arrayx.config import config
from arrayx.core.array import Array
from arrayx.core.aval import Aval
from arrayx.core.interpreter import BASE, current
from arrayx.core.quiet import quietly
from arrayx.numpy.naming import named
from arrayx.transforms.stage import stage
from arrayx.treedef import TreeDef, flatten, unflatten

F = TypeVar("F", bound=Callable[..., Any])

# A program costs as much as 6 to 26 calls without it: who calls seldom does not pay for one.
CALLS: Final = 8
# Above, the work is longer than the calls, and a program would keep more memory than it is worth.
MOST_ELEMENTS: Final = 1 << 16
_MOST_KINDS: Final = 128
_PLAIN: Final = frozenset({int, bool, str, type(None), type})
_current = current.get
_snapshot = config.snapshot


class Kept(NamedTuple):
    """The program of one kind of call, the types of its results, and how they are put together."""

    run: Callable[..., Any]
    avals: tuple[Aval, ...]
    tree: TreeDef | None  # None: one array


def composed(function: F) -> F:
    """`named`, and one program for each kind of call that is made often.

    For functions whose errors and shapes follow from types and from the Python values among the
    arguments.  A call in which an array's value is asked for (a bound, an order) gets no program.
    """
    usual = named(function)
    # For each kind how often it was called, then its program; None where there cannot be one.
    table: dict[Any, int | Kept | None] = {}

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if _current() is not BASE:
            return usual(*args, **kwargs)
        arrays: list[Any] = []
        key: list[Any] = []
        if not _read((*args, *kwargs.values()) if kwargs else args, arrays, key) or not arrays:
            return usual(*args, **kwargs)
        cls = type(arrays[0])
        kind = (cls, _snapshot(), *key, *kwargs)
        found = table.get(kind, 0)
        if type(found) is Kept:
            results = quietly(found.run, [a.buffer for a in arrays])
            if found.tree is None:
                return cls(results[0], found.avals[0])
            made = [cls(b, a) for b, a in zip(results, found.avals, strict=True)]
            return unflatten(found.tree, made)
        if type(found) is int:
            if len(table) >= _MOST_KINDS:
                table.clear()
            table[kind] = found + 1
            if found + 1 > CALLS:
                table[kind] = _compiled(function, args, kwargs, arrays)
        return usual(*args, **kwargs)

    call.programs = table  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def _read(values: Any, arrays: list[Any], key: list[Any]) -> bool:
    """Sorts arguments into arrays and a key of all else; False where that is not possible."""
    for x in values:
        cls = type(x)
        if cls in array_types:
            key.append(x.aval)
            arrays.append(x)
        elif cls in _PLAIN or isinstance(x, np.dtype):
            key.append(cls)
            key.append(x)
        elif cls is float:
            if x == 0.0 or x != x:  # 0.0 and -0.0 are equal keys, and nan is none
                return False
            key.append(cls)
            key.append(x)
        elif cls is tuple or cls is list:
            key.append(cls)
            key.append(len(x))
            if not _read(x, arrays, key):
                return False
        else:
            return False
    return True


def _replaced(value: Any, arrays: Iterator[Any]) -> Any:
    """An argument with the arrays in it replaced by others, in the order of `_read`."""
    if type(value) in array_types:
        return next(arrays)
    if type(value) is tuple or type(value) is list:
        return type(value)([_replaced(x, arrays) for x in value])
    return value


def _compiled(
    function: Callable[..., Any], args: Any, kwargs: dict[str, Any], arrays: list[Any]
) -> Kept | None:
    """The program for calls of this kind, or None where there is none to be had."""
    cls = type(arrays[0])
    if not cls.backend.quiet or any(type(a) is not cls for a in arrays):
        return None
    # A call has to say what it always says, and under `disable_jit` to be Python.
    if config.disable_jit or config.numpy_rank_promotion != "allow":
        return None
    if sum(a.aval.size for a in arrays) > MOST_ELEMENTS:
        return None
    tree: TreeDef | None = None

    def flat(*tracers: Any) -> list[Any]:
        nonlocal tree
        moving = iter(tracers)
        given = [_replaced(x, moving) for x in args]
        named_ones = {name: _replaced(x, moving) for name, x in kwargs.items()}
        result = function(*given, **named_ones)
        if any(t.interpreter.asked for t in tracers):
            raise errors.ConcretizationError(f"{function.__name__} asks for values")
        if isinstance(result, Array):
            return [result]
        leaves, tree = flatten(result)
        return leaves

    try:
        graph, captured = stage(flat, [a.aval for a in arrays], word=function.__name__)
        if captured or graph.effects:
            return None
        if sum(aval.size for aval in graph.out_avals) > MOST_ELEMENTS:
            return None
        program = compile_graph(graph, CompileOptions(cls.device))
    except (errors.ArrayxError, OverflowError, TypeError, ValueError):
        return None  # the call itself says what is wrong
    return None if program.calls_back else Kept(program.run, graph.out_avals, tree)
