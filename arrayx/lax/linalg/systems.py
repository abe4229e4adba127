"""Linear systems of special matrices, and updates of factors."""

from __future__ import annotations

from typing import Any

from arrayx import errors
from arrayx.core.array import Array
from arrayx.lax.linalg.reading import matrix_of
from arrayx.numpy.promotion import as_array, placed_like
from arrayx.numpy.shapes import expand_dims, squeeze
from arrayx.primitives import linalg, spectral, tridiagonal
from arrayx.primitives.arithmetic import add, lt, mul, neg, select
from arrayx.primitives.axes import reshape
from arrayx.primitives.complex import real
from arrayx.primitives.creation import zero_literal
from arrayx.primitives.matrices import (
    along_rows,
    conjugate,
    diagonal,
    is_complex,
    product,
    triangle,
    turned,
)
from arrayx.primitives.slicing import concatenate


def triangular_solve(
    a: Any,
    b: Any,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Array:
    """The `x` with `op(a) @ x = b` (`left_side`) or `x @ op(a) = b`, for triangular `a`.

    `b` may be one vector for each matrix.

    >>> import arrayx.numpy as anp
    >>> a = anp.array([[2.0, 0.0], [1.0, 1.0]])
    >>> triangular_solve(a, anp.array([2.0, 2.0]), left_side=True, lower=True).tolist()
    [1.0, 1.0]
    """
    x, y = matrix_of(a, "triangular_solve", square=True), as_array(b, "triangular_solve", "b")
    axis = -1 if left_side else -2
    vector = y.ndim == x.ndim - 1
    if conjugate_a and not transpose_a:
        with placed_like(x):
            x = conjugate(x)
    found = linalg.triangular_solve(
        x,
        expand_dims(y, axis) if vector else y,
        left_side=left_side,
        lower=lower,
        transpose_a="none" if not transpose_a else "adjoint" if conjugate_a else "transpose",
        unit_diagonal=unit_diagonal,
    )
    return squeeze(found, axis) if vector else found


def tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool = False) -> Array:
    """The `x` with `a @ x = b`, where `a` has three diagonals.

    `dl[i]` is a[i, i - 1], `d[i]` a[i, i], and `du[i]` a[i, i + 1]: each has as many elements as
    `a` has rows, and the first of `dl` and the last of `du` are not read.  `b` has matrices in its
    last two axes.  Where `a` is singular, x is nan; `perturb_singular` is not supported.

    >>> import arrayx.numpy as anp
    >>> one, b = anp.ones(3), anp.array([[4.0], [8.0], [8.0]])
    >>> tridiagonal_solve(one, 2.0 * one, one, b).ravel().round(3).tolist()
    [1.0, 2.0, 3.0]
    """
    if perturb_singular:
        raise errors.UnsupportedError(
            "lax.linalg.tridiagonal_solve: perturb_singular is not implemented"
        )
    diagonals = [
        as_array(x, "tridiagonal_solve", name) for x, name in ((dl, "dl"), (d, "d"), (du, "du"))
    ]
    x = matrix_of(b, "tridiagonal_solve", "b")
    return tridiagonal.tridiagonal_solve(*diagonals, x)  # type: ignore[no-any-return]


def cholesky_update(r_matrix: Any, w_vector: Any) -> Array:
    """The upper triangular factor of `rᴴ @ r + w @ wᴴ`, from that of `rᴴ @ r`.

    It is the factor R of a QR decomposition of both, with a diagonal that is not negative.

    >>> import arrayx.numpy as anp
    >>> cholesky_update(anp.array([[3.0, 1.0], [0.0, 1.0]]), anp.array([4.0, 0.5])).shape
    (2, 2)
    """
    r = matrix_of(r_matrix, "cholesky_update", "r_matrix", square=True)
    w = as_array(w_vector, "cholesky_update", "w_vector")
    if w.shape != r.shape[:-1] or w.dtype != r.dtype:
        raise errors.ShapeError(
            f"cholesky_update: w_vector {w.aval} does not fit r_matrix {r.aval}: it needs its "
            "dtype and an element for each of its rows"
        )
    with placed_like(r):
        row = conjugate(reshape(w, shape=(*r.shape[:-2], 1, r.shape[-1])))
        both = concatenate(triangle(r, lower=False), row, axis=r.ndim - 2)
        _, found = spectral.qr(both, full_matrices=False)
        entries = diagonal(found)
        entries = real(entries) if is_complex(entries) else entries
        turning = along_rows(lt(entries, 0.0), found.aval.shape)
        return select(turning, neg(found), found)  # type: ignore[no-any-return]


def symmetric_product(
    a_matrix: Any,
    c_matrix: Any,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Array:
    """`alpha * a @ aᵀ + beta * c` for symmetric `c`, with Python numbers `alpha` and `beta`.

    With `symmetrize_output` the upper triangle is a copy of the lower one; without, only the
    lower one is to be relied upon.

    >>> import arrayx.numpy as anp
    >>> symmetric_product(anp.array([[1.0], [2.0]]), anp.eye(2), beta=1.0).tolist()
    [[2.0, 2.0], [2.0, 5.0]]
    """
    a = matrix_of(a_matrix, "symmetric_product", "a_matrix")
    c = matrix_of(c_matrix, "symmetric_product", "c_matrix", square=True)
    if c.shape[:-1] != a.shape[:-1] or c.dtype != a.dtype:
        raise errors.ShapeError(
            f"symmetric_product: c_matrix {c.aval} does not fit a_matrix {a.aval}: it needs its "
            "dtype, and as many rows and columns as that has rows"
        )
    kind = type(zero_literal(a.dtype))
    with placed_like(a):
        found = mul(product(a, turned(a)), kind(alpha))
        if beta != 0:
            found = add(found, mul(c, kind(beta)))
        if symmetrize_output:
            below = triangle(found, lower=True)
            found = add(below, turned(triangle(found, lower=True, strict=True)))
    return found  # type: ignore[no-any-return]
