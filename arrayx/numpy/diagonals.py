"""What is made of diagonals and of products of single elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic
from arrayx.numpy.composing import composed
from arrayx.numpy.contraction import (
    _both,
)
from arrayx.numpy.matrices import diagonal_mask
from arrayx.numpy.naming import refuse_out
from arrayx.numpy.promotion import (
    LITERALS,
    as_array,
    as_type,
    broadcast_to_shape,
    check_axis,
    placed_like,
)
from arrayx.numpy.ranges import concrete_index
from arrayx.numpy.reductions import sum
from arrayx.numpy.shapes import concatenate, expand_dims, moveaxis, ravel, reshape
from arrayx.primitives.arithmetic import select


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The diagonal number `offset` of the matrices in two axes, as a new last axis.

    >>> import arrayx.numpy as anp
    >>> anp.diagonal(anp.arange(4).reshape(2, 2)).tolist()
    [0, 3]
    """
    x = as_array(a, "diagonal", "a")
    if x.ndim < 2:
        raise errors.ShapeError(f"diagonal needs at least 2 dimensions, got shape {x.shape}")
    offset = concrete_index(offset, "diagonal", "offset")
    i, j = check_axis(axis1, x.ndim, "diagonal"), check_axis(axis2, x.ndim, "diagonal")
    if i == j:
        raise errors.AxisError("diagonal: the two axes are the same")
    x = moveaxis(x, (i, j), (-2, -1))
    rows, columns = x.shape[-2:]
    down, right = max(-offset, 0), max(offset, 0)
    count = max(0, min(rows - down, columns - right))
    places = np.arange(count)
    return x[..., places + down, places + right]


@composed
def diag(v: Any, k: int = 0) -> Array:
    """The diagonal number `k` of a matrix, or the matrix that has a vector as that diagonal.

    >>> import arrayx.numpy as anp
    >>> anp.diag(anp.array([1, 2])).tolist()
    [[1, 0], [0, 2]]
    """
    x = as_array(v, "diag", "v")
    if x.ndim == 2:
        return diagonal(x, concrete_index(k, "diag", "k"))
    if x.ndim != 1:
        raise errors.ShapeError(f"diag takes a vector or a matrix, got shape {x.shape}")
    return _with_diagonal(x, concrete_index(k, "diag", "k"))


def _with_diagonal(x: Array, k: int) -> Array:
    """Square matrices in the last two axes, zero but for diagonal `k`: the vectors `x`."""
    n = x.shape[-1] + abs(k)
    zero = LITERALS[dtypes.kind(x.dtype)](0)
    if k:
        with placed_like(x):
            empty = broadcast_to_shape(as_type(as_array(zero), x.dtype), (*x.shape[:-1], abs(k)))
        x = concatenate([empty, x] if k > 0 else [x, empty], -1)
    shape = (*x.shape[:-1], n, n)
    with placed_like(x):
        mask = broadcast_to_shape(diagonal_mask((n, n), k), shape)
    return select(mask, broadcast_to_shape(expand_dims(x, -2), shape), zero)  # type: ignore[no-any-return]


@composed
def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Matrices whose diagonals are the vectors along the last axis of `D`: the inverse of
    `diagonal`, as autograd has it.

    The matrices are square and zero elsewhere; their rows and columns are the axes `axis1` and
    `axis2` of the result.  The vectors are on the diagonal number `offset`.

    >>> import arrayx.numpy as anp
    >>> anp.make_diagonal(anp.array([1, 2])).tolist()
    [[1, 0], [0, 2]]
    """
    x = as_array(D, "make_diagonal", "D")
    if x.ndim < 1:
        raise errors.ShapeError("make_diagonal needs at least 1 dimension, got a number")
    offset = concrete_index(offset, "make_diagonal", "offset")
    i, j = (check_axis(axis, x.ndim + 1, "make_diagonal") for axis in (axis1, axis2))
    if i == j:
        raise errors.AxisError("make_diagonal: the two axes are the same")
    return moveaxis(_with_diagonal(x, offset), (-2, -1), (i, j))


@composed
def diagflat(v: Any, k: int = 0) -> Array:
    """`diag` of the flattened array.

    >>> import arrayx.numpy as anp
    >>> anp.diagflat(anp.array([[1, 2]])).tolist()
    [[1, 0], [0, 2]]
    """
    return diag(ravel(as_array(v, "diagflat", "v")), k)


@composed
def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None
) -> Array:
    """The sum of the diagonal.

    >>> import arrayx.numpy as anp
    >>> float(anp.trace(anp.eye(3)))
    3.0
    """
    refuse_out(out, "trace")
    return sum(diagonal(a, offset, axis1, axis2), -1, dtype)


@composed
def kron(a: Any, b: Any) -> Array:
    """The Kronecker product: each element of `a` replaced by its product with `b`.

    >>> import arrayx.numpy as anp
    >>> anp.kron(anp.array([1, 2]), anp.array([1, 1])).tolist()
    [1, 1, 2, 2]
    """
    x, y = _both(a, b, "kron")
    n = max(x.ndim, y.ndim)
    left, right = ((1,) * (n - v.ndim) + v.shape for v in (x, y))
    wide_x = reshape(x, tuple(m for s in left for m in (s, 1)))
    wide_y = reshape(y, tuple(m for s in right for m in (1, s)))
    shape = tuple(p * q for p, q in zip(left, right, strict=True))
    return reshape(arithmetic.multiply(wide_x, wide_y), shape)


@composed
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """The vector product along an axis of length 3 (or 2, in the plane).

    >>> import arrayx.numpy as anp
    >>> anp.cross(anp.array([1, 0, 0]), anp.array([0, 1, 0])).tolist()
    [0, 0, 1]
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = _both(a, b, "cross")
    x, y = moveaxis(x, axisa, -1), moveaxis(y, axisb, -1)
    lengths = x.shape[-1], y.shape[-1]
    if any(n not in (2, 3) for n in lengths):
        raise errors.ShapeError(f"cross: vectors of length 2 or 3 are taken, got {lengths}")
    mul, sub = arithmetic.multiply, arithmetic.subtract
    p, q = ([v[..., i] for i in range(v.shape[-1])] for v in (x, y))
    third = sub(mul(p[0], q[1]), mul(p[1], q[0]))
    if lengths == (2, 2):
        return third
    zero = LITERALS[dtypes.kind(x.dtype)](0)
    p3, q3 = (v[2] if len(v) == 3 else zero for v in (p, q))
    first = sub(mul(p[1], q3), mul(p3, q[1]))
    second = sub(mul(p3, q[0]), mul(p[0], q3))
    parts = [expand_dims(v, -1) for v in (first, second, third)]
    return moveaxis(concatenate(parts, -1), -1, axisc)
