"""The functions of `ax.lax` that make arrays and move their axes, with arguments in JAX's form."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import creation, repetition, shapes
from arrayx.numpy.promotion import (
    LITERALS,
    as_array,
    as_type,
    check_axes,
    check_axis,
    read_beside,
)
from arrayx.primitives import axes as axis_primitives
from arrayx.primitives import conversion, slicing
from arrayx.primitives import creation as creation_primitives


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


def broadcast_like(arr: Any, like_arr: Any) -> Array:
    """`arr` repeated to the shape of `like_arr`, axes lined up from the last.

    >>> broadcast_like(np.array([1, 2]), np.zeros((2, 2))).tolist()
    [[1, 2], [1, 2]]
    """
    like = as_array(like_arr, "lax.broadcast_like", "like_arr")
    return shapes.broadcast_to(as_array(arr, "lax.broadcast_like", "arr"), like.shape)


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


def tile(operand: Any, reps: Sequence[int]) -> Array:
    """`operand` repeated along each axis.

    >>> tile(np.array([1, 2]), (2,)).tolist()
    [1, 2, 1, 2]
    """
    x = _array(operand, "tile")
    if len(reps) != x.ndim:
        raise errors.ShapeError(f"lax.tile: {len(reps)} numbers for {x.ndim} dimensions")
    return repetition.tile(x, tuple(reps))


def stack(operands: Sequence[Any], axis: int = 0) -> Array:
    """Arrays of one shape along a new axis.

    >>> stack([np.zeros(2), np.ones(2)]).shape
    (2, 2)
    """
    return shapes.stack(operands, axis)


def unstack(x: Any, axis: int = 0) -> tuple[Array, ...]:
    """The slices along an axis.

    >>> len(unstack(np.ones((3, 2))))
    3
    """
    return tuple(shapes.unstack(_array(x, "unstack"), axis=axis))


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


def shape_as_value(shape: Any) -> Array:
    """A shape as an array of integers.

    >>> shape_as_value((2, 3)).tolist()
    [2, 3]
    """
    return as_array(np.array(tuple(shape), dtypes.default_int()))


def stage(x: Any, /) -> Array:
    """`x` as an array: where a program is being staged, as a value of that program.

    >>> stage(1.5)
    Array(1.5, dtype=float32, weak_type=True)
    """
    return _array(x, "stage")
