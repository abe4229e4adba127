"""Eigenvalues, singular values and QR of matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from arrayx import errors
from arrayx.control import similar_forms
from arrayx.core.array import Array
from arrayx.numpy.linalg.reading import matrix, narrowing, symmetrised
from arrayx.primitives import spectral
from arrayx.primitives.matrices import adjoint, turned


class EighResult(NamedTuple):
    """Ascending eigenvalues, and their eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


class EigResult(NamedTuple):
    """Complex eigenvalues, and their eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """Orthonormal columns, and the upper triangular matrix that combines them."""

    Q: Array
    R: Array


class SVDResult(NamedTuple):
    """Left vectors as columns, descending singular values, right vectors as rows."""

    U: Array
    S: Array
    Vh: Array


def _hermitian(a: Any, function: str, UPLO: str | None, symmetrize_input: bool) -> Array:
    if UPLO not in (None, "L", "U", "l", "u"):
        raise errors.ArgumentError(f"{function}: UPLO is 'L' or 'U', got {UPLO!r}")
    x = matrix(a, function, square=True)
    if symmetrize_input:
        return symmetrised(x)
    return adjoint(x) if UPLO in ("U", "u") else x  # type: ignore[no-any-return]


def eigh(a: Any, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """The eigenvalues and eigenvectors of Hermitian matrices: `(eigenvalues, eigenvectors)`.

    `a` is taken as (a + aᴴ) / 2, unless `symmetrize_input` is False: then only the triangle
    `UPLO` is read.  Vectors are determined up to a phase, those of equal values up to a rotation;
    what does not depend on that has a finite gradient.

    >>> import arrayx.numpy as anp
    >>> anp.linalg.eigh(anp.array([[2.0, 0.0], [0.0, 1.0]])).eigenvalues.tolist()
    [1.0, 2.0]
    """
    back = narrowing(a, "eigh")
    w, v = spectral.eigh(_hermitian(a, "eigh", UPLO, symmetrize_input), vectors=True)
    return EighResult(back(w), back(v))


def eigvalsh(a: Any, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Array:
    """The eigenvalues of Hermitian matrices, ascending; see `eigh`.

    >>> import arrayx.numpy as anp
    >>> anp.linalg.eigvalsh(anp.array([[0.0, 1.0], [1.0, 0.0]])).round(3).tolist()
    [-1.0, 1.0]
    """
    (w,) = spectral.eigh(_hermitian(a, "eigvalsh", UPLO, symmetrize_input), vectors=False)
    return narrowing(a, "eigvalsh")(w)


def eig(a: Any) -> EigResult:
    """The eigenvalues and eigenvectors of square matrices: `(eigenvalues, eigenvectors)`.

    Both are always complex; eigenvalues come in no order, vectors have length 1 and any phase.
    Where eigenvalues are equal, derivatives do not turn their vectors.  On XLA only the CPU has
    it.

    >>> import arrayx.numpy as anp
    >>> w, v = anp.linalg.eig(anp.array([[0.0, -1.0], [1.0, 0.0]]))
    >>> sorted(w.imag.tolist())
    [-1.0, 1.0]
    """
    w, v = spectral.eig(matrix(a, "eig", square=True), left=False, right=True)
    return EigResult(w, v)


def eigvals(a: Any) -> Array:
    """The eigenvalues of square matrices, complex and in no order.

    >>> import arrayx.numpy as anp
    >>> sorted(anp.linalg.eigvals(anp.array([[0.0, -1.0], [1.0, 0.0]])).imag.tolist())
    [-1.0, 1.0]
    """
    (w,) = spectral.eig(matrix(a, "eigvals", square=True), left=False, right=False)
    return w  # type: ignore[no-any-return]


def qr(a: Any, mode: str = "reduced") -> Any:
    """Orthonormal columns Q and an upper triangular R with `Q @ R = a`: `(Q, R)`.

    Of an M by N matrix, with K = min(M, N): "reduced" gives M by K and K by N, "complete" M by M
    and M by N, "r" only the R of "reduced", and "raw" LAPACK's reflectors, transposed as in NumPy,
    and their K factors.

    >>> import arrayx.numpy as anp
    >>> q, r = anp.linalg.qr(anp.ones((3, 2)))
    >>> q.shape, r.shape
    ((3, 2), (2, 2))
    """
    if mode not in ("reduced", "complete", "r", "raw"):
        raise errors.ArgumentError(f"qr: mode is 'reduced', 'complete', 'r' or 'raw', got {mode!r}")
    back = narrowing(a, "qr")
    if mode == "raw":
        packed, taus = similar_forms.geqrf(matrix(a, "qr"))
        return QRResult(back(turned(packed)), back(taus))
    q, r = spectral.qr(matrix(a, "qr"), full_matrices=mode == "complete")
    return back(r) if mode == "r" else QRResult(back(q), back(r))


def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Any:
    """Singular values and vectors, `U @ diag(S) @ Vh = a`: `(U, S, Vh)`; S without `compute_uv`.

    With `full_matrices` U and Vh are square, else as long as S.  `hermitian` says something of
    `a` that changes nothing.  Vectors are determined up to a phase, those of equal values up to
    a rotation; what does not depend on that has a finite gradient.  `subset_by_index` is a range
    of singular values by number, its end left out; it wants `full_matrices=False`.

    >>> import arrayx.numpy as anp
    >>> anp.linalg.svd(anp.array([[0.0, 2.0], [1.0, 0.0]])).S.tolist()
    [2.0, 1.0]
    """
    back = narrowing(a, "svd")
    results = spectral.svd(
        matrix(a, "svd"), full_matrices=full_matrices and compute_uv, compute_uv=compute_uv
    )
    if subset_by_index is not None:
        start, stop = subset_by_index
        if (compute_uv and full_matrices) or not 0 <= start <= stop <= min(np.shape(a)[-2:]):
            raise errors.ArgumentError(
                f"svd: subset_by_index {subset_by_index!r} needs full_matrices=False, and is a "
                f"range of {min(np.shape(a)[-2:])} values"
            )
        part = slice(start, stop)
        if not compute_uv:
            return back(results[0][..., part])
        u, s, vh = results
        results = u[..., part], s[..., part], vh[..., part, :]
    return SVDResult(*map(back, results)) if compute_uv else back(results[0])


def svdvals(x: Any, /) -> Array:
    """The singular values, descending.

    >>> import arrayx.numpy as anp
    >>> anp.linalg.svdvals(anp.array([[0.0, 2.0], [1.0, 0.0]])).tolist()
    [2.0, 1.0]
    """
    (s,) = spectral.svd(matrix(x, "svdvals", "x"), full_matrices=False, compute_uv=False)
    return narrowing(x, "svdvals", "x")(s)
