"""Arrays as sets: what is in them, once, and what two of them share.

How many elements a result has depends on values, so under `jit` it must be fixed with `size=`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, logic
from arrayx.numpy.composing import composed
from arrayx.numpy.creation import asarray, beside, zeros
from arrayx.numpy.indexing import take as take_index
from arrayx.numpy.naming import named
from arrayx.numpy.ordering import argsort, searchsorted, sort
from arrayx.numpy.promotion import as_array, as_type, check_axis, placed_like, promoted_arrays
from arrayx.numpy.ranges import concrete_index
from arrayx.numpy.reductions import any as any_true
from arrayx.numpy.reductions import sum
from arrayx.numpy.scattering import updated
from arrayx.numpy.selection import concrete_array, nonzero, where
from arrayx.numpy.shapes import concatenate, moveaxis, ravel, reshape
from arrayx.primitives import sorting
from arrayx.primitives.creation import fill, iota
from arrayx.primitives.cumulative import cumsum

# Up to so many elements are compared one by one, beyond it they are looked up in order.
_FEW = 32
# More pairs are compared in one pass for each of the few, since their table would be large.
_MOST_PAIRS = 1 << 18


class UniqueAllResult(NamedTuple):
    """What `unique_all` gives."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` gives."""

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` gives."""

    values: Array
    inverse_indices: Array


class _Runs(NamedTuple):
    """Rows in order, and where among them a new one begins."""

    rows: Array
    order: Array
    new: Array


@composed
def _runs(rows: Array, equal_nan: bool, placed: bool) -> _Runs:
    """The rows of an array, sorted; for equal ones the first in the array comes first.

    Where they stood is known if that is asked for (`placed`): without it numbers sort faster.
    """
    n = rows.shape[0]
    ordered = order = None
    if rows.ndim == 1 and not placed:
        ordered = order = sort(rows)
    elif rows.ndim == 1:
        order = argsort(rows)
    else:
        dtype = dtypes.index_dtype(n)
        with placed_like(rows):
            places = iota(shape=(n,), dtype=dtype, axis=0)
        flat = reshape(rows, (n, math.prod(rows.shape[1:])))
        columns = [flat[:, j] for j in range(flat.shape[1])]
        order = sorting.sort(*columns, places, axis=0, num_keys=max(len(columns), 1))[-1]
    if ordered is None:
        ordered = take_index(rows, order, "clip")
    before, after = ordered[:-1], ordered[1:]
    differs = logic.not_equal(before, after)
    if equal_nan and dtypes.is_inexact(rows.dtype):
        both = logic.logical_and(logic.isnan(before), logic.isnan(after))
        differs = logic.logical_and(differs, logic.logical_not(both))
    if rows.ndim > 1:
        differs = any_true(differs, tuple(range(1, rows.ndim)))
    with placed_like(rows):
        first = fill((min(n, 1),), differs.dtype, True)
    return _Runs(ordered, order, concatenate([first, differs]))


def _fixed_size(size: Any, mask: Array, function: str) -> int:
    """The length of a result: `size`, or how many are true, if that is known now."""
    if size is not None:
        length = concrete_index(size, function, "size")
        if length < 0:
            raise errors.ArgumentError(f"{function}: size is negative: {length}")
        return length
    return int(concrete_array(sum(mask), function, "size"))


def _padded(values: Array, count: Array, fill_value: Any, function: str) -> Array:
    """`values` with `fill_value` in the rows from `count` on."""
    with placed_like(values):
        numbers = iota(shape=(values.shape[0],), dtype=count.dtype, axis=0)
    inside = reshape(logic.less(numbers, count), (-1,) + (1,) * (values.ndim - 1))
    filler = beside(fill_value, values, function, "fill_value")
    return where(inside, values, filler)  # type: ignore[no-any-return]


def _unique(
    ar: Any,
    axis: int | None,
    equal_nan: bool,
    size: Any,
    fill_value: Any,
    function: str,
    inverted: bool = True,
    counted: bool = True,
    placed: bool = True,
) -> tuple[Array, Array, Array, Array]:
    """The different elements, where they stand, the number of each, and their counts.

    What is not asked for (`placed`: where they stand; `inverted`; `counted`) may be anything.
    """
    x = as_array(ar, function, "ar")
    rows = ravel(x) if axis is None else moveaxis(x, check_axis(axis, x.ndim, function), 0)
    n = rows.shape[0]
    index = dtypes.index_dtype(n)
    if n == 0:
        length = 0 if size is None else concrete_index(size, function, "size")
        if length and fill_value is None:
            raise errors.ArgumentError(
                f"{function}: there are no elements, so {length} need a fill_value"
            )
        values = zeros((length, *rows.shape[1:]), rows.dtype)
        if length:
            values = _padded(values, asarray(0, index), fill_value, function)
        none = zeros((length,), index)
        inverse = zeros(x.shape if axis is None else (0,), index)
        return values, none, inverse, none
    runs = _runs(rows, equal_nan, placed)
    length = _fixed_size(size, runs.new, function)
    values, starts, inverse, counts = _by_runs(
        *runs, length, fill_value, function, inverted, counted, placed
    )
    shape = x.shape if axis is None else (n,)
    values = values if axis is None else moveaxis(values, 0, axis)
    return values, starts, reshape(inverse, shape) if inverted else inverse, counts


@composed
def _by_runs(
    rows: Array,
    order: Array,
    new: Array,
    length: int,
    fill_value: Any,
    function: str,
    inverted: bool,
    counted: bool,
    placed: bool,
) -> tuple[Array, Array, Array, Array]:
    """What `_unique` gives, from sorted rows, the first `length` new ones of them."""
    n = new.shape[0]
    index = dtypes.index_dtype(n)
    count = sum(new, dtype=index)
    # What is missing has the index of the smallest element.
    (starts,) = nonzero(new, size=length, fill_value=0)
    values = take_index(rows, starts, "clip")
    if fill_value is not None:
        values = _padded(values, count, fill_value, function)
    inverse, counts, places = starts, starts, starts
    if inverted or counted:
        numbers = arithmetic.subtract(cumsum(as_type(new, index), axis=0, reverse=False), 1)
    if inverted:
        with placed_like(new):
            empty = fill((n,), index, 0)
        inverse = updated(empty, order, numbers, "set", "promise_in_bounds", True)
    if counted:
        with placed_like(new):
            counts = fill((length,), index, 0)
            ones = fill((n,), index, 1)
        counts = updated(counts, numbers, ones, "add", "drop", False)
    if placed:
        places = as_type(take_index(order, starts, "clip"), index)
    return values, places, inverse, counts


@composed
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Any = None,
    sorted: bool = True,
) -> Any:
    """The different elements of an array in rising order, or its different slices along `axis`.

    On demand also where each stands first, the number of each element among the different ones,
    and how often each occurs.  Under `jit` the length must be fixed with `size`: what is missing
    is `fill_value` (the smallest element), what is too much is left out.

    >>> import arrayx.numpy as anp
    >>> values, counts = anp.unique(anp.array([3, 1, 3]), return_counts=True)
    >>> values.tolist(), counts.tolist()
    ([1, 3], [1, 2])
    >>> anp.unique(anp.array([3, 1, 3]), size=3, fill_value=9).tolist()
    [1, 3, 9]
    """
    values, *others = _unique(
        ar,
        axis,
        equal_nan,
        size,
        fill_value,
        "unique",
        inverted=return_inverse,
        counted=return_counts,
        placed=return_index or return_inverse,
    )
    wanted = (return_index, return_inverse, return_counts)
    chosen = [other for other, want in zip(others, wanted, strict=True) if want]
    return (values, *chosen) if chosen else values


def unique_all(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueAllResult:
    """The different elements, where each stands first, the number of each element, the counts.

    >>> import arrayx.numpy as anp
    >>> anp.unique_all(anp.array([3, 1, 3])).indices.tolist()
    [1, 0]
    """
    return UniqueAllResult(*_unique(x, None, False, size, fill_value, "unique_all"))


def unique_counts(
    x: Any, /, *, size: int | None = None, fill_value: Any = None
) -> UniqueCountsResult:
    """The different elements and how often each occurs.

    >>> import arrayx.numpy as anp
    >>> anp.unique_counts(anp.array([3, 1, 3])).counts.tolist()
    [1, 2]
    """
    values, _, _, counts = _unique(
        x, None, False, size, fill_value, "unique_counts", inverted=False, placed=False
    )
    return UniqueCountsResult(values, counts)


def unique_inverse(
    x: Any, /, *, size: int | None = None, fill_value: Any = None
) -> UniqueInverseResult:
    """The different elements and, for each element, its number among them.

    >>> import arrayx.numpy as anp
    >>> anp.unique_inverse(anp.array([3, 1, 3])).inverse_indices.tolist()
    [1, 0, 1]
    """
    values, _, inverse, _ = _unique(x, None, False, size, fill_value, "unique_inverse")
    return UniqueInverseResult(values, inverse)


def unique_values(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The different elements in rising order.

    >>> import arrayx.numpy as anp
    >>> anp.unique_values(anp.array([3, 1, 3])).tolist()
    [1, 3]
    """
    return _unique(
        x,
        None,
        False,
        size,
        fill_value,
        "unique_values",
        inverted=False,
        counted=False,
        placed=False,
    )[0]


@composed
def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    method: str = "auto",
) -> Array:
    """For each element whether it is among `test_elements`, or is not, with `invert`.

    >>> import arrayx.numpy as anp
    >>> anp.isin(anp.array([1, 2, 3]), anp.array([3, 1])).tolist()
    [True, False, True]
    """
    methods = ("auto", "compare_all", "binary_search", "sort")
    if method not in methods:
        raise errors.ArgumentError(f"isin: method is one of {methods}, not {method!r}")
    x, tests = promoted_arrays((element, test_elements), "isin", ("element", "test_elements"))
    line = ravel(tests)
    few = line.shape[0] <= _FEW if method == "auto" else method == "compare_all"
    singly = few and x.size * line.shape[0] > _MOST_PAIRS
    if not line.shape[0]:
        found = logic.logical_and(logic.equal(x, x), False)
    elif singly:
        found = logic.equal(x, line[0])
        for i in range(1, line.shape[0]):
            found = logic.logical_or(found, logic.equal(x, line[i]))
    elif few or dtypes.is_complex(x.dtype):
        found = any_true(logic.equal(reshape(x, (*x.shape, 1)), line), -1)
    else:
        line = sort(line)
        place = arithmetic.minimum(searchsorted(line, x), line.shape[0] - 1)
        found = logic.equal(take_index(line, place, "clip"), x)
    return logic.logical_not(found) if invert else found


@named
def union1d(ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The different elements of two arrays, in rising order.

    >>> import arrayx.numpy as anp
    >>> anp.union1d(anp.array([3, 1]), anp.array([2, 3])).tolist()
    [1, 2, 3]
    """
    x, y = promoted_arrays((ar1, ar2), "union1d", ("ar1", "ar2"))
    both = concatenate([ravel(x), ravel(y)])
    return _unique(
        both, None, True, size, fill_value, "union1d", inverted=False, counted=False, placed=False
    )[0]


def _picked(
    x: Array, mask: Array, size: Any, fill_value: Any, function: str, smallest: bool = False
) -> Array:
    """The elements of a vector where `mask` is true, `size` of them.

    What is missing is `fill_value`: 0 if there is none, or the first element if `smallest`.
    """
    length = _fixed_size(size, mask, function)
    index = dtypes.index_dtype(x.shape[0])
    if not x.shape[0]:
        values = zeros((length,), x.dtype)
    else:
        (places,) = nonzero(mask, size=length, fill_value=0)
        if smallest and length:
            # nonzero fills with element 0, which need not be one of those asked for.
            (first,) = nonzero(mask, size=1, fill_value=0)
            with placed_like(x):
                numbers = iota(shape=(length,), dtype=index, axis=0)
            places = where(logic.less(numbers, sum(mask, dtype=index)), places, first[0])
        values = x[places]
    if size is None or (smallest and fill_value is None):
        return values
    filler = 0 if fill_value is None else fill_value
    return _padded(values, sum(mask, dtype=index), filler, function)


def _sorted_set(x: Array, assume_unique: bool) -> tuple[Array, Array]:
    """The elements in order and which of them are the first of their kind."""
    if assume_unique or not x.shape[0]:
        return x, logic.logical_or(logic.equal(x, x), True)
    runs = _runs(x, True, True)
    return runs.rows, runs.new


@named
def setdiff1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Array:
    """The different elements of `ar1` that are not in `ar2`.

    Under `jit` their number must be fixed with `size`; what is missing is `fill_value` (0).

    >>> import arrayx.numpy as anp
    >>> anp.setdiff1d(anp.array([3, 1, 2]), anp.array([2])).tolist()
    [1, 3]
    """
    x, y = promoted_arrays((ar1, ar2), "setdiff1d", ("ar1", "ar2"))
    line, first = _sorted_set(ravel(x), assume_unique)
    mask = logic.logical_and(first, isin(line, y, invert=True))
    return _picked(line, mask, size, fill_value, "setdiff1d")


@named
def setxor1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Array:
    """The different elements that only one of two arrays has, in rising order.

    Under `jit` their number must be fixed with `size`; what is missing is `fill_value`, by
    default the smallest of them.

    >>> import arrayx.numpy as anp
    >>> anp.setxor1d(anp.array([3, 1]), anp.array([2, 3])).tolist()
    [1, 2]
    """
    x, y = (ravel(v) for v in promoted_arrays((ar1, ar2), "setxor1d", ("ar1", "ar2")))
    line, first = _sorted_set(concatenate([x, y]), False)
    mask = logic.logical_and(first, logic.not_equal(isin(line, x), isin(line, y)))
    if dtypes.is_inexact(line.dtype):
        # As in NumPy every array has a nan of its own, since no nan equals another.
        missing = logic.isnan(line)
        index = dtypes.index_dtype(line.shape[0])
        number = cumsum(as_type(missing, index), axis=0, reverse=False)
        held = [as_type(any_true(logic.isnan(v)), index) for v in (x, y)]
        own = logic.less_equal(number, arithmetic.add(*held))
        mask = where(missing, own, mask)
    return _picked(line, mask, size, fill_value, "setxor1d", True)


@named
def intersect1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The different elements that two arrays share, in rising order.

    With `return_indices` also where they stand first in both.  Under `jit` their number must be
    fixed with `size`; what is missing is `fill_value`, by default the smallest of them, and has
    the index past the end.

    >>> import arrayx.numpy as anp
    >>> anp.intersect1d(anp.array([3, 1, 3]), anp.array([2, 3])).tolist()
    [3]
    """
    x, y = (ravel(v) for v in promoted_arrays((ar1, ar2), "intersect1d", ("ar1", "ar2")))
    line, first = _sorted_set(x, False)
    mask = logic.logical_and(first, isin(line, y))
    shared = _picked(line, mask, size, fill_value, "intersect1d", True)
    if not return_indices:
        return shared
    length = shared.shape[0]
    count = sum(mask, dtype=dtypes.index_dtype(x.shape[0]))
    places = []
    for whole in (x, y):
        if not whole.shape[0]:
            places.append(zeros((length,), dtypes.index_dtype(0)))
            continue
        order = argsort(whole)
        at = searchsorted(whole[order], shared)
        found = order[arithmetic.minimum(at, whole.shape[0] - 1)]
        past = whole.shape[0]
        places.append(_padded(found, as_type(count, found.dtype), past, "intersect1d"))
    return (shared, *places)
