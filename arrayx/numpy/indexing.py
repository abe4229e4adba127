"""`x[index]`: NumPy's rules of indexing in terms of slices, gathers and one policy for bounds.

An index that is known now and lies outside raises.  What is known only when the program runs
reads as nan (a sentinel for integers) where it lies outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from arrayx import dtypes, errors
from arrayx.backend.concrete import array_types
from arrayx.core.array import Array
from arrayx.core.aval import Aval, Shape
from arrayx.core.interpreter import BASE, current
from arrayx.numpy.index_parsing import (
    MODES,
    Parsed,
    Range,
    checked,
    out_of_bounds,
    parse,
    without_truths,
)
from arrayx.numpy.promotion import (
    LITERALS,
    as_type,
    broadcast_shapes,
    broadcast_to_shape,
    host_array,
    placed_like,
)
from arrayx.primitives import slicing
from arrayx.primitives.arithmetic import add, ge, lt, select
from arrayx.primitives.axes import broadcast_in_dim, reshape, rev
from arrayx.primitives.bitwise import bitwise_and
from arrayx.primitives.creation import fill as full_of
from arrayx.primitives.gather import default_fill, gather, points
from arrayx.primitives.numeric import clamp

# ----------------------------------------------------------------- reading the index


# ----------------------------------------------------------------- plain slices


def take_ranges(x: Array, ranges: Sequence[Range]) -> Array:
    """`x` sliced along every axis."""
    shape = x.aval.shape
    starts, limits, strides, turned = [], [], [], []
    for axis, (start, step, length) in enumerate(ranges):
        if step < 0:
            turned.append(axis)
            start, step = start + (length - 1) * step if length else start, -step
        starts.append(start)
        limits.append(start + (length - 1) * step + 1 if length else start)
        strides.append(step if length > 1 else 1)
    whole = not any(starts) and tuple(limits) == shape and max(strides, default=1) == 1
    if not whole:
        x = slicing.slice(x, starts=tuple(starts), limits=tuple(limits), strides=tuple(strides))
    return rev(x, axes=tuple(turned)) if turned else x


def with_new_axes(kept: Sequence[Any], parsed_items: Sequence[Any], new_axes: Any) -> Shape:
    """The lengths of the result's axes: those kept, with ones at the places of new axes."""
    shape: list[int] = []
    for i in range(len(parsed_items) + 1):
        shape.extend([1] * new_axes.count(i))
        if i < len(parsed_items) and kept[i] is not None:
            shape.append(kept[i])
    return tuple(shape)


def counted_from_0(index: Array, length: int) -> Array:
    """A traced index with negative values counted from the end."""
    dtype = index.aval.dtype
    if dtypes.kind(dtype) == "uint":
        return index
    if not dtypes.scalar_fits(length, dtype):
        index = as_type(index, dtypes.index_dtype(length))
    return select(lt(index, 0), add(index, length), index)  # type: ignore[no-any-return]


# ----------------------------------------------------------------- reads


_AS_THEY_ARE = frozenset({int, slice, type(None), type(...)})


def taken_by_numpy(x: Array, index: Any) -> Array | None:
    """`x[index]` as NumPy reads it, where all is known now and kept by NumPy; else None.

    The rules are NumPy's, and so this is the value that the primitives give, in a hundredth of
    the time.  None as well where NumPy refuses the index: the errors are raised by the other way.
    """
    cls = type(x)
    if current.get() is not BASE or cls not in array_types or not cls.backend.quiet:  # type: ignore[attr-defined]
        return None
    aval = x.aval
    if aval.varying or type(aval.dtype) is dtypes.KeyDtype:
        return None
    given = []
    for item in index if type(index) is tuple else (index,):
        if type(item) in _AS_THEY_ARE:
            given.append(item)
        elif type(item) is cls or type(item) is np.ndarray:
            elements = item.buffer if type(item) is cls else item
            if item.dtype.kind not in "iub" or not item.ndim:
                return None
            given.append(elements)
        else:
            return None
    try:
        part = x.buffer[tuple(given)]  # type: ignore[attr-defined]
    except (IndexError, TypeError, ValueError):
        return None
    found: Array = cls(part, Aval(part.shape, aval.dtype, aval.weak_type))  # type: ignore[call-arg]
    return found


def take(x: Array, index: Any, mode: str | None = None, fill_value: Any = None) -> Array:
    """`x[index]`, with `mode` for what lies outside."""
    if mode is None:
        found = taken_by_numpy(x, index)
        if found is not None:
            return found
    if type(index) is int and mode is None and x.aval.shape:
        n = x.aval.shape[0]
        if not -n <= index < n:
            raise out_of_bounds(index, n, 0)
        return first_axis_taken(x, index + n if index < 0 else index)
    parsed, shape = without_truths(parse(index, x.aval.shape), x.aval.shape)
    if shape != x.aval.shape:
        x = reshape(x, shape=shape)
    items = parsed.items
    arrays = [i for i in items if isinstance(i, np.ndarray | Array)]
    if not arrays and (mode is None or not any(type(i) is int for i in items)):
        return basic(x, parsed)
    if mode is None and all(isinstance(i, Array) and not i.aval.shape for i in arrays):
        return at_traced_scalars(x, parsed)
    return advanced(x, parsed, mode, fill_value)


