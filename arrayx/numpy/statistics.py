"""Means, deviations, and reductions of what is not nan."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic
from arrayx.numpy.composing import composed
from arrayx.numpy.cumulative import cumprod, cumsum
from arrayx.numpy.logic import isnan, truth
from arrayx.numpy.naming import refuse_out
from arrayx.numpy.promotion import (
    as_array,
    as_numbers,
    as_type,
    asked_dtype,
    broadcast_to_shape,
    check_axes,
    inexact,
    promoted_arrays,
)
from arrayx.numpy.reductions import (
    Axes,
    _highest,
    _lowest,
    all,
    literal,
    max,
    min,
    ordered,
    prod,
    sum,
)
from arrayx.primitives import arithmetic as ring
from arrayx.primitives import complex as complex_parts
from arrayx.primitives.arithmetic import select
from arrayx.primitives.axes import reshape
from arrayx.primitives.exponential import sqrt
from arrayx.primitives.numeric import div


def _count(x: Array, axes: Axes, where: Any, keepdims: bool) -> Any:
    """How many elements take part: a number, or an array where `where` decides."""
    if where is None:
        return math.prod(x.shape[i] for i in axes)
    mask = broadcast_to_shape(truth(as_numbers(where, "mean", "where")), x.shape)
    return sum(mask, axes, dtypes.real_dtype(x.dtype), keepdims=keepdims)


def _floating(a: Any, dtype: Any, function: str) -> Array:
    x = as_numbers(a, function, "a")
    if dtype is not None:
        return as_type(x, asked_dtype(dtype, function))
    return as_type(x, dtypes.float_for(x.dtype))


def _divided(x: Array, count: Any) -> Array:
    if isinstance(count, Array):
        return arithmetic.divide(x, count)
    if dtypes.kind(x.dtype) not in ("float", "complex"):
        return arithmetic.floor_divide(x, count)
    return div(x, literal(count, x.dtype))  # type: ignore[no-any-return]


@composed
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    *,
    where: Any = None,
) -> Array:
    """The mean over `axis`; nan if no element takes part.  64-bit integers give float64.

    >>> import arrayx.numpy as anp
    >>> float(anp.mean(anp.array([1, 2, 6])))
    3.0
    """
    refuse_out(out, "mean")
    x = _floating(a, dtype, "mean")
    axes = check_axes(axis, x.ndim, "mean")
    wide = dtypes.accumulation_dtype(x.dtype)
    total = sum(as_type(x, wide), axes, keepdims=keepdims, where=where)
    return as_type(_divided(total, _count(x, axes, where, keepdims)), x.dtype)


@composed
def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False
) -> Any:
    """The mean over `axis`, weighted by `weights`; with `returned` also the sum of those.

    >>> import arrayx.numpy as anp
    >>> float(anp.average(anp.array([1.0, 4.0]), weights=anp.array([3.0, 1.0])))
    1.75
    """
    x = as_array(a, "average", "a")
    if weights is None:
        result = mean(x, axis, keepdims=keepdims)
        axes = check_axes(axis, x.ndim, "average")
        total = arithmetic.multiply(
            broadcast_to_shape(as_array(1), result.shape), _count(x, axes, None, keepdims)
        )
        return (result, as_type(total, result.dtype)) if returned else result
    w = as_array(weights, "average", "weights")
    if w.shape != x.shape:
        axes = check_axes(axis, x.ndim, "average")
        if axis is None or w.shape != tuple(x.shape[i] for i in axes):
            raise errors.ShapeError(
                f"average: weights of shape {w.shape} do not fit the shape {x.shape}"
            )
        shape = [1] * x.ndim
        for i, n in zip(axes, w.shape, strict=True):
            shape[i] = n
        w = broadcast_to_shape(reshape(w, shape=tuple(shape)), x.shape)
    # Integers become floats before the products, which theirs might not hold.
    x, w = promoted_arrays((x, w), "average", ("a", "weights"), inexact)
    dtype = x.dtype
    wide = dtypes.accumulation_dtype(dtype)
    x, w = as_type(x, wide), as_type(w, wide)
    total = sum(w, axis, keepdims=keepdims)
    result = arithmetic.divide(sum(arithmetic.multiply(x, w), axis, keepdims=keepdims), total)
    result = as_type(result, dtype)
    return (result, as_type(total, dtype)) if returned else result


def _squared_size(x: Array) -> Array:
    if dtypes.kind(x.dtype) != "complex":
        return ring.mul(x, x)  # type: ignore[no-any-return]
    re, im = complex_parts.real(x), complex_parts.imag(x)
    return ring.add(ring.mul(re, re), ring.mul(im, im))  # type: ignore[no-any-return]


@composed
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Array:
    """The mean squared distance from the mean over `axis`, divided by n - `ddof`.

    nan where n - `ddof` is not positive.

    >>> import arrayx.numpy as anp
    >>> float(anp.var(anp.array([1.0, 3.0])))
    1.0
    """
    refuse_out(out, "var")
    ddof = ddof if correction is None else correction
    x = _floating(a, dtype, "var")
    axes = check_axes(axis, x.ndim, "var")
    out_dtype = dtypes.real_dtype(x.dtype)
    x = as_type(x, dtypes.accumulation_dtype(x.dtype))
    center = _mean(x, axes, where) if mean is None else mean
    squares = _squared_size(arithmetic.subtract(x, center))
    total = sum(squares, axes, keepdims=keepdims, where=where)
    count = _count(x, axes, where, keepdims)
    if not isinstance(count, Array):
        left = count - ddof
        return as_type(_divided(total, float(left) if left > 0 else math.nan), out_dtype)
    left = arithmetic.subtract(count, ddof)
    enough = ring.gt(left, 0.0)
    safe = select(enough, left, 1.0)
    result = select(enough, div(total, safe), math.nan)
    return as_type(result, out_dtype)


def _mean(x: Array, axes: Axes, where: Any) -> Array:
    return mean(x, axes, keepdims=True, where=where)


@composed
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Array:
    """The root of `var`; its slope is 0 where all elements are equal.

    >>> import arrayx.numpy as anp
    >>> float(anp.std(anp.array([1.0, 3.0])))
    1.0
    """
    refuse_out(out, "std")
    variance = var(
        a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
    )
    return root(variance)


def root(x: Array) -> Array:
    """The square root of what is not negative, with slope 0 at 0 instead of infinity."""
    at_zero = ring.eq(x, 0.0)
    return select(at_zero, 0.0, sqrt(select(at_zero, 1.0, x)))  # type: ignore[no-any-return]


def _without_nan(a: Any, value: Callable[[Any], Any], function: str) -> tuple[Array, Any]:
    x = as_numbers(a, function, "a")
    if not dtypes.is_inexact(x.dtype):
        return x, None
    missing = isnan(x)
    return select(missing, value(x.dtype), x), missing


@composed
def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """The sum over `axis` of what is not nan.

    >>> import arrayx.numpy as anp
    >>> float(anp.nansum(anp.array([1.0, anp.nan])))
    1.0
    """
    refuse_out(out, "nansum")
    x, _ = _without_nan(a, lambda d: literal(0, d), "nansum")
    return sum(x, axis, dtype, None, keepdims, initial, where)


@composed
def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """The product over `axis` of what is not nan.

    >>> import arrayx.numpy as anp
    >>> float(anp.nanprod(anp.array([2.0, anp.nan])))
    2.0
    """
    refuse_out(out, "nanprod")
    x, _ = _without_nan(a, lambda d: literal(1, d), "nanprod")
    return prod(x, axis, dtype, None, keepdims, initial, where)


def _nan_extreme(
    name: str, extreme: Any, unit: Any, a: Any, axis: Any, keepdims: bool, initial: Any, where: Any
) -> Array:
    x, missing = _without_nan(ordered(a, name), unit, name)
    result: Array = extreme(x, axis, None, keepdims, initial, where)
    if missing is None or initial is not None:
        return result
    return select(all(missing, axis, keepdims=keepdims), math.nan, result)  # type: ignore[no-any-return]


@composed
def nanmax(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """The largest element over `axis` that is not nan; nan if all are.

    >>> import arrayx.numpy as anp
    >>> float(anp.nanmax(anp.array([1.0, anp.nan])))
    1.0
    """
    refuse_out(out, "nanmax")
    return _nan_extreme("nanmax", max, _lowest, a, axis, keepdims, initial, where)


@composed
def nanmin(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """The smallest element over `axis` that is not nan; nan if all are.

    >>> import arrayx.numpy as anp
    >>> float(anp.nanmin(anp.array([1.0, anp.nan])))
    1.0
    """
    refuse_out(out, "nanmin")
    return _nan_extreme("nanmin", min, _highest, a, axis, keepdims, initial, where)


def _present(a: Any, where: Any) -> Any:
    mask = ring.eq(as_array(a), as_array(a))
    if where is None:
        return mask
    return arithmetic.multiply(mask, truth(as_numbers(where, "mean", "where")))


@composed
def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    where: Any = None,
) -> Array:
    """The mean over `axis` of what is not nan; nan if all are.

    >>> import arrayx.numpy as anp
    >>> float(anp.nanmean(anp.array([1.0, anp.nan, 3.0])))
    2.0
    """
    refuse_out(out, "nanmean")
    x = _floating(a, dtype, "nanmean")
    return mean(x, axis, keepdims=keepdims, where=_present(x, where))


@composed
def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = None,
) -> Array:
    """The variance over `axis` of what is not nan.

    >>> import arrayx.numpy as anp
    >>> float(anp.nanvar(anp.array([1.0, anp.nan, 3.0])))
    1.0
    """
    refuse_out(out, "nanvar")
    x = _floating(a, dtype, "nanvar")
    present = _present(x, where)
    x = select(broadcast_to_shape(present, x.shape), x, literal(0, x.dtype))
    return var(x, axis, None, None, ddof, keepdims, where=present)


@composed
def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = None,
) -> Array:
    """The root of `nanvar`.

    >>> import arrayx.numpy as anp
    >>> float(anp.nanstd(anp.array([1.0, anp.nan, 3.0])))
    1.0
    """
    refuse_out(out, "nanstd")
    return root(nanvar(a, axis, dtype, None, ddof, keepdims, where))


@composed
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Array:
    """The running sums along `axis` (None flattens), nan counted as 0.

    >>> import arrayx.numpy as anp
    >>> anp.nancumsum(anp.array([1.0, anp.nan, 2.0])).tolist()
    [1.0, 1.0, 3.0]
    """
    refuse_out(out, "nancumsum")
    return cumsum(_without_nan(a, lambda d: literal(0, d), "nancumsum")[0], axis, dtype)


@composed
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Array:
    """The running products along `axis` (None flattens), nan counted as 1.

    >>> import arrayx.numpy as anp
    >>> anp.nancumprod(anp.array([2.0, anp.nan, 3.0])).tolist()
    [2.0, 2.0, 6.0]
    """
    refuse_out(out, "nancumprod")
    return cumprod(_without_nan(a, lambda d: literal(1, d), "nancumprod")[0], axis, dtype)
