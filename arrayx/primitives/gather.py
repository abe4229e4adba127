"""Reading and writing at computed places: gather and scatter, each the other's transpose.

The dimension numbers are those of the StableHLO operations, so every form of indexing is one
of these two; `points` and `along` make them for the common forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import typeof
from arrayx.core.aval import Aval, Shape
from arrayx.core.graph import param_class
from arrayx.core.linear import Zero
from arrayx.core.primitive import Fault, Primitive
from arrayx.primitives.arithmetic import eq, ge, gt, le, lt, mul, ne, select
from arrayx.primitives.axes import broadcast_in_dim, move_batch_dim, reshape
from arrayx.primitives.conversion import convert
from arrayx.primitives.creation import fill as full_of
from arrayx.primitives.creation import instantiate, iota, zero_literal, zeros
from arrayx.primitives.families import (
    EVERYTHING,
    NUMERIC,
    ORDERED,
    add_tangents,
    handed,
    is_linear,
    scaled,
)
from arrayx.primitives.numeric import div

Axes = tuple[int, ...]
BOOL = np.dtype(bool)
READS = ("clip", "fill", "promise")
WRITES = ("drop", "within", "clip", "promise")
COMBINE = {
    "set": EVERYTHING,
    "add": NUMERIC,
    "mul": NUMERIC,
    "min": ORDERED,
    "max": ORDERED,
}
# What a gather does out of bounds is what the scatter that transposes it does, and back.
WRITE_OF_READ = {"clip": "clip", "fill": "drop", "promise": "promise"}
READ_OF_WRITE = {"clip": "clip", "drop": "fill", "within": "fill", "promise": "promise"}


@param_class
@dataclass(frozen=True)
class GatherDims:
    """How the axes of a gather's operand, indices and result belong together.

    The last axis of the indices always holds the index vector: component j of it is the
    start of the window along axis `start_index_map[j]` of the operand.  The other axes of
    the indices are its *batch* axes, and each of their elements reads one window.

    - `offset_dims`: the axes of the result that walk through the window, increasing, one for
      each axis of the operand that is neither collapsed nor batching, in that order.  The
      other axes of the result are the batch axes of the indices, in their order.
    - `collapsed_slice_dims`: axes of the operand with a window of 1, left out of the result;
      increasing.
    - `start_index_map`: for each component of the index vector its axis of the operand.
    - `operand_batching_dims`: axes of the operand, with a window of 1, that are paired with
      batch axes of the indices; increasing.
    - `start_indices_batching_dims`: those axes of the indices, in the order of the former.
    """

    offset_dims: Axes
    collapsed_slice_dims: Axes
    start_index_map: Axes
    operand_batching_dims: Axes = ()
    start_indices_batching_dims: Axes = ()

    def as_scatter(self) -> ScatterDims:
        """The scatter that writes where this gather reads."""
        return ScatterDims(
            self.offset_dims,
            self.collapsed_slice_dims,
            self.start_index_map,
            self.operand_batching_dims,
            self.start_indices_batching_dims,
        )

    def window_dims(self, ndim: int) -> Axes:
        """The axes of the operand that the result keeps."""
        gone = {*self.collapsed_slice_dims, *self.operand_batching_dims}
        return tuple(d for d in range(ndim) if d not in gone)

    def batch_positions(self, ndim: int) -> Axes:
        """The axes of a result of rank `ndim` that are batch axes of the indices."""
        return tuple(d for d in range(ndim) if d not in self.offset_dims)


@param_class
@dataclass(frozen=True)
class ScatterDims:
    """How the axes of a scatter's operand, indices and updates belong together.

    The updates are laid out like the result of the gather with the same numbers, see
    `GatherDims`: `update_window_dims` are its `offset_dims`, `inserted_window_dims` its
    `collapsed_slice_dims`, `scatter_dims_to_operand_dims` its `start_index_map`,
    `scatter_indices_batching_dims` its `start_indices_batching_dims`.
    """

    update_window_dims: Axes
    inserted_window_dims: Axes
    scatter_dims_to_operand_dims: Axes
    operand_batching_dims: Axes = ()
    scatter_indices_batching_dims: Axes = ()

    def as_gather(self) -> GatherDims:
        """The gather that reads where this scatter writes."""
        return GatherDims(
            self.update_window_dims,
            self.inserted_window_dims,
            self.scatter_dims_to_operand_dims,
            self.operand_batching_dims,
            self.scatter_indices_batching_dims,
        )

    def window_sizes(self, ndim: int, updates_shape: Shape) -> Shape:
        """The lengths of the window along the axes of an operand of rank `ndim`."""
        sizes = [1] * ndim
        window = self.as_gather().window_dims(ndim)
        for d, u in zip(window, self.update_window_dims, strict=True):
            sizes[d] = updates_shape[u]
        return tuple(sizes)


def points(
    shape: Shape, axes: Sequence[int], batch_ndim: int, position: int = 0
) -> tuple[GatherDims, Shape]:
    """Dimension numbers and window sizes for whole slices of an operand at points of `axes`.

    The index vectors have a component for each of `axes`, in that order, and stand in indices
    with `batch_ndim` axes before the last one.  The result has those batch axes from axis
    `position` on; around them are the other axes of the operand.  So `x[:, i]` is
    `points(x.shape, (1,), i.ndim, position=1)`, and `x[i, :, j]` `points(x.shape, (0, 2), i.ndim)`.

    >>> dims, sizes = points((5, 6), (1,), 2, position=1)
    >>> dims.offset_dims, dims.collapsed_slice_dims, dims.start_index_map, sizes
    ((0,), (1,), (1,), (5, 1))
    """
    kept = len(shape) - len(axes)
    offsets = tuple(i if i < position else i + batch_ndim for i in range(kept))
    sizes = tuple(min(1, n) if i in axes else n for i, n in enumerate(shape))
    return GatherDims(offsets, tuple(sorted(axes)), tuple(axes)), sizes


def along(shape: Shape, axis: int) -> tuple[GatherDims, Shape]:
    """Dimension numbers and window sizes for single elements along one axis.

    The indices have the operand's axes (of other length along `axis` if need be) and a last
    one of length 1; the result is of the shape of the indices without it, and every element
    comes from its own line: `take_along_axis`.

    >>> dims, sizes = along((5, 6), 1)
    >>> dims.start_index_map, dims.operand_batching_dims, dims.start_indices_batching_dims, sizes
    ((1,), (0,), (0,), (1, 1))
    """
    others = tuple(d for d in range(len(shape)) if d != axis)
    return GatherDims((), (axis,), (axis,), others, others), tuple(min(1, n) for n in shape)


def take_along(x: Any, indices: Any, axis: int, mode: str = "promise") -> Any:
    """Elements of `x` along `axis`, line by line, at `indices` of the shape of the result."""
    dims, sizes = along(x.aval.shape, axis)
    indices = reshape(indices, shape=(*indices.aval.shape, 1))
    return gather(x, indices, dims=dims, sizes=sizes, mode=mode, fill=None)


def default_fill(dtype: Any) -> Any:
    """What a read out of bounds gives unless told otherwise.

    NaN for floats and complex numbers, the least value of signed integers, the greatest of
    unsigned ones (and so of the words of keys), True for booleans: what no sensible result is.
    Floats of less than 8 bits have no nan: their greatest value.

    >>> default_fill("int8"), default_fill("uint8"), default_fill("float32")
    (-128, 255, nan)
    """
    kind = dtypes.kind(dtype)
    if kind == "float":
        return float("nan")
    if kind == "complex":
        return complex("nan")
    if kind == "bool":
        return True
    if kind == "narrow float":
        return dtypes.finfo(dtype).max
    if kind == "key":
        dtype = dtype.physical_dtype
    limits = dtypes.iinfo(dtype)
    return int(limits.min) if kind in ("int", "narrow int") else int(limits.max)


class Gather(Primitive):
    """Windows of `x`, read at places that `indices` holds.

    - `x`: any dtype.  `indices`: integers, of rank at least 1; its last axis holds the index
      vectors, of length `len(dims.start_index_map)`.
    - `dims`: a `GatherDims`.
    - `sizes`: the lengths of the window along each axis of `x`, at most those of `x`; 1 along
      collapsed and batching axes (0 where those have no elements: every read from such an
      operand is out of bounds).
    - `mode`: what happens to a window that is not wholly inside `x`.  "clip": it is moved
      inside (as in StableHLO); "fill": all of it reads as `fill`; "promise": there is none
      (if there is, the result is not specified, but nothing else is read or harmed).
      A negative index is out of bounds; whoever wants to count from the end adds the length.
    - `fill`: a Python scalar, or None for `default_fill(x.dtype)`; None in the other modes.

    The result has the batch axes of the indices and the offset axes, as `dims` says.
    """

    name = "gather"
    partly_owed = True
    moves = True

    def key(self, params: dict[str, Any]) -> tuple[Any, ...]:
        # The fill by its digits: nan equals nothing, and 0 equals 0.0 and False.
        return (params["dims"], params["sizes"], params["mode"], repr(params["fill"]))

    def type_rule(
        self, x: Aval, indices: Aval, *, dims: GatherDims, sizes: Shape, mode: str, fill: Any
    ) -> Aval:
        check_windows(self.name, x, indices, dims, sizes)
        if mode not in READS:
            raise errors.ArgumentError(f"gather has no mode {mode!r}; it has {', '.join(READS)}")
        if mode != "fill" and fill is not None:
            raise errors.ArgumentError(f"gather fills nothing in mode {mode!r}: fill must be None")
        shape = result_shape(indices.shape, dims, sizes)
        if x.size == 0 and mode != "fill" and 0 not in shape:
            raise errors.ShapeError(f"gather cannot read {shape} from {x}, which has no elements")
        return x.update(shape=shape)

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        x, indices = primals
        result = self(x, indices, **params)
        if tangents[0] is Zero:
            return result, Zero
        return result, self(tangents[0], indices, **self.linear(result.aval.dtype, **params))

    def linear(self, dtype: Any, **params: Any) -> dict[str, Any]:
        """The params of the linear part: what is filled in has no tangent."""
        return {**params, "fill": zero_literal(dtype) if params["mode"] == "fill" else None}

    def faults(
        self, x: Any, indices: Any, *, dims: GatherDims, sizes: Shape, mode: str, fill: Any
    ) -> list[Fault]:
        # With a fill of the user's own, reading outside is what was meant.
        if mode == "clip" or fill is not None:
            return []
        return outside("read", x.aval.shape, indices, dims, sizes)

    def transpose(
        self, ct: Any, x: Any, indices: Any, *, dims: GatherDims, sizes: Shape, mode: str, fill: Any
    ) -> Any:
        back = scatter(
            zeros(x.aval.strong()),
            indices,
            ct,
            dims=dims.as_scatter(),
            mode=WRITE_OF_READ[mode],
            combine="add",
            unique=False,
        )
        return back, None

    def vmap(
        self, size: int, args: Any, batch: Any, *, dims: GatherDims, sizes: Shape, **params: Any
    ) -> Any:
        (x, indices), (i, j) = args, batch
        if i is not None:
            x = move_batch_dim(size, x, i, 0)
        if j is not None:
            indices = move_batch_dim(size, indices, j, 0)
        dims, length = with_batch_axis(size, dims, i is not None, j is not None)
        return self(x, indices, dims=dims, sizes=(*length, *sizes), **params), 0

    def expand(
        self, x: Any, indices: Any, *, dims: GatherDims, sizes: Shape, mode: str, fill: Any
    ) -> Any:
        """The other modes in terms of "clip", the core one."""
        if mode == "clip":
            raise errors.UnsupportedError("gather in mode 'clip' is core: it has no expansion")
        value = default_fill(x.aval.dtype)
        if fill is not None:
            value = type(value)(fill)  # a literal is of the kind of what it stands beside
        if x.aval.size == 0:
            shape = result_shape(indices.aval.shape, dims, sizes)
            return full_of(shape, x.aval.dtype, value)
        result = self(x, indices, dims=dims, sizes=sizes, mode="clip", fill=None)
        if mode == "promise":
            return result
        inside = in_bounds(x.aval.shape, indices, dims, sizes)
        batch = dims.batch_positions(result.aval.ndim)
        inside = broadcast_in_dim(inside, shape=result.aval.shape, dims=batch)
        return select(inside, result, value)


def check_windows(name: str, x: Aval, indices: Aval, dims: GatherDims, sizes: Shape) -> None:
    """Raises where dimension numbers, sizes and operands do not fit."""

    def refuse(reason: str) -> None:
        raise errors.ShapeError(f"{name} of {x} at {indices} with {dims}, sizes {sizes}: {reason}")

    if dtypes.kind(indices.dtype) not in ("int", "uint"):
        raise errors.DtypeError(f"{name} needs indices of integer dtype, got {indices}")
    if indices.ndim < 1 or indices.shape[-1] != len(dims.start_index_map):
        refuse("the last axis of the indices must hold one component for each start_index_map")
    gone = (*dims.collapsed_slice_dims, *dims.operand_batching_dims)
    for axes, what, ndim in (
        (gone, "collapsed and batching axes", x.ndim),
        (
            (*dims.start_index_map, *dims.operand_batching_dims),
            "start_index_map and batching axes",
            x.ndim,
        ),
        (dims.start_indices_batching_dims, "start_indices_batching_dims", indices.ndim - 1),
        (dims.offset_dims, "offset_dims", indices.ndim - 1 + len(dims.offset_dims)),
    ):
        if len({*axes}) != len(axes) or not all(0 <= a < ndim for a in axes):
            refuse(f"{what} must be different axes below {ndim}")
    for axes in (dims.offset_dims, dims.collapsed_slice_dims, dims.operand_batching_dims):
        if list(axes) != sorted(axes):
            refuse("offset, collapsed and batching axes must increase")
    if len(dims.offset_dims) != x.ndim - len(gone):
        refuse("there must be an offset axis for each axis that is neither collapsed nor batching")
    if len(sizes) != x.ndim or not all(0 <= s <= n for s, n in zip(sizes, x.shape)):
        refuse("there must be a size for each axis of the operand, at most its length")
    if any(sizes[d] != min(1, x.shape[d]) for d in gone):
        refuse("the size of a collapsed or batching axis must be 1 (0 where it has no elements)")
    if [x.shape[d] for d in dims.operand_batching_dims] != [
        indices.shape[d] for d in dims.start_indices_batching_dims
    ]:
        refuse("the batching axes of operand and indices must be as many, of equal lengths")


def result_shape(indices_shape: Shape, dims: GatherDims, sizes: Shape) -> Shape:
    """The shape of a gather's result, and of a scatter's updates."""
    batch = iter(indices_shape[:-1])
    window = iter([sizes[d] for d in dims.window_dims(len(sizes))])
    ndim = len(indices_shape) - 1 + len(dims.offset_dims)
    return tuple(next(window) if d in dims.offset_dims else next(batch) for d in range(ndim))


def with_batch_axis(
    size: int, dims: GatherDims, in_operand: bool, in_indices: bool
) -> tuple[GatherDims, Shape]:
    """Dimension numbers with a batch axis in front of the result and of what has one.

    The second result is the window's length along the operand's new axis, if there is one.
    """
    moved = in_operand  # whether the operand's axes move up
    collapsed = tuple(d + moved for d in dims.collapsed_slice_dims)
    index_map = tuple(d + moved for d in dims.start_index_map)
    batching = tuple(d + moved for d in dims.operand_batching_dims)
    indices_batching = tuple(d + in_indices for d in dims.start_indices_batching_dims)
    offsets = tuple(d + 1 for d in dims.offset_dims)
    if not in_operand:
        return GatherDims(offsets, collapsed, index_map, batching, indices_batching), ()
    if not in_indices:
        # The batch is one more axis of the window: one wide read instead of many.
        return GatherDims((0, *offsets), collapsed, index_map, batching, indices_batching), (size,)
    batching, indices_batching = (0, *batching), (0, *indices_batching)
    return GatherDims(offsets, collapsed, index_map, batching, indices_batching), (min(1, size),)


def components(indices: Any, count: int) -> list[Any]:
    """The components of index vectors, each of the shape of the batch axes."""
    shape = indices.aval.shape
    if count == 1:
        return [reshape(indices, shape=shape[:-1])]
    dims, sizes = points(shape, (len(shape) - 1,), 0)
    places = [full_of((1,), np.dtype(np.int32), j) for j in range(count)]
    return [
        gather(indices, place, dims=dims, sizes=sizes, mode="clip", fill=None) for place in places
    ]


def in_bounds(shape: Shape, indices: Any, dims: GatherDims, sizes: Shape) -> Any:
    """Which windows are wholly inside an operand of `shape`: booleans, one for each."""
    inside = full_of(indices.aval.shape[:-1], BOOL, True)
    limits = dtypes.iinfo(indices.aval.dtype)
    parts = components(indices, len(dims.start_index_map))
    for part, axis in zip(parts, dims.start_index_map, strict=True):
        last = shape[axis] - sizes[axis]
        if limits.min < 0:
            inside = select(ge(part, 0), inside, False)
        if last < limits.max:
            inside = select(le(part, last), inside, False)
    return inside


def outside(what: str, shape: Shape, indices: Any, dims: GatherDims, sizes: Shape) -> list[Fault]:
    """The fault of indices that are out of bounds."""
    if indices.aval.size == 0:
        return []
    inside = in_bounds(shape, indices, dims, sizes)
    lengths = ", ".join(str(shape[axis]) for axis in dims.start_index_map)
    several = "axes of lengths" if len(dims.start_index_map) > 1 else "an axis of length"
    words = f"{what} out of bounds: index {{indices}} on {several} {lengths}"
    return [Fault("index", words, eq(inside, False), {"indices": indices})]


def clipped(shape: Shape, indices: Any, dims: GatherDims, sizes: Shape) -> Any:
    """The indices with every window moved inside an operand of `shape`."""
    limits = dtypes.iinfo(indices.aval.dtype)
    result = indices
    lanes = iota(shape=indices.aval.shape, dtype=np.dtype(np.int32), axis=indices.aval.ndim - 1)
    for j, axis in enumerate(dims.start_index_map):
        last = shape[axis] - sizes[axis]
        part = indices
        if last < limits.max:
            part = select(gt(part, last), last, part)
        if limits.min < 0:
            part = select(lt(part, 0), 0, part)
        result = select(eq(lanes, j), part, result)
    return result


class Scatter(Primitive):
    """`x` with windows of `updates` written, or combined, at places that `indices` holds.

    - `x`: any dtype.  `indices`: integers, of rank at least 1; its last axis holds the index
      vectors, of length `len(dims.scatter_dims_to_operand_dims)`.
    - `updates`: of the dtype of `x`, laid out like the result of a gather: it has the batch
      axes of the indices and the window axes, as `dims` says.
    - `dims`: a `ScatterDims`.
    - `mode`: what happens to a window that is not wholly inside `x`.  "drop": nothing of it
      is written (as in StableHLO); "within": the same, but it is a mistake, which
      `ax.checked` reports; "clip": it is moved inside; "promise": there is none (if there is,
      the result is not specified, but nothing else is written or harmed).
    - `combine`: "set", "add", "mul", "min" or "max".  Where several updates meet, "set" keeps
      the last one, in the row-major order of the batch axes of the indices: on every backend.
      The others combine all of them, in no fixed order; 16-bit floats are added in float32.
    - `unique`: the promise that no two updates meet.

    Derivatives: of "set", only the update that is kept has one, and what it overwrites has
    none; of "mul", each factor has the product of the others, made without division; of
    "min" and "max", all that equal the result share one unit.
    """

    name = "scatter"
    partly_owed = True

    def type_rule(
        self,
        x: Aval,
        indices: Aval,
        updates: Aval,
        *,
        dims: ScatterDims,
        mode: str,
        combine: str,
        unique: bool,
    ) -> Aval:
        if combine not in COMBINE or mode not in WRITES:
            raise errors.ArgumentError(f"scatter has no combine {combine!r} or no mode {mode!r}")
        if x.dtype != updates.dtype or dtypes.kind(x.dtype) not in COMBINE[combine]:
            raise errors.DtypeError(
                f"scatter ({combine}) needs operand and updates of one dtype for which that is "
                f"defined, got {x} and {updates}"
            )
        as_gather = dims.as_gather()
        if len(dims.update_window_dims) != len(as_gather.window_dims(x.ndim)) or any(
            d >= updates.ndim for d in dims.update_window_dims
        ):
            raise errors.ShapeError(f"scatter: {dims} does not fit {x} and updates {updates}")
        sizes = sizes_of(x, updates, dims)
        check_windows(self.name, x, indices, as_gather, sizes)
        if updates.shape != result_shape(indices.shape, as_gather, sizes):
            raise errors.ShapeError(
                f"scatter: updates {updates} do not fit indices {indices} with {dims}"
            )
        return x.update(weak_type=x.weak_type and updates.weak_type)

    def faults(
        self, x: Any, indices: Any, updates: Any, *, dims: ScatterDims, mode: str, **params: Any
    ) -> list[Fault]:
        if mode in ("clip", "drop"):
            return []
        sizes = dims.window_sizes(x.aval.ndim, updates.aval.shape)
        return outside("write", x.aval.shape, indices, dims.as_gather(), sizes)

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        x, indices, updates = primals
        dx, _, du = tangents
        result = self(x, indices, updates, **params)
        combine = params["combine"]
        if dx is Zero and du is Zero:
            return result, Zero
        if combine == "mul":
            return result, self.jvp_of_mul(x, indices, updates, dx, du, **params)
        if combine in ("min", "max"):
            return result, self.jvp_of_extreme(result, x, indices, updates, dx, du, **params)
        if combine == "add" and du is Zero:
            return result, dx
        dx = instantiate(dx, typeof(x).strong())
        du = instantiate(du, typeof(updates).strong())
        return result, self(dx, indices, du, **params)

    def jvp_of_mul(
        self, x: Any, indices: Any, updates: Any, dx: Any, du: Any, **params: Any
    ) -> Any:
        """Each factor's tangent times all other factors of the same place."""
        aval = x.aval.strong()
        by_x: Any = Zero
        if dx is not Zero:
            one = full_of(aval.shape, aval.dtype, 1 + zero_literal(aval.dtype))
            by_x = scaled(dx, self(one, indices, updates, **params))
        if du is Zero:
            return by_x
        others = self.read(x, indices, **self.where(x, updates, **params))
        if not self.alone(updates, **params):
            places = self.places(x, updates, indices, **params)
            others = mul(others, handed.product_of_others(updates, places))
        summed = {**params, "combine": "add"}
        by_updates = self(zeros(aval), indices, scaled(du, others), **summed)
        return add_tangents(by_x, by_updates)

    def jvp_of_extreme(
        self, result: Any, x: Any, indices: Any, updates: Any, dx: Any, du: Any, **params: Any
    ) -> Any:
        """The mean of the tangents of all that equal the result; nan equals nan here."""
        aval = x.aval.strong()
        wide = dtypes.accumulation_dtype(aval.dtype)
        where = self.where(x, updates, **params)
        kept = same(x, result)
        written = same(updates, self.read(result, indices, **where))
        summed = {**params, "combine": "add"}
        count = self(as_numbers(kept, wide), indices, as_numbers(written, wide), **summed)
        tangent = zeros(aval.update(dtype=wide))
        if dx is not Zero:
            tangent = select(kept, as_dtype(dx, wide), 0.0)
        if du is not Zero:
            tangent = self(tangent, indices, select(written, as_dtype(du, wide), 0.0), **summed)
        return as_dtype(mul(tangent, div(1.0, count)), aval.dtype)

    def transpose(self, ct: Any, x: Any, indices: Any, updates: Any, **params: Any) -> Any:
        combine = params["combine"]
        if combine not in ("set", "add"):
            raise errors.GradError(f"scatter ({combine}) is not linear: it has no transpose")
        x_aval, updates_aval = aval_of(x), aval_of(updates)
        by_x = ct
        if combine == "set" and is_linear(x):
            by_x = self(ct, indices, zeros(updates_aval.strong()), **params)
        by_updates = None
        if is_linear(updates):
            by_updates = self.read(ct, indices, **self.where(x_aval, updates_aval, **params))
            if combine == "set" and not self.alone(updates_aval, **params):
                kept = self.winners(x_aval, indices, updates_aval, **params)
                by_updates = select(kept, by_updates, zero_literal(updates_aval.dtype))
        return (by_x if is_linear(x) else None), None, by_updates

    def where(
        self, x: Any, updates: Any, *, dims: ScatterDims, mode: str, **params: Any
    ) -> dict[str, Any]:
        """The params of the gather that reads where this scatter writes, but for the fill."""
        x, updates = aval_of(x), aval_of(updates)
        return {
            "dims": dims.as_gather(),
            "sizes": sizes_of(x, updates, dims),
            "mode": READ_OF_WRITE[mode],
        }

    def read(self, x: Any, indices: Any, **where: Any) -> Any:
        """What is in `x` at the places written; 0 for what was dropped."""
        fill = zero_literal(x.aval.dtype) if where["mode"] == "fill" else None
        return gather(x, indices, fill=fill, **where)

    def alone(self, updates: Any, *, dims: ScatterDims, unique: bool, **params: Any) -> bool:
        """True where no two updates can meet."""
        shape = aval_of(updates).shape
        batch = dims.as_gather().batch_positions(len(shape))
        return unique or all(shape[d] <= 1 for d in batch)

    def places(self, x: Any, updates: Any, indices: Any, **params: Any) -> Any:
        """For each element of the updates the number of its place in `x`; -1 if dropped."""
        shape = aval_of(x).shape
        dtype = dtypes.index_dtype(aval_of(x).size + 1)
        numbers = reshape(iota(shape=(aval_of(x).size,), dtype=dtype, axis=0), shape=shape)
        where = self.where(x, updates, **params)
        fill = -1 if where["mode"] == "fill" else None
        return gather(numbers, indices, fill=fill, **where)

    def winners(self, x: Any, indices: Any, updates: Any, **params: Any) -> Any:
        """Which elements of the updates a "set" keeps: the last of each place."""
        shape = updates.shape
        batch = params["dims"].as_gather().batch_positions(len(shape))
        order_shape = tuple(shape[d] for d in batch)
        count = int(np.prod(order_shape, dtype=object))
        dtype = dtypes.index_dtype(count)
        order = reshape(iota(shape=(count,), dtype=dtype, axis=0), shape=order_shape)
        order = broadcast_in_dim(order, shape=shape, dims=batch)
        last = self(full_of(x.shape, dtype, -1), indices, order, **{**params, "combine": "max"})
        where = self.where(x, updates, **params)
        fill = -1 if where["mode"] == "fill" else None
        return eq(gather(last, indices, fill=fill, **where), order)

    def vmap(self, size: int, args: Any, batch: Any, *, dims: ScatterDims, **params: Any) -> Any:
        (x, indices, updates), (i, j, k) = args, batch
        x = move_batch_dim(size, x, i, 0)
        updates = move_batch_dim(size, updates, k, 0)
        if j is not None:
            indices = move_batch_dim(size, indices, j, 0)
        batched, _ = with_batch_axis(size, dims.as_gather(), True, j is not None)
        return self(x, indices, updates, dims=batched.as_scatter(), **params), 0

    def expand(self, x: Any, indices: Any, updates: Any, **params: Any) -> Any:
        """Clipping, promises and the order of "set" in terms of the core form.

        That is mode "drop" with a combination whose order does not matter, or with unique
        places.
        """
        mode, combine = params["mode"], params["combine"]
        if mode != "drop":
            where = self.where(x, updates, **params)
            if mode == "clip":
                indices = clipped(x.aval.shape, indices, where["dims"], where["sizes"])
            return self(x, indices, updates, **{**params, "mode": "drop"})
        if combine != "set" or params["unique"]:
            raise errors.UnsupportedError(
                f"scatter ({combine}) in mode 'drop' is a core primitive: it has no expansion"
            )
        # Element by element, and those that are overwritten are sent out of bounds.
        size, count = x.aval.size, updates.aval.size
        places = self.places(x, updates, indices, **params)
        kept = self.winners(x.aval, indices, updates.aval, **params)
        places = reshape(select(kept, places, size), shape=(count, 1))
        dims, _ = points((size,), (0,), 1)
        result = self(
            reshape(x, shape=(size,)),
            places,
            reshape(updates, shape=(count,)),
            dims=dims.as_scatter(),
            mode="drop",
            combine="set",
            unique=True,
        )
        return reshape(result, shape=x.aval.shape)


