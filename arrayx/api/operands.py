"""What the transformations share: arguments as arrays, and checks of types by their paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from arrayx import dtypes, errors
from arrayx.api.arguments import argument_paths, name_of
from arrayx.api.placement import device_of
from arrayx.backend.concrete import ConcreteArray
from arrayx.backend.dispatch import as_concrete, default_device
from arrayx.backend.registry import chosen, default_name
from arrayx.core.array import Array, is_scalar
from arrayx.core.aval import Aval, tangent_aval
from arrayx.core.linear import Zero
from arrayx.primitives.creation import fill, scalar, zero_literal, zeros
from arrayx.tracebacks import shorten
from arrayx.transforms.evaluate import as_constant
from arrayx.tree_nodes import keystr
from arrayx.treedef import TreeDef, flatten, flatten_up_to, flatten_with_path, unflatten


def as_array(x: Any, device: Any = None) -> Any:
    """A value as an array: a scalar weakly typed, a NumPy array copied; None for anything else.

    Inside a stage a NumPy array becomes a constant of it, which goes where the program runs.
    """
    if isinstance(x, Array):
        return x
    if is_scalar(x):
        return scalar(x)
    if isinstance(x, np.ndarray | np.generic) and x.dtype != dtypes.float0:
        constant = as_constant(x)
        return constant if constant is not x else as_concrete(x, device or default_device())
    return None


def home_of(leaves: Sequence[Any]) -> Any:
    """The device that the first committed array among `leaves` lives on, or None."""
    for x in leaves:
        if isinstance(x, Array):
            device = device_of(x)
            if device is not None:
                return device
    return None


class Boundary:
    """A block in which a transformation calls the user's function: errors get short tracebacks.

    `inner` is a further context around the block, or None.
    """

    __slots__ = ("inner",)

    def __init__(self, inner: AbstractContextManager[Any] | None) -> None:
        self.inner = inner

    def __enter__(self) -> None:
        if self.inner is not None:
            self.inner.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.inner is not None:
            self.inner.__exit__(kind, error, traceback)
        if error is not None:
            shorten(error)


BOUNDARY = Boundary(None)


def working_at(device: Any) -> Boundary:
    """Makes new arrays on the backend of `device`: rules make zeros and ones out of nothing."""
    if device is None or device.backend.name == default_name():
        return BOUNDARY
    return Boundary(chosen(device.backend.name))


_ones: dict[Any, Any] = {}


def one_like(value: Any) -> Any:
    """The number 1 of a scalar's dtype: what reverse mode starts from.

    Concrete ones are kept, one for each backend and dtype.
    """
    cls, dtype = type(value), value.aval.dtype
    made = _ones.get((cls, dtype))
    if type(made) is cls:  # unless its memory was given away, which changes its class
        return made
    one = fill((), dtype, type(zero_literal(dtype))(1))
    if type(one) is cls and isinstance(one, ConcreteArray):
        _ones[cls, dtype] = one
    return one


def arrays_of(
    leaves: Sequence[Any], device: Any, transform: str, paths: Callable[[], Sequence[str]]
) -> list[Any]:
    """The leaves as arrays; raises with the path of a leaf that is none."""
    arrays = []
    for i, x in enumerate(leaves):
        try:
            array = as_array(x, device)
        except errors.DtypeError as error:
            raise errors.DtypeError(f"{transform}: argument {paths()[i]}: {error}") from None
        if array is None:
            raise errors.ArgumentError(
                f"{transform}: argument {paths()[i]} is {x!r} of type {type(x).__name__}, which "
                "is not an array. Close over it instead (lambda x: f(x, option)), or leave it "
                "out of argnums."
            )
        arrays.append(array)
    return arrays


class Selected(NamedTuple):
    """The arguments that a transformation works on, flat, and the function of them alone."""

    leaves: list[Any]
    tree: TreeDef
    call: Callable[..., Any]
    paths: Callable[[], list[str]]


def check_argnums(transform: str, argnums: Any) -> int | tuple[int, ...]:
    """`argnums` as an int or a tuple of ints; raises for anything else."""
    if isinstance(argnums, int | np.integer) and not isinstance(argnums, bool):
        return int(argnums)
    if isinstance(argnums, tuple | list) and all(
        isinstance(i, int | np.integer) and not isinstance(i, bool) for i in argnums
    ):
        return tuple(int(i) for i in argnums)
    raise errors.ArgumentError(
        f"{transform}: argnums takes an int or a tuple of ints, got {argnums!r}"
    )


def select(
    transform: str,
    fun: Callable[..., Any],
    argnums: int | tuple[int, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Selected:
    """Takes the arguments `argnums` out of a call; the others stay what they are."""
    if type(argnums) is int:
        place = argnums
        if not 0 <= place < len(args):
            (place,) = places_of(transform, fun, (argnums,), args)
        leaves, tree = flatten(args[place])
        before, after = args[:place], args[place + 1 :]

        def call(*given: Any) -> Any:
            return fun(*before, unflatten(tree, list(given)), *after, **kwargs)

        return Selected(leaves, tree, call, lambda: paths_of(fun, (place,), args))
    places = places_of(transform, fun, argnums, args)  # type: ignore[arg-type]
    leaves, tree = flatten(tuple(args[i] for i in places))

    def call_several(*given: Any) -> Any:
        full = list(args)
        for i, value in zip(places, unflatten(tree, list(given)), strict=True):
            full[i] = value
        return fun(*full, **kwargs)

    return Selected(leaves, tree, call_several, lambda: paths_of(fun, places, args))


def places_of(
    transform: str, fun: Any, argnums: tuple[int, ...], args: tuple[Any, ...]
) -> tuple[int, ...]:
    """Positions of arguments, counted from the front; raises where there are fewer."""
    n = len(args)
    for i in argnums:
        if not -n <= i < n:
            raise errors.ArgumentError(
                f"{transform}: argnums={i}, but {name_of(fun)} was called with {n} positional "
                f"argument{'' if n == 1 else 's'}. Arguments given by keyword are not "
                "differentiated: pass the argument by position."
            )
    return tuple(i + n if i < 0 else i for i in argnums)


def paths_of(fun: Any, places: Sequence[int], args: tuple[Any, ...]) -> list[str]:
    """How the user would write each leaf of the arguments at these positions."""
    found: list[str] = []
    for i in places:
        found += argument_paths(fun, (*([None] * i), args[i]), {})
    return found


def primal_paths(fun: Any, primals: Sequence[Any]) -> list[str]:
    """How the user would write each leaf of positional arguments."""
    return argument_paths(fun, tuple(primals), {})


def is_differentiable(aval: Aval) -> bool:
    """True for the types that have tangents: floating-point and complex numbers."""
    return dtypes.kind(aval.dtype) in ("float", "complex")


def result_arrays(result: Any, transform: str, fun: Any) -> tuple[list[Any], TreeDef]:
    """The leaves of a function's result as arrays; raises with the path of what is none."""
    if isinstance(result, Array):
        return flatten(result)
    leaves, tree = flatten(result)
    for i, leaf in enumerate(leaves):
        if is_float0(leaf):
            continue
        array = as_array(leaf)
        if array is None:
            path = keystr(flatten_with_path(result)[0][i][0])
            where = f" at result{path}" if path else ""
            beside = (
                "; what is not to be differentiated can be returned beside them with has_aux=True"
            )
            raise errors.ArgumentError(
                f"{transform}: {name_of(fun)} returned {leaf!r} of type {type(leaf).__name__}"
                f"{where}, which is not an array. Return arrays, scalars and containers of them"
                f"{'' if transform in ('ax.vmap', 'ax.pmap') else beside}."
            )
        leaves[i] = array
    return leaves, tree


