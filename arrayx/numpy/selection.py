"""Choosing elements: by a condition, by index, by order."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, logic
from arrayx.numpy.creation import concrete_index
from arrayx.numpy.indexing import (
    Range,
    checked,
    counted_from_0,
    parse,
)
from arrayx.numpy.indexing import take as take_index
from arrayx.numpy.promotion import (
    BOOL,
    SCALARS,
    as_array,
    as_type,
    broadcast_shapes,
    broadcast_to_shape,
    check_axes,
    check_axis,
    key_of,
    placed_like,
    plan_for,
    promoted_arrays,
    read_beside,
    scalar_array,
)
from arrayx.numpy.reductions import all as all_true
from arrayx.numpy.reductions import any as any_true
from arrayx.numpy.reductions import sum
from arrayx.numpy.shapes import concatenate, expand_dims, moveaxis, ravel, reshape
from arrayx.numpy.updates import check_mode
from arrayx.primitives import reduction, sorting
from arrayx.primitives.arithmetic import select as select_primitive
from arrayx.primitives.creation import iota
from arrayx.primitives.cumulative import cumsum
from arrayx.primitives.gather import take_along

_choices: dict[Any, Any] = {}


def where(
    condition: Any,
    x: Any = None,
    y: Any = None,
    /,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Elements of `x` where `condition` is true, of `y` elsewhere; all three are broadcast.

    The branch that is not taken never poisons a gradient.  With `condition` alone it is
    `nonzero(condition)`.

    >>> where(np.array([True, False]), 1.0, np.array([5.0, 6.0])).tolist()
    [1.0, 6.0]
    """
    if x is None and y is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise errors.ArgumentError("where takes the condition alone, or both x and y")
    key = getattr(condition, "aval", None), key_of(x), key_of(y), dtypes.default_int()
    plan = _choices.get(key)
    if plan is not None:
        return plan(condition, x, y)
    which, a, b = read_beside((condition, x, y), "where", ("condition", "x", "y"))
    which = logic.truth(as_array(which))
    if type(a) in SCALARS and type(b) in SCALARS:
        pair = plan_for((a, b), "where", ("x", "y"))
        a = scalar_array(a, pair.dtype, pair.weak, (which,))
    key_a, key_b = key_of(a), key_of(b)
    pair = plan_for((a, b), "where", ("x", "y"))
    shape = broadcast_shapes(pair.shape, which.shape)

    def choose(which: Any, a: Any, b: Any) -> Any:
        ready = pair.apply((a, b))
        ready = [broadcast_to_shape(v, shape) if isinstance(v, Array) else v for v in ready]
        return select_primitive(broadcast_to_shape(which, shape), *ready)

    simple = key[0] is not None and key[0].dtype is BOOL and key[1:3] == (key_a, key_b)
    if simple:
        direct = (
            not any(s is not None for s in pair.steps)
            and key[0].shape == shape
            and all(k in SCALARS or k.shape == shape for k in (key_a, key_b))
        )
        if len(_choices) > 4096:
            _choices.clear()
        _choices[key] = select_primitive if direct else choose
    return choose(which, a, b)


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Array:
    """For each element the choice of the first condition that holds, else `default`.

    >>> x = np.arange(3)
    >>> select([x < 1, x < 2], [x + 10, x + 20], -1).tolist()
    [10, 21, -1]
    """
    if len(condlist) != len(choicelist):
        raise errors.ArgumentError(
            f"select: {len(condlist)} conditions for {len(choicelist)} choices"
        )
    choices = promoted_arrays(
        [*choicelist, default], "select", [f"x{i}" for i in range(len(choicelist) + 1)]
    )
    result = choices[-1]
    for condition, choice in zip(reversed(condlist), reversed(choices[:-1]), strict=True):
        result = where(condition, choice, result)
    return result


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Array:
    """The function (or number) of the last condition that holds, applied to `x`.

    There may be one function more than conditions: it stands where none holds.

    >>> piecewise(np.array([-1.0, 2.0]), [np.array([True, False])], [0.0, lambda v: v]).tolist()
    [0.0, 2.0]
    """
    x = as_array(x, "piecewise", "x")
    conditions = condlist if isinstance(condlist, list | tuple) else [condlist]
    functions = list(funclist)
    rest = functions.pop() if len(functions) == len(conditions) + 1 else 0

    def value(f: Any) -> Array:
        return as_type(as_array(f(x, *args, **kw) if callable(f) else f), x.dtype)

    result = broadcast_to_shape(value(rest), x.shape)
    for condition, f in zip(conditions, functions, strict=True):
        result = where(condition, value(f), result)
    return result


