"""How often values occur, and how two of them vary together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, logic
from arrayx.numpy.composing import composed
from arrayx.numpy.contraction import matmul
from arrayx.numpy.creation import asarray
from arrayx.numpy.cumulative import diff
from arrayx.numpy.diagonals import diagonal
from arrayx.numpy.naming import named
from arrayx.numpy.ordering import searchsorted
from arrayx.numpy.promotion import LITERALS, as_array, as_type, placed_like, promoted_arrays
from arrayx.numpy.ranges import concrete_index, linspace
from arrayx.numpy.reductions import max as largest
from arrayx.numpy.reductions import min as smallest
from arrayx.numpy.reductions import sum
from arrayx.numpy.scattering import updated
from arrayx.numpy.selection import concrete_array, where
from arrayx.numpy.shapes import atleast_2d, concatenate, expand_dims, ravel, reshape
from arrayx.numpy.statistics import average
from arrayx.numpy.transcendental import conj, sqrt
from arrayx.primitives.complex import real
from arrayx.primitives.creation import fill


@named
def bincount(
    x: Any, weights: Any = None, minlength: int = 0, *, length: int | None = None
) -> Array:
    """How often each number from 0 on occurs in a vector; with `weights` their sums.

    The result is as long as the largest number asks for, at least `minlength`.  Under `jit` it
    must be fixed with `length`; larger numbers are then left out.  Negative ones count as 0.

    >>> import arrayx.numpy as anp
    >>> anp.bincount(anp.array([0, 2, 2])).tolist()
    [1, 0, 2]
    """
    numbers = as_array(x, "bincount", "x")
    if not dtypes.is_integer(numbers.dtype):
        raise errors.DtypeError(f"bincount takes integers, got {numbers.dtype}")
    if numbers.ndim != 1:
        raise errors.ShapeError(f"bincount takes a vector, got shape {numbers.shape}")
    if length is None:
        # What NumPy holds is known even where a program is traced.
        known = numbers if isinstance(x, Array) else np.asarray(x)
        top = known.max() if known.size else -1
        top = concrete_array(top, "bincount", "length") if isinstance(top, Array) else top
        count = max(int(top) + 1, concrete_index(minlength, "bincount", "minlength"), 0)
    else:
        count = concrete_index(length, "bincount", "length")
    if weights is None:
        amounts: Any = 1
        dtype = dtypes.default_int()
    else:
        amounts = as_array(weights, "bincount", "weights")
        if amounts.shape != numbers.shape:
            raise errors.ShapeError(
                f"bincount: weights of shape {amounts.shape} for numbers of shape {numbers.shape}"
            )
        dtype = amounts.dtype
    return _counted(numbers, amounts, count, dtype)


@composed
def _counted(numbers: Array, amounts: Any, count: int, dtype: Any) -> Array:
    """The sums of `amounts` by number, of the numbers from 0 to `count`."""
    # 16-bit floats are added up in 32 bits.
    wide = dtypes.accumulation_dtype(dtype)
    if isinstance(amounts, Array):
        amounts = as_type(amounts, wide)
    with placed_like(numbers):
        empty = fill((count,), wide, LITERALS[dtypes.kind(wide)](0))
    if dtypes.kind(numbers.dtype) == "int":
        numbers = arithmetic.maximum(numbers, 0)
    return as_type(updated(empty, numbers, amounts, "add", "drop", False), dtype)


def _real(a: Any, function: str, argument: str) -> Array:
    x = asarray(a)
    if dtypes.is_complex(x.dtype):
        raise errors.DtypeError(f"{function}: {argument} must be real, got {x.dtype}")
    return ravel(as_type(x, dtypes.float_for(x.dtype)))


@named
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Array:
    """The edges of `bins` bins of equal width over the values of `a`, or over `range`.

    `bins` may also be the edges themselves.

    >>> import arrayx.numpy as anp
    >>> anp.histogram_bin_edges(anp.array([0.0, 4.0]), 2).tolist()
    [0.0, 2.0, 4.0]
    """
    return _edges(_real(a, "histogram_bin_edges", "a"), bins, range, "histogram_bin_edges")


def _edges(x: Array, bins: Any, limits: Any, function: str) -> Array:
    if isinstance(bins, str):
        raise errors.ArgumentError(
            f"{function}: the rule {bins!r} for bins is not offered; give their number or edges"
        )
    given = asarray(bins)
    if given.ndim == 1:
        return as_type(given, dtypes.float_for(given.dtype))
    if given.ndim:
        raise errors.ShapeError(f"{function}: bins is a number or a vector, got {given.shape}")
    count = concrete_index(bins, function, "bins")
    if count < 1:
        raise errors.ArgumentError(f"{function}: at least one bin is needed, got {count}")
    low: Any
    high: Any
    if limits is not None:
        low, high = (as_type(asarray(v), x.dtype) for v in limits)
    elif x.size == 0:
        low, high = asarray(0.0, x.dtype), asarray(1.0, x.dtype)
    else:
        low, high = smallest(x), largest(x)
    alike = logic.equal(low, high)
    return linspace(  # type: ignore[no-any-return]
        where(alike, arithmetic.subtract(low, 0.5), low),
        where(alike, arithmetic.add(high, 0.5), high),
        count + 1,
        dtype=x.dtype,
    )


def _places(x: Array, edges: Array) -> Array:
    """The number of the bin of each value from 1 on; 0 and one too many for those outside."""
    place = searchsorted(edges, x, "right")
    return where(logic.equal(x, edges[-1]), edges.shape[0] - 1, place)  # type: ignore[no-any-return]


@composed
def histogram(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool | None = None
) -> tuple[Array, Array]:
    """How many values of `a` lie in each bin, and the edges of the bins.

    `bins` and `range` are those of `histogram_bin_edges`; the last bin holds its right edge.
    With `weights` their sums; with `density` scaled so that the integral is 1.  Counts are
    floats, for which there are derivatives in the weights.

    >>> import arrayx.numpy as anp
    >>> counts, edges = anp.histogram(anp.array([1.0, 2.0, 2.5]), anp.array([1.0, 2.0, 3.0]))
    >>> counts.tolist()
    [1.0, 2.0]
    """
    counts, edges = histogramdd(
        expand_dims(_real(a, "histogram", "a"), 1),
        [bins],
        None if range is None else [range],
        None if weights is None else ravel(asarray(weights)),
        density,
    )
    return counts, edges[0]


@named
def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    weights: Any = None,
    density: bool | None = None,
) -> tuple[Array, Array, Array]:
    """How many points (x, y) lie in each bin of a grid, and the edges along both axes.

    >>> import arrayx.numpy as anp
    >>> x = anp.array([0.0, 1.0, 1.0])
    >>> anp.histogram2d(x, x, 2)[0].tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    xs, ys = promoted_arrays(
        (_real(x, "histogram2d", "x"), _real(y, "histogram2d", "y")), "histogram2d", ("x", "y")
    )
    if xs.shape != ys.shape:
        raise errors.ShapeError(
            f"histogram2d: x of shape {xs.shape} and y of shape {ys.shape} are not equally long"
        )
    if not isinstance(bins, list | tuple) or len(bins) not in (1, 2):
        bins = [bins, bins]
    points = concatenate([expand_dims(xs, 1), expand_dims(ys, 1)], 1)
    counts, (first, second) = histogramdd(points, bins, range, weights, density)
    return counts, first, second


