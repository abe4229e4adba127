"""What functions for users do to their arguments before a primitive sees them.

Apart because it is the one place where values become arrays, dtypes are promoted and shapes are
broadcast; primitives do none of it.  How operands are brought together depends on their types
alone, so it is worked out once for each combination of types and kept as a `Plan`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from arrayx import dtypes, errors, source
from arrayx.api.operands import Boundary, working_at
from arrayx.api.placement import behind, device_of
from arrayx.backend.concrete import ConcreteArray
from arrayx.backend.dispatch import as_concrete, choose_device
from arrayx.config import config
from arrayx.core.array import Array, typeof
from arrayx.core.aval import Aval, Shape
from arrayx.core.interpreter import Tracer, current
from arrayx.dtypes import KEYS
from arrayx.numpy.naming import name_error
from arrayx.primitives.axes import broadcast_in_dim
from arrayx.primitives.conversion import convert
from arrayx.primitives.creation import fill
from arrayx.promotion import adapts, lattice_result
from arrayx.transforms.stage import StageInterpreter, StageTracer, stage_around

DType: TypeAlias = Any
Pair: TypeAlias = tuple[Any, bool]
BOOL = np.dtype(bool)
settings = config.snapshot
SCALARS = frozenset((bool, int, float, complex))
LITERALS: dict[str, Callable[[Any], Any]] = {
    "bool": bool,
    "int": int,
    "uint": int,
    "float": float,
    "complex": complex,
    "narrow int": int,
    "narrow uint": int,
    "narrow float": float,
}


# ----------------------------------------------------------------- values become arrays


def staging() -> StageInterpreter | None:
    """The stage that the current interpreter writes into, or None where work is eager."""
    return stage_around(current.get())


def host_array(x: np.ndarray | np.generic, others: Sequence[Any] = (), weak: bool = False) -> Array:
    """A NumPy value as an array: beside the arrays in `others`, or a constant of the stage."""
    stage = staging()
    if stage is not None:
        if x.ndim == 0:
            return fill((), dtypes.as_dtype(x.dtype), x.item(), weak)  # type: ignore[no-any-return]
        dtypes.as_dtype(x.dtype)
        return StageTracer(stage, stage.lift(x), None)
    made = as_concrete(x, choose_device([behind(other) for other in others]))
    if weak:
        made = type(made)(made.buffer, made.aval.update(weak_type=True))
    return made


def placed_like(reference: Any) -> Boundary:
    """Inside the block new arrays are made by the backend that holds `reference`."""
    return working_at(device_of(reference))


def scalar_array(value: Any, dtype: DType, weak: bool, others: Sequence[Any] = ()) -> Array:
    """A Python number as an array of rank 0, beside the arrays in `others`."""
    dtypes.check_scalar(value, dtype)
    value = LITERALS[dtypes.kind(dtype)](value)
    return host_array(np.asarray(value, dtype), others, weak)


def plain_number(x: Any) -> Any:
    """A number of a subclass, an enumeration's member for one, as Python's own number."""
    kind: Any = next(t for t in (bool, int, float, complex) if isinstance(x, t))
    return kind(x)


class Handed:
    """What reading operands needs of modules that read operands themselves: handed up at import.

    `from_any` makes arrays of nested sequences and of objects with `__array__`; see `nested`.
    """

    from_any: Callable[..., Any]


handed = Handed()


def read(x: Any, function: str, argument: str, others: Sequence[Any] = ()) -> Any:
    """`x` as an array or a Python number; raises, naming function and argument, otherwise.

    NumPy's arrays and scalars become arrays of their own, strong dtype.  Lists and tuples, nested
    too, and objects with `__array__` are made arrays, as NumPy does, beside the arrays in
    `others`; `arrayx.lax` takes arrays and numbers alone, as its model does.
    """
    if isinstance(x, Array) or type(x) in SCALARS:
        return x
    if isinstance(x, np.ndarray | np.generic):
        return _host_argument(x, others, function, argument)
    if isinstance(x, int | float | complex):
        return plain_number(x)
    convertible = getattr(x, "__arrayx_array__", None)
    if convertible is not None:
        return convertible()
    listed = isinstance(x, list | tuple)
    if listed or hasattr(x, "__array__") or hasattr(x, "__array_interface__"):
        if function.startswith(_STRICT):
            raise errors.ArgumentError(
                f"{function}: the argument {argument} is a {type(x).__name__}; arrays and numbers "
                f"are taken. Convert it once, outside of loops: anp.asarray({argument})"
            )
        return _made(x, function, argument, others)
    shown = f"{x!r} of type" if isinstance(x, str) and len(x) <= _MOST_SHOWN else "of type"
    raise errors.ArgumentError(
        f"{function}: the argument {argument} is {shown} {type(x).__name__}, which is neither an "
        "array nor a number"
    )


_STRICT = "lax."


def _made(x: Any, function: str, argument: str, others: Sequence[Any]) -> Any:
    """An array of a list, a tuple or an object with `__array__`."""
    try:
        return handed.from_any(x, None, others)
    except (errors.ArgumentError, errors.ShapeError, errors.DtypeError) as error:
        reason = str(error).removeprefix("array: ").removeprefix("stack: ")
        raise type(error)(
            f"{function}: no array can be made of the argument {argument}, a "
            f"{type(x).__name__}: {reason}"
        ) from None


_MOST_SHOWN = 40


def _host_argument(x: Any, others: Sequence[Any], function: str, argument: str) -> Array:
    try:
        return host_array(x, others)
    except errors.DtypeError as error:
        raise errors.DtypeError(f"{function}: the argument {argument}: {error}") from None


def read_beside(args: Sequence[Any], function: str, names: Sequence[str]) -> list[Any]:
    """`read` for several arguments, NumPy values on the device of the arrays among them."""
    return [
        a if isinstance(a, Array) or type(a) in SCALARS else read(a, function, name, args)
        for a, name in zip(args, names, strict=True)
    ]


def as_array(x: Any, function: str = "asarray", argument: str = "x") -> Array:
    """`x` as an array; Python numbers become weakly typed arrays of rank 0.

    >>> as_array(1.5)
    Array(1.5, dtype=float32, weak_type=True)
    """
    if isinstance(x, Array):
        return x
    x = read(x, function, argument)
    if isinstance(x, Array):
        return x
    return scalar_array(x, dtypes.default_dtype(type(x)), type(x) is not bool)


def known_values(x: Any) -> np.ndarray | None:
    """The elements as NumPy has them, or None where they are traced."""
    if isinstance(x, ConcreteArray):
        return x.host()
    if isinstance(x, Tracer):
        x.interpreter.asked = True
        return None
    return np.asarray(x)


def as_numbers(x: Any, function: str = "asarray", argument: str = "x") -> Array:
    """`as_array` for functions of numbers: random keys are refused."""
    array = as_array(x, function, argument)
    if array.aval.dtype is KEYS[0]:
        raise errors.DtypeError(
            f"{function}: the argument {argument} holds random keys, which are not numbers; draw "
            "from them, or see random.key_data"
        )
    return array


# ----------------------------------------------------------------- errors


def asked_dtype(dtype: Any, function: str) -> DType:
    """The dtype that a caller asks for."""
    try:
        return dtypes.as_dtype(dtype)
    except errors.DtypeError as error:
        name_error(error, function)
        raise


# ----------------------------------------------------------------- shapes


def broadcast_shapes(*shapes: Any) -> Shape:
    """The shape to which arrays of these shapes are broadcast.

    Raises `ShapeError` where two lengths of an axis differ and neither is 1.

    >>> import arrayx.numpy as anp
    >>> anp.broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    listed = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    ndim = max(map(len, listed), default=0)
    result = [1] * ndim
    for shape in listed:
        for i, n in enumerate(shape, ndim - len(shape)):
            if result[i] == 1:
                result[i] = n
            elif n not in (1, result[i]):
                raise errors.ShapeError(
                    f"shapes {', '.join(map(str, listed))} cannot be broadcast together: at axis "
                    f"{i - ndim} there are lengths {result[i]} and {n}"
                )
    return tuple(result)