# ----------------------------------------------------------------- by index


def take(
    a: Any,
    indices: Any,
    axis: int | None = None,
    out: None = None,
    mode: Any = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Array:
    """Elements of `a` along `axis` at `indices`; None flattens first.

    `mode` is "fill", "clip" or "wrap"; without it an index outside raises if it is known now.

    >>> take(np.array([5, 6, 7]), np.array([2, 0])).tolist()
    [7, 5]
    """
    x = as_array(a, "take", "a")
    places = as_array(indices, "take", "indices") if type(indices) is not int else indices
    if axis is None:
        x, axis = ravel(x), 0
    i = check_axis(axis, x.ndim, "take")
    mode = check_mode(None if mode == "raise" else mode)
    return take_index(x, (slice(None),) * i + (places,), mode, fill_value)


def take_along_axis(
    arr: Any, indices: Any, axis: int | None = -1, mode: Any = None, fill_value: Any = None
) -> Array:
    """For each line of `arr` along `axis` the elements at the indices in the same line.

    >>> take_along_axis(np.array([[5, 6], [7, 8]]), np.array([[1], [0]]), 1).tolist()
    [[6], [7]]
    """
    x = as_array(arr, "take_along_axis", "arr")
    places = as_array(indices, "take_along_axis", "indices")
    if not dtypes.is_integer(places.dtype):
        raise errors.ArgumentError(f"take_along_axis: indices must be integers, not {places.dtype}")
    if axis is None:
        x, places, axis = ravel(x), ravel(places), 0
    i = check_axis(axis, x.ndim, "take_along_axis")
    if places.ndim != x.ndim:
        raise errors.ShapeError(
            f"take_along_axis: {places.ndim} dimensions of indices for {x.ndim} of the array"
        )
    others = [n for d, n in enumerate(x.shape) if d != i]
    own = [n for d, n in enumerate(places.shape) if d != i]
    shape = list(broadcast_shapes(tuple(others), tuple(own)))
    length = x.shape[i]
    x = broadcast_to_shape(x, tuple([*shape[:i], length, *shape[i:]]))
    places = broadcast_to_shape(places, tuple([*shape[:i], places.shape[i], *shape[i:]]))
    name = check_mode(mode)
    known = parse((slice(None),) * i + (places,), x.shape).items[i]
    if name is None:
        checked([Range(0, 1, n) for n in x.shape[:i]] + [known], x.shape)
    if name == "wrap":
        places = arithmetic.remainder(places, length)
    else:
        places = counted_from_0(places, length)
    how = {"clip": "clip", "wrap": "promise", "promise_in_bounds": "promise"}.get(str(name), "fill")
    if name is None and isinstance(known, np.ndarray):
        how = "promise"
    result = take_along(x, places, i, how) if how != "fill" else _filled(x, places, i, fill_value)
    return result  # type: ignore[no-any-return]


def _filled(x: Array, places: Array, axis: int, fill_value: Any) -> Any:
    found = take_along(x, places, axis, "fill")
    if fill_value is None:
        return found
    inside = logic.logical_and(logic.greater_equal(places, 0), logic.less(places, x.shape[axis]))
    return where(inside, found, fill_value)


def compress(
    condition: Any, a: Any, axis: int | None = None, *, size: int | None = None, fill_value: Any = 0
) -> Array:
    """The elements (slices along `axis`) for which `condition` is true.

    >>> compress(np.array([True, False, True]), np.array([5, 6, 7])).tolist()
    [5, 7]
    """
    x = as_array(a, "compress", "a")
    if axis is None:
        x, axis = ravel(x), 0
    i = check_axis(axis, x.ndim, "compress")
    (places,) = nonzero(condition, size=size, fill_value=x.shape[i])
    if size is not None:
        return take_index(x, (slice(None),) * i + (places,), "fill", fill_value)
    return x[(slice(None),) * i + (places,)]  # type: ignore[index]


def choose(a: Any, choices: Any, out: None = None, mode: str = "raise") -> Array:
    """For each element of `a` the element of that choice at the same place.

    >>> choose(np.array([1, 0]), [np.array([1, 2]), np.array([3, 4])]).tolist()
    [3, 2]
    """
    arrays = promoted_arrays(choices, "choose", [f"choices[{i}]" for i in range(len(choices))])
    index = as_array(a, "choose", "a")
    shape = broadcast_shapes(index.shape, *(x.shape for x in arrays))
    stacked = concatenate([expand_dims(broadcast_to_shape(x, shape), 0) for x in arrays])
    places = expand_dims(broadcast_to_shape(index, shape), 0)
    picked = take_along_axis(stacked, places, 0, None if mode == "raise" else mode)
    return reshape(picked, shape)


def nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> tuple[Array, ...]:
    """The indices of the elements that are not zero, one array for each axis.

    Under `jit` their number must be fixed with `size`: what is missing is `fill_value` (0), what
    is too much is left out.

    >>> [i.tolist() for i in nonzero(np.array([0, 3, 4]))]
    [[1, 2]]
    """
    x = logic.truth(as_array(a, "nonzero", "a"))
    if x.ndim == 0:
        raise errors.ShapeError("nonzero of an array of rank 0; see anp.atleast_1d")
    dtype = dtypes.index_dtype(*x.shape)
    if size is None:
        host = concrete_array(x, "nonzero", "size")
        return tuple(as_array(i.astype(dtype)) for i in np.nonzero(host))
    size = concrete_index(size, "nonzero", "size")
    flat = reshape(x, (-1,)) if x.size else reshape(x, (0,))
    wide = dtypes.index_dtype(x.size)
    fills = fill_value if isinstance(fill_value, tuple) else (fill_value or 0,) * x.ndim
    if not x.size or not size:
        return tuple(broadcast_to_shape(as_type(as_array(f), dtype), (size,)) for f in fills)
    counts = cumsum(as_type(flat, wide), axis=0, reverse=False)
    with placed_like(x):
        wanted = iota(shape=(size,), dtype=wide, axis=0)
    # The k-th nonzero element is behind as many places as have fewer than k + 1 before them.
    places = searchsorted(counts, wanted, side="right")
    found = logic.less(wanted, take_index(counts, -1))
    places = as_type(places, wide)
    results = []
    stride = x.size
    for n, f in zip(x.shape, fills, strict=True):
        stride //= n
        index = arithmetic.remainder(arithmetic.floor_divide(places, stride), n)
        results.append(as_type(where(found, as_type(index, dtype), f), dtype))
    return tuple(results)


def concrete_array(x: Any, function: str, way_out: str) -> np.ndarray:
    """The elements, known now; raises, naming the argument that helps, where they are not."""
    from_tracer = getattr(x, "concrete", None)
    if from_tracer is not None:
        try:
            x = from_tracer(function)
        except errors.ConcretizationError as error:
            raise errors.ConcretizationError(
                f"{error}\nThe shape of {function}'s result depends on values: give `{way_out}=` "
                "to fix it."
            ) from None
    return x.host()  # type: ignore[no-any-return]


def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The indices of the elements of the flattened array that are not zero.

    >>> flatnonzero(np.array([0, 3, 4])).tolist()
    [1, 2]
    """
    return nonzero(ravel(as_array(a, "flatnonzero", "a")), size=size, fill_value=fill_value)[0]


def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The indices of the elements that are not zero, a row for each.

    >>> argwhere(np.array([0, 3, 4])).tolist()
    [[1], [2]]
    """
    found = nonzero(a, size=size, fill_value=fill_value)
    return concatenate([expand_dims(i, 1) for i in found], 1)


# ----------------------------------------------------------------- by order


def _in_line(a: Any, axis: Any, function: str) -> tuple[Array, int]:
    x = as_array(a, function, "a")
    if axis is None:
        x, axis = ravel(x), 0
    return x, check_axis(axis, x.ndim, function)


def sort(
    a: Any,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """`a` sorted along `axis` (None flattens): nan last, equal elements in their order.

    >>> sort(np.array([3, 1, 2])).tolist()
    [1, 2, 3]
    """
    x, i = _in_line(a, axis, "sort")
    if descending:
        return take_along_axis(x, argsort(x, i, descending=True), i)
    return sorting.sort(x, axis=i, num_keys=1)[0]  # type: ignore[no-any-return]


def argsort(
    a: Any,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """The indices that sort `a` along `axis`; equal elements in their order.

    >>> argsort(np.array([3, 1, 2])).tolist()
    [1, 2, 0]
    """
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


def lexsort(keys: Any, axis: int = -1) -> Array:
    """The indices that sort by several keys, the last one first.

    >>> lexsort((np.array([1, 0]), np.array([5, 5]))).tolist()
    [1, 0]
    """
    arrays = [as_array(k, "lexsort", "keys") for k in keys]
    i = check_axis(axis, arrays[0].ndim, "lexsort")
    dtype = dtypes.index_dtype(arrays[0].shape[i])
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

    >>> int(argmax(np.array([1, 5, 5])))
    1
    """
    return _arg_extreme("argmax", reduction.argmax, a, axis, bool(keepdims))


def argmin(a: Any, axis: int | None = None, out: None = None, keepdims: Any = False) -> Array:
    """The index of the first smallest element, or of the first nan.

    >>> int(argmin(np.array([5, 1, 1])))
    1
    """
    return _arg_extreme("argmin", reduction.argmin, a, axis, bool(keepdims))


def searchsorted(
    a: Any, v: Any, side: str = "left", sorter: Any = None, *, method: str = "scan"
) -> Array:
    """Where to insert `v` into the sorted vector `a`: before equal elements, or after them.

    >>> searchsorted(np.array([1, 3, 5]), np.array([3, 4])).tolist()
    [1, 2]
    """
    if side not in ("left", "right"):
        raise errors.ArgumentError(f"searchsorted: side is 'left' or 'right', not {side!r}")
    line, wanted = promoted_arrays((a, v), "searchsorted", ("a", "v"))
    if line.ndim != 1:
        raise errors.ShapeError(f"searchsorted: a must be a vector, got shape {line.shape}")
    if sorter is not None:
        line = take(line, sorter)
    n = line.shape[0]
    dtype = dtypes.index_dtype(n)
    with placed_like(line):
        low = broadcast_to_shape(as_type(as_array(0), dtype), wanted.shape)
        high = broadcast_to_shape(as_type(as_array(n), dtype), wanted.shape)
    if not n:
        return low
    for _ in range(n.bit_length()):
        middle = arithmetic.floor_divide(arithmetic.add(low, high), 2)
        probe = take_index(line, middle, "clip")
        after = logic.less(probe, wanted) if side == "left" else logic.less_equal(probe, wanted)
        if dtypes.kind(line.dtype) == "float":
            # nan stands behind everything, and equal to itself.
            nan_wanted, nan_probe = logic.isnan(wanted), logic.isnan(probe)
            behind = logic.logical_or(logic.logical_not(nan_probe), side == "right")
            after = where(nan_wanted, behind, after)
        open_ = logic.less(low, high)
        after = logic.logical_and(after, open_)
        low, high = (
            where(after, arithmetic.add(middle, 1), low),
            where(logic.logical_and(logic.logical_not(after), open_), middle, high),
        )
    return low


def digitize(x: Any, bins: Any, right: bool = False) -> Array:
    """The number of the bin into which each element falls; `bins` rise or fall.

    >>> digitize(np.array([0.5, 2.5]), np.array([1.0, 2.0])).tolist()
    [0, 2]
    """
    edges = as_array(bins, "digitize", "bins")
    if edges.shape[0] == 0:
        return arithmetic.multiply(as_type(as_array(x), dtypes.default_int()), 0)
    side = "left" if right else "right"
    rising = searchsorted(edges, x, side)
    turned = edges[::-1]  # type: ignore[index]
    other = "right" if right else "left"
    falling = arithmetic.subtract(edges.shape[0], searchsorted(turned, x, other))
    return where(logic.greater_equal(edges[-1], edges[0]), rising, falling)  # type: ignore[index,no-any-return]


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

    >>> float(quantile(np.array([1.0, 2.0, 4.0]), 0.5))
    2.0
    """
    return _quantile(a, q, axis, method, keepdims, "quantile", False)


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

    >>> float(nanquantile(np.array([1.0, np.nan, 3.0]), 0.5))
    2.0
    """
    return _quantile(a, q, axis, method, keepdims, "nanquantile", True)


_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantile(
    a: Any, q: Any, axis: Any, method: str, keepdims: bool, function: str, skip_nan: bool
) -> Array:
    if method not in _METHODS:
        raise errors.ArgumentError(f"{function}: no method {method!r}; there are {_METHODS}")
    x = as_array(a, function, "a")
    x = as_type(x, dtypes.float_for(x.dtype))
    fractions = as_type(as_array(q, function, "q"), x.dtype)
    axes = check_axes(axis, x.ndim, function)
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    x = moveaxis(x, axes, tuple(range(-len(axes), 0))) if axes else expand_dims(x, -1)
    if axes:
        x = reshape(x, (*x.shape[: x.ndim - len(axes)], int(np.prod([*x.shape[-len(axes) :]]))))
    missing = logic.isnan(x)
    line = sort(x, -1)
    n = x.shape[-1]
    if skip_nan:
        count = as_type(sum(logic.logical_not(missing), -1), x.dtype)
    else:
        count = broadcast_to_shape(as_type(as_array(float(n)), x.dtype), x.shape[:-1])
    wide = reshape(fractions, (*fractions.shape, *(1,) * (x.ndim - 1)))
    place = arithmetic.multiply(wide, arithmetic.subtract(count, 1.0))
    below, above = arithmetic.floor(place), arithmetic.ceil(place)
    weight = arithmetic.subtract(place, below)
    index = dtypes.index_dtype(n)

    def at(where_: Array) -> Array:
        clipped = arithmetic.clip(as_type(where_, index), 0, max(n - 1, 0))
        shape = clipped.shape[fractions.ndim :]
        flat = reshape(clipped, (-1, *shape)) if clipped.size else clipped
        flat = moveaxis(flat, 0, -1)
        picked = moveaxis(take_along_axis(line, flat, -1), -1, 0)
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
        result = at(arithmetic.round(place))
    else:
        result = low if method == "lower" else high
    bad = all_true(missing, -1) if skip_nan else any_true(missing, -1)
    result = where(bad, float("nan"), result)
    if keepdims:
        result = reshape(result, (*fractions.shape, *kept))
    return result  # type: ignore[no-any-return]


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

    >>> float(percentile(np.array([1.0, 2.0, 4.0]), 50))
    2.0
    """
    q = arithmetic.divide(as_array(q, "percentile", "q"), 100.0)
    return quantile(a, q, axis, method=method, keepdims=keepdims)


def median(
    a: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The element in the middle, or the mean of the two there.

    >>> float(median(np.array([1.0, 5.0, 2.0])))
    2.0
    """
    return _quantile(a, 0.5, axis, "midpoint", keepdims, "median", False)


def nanmedian(
    a: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """`median` of what is not nan.

    >>> float(nanmedian(np.array([1.0, np.nan, 2.0])))
    1.5
    """
    return _quantile(a, 0.5, axis, "midpoint", keepdims, "nanmedian", True)
