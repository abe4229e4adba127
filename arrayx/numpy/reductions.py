"""Functions that make one number of many: sums, means, extremes, deviations, truth.

All take `axis` (None: all axes), `keepdims`, and most `where`, a boolean array that says which
elements take part.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic
from arrayx.numpy.logic import isnan, truth
from arrayx.numpy.promotion import (
    LITERALS,
    as_array,
    as_type,
    broadcast_shapes,
    broadcast_to_shape,
    check_axes,
)
from arrayx.primitives import arithmetic as ring
from arrayx.primitives import complex as complex_parts
from arrayx.primitives import reduction
from arrayx.primitives.arithmetic import select
from arrayx.primitives.axes import reduce_sum, reshape
from arrayx.primitives.exponential import sqrt
from arrayx.primitives.numeric import div

Axes = tuple[int, ...]


def literal(value: Any, dtype: Any) -> Any:
    """A number in the kind of a dtype."""
    return LITERALS[dtypes.kind(dtype)](value)


def kept_dims(result: Array, shape: Any, axes: Axes, keepdims: bool) -> Array:
    """The result with its reduced axes put back as axes of length 1, if asked for."""
    if not keepdims or not axes:
        return result
    return reshape(result, shape=tuple(1 if i in axes else n for i, n in enumerate(shape)))  # type: ignore[no-any-return]


def masked(x: Array, where: Any, value: Any, function: str) -> Array:
    """`x` with `value` where `where` is false."""
    if where is None or where is True:
        return x
    mask = truth(as_array(where, function, "where"))
    shape = broadcast_shapes(x.shape, mask.shape)
    x = broadcast_to_shape(x, shape)
    return select(broadcast_to_shape(mask, shape), x, value)  # type: ignore[no-any-return]


def sum_dtype(dtype: Any) -> Any:
    """The dtype of a sum or product: small integers become the default integer."""
    kind = dtypes.kind(dtype)
    if kind == "bool":
        return dtypes.default_int()
    if kind in ("int", "uint"):
        default = dtypes.default_int()
        if dtype.itemsize < default.itemsize:
            return default if kind == "int" else dtypes.as_dtype(f"uint{8 * default.itemsize}")
    return dtype


def _prepared(a: Any, dtype: Any, function: str) -> Array:
    x = as_array(a, function, "a")
    if dtype is not None:
        return as_type(x, dtypes.as_dtype(dtype))
    return as_type(x, sum_dtype(x.dtype), x.aval.weak_type and dtypes.kind(x.dtype) != "bool")


def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Array:
    """The sum over `axis`, from `initial` on; 16-bit floats are added up in float32.

    Integers narrower than the default integer are added up as that, unless `promote_integers` is
    False.

    >>> sum(np.arange(4.0).reshape(2, 2), axis=0).tolist()
    [2.0, 4.0]
    """
    if dtype is None and not promote_integers:
        dtype = as_array(a).dtype
    x = _prepared(a, dtype, "sum")
    axes = check_axes(axis, x.ndim, "sum")
    x = masked(x, where, literal(0, x.dtype), "sum")
    if dtypes.kind(x.dtype) == "bool":
        result = reduction.reduce_or(x, axes=axes)
    else:
        result = reduce_sum(x, axes=axes) if axes else x
    result = kept_dims(result, x.shape, axes, keepdims)
    return result if initial is None else as_type(arithmetic.add(result, initial), x.dtype)


def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Array:
    """The product over `axis`, times `initial`.

    >>> float(prod(np.array([2.0, 3.0])))
    6.0
    """
    if dtype is None and not promote_integers:
        dtype = as_array(a).dtype
    x = _prepared(a, dtype, "prod")
    axes = check_axes(axis, x.ndim, "prod")
    x = masked(x, where, literal(1, x.dtype), "prod")
    if dtypes.kind(x.dtype) == "bool":
        result = reduction.reduce_and(x, axes=axes)
    else:
        result = reduction.reduce_prod(x, axes=axes)
    result = kept_dims(result, x.shape, axes, keepdims)
    return result if initial is None else as_type(arithmetic.multiply(result, initial), x.dtype)


def _lowest(dtype: Any) -> Any:
    kind = dtypes.kind(dtype)
    if kind == "bool":
        return False
    return -math.inf if kind == "float" else int(dtypes.iinfo(dtype).min)


def _highest(dtype: Any) -> Any:
    kind = dtypes.kind(dtype)
    if kind == "bool":
        return True
    return math.inf if kind == "float" else int(dtypes.iinfo(dtype).max)


def _extreme(
    name: str,
    primitive: Any,
    unit: Any,
    combine: Any,
    a: Any,
    axis: Any,
    keepdims: bool,
    initial: Any,
    where: Any,
) -> Array:
    x = as_array(a, name, "a")
    axes = check_axes(axis, x.ndim, name)
    if where is not None and initial is None:
        raise errors.ArgumentError(f"{name} with `where` needs an `initial` value")
    if initial is None and not math.prod(x.shape[i] for i in axes):
        raise errors.ShapeError(
            f"{name} of an array of shape {x.shape} over axes {axes}: there are no elements; "
            "give `initial`"
        )
    if where is not None:
        x = masked(x, where, unit(x.dtype), name)
    result = kept_dims(primitive(x, axes=axes), x.shape, axes, keepdims)
    return result if initial is None else as_type(combine(result, initial), x.dtype)


def max(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """The largest element over `axis`; nan if there is one.  Equal ones share the slope.

    >>> max(np.array([[1, 5], [3, 2]]), axis=1).tolist()
    [5, 3]
    """
    return _extreme(
        "max", reduction.reduce_max, _lowest, arithmetic.maximum, a, axis, keepdims, initial, where
    )


def min(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """The smallest element over `axis`; nan if there is one.  Equal ones share the slope.

    >>> min(np.array([[1, 5], [3, 2]]), axis=1).tolist()
    [1, 2]
    """
    return _extreme(
        "min", reduction.reduce_min, _highest, arithmetic.minimum, a, axis, keepdims, initial, where
    )


amax, amin = max, min


def ptp(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Array:
    """The distance from the smallest to the largest element.

    >>> int(ptp(np.array([1, 5, 3])))
    4
    """
    return arithmetic.subtract(max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims))


def _truths(name: str, primitive: Any, a: Any, axis: Any, keepdims: bool, where: Any) -> Array:
    x = truth(as_array(a, name, "a"))
    axes = check_axes(axis, x.ndim, name)
    x = masked(x, where, name == "all", name)
    return kept_dims(primitive(x, axes=axes), x.shape, axes, keepdims)


def all(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Array:
    """Whether all elements over `axis` are true.

    >>> bool(all(np.array([True, False])))
    False
    """
    return _truths("all", reduction.reduce_and, a, axis, keepdims, where)


def any(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Array:
    """Whether an element over `axis` is true.

    >>> bool(any(np.array([True, False])))
    True
    """
    return _truths("any", reduction.reduce_or, a, axis, keepdims, where)


def count_nonzero(a: Any, axis: Any = None, keepdims: bool = False) -> Array:
    """How many elements over `axis` are not zero.

    >>> int(count_nonzero(np.array([0, 3, 0])))
    1
    """
    x = truth(as_array(a, "count_nonzero", "a"))
    return sum(x, axis, dtypes.index_dtype(x.size), keepdims=keepdims)


# ----------------------------------------------------------------- means and deviations


def _count(x: Array, axes: Axes, where: Any, keepdims: bool) -> Any:
    """How many elements take part: a number, or an array where `where` decides."""
    if where is None:
        return math.prod(x.shape[i] for i in axes)
    mask = broadcast_to_shape(truth(as_array(where)), x.shape)
    return sum(mask, axes, dtypes.real_dtype(x.dtype), keepdims=keepdims)


def _floating(a: Any, dtype: Any, function: str) -> Array:
    x = as_array(a, function, "a")
    if dtype is not None:
        return as_type(x, dtypes.as_dtype(dtype))
    return as_type(x, dtypes.float_for(x.dtype), x.aval.weak_type)


def _divided(x: Array, count: Any) -> Array:
    if isinstance(count, Array):
        return arithmetic.divide(x, count)
    if dtypes.kind(x.dtype) not in ("float", "complex"):
        return arithmetic.floor_divide(x, count)
    return div(x, literal(count, x.dtype))  # type: ignore[no-any-return]


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

    >>> float(mean(np.array([1, 2, 6])))
    3.0
    """
    x = _floating(a, dtype, "mean")
    axes = check_axes(axis, x.ndim, "mean")
    wide = dtypes.accumulation_dtype(x.dtype)
    total = sum(as_type(x, wide, x.aval.weak_type), axes, keepdims=keepdims, where=where)
    return as_type(_divided(total, _count(x, axes, where, keepdims)), x.dtype, x.aval.weak_type)


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False
) -> Any:
    """The mean over `axis`, weighted by `weights`; with `returned` also the sum of those.

    >>> float(average(np.array([1.0, 4.0]), weights=np.array([3.0, 1.0])))
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
    product = arithmetic.multiply(x, w)
    total = sum(w, axis, dtypes.float_for(product.dtype), keepdims=keepdims)
    result = arithmetic.divide(sum(product, axis, keepdims=keepdims), total)
    return (result, as_type(total, result.dtype)) if returned else result


def _squared_size(x: Array) -> Array:
    if dtypes.kind(x.dtype) != "complex":
        return ring.mul(x, x)  # type: ignore[no-any-return]
    re, im = complex_parts.real(x), complex_parts.imag(x)
    return ring.add(ring.mul(re, re), ring.mul(im, im))  # type: ignore[no-any-return]


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

    >>> float(var(np.array([1.0, 3.0])))
    1.0
    """
    ddof = ddof if correction is None else correction
    x = _floating(a, dtype, "var")
    axes = check_axes(axis, x.ndim, "var")
    out_dtype = dtypes.real_dtype(x.dtype)
    x = as_type(x, dtypes.accumulation_dtype(x.dtype), x.aval.weak_type)
    center = _mean(x, axes, where) if mean is None else mean
    squares = _squared_size(arithmetic.subtract(x, center))
    total = sum(squares, axes, keepdims=keepdims, where=where)
    count = _count(x, axes, where, keepdims)
    weak = x.aval.weak_type
    if not isinstance(count, Array):
        left = count - ddof
        return as_type(_divided(total, float(left) if left > 0 else math.nan), out_dtype, weak)
    left = arithmetic.subtract(count, ddof)
    enough = ring.gt(left, 0.0)
    safe = select(enough, left, 1.0)
    result = select(enough, div(total, safe), math.nan)
    return as_type(result, out_dtype, weak)