@named
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool | None = None
) -> tuple[Array, list[Array]]:
    """How many rows of `sample` lie in each bin of a grid, and the edges along each axis.

    >>> import arrayx.numpy as anp
    >>> counts, edges = anp.histogramdd(anp.array([[0.0, 0.0], [1.0, 1.0]]), 2)
    >>> counts.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    points = asarray(sample)
    if dtypes.is_complex(points.dtype):
        raise errors.DtypeError(f"histogramdd: sample must be real, got {points.dtype}")
    points = as_type(points, dtypes.float_for(points.dtype))
    if points.ndim != 2:
        raise errors.ShapeError(f"histogramdd: sample must be a matrix, got shape {points.shape}")
    count, ndim = points.shape
    kinds = list(bins) if isinstance(bins, list | tuple) else [bins] * ndim
    if len(kinds) != ndim:
        raise errors.ArgumentError(f"histogramdd: {len(kinds)} bins for {ndim} dimensions")
    limits = [None] * ndim if range is None else list(range)
    if len(limits) != ndim:
        raise errors.ArgumentError(f"histogramdd: {len(limits)} ranges for {ndim} dimensions")
    edges = [
        _edges(points[:, i], b, r, "histogramdd")
        for i, (b, r) in enumerate(zip(kinds, limits, strict=True))
    ]
    shape = tuple(e.shape[0] + 1 for e in edges)
    places = tuple(_places(points[:, i], e) for i, e in enumerate(edges))
    amounts: Any = 1.0
    # Counts of 16-bit values have 32 bits: 16 hold too few numbers.
    dtype = dtypes.accumulation_dtype(points.dtype)
    if weights is not None:
        amounts = asarray(weights)
        dtype = dtypes.accumulation_dtype(dtypes.float_for(amounts.dtype))
        amounts = as_type(amounts, dtype)
        if amounts.shape != (count,):
            raise errors.ShapeError(
                f"histogram: weights of shape {amounts.shape} for {count} values"
            )
    with placed_like(points):
        empty = fill(shape, dtype, 0.0)
    counts = updated(empty, places, amounts, "add", "drop", False)
    counts = counts[tuple(slice(1, n - 1) for n in shape)]
    if density:
        counts = arithmetic.divide(counts, sum(counts))
        for i, e in enumerate(edges):
            width = reshape(diff(e), tuple(-1 if j == i else 1 for j, _ in enumerate(edges)))
            counts = arithmetic.divide(counts, width)
    return counts, edges


# ----------------------------------------------------------------- together


@composed
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    dtype: Any = None,
) -> Array:
    """The matrix of covariances of variables, which are the rows of `m` (and of `y`).

    With `rowvar=False` they are the columns.  Sums of products are divided by n - `ddof`; `ddof`
    is 1, or 0 with `bias`.  `fweights` says how often each observation counts, `aweights` how much.

    >>> import arrayx.numpy as anp
    >>> anp.cov(anp.array([[0.0, 2.0], [2.0, 0.0]])).tolist()
    [[2.0, -2.0], [-2.0, 2.0]]
    """

    def floating(d: Any, weak: bool) -> tuple[Any, bool]:
        return dtypes.float_for(d), False

    given = [asarray(v) for v in (m, y) if v is not None]
    for a in given:
        if a.ndim > 2:
            raise errors.ShapeError(f"cov takes vectors and matrices, got shape {a.shape}")
    arrays = promoted_arrays(given, "cov", ("m", "y")[: len(given)], floating)
    if dtype is not None:
        arrays = [as_type(a, dtypes.as_dtype(dtype)) for a in arrays]
    scalar = y is None and (arrays[0].ndim < 2 or 1 in arrays[0].shape[:: 1 if rowvar else -1][:1])
    rows = []
    for a in arrays:
        wide = atleast_2d(a)
        rows.append(wide.T if not rowvar and a.ndim == 2 else wide)
    x = concatenate(rows) if len(rows) > 1 else rows[0]
    count = x.shape[1]
    if ddof is None:
        ddof = 0 if bias else 1
    weights: Any = None
    if fweights is not None:
        weights = _weights(fweights, count, "fweights", x.dtype)
        if not dtypes.is_integer(asarray(fweights).dtype):
            raise errors.DtypeError("cov: fweights are whole numbers")
    if aweights is not None:
        amount = _weights(aweights, count, "aweights", x.dtype)
        weights = amount if weights is None else arithmetic.multiply(weights, amount)
    mean, total = average(x, 1, weights, returned=True)
    total = real(total[0]) if dtypes.is_complex(x.dtype) else total[0]
    if weights is None:
        divisor: Any = arithmetic.subtract(total, ddof)
    elif aweights is None or ddof == 0:
        divisor = arithmetic.subtract(total, ddof)
    else:
        amount = _weights(aweights, count, "aweights", x.dtype)
        share = arithmetic.divide(sum(arithmetic.multiply(weights, amount)), total)
        divisor = arithmetic.subtract(total, arithmetic.multiply(share, ddof))
    center = arithmetic.subtract(x, expand_dims(mean, 1))
    other = center if weights is None else arithmetic.multiply(center, weights)
    products = matmul(center, conj(other).T)
    result = arithmetic.divide(products, where(logic.greater(divisor, 0), divisor, math.nan))
    return result[0, 0] if scalar and result.shape == (1, 1) else result


def _weights(given: Any, count: int, name: str, dtype: Any) -> Array:
    weights = asarray(given)
    if weights.shape != (count,):
        raise errors.ShapeError(
            f"cov: {name} must be a vector of length {count}, one for each observation; got "
            f"shape {weights.shape}"
        )
    return as_type(weights, dtypes.real_dtype(dtype))


@composed
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Array:
    """The matrix of correlations of variables, which are the rows of `x` (and of `y`).

    >>> import arrayx.numpy as anp
    >>> anp.corrcoef(anp.array([[0.0, 2.0], [2.0, 0.0]])).round(3).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return arithmetic.divide(c, c)
    spread = sqrt(real(diagonal(c)) if dtypes.is_complex(c.dtype) else diagonal(c))
    c = arithmetic.divide(c, arithmetic.multiply(expand_dims(spread, 1), spread))
    return c if dtypes.is_complex(c.dtype) else arithmetic.clip(c, -1.0, 1.0)
