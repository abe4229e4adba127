"""NumPy kernels of what moves, gathers, reduces, accumulates, sorts and contracts elements.

Each defines its primitive; where the straightforward call of NumPy is slow or wrong (16-bit
sums, matrices that BLAS does not take, repeated indices) a comment says what is done instead.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from arrayx import dtypes
from arrayx.primitives.cumulative import highest, lowest
from arrayx.primitives.gather import GatherDims, default_fill, result_shape

INDEX = np.dtype(np.intp)


def wide(dtype: Any) -> Any:
    """The dtype to accumulate in."""
    return dtypes.accumulation_dtype(dtype)


# ----------------------------------------------------------------- cutting and joining


def rev(x: Any, *, axes: Any) -> Any:
    return np.flip(x, axes)


def slice_(x: Any, *, starts: Any, limits: Any, strides: Any) -> Any:
    return x[tuple(map(slice, starts, limits, strides))]


def pad(x: Any, value: Any, *, low: Any, high: Any, interior: Any) -> Any:
    x = np.asarray(x)
    lengths = [n + max(n - 1, 0) * i for n, i in zip(x.shape, interior, strict=True)]
    shape = tuple(a + n + b for n, a, b in zip(lengths, low, high, strict=True))
    out = np.full(shape, value, x.dtype)
    to, of = [], []
    for n, m, a, i in zip(x.shape, shape, low, interior, strict=True):
        step = i + 1
        first = max(0, -(a // step))  # the first element that is not cut off
        end = max(first, min(n, (m - 1 - a) // step + 1))
        of.append(slice(first, end))
        to.append(
            slice(a + first * step, a + (end - 1) * step + 1, step) if end > first else slice(0, 0)
        )
    out[tuple(to)] = x[tuple(of)]
    return out


def concatenate(*xs: Any, axis: int) -> Any:
    return np.concatenate(xs, axis)


def window(shape: Any, starts: Any, sizes: Any) -> tuple[slice, ...]:
    """The window that begins at `starts`, moved inside."""
    moved = [max(0, min(int(a), n - s)) for a, n, s in zip(starts, shape, sizes, strict=True)]
    return tuple(slice(a, a + s) for a, s in zip(moved, sizes, strict=True))


def dynamic_slice(x: Any, *starts: Any, sizes: Any) -> Any:
    return x[window(x.shape, starts, sizes)]


def dynamic_update_slice(x: Any, update: Any, *starts: Any) -> Any:
    out = np.array(x)
    out[window(out.shape, starts, np.shape(update))] = update
    return out


# ----------------------------------------------------------------- gather and scatter


class Plan(NamedTuple):
    """How windows of an operand are addressed by one number each.

    The operand's axes are the `indexed` ones, along which windows begin somewhere or are
    shorter than the axis, and the `whole` ones.  A place is a number that counts along the
    indexed axes, row-major.
    """

    indexed: tuple[int, ...]
    whole: tuple[int, ...]
    # For each component of the index vector: the greatest start, and what it counts in places.
    components: tuple[tuple[int, int], ...]
    # What is to be added to the places: offsets in the window and along batching axes.
    offsets: np.ndarray | None
    # The axes of the places: those of the batch, then those of the window.
    places_shape: tuple[int, ...]
    batch_ndim: int
    count: int
    # True where NumPy's own clipping of places moves windows inside.
    simple: bool
    # From the result's axes (batch, window along indexed axes, window along whole ones).
    perm: tuple[int, ...]
    result_shape: tuple[int, ...]
    mask_shape: tuple[int, ...]


@lru_cache(maxsize=1024)
def plan(shape: Any, indices_shape: Any, dims: GatherDims, sizes: Any) -> Plan:
    """The plan for windows of `sizes` in an operand of `shape`."""
    ndim, batch_shape = len(shape), indices_shape[:-1]
    batch_ndim = len(batch_shape)
    indexed = tuple(
        d
        for d in range(ndim)
        if sizes[d] < shape[d] or d in dims.operand_batching_dims or d in dims.collapsed_slice_dims
    )
    whole = tuple(d for d in range(ndim) if d not in indexed)
    unit, units = 1, {}
    for d in reversed(indexed):
        units[d] = unit
        unit *= shape[d]
    window_dims = dims.window_dims(ndim)
    in_window = [d for d in window_dims if d in indexed]
    places_shape = batch_shape + tuple(sizes[d] for d in in_window)
    offsets = np.zeros((1,) * len(places_shape), INDEX)
    pairs = [(batch_ndim + i, d) for i, d in enumerate(in_window)]
    pairs += zip(dims.start_indices_batching_dims, dims.operand_batching_dims, strict=True)
    for axis, d in pairs:
        steps = np.arange(places_shape[axis]) * units[d]
        offsets = offsets + steps.reshape(
            [-1 if i == axis else 1 for i in range(len(places_shape))]
        )
    components = tuple((shape[d] - sizes[d], units.get(d, 0)) for d in dims.start_index_map)
    result = result_shape(indices_shape, dims, sizes)
    batch_positions = dims.batch_positions(len(result))
    # Where each axis of (batch, indexed window, whole window) stands in the result.
    stands = [*batch_positions]
    stands += [dims.offset_dims[window_dims.index(d)] for d in in_window]
    stands += [dims.offset_dims[window_dims.index(d)] for d in window_dims if d in whole]
    mask_shape = tuple(n if i in batch_positions else 1 for i, n in enumerate(result))
    return Plan(
        indexed,
        whole,
        components,
        offsets if pairs else None,
        places_shape,
        batch_ndim,
        unit,
        not pairs and len(indexed) == 1 and [u for _, u in components if u] == [1],
        tuple(int(i) for i in np.argsort(stands)),
        result,
        mask_shape,
    )


def places_of(
    indices: Any, plan: Plan, masked: bool, inside_only: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """The place of every element of the windows; which windows were inside to begin with.

    With `inside_only` all windows are moved inside.  The second result is None where nobody
    asked (`masked`), or all windows were inside.
    """
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(2**62))
    indices = indices.astype(INDEX, copy=False)
    places: Any = None
    inside = None
    for j, (last, unit) in enumerate(plan.components):
        part = indices[..., j]
        if masked:
            ok = part.view(np.uintp) <= last  # as an unsigned number, -1 is too great
            inside = ok if inside is None else inside & ok
        if unit:
            if inside_only:
                part = np.minimum(np.maximum(part, 0), last)
            if unit != 1:
                part = part * unit
            places = part if places is None else places + part
    if inside is not None and inside.all():
        inside = None
    batch_shape = plan.places_shape[: plan.batch_ndim]
    places = np.zeros(batch_shape, INDEX) if places is None else np.asarray(places)
    if plan.offsets is not None:
        ones = (1,) * (len(plan.places_shape) - plan.batch_ndim)
        places = places.reshape(batch_shape + ones) + plan.offsets
    elif places.ndim != len(plan.places_shape):
        places = places.reshape(plan.places_shape)
    return places, inside


def gather(x: Any, indices: Any, *, dims: Any, sizes: Any, mode: str, fill: Any) -> Any:
    x, indices = np.asarray(x), np.asarray(indices)
    if x.size == 0:
        return np.full(result_shape(indices.shape, dims, sizes), fill_value(fill, x), x.dtype)
    p = plan(x.shape, indices.shape, dims, sizes)
    if 0 in p.result_shape:
        return np.empty(p.result_shape, x.dtype)
    places, inside = places_of(indices, p, mode == "fill", not p.simple)
    if len(p.indexed) == 1:
        # The one indexed axis may stand anywhere: no copy of the operand is needed.
        axis = p.indexed[0]
        out = np.take(x, places, axis=axis, mode="clip")
        if axis:
            before = range(axis)
            middle = range(axis, axis + places.ndim)
            after = range(axis + places.ndim, out.ndim)
            out = out.transpose((*middle, *before, *after))
    else:
        lengths = tuple(x.shape[d] for d in p.whole)
        flat = x.transpose(p.indexed + p.whole).reshape((p.count, *lengths))
        out = np.take(flat, places, axis=0, mode="clip")
    # A window of 1 along an indexed axis was no axis of its own: both have equally many.
    out = out.transpose(p.perm)
    if inside is not None:
        out = np.asarray(out)  # a NumPy scalar where the result has rank 0
        np.copyto(out, fill_value(fill, x), where=~inside.reshape(p.mask_shape))
    return out


def fill_value(fill: Any, x: Any) -> Any:
    """The scalar that is read out of bounds, in the dtype of `x`."""
    return np.asarray(default_fill(x.dtype) if fill is None else fill).astype(x.dtype)


def scatter(
    x: Any, indices: Any, updates: Any, *, dims: Any, mode: str, combine: str, unique: bool
) -> Any:
    x, indices, updates = np.asarray(x), np.asarray(indices), np.asarray(updates)
    if updates.size == 0 or x.size == 0:
        return x
    sizes = list(dims.window_sizes(x.ndim, updates.shape))
    p = plan(x.shape, indices.shape, dims.as_gather(), tuple(sizes))
    places, inside = places_of(indices, p, mode in ("drop", "within"), True)
    # 16-bit sums and products are made in float32, and NumPy is slow with 16 bits.
    dtype = x.dtype if combine == "set" else wide(x.dtype)
    # Rows of the operand are what one place holds.
    order = p.indexed + p.whole
    lengths = tuple(x.shape[d] for d in order)
    out = np.array(x.transpose(order), dtype, order="C")
    rows = out.reshape(p.count, -1)
    written = updates.transpose(np.argsort(p.perm)).astype(dtype, copy=False)
    written = written.reshape(places.size, -1)
    if inside is not None:
        kept = inside.reshape(inside.shape + (1,) * (places.ndim - inside.ndim))
        kept = np.broadcast_to(kept, places.shape).reshape(-1)
        places, written = places.reshape(-1)[kept], written[kept]
    write(rows, places.reshape(-1), written, combine, unique)
    result = (
        out.reshape(lengths).transpose(np.argsort(order)) if order != tuple(range(x.ndim)) else out
    )
    return result.astype(x.dtype, copy=False)


COMBINE: dict[str, Any] = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}


def write(rows: np.ndarray, places: Any, written: Any, combine: str, unique: bool) -> None:
    """Writes or combines `written[i]` into `rows[places[i]]`, the last one last."""
    if combine == "set":
        rows[places] = written  # NumPy assigns in order: the last one stays
        return
    ufunc = COMBINE[combine]
    if unique or places.size <= 1:
        rows[places] = ufunc(rows[places], written)
        return
    width = rows.shape[1]
    if width != 1:
        # `ufunc.at` is fast along one axis only.
        places = (places[:, None] * width + np.arange(width)).reshape(-1)
    line, written = rows.reshape(-1), written.reshape(-1)
    many = combine == "add" and 4 * places.size >= line.size
    if many and line.dtype.char in "fdFD":
        line += counted(line, places, written)
    elif many and line.dtype.kind in "iu" and line.itemsize <= 4 and places.size <= 1 << 20:
        # Sums of so few integers of so few bits are exact in float64; the last cast wraps.
        sums = np.bincount(places, written, line.size)
        line += sums.astype(np.int64).astype(line.dtype)
    else:
        ufunc.at(line, places, written)


def counted(line: np.ndarray, places: Any, written: Any) -> Any:
    """The sums of what falls on each place, in float64 and as fast as `np.add.at`."""
    if line.dtype.kind == "c":
        real = np.bincount(places, written.real, line.size)
        imag = np.bincount(places, written.imag, line.size)
        return (real + 1j * imag).astype(line.dtype)
    return np.bincount(places, written, line.size).astype(line.dtype)


# ----------------------------------------------------------------- reductions


# The fewest elements, and the longest rows, that BLAS adds up.
FEWEST, LONGEST = 1 << 12, 1 << 16


@lru_cache(maxsize=64)
def ones(n: int, dtype: Any) -> np.ndarray:
    """A vector of ones, never written to."""
    return np.ones(n, dtype)


def are_rows(x: Any, axes: Any) -> bool:
    """True where the sums over `axes` are those of rows that BLAS adds up."""
    return (
        axes == (x.ndim - 1,)
        and x.ndim > 1
        and x.dtype.char in "fd"
        and x.size >= FEWEST
        and 1 < x.shape[-1] <= LONGEST
        and x.flags.c_contiguous
    )


def row_sums(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The sums of `are_rows`, as products with ones: 2 to 20 times as fast as NumPy's.

    Their rounding error is 2 to 4 times that of NumPy's pairwise sums, which is within the
    tolerance that the conformance suite publishes for sums.
    """
    n = x.shape[-1]
    flat = np.matmul(x.reshape(-1, n), ones(n, x.dtype), None if out is None else out.reshape(-1))
    return flat.reshape(x.shape[:-1])