def broadcast_to_shape(x: Array, shape: Shape) -> Array:
    """`x` repeated to `shape`, its axes lined up with the last ones."""
    if x.aval.shape == shape:
        return x
    offset = len(shape) - x.aval.ndim
    dims = tuple(range(offset, len(shape)))
    return broadcast_in_dim(x, shape=shape, dims=dims)  # type: ignore[no-any-return]


# ----------------------------------------------------------------- dtypes


def as_type(x: Array, dtype: DType, weak: bool = False) -> Array:
    """`x` in another dtype; itself where it has it already."""
    aval = x.aval
    if aval.dtype is dtype and aval.weak_type is weak:
        return x
    return convert(x, dtype=dtype, weak_type=weak)  # type: ignore[no-any-return]


def same(dtype: DType, weak: bool) -> Pair:
    """Operands keep the dtype they are promoted to."""
    return dtype, weak


def inexact(dtype: DType, weak: bool) -> Pair:
    """Integers and booleans become floats."""
    return dtypes.float_for(dtype), weak


def numeric(dtype: DType, weak: bool) -> Pair:
    """Booleans become integers."""
    if dtypes.kind(dtype) == "bool":
        return dtypes.default_int(), False
    return dtype, weak


def strong(dtype: DType, weak: bool) -> Pair:
    """The dtype without the weak mark."""
    return dtype, False


