"""Factorisations by JAX's names and argument forms, over the primitives.

Unlike those of `arrayx.numpy.linalg` they promote nothing and broadcast nothing.
"""

from __future__ import annotations

from typing import Any

from arrayx.core.array import Array
from arrayx.numpy.linalg.reading import check_matrix, symmetrised
from arrayx.numpy.promotion import as_array, placed_like
from arrayx.numpy.shapes import expand_dims, squeeze
from arrayx.primitives import linalg, spectral
from arrayx.primitives.matrices import adjoint, conjugate

__all__ = [
    "cholesky",
    "eigh",
    "lu",
    "lu_pivots_to_permutation",
    "qr",
    "svd",
    "triangular_solve",
]


def _matrix(x: Any, function: str, square: bool = False) -> Array:
    a = as_array(x, function, "x")
    check_matrix(a, function, "x", square)
    return a


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Array:
    """The lower triangular `c` with `c @ cᴴ = x`; nan where `x` is not positive definite.

    >>> import arrayx.numpy as anp
    >>> cholesky(anp.array([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    a = _matrix(x, "cholesky", square=True)
    return linalg.cholesky(symmetrised(a) if symmetrize_input else a)  # type: ignore[no-any-return]


def eigh(x: Any, *, lower: bool = True, symmetrize_input: bool = True) -> tuple[Array, Array]:
    """The eigenvectors and ascending eigenvalues of Hermitian matrices: `(v, w)`.

    >>> import arrayx.numpy as anp
    >>> eigh(anp.array([[2.0, 0.0], [0.0, 1.0]]))[1].tolist()
    [1.0, 2.0]
    """
    a = _matrix(x, "eigh", square=True)
    if symmetrize_input:
        a = symmetrised(a)
    elif not lower:
        a = adjoint(a)
    w, v = spectral.eigh(a, vectors=True)
    return v, w


def lu(x: Any) -> tuple[Array, Array, Array]:
    """The factors in one matrix, the pivots, and the order of the rows they lead to.

    >>> import arrayx.numpy as anp
    >>> [r.tolist() for r in lu(anp.array([[0.0, 2.0], [1.0, 3.0]]))]
    [[[1.0, 3.0], [0.0, 2.0]], [1, 1], [1, 0]]
    """
    a = _matrix(x, "lu")
    factors, pivots = linalg.lu(a)
    return factors, pivots, linalg.permutation_of_pivots(pivots, size=a.shape[-2])


def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Array:
    """The order of rows after the exchanges that the pivots (int32) tell of.

    >>> import arrayx.numpy as anp
    >>> lu_pivots_to_permutation(anp.array([2, 2]), 3).tolist()
    [2, 0, 1]
    """
    a = as_array(pivots, "lu_pivots_to_permutation", "pivots")
    return linalg.permutation_of_pivots(a, size=permutation_size)  # type: ignore[no-any-return]


def qr(x: Any, *, full_matrices: bool = True) -> tuple[Array, Array]:
    """Orthonormal columns and an upper triangular matrix: `(q, r)`.

    >>> import arrayx.numpy as anp
    >>> [m.shape for m in qr(anp.ones((3, 2)))]
    [(3, 3), (3, 2)]
    """
    q, r = spectral.qr(_matrix(x, "qr"), full_matrices=full_matrices)
    return q, r


def svd(x: Any, *, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Singular values and vectors: `(u, s, vh)`, or `s` without `compute_uv`.

    >>> import arrayx.numpy as anp
    >>> svd(anp.array([[0.0, 2.0], [1.0, 0.0]]), compute_uv=False).tolist()
    [2.0, 1.0]
    """
    found = spectral.svd(
        _matrix(x, "svd"), full_matrices=full_matrices and compute_uv, compute_uv=compute_uv
    )
    return found if compute_uv else found[0]


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
    x, y = _matrix(a, "triangular_solve", square=True), as_array(b, "triangular_solve", "b")
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
