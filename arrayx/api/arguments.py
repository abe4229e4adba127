"""Arguments and results of user functions as flat lists of arrays, with names for messages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayx import errors
from arrayx.core.array import Array, is_scalar, typeof
from arrayx.core.aval import Aval
from arrayx.dtypes import as_dtype
from arrayx.primitives.creation import scalar
from arrayx.tree_nodes import keystr
from arrayx.treedef import TreeDef, flatten, flatten_with_path


class ShapeDtypeStruct:
    """The type of an array without its elements: stands for one where only types matter.

    >>> ShapeDtypeStruct((2, 3), "float32")
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    __slots__ = ("dtype", "shape", "sharding", "weak_type")

    def __init__(
        self, shape: Sequence[int], dtype: Any, *, weak_type: bool = False, sharding: Any = None
    ) -> None:
        self.shape = tuple(shape)
        self.dtype = as_dtype(dtype)
        self.weak_type = weak_type
        self.sharding = sharding

    @property
    def aval(self) -> Aval:
        """The type as the core knows it."""
        return Aval(self.shape, self.dtype, self.weak_type)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.aval.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and self.aval is other.aval

    def __hash__(self) -> int:
        return hash(self.aval)

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype}{weak})"


def check_callable(fun: Any, transform: str) -> None:
    """Raises where the *result* of a call, or nothing callable at all, was given."""
    if callable(fun):
        return
    if isinstance(fun, Array | np.ndarray):
        what = f"an array of shape {fun.shape}"
    else:
        what = f"{fun!r} of type {type(fun).__name__}"
    wrong, right = _CALLS.get(transform, ("(f(x))", "(f)(x)"))
    raise errors.NotCallableError(
        f"{transform} takes a function, but got {what}. If this is the result of a call, as in "
        f"{transform}{wrong}, pass the function itself: {transform}{right}."
    )


# How the transformations that call the function at once are misused, and used.
_CALLS = {
    "ax.jvp": ("(f(x), (x,), (dx,))", "(f, (x,), (dx,))"),
    "ax.vjp": ("(f(x), x)", "(f, x)"),
    "ax.linearize": ("(f(x), x)", "(f, x)"),
    "ax.eval_shape": ("(f(x), x)", "(f, x)"),
    "ax.check_grads": ("(f(x), (x,))", "(f, (x,))"),
    "ax.backends.explain": ("(f(x), x)", "(f, x)"),
}


def name_of(fun: Any) -> str:
    """A function's name for messages and printed graphs."""
    name = getattr(fun, "__name__", None)
    if name is None and hasattr(fun, "func"):
        return name_of(fun.func)
    return str(name or type(fun).__name__)


def argument_paths(fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """How the user would write each leaf: `x`, `params['w']`, `args[0]` where names fail."""
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    named = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in parameters if p.kind in named]
    paths = []
    for i, arg in enumerate(args):
        root = names[i] if i < len(names) else f"args[{i}]"
        paths += [root + keystr(path) for path, _ in flatten_with_path(arg)[0]]
    for path, _ in flatten_with_path(kwargs)[0]:
        # The outermost key is the keyword itself.
        paths.append(str(getattr(path[0], "key", path[0])) + keystr(path[1:]))
    return paths


def is_value(x: Any) -> bool:
    """True for what can be an array argument: arrays of any kind and Python scalars."""
    return isinstance(x, Array | np.ndarray | np.generic) or is_scalar(x)


def leaf_aval(x: Any, describe: Callable[[], str]) -> Aval:
    """The type of a leaf among the arguments."""
    if isinstance(x, ShapeDtypeStruct):
        return x.aval
    if is_value(x):
        return typeof(x)
    hint = ""
    if isinstance(x, str) or callable(x):
        hint = " Mark it static (static_argnums or static_argnames of ax.jit), or close over it."
    elif isinstance(x, list | tuple):
        hint = " Convert it with anp.asarray."
    else:
        hint = (
            " Give its arrays as arguments, or register its class as a node of trees "
            "(ax.tree_util.register_dataclass)."
        )
    raise errors.ArgumentError(
        f"{describe()} is {x!r} of type {type(x).__name__}, which is not an array.{hint}"
    )


def as_value(x: Any) -> Any:
    """A leaf as something primitives take: scalars become weakly typed arrays."""
    return scalar(x) if is_scalar(x) else x


def flatten_result(result: Any, name: str) -> tuple[list[Any], TreeDef]:
    """The leaves of a function's result as arrays; raises for what is none."""
    leaves, treedef = flatten(result)
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, Array):
            continue
        if is_scalar(leaf):
            leaves[i] = scalar(leaf)
        elif not isinstance(leaf, np.ndarray | np.generic):
            path = keystr(flatten_with_path(result)[0][i][0])
            raise errors.ArgumentError(
                f"{name} returned {leaf!r} of type {type(leaf).__name__}"
                f"{f' at result{path}' if path else ''}, which is not an array. A transformed "
                "function returns arrays, scalars, and containers of them."
            )
    return leaves, treedef