class Plan(NamedTuple):
    """How operands of certain types are brought to one dtype and shape.

    There is one step for each operand: None where it stays, else a function of it.
    `settled` is true where no setting has a say in it, `ranks` are the numbers of axes of the
    arrays, scalars left out.
    """

    dtype: DType
    weak: bool
    shape: Shape
    steps: tuple[Callable[[Any], Any] | None, ...]
    settled: bool
    ranks: frozenset[int]

    def apply(self, args: Sequence[Any]) -> list[Any]:
        """The operands, ready for an elementwise primitive."""
        return [a if s is None else s(a) for a, s in zip(args, self.steps, strict=True)]


def literal_step(dtype: DType) -> Callable[[Any], Any]:
    """What makes a Python number a literal beside arrays of `dtype`."""
    cast = LITERALS[dtypes.kind(dtype)]
    if cast is float or cast is complex:
        return cast  # which raises where an integer is too large

    def step(value: Any) -> Any:
        dtypes.check_scalar(value, dtype)
        return cast(value)

    return step


def array_step(aval: Aval, dtype: DType, weak: bool, shape: Shape) -> Callable[[Any], Any] | None:
    """What brings an array to a dtype and shape, if it is not there already."""
    converts = aval.dtype is not dtype
    if aval.shape == shape:
        return (lambda x: convert(x, dtype=dtype, weak_type=weak)) if converts else None
    dims = tuple(range(len(shape) - aval.ndim, len(shape)))
    if not converts:
        return lambda x: broadcast_in_dim(x, shape=shape, dims=dims)
    return lambda x: broadcast_in_dim(
        convert(x, dtype=dtype, weak_type=weak), shape=shape, dims=dims
    )


def make_plan(keys: tuple[Any, ...], result_of: Callable[[DType, bool], Pair]) -> Plan:
    """The plan for operands of these types: avals, or the types of Python numbers."""
    pairs = [
        (k.dtype, k.weak_type) if type(k) is Aval else (dtypes.default_dtype(k), k is not bool)
        for k in keys
    ]
    dtype, weak = result_of(*lattice_result(pairs))
    avals = [k for k in keys if type(k) is Aval]
    shape = broadcast_shapes(*(a.shape for a in avals))
    steps: list[Callable[[Any], Any] | None] = []
    for i, k in enumerate(keys):
        if type(k) is Aval:
            steps.append(array_step(k, dtype, weak, shape))
        elif not avals and i == 0:
            steps.append(lambda value: scalar_array(value, dtype, weak))
        elif k is not int and LITERALS.get(dtypes.kind(dtype)) is k:
            steps.append(None)
        else:
            steps.append(literal_step(dtype))
    alike = len(avals) == len(keys) and len(set(avals)) == 1 and not any(steps)
    ranks = frozenset(a.ndim for a in avals if a.ndim)
    settled = alike or (
        not weak
        and len(ranks) < 2
        and not any(a.weak_type for a in avals)
        and any(a.dtype is dtype for a in avals)
        and adapts(pairs)
    )
    return Plan(dtype, weak, shape, tuple(steps), settled, ranks)


def check_ranks(plan: Plan, function: str) -> bool:
    """Whether operands of these numbers of axes are broadcast without a word.

    Otherwise warns or raises, as `config.numpy_rank_promotion` says.
    """
    said = settings().numpy_rank_promotion
    if said == "allow" or len(plan.ranks) < 2:
        return True
    listed = " and ".join(map(str, sorted(plan.ranks)))
    message = (
        f"{function}: arrays of {listed} dimensions are broadcast together, and "
        f"config.numpy_rank_promotion is {said!r}; reshape them to one number of dimensions "
        "with anp.expand_dims"
    )
    if said == "raise":
        raise errors.ShapeError(message)
    place = source.current()
    if place is None:
        warnings.warn(message, stacklevel=2)
    else:  # the user's line, however many of ours are between
        warnings.warn_explicit(message, UserWarning, place.file, place.line)
    return False


