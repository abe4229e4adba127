"""The functions of `ax.lax` that cut windows out of arrays and write them."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import shapes
from arrayx.numpy.indexing import counted_from_0
from arrayx.numpy.promotion import as_array, as_type, check_axis, promoted_arrays, read_beside
from arrayx.primitives import slicing


def _array(x: Any, function: str) -> Array:
    return as_array(x, f"lax.{function}", "operand")


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