def reduce_sum(x: Any, *, axes: Any) -> Any:
    if are_rows(x, axes):
        return row_sums(x)
    dtype = x.dtype
    return np.add.reduce(x, axis=axes, dtype=wide(dtype)).astype(dtype, copy=False)


def reduce_prod(x: Any, *, axes: Any) -> Any:
    dtype = x.dtype
    return np.multiply.reduce(x, axis=axes, dtype=wide(dtype)).astype(dtype, copy=False)


def reduce_extreme(x: Any, *, axes: Any, ufunc: Any, unit: Callable[[Any], Any]) -> Any:
    if x.size:
        return ufunc.reduce(x, axis=axes)
    # Elements may be left though none comes in: extremes of nothing.
    shape = tuple(n for i, n in enumerate(x.shape) if i not in axes)
    return np.full(shape, unit(x.dtype), x.dtype)


def reduce_logical(x: Any, *, axes: Any, of_bools: Any, of_integers: Any) -> Any:
    return (of_bools if x.dtype == bool else of_integers).reduce(x, axis=axes)


def narrow(x: Any) -> Any:
    """16-bit floats as float32, in which NumPy orders them, and faster."""
    return x.astype(wide(x.dtype), copy=False)


def argmax(x: Any, *, axis: int, dtype: Any) -> Any:
    return np.argmax(narrow(x), axis).astype(dtype)