def key_of(x: Any) -> Any:
    """The part of a plan's key that stands for one operand."""
    return x.aval if isinstance(x, Array) else type(x)


_plans: dict[Any, Plan] = {}
MOST_PLANS = 8192


def plan_for(
    args: Sequence[Any],
    function: str,
    names: Sequence[str],
    result_of: Callable[[DType, bool], Pair] = same,
) -> Plan:
    """The plan for operands that were read; its errors name the function and its arguments."""
    keys = tuple([key_of(a) for a in args])
    key = keys, result_of, settings()
    plan = _plans.get(key)
    if plan is None:
        try:
            plan = make_plan(keys, result_of)
        except errors.ShapeError:
            shown = " and ".join(
                f"{name} of shape {k.shape}"
                for name, k in zip(names, keys, strict=True)
                if type(k) is Aval
            )
            raise errors.ShapeError(
                f"{function}: {shown} cannot be broadcast together: axes are lined up from the "
                "last, and two lengths must be equal or one of them 1"
            ) from None
        except errors.DtypeError as error:
            raise type(error)(f"{function}: {error}") from None
        if len(_plans) >= MOST_PLANS:  # the keys hold avals, so they are bounded
            _plans.clear()
        _plans[key] = plan
    return plan


def operands(
    args: Sequence[Any],
    function: str,
    names: Sequence[str] = ("x1", "x2", "x3"),
    result_of: Callable[[DType, bool], Pair] = same,
) -> list[Any]:
    """Arguments of an elementwise function, promoted and broadcast; numbers stay literals."""
    args = read_beside(args, function, names[: len(args)])
    plan = plan_for(args, function, names[: len(args)], result_of)
    check_ranks(plan, function)
    try:
        return plan.apply(args)
    except OverflowError as error:
        raise OverflowError(f"{function}: {error}") from None


def promoted_arrays(
    args: Sequence[Any],
    function: str,
    names: Sequence[str],
    result_of: Callable[[DType, bool], Pair] = same,
) -> list[Array]:
    """Arguments as arrays of one dtype, each of its own shape."""
    args = read_beside(args, function, names)
    pairs = []
    for a in args:
        aval = typeof(a)
        pairs.append((aval.dtype, aval.weak_type))
    try:
        dtype, weak = result_of(*lattice_result(pairs))
    except errors.DtypeError as error:
        raise type(error)(f"{function}: {error}") from None
    arrays = [a for a in args if isinstance(a, Array)]
    return [
        as_type(a, dtype, weak) if isinstance(a, Array) else scalar_array(a, dtype, weak, arrays)
        for a in args
    ]


def promote(*args: Any) -> list[Array]:
    """Arguments as arrays of one dtype and shape.

    >>> [x.dtype.name for x in promote(np.ones(2, np.int8), 2.5)]
    ['float32', 'float32']
    """
    names = [f"x{i + 1}" for i in range(len(args))]
    arrays = promoted_arrays(args, "promote", names)
    shape = broadcast_shapes(*(a.shape for a in arrays))
    return [broadcast_to_shape(a, shape) for a in arrays]


def check_axis(axis: Any, ndim: int, function: str) -> int:
    """An axis as a number from 0; raises `AxisError` where there is no such axis."""
    try:
        index = axis.__index__()
    except (AttributeError, TypeError):
        raise errors.ArgumentError(
            f"{function}: an axis must be an integer, got {axis!r} of type {type(axis).__name__}"
        ) from None
    if not -ndim <= index < ndim:
        raise errors.AxisError(
            f"{function}: axis {index} is out of range for an array of {ndim} dimensions"
        )
    return index % ndim if ndim else 0


def check_axes(axes: Any, ndim: int, function: str) -> tuple[int, ...]:
    """One axis or several, None for all, as different numbers from 0 in the given order."""
    if axes is None:
        return tuple(range(ndim))
    if not isinstance(axes, tuple | list):
        axes = (axes,)
    result = tuple(check_axis(a, ndim, function) for a in axes)
    if len(set(result)) != len(result):
        raise errors.AxisError(f"{function}: an axis is given twice in {tuple(axes)}")
    return result