gather = Gather()
scatter = Scatter()


def aval_of(x: Any) -> Aval:
    """The type of an argument of a rule: of a value, an `Undefined`, or a type itself."""
    if type(x) is Aval:
        return x
    aval = getattr(x, "aval", None)
    return aval if aval is not None else typeof(x)


def sizes_of(x: Any, updates: Any, dims: ScatterDims) -> Shape:
    """The window sizes of a scatter: those of its updates, none in axes without elements."""
    x, updates = aval_of(x), aval_of(updates)
    sizes = list(dims.window_sizes(x.ndim, updates.shape))
    for d in (*dims.inserted_window_dims, *dims.operand_batching_dims):
        sizes[d] = min(1, x.shape[d])
    return tuple(sizes)


def as_numbers(which: Any, dtype: Any) -> Any:
    """1.0 where true, 0.0 elsewhere."""
    return select(which, full_of(which.aval.shape, dtype, 1.0), 0.0)


def as_dtype(x: Any, dtype: Any) -> Any:
    """`x` in another dtype, itself if that is its own."""
    return x if x.aval.dtype == dtype else convert(x, dtype=dtype, weak_type=False)


def same(x: Any, y: Any) -> Any:
    """Where `x` equals `y`, and where `x` is nan: it makes an extreme nan."""
    if dtypes.kind(x.aval.dtype) != "float":
        return eq(x, y)
    return select(ne(x, x), True, eq(x, y))