def first_axis_taken(x: Array, i: int) -> Array:
    """`x[i]` for an `i` in range."""
    shape = x.aval.shape
    rest = shape[1:]
    if len(rest) == 0:
        part = slicing.slice(x, starts=(i,), limits=(i + 1,), strides=(1,))
        return reshape(part, shape=())  # type: ignore[no-any-return]
    part = slicing.slice(
        x, starts=(i, *(0,) * len(rest)), limits=(i + 1, *rest), strides=(1,) * len(shape)
    )
    return reshape(part, shape=rest)  # type: ignore[no-any-return]


def basic(x: Array, parsed: Parsed) -> Array:
    """Integers and slices that are all known now."""
    items = checked(parsed.items, x.aval.shape)
    part = take_ranges(x, [Range(i, 1, 1) if type(i) is int else i for i in items])
    kept = [None if type(i) is int else i.length for i in items]
    shape = with_new_axes(kept, items, parsed.new_axes)
    return part if shape == part.aval.shape else reshape(part, shape=shape)


def dynamic_starts(items: Sequence[Any], shape: Shape) -> tuple[list[Any], Any]:
    """The starts of a window at traced scalars, and whether it is inside (None: certainly)."""
    starts: list[Any] = []
    inside: Any = None
    for item, n in zip(items, shape, strict=True):
        if not isinstance(item, Array):
            starts.append(0)
            continue
        start = counted_from_0(item, n)
        starts.append(start)
        fits = lt(start, n) if dtypes.scalar_fits(n, start.aval.dtype) else None
        if dtypes.kind(start.aval.dtype) == "int":
            above = ge(start, 0)
            fits = above if fits is None else bitwise_and(above, fits)
        if fits is not None:
            inside = fits if inside is None else bitwise_and(inside, fits)
    traced = [s.aval.dtype for s in starts if isinstance(s, Array)]
    if any(dtype is not traced[0] for dtype in traced):
        wide = dtypes.index_dtype(*shape)
        starts = [_narrowed(s, wide) if isinstance(s, Array) else s for s in starts]
    return starts, inside


def guarded(part: Array, inside: Any, value: Any) -> Array:
    """`part` where `inside` holds, else `value` (a literal or an array like `part`)."""
    if inside is None:
        return part
    where = broadcast_in_dim(inside, shape=part.aval.shape, dims=())
    return select(where, part, value)  # type: ignore[no-any-return]


def at_traced_scalars(x: Array, parsed: Parsed) -> Array:
    """Integers and slices known now, and single integers that are traced."""
    items = checked(parsed.items, x.aval.shape)
    ranges = []
    for item, n in zip(items, x.aval.shape, strict=True):
        if type(item) is int:
            ranges.append(Range(item, 1, 1))
        else:
            ranges.append(item if type(item) is Range else Range(0, 1, n))
    part = take_ranges(x, ranges)
    if any(isinstance(i, Array) and not n for i, n in zip(items, part.aval.shape, strict=True)):
        raise errors.IndexOutOfBoundsError(
            f"an index into an axis of length 0 of an array of shape {x.aval.shape}"
        )
    starts, inside = dynamic_starts(items, part.aval.shape)
    sizes = tuple(
        1 if isinstance(i, Array) else n for i, n in zip(items, part.aval.shape, strict=True)
    )
    part = slicing.dynamic_slice(part, *starts, sizes=sizes)
    kept = [i.length if type(i) is Range else None for i in items]
    result: Array = reshape(part, shape=with_new_axes(kept, items, parsed.new_axes))
    if isinstance(x.aval.dtype, dtypes.KeyDtype):
        return result
    return guarded(result, inside, default_fill(x.aval.dtype))


class Layout(NamedTuple):
    """An advanced index made ready for gather and scatter.

    `ranges` slice the array first; `shape` is that of the slice with its new axes.  `axes` are
    those at which the arrays stand, which all have the shape `batch`; `position` is where the
    axes of the arrays are in the result.
    """

    ranges: tuple[Range, ...]
    shape: Shape
    axes: tuple[int, ...]
    arrays: tuple[Any, ...]
    batch: Shape
    position: int


def laid_out(x_shape: Shape, parsed: Parsed) -> Layout:
    """Where the arrays of an advanced index stand, and where their axes go."""
    ranges: list[Range] = []
    shape: list[int] = []
    axes: list[int] = []
    arrays: list[Any] = []
    for i, (item, n) in enumerate(zip(parsed.items, x_shape, strict=True)):
        shape.extend([1] * parsed.new_axes.count(i))
        if type(item) is Range:
            ranges.append(item)
            shape.append(item.length)
        else:
            ranges.append(Range(0, 1, n))
            axes.append(len(shape))
            arrays.append(item)
            shape.append(n)
    shape.extend([1] * parsed.new_axes.count(len(parsed.items)))
    try:
        batch = broadcast_shapes(
            *(np.shape(a) if not isinstance(a, Array) else a.shape for a in arrays)
        )
    except errors.ShapeError as error:
        raise errors.IndexOutOfBoundsError(f"index arrays do not fit together: {error}") from None
    together = axes[-1] - axes[0] == len(axes) - 1 and not parsed.apart
    position = axes[0] if together else 0
    return Layout(tuple(ranges), tuple(shape), tuple(axes), tuple(arrays), batch, position)