def argmin(x: Any, *, axis: int, dtype: Any) -> Any:
    return np.argmin(narrow(x), axis).astype(dtype)


# ----------------------------------------------------------------- cumulative


# NumPy adds up one after the other, so that errors pile up: twice the precision costs little.
PRECISE = {np.dtype("float32"): np.dtype("float64"), np.dtype("complex64"): np.dtype("complex128")}


def cumsum(x: Any, *, axis: int, reverse: bool) -> Any:
    dtype = x.dtype
    x = np.flip(x, axis) if reverse else x
    out = np.add.accumulate(x, axis, dtype=PRECISE.get(dtype, wide(dtype))).astype(
        dtype, copy=False
    )
    return np.flip(out, axis) if reverse else out


def accumulate(x: Any, *, axis: int, reverse: bool, ufunc: Any, widens: bool) -> Any:
    dtype = x.dtype
    if reverse:
        x = np.flip(x, axis)
    if widens:
        out = ufunc.accumulate(x, axis, dtype=wide(dtype)).astype(dtype, copy=False)
    else:
        out = ufunc.accumulate(x, axis)
    return np.flip(out, axis) if reverse else out


# ----------------------------------------------------------------- sorting


def sort(*xs: Any, axis: int, num_keys: int) -> Any:
    if len(xs) == 1:
        return (sorted_alone(xs[0], axis),)
    order = None
    for key in reversed(xs[:num_keys]):
        if order is None:
            order = stable_order(key, axis)
        else:
            key = np.take_along_axis(key, order, axis)
            order = np.take_along_axis(order, stable_order(key, axis), axis)
    return tuple(np.take_along_axis(x, order, axis) for x in xs)