def _mean(x: Array, axes: Axes, where: Any) -> Array:
    return mean(x, axes, keepdims=True, where=where)


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

    >>> float(std(np.array([1.0, 3.0])))
    1.0
    """
    variance = var(
        a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
    )
    return root(variance)


def root(x: Array) -> Array:
    """The square root of what is not negative, with slope 0 at 0 instead of infinity."""
    at_zero = ring.eq(x, 0.0)
    return select(at_zero, 0.0, sqrt(select(at_zero, 1.0, x)))  # type: ignore[no-any-return]


# ----------------------------------------------------------------- without nan


def _without_nan(a: Any, value: Callable[[Any], Any], function: str) -> tuple[Array, Any]:
    x = as_array(a, function, "a")
    if not dtypes.is_inexact(x.dtype):
        return x, None
    missing = isnan(x)
    return select(missing, value(x.dtype), x), missing


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

    >>> float(nansum(np.array([1.0, np.nan])))
    1.0
    """
    x, _ = _without_nan(a, lambda d: literal(0, d), "nansum")
    return sum(x, axis, dtype, None, keepdims, initial, where)


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

    >>> float(nanprod(np.array([2.0, np.nan])))
    2.0
    """
    x, _ = _without_nan(a, lambda d: literal(1, d), "nanprod")
    return prod(x, axis, dtype, None, keepdims, initial, where)


def _nan_extreme(
    name: str, extreme: Any, unit: Any, a: Any, axis: Any, keepdims: bool, initial: Any, where: Any
) -> Array:
    x, missing = _without_nan(a, unit, name)
    result: Array = extreme(x, axis, None, keepdims, initial, where)
    if missing is None or initial is not None:
        return result
    return select(all(missing, axis, keepdims=keepdims), math.nan, result)  # type: ignore[no-any-return]


def nanmax(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """The largest element over `axis` that is not nan; nan if all are.

    >>> float(nanmax(np.array([1.0, np.nan])))
    1.0
    """
    return _nan_extreme("nanmax", max, _lowest, a, axis, keepdims, initial, where)


def nanmin(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """The smallest element over `axis` that is not nan; nan if all are.

    >>> float(nanmin(np.array([1.0, np.nan])))
    1.0
    """
    return _nan_extreme("nanmin", min, _highest, a, axis, keepdims, initial, where)


def _present(a: Any, where: Any) -> Any:
    mask = ring.eq(as_array(a), as_array(a))
    return mask if where is None else arithmetic.multiply(mask, truth(as_array(where)))


def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    where: Any = None,
) -> Array:
    """The mean over `axis` of what is not nan; nan if all are.

    >>> float(nanmean(np.array([1.0, np.nan, 3.0])))
    2.0
    """
    x = _floating(a, dtype, "nanmean")
    return mean(x, axis, keepdims=keepdims, where=_present(x, where))


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

    >>> float(nanvar(np.array([1.0, np.nan, 3.0])))
    1.0
    """
    x = _floating(a, dtype, "nanvar")
    present = _present(x, where)
    x = select(broadcast_to_shape(present, x.shape), x, literal(0, x.dtype))
    return var(x, axis, None, None, ddof, keepdims, where=present)


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

    >>> float(nanstd(np.array([1.0, np.nan, 3.0])))
    1.0
    """
    return root(nanvar(a, axis, dtype, None, ddof, keepdims, where))
