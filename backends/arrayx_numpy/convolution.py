"""Convolution on NumPy: windows as views, and BLAS for what meets in them.

Windows are copied into rows in blocks that fit a cache, since BLAS takes no overlapping ones.
Features that meet alone (each group has one) are multiplied and added in place instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from arrayx import dtypes
from arrayx.primitives.convolution import window_count
from arrayx_numpy.structural import pad, wide

# The most bytes of windows that are written out at a time.
MOST_BYTES = 1 << 20
# With more places than this a window is never large.
MOST_PLACES = 64
# Windows of more elements than this are not added up element by element.
MOST_STEPS = 128


def conv_general_dilated(
    x: Any,
    y: Any,
    *,
    strides: Any,
    padding: Any,
    lhs_dilation: Any,
    rhs_dilation: Any,
    dims: Any,
    feature_groups: int,
    batch_groups: int,
    precision: Any,
) -> Any:
    lhs, rhs, out = dims
    x, y = np.asarray(x), np.asarray(y)
    dtype = x.dtype
    through = computed_in(dtype)
    lengths, window = [x.shape[a] for a in lhs[2:]], [y.shape[a] for a in rhs[2:]]
    counts = tuple(map(window_count, lengths, window, strides, padding, lhs_dilation, rhs_dilation))
    batch, outs = x.shape[lhs[0]] // batch_groups, y.shape[rhs[0]]
    back = np.argsort(out)
    if not (x.size and y.size and batch and math.prod(counts)):
        return np.zeros((batch, outs, *counts), dtype).transpose(back)
    x = surrounded(x, lhs[2:], padding, lhs_dilation).astype(through, copy=False)
    x, y = x.transpose(lhs), y.transpose(rhs).astype(through, copy=False)
    # Groups of the batch are groups of features, once they stand there.
    groups = feature_groups * batch_groups
    if batch_groups > 1:
        x = x.reshape(batch_groups, batch, *x.shape[1:]).swapaxes(0, 1)
    else:
        x = x.reshape(batch, groups, x.shape[1] // groups, *x.shape[2:])
    y = y.reshape(groups, outs // groups, *y.shape[1:])
    views = windows(x, 3, window, counts, strides, rhs_dilation)
    inner, size = y.shape[2], math.prod(window)
    if inner == 1 and (groups > 1 or y.shape[1] == 1) and size <= MOST_STEPS:
        result = step_by_step(views, y)
    elif all(s == 1 for s in (*strides, *rhs_dilation)) and inner == 1 == groups * y.shape[1]:
        result = correlated(x, y, counts) if len(window) == 1 else by_blocks(views, y)
    elif math.prod(counts) <= min(size, MOST_PLACES):
        result = place_by_place(views, y)
    else:
        result = by_blocks(views, y)
    result = result.reshape(batch, outs, *counts)
    if through != dtype:
        # Small integers wrap around, which a float does not.
        exact = through == np.float64
        result = (result.astype(np.int64) if exact else result).astype(dtype)
    return result.transpose(back)


def computed_in(dtype: Any) -> Any:
    """The dtype in which the products are added up."""
    if dtypes.kind(dtype) in ("int", "uint") and dtype.itemsize <= 2:
        return np.dtype(np.float64)  # exact, and BLAS has it
    return dtype if dtype.char in "fdFD" else wide(dtype)


def surrounded(
    x: np.ndarray, axes: Sequence[int], padding: Any, dilation: Any, value: Any = 0
) -> np.ndarray:
    """`x` padded with `value` along axes, and between neighbours."""
    if not any(n for pair in padding for n in pair) and all(d == 1 for d in dilation):
        return x
    low, high, interior = ([0] * x.ndim for _ in range(3))
    for axis, (before, behind), d in zip(axes, padding, dilation, strict=True):
        low[axis], high[axis], interior[axis] = before, behind, d - 1
    return pad(x, value, low=low, high=high, interior=interior)  # type: ignore[no-any-return]


def windows(
    x: np.ndarray,
    first: int,
    window: Sequence[int],
    counts: Sequence[int],
    strides: Sequence[int],
    dilation: Sequence[int],
) -> np.ndarray:
    """A view whose axes from `first` on are the places of the window, then the window's own."""
    steps = x.strides[first:]
    return as_strided(
        x,
        (*x.shape[:first], *counts, *window),
        (
            *x.strides[:first],
            *(a * s for a, s in zip(steps, strides, strict=True)),
            *(a * d for a, d in zip(steps, dilation, strict=True)),
        ),
        writeable=False,
    )


def correlated(x: np.ndarray, y: np.ndarray, counts: Sequence[int]) -> np.ndarray:
    """One signal of one feature under a long window."""
    out = np.empty((x.shape[0], 1, 1, *counts), x.dtype)
    filter_ = np.conj(y[0, 0, 0])
    for i in range(x.shape[0]):
        out[i, 0, 0] = np.correlate(x[i, 0, 0], filter_, "valid")[: counts[0]]
    return out


