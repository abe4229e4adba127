"""Numbers at equal distances, or equal ratios."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.api.placement import device_put
from arrayx.backend.concrete import ConcreteArray
from arrayx.core.array import Array, typeof
from arrayx.core.interpreter import Tracer
from arrayx.numpy import arithmetic, logic, rounding
from arrayx.numpy.creation import (
    full_like,
    zeros,
)
from arrayx.numpy.naming import named
from arrayx.numpy.placing import placed
from arrayx.numpy.promotion import (
    as_type,
    broadcast_shapes,
    broadcast_to_shape,
    host_array,
    known_values,
    placed_like,
    promoted_arrays,
)
from arrayx.numpy.shapes import expand_dims, moveaxis, reshape
from arrayx.primitives.arithmetic import eq, select
from arrayx.primitives.creation import iota
from arrayx.promotion import lattice_result


@named
def arange(
    start: Any, stop: Any = None, step: Any = None, dtype: Any = None, *, device: Any = None
) -> Array:
    """The numbers from `start` up to, not including, `stop`, `step` apart.

    With one argument it is `stop` and the range starts at 0.  The arguments must be concrete:
    they decide the shape.  `device` says where the array is put.

    >>> import arrayx.numpy as anp
    >>> anp.arange(3), anp.arange(1.0, 2.0, 0.5)
    (Array([0, 1, 2], dtype=int32), Array([1. , 1.5], dtype=float32))
    """
    if device is not None:
        return placed(device, arange, start, stop, step, dtype)  # type: ignore[no-any-return]
    given = [concrete_number(v, "arange") for v in (start, stop, step) if v is not None]
    target: Any = dtypes.as_dtype(dtype) if dtype is not None else None
    if target is None:
        target, _ = lattice_result({(typeof(v).dtype, typeof(v).weak_type) for v in given})
    for v in given:
        if np.size(v) != 1 or isinstance(v, complex) or np.iscomplexobj(v):
            raise errors.ArgumentError(f"arange: a real number is taken, got {v!r}")
        if not np.isfinite(np.asarray(v, float)):
            raise errors.ArgumentError(f"arange: there is no range with {v!r}")
    values = [v.item() if isinstance(v, np.ndarray | np.generic) else v for v in given]
    if stop is None and step is None:
        first, last, by = 0, values[0], 1
    elif stop is None:
        first, last, by = 0, values[0], values[1]
    else:
        first, last, by = values[0], values[1], (values[2] if len(values) > 2 else 1)
    if by == 0:
        raise errors.ArgumentError("arange: the step is 0")
    count = max(0, math.ceil((last - first) / by))
    if isinstance(first, int) and isinstance(last, int) and isinstance(by, int):
        count = len(range(first, last, by))
    if dtypes.is_integer(target) and count:
        for value in (int(first), int(first + (count - 1) * by)):
            dtypes.check_scalar(value, target)
    if first == 0 and by == 1 and dtypes.kind(target) != "bool":
        return iota(shape=(count,), dtype=target, axis=0)  # type: ignore[no-any-return]
    return host_array(np.asarray(first + np.arange(count) * by).astype(target))


def concrete_number(value: Any, function: str) -> Any:
    """A number that is known now: a Python number, or the NumPy value of an array."""
    if isinstance(value, Tracer):
        value = value.concrete(f"{function}()")
    if isinstance(value, ConcreteArray):
        return value.host()
    if isinstance(value, np.ndarray | np.generic | int | float | complex):
        return value
    if hasattr(value, "__index__"):
        return value.__index__()
    raise errors.ArgumentError(f"{function}: {value!r} is not a number")


@named
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """`num` numbers at equal distances from `start` to `stop`, which is the last if `endpoint`.

    `start` and `stop` may be arrays; the numbers then go along `axis`.  With `retstep` also the
    distance.  `device` says where the array is put.

    >>> import arrayx.numpy as anp
    >>> anp.linspace(0.0, 1.0, 5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    if device is not None:
        settings = num, endpoint, retstep, dtype, axis
        return placed(device, linspace, *device_put((start, stop), device), *settings)
    num = concrete_index(num, "linspace", "num")
    if num < 0:
        raise errors.ArgumentError(f"linspace: the number of samples is negative: {num}")

    def floating(d: Any, weak: bool) -> tuple[Any, bool]:
        return dtypes.float_for(d), False

    first, last = promoted_arrays((start, stop), "linspace", ("start", "stop"), floating)
    working = dtypes.accumulation_dtype(first.dtype)  # which can number more elements
    narrow = first.dtype
    first, last = as_type(first, working), as_type(last, working)
    shape = arithmetic.add(first, last).shape
    first, last = broadcast_to_shape(first, shape), broadcast_to_shape(last, shape)
    gaps = num - 1 if endpoint else num
    real = dtypes.real_dtype(working)
    step = (
        arithmetic.divide(arithmetic.subtract(last, first), float(gaps))
        if gaps > 0
        else (full_like(first, math.nan))
    )
    if num == 0:
        with placed_like(first):
            values = zeros((0, *shape), working)
    elif gaps == 0:
        values = expand_dims(first, 0)
    else:
        with placed_like(first):
            counts = iota(shape=(num,), dtype=real, axis=0)
        weights = arithmetic.divide(counts, float(gaps)).reshape((num,) + (1,) * len(shape))
        values = arithmetic.add(
            arithmetic.multiply(first, arithmetic.subtract(1.0, weights)),
            arithmetic.multiply(last, weights),
        )
        if endpoint:
            # The last number is exact, as in NumPy.
            at_end = broadcast_to_shape(
                eq(as_type(counts, real), float(num - 1)).reshape((num,) + (1,) * len(shape)),
                values.shape,
            )
            values = select(at_end, broadcast_to_shape(last, values.shape), values)
    result = moveaxis(values, 0, axis)
    target = narrow if dtype is None else dtypes.as_dtype(dtype)
    if dtypes.is_integer(target):
        result = rounding.floor(result)
    result = as_type(result, target)
    return (result, as_type(step, narrow)) if retstep else result


def concrete_index(value: Any, function: str, argument: str) -> int:
    """An integer that must be known now, because a shape depends on it."""
    if isinstance(value, Tracer):
        value = value.concrete(f"the argument {argument} of {function}")
    try:
        return int(value.__index__())
    except (AttributeError, TypeError):
        raise errors.ArgumentError(
            f"{function}: {argument} must be an integer, got {value!r}"
        ) from None


@named
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    """Numbers from `base**start` to `base**stop` whose logarithms are at equal distances.

    >>> import arrayx.numpy as anp
    >>> [round(v) for v in anp.logspace(0, 2, 3).tolist()]
    [1, 10, 100]
    """
    result = arithmetic.power(base, linspace(start, stop, num, endpoint, axis=axis))
    return result if dtype is None else as_type(result, dtypes.as_dtype(dtype))


@named
def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Array:
    """Numbers from `start` to `stop` with a constant ratio; arrays of them along `axis`.

    `stop` is the last number if `endpoint`.  Real ends of different signs have no such numbers
    between them, so these are nan.

    >>> import arrayx.numpy as anp
    >>> [round(v) for v in anp.geomspace(1.0, 100.0, 3).tolist()]
    [1, 10, 100]
    """
    num = concrete_index(num, "geomspace", "num")

    def floating(d: Any, weak: bool) -> tuple[Any, bool]:
        return dtypes.float_for(d), False

    first, last = promoted_arrays((start, stop), "geomspace", ("start", "stop"), floating)
    for end in (first, last):
        known = known_values(end)
        if known is not None and not known.all():
            raise errors.ArgumentError("geomspace: start and stop cannot be 0")
    target = first.dtype if dtype is None else dtypes.as_dtype(dtype)
    working = dtypes.accumulation_dtype(first.dtype)
    shape = broadcast_shapes(first.shape, last.shape)
    first, last = (broadcast_to_shape(as_type(v, working), shape) for v in (first, last))
    with placed_like(first):
        weights = linspace(0.0, 1.0, num, endpoint, dtype=dtypes.real_dtype(working))
        at_end = logic.equal(iota(shape=(num,), dtype=np.dtype(np.int32), axis=0), num - 1)
    column = (num,) + (1,) * len(shape)
    ratios = arithmetic.power(arithmetic.divide(last, first), reshape(weights, column))
    values = arithmetic.multiply(first, ratios)
    if endpoint and num > 1:
        # The last number is exact, as in NumPy.
        mask = broadcast_to_shape(reshape(at_end, column), values.shape)
        values = select(mask, broadcast_to_shape(last, values.shape), values)
    return as_type(moveaxis(values, 0, axis), target)
