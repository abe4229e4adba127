"""Order: sorting, searching, and the quantiles that rest on it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, logic, rounding
from arrayx.numpy.composing import composed
from arrayx.numpy.creation import full_like
from arrayx.numpy.naming import refuse_out
from arrayx.numpy.promotion import (
    SCALARS,
    as_array,
    as_type,
    broadcast_to_shape,
    check_axes,
    check_axis,
    known_values,
    placed_like,
    promoted_arrays,
    read_beside,
    scalar_array,
)
from arrayx.numpy.ranges import concrete_index
from arrayx.numpy.reductions import all as all_true
from arrayx.numpy.reductions import any as any_true
from arrayx.numpy.reductions import sum
from arrayx.numpy.selection import (
    take,
    take_along_axis,
    where,
)
from arrayx.numpy.shapes import expand_dims, moveaxis, ravel, reshape
from arrayx.primitives import reduction, sorting
from arrayx.primitives.creation import iota


def _in_line(a: Any, axis: Any, function: str) -> tuple[Array, int]:
    x = as_array(a, function, "a")
    if axis is None:
        x, axis = ravel(x), 0
    return x, check_axis(axis, x.ndim, function)


_KINDS = (None, "stable", "quicksort", "mergesort", "heapsort")


def _check_order(kind: Any, order: Any, function: str) -> None:
    if kind not in _KINDS:
        raise errors.ArgumentError(f"{function}: kind is one of {_KINDS[1:]}, not {kind!r}")
    if order is not None:
        raise errors.ArgumentError(
            f"{function}: order= is for arrays with named fields, which there are not"
        )


@composed
def sort(
    a: Any,
    axis: int | None = -1,
    *,
    kind: str | None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """`a` sorted along `axis` (None flattens): nan last, equal elements in their order.

    Every sort is stable, so `kind` and `stable` change nothing.

    >>> import arrayx.numpy as anp
    >>> anp.sort(anp.array([3, 1, 2])).tolist()
    [1, 2, 3]
    """
    _check_order(kind, order, "sort")
    x, i = _in_line(a, axis, "sort")
    if descending:
        return take_along_axis(x, argsort(x, i, descending=True), i)
    return sorting.sort(x, axis=i, num_keys=1)[0]  # type: ignore[no-any-return]


@composed
def argsort(
    a: Any,
    axis: int | None = -1,
    *,
    kind: str | None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """The indices that sort `a` along `axis`; equal elements in their order.

    >>> import arrayx.numpy as anp
    >>> anp.argsort(anp.array([3, 1, 2])).tolist()
    [1, 2, 0]
    """
    _check_order(kind, order, "argsort")
    x, i = _in_line(a, axis, "argsort")
    dtype = dtypes.index_dtype(x.shape[i])
    with placed_like(x):
        places = iota(shape=x.shape, dtype=dtype, axis=i)
    if not descending:
        return sorting.sort(x, places, axis=i, num_keys=1)[1]  # type: ignore[no-any-return]
    # Turned around, sorted and turned around again: descending, and still stable.
    from_end = arithmetic.subtract(x.shape[i] - 1, places)
    turned = take_along_axis(x, from_end, i)
    order_ = sorting.sort(turned, from_end, axis=i, num_keys=1)[1]
    return take_along_axis(order_, from_end, i)


@composed
def lexsort(keys: Any, axis: int = -1) -> Array:
    """The indices that sort by several keys, the last one first.

    >>> import arrayx.numpy as anp
    >>> anp.lexsort((anp.array([1, 0]), anp.array([5, 5]))).tolist()
    [1, 0]
    """
    if not isinstance(keys, Array | np.ndarray | list | tuple) or not len(keys):
        raise errors.ArgumentError(
            f"lexsort: keys is a sequence of at least one array, got {keys!r}"
        )
    arrays = [as_array(k, "lexsort", f"keys[{n}]") for n, k in enumerate(keys)]
    for n, x in enumerate(arrays):
        if x.shape != arrays[0].shape:
            raise errors.ShapeError(
                f"lexsort: keys[{n}] has shape {x.shape} and keys[0] {arrays[0].shape}; they must "
                "be equal"
            )
    i = check_axis(axis, arrays[0].ndim, "lexsort")
    dtype = dtypes.index_dtype(arrays[0].shape[i])
    with placed_like(arrays[0]):
        places = iota(shape=arrays[0].shape, dtype=dtype, axis=i)
    return sorting.sort(*arrays[::-1], places, axis=i, num_keys=len(arrays))[-1]  # type: ignore[no-any-return]


def _arg_extreme(name: str, primitive: Any, a: Any, axis: Any, keepdims: bool) -> Array:
    x = as_array(a, name, "a")
    shape = (1,) * x.ndim if axis is None else None
    x, i = _in_line(x, axis, name)
    if x.shape[i] == 0:
        raise errors.ShapeError(f"{name} of an array of shape {x.shape}: there are no elements")
    result = primitive(x, axis=i, dtype=dtypes.index_dtype(x.shape[i]))
    if not keepdims:
        return result  # type: ignore[no-any-return]
    return reshape(result, shape) if shape is not None else expand_dims(result, i)


def argmax(a: Any, axis: int | None = None, out: None = None, keepdims: Any = False) -> Array:
    """The index of the first largest element, or of the first nan.

    >>> import arrayx.numpy as anp
    >>> int(anp.argmax(anp.array([1, 5, 5])))
    1
    """
    refuse_out(out, "argmax")
    return _arg_extreme("argmax", reduction.argmax, a, axis, bool(keepdims))


def argmin(a: Any, axis: int | None = None, out: None = None, keepdims: Any = False) -> Array:
    """The index of the first smallest element, or of the first nan.

    >>> import arrayx.numpy as anp
    >>> int(anp.argmin(anp.array([5, 1, 1])))
    1
    """
    refuse_out(out, "argmin")
    return _arg_extreme("argmin", reduction.argmin, a, axis, bool(keepdims))


_METHODS_OF_SEARCH = ("scan", "scan_unrolled", "sort", "compare_all")


@composed
def searchsorted(
    a: Any, v: Any, side: str = "left", sorter: Any = None, *, method: str = "scan"
) -> Array:
    """Where to insert `v` into the sorted vector `a`: before equal elements, or after them.

    `method` is taken for programs that give one; all of them halve an interval.

    >>> import arrayx.numpy as anp
    >>> anp.searchsorted(anp.array([1, 3, 5]), anp.array([3, 4])).tolist()
    [1, 2]
    """
    if side not in ("left", "right"):
        raise errors.ArgumentError(f"searchsorted: side is 'left' or 'right', not {side!r}")
    if method not in _METHODS_OF_SEARCH:
        raise errors.ArgumentError(
            f"searchsorted: method is one of {_METHODS_OF_SEARCH}, not {method!r}"
        )
    line, wanted = promoted_arrays((a, v), "searchsorted", ("a", "v"))
    if line.ndim != 1:
        raise errors.ShapeError(f"searchsorted: a must be a vector, got shape {line.shape}")
    if sorter is not None:
        order = as_array(sorter, "searchsorted", "sorter")
        if order.shape != line.shape:
            raise errors.ShapeError(
                f"searchsorted: sorter of shape {order.shape} for a of shape {line.shape}"
            )
        line = take(line, order)
    dtype = dtypes.index_dtype(line.shape[0])
    return sorting.searchsorted(line, wanted, side=side, batch=0, dtype=dtype)  # type: ignore[no-any-return]


@composed
def digitize(x: Any, bins: Any, right: bool = False) -> Array:
    """The number of the bin into which each element falls; `bins` rise or fall.

    >>> import arrayx.numpy as anp
    >>> anp.digitize(anp.array([0.5, 2.5]), anp.array([1.0, 2.0])).tolist()
    [0, 2]
    """
    edges = as_array(bins, "digitize", "bins")
    numbers = as_array(x, "digitize", "x")
    if edges.ndim != 1:
        raise errors.ShapeError(f"digitize: bins must be a vector, got shape {edges.shape}")
    if dtypes.is_complex(edges.dtype) or dtypes.is_complex(numbers.dtype):
        raise errors.DtypeError("digitize: complex numbers have no bins")
    known = known_values(edges)
    if known is not None and len(known) > 1:
        steps = np.asarray(known[1:] >= known[:-1]), np.asarray(known[1:] <= known[:-1])
        if not any(s.all() for s in steps):
            raise errors.ArgumentError("digitize: bins must rise or fall all along")
    if edges.shape[0] == 0:
        return full_like(numbers, 0, dtypes.default_int())
    side = "left" if right else "right"
    rising = searchsorted(edges, x, side)
    turned = edges[::-1]
    falling = arithmetic.subtract(edges.shape[0], searchsorted(turned, x, side))
    return where(logic.greater_equal(edges[-1], edges[0]), rising, falling)  # type: ignore[no-any-return]


@composed
def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """The values below which the fractions `q` of the elements over `axis` lie.

    Methods between two elements: "linear", "lower", "higher", "midpoint", "nearest".  nan where
    an element is nan.

    >>> import arrayx.numpy as anp
    >>> float(anp.quantile(anp.array([1.0, 2.0, 4.0]), 0.5))
    2.0
    """
    refuse_out(out, "quantile")
    return _quantile(a, q, axis, method, keepdims, "quantile", False)


@composed
def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """`quantile` of what is not nan.

    >>> import arrayx.numpy as anp
    >>> float(anp.nanquantile(anp.array([1.0, anp.nan, 3.0]), 0.5))
    2.0
    """
    refuse_out(out, "nanquantile")
    return _quantile(a, q, axis, method, keepdims, "nanquantile", True)


_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantile(
    a: Any,
    q: Any,
    axis: Any,
    method: str,
    keepdims: bool,
    function: str,
    skip_nan: bool,
    most: float = 1,
) -> Array:
    if method not in _METHODS:
        raise errors.ArgumentError(f"{function}: no method {method!r}; there are {_METHODS}")
    x = as_array(a, function, "a")
    result_dtype = dtypes.float_for(x.dtype)
    if dtypes.is_complex(result_dtype):
        raise errors.DtypeError(f"{function}: complex numbers of dtype {x.dtype} have no order")
    # In which places can be told apart: 16 bits number 2,048 elements at most.
    x = as_type(x, dtypes.accumulation_dtype(result_dtype))
    fractions = _fractions(q, x, most, function)
    axes = check_axes(axis, x.ndim, function)
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    x = moveaxis(x, axes, tuple(range(-len(axes), 0))) if axes else expand_dims(x, -1)
    if axes:
        x = reshape(x, (*x.shape[: x.ndim - len(axes)], math.prod(x.shape[-len(axes) :])))
    missing = logic.isnan(x)
    line = sort(x, -1)
    n = x.shape[-1]
    if skip_nan:
        count = as_type(sum(logic.logical_not(missing), -1), x.dtype)
    else:
        count = broadcast_to_shape(scalar_array(float(n), x.dtype, False, (x,)), x.shape[:-1])
    wide = reshape(fractions, (*fractions.shape, *(1,) * (x.ndim - 1)))
    place = arithmetic.multiply(wide, arithmetic.subtract(count, 1.0))
    below, above = rounding.floor(place), rounding.ceil(place)
    weight = arithmetic.subtract(place, below)
    index = dtypes.index_dtype(n)

    def at(where_: Array) -> Array:
        clipped = arithmetic.clip(as_type(where_, index), 0, max(n - 1, 0))
        shape = clipped.shape[fractions.ndim :]
        flat = reshape(clipped, (-1, *shape)) if clipped.size else clipped
        flat = moveaxis(flat, 0, -1)
        picked = moveaxis(take_along_axis(line, flat, -1, "clip"), -1, 0)
        return reshape(picked, clipped.shape)

    low, high = at(below), at(above)
    if method == "linear":
        result = arithmetic.add(
            arithmetic.multiply(low, arithmetic.subtract(1.0, weight)),
            arithmetic.multiply(high, weight),
        )
        result = where(logic.equal(low, high), low, result)
    elif method == "midpoint":
        result = arithmetic.multiply(0.5, arithmetic.add(low, high))
    elif method == "nearest":
        result = at(rounding.round(place))
    else:
        result = low if method == "lower" else high
    bad = all_true(missing, -1) if skip_nan else any_true(missing, -1)
    result = as_type(where(bad, float("nan"), result), x.dtype)
    if keepdims:
        result = reshape(result, (*fractions.shape, *kept))
    return as_type(result, result_dtype)


def _fractions(q: Any, x: Array, most: float, function: str) -> Array:
    """`q` between 0 and `most` as fractions of 1, in the dtype of `x`; raises if it is outside."""
    host = known_values(q)
    if host is not None and host.size and not (np.min(host) >= 0 and np.max(host) <= most):
        raise errors.ArgumentError(f"{function}: q lies between 0 and {most:g}, got {q!r}")
    if type(q) in SCALARS:
        return scalar_array(q / most, x.dtype, False, (x,))
    given = as_type(as_array(read_beside((q, x), function, ("q", "a"))[0]), x.dtype)
    return given if most == 1 else arithmetic.divide(given, most)


def _of_hundred(q: Any, function: str) -> Array:
    """Percents as fractions, in at least 32 bits."""
    percents = as_array(q, function, "q")
    wide = dtypes.accumulation_dtype(dtypes.float_for(percents.dtype))
    return arithmetic.divide(as_type(percents, wide, percents.aval.weak_type), 100.0)


@composed
def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """`quantile` for fractions in percent.

    >>> import arrayx.numpy as anp
    >>> float(anp.percentile(anp.array([1.0, 2.0, 4.0]), 50))
    2.0
    """
    refuse_out(out, "percentile")
    return _quantile(a, q, axis, method, keepdims, "percentile", False, 100)


@composed
def median(
    a: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The element in the middle, or the mean of the two there.

    >>> import arrayx.numpy as anp
    >>> float(anp.median(anp.array([1.0, 5.0, 2.0])))
    2.0
    """
    refuse_out(out, "median")
    return _quantile(a, 0.5, axis, "midpoint", keepdims, "median", False)