def split_aux(result: Any, transform: str, fun: Any) -> tuple[Any, Any]:
    """The pair that a function returns under `has_aux=True`."""
    if not isinstance(result, tuple) or len(result) != 2:
        what = f"a tuple of length {len(result)}" if isinstance(result, tuple) else repr(result)
        raise errors.ArgumentError(
            f"{transform} with has_aux=True needs a function that returns a pair "
            f"(result, auxiliary), but {name_of(fun)} returned {what}"
        )
    return result


def is_float0(x: Any) -> bool:
    """True for the tangents of integers, which are NumPy arrays without values."""
    return type(x) is np.ndarray and x.dtype == dtypes.float0


def float0_zeros(aval: Aval) -> np.ndarray:
    """The tangent of an integer or boolean array at the boundary: no values."""
    return np.zeros(aval.shape, dtypes.float0)


def instantiated(tangent: Any, aval: Aval) -> Any:
    """A tangent as users see it, for a value of type `aval`: never `Zero`."""
    if not is_differentiable(aval):
        return float0_zeros(aval)
    return zeros(aval.strong()) if tangent is Zero else tangent


def given_tangents(
    transform: str,
    word: str,
    given: Any,
    tree: TreeDef,
    avals: Sequence[Aval],
    paths: Callable[[], Sequence[str]],
) -> list[Any]:
    """Tangents or cotangents that a user gave, checked against the types of the values.

    float0 arrays become `Zero`, and so do truth values for a boolean, which say no more; a Python
    scalar takes the dtype of its value.
    """
    try:
        leaves = flatten_up_to(tree, given)
    except errors.TreeError as error:
        raise errors.TreeError(
            f"{transform}: the {word}s need the structure {tree}: {error}"
        ) from None
    found = []
    for i, (x, aval) in enumerate(zip(leaves, avals, strict=True)):
        wanted = tangent_aval(aval)
        if wanted.dtype == dtypes.float0:
            given_type = getattr(x, "dtype", None)
            # Truth values are taken too: numbers of zeros and ones would be a mistake.
            harmless = given_type == dtypes.float0 or given_type == aval.dtype == np.bool_
            if not harmless or np.shape(x) != aval.shape:
                raise errors.ArgumentError(
                    f"{transform}: the {word} of {paths()[i]}, which has the type {aval}, has to "
                    f"be np.zeros({aval.shape}, ax.float0), since integers and booleans have no "
                    f"derivative, but {described(x)} was given"
                )
            found.append(Zero)
            continue
        if is_scalar(x) and aval.shape == () and dtypes.kind(aval.dtype) == "float":
            if type(x) is not complex:
                found.append(fill((), aval.dtype, float(x)))
                continue
        elif is_scalar(x) and aval.shape == ():
            found.append(fill((), aval.dtype, complex(x)))
            continue
        array = as_array(x)
        if array is None or array.shape != wanted.shape or array.dtype != wanted.dtype:
            raise errors.ArgumentError(
                f"{transform}: the {word} of {paths()[i]} has to have its type, {wanted}, but "
                f"{described(x)} was given"
            )
        if not array.aval.varying <= aval.varying:
            raise errors.ArgumentError(
                f"{transform}: the {word} of {paths()[i]} varies over mesh axes that its value "
                f"does not vary over: {array.aval} for {aval}. Sum it over them (ax.lax.psum), or "
                "make the value one that varies (ax.lax.pvary)."
            )
        found.append(array)
    return found


def described(x: Any) -> str:
    """A value in a message: its type if it is an array."""
    if isinstance(x, Array):
        return repr(x.aval.strong())
    if isinstance(x, np.ndarray | np.generic):
        name = "float0" if x.dtype == dtypes.float0 else str(x.dtype)
        return f"{name}[{','.join(map(str, x.shape))}]"
    return f"{x!r} of type {type(x).__name__}"
