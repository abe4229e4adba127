"""The functions of `ax.lax` that move, reduce and contract, with arguments in JAX's form."""

from __future__ import annotations

import builtins
import enum
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import creation, logic, ordering, repetition, selection, shapes
from arrayx.numpy.contraction import contracted
from arrayx.numpy.indexing import counted_from_0
from arrayx.numpy.promotion import (
    LITERALS,
    as_array,
    as_type,
    check_axes,
    check_axis,
    promoted_arrays,
    read_beside,
)
from arrayx.primitives import axes as axis_primitives
from arrayx.primitives import conversion, cumulative, reduction, slicing, sorting
from arrayx.primitives import creation as creation_primitives


class Precision(enum.Enum):
    """How exact a product is: DEFAULT (the dtype's own), HIGH or HIGHEST."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2


def _array(x: Any, function: str) -> Array:
    return as_array(x, f"lax.{function}", "operand")


# ----------------------------------------------------------------- creation and conversion


def convert_element_type(operand: Any, new_dtype: Any) -> Array:
    """`operand` in another dtype.

    >>> convert_element_type(np.array([1.5]), int).tolist()
    [1]
    """
    return creation.astype(_array(operand, "convert_element_type"), new_dtype)


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Array:
    """The bits of `operand` as another dtype.

    >>> bitcast_convert_type(np.float32(1.0), np.uint32).item()
    1065353216
    """
    x = _array(operand, "bitcast_convert_type")
    return conversion.bitcast(x, dtype=dtypes.as_dtype(new_dtype))  # type: ignore[no-any-return]


def full(shape: Any, fill_value: Any, dtype: Any = None, *, sharding: Any = None) -> Array:
    """An array of a shape with every element `fill_value`."""
    return creation.full(shape, fill_value, dtype)


def full_like(
    x: Any, fill_value: Any, dtype: Any = None, shape: Any = None, sharding: Any = None
) -> Array:
    """An array of the shape and dtype of `x` with every element `fill_value`."""
    return creation.full_like(x, fill_value, dtype, shape)


def iota(dtype: Any, size: int) -> Array:
    """0, 1, 2, … up to `size` - 1.

    >>> iota(np.int32, 3).tolist()
    [0, 1, 2]
    """
    return broadcasted_iota(dtype, (size,), 0)


def broadcasted_iota(dtype: Any, shape: Any, dimension: int, *, out_sharding: Any = None) -> Array:
    """Counts along one axis of an array of a shape.

    >>> broadcasted_iota(np.int32, (2, 2), 1).tolist()
    [[0, 1], [0, 1]]
    """
    shape = creation.as_shape(shape, "lax.broadcasted_iota")
    axis = check_axis(dimension, len(shape), "lax.broadcasted_iota")
    return creation_primitives.iota(shape=shape, dtype=dtypes.as_dtype(dtype), axis=axis)  # type: ignore[no-any-return]


# ----------------------------------------------------------------- axes


def broadcast_in_dim(
    operand: Any, shape: Any, broadcast_dimensions: Sequence[int], *, out_sharding: Any = None
) -> Array:
    """`operand` repeated to a shape; its axis i becomes axis `broadcast_dimensions[i]`.

    >>> broadcast_in_dim(np.ones(2), (2, 3), (0,)).shape
    (2, 3)
    """
    x = _array(operand, "broadcast_in_dim")
    dims = tuple(int(d) for d in broadcast_dimensions)
    return axis_primitives.broadcast_in_dim(x, shape=tuple(shape), dims=dims)  # type: ignore[no-any-return]


def broadcast(operand: Any, sizes: Sequence[int], *, out_sharding: Any = None) -> Array:
    """`operand` with new axes of these lengths in front.

    >>> broadcast(np.ones(2), (3,)).shape
    (3, 2)
    """
    x = _array(operand, "broadcast")
    return shapes.broadcast_to(x, (*sizes, *x.shape))


def broadcast_to_rank(x: Any, rank: int) -> Array:
    """`x` with axes of length 1 in front until it has `rank`.

    >>> broadcast_to_rank(np.ones(2), 3).shape
    (1, 1, 2)
    """
    x = _array(x, "broadcast_to_rank")
    return shapes.reshape(x, (1,) * (rank - x.ndim) + x.shape)


def reshape(
    operand: Any, new_sizes: Any, dimensions: Any = None, *, out_sharding: Any = None
) -> Array:
    """The elements of `operand`, its axes in the order `dimensions`, in another shape."""
    x = _array(operand, "reshape")
    if dimensions is not None:
        x = shapes.transpose(x, dimensions)
    return shapes.reshape(x, new_sizes)


def transpose(operand: Any, permutation: Sequence[int]) -> Array:
    """`operand` with its axes in another order."""
    return shapes.transpose(operand, tuple(int(p) for p in permutation))


def rev(operand: Any, dimensions: Sequence[int]) -> Array:
    """`operand` turned around along axes."""
    x = _array(operand, "rev")
    return axis_primitives.rev(x, axes=check_axes(tuple(dimensions), x.ndim, "lax.rev"))  # type: ignore[no-any-return]


def squeeze(array: Any, dimensions: Any) -> Array:
    """`array` without these axes, which have length 1."""
    return shapes.squeeze(array, tuple(dimensions) if dimensions is not None else None)


def expand_dims(array: Any, dimensions: Sequence[int]) -> Array:
    """`array` with new axes of length 1."""
    return shapes.expand_dims(array, tuple(dimensions))


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Array:
    """`operand` with the axes from `start_dimension` up to `stop_dimension` made into one.

    >>> collapse(np.ones((2, 3, 4)), 0, 2).shape
    (6, 4)
    """
    x = _array(operand, "collapse")
    start, stop, _ = builtins.slice(start_dimension, stop_dimension).indices(x.ndim)
    return shapes.reshape(x, (*x.shape[:start], math.prod(x.shape[start:stop]), *x.shape[stop:]))


def concatenate(operands: Any, dimension: int) -> Array:
    """Arrays one after the other along an axis."""
    return shapes.concatenate(operands, dimension)


def pad(operand: Any, padding_value: Any, padding_config: Sequence[Any]) -> Array:
    """`operand` with `padding_value` around and between its elements.

    For each axis (low, high, interior); low and high may be negative, which cuts off.

    >>> pad(np.ones(2), 0.0, [(1, 0, 1)]).tolist()
    [0.0, 1.0, 0.0, 1.0]
    """
    x, value = read_beside((operand, padding_value), "lax.pad", ("operand", "padding_value"))
    x = as_array(x)
    if isinstance(value, Array):
        value = as_type(value, x.dtype)
    else:
        value = LITERALS[dtypes.kind(x.dtype)](value)
    low, high, interior = (tuple(int(c[i]) for c in padding_config) for i in range(3))
    return slicing.pad(x, value, low=low, high=high, interior=interior)  # type: ignore[no-any-return]


# ----------------------------------------------------------------- slices


def slice(
    operand: Any, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Any = None
) -> Array:
    """`operand` from starts to limits, with strides.

    >>> slice(np.arange(5), (1,), (5,), (2,)).tolist()
    [1, 3]
    """
    x = _array(operand, "slice")
    steps = (1,) * x.ndim if strides is None else tuple(int(s) for s in strides)
    starts, limits = (tuple(int(i) for i in v) for v in (start_indices, limit_indices))
    return slicing.slice(x, starts=starts, limits=limits, strides=steps)  # type: ignore[no-any-return]


def slice_in_dim(
    operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0
) -> Array:
    """`operand` from start to limit along one axis.

    >>> slice_in_dim(np.arange(5), 1, 3).tolist()
    [1, 2]
    """
    x = _array(operand, "slice_in_dim")
    i = check_axis(axis, x.ndim, "lax.slice_in_dim")
    start, limit, _ = builtins.slice(start_index, limit_index).indices(x.shape[i])
    starts, limits, steps = [0] * x.ndim, list(x.shape), [1] * x.ndim
    starts[i], limits[i], steps[i] = start, limit, stride
    return slice(x, starts, limits, steps)


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Array:
    """The element number `index` along one axis.

    >>> index_in_dim(np.arange(5), 3, keepdims=False).item()
    3
    """
    x = _array(operand, "index_in_dim")
    i = check_axis(axis, x.ndim, "lax.index_in_dim")
    index = check_axis(index, x.shape[i], "lax.index_in_dim")
    part = slice_in_dim(x, index, index + 1, axis=i)
    return part if keepdims else shapes.squeeze(part, i)


def _starts(start_indices: Any, x: Array, function: str, negative: Any = True) -> list[Any]:
    if isinstance(start_indices, Array | np.ndarray):
        start_indices = list(shapes.unstack(start_indices))
    if len(start_indices) != x.ndim:
        raise errors.ShapeError(
            f"lax.{function}: {len(start_indices)} start indices for {x.ndim} dimensions"
        )
    starts: list[Any] = []
    for n, s in zip(
        x.shape, read_beside(start_indices, f"lax.{function}", ["start"] * x.ndim), strict=True
    ):
        if type(s) is int:
            starts.append(s + n if s < 0 else s)
        elif isinstance(s, Array):
            if s.aval.ndim:
                s = shapes.reshape(s, ())
            s = s if dtypes.is_integer(s.dtype) else as_type(s, dtypes.default_int())
            starts.append(counted_from_0(s, n))
        else:
            starts.append(int(s))
    return starts


def dynamic_slice(
    operand: Any, start_indices: Any, slice_sizes: Any, *, allow_negative_indices: Any = True
) -> Array:
    """A window of a fixed size at computed starts, moved inside where it would stick out.

    >>> dynamic_slice(np.arange(5), (3,), (3,)).tolist()
    [2, 3, 4]
    """
    x = _array(operand, "dynamic_slice")
    sizes = tuple(int(n) for n in slice_sizes)
    return slicing.dynamic_slice(x, *_starts(start_indices, x, "dynamic_slice"), sizes=sizes)  # type: ignore[no-any-return]


def dynamic_slice_in_dim(
    operand: Any,
    start_index: Any,
    slice_size: int,
    axis: int = 0,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """`dynamic_slice` along one axis.

    >>> dynamic_slice_in_dim(np.arange(5), 1, 2).tolist()
    [1, 2]
    """
    x = _array(operand, "dynamic_slice_in_dim")
    i = check_axis(axis, x.ndim, "lax.dynamic_slice_in_dim")
    starts, sizes = [0] * x.ndim, list(x.shape)
    starts[i], sizes[i] = start_index, int(slice_size)
    return dynamic_slice(x, starts, sizes)


def dynamic_index_in_dim(
    operand: Any,
    index: Any,
    axis: int = 0,
    keepdims: bool = True,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """The element at a computed index along one axis, the nearest one if there is none.

    >>> dynamic_index_in_dim(np.arange(5), 3, keepdims=False).item()
    3
    """
    part = dynamic_slice_in_dim(operand, index, 1, axis)
    return part if keepdims else shapes.squeeze(part, axis)


def dynamic_update_slice(
    operand: Any, update: Any, start_indices: Any, *, allow_negative_indices: Any = True
) -> Array:
    """`operand` with a window overwritten, moved inside where it would stick out.

    >>> dynamic_update_slice(np.zeros(3), np.ones(2), (2,)).tolist()
    [0.0, 1.0, 1.0]
    """
    x, new = promoted_arrays((operand, update), "lax.dynamic_update_slice", ("operand", "update"))
    starts = _starts(start_indices, x, "dynamic_update_slice")
    return slicing.dynamic_update_slice(x, new, *starts)  # type: ignore[no-any-return]


def dynamic_update_slice_in_dim(
    operand: Any, update: Any, start_index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Array:
    """`dynamic_update_slice` along one axis."""
    x = _array(operand, "dynamic_update_slice_in_dim")
    starts: list[Any] = [0] * x.ndim
    starts[check_axis(axis, x.ndim, "lax.dynamic_update_slice_in_dim")] = start_index
    return dynamic_update_slice(x, update, starts)


def dynamic_update_index_in_dim(
    operand: Any, update: Any, index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Array:
    """`operand` with the element at a computed index along one axis overwritten."""
    x = _array(operand, "dynamic_update_index_in_dim")
    new = as_array(update, "lax.dynamic_update_index_in_dim", "update")
    if new.ndim != x.ndim:
        new = shapes.expand_dims(new, axis)
    return dynamic_update_slice_in_dim(x, new, index, axis)


def split(operand: Any, sizes: Sequence[int], axis: int = 0) -> list[Array]:
    """Parts of these lengths along an axis.

    >>> [p.tolist() for p in split(np.arange(3), (1, 2))]
    [[0], [1, 2]]
    """
    x = _array(operand, "split")
    i = check_axis(axis, x.ndim, "lax.split")
    cuts = np.cumsum([0, *sizes]).tolist()
    return [slice_in_dim(x, a, b, axis=i) for a, b in itertools.pairwise(cuts)]


# ----------------------------------------------------------------- products, reductions, order


def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """The product that sums over axes and pairs others.

    `dimension_numbers` is ((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)).

    >>> dot_general(np.ones((2, 3)), np.ones((3, 4)), (((1,), (0,)), ((), ()))).shape
    (2, 4)
    """
    x, y = promoted_arrays((lhs, rhs), "lax.dot_general", ("lhs", "rhs"))
    (cx, cy), (bx, by) = dimension_numbers
    contracting, batch = ((tuple(map(int, a)), tuple(map(int, b))) for a, b in ((cx, cy), (bx, by)))
    return contracted(x, y, contracting, batch, precision, preferred_element_type)


def dot(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The product of vectors and matrices, or `dot_general` with `dimension_numbers`."""
    if dimension_numbers is None:
        x = _array(lhs, "dot")
        dimension_numbers = (((x.ndim - 1,), (0,)), ((), ()))
    return dot_general(lhs, rhs, dimension_numbers, precision, preferred_element_type)


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Array:
    """Products of the matrices in the last two axes, paired over all others.

    >>> batch_matmul(np.ones((5, 2, 3)), np.ones((5, 3, 4))).shape
    (5, 2, 4)
    """
    x = _array(lhs, "batch_matmul")
    n = x.ndim - 2
    paired = tuple(range(n))
    return dot_general(x, rhs, (((n + 1,), (n,)), (paired, paired)), precision)


