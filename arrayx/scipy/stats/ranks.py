"""Statistics of samples: ranks, the most frequent element, the error of the mean."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from arrayx import dtypes, errors
from arrayx.api.mapping import vmap
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, logic
from arrayx.numpy.inspection import ndim
from arrayx.numpy.ordering import argmax, argsort, searchsorted, sort
from arrayx.numpy.promotion import as_array, as_type, check_axis
from arrayx.numpy.reductions import any as any_true
from arrayx.numpy.reductions import sum
from arrayx.numpy.scattering import updated
from arrayx.numpy.selection import where
from arrayx.numpy.shapes import expand_dims, moveaxis, ravel, reshape
from arrayx.numpy.statistics import nanstd, std
from arrayx.primitives.cumulative import cumsum

METHODS = ("average", "min", "max", "dense", "ordinal")
POLICIES = ("propagate", "omit", "raise")


class ModeResult(NamedTuple):
    """What `mode` gives."""

    mode: Array
    count: Array  # type: ignore[assignment]


def _ranks(line: Array, method: str) -> Array:
    """The ranks of a vector's elements, from 1 on."""
    ordered = sort(line)
    low = searchsorted(ordered, line, "left")
    high = searchsorted(ordered, line, "right")
    if method == "min":
        return arithmetic.add(low, 1)
    if method == "max":
        return high
    if method == "average":
        total = arithmetic.add(arithmetic.add(low, high), 1)
        return arithmetic.multiply(as_type(total, dtypes.float_for(total.dtype)), 0.5)
    order = argsort(line)
    places = np.arange(1, line.shape[0] + 1, dtype=low.dtype)
    if method == "ordinal":
        return updated(as_type(low, low.dtype), order, places, "set", "promise_in_bounds", True)
    first = logic.equal(ordered[1:], ordered[:-1])
    steps = as_type(logic.logical_not(first), low.dtype)
    number = cumsum(steps, axis=0, reverse=False)
    dense = arithmetic.add(where(logic.equal(low, 0), 0, number[arithmetic.maximum(low - 1, 0)]), 1)
    return dense


def rankdata(
    a: Any, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate"
) -> Array:
    """The ranks of elements along `axis` (None flattens), from 1 on.

    `method` says what equal elements get: "average", "min" or "max" of their ranks, "dense" for
    ranks without gaps, "ordinal" for different ranks in their order.  A line with a nan has
    only nan.

    >>> import arrayx.numpy as anp
    >>> rankdata(anp.array([0, 2, 3, 2])).tolist()
    [1.0, 2.5, 4.0, 2.5]
    """
    if method not in METHODS:
        raise errors.ArgumentError(f"rankdata: method is one of {METHODS}, not {method!r}")
    if nan_policy != "propagate":
        raise errors.ArgumentError("rankdata: only nan_policy='propagate' is offered")
    x = as_array(a, "rankdata", "a")
    if axis is None:
        x, axis = ravel(x), 0
    i = check_axis(axis, x.ndim, "rankdata")
    lines = moveaxis(x, i, -1)
    flat = reshape(lines, (math.prod(lines.shape[:-1]), lines.shape[-1]))
    if not flat.size:
        return as_type(x, dtypes.float_for(x.dtype))
    ranks = vmap(lambda line: _ranks(line, method))(flat)
    if dtypes.is_inexact(x.dtype):
        missing = any_true(logic.isnan(flat), -1, keepdims=True)
        ranks = where(missing, math.nan, as_type(ranks, dtypes.float_for(ranks.dtype)))
    return moveaxis(reshape(ranks, lines.shape), -1, i)


def mode(
    a: Any, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False
) -> ModeResult:
    """The most frequent element along `axis`, the smallest of several, and how often it occurs.

    >>> import arrayx.numpy as anp
    >>> [v.tolist() for v in mode(anp.array([3, 1, 3]))]
    [3, 2]
    """
    if nan_policy != "propagate":
        raise errors.ArgumentError("mode: only nan_policy='propagate' is offered")
    x = as_array(a, "mode", "a")
    rank = ndim(x)
    if axis is None:
        x, axis = ravel(x), 0
    i = check_axis(axis, x.ndim, "mode")
    lines = moveaxis(x, i, -1)
    if not lines.shape[-1]:
        raise errors.ShapeError(f"mode: there are no elements along the axis, got {x.shape}")
    flat = reshape(lines, (math.prod(lines.shape[:-1]), lines.shape[-1]))

    def of_line(line: Array) -> tuple[Array, Array]:
        ordered = sort(line)
        counts = arithmetic.subtract(
            searchsorted(ordered, ordered, "right"), searchsorted(ordered, ordered, "left")
        )
        best = argmax(counts)
        return ordered[best], counts[best]

    values, counts = vmap(of_line)(flat)
    shape = lines.shape[:-1]
    values, counts = reshape(values, shape), reshape(counts, shape)
    if keepdims:
        axes = i if rank == x.ndim else tuple(range(rank))
        values, counts = expand_dims(values, axes), expand_dims(counts, axes)
    return ModeResult(values, counts)


def sem(
    a: Any,
    axis: int | None = 0,
    ddof: int = 1,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    """The standard error of the mean: the standard deviation divided by the root of the count.

    >>> import arrayx.numpy as anp
    >>> round(float(sem(anp.array([1.0, 3.0]))), 4)
    1.0
    """
    if nan_policy not in ("propagate", "omit"):
        raise errors.ArgumentError(f"sem: nan_policy is 'propagate' or 'omit', not {nan_policy!r}")
    x = as_array(a, "sem", "a")
    x = as_type(x, dtypes.float_for(x.dtype))
    if nan_policy == "omit":
        count = sum(logic.logical_not(logic.isnan(x)), axis, x.dtype, keepdims=keepdims)
        return nanstd(x, axis, ddof=ddof, keepdims=keepdims) / count**0.5
    number = x.size if axis is None else x.shape[check_axis(axis, x.ndim, "sem")]
    return std(x, axis, ddof=ddof, keepdims=keepdims) / math.sqrt(max(number, 1))
