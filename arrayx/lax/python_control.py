"""Loops and branches as the Python they stand for: what `disable_jit` makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayx.api.operands import as_array
from arrayx.config import config
from arrayx.core.array import Array
from arrayx.core.interpreter import Tracer
from arrayx.numpy.shapes import stack
from arrayx.transforms.jvp import JVPTracer
from arrayx.treedef import flatten, unflatten


def runs_python(*values: Any) -> bool:
    """True where jit is disabled, and Python can know these values."""
    return config.disable_jit and all(map(is_known, values))


def is_known(x: Any) -> bool:
    """True for a value that Python can look at, also while it is differentiated."""
    while type(x) is JVPTracer:
        x = x.primal
    return not isinstance(x, Tracer)


def while_in_python(
    test: Callable[[Any], Any], step: Callable[[Any], Any], value: Any, most: int | None
) -> Any:
    """A `while` statement; what Python cannot decide is an error of its `bool`."""
    steps = 0
    while bool(as_array(test(value))) and (most is None or steps < most):
        value = step(value)
        steps += 1
    return value


def scan_in_python(
    step: Callable[[Any, Any], tuple[Any, Any]],
    carry: Any,
    xs: Any,
    length: int,
    reverse: bool,
) -> tuple[Any, Any]:
    """A `for` statement over at least one step, whose results are stacked."""
    leaves, tree = flatten(xs)
    places = range(length - 1, -1, -1) if reverse else range(length)
    made: list[Sequence[Any]] = []
    out_tree: Any = None
    for i in places:
        carry, y = step(carry, unflatten(tree, [x[i] for x in leaves]))
        parts, out_tree = flatten(y)
        made.append(parts)
    if reverse:
        made.reverse()
    columns = [stack([as_array(x) for x in column]) for column in zip(*made, strict=True)]
    return as_arrays(carry), unflatten(out_tree, columns)


def as_arrays(tree: Any) -> Any:
    """A tree with its scalars as arrays."""
    leaves, structure = flatten(tree)
    return unflatten(structure, [x if isinstance(x, Array) else as_array(x) for x in leaves])