def _reduction(name: str, primitive: Any, sentence: str) -> Any:
    def reduce_over(operand: Any, axes: Any, *, out_sharding: Any = None) -> Array:
        x = _array(operand, name)
        return primitive(x, axes=check_axes(tuple(axes), x.ndim, f"lax.{name}"))  # type: ignore[no-any-return]

    reduce_over.__name__ = reduce_over.__qualname__ = name
    reduce_over.__doc__ = sentence
    reduce_over.__module__ = "arrayx.lax"
    return reduce_over


reduce_sum = _reduction("reduce_sum", axis_primitives.reduce_sum, "The sum over axes.")
reduce_prod = _reduction("reduce_prod", reduction.reduce_prod, "The product over axes.")
reduce_max = _reduction("reduce_max", reduction.reduce_max, "The largest element over axes.")
reduce_min = _reduction("reduce_min", reduction.reduce_min, "The smallest element over axes.")
reduce_and = _reduction("reduce_and", reduction.reduce_and, "Bits set in all over axes.")
reduce_or = _reduction("reduce_or", reduction.reduce_or, "Bits set in any over axes.")


def argmax(operand: Any, axis: int, index_dtype: Any) -> Array:
    """The index of the first largest element along an axis."""
    x = _array(operand, "argmax")
    i = check_axis(axis, x.ndim, "lax.argmax")
    return reduction.argmax(x, axis=i, dtype=dtypes.as_dtype(index_dtype))  # type: ignore[no-any-return]