def step_by_step(views: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Each group has one input feature: for each element of the window a product, added up.

    `views` is (batch, groups, 1, *counts, *window), `y` (groups, outs, 1, *window).
    """
    rank = y.ndim - 3
    batch, groups = views.shape[:2]
    counts, window = views.shape[3 : 3 + rank], views.shape[3 + rank :]
    outs = y.shape[1]
    last = views.strides[1] == views.itemsize and groups > 1
    order = (0, *range(3, 3 + rank), 1, 2) if last else tuple(range(3 + rank))
    lengths = (batch, groups, outs, *counts)
    # Laid out like the operand, so that neighbours in memory meet.
    out = np.empty([lengths[a] for a in order], views.dtype).transpose(np.argsort(order))
    per_row = views.itemsize * groups * outs * math.prod(counts[1:])
    for at in blocks(batch, counts[0] if rank else 1, per_row):
        rows = (at[0], slice(None), slice(None), at[1]) if rank else (at[0],)
        part, total = views[rows], out[rows]
        scratch = np.empty_like(total)
        for i, place in enumerate(np.ndindex(*window)):
            weight = y[(slice(None), slice(None), 0, *place)]
            weight = weight.reshape(groups, outs, *(1,) * rank)
            into = scratch if i else total
            np.multiply(part[(..., *place)], weight, out=into)
            if i:
                total += scratch
    return out


def place_by_place(views: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A window as large as the operand has few places, as in the gradient of a filter.

    For each a product of matrices; the operand is copied in the order of its memory.
    """
    rank = y.ndim - 3
    batch, groups = views.shape[:2]
    counts, outs = views.shape[3 : 3 + rank], y.shape[1]
    summed = range(2, 2 + rank + 1)
    out = np.empty((*counts, groups, batch, outs), views.dtype)
    right = y.transpose(0, *summed, 1).reshape(groups, -1, outs)
    scratch = Scratch(views.dtype)
    batch_last = views.strides[0] <= min(views.strides[2:], default=0)
    for place in np.ndindex(*counts):
        part = views[(slice(None),) * 3 + place]
        if batch_last:
            part = part.transpose(1, *summed, 0)
            left = scratch.written(part, (groups, -1, batch)).swapaxes(1, 2)
        else:
            part = part.transpose(1, 0, *summed)
            left = scratch.written(part, (groups, batch, -1))
        np.matmul(left, right, out=out[place])
    return out.transpose(rank + 1, rank, rank + 2, *range(rank))


def blocks(batch: int, rows: int, per_row: int) -> Iterator[tuple[slice, slice]]:
    """Parts of batch and rows that are small enough, at least one row each."""
    each = max(1, MOST_BYTES // max(1, per_row))
    if each >= rows:
        several = max(1, each // rows)
        for i in range(0, batch, several):
            yield slice(i, min(i + several, batch)), slice(0, rows)
        return
    for i in range(batch):
        for a in range(0, rows, each):
            yield slice(i, i + 1), slice(a, min(a + each, rows))


def by_blocks(views: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Products of matrices: windows, written out in blocks, times the weights.

    `views` is (batch, groups, ins, *counts, *window), `y` (groups, outs, ins, *window); the
    result is (batch, groups, outs, *counts).
    """
    rank = y.ndim - 3
    batch, groups, ins = views.shape[:3]
    counts, window = views.shape[3 : 3 + rank], views.shape[3 + rank :]
    outs, size = y.shape[1], ins * math.prod(window)
    places, within = range(3, 3 + rank), range(3 + rank, 3 + 2 * rank)
    rows = counts[0] if rank else 1
    per_row = views.itemsize * groups * size * math.prod(counts[1:])
    scratch = Scratch(views.dtype)
    # The features of a place stand together in memory, or the places of a feature do.
    if ins > 1 and views.strides[2] == views.itemsize:
        weights = y.transpose(0, *range(3, 3 + rank), 2, 1).reshape(groups, size, outs)
        out = np.empty((batch, *counts, groups, outs), views.dtype)
        source = views.transpose(1, 0, *places, *within, 2)
        for i, a in blocks(batch, rows, per_row):
            part, target = (source[:, i, a], out[i, a]) if rank else (source[:, i], out[i])
            left = scratch.written(part, (groups, -1, size))
            if groups == 1 and target.flags.c_contiguous:
                np.matmul(left, weights, out=target.reshape(1, -1, outs))
            else:
                product = np.matmul(left, weights).reshape(groups, *target.shape[:-2], outs)
                target[...] = np.moveaxis(product, 0, -2)
        return out.transpose(0, 1 + rank, 2 + rank, *range(1, 1 + rank))
    weights = y.reshape(groups, outs, size)
    out = np.empty((batch, groups, outs, *counts), views.dtype)
    source = views.transpose(0, 1, 2, *within, *places)
    lead = (slice(None),) * (2 + rank)
    for i, a in blocks(batch, rows, per_row):
        part, target = (source[(i, *lead, a)], out[i, :, :, a]) if rank else (source[i], out[i])
        right = scratch.written(part, (part.shape[0], groups, size, -1))
        if target.flags.c_contiguous:
            np.matmul(weights, right, out=target.reshape(part.shape[0], groups, outs, -1))
        else:
            target[...] = np.matmul(weights, right).reshape(target.shape)
    return out


class Scratch:
    """Memory that windows are written into, the same for all blocks: fresh pages cost more."""

    def __init__(self, dtype: Any) -> None:
        self.memory = np.empty(0, dtype)

    def written(self, part: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Windows as rows that BLAS takes: a view, where there is nothing to write."""
        if part.flags.c_contiguous:
            return part.reshape(shape)
        if self.memory.size < part.size:
            self.memory = np.empty(part.size, part.dtype)
        rows = self.memory[: part.size].reshape(part.shape)
        np.copyto(rows, part)
        return rows.reshape(shape)


CONVOLUTION: dict[str, Any] = {"conv_general_dilated": conv_general_dilated}
