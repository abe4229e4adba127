"""Systems, factors for them, and NumPy's decompositions by SciPy's names."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import linalg as numpy_linalg
from arrayx.numpy.contraction import matmul
from arrayx.numpy.diagonals import make_diagonal
from arrayx.numpy.linalg.reading import (
    check_matrix,
    matrix,
    narrowing,
    with_equal_batches,
    working_dtype,
)
from arrayx.numpy.naming import at_home
from arrayx.numpy.promotion import as_array, as_type, placed_like, promoted_arrays
from arrayx.numpy.shapes import concatenate, expand_dims, squeeze
from arrayx.primitives import linalg, slicing, spectral
from arrayx.primitives.arithmetic import add, eq
from arrayx.primitives.creation import zero_literal
from arrayx.primitives.matrices import (
    adjoint,
    along_columns,
    conjugate,
    counts,
    identity,
    triangle,
)

_TRANSPOSITIONS = {
    0: "none",
    1: "transpose",
    2: "adjoint",
    "N": "none",
    "T": "transpose",
    "C": "adjoint",
}


def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The determinant of square matrices; see `arrayx.numpy.linalg.det`.

    >>> import arrayx.numpy as anp
    >>> float(det(anp.array([[1.0, 2.0], [3.0, 4.0]])))
    -2.0
    """
    return numpy_linalg.det(a)


