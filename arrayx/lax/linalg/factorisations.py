"""Factorisations that hold the factors as matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import errors
from arrayx.core.array import Array
from arrayx.lax.linalg.algorithms import (
    EighImplementation,
    EigImplementation,
    SvdAlgorithm,
    check_algorithm,
)
from arrayx.lax.linalg.reading import matrix_of
from arrayx.numpy.linalg.reading import symmetrised
from arrayx.numpy.promotion import as_array, placed_like
from arrayx.primitives import linalg, polar, spectral
from arrayx.primitives import schur as schur_form
from arrayx.primitives.arithmetic import add, mul
from arrayx.primitives.creation import fill, zero_literal
from arrayx.primitives.matrices import adjoint, product
from arrayx.primitives.slicing import cut, pad


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Array:
    """The lower triangular `c` with `c @ cᴴ = x`; nan where `x` is not positive definite.

    >>> import arrayx.numpy as anp
    >>> cholesky(anp.array([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    a = matrix_of(x, "cholesky", square=True)
    return linalg.cholesky(symmetrised(a) if symmetrize_input else a)  # type: ignore[no-any-return]


def _part(function: str, subset: Any, whole: int) -> tuple[int, int]:
    """A range of values as its two ends; raises where it is none."""
    if subset is None:
        return 0, whole
    start, stop = subset
    if not 0 <= start <= stop <= whole:
        raise errors.ArgumentError(
            f"{function}: subset_by_index {subset!r} is no range of {whole} values"
        )
    return start, stop


def eig(
    x: Any,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False,
    implementation: EigImplementation | None = None,
    use_magma: bool | None = None,
) -> list[Array]:
    """Eigenvalues and eigenvectors of square matrices: `[w, vl, vr]`, all complex.

    `x @ vr = vr * w` and `vlᴴ @ x = w * vlᴴ`.  Vectors have length 1 and a real element where they
    are largest, which their derivatives keep; those of equal eigenvalues are not turned.
    Eigenvalues come in no order.  Where none are found all is nan.  On XLA only the CPU has it.
    `enable_eigvec_derivs`, `implementation` and `use_magma` are taken for JAX's sake.

    >>> import arrayx.numpy as anp
    >>> w, vl, vr = eig(anp.array([[2.0, 0.0], [0.0, 3.0]]))
    >>> w.real.tolist(), vr.real.tolist()
    ([2.0, 3.0], [[1.0, 0.0], [0.0, 1.0]])
    """
    check_algorithm("eig", "implementation", EigImplementation, implementation)
    found = spectral.eig(
        matrix_of(x, "eig", square=True),
        left=bool(compute_left_eigenvectors),
        right=bool(compute_right_eigenvectors),
    )
    return list(found)


def eigh(
    x: Any,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    implementation: EighImplementation | None = None,
) -> tuple[Array, Array]:
    """The eigenvectors and ascending eigenvalues of Hermitian matrices: `(v, w)`.

    `subset_by_index` is a range of eigenvalues by number, its end left out.  They ascend whatever
    `sort_eigenvalues` says, and `implementation` changes nothing.

    >>> import arrayx.numpy as anp
    >>> eigh(anp.array([[2.0, 0.0], [0.0, 1.0]]))[1].tolist()
    [1.0, 2.0]
    """
    check_algorithm("eigh", "implementation", EighImplementation, implementation)
    a = matrix_of(x, "eigh", square=True)
    start, stop = _part("eigh", subset_by_index, a.shape[-1])
    if symmetrize_input:
        a = symmetrised(a)
    elif not lower:
        a = adjoint(a)
    w, v = spectral.eigh(a, vectors=True)
    axis = a.ndim - 1
    return cut(v, axis, start, stop), cut(w, axis - 1, start, stop)


def lu(x: Any) -> tuple[Array, Array, Array]:
    """The factors in one matrix, the pivots, and the order of the rows they lead to.

    >>> import arrayx.numpy as anp
    >>> [r.tolist() for r in lu(anp.array([[0.0, 2.0], [1.0, 3.0]]))]
    [[[1.0, 3.0], [0.0, 2.0]], [1, 1], [1, 0]]
    """
    a = matrix_of(x, "lu")
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


INT, BOOL = np.dtype(np.int32), np.dtype(bool)


def _padded(x: Any, rows: int, columns: int) -> Any:
    """The matrices with zeros behind their rows and columns."""
    none = (0,) * (x.aval.ndim - 2)
    high = (*none, rows - x.aval.shape[-2], columns - x.aval.shape[-1])
    zeros = (*none, 0, 0)
    return pad(x, zero_literal(x.aval.dtype), low=zeros, high=high, interior=zeros)


def qdwh(
    x: Any,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[int, int] | None = None,
) -> tuple[Array, Array, Array, Array]:
    """The polar decomposition `x = u @ h` of a matrix: `(u, h, num_iters, is_converged)`.

    `x` has full rank and no fewer rows than columns.  It is made from the singular values at once,
    so that `num_iters` is 1 and `is_converged` True; `is_hermitian`, `max_iterations` and `eps`
    change nothing.  With `dynamic_shape` only so many rows and columns count, the others give 0.

    >>> import arrayx.numpy as anp
    >>> u, h, *_ = qdwh(anp.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> u.round(3).tolist(), h.round(3).tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 2.0]])
    """
    a = matrix_of(x, "qdwh")
    m, n = a.shape[-2:]
    if m < n:
        raise errors.ShapeError(f"qdwh needs no fewer rows than columns, got shape {a.shape}")
    rows, columns = (m, n) if dynamic_shape is None else dynamic_shape
    last = a.ndim - 1
    with placed_like(a):
        few = cut(cut(a, last - 1, 0, rows), last, 0, columns)
        u = polar.polar_factor(few)
        h = product(adjoint(u), few)
        half = 0.5 * type(zero_literal(a.dtype))(1)
        h = mul(add(h, adjoint(h)), half)
        u, h = _padded(u, m, n), _padded(h, n, n)
        steps = fill((), INT, 1)
        done = fill((), BOOL, True)
    return u, h, steps, done


def qr(
    x: Any, *, pivoting: bool = False, full_matrices: bool = True, use_magma: bool | None = None
) -> tuple[Array, ...]:
    """Orthonormal columns and an upper triangular matrix: `(q, r)`, or `(q, r, p)`.

    With `pivoting` they are those of `x[:, p]`, and the diagonal of `r` descends in size; `p` is
    int32.  `use_magma` is taken for JAX's sake.

    >>> import arrayx.numpy as anp
    >>> [m.shape for m in qr(anp.ones((3, 2)))]
    [(3, 3), (3, 2)]
    >>> qr(anp.array([[1.0, 2.0], [0.0, 2.0]]), pivoting=True)[2].tolist()
    [1, 0]
    """
    primitive = spectral.pivoted_qr if pivoting else spectral.qr
    return tuple(primitive(matrix_of(x, "qr"), full_matrices=bool(full_matrices)))


def schur(
    x: Any,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: Any = None,
) -> tuple[Array, ...]:
    """The Schur form `x = q @ t @ qᴴ`: `(t, q)`, or `(t,)` without `compute_schur_vectors`.

    `t` is upper triangular for complex matrices; real ones have blocks of two rows for pairs of
    conjugate eigenvalues, and no derivative.  On XLA only the CPU has it.  `sort_eig_vals` and
    `select_callable` are taken for JAX's sake, and do nothing there either.

    >>> import arrayx.numpy as anp
    >>> t, q = schur(anp.array([[2.0, 1.0], [0.0, 3.0]]))
    >>> t.tolist()
    [[2.0, 1.0], [0.0, 3.0]]
    """
    a = matrix_of(x, "schur", square=True)
    return tuple(schur_form.schur(a, vectors=bool(compute_schur_vectors)))


def svd(
    x: Any,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    algorithm: SvdAlgorithm | None = None,
) -> Any:
    """Singular values and vectors: `(u, s, vh)`, or `s` without `compute_uv`.

    `subset_by_index` is a range of singular values by number, its end left out; it wants
    `full_matrices=False` where there are vectors.  `algorithm` changes nothing.

    >>> import arrayx.numpy as anp
    >>> svd(anp.array([[0.0, 2.0], [1.0, 0.0]]), compute_uv=False).tolist()
    [2.0, 1.0]
    """
    check_algorithm("svd", "algorithm", SvdAlgorithm, algorithm)
    a = matrix_of(x, "svd")
    axis, whole = a.ndim - 1, min(a.shape[-2:])
    start, stop = _part("svd", subset_by_index, whole)
    if not compute_uv:
        (s,) = spectral.svd(a, full_matrices=False, compute_uv=False)
        return cut(s, axis - 1, start, stop)
    if subset_by_index is not None and full_matrices and (start, stop) != (0, whole):
        raise errors.ArgumentError("svd: subset_by_index needs full_matrices=False")
    u, s, vh = spectral.svd(a, full_matrices=bool(full_matrices), compute_uv=True)
    if subset_by_index is None:
        return u, s, vh
    return (
        cut(u, axis, start, stop),
        cut(s, axis - 1, start, stop),
        cut(vh, axis - 1, start, stop),
    )
