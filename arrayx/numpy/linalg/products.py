"""Products of matrices and vectors, and what is summed of matrices, by the array standard.

The functions of `arrayx.numpy` with these names take other axes where none are given.
"""

from __future__ import annotations

from typing import Any

from arrayx import errors
from arrayx.core.array import Array
from arrayx.numpy import contraction, diagonals
from arrayx.numpy.linalg.systems import inv
from arrayx.numpy.matrices import eye
from arrayx.numpy.naming import at_home
from arrayx.numpy.promotion import (
    as_array,
    broadcast_to_shape,
    check_axis,
    promoted_arrays,
)
from arrayx.numpy.summation import einsum
from arrayx.primitives.matrices import guarded_product


def diagonal(x: Any, /, *, offset: int = 0) -> Array:
    """The diagonal number `offset` of the matrices in the last two axes.

    >>> import arrayx.numpy as anp
    >>> diagonal(anp.arange(4).reshape(2, 2)).tolist()
    [0, 3]
    """
    return diagonals.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """The sum of the diagonal of the matrices in the last two axes.

    >>> import arrayx.numpy as anp
    >>> trace(anp.ones((3, 2, 2))).tolist()
    [2.0, 2.0, 2.0]
    """
    return diagonals.trace(x, offset, -2, -1, dtype)


def outer(x1: Any, x2: Any, /) -> Array:
    """All products of an element of the vector `x1` with one of the vector `x2`.

    >>> import arrayx.numpy as anp
    >>> outer(anp.array([1, 2]), anp.array([3, 4])).tolist()
    [[3, 4], [6, 8]]
    """
    x, y = promoted_arrays((x1, x2), "outer", ("x1", "x2"))
    if x.ndim != 1 or y.ndim != 1:
        raise errors.ShapeError(f"outer takes vectors, got shapes {x.shape} and {y.shape}")
    return contraction.outer(x, y)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """The vector product along an axis of length 3.

    >>> import arrayx.numpy as anp
    >>> cross(anp.array([1, 0, 0]), anp.array([0, 1, 0])).tolist()
    [0, 0, 1]
    """
    x, y = promoted_arrays((x1, x2), "cross", ("x1", "x2"))
    for v in (x, y):
        if v.shape[check_axis(axis, v.ndim, "cross")] != 3:
            raise errors.ShapeError(
                f"cross takes vectors of length 3 along axis {axis}, got shape {v.shape}"
            )
    return diagonals.cross(x, y, axis=axis)


@at_home
def matrix_power(a: Any, n: int) -> Array:
    """The product of `n` copies of the matrices in the last two axes, or of their inverse.

    >>> import numpy as np
    >>> matrix_power(np.array([[1, 1], [0, 1]]), 3).tolist()
    [[1, 3], [0, 1]]
    """
    x = as_array(a, "matrix_power", "a")
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise errors.ShapeError(f"matrix_power needs square matrices, got shape {x.shape}")
    if n < 0:
        return matrix_power(inv(x), -n)
    if n == 0:
        return broadcast_to_shape(eye(x.shape[-1], dtype=x.dtype), x.shape)
    result = None
    while n:
        if n & 1:
            result = x if result is None else guarded_product(result, x)
        n >>= 1
        if n:
            x = guarded_product(x, x)
    assert result is not None
    return result


def multi_dot(arrays: Any, *, precision: Any = None) -> Array:
    """The product of several matrices in the cheapest order; the ends may be vectors.

    >>> import numpy as np
    >>> multi_dot([np.eye(2), np.eye(2), np.ones(2)]).tolist()
    [1.0, 1.0]
    """
    matrices = [as_array(m, "multi_dot", f"arrays[{i}]") for i, m in enumerate(arrays)]
    if len(matrices) < 2:
        raise errors.ArgumentError("multi_dot needs at least two arrays")
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    terms = []
    for i, m in enumerate(matrices):
        if m.ndim not in (1, 2) or (m.ndim == 1 and 0 < i < len(matrices) - 1):
            raise errors.ShapeError(f"multi_dot: arrays[{i}] of shape {m.shape} is no matrix")
        term = letters[i : i + 2]
        terms.append(term if m.ndim == 2 else (term[1] if i == 0 else term[0]))
    out = (terms[0][0] if matrices[0].ndim == 2 else "") + (
        terms[-1][1] if matrices[-1].ndim == 2 else ""
    )
    return einsum(",".join(terms) + "->" + out, *matrices, precision=precision)