def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The inverse of square matrices; see `arrayx.numpy.linalg.inv`.

    >>> import arrayx.numpy as anp
    >>> inv(anp.array([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return numpy_linalg.inv(a)


def cholesky(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Array:
    """The upper triangular `c` with `cᴴ @ c = a`; with `lower` its adjoint.

    Of `a` only that triangle is read; where it is not positive definite the result is nan.

    >>> import arrayx.numpy as anp
    >>> cholesky(anp.array([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 1.0], [0.0, 2.0]]
    """
    return numpy_linalg.cholesky(a, upper=not lower, symmetrize_input=False)


def cho_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]:
    """A Cholesky factor for `cho_solve`: `(c, lower)`.

    >>> import arrayx.numpy as anp
    >>> c, lower = cho_factor(anp.array([[4.0, 0.0], [0.0, 9.0]]))
    >>> c.tolist(), lower
    ([[2.0, 0.0], [0.0, 3.0]], False)
    """
    return cholesky(a, lower=lower), lower


def cho_solve(
    c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True
) -> Array:
    """The `x` with `a @ x = b`, by the factor of `a` that `cho_factor` gave.

    >>> import arrayx.numpy as anp
    >>> factor = cho_factor(anp.array([[4.0, 0.0], [0.0, 16.0]]))
    >>> cho_solve(factor, anp.array([4.0, 4.0])).tolist()
    [1.0, 0.25]
    """
    c, lower = c_and_lower
    first, second = ("N", "C") if lower else ("C", "N")
    return solve_triangular(c, solve_triangular(c, b, first, lower), second, lower)


def _system(a: Any, b: Any, function: str) -> tuple[Array, Array, Any]:
    """A square matrix and right-hand sides in one dtype, and what brings results back."""
    x, y = promoted_arrays((a, b), function, ("a", "b"))
    check_matrix(x, function, "a", square=True)
    vector = y.ndim == 1
    if y.ndim == 0 or y.shape[-1 if vector else -2] != x.shape[-1]:
        raise errors.ShapeError(
            f"{function}: b of shape {y.shape} needs {x.shape[-1]} rows, as a has shape {x.shape}"
        )
    narrow = narrowing(x, function)
    x, y = (as_type(v, working_dtype(v.dtype)) for v in (x, y))
    x, y = with_equal_batches(x, expand_dims(y, -1) if vector else y)
    return x, y, lambda result: narrow(squeeze(result, -1) if vector else result)


def solve_triangular(
    a: Any,
    b: Any,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Array:
    """The `x` with `a @ x = b` for triangular `a`, of which the other triangle is not read.

    `trans` is 0 or "N", 1 or "T" (for the transpose of `a`), 2 or "C" (for its adjoint).

    >>> import arrayx.numpy as anp
    >>> solve_triangular(anp.array([[2.0, 1.0], [0.0, 1.0]]), anp.array([3.0, 1.0])).tolist()
    [1.0, 1.0]
    """
    if trans not in _TRANSPOSITIONS:
        raise errors.ArgumentError(
            f"solve_triangular: trans is 0, 1, 2, 'N', 'T' or 'C', got {trans!r}"
        )
    x, y, back = _system(a, b, "solve_triangular")
    found = linalg.solve_left(
        x,
        y,
        lower=bool(lower),
        transpose_a=_TRANSPOSITIONS[trans],
        unit_diagonal=bool(unit_diagonal),
    )
    return back(found)  # type: ignore[no-any-return]


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, Array]:
    """The factors of an LU decomposition in one matrix, and its pivots: `(lu, piv)`.

    In step i, row i was exchanged with row `piv[i]` (int32).

    >>> import arrayx.numpy as anp
    >>> lu, piv = lu_factor(anp.array([[0.0, 2.0], [1.0, 3.0]]))
    >>> lu.tolist(), piv.tolist()
    ([[1.0, 3.0], [0.0, 2.0]], [1, 1])
    """
    factors, pivots = linalg.lu(matrix(a, "lu_factor"))
    return narrowing(a, "lu_factor")(factors), pivots


@at_home
def lu_solve(
    lu_and_piv: tuple[Any, Any],
    b: Any,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """The `x` with `a @ x = b`, by the factors of `a` that `lu_factor` gave.

    `trans` is 0, 1 for the transpose of `a`, or 2 for its adjoint.

    >>> import arrayx.numpy as anp
    >>> factors = lu_factor(anp.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> lu_solve(factors, anp.array([2.0, 3.0])).tolist()
    [3.0, 1.0]
    """
    if trans not in (0, 1, 2):
        raise errors.ArgumentError(f"lu_solve: trans is 0, 1 or 2, got {trans!r}")
    x, y, back = _system(lu_and_piv[0], b, "lu_solve")
    pivots = as_array(lu_and_piv[1], "lu_solve", "piv")
    with placed_like(x):
        if trans == 2:
            found = linalg.solve_by_factors(conjugate(x), pivots, y, True)
        else:
            found = linalg.solve_by_factors(x, pivots, y, trans == 1)
    return back(found)  # type: ignore[no-any-return]


def lu(
    a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, ...]:
    """The LU decomposition with `p @ l @ u = a`: `(p, l, u)`, or `(p @ l, u)` with `permute_l`.

    >>> import arrayx.numpy as anp
    >>> p, l, u = lu(anp.array([[0.0, 2.0], [1.0, 3.0]]))
    >>> p.tolist(), u.tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [[1.0, 3.0], [0.0, 2.0]])
    """
    x = matrix(a, "lu")
    back = narrowing(a, "lu")
    m, n = x.shape[-2:]
    k, last = min(m, n), x.ndim - 1
    with placed_like(x):
        factors, pivots = linalg.lu(x)
        order = linalg.permutation_of_pivots(pivots, size=m)
        below = triangle(slicing.cut(factors, last, 0, k), lower=True, strict=True)
        left = add(below, identity(below.shape, x.dtype))
        right = triangle(slicing.cut(factors, last - 1, 0, k), lower=False)
        shape = (*x.shape[:-2], m, m)
        exchanges = eq(counts(shape)[0], along_columns(order, shape))
    p = as_type(exchanges, dtypes.real_dtype(x.dtype))
    if permute_l:
        return back(matmul(as_type(p, x.dtype), left)), back(right)
    return as_type(p, dtypes.real_dtype(back(right).dtype)), back(left), back(right)


def solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    debug: bool = False,
    check_finite: bool = True,
    assume_a: str = "gen",
) -> Array:
    """The `x` with `a @ x = b`; with `assume_a="pos"` by Cholesky, from one triangle of `a`.

    >>> import arrayx.numpy as anp
    >>> solve(anp.array([[4.0, 0.0], [0.0, 16.0]]), anp.array([4.0, 4.0]), assume_a="pos").tolist()
    [1.0, 0.25]
    """
    if assume_a not in ("gen", "sym", "her", "pos"):
        raise errors.ArgumentError(
            f"solve: assume_a is 'gen', 'sym', 'her' or 'pos', got {assume_a!r}"
        )
    if assume_a == "pos":
        return cho_solve(cho_factor(a, lower=lower), b)
    return numpy_linalg.solve(a, b)


@at_home
def solve_banded(
    l_and_u: tuple[int, int],
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """The `x` with `a @ x = b` for a matrix that is zero away from its diagonal.

    `l_and_u` are the numbers of diagonals below and above the main one.  Row `u + i - j` of `ab`
    holds `a[i, j]` in column j: the highest diagonal comes first, and the corners are not read.
    The matrix is made and solved whole, in O(n³) operations for n columns; for one diagonal on
    either side `arrayx.lax.linalg.tridiagonal_solve` takes O(n).

    >>> import arrayx.numpy as anp
    >>> ab = anp.array([[0.0, 1.0], [2.0, 2.0], [1.0, 0.0]])
    >>> solve_banded((1, 1), ab, anp.array([3.0, 3.0])).tolist()
    [1.0, 1.0]
    """
    below, above = l_and_u
    diagonals, y = promoted_arrays((ab, b), "solve_banded", ("ab", "b"))
    if diagonals.ndim < 2 or diagonals.shape[-2] != below + above + 1:
        raise errors.ShapeError(
            f"solve_banded: {below} diagonals below and {above} above are {below + above + 1} rows "
            f"of ab, which has shape {diagonals.shape}"
        )
    n = diagonals.shape[-1]
    whole = None
    for row in range(below + above + 1):
        k = above - row
        if abs(k) < n:
            values = diagonals[..., row, max(k, 0) : n + min(k, 0)]
            part = make_diagonal(values, k, -2, -1)
            whole = part if whole is None else add(whole, part)
    return solve(whole, y)


def qr(
    a: Any,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> tuple[Array, ...]:
    """The QR decomposition: `(q, r)`, square `q` with mode "full", `(r,)` with mode "r".

    With `pivoting` it is that of `a[:, p]`, whose r has a descending diagonal, and p (int32) comes
    last.

    >>> import arrayx.numpy as anp
    >>> q, r = qr(anp.ones((3, 2)), mode="economic")
    >>> q.shape, r.shape
    ((3, 2), (2, 2))
    """
    if mode not in ("full", "r", "economic"):
        raise errors.ArgumentError(f"qr: mode is 'full', 'r' or 'economic', got {mode!r}")
    if pivoting:
        back = narrowing(a, "qr")
        full = mode != "economic"
        q, r, order = spectral.pivoted_qr(matrix(a, "qr"), full_matrices=full)
        return (back(r), order) if mode == "r" else (back(q), back(r), order)
    q, r = numpy_linalg.qr(a, "reduced" if mode == "economic" else "complete")
    return (r,) if mode == "r" else (q, r)


def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """Singular values and vectors: `(U, s, Vh)`, or `s` without `compute_uv`.

    >>> import arrayx.numpy as anp
    >>> svd(anp.array([[0.0, 2.0], [1.0, 0.0]]), compute_uv=False).tolist()
    [2.0, 1.0]
    """
    result = numpy_linalg.svd(a, full_matrices, compute_uv)
    return tuple(result) if compute_uv else result


def eigh(
    a: Any,
    b: Any = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: None = None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """Eigenvalues and eigenvectors of Hermitian matrices, from one triangle: `(w, v)`.

    With `b`, positive definite, those of `a @ v = b @ v @ diag(w)`.

    >>> import arrayx.numpy as anp
    >>> eigh(anp.array([[2.0, 0.0], [0.0, 1.0]]), eigvals_only=True).tolist()
    [1.0, 2.0]
    """
    if type != 1 or eigvals is not None:
        raise errors.UnsupportedError("scipy.linalg.eigh: only type=1 and all eigenvalues")
    uplo = "L" if lower else "U"
    if b is None:
        if eigvals_only:
            return numpy_linalg.eigvalsh(a, uplo, symmetrize_input=False)
        return tuple(numpy_linalg.eigh(a, uplo, symmetrize_input=False))
    c = cholesky(b, lower=True)
    x = matrix(a, "eigh", square=True)
    with placed_like(x):
        below = triangle(x if lower else adjoint(x), lower=True)
        strict = triangle(below, lower=True, strict=True)
        whole = add(below, adjoint(strict))
    inner = solve_triangular(c, adjoint(solve_triangular(c, whole, lower=True)), lower=True)
    if eigvals_only:
        return numpy_linalg.eigvalsh(inner)
    w, v = numpy_linalg.eigh(inner)
    return w, solve_triangular(c, v, "C", lower=True)


def block_diag(*arrs: Any) -> Array:
    """The matrices along a diagonal, zeros elsewhere; numbers and vectors are single rows.

    >>> import arrayx.numpy as anp
    >>> block_diag(anp.array([[1, 2]]), anp.array([3])).tolist()
    [[1, 2, 0], [0, 0, 3]]
    """
    names = [f"arrs[{i}]" for i in range(len(arrs))]
    blocks = promoted_arrays(arrs, "block_diag", names)
    if any(x.ndim > 2 for x in blocks):
        raise errors.ShapeError("block_diag takes matrices, vectors and numbers")
    blocks = [x.reshape((1,) * (2 - x.ndim) + x.shape) for x in blocks]
    width, before, rows = sum(x.shape[1] for x in blocks), 0, []
    for x in blocks:
        behind = width - before - x.shape[1]
        zero = zero_literal(x.dtype)
        rows.append(slicing.padded(x, 1, before, behind, zero))
        before += x.shape[1]
    return concatenate(rows, 0)