def stable_order(key: Any, axis: int) -> Any:
    """The permutation that sorts: equal keys keep their order, nan is last."""
    key = narrow(key)
    if key.dtype.itemsize > 4 or key.shape[axis] > 2**31 or key.size < 256:
        return np.argsort(key, axis, kind="stable")
    # A number of 32 bits that is ordered like the key, above its place: all are different, so
    # NumPy's fast sort, which is not stable, will do (5 times as fast).
    if key.dtype == np.float32:
        bits = (key + np.float32(0)).view(np.int32)  # -0 becomes 0
        number = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).astype(np.int64)
        number[key != key] = 2**31 - 1
    else:
        number = key.astype(np.int64)
        if key.dtype == np.uint32:
            number -= 2**31
    number <<= 32
    number |= np.arange(key.shape[axis]).reshape([-1 if i == axis else 1 for i in range(key.ndim)])
    number.sort(axis)
    number &= 2**32 - 1
    return number


def sorted_alone(x: Any, axis: int) -> Any:
    """One array sorted: NumPy's fast sort, unless stability can be seen."""
    kind = dtypes.kind(x.dtype)
    if kind in ("float", "complex"):
        zero = x == 0
        # Equal elements with different bits are the zeros of both signs (of complex
        # numbers, any zero part).
        seen = kind == "complex" or (zero.any() and np.signbit(x[zero]).any())
        key = narrow(x)
        return np.sort(key, axis, kind="stable" if seen else None).astype(x.dtype, copy=False)
    return np.sort(x, axis)


