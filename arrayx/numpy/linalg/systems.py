"""Linear systems and what is computed on the way to their solution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from arrayx import errors
from arrayx.core.array import Array
from arrayx.numpy.linalg.reading import (
    check_matrix,
    matrix,
    narrowing,
    symmetrised,
    with_equal_batches,
    working_dtype,
)
from arrayx.numpy.promotion import as_array, as_type, check_axis, placed_like, promoted_arrays
from arrayx.numpy.shapes import expand_dims, moveaxis, reshape, squeeze
from arrayx.primitives import determinant, linalg
from arrayx.primitives.arithmetic import neg, select
from arrayx.primitives.axes import reduce_sum
from arrayx.primitives.exponential import log
from arrayx.primitives.matrices import adjoint, diagonal, identity
from arrayx.primitives.numeric import abs as absolute
from arrayx.primitives.numeric import sign
from arrayx.primitives.reduction import reduce_prod


class SlogdetResult(NamedTuple):
    """A determinant as its sign (a phase for complex matrices) and its size's logarithm."""

    sign: Array
    logabsdet: Array


def solve(a: Any, b: Any) -> Array:
    """The `x` with `a @ x = b`, for square matrices `a`.

    `b` is one vector (rank 1) or matrices; the axes before the last two are broadcast.  The
    result has the promoted dtype of both.  Where `a` is singular it holds inf or nan.

    Raises `ShapeError` where `a` is not square or `b` has not as many rows.

    >>> import arrayx.numpy as anp
    >>> anp.linalg.solve(anp.array([[2.0, 0.0], [0.0, 4.0]]), anp.array([2.0, 2.0])).tolist()
    [1.0, 0.5]
    """
    x, y = promoted_arrays((a, b), "solve", ("a", "b"))
    check_matrix(x, "solve", "a", square=True)
    back = narrowing(x, "solve")
    x, y = (as_type(v, working_dtype(v.dtype)) for v in (x, y))
    vector = y.ndim == 1
    if y.ndim == 0 or y.shape[-1 if vector else -2] != x.shape[-1]:
        raise errors.ShapeError(
            f"solve: b of shape {y.shape} needs {x.shape[-1]} rows, as a has shape {x.shape}"
        )
    x, columns = with_equal_batches(x, expand_dims(y, -1) if vector else y)
    result = linalg.solve(x, columns)
    return back(squeeze(result, -1) if vector else result)


def inv(a: Any) -> Array:
    """The inverse of square matrices; inf or nan where there is none.

    Raises `ShapeError` where they are not square.

    >>> import arrayx.numpy as anp
    >>> anp.linalg.inv(anp.array([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    x = matrix(a, "inv", square=True)
    with placed_like(x):
        one = identity(x.shape, x.dtype)
    return narrowing(a, "inv")(linalg.solve(x, one))


def det(a: Any) -> Array:
    """The determinant of square matrices; its gradient holds at singular ones too.

    >>> import arrayx.numpy as anp
    >>> float(anp.linalg.det(anp.array([[1.0, 2.0], [3.0, 4.0]])))
    -2.0
    """
    x = matrix(a, "det", square=True)
    with placed_like(x):
        few = x.shape[-1] <= 3
        result = determinant.small_determinant(x) if few else determinant.det(x)
    return narrowing(a, "det")(result)


def slogdet(a: Any, *, method: str | None = None) -> SlogdetResult:
    """The sign of the determinant, and the logarithm of its magnitude: `(sign, logabsdet)`.

    A singular matrix has (0, -inf).  `method` is None or "lu".

    >>> import arrayx.numpy as anp
    >>> sign, size = anp.linalg.slogdet(anp.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> float(sign), float(size)
    (-1.0, 0.0)
    """
    if method not in (None, "lu"):
        raise errors.ArgumentError(f"slogdet: method is None or 'lu', got {method!r}")
    x = matrix(a, "slogdet", square=True)
    back = narrowing(a, "slogdet")
    with placed_like(x):
        factors, pivots = linalg.lu(x)
        entries = diagonal(factors)
        axes = (entries.ndim - 1,)
        phase = reduce_prod(sign(entries), axes=axes)
        phase = select(determinant.is_odd(pivots), neg(phase), phase)
        size = reduce_sum(log(absolute(entries)), axes=axes)
    return SlogdetResult(back(phase), back(size))


def cholesky(a: Any, *, upper: bool = False, symmetrize_input: bool = True) -> Array:
    """The lower triangular `c` with `c @ cᴴ = a`; with `upper` its adjoint.

    `a` is taken as (a + aᴴ) / 2, unless `symmetrize_input` is False: then only the triangle that
    is asked for is read.  Where `a` is not positive definite, the result is nan.

    >>> import arrayx.numpy as anp
    >>> anp.linalg.cholesky(anp.array([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    x = matrix(a, "cholesky", square=True)
    if symmetrize_input:
        x = symmetrised(x)
    elif upper:
        x = adjoint(x)
    factor = linalg.cholesky(x)
    return narrowing(a, "cholesky")(adjoint(factor) if upper else factor)


def tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> Array:
    """The `x` with `tensordot(a, x, x.ndim) = b`; `axes` of `a` are moved behind the others.

    >>> import arrayx.numpy as anp
    >>> anp.linalg.tensorsolve(2.0 * anp.eye(4).reshape(2, 2, 4), anp.ones((2, 2))).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    x, y = promoted_arrays((a, b), "tensorsolve", ("a", "b"))
    if axes is not None:
        behind = [check_axis(i, x.ndim, "tensorsolve") for i in axes]
        x = moveaxis(x, behind, list(range(x.ndim - len(behind), x.ndim)))
    shape = x.shape[y.ndim :]
    size = math.prod(shape)
    if size * size != x.size or size != y.size:
        raise errors.ShapeError(
            f"tensorsolve: a of shape {x.shape} is no square system for b of shape {y.shape}"
        )
    return reshape(solve(reshape(x, (size, size)), reshape(y, (size,))), shape)


def tensorinv(a: Any, ind: int = 2) -> Array:
    """The inverse of `a` for `tensordot(tensorinv(a, ind), b, ind)`.

    >>> import arrayx.numpy as anp
    >>> anp.linalg.tensorinv(anp.eye(4).reshape(4, 2, 2), ind=1).shape
    (2, 2, 4)
    """
    x = as_array(a, "tensorinv", "a")
    if ind <= 0:
        raise errors.ArgumentError(f"tensorinv: ind is at least 1, got {ind}")
    first, last = x.shape[:ind], x.shape[ind:]
    size = math.prod(last)
    if size != math.prod(first):
        raise errors.ShapeError(f"tensorinv: shape {x.shape} is not square when split at {ind}")
    return reshape(inv(reshape(x, (size, size))), (*last, *first))
