"""Matrices and grids made from their shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.core.aval import Shape
from arrayx.numpy import arithmetic
from arrayx.numpy.composing import composed
from arrayx.numpy.creation import (
    _dtype,
    as_shape,
    zeros,
)
from arrayx.numpy.naming import named
from arrayx.numpy.placing import placed
from arrayx.numpy.promotion import LITERALS, as_array, as_type, broadcast_to_shape, placed_like
from arrayx.numpy.ranges import arange, concrete_index
from arrayx.numpy.shapes import expand_dims, stack
from arrayx.primitives.arithmetic import add, eq, ge, select
from arrayx.primitives.creation import iota


def diagonal_number(shape: Shape, k: int) -> int:
    """`k`, or where no element is so far from the diagonal the next number of which that holds."""
    return max(-shape[-2], min(int(k), shape[-1]))


def diagonal_mask(shape: Shape, k: int) -> Array:
    """Booleans: true where the column is the row plus `k`, over the last two axes."""
    rows = iota(shape=shape, dtype=np.dtype(np.int32), axis=len(shape) - 2)
    columns = iota(shape=shape, dtype=np.dtype(np.int32), axis=len(shape) - 1)
    return eq(columns, add(rows, diagonal_number(shape, k)))  # type: ignore[no-any-return]


def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = None, *, device: Any = None
) -> Array:
    """A matrix with ones on the diagonal number `k` and zeros elsewhere, on `device`.

    >>> import arrayx.numpy as anp
    >>> anp.eye(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if device is not None:
        return placed(device, eye, N, M, k, dtype)  # type: ignore[no-any-return]
    rows = concrete_index(N, "eye", "N")
    shape = rows, rows if M is None else concrete_index(M, "eye", "M")
    as_shape(shape, "eye")
    return as_type(diagonal_mask(shape, k), _dtype(dtype, dtypes.default_float()))


def identity(n: int, dtype: Any = None) -> Array:
    """The square matrix with ones on its diagonal.

    >>> import arrayx.numpy as anp
    >>> anp.identity(2, int).tolist()
    [[1, 0], [0, 1]]
    """
    return eye(n, dtype=dtype)


def triangle_mask(shape: Shape, k: int) -> Array:
    """Booleans: true where the column is at most the row plus `k`, over the last two axes."""
    rows = iota(shape=shape, dtype=np.dtype(np.int32), axis=len(shape) - 2)
    columns = iota(shape=shape, dtype=np.dtype(np.int32), axis=len(shape) - 1)
    return ge(add(rows, diagonal_number(shape, k)), columns)  # type: ignore[no-any-return]


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Array:
    """Ones at and below the diagonal number `k`, zeros above it.

    >>> import arrayx.numpy as anp
    >>> anp.tri(2).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    rows = concrete_index(N, "tri", "N")
    shape = rows, rows if M is None else concrete_index(M, "tri", "M")
    as_shape(shape, "tri")
    return as_type(triangle_mask(shape, k), _dtype(dtype, dtypes.default_float()))


@composed
def tril(m: Any, k: int = 0) -> Array:
    """`m` with zeros above the diagonal number `k`, over the last two axes.

    >>> import arrayx.numpy as anp
    >>> anp.tril(anp.ones((2, 2))).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    return _triangle(m, k, "tril", True)


@composed
def triu(m: Any, k: int = 0) -> Array:
    """`m` with zeros below the diagonal number `k`, over the last two axes.

    >>> import arrayx.numpy as anp
    >>> anp.triu(anp.ones((2, 2))).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    return _triangle(m, k - 1, "triu", False)


def _triangle(m: Any, k: int, function: str, lower: bool) -> Array:
    x = as_array(m, function, "m")
    if x.ndim < 2:
        raise errors.ShapeError(f"{function} needs at least 2 dimensions, got shape {x.shape}")
    zero = LITERALS[dtypes.kind(x.dtype)](0)
    with placed_like(x):
        mask = triangle_mask(x.shape, k)
    return select(mask, x, zero) if lower else select(mask, zero, x)  # type: ignore[no-any-return]


@named
def meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> list[Array]:
    """Grids of the coordinates of vectors: the i-th varies along its own axis only.

    With `indexing="xy"` the first two axes are exchanged; `sparse` keeps length 1 elsewhere.

    >>> import arrayx.numpy as anp
    >>> [g.tolist() for g in anp.meshgrid(anp.asarray([1, 2]), anp.asarray([3]))]
    [[[1, 2]], [[3, 3]]]
    """
    if indexing not in ("xy", "ij"):
        raise errors.ArgumentError(f"meshgrid: indexing is 'xy' or 'ij', not {indexing!r}")
    vectors = [as_array(x, "meshgrid", f"xi[{i}]").reshape(-1) for i, x in enumerate(xi)]
    order = list(range(len(vectors)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = 1, 0
    shape = tuple(vectors[i].size for i in order)
    grids = []
    for i, v in enumerate(vectors):
        axis = order.index(i)
        grid = v.reshape(tuple(v.size if j == axis else 1 for j in range(len(shape))))
        grids.append(grid if sparse else broadcast_to_shape(grid, shape))
    return grids


def indices(dimensions: Sequence[int], dtype: Any = None, sparse: bool = False) -> Any:
    """For each axis of a grid the index along it, stacked; a tuple of them if `sparse`.

    >>> import arrayx.numpy as anp
    >>> anp.indices((1, 2)).tolist()
    [[[0, 0]], [[0, 1]]]
    """
    shape = as_shape(dimensions, "indices")
    target = _dtype(dtype, dtypes.default_int())
    if sparse:
        return tuple(
            iota(shape=(n,), dtype=target, axis=0).reshape(
                tuple(n if j == i else 1 for j in range(len(shape)))
            )
            for i, n in enumerate(shape)
        )
    if not shape:
        return zeros((0,), target)
    return stack([iota(shape=shape, dtype=target, axis=i) for i in range(len(shape))])


@named
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Array:
    """The matrix of powers of `x`, one row for each element, in the dtype of `x`.

    >>> import arrayx.numpy as anp
    >>> anp.vander(anp.asarray([2, 3]), 3).tolist()
    [[4, 2, 1], [9, 3, 1]]
    """
    v = as_array(x, "vander", "x")
    if v.ndim != 1:
        raise errors.ShapeError(f"vander: x must be a vector, got shape {v.shape}")
    count = v.size if N is None else concrete_index(N, "vander", "N")
    as_shape(count, "vander")
    exponents = arange(count) if increasing else arange(count - 1, -1, -1)
    if dtypes.is_integer(v.dtype) and count <= dtypes.iinfo(v.dtype).max:
        exponents = as_type(exponents, v.dtype)
    result = arithmetic.power(expand_dims(v, 1), expand_dims(exponents, 0))
    return result if dtypes.kind(v.dtype) == "bool" else as_type(result, v.dtype)