def searchsorted(line: Any, wanted: Any, *, side: str, batch: int, dtype: Any) -> Any:
    line, wanted = narrow(line), narrow(wanted)
    if not batch:
        return np.searchsorted(line, wanted, side).astype(dtype)
    out = np.empty(wanted.shape, dtype)
    for i in np.ndindex(wanted.shape[:batch]):
        out[i] = np.searchsorted(line[i], wanted[i], side)
    return out


# ----------------------------------------------------------------- products


class Product(NamedTuple):
    """How a general product becomes a (batched) product of matrices."""

    x_perms: tuple[tuple[int, ...], tuple[int, ...]]  # (batch, free, summed), (…, summed, free)
    y_perms: tuple[tuple[int, ...], tuple[int, ...]]
    x_shapes: tuple[tuple[int, ...], tuple[int, ...]]
    y_shapes: tuple[tuple[int, ...], tuple[int, ...]]
    # Which of the two permutations, if any, leaves the operand as it is.
    x_plain: int | None
    y_plain: int | None
    shape: tuple[int, ...]
    summed: int


@lru_cache(maxsize=1024)
def product(x_shape: Any, y_shape: Any, contracting: Any, batch: Any) -> Product:
    """The plan for operands of these shapes."""
    pairs = sorted(zip(*contracting, strict=True))
    perms, shapes, frees = [], [], []
    for shape, summed, paired in (
        (x_shape, tuple(i for i, _ in pairs), batch[0]),
        (y_shape, tuple(j for _, j in pairs), batch[1]),
    ):
        free = tuple(i for i in range(len(shape)) if i not in summed and i not in paired)
        together = tuple(shape[i] for i in paired)
        rows = int(np.prod([shape[i] for i in free], dtype=np.int64))
        inner = int(np.prod([shape[i] for i in summed], dtype=np.int64))
        perms.append(((*paired, *free, *summed), (*paired, *summed, *free)))
        shapes.append(((*together, rows, inner), (*together, inner, rows)))
        frees.append(tuple(shape[i] for i in free))
    out = tuple(x_shape[i] for i in batch[0]) + frees[0] + frees[1]
    plain = [next((i for i, p in enumerate(both) if list(p) == sorted(p)), None) for both in perms]
    return Product(*perms, *shapes, *plain, out, shapes[0][0][-1])


