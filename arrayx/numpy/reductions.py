"""Functions that make one number of many: sums, means, extremes, deviations, truth.

All take `axis` (None: all axes), `keepdims`, and most `where`, a boolean array that says which
elements take part.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic
from arrayx.numpy.composing import composed
from arrayx.numpy.logic import equal, truth
from arrayx.numpy.naming import refuse_out
from arrayx.numpy.promotion import (
    LITERALS,
    as_array,
    as_numbers,
    as_type,
    asked_dtype,
    broadcast_shapes,
    broadcast_to_shape,
    check_axes,
)
from arrayx.primitives import reduction
from arrayx.primitives.arithmetic import eq, ne, select
from arrayx.primitives.axes import reduce_sum, reshape, unreduced
from arrayx.primitives.complex import complex as from_parts
from arrayx.primitives.complex import imag, real

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
    mask = truth(as_numbers(where, function, "where"))
    try:
        shape = broadcast_shapes(x.shape, mask.shape)
    except errors.ShapeError:
        raise errors.ShapeError(
            f"{function}: where of shape {mask.shape} cannot be broadcast to a of shape {x.shape}"
        ) from None
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
    x = as_numbers(a, function, "a")
    if dtype is not None:
        return as_type(x, asked_dtype(dtype, function))
    return as_type(x, sum_dtype(x.dtype))


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

    >>> import arrayx.numpy as anp
    >>> anp.sum(anp.arange(4.0).reshape(2, 2), axis=0).tolist()
    [2.0, 4.0]
    """
    refuse_out(out, "sum")
    if dtype is None and not promote_integers:
        dtype = as_array(a, "sum", "a").dtype
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

    >>> import arrayx.numpy as anp
    >>> float(anp.prod(anp.array([2.0, 3.0])))
    6.0
    """
    refuse_out(out, "prod")
    if dtype is None and not promote_integers:
        dtype = as_array(a, "prod", "a").dtype
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
    if kind == "complex":
        return complex(-math.inf, -math.inf)
    return -math.inf if kind == "float" else int(dtypes.iinfo(dtype).min)


def _highest(dtype: Any) -> Any:
    kind = dtypes.kind(dtype)
    if kind == "bool":
        return True
    if kind == "complex":
        return complex(math.inf, math.inf)
    return math.inf if kind == "float" else int(dtypes.iinfo(dtype).max)


def _of_real(primitive: Any, x: Array, axes: Axes) -> Any:
    return primitive(x, axes=axes)


def _of_complex(primitive: Any, x: Array, axes: Axes) -> Any:
    """The extreme of complex numbers, which are ordered by real part, then by imaginary part."""
    re, im = real(x), imag(x)
    first = primitive(re, axes=axes)
    tied = eq(re, unreduced(first, x.shape, axes))
    beyond = -math.inf if primitive is reduction.reduce_max else math.inf
    second = primitive(select(tied, im, beyond), axes=axes)
    # A nan anywhere is the result, as in NumPy; its place in the order is after all numbers.
    wrong = reduction.reduce_or(ne(x, x), axes=axes)
    return from_parts(select(wrong, math.nan, first), select(wrong, math.nan, second))


def ordered(a: Any, function: str) -> Array:
    """`a` as an array of elements of which one can be the largest."""
    x = as_array(a, function, "a")
    if dtypes.kind(x.dtype) == "key":
        raise errors.DtypeError(f"{function}: there is no order among elements of {x.dtype}")
    return x


def _extreme(
    name: str,
    primitive: Any,
    unit: Any,
    combine: Any,
    a: Any,
    axis: Any,
    out: Any,
    keepdims: bool,
    initial: Any,
    where: Any,
) -> Array:
    refuse_out(out, name)
    x = ordered(a, name)
    x = as_type(x, x.dtype)
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
    apply = _of_complex if dtypes.kind(x.dtype) == "complex" else _of_real
    result = kept_dims(apply(primitive, x, axes), x.shape, axes, keepdims)
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

    Complex numbers are ordered by their real parts, then by their imaginary parts.

    >>> import arrayx.numpy as anp
    >>> anp.max(anp.array([[1, 5], [3, 2]]), axis=1).tolist()
    [5, 3]
    """
    return _extreme(
        "max",
        reduction.reduce_max,
        _lowest,
        arithmetic.maximum,
        a,
        axis,
        out,
        keepdims,
        initial,
        where,
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

    Complex numbers are ordered by their real parts, then by their imaginary parts.

    >>> import arrayx.numpy as anp
    >>> anp.min(anp.array([[1, 5], [3, 2]]), axis=1).tolist()
    [1, 2]
    """
    return _extreme(
        "min",
        reduction.reduce_min,
        _highest,
        arithmetic.minimum,
        a,
        axis,
        out,
        keepdims,
        initial,
        where,
    )


amax, amin = max, min


@composed
def ptp(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Array:
    """The distance from the smallest to the largest element.

    >>> import arrayx.numpy as anp
    >>> int(anp.ptp(anp.array([1, 5, 3])))
    4
    """
    refuse_out(out, "ptp")
    return arithmetic.subtract(max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims))


def _truths(
    name: str, primitive: Any, a: Any, axis: Any, out: Any, keepdims: bool, where: Any
) -> Array:
    refuse_out(out, name)
    x = truth(as_numbers(a, name, "a"))
    axes = check_axes(axis, x.ndim, name)
    x = masked(x, where, name == "all", name)
    return kept_dims(primitive(x, axes=axes), x.shape, axes, keepdims)


def all(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Array:
    """Whether all elements over `axis` are true.

    >>> import arrayx.numpy as anp
    >>> bool(anp.all(anp.array([True, False])))
    False
    """
    return _truths("all", reduction.reduce_and, a, axis, out, keepdims, where)


def any(
    a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Array:
    """Whether an element over `axis` is true.

    >>> import arrayx.numpy as anp
    >>> bool(anp.any(anp.array([True, False])))
    True
    """
    return _truths("any", reduction.reduce_or, a, axis, out, keepdims, where)


@composed
def count_nonzero(a: Any, axis: Any = None, keepdims: bool = False) -> Array:
    """How many elements over `axis` are not zero.

    >>> import arrayx.numpy as anp
    >>> int(anp.count_nonzero(anp.array([0, 3, 0])))
    1
    """
    x = truth(as_numbers(a, "count_nonzero", "a"))
    return sum(x, axis, dtypes.index_dtype(x.size), keepdims=keepdims)


def contains(a: Array, item: Any) -> builtins.bool:
    """Whether an element equals `item`: what Python's `item in a` asks."""
    return builtins.bool(any(equal(a, item)))