@composed
def nanmedian(
    a: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """`median` of what is not nan.

    >>> import arrayx.numpy as anp
    >>> float(anp.nanmedian(anp.array([1.0, anp.nan, 2.0])))
    1.5
    """
    refuse_out(out, "nanmedian")
    return _quantile(a, 0.5, axis, "midpoint", keepdims, "nanmedian", True)


@composed
def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """`percentile` of what is not nan.

    >>> import arrayx.numpy as anp
    >>> float(anp.nanpercentile(anp.array([1.0, anp.nan, 3.0]), 50))
    2.0
    """
    refuse_out(out, "nanpercentile")
    return _quantile(a, q, axis, method, keepdims, "nanpercentile", True, 100)


def _nan_arg(name: str, arg: Any, far: float, a: Any, axis: Any, keepdims: Any) -> Array:
    x = as_array(a, name, "a")
    if not dtypes.is_inexact(x.dtype):
        return arg(x, axis, None, keepdims)  # type: ignore[no-any-return]
    missing = logic.isnan(x)
    place = arg(where(missing, far, x), axis, None, keepdims)
    # An infinity that stands for a nan may come before one that is an element.
    none = all_true(missing, axis, keepdims=bool(keepdims))
    held = logic.logical_and(logic.logical_not(missing), logic.equal(x, far))
    first = argmax(held, axis, None, keepdims)
    only = any_true(held, axis, keepdims=bool(keepdims))
    extreme = all_true(logic.logical_or(missing, held), axis, keepdims=bool(keepdims))
    place = where(logic.logical_and(only, extreme), first, place)
    return where(none, -1, place)  # type: ignore[no-any-return]


@composed
def nanargmax(a: Any, axis: int | None = None, out: None = None, keepdims: Any = False) -> Array:
    """The index of the first largest element that is not nan; -1 if all are.

    >>> import arrayx.numpy as anp
    >>> int(anp.nanargmax(anp.array([1.0, anp.nan, 3.0])))
    2
    """
    refuse_out(out, "nanargmax")
    return _nan_arg("nanargmax", argmax, -math.inf, a, axis, keepdims)


@composed
def nanargmin(a: Any, axis: int | None = None, out: None = None, keepdims: Any = False) -> Array:
    """The index of the first smallest element that is not nan; -1 if all are.

    >>> import arrayx.numpy as anp
    >>> int(anp.nanargmin(anp.array([anp.nan, 3.0, 1.0])))
    2
    """
    refuse_out(out, "nanargmin")
    return _nan_arg("nanargmin", argmin, math.inf, a, axis, keepdims)


def _check_kth(kth: Any, length: int, function: str) -> None:
    for k in kth if isinstance(kth, tuple | list) else (kth,):
        if not -length <= concrete_index(k, function, "kth") < length:
            raise errors.ArgumentError(f"{function}: kth {k} is out of range for length {length}")


@composed
def partition(a: Any, kth: Any, axis: int | None = -1) -> Array:
    """`a` so ordered along `axis` that element `kth` stands where sorting would put it.

    Smaller ones come before it, larger ones behind it; all are sorted, in fact.

    >>> import arrayx.numpy as anp
    >>> anp.partition(anp.array([3, 1, 2]), 1).tolist()
    [1, 2, 3]
    """
    x, i = _in_line(a, axis, "partition")
    _check_kth(kth, x.shape[i], "partition")
    return sort(x, i)


@composed
def argpartition(a: Any, kth: Any, axis: int | None = -1) -> Array:
    """The indices that order `a` as `partition` does.

    >>> import arrayx.numpy as anp
    >>> anp.argpartition(anp.array([3, 1, 2]), 1).tolist()
    [1, 2, 0]
    """
    x, i = _in_line(a, axis, "argpartition")
    _check_kth(kth, x.shape[i], "argpartition")
    return argsort(x, i)


def sort_complex(a: Any) -> Array:
    """`a` sorted along its last axis as complex numbers, by real and then imaginary part.

    >>> import arrayx.numpy as anp
    >>> anp.sort_complex(anp.array([2.0, 1.0])).tolist()
    [(1+0j), (2+0j)]
    """
    x = as_array(a, "sort_complex", "a")
    return as_type(sort(x, -1), dtypes.complex_dtype(dtypes.float_for(x.dtype)))