def matrix(x: np.ndarray, perms: Any, shapes: Any, plain: int | None) -> np.ndarray:
    """An operand as matrices of rows and summed columns, as a view where one exists."""
    if plain is not None and x.flags.c_contiguous:
        m = x if x.shape == shapes[plain] else x.reshape(shapes[plain])
        return m.swapaxes(-1, -2) if plain else m
    try:
        m = np.reshape(x.transpose(perms[0]), shapes[0], copy=False)
        if for_blas(m):
            return m
    except ValueError:
        pass
    try:
        m = np.reshape(x.transpose(perms[1]), shapes[1], copy=False)
        if for_blas(m):
            return m.swapaxes(-1, -2)
    except ValueError:
        pass
    return np.ascontiguousarray(x.transpose(perms[0])).reshape(shapes[0])


def for_blas(m: np.ndarray) -> bool:
    """Whether BLAS takes the matrices as they are; NumPy would go through slow loops."""
    (rows, columns), (down, right), size = m.shape[-2:], m.strides[-2:], m.itemsize
    if right == size or columns == 1:
        return rows == 1 or (down >= columns * size and down % size == 0)
    if down == size or rows == 1:
        return columns == 1 or (right >= rows * size and right % size == 0)
    return False


def dot_general(x: Any, y: Any, *, contracting: Any, batch: Any, precision: Any) -> Any:
    x, y = np.asarray(x), np.asarray(y)
    p = product(x.shape, y.shape, contracting, batch)
    dtype = x.dtype
    through = dtype
    if dtypes.kind(dtype) in ("int", "uint") and dtype.itemsize <= 2:
        through = np.dtype(np.float64)  # exact, and BLAS has it
    elif dtype.char not in "fdFD":
        through = wide(dtype)
    if through != dtype:
        x, y = x.astype(through), y.astype(through)
    left = matrix(x, p.x_perms, p.x_shapes, p.x_plain)
    right = matrix(y, p.y_perms, p.y_shapes, p.y_plain).swapaxes(-1, -2)
    out = np.multiply(left, right) if p.summed == 1 else np.matmul(left, right)
    if through != dtype:
        # Small integers wrap around, which a float does not.
        out = (out.astype(np.int64) if through == np.float64 else out).astype(dtype)
    return out if out.shape == p.shape else out.reshape(p.shape)


def absorb_dot(x: Any, y: Any, *, contracting: Any, batch: Any, precision: Any) -> Any:
    out = dot_general(x, y, contracting=contracting, batch=batch, precision=precision)
    if np.isfinite(out).all():
        return out  # zeros made zeros of themselves
    x, y = np.asarray(x), np.asarray(y)
    p = product(x.shape, y.shape, contracting, batch)
    left = matrix(x != 0, p.x_perms, p.x_shapes, p.x_plain).any(-1)
    right = matrix(y != 0, p.y_perms, p.y_shapes, p.y_plain).any(-1)
    some = left[..., :, None] & right[..., None, :]
    return np.where(some.reshape(p.shape), out, out.dtype.type(0))[()]


STRUCTURAL: dict[str, Any] = {
    "rev": rev,
    "slice": slice_,
    "pad": pad,
    "concatenate": concatenate,
    "dynamic_slice": dynamic_slice,
    "dynamic_update_slice": dynamic_update_slice,
    "gather": gather,
    "scatter": scatter,
    "reduce_sum": reduce_sum,
    "reduce_prod": reduce_prod,
    "reduce_max": partial(reduce_extreme, ufunc=np.maximum, unit=lowest),
    "reduce_min": partial(reduce_extreme, ufunc=np.minimum, unit=highest),
    "reduce_and": partial(reduce_logical, of_bools=np.logical_and, of_integers=np.bitwise_and),
    "reduce_or": partial(reduce_logical, of_bools=np.logical_or, of_integers=np.bitwise_or),
    "argmax": argmax,
    "argmin": argmin,
    "cumsum": cumsum,
    "cumprod": partial(accumulate, ufunc=np.multiply, widens=True),
    "cummax": partial(accumulate, ufunc=np.maximum, widens=False),
    "cummin": partial(accumulate, ufunc=np.minimum, widens=False),
    "cumlogsumexp": partial(accumulate, ufunc=np.logaddexp, widens=True),
    "searchsorted": searchsorted,
    "sort": sort,
    "dot_general": dot_general,
    "absorb_dot": absorb_dot,
    "guarded_dot": dot_general,
}