def argmin(operand: Any, axis: int, index_dtype: Any) -> Array:
    """The index of the first smallest element along an axis."""
    x = _array(operand, "argmin")
    i = check_axis(axis, x.ndim, "lax.argmin")
    return reduction.argmin(x, axis=i, dtype=dtypes.as_dtype(index_dtype))  # type: ignore[no-any-return]


def _running(name: str, primitive: Any, sentence: str) -> Any:
    def run(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
        x = _array(operand, name)
        i = check_axis(axis, x.ndim, f"lax.{name}")
        return primitive(x, axis=i, reverse=bool(reverse))  # type: ignore[no-any-return]

    run.__name__ = run.__qualname__ = name
    run.__doc__ = sentence
    run.__module__ = "arrayx.lax"
    return run


cumsum = _running("cumsum", cumulative.cumsum, "Sums of all up to each along an axis.")
cumprod = _running("cumprod", cumulative.cumprod, "Products of all up to each along an axis.")
cummax = _running("cummax", cumulative.cummax, "The largest up to each along an axis.")
cummin = _running("cummin", cumulative.cummin, "The smallest up to each along an axis.")
cumlogsumexp = _running(
    "cumlogsumexp", cumulative.cumlogsumexp, "log of the sum of exp up to each along an axis."
)


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """One array sorted along an axis, or several moved alike, sorted by the first `num_keys`.

    >>> sort(np.array([3, 1, 2])).tolist()
    [1, 2, 3]
    """
    several = isinstance(operand, tuple | list)
    arrays = [_array(x, "sort") for x in (operand if several else [operand])]
    i = check_axis(dimension, arrays[0].ndim, "lax.sort")
    results = sorting.sort(*arrays, axis=i, num_keys=num_keys)
    return tuple(results) if several else results[0]


def sort_key_val(
    keys: Any, values: Any, dimension: int = -1, is_stable: bool = True
) -> tuple[Array, Array]:
    """`keys` sorted along an axis, and `values` moved alike."""
    return sort((keys, values), dimension)  # type: ignore[no-any-return]


def top_k(operand: Any, k: int, *, axis: int = -1) -> tuple[Array, Array]:
    """The `k` largest elements along an axis, falling, and their indices; equal ones in order.

    >>> [v.tolist() for v in top_k(np.array([1, 5, 3]), 2)]
    [[5, 3], [1, 2]]
    """
    x = _array(operand, "top_k")
    i = check_axis(axis, x.ndim, "lax.top_k")
    if not 0 <= k <= x.shape[i]:
        raise errors.ArgumentError(f"lax.top_k: k = {k} of an axis of length {x.shape[i]}")
    order = slice_in_dim(ordering.argsort(x, i, descending=True), 0, k, axis=i)
    return selection.take_along_axis(x, order, i), order


def reduce(operands: Any, init_values: Any, computation: Any, dimensions: Sequence[int]) -> Any:
    """A reduction by a function of two arrays that is associative, over axes.

    >>> from arrayx.lax import add
    >>> float(reduce(np.ones(3), 0.0, add, (0,)))
    3.0
    """
    x = _array(operands, "reduce")
    axes = check_axes(tuple(dimensions), x.ndim, "lax.reduce")
    x = shapes.moveaxis(x, axes, tuple(range(len(axes))))
    x = shapes.reshape(x, (math.prod(x.shape[: len(axes)]), *x.shape[len(axes) :]))
    while x.shape[0] > 1:
        half = x.shape[0] // 2
        rest = slice_in_dim(x, 2 * half, None)
        x = computation(slice_in_dim(x, 0, half), slice_in_dim(x, half, 2 * half))
        if rest.shape[0]:
            x = shapes.concatenate([x, rest])
    first = creation.beside(init_values, x, "lax.reduce", "init_values")
    return (
        computation(shapes.broadcast_to(first, x.shape[1:]), shapes.squeeze(x, 0))
        if x.shape[0]
        else shapes.broadcast_to(first, x.shape[1:])
    )


def tile(operand: Any, reps: Sequence[int]) -> Array:
    """`operand` repeated along each axis.

    >>> tile(np.array([1, 2]), (2,)).tolist()
    [1, 2, 1, 2]
    """
    x = _array(operand, "tile")
    if len(reps) != x.ndim:
        raise errors.ShapeError(f"lax.tile: {len(reps)} numbers for {x.ndim} dimensions")
    return repetition.tile(x, tuple(reps))


def stack(arrays: Sequence[Any], axis: int = 0) -> Array:
    """Arrays of one shape along a new axis.

    >>> stack([np.zeros(2), np.ones(2)]).shape
    (2, 2)
    """
    return shapes.stack(arrays, axis)


def unstack(array: Any, axis: int = 0) -> tuple[Array, ...]:
    """The slices along an axis.

    >>> len(unstack(np.ones((3, 2))))
    3
    """
    return tuple(shapes.unstack(_array(array, "unstack"), axis=axis))


def empty(shape: Any, dtype: Any, *, out_sharding: Any = None) -> Array:
    """An array whose elements are not defined: zeros, in fact.

    >>> empty((2,), np.float32).shape
    (2,)
    """
    return creation.zeros(shape, dtype)


def dtype(x: Any) -> Any:
    """The dtype that `x` has as an array.

    >>> dtype(1.5)
    dtype('float32')
    """
    return as_array(x, "lax.dtype", "x").dtype


def reduce_xor(operand: Any, axes: Sequence[int]) -> Array:
    """The exclusive or over `axes`.

    >>> int(reduce_xor(np.array([5, 3]), (0,)))
    6
    """
    x = _array(operand, "reduce_xor")
    zero = False if dtypes.kind(x.dtype) == "bool" else 0
    return reduce(x, zero, logic.bitwise_xor, axes)  # type: ignore[no-any-return]