def read_mode(mode: str | None) -> str:
    """What a gather is told for a mode of reads."""
    if mode in (None, "fill", "drop"):
        return "fill"
    if mode == "clip":
        return "clip"
    if mode == "wrap":
        return "promise"
    if mode == "promise_in_bounds":
        return "promise"
    raise errors.ArgumentError(f"no mode {mode!r} of indexing; there are {', '.join(MODES)}")


def index_vectors(
    arrays: Sequence[Any], batch: Shape, lengths: Sequence[int], mode: str | None, others: Any
) -> tuple[Array, bool]:
    """Index arrays as vectors for gather or scatter, and whether all are known to be inside.

    Negative indices count from the end; "wrap" takes all modulo the length.
    """
    known = all(not isinstance(a, Array) for a in arrays)
    if known:
        columns = []
        for a, n in zip(arrays, lengths, strict=True):
            a = np.asarray(a).astype(np.int64)
            a = a % n if mode == "wrap" and n else np.where(a < 0, a + n, a)
            columns.append(np.broadcast_to(a, batch))
        stacked = np.stack(columns, -1)
        inside = not stacked.size or all(
            c.min() >= 0 and c.max() < n for c, n in zip(columns, lengths, strict=True)
        )
        dtype = dtypes.index_dtype(*lengths)
        if not inside:
            limits = dtypes.iinfo(dtype)
            stacked = stacked.clip(limits.min, limits.max)
        return host_array(np.ascontiguousarray(stacked.astype(dtype)), others), inside
    vectors: list[Array] = []
    wide = dtypes.index_dtype(*lengths)
    for a, n in zip(arrays, lengths, strict=True):
        if not isinstance(a, Array):
            a = host_array(np.asarray(a).astype(wide), others)
        vectors.append(a % n if mode == "wrap" and n else counted_from_0(a, n))
    common = wide if any(v.dtype is not vectors[0].dtype for v in vectors) else None
    prepared = []
    for v in vectors:
        if common is not None and v.dtype is not common:
            v = _narrowed(v, common)
        prepared.append(reshape(broadcast_to_shape(v, batch), shape=(*batch, 1)))
    if len(prepared) == 1:
        return prepared[0], False
    return slicing.concatenate(*prepared, axis=len(batch)), False


def _narrowed(index: Array, dtype: Any) -> Array:
    """An index in another integer dtype; what that cannot hold stays out of bounds."""
    limits = dtypes.iinfo(dtype)
    own = dtypes.iinfo(index.aval.dtype)
    low, high = max(limits.min, own.min), min(limits.max, own.max)
    if low > own.min or high < own.max:
        index = clamp(int(low), index, int(high))
    return as_type(index, dtype)


def advanced(x: Array, parsed: Parsed, mode: str | None, fill_value: Any) -> Array:
    """An index with arrays in it, or with a mode."""
    items = list(parsed.items)
    if mode is None:
        items = checked(items, x.aval.shape)
    layout = laid_out(x.aval.shape, parsed._replace(items=tuple(items)))
    part = take_ranges(x, layout.ranges)
    if layout.shape != part.aval.shape:
        part = reshape(part, shape=layout.shape)
    lengths = [layout.shape[a] for a in layout.axes]
    indices, inside = index_vectors(layout.arrays, layout.batch, lengths, mode, (x,))
    how = "promise" if inside else read_mode(mode)
    if not all(lengths):
        shape = result_shape(layout)
        value = default_fill(x.aval.dtype) if fill_value is None else fill_value
        if 0 not in shape and mode is None and inside:
            raise errors.IndexOutOfBoundsError("an index into an axis of length 0")
        with placed_like(x):
            return full_of(shape, x.aval.dtype, value)  # type: ignore[no-any-return]
    dims, sizes = points(layout.shape, layout.axes, len(layout.batch), layout.position)
    fill = None
    if how == "fill" and fill_value is not None:
        dtypes.check_scalar(fill_value, x.aval.dtype)
        fill = LITERALS[dtypes.kind(x.aval.dtype)](fill_value)
    elif how == "fill" and mode is not None:
        # Said, and so meant: without it `ax.checked` takes it for a mistake.
        fill = default_fill(x.aval.dtype)
    return gather(part, indices, dims=dims, sizes=sizes, mode=how, fill=fill)  # type: ignore[no-any-return]


def result_shape(layout: Layout) -> Shape:
    """The shape of the result of an advanced index."""
    kept = [n for i, n in enumerate(layout.shape) if i not in layout.axes]
    kept[layout.position : layout.position] = layout.batch
    return tuple(kept)
