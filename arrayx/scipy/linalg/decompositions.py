"""SciPy's decompositions beyond those of NumPy: Schur, Hessenberg, polar, products with Q."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.control import similar_forms
from arrayx.core.array import Array
from arrayx.numpy import linalg as numpy_linalg
from arrayx.numpy import logic, transcendental
from arrayx.numpy.contraction import matmul
from arrayx.numpy.linalg.reading import matrix, narrowing
from arrayx.numpy.promotion import as_array, as_type, placed_like, promoted_arrays
from arrayx.numpy.shapes import expand_dims, squeeze
from arrayx.primitives import polar as polar_primitives
from arrayx.primitives import reflectors, spectral
from arrayx.primitives import schur as schur_form
from arrayx.primitives.arithmetic import add, mul
from arrayx.primitives.creation import zero_literal
from arrayx.primitives.matrices import adjoint, guarded_product
from arrayx.primitives.slicing import cut, pad


def schur(a: Any, output: str = "real") -> tuple[Array, Array]:
    """The Schur form `a = Z @ T @ Zᴴ` of square matrices: `(T, Z)`.

    With `output="complex"` T is complex and upper triangular; with "real" the T of a real matrix
    has blocks of two rows for pairs of conjugate eigenvalues, and no derivative.

    >>> import arrayx.numpy as anp
    >>> schur(anp.array([[2.0, 1.0], [0.0, 3.0]]))[0].tolist()
    [[2.0, 1.0], [0.0, 3.0]]
    """
    if output not in ("real", "complex"):
        raise errors.ArgumentError(f"schur: output is 'real' or 'complex', got {output!r}")
    x = matrix(a, "schur", square=True)
    if output == "complex":
        x = as_type(x, dtypes.complex_dtype(x.dtype))
    t, z = schur_form.schur(x, vectors=True)
    return t, z


def rsf2csf(T: Any, Z: Any, check_finite: bool = True) -> tuple[Array, Array]:
    """The complex Schur form from the real one: `(T, Z)`.

    >>> import arrayx.numpy as anp
    >>> t, z = rsf2csf(anp.array([[0.0, 1.0], [-1.0, 0.0]]), anp.eye(2))
    >>> sorted(t.diagonal().imag.round(3).tolist())
    [-1.0, 1.0]
    """
    t, z = promoted_arrays((T, Z), "rsf2csf", ("T", "Z"))
    t, z = (matrix(x, "rsf2csf", name, square=True) for x, name in ((t, "T"), (z, "Z")))
    if t.shape != z.shape:
        raise errors.ShapeError(f"rsf2csf: T {t.shape} and Z {z.shape} differ in shape")
    dtype = dtypes.complex_dtype(t.dtype)
    # A triangular matrix is its own Schur form, and blocks of two rows become triangles where
    # they stand.
    upper, turning = schur_form.schur(as_type(t, dtype), vectors=True)
    return upper, matmul(as_type(z, dtype), turning)


def hessenberg(
    a: Any, *, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """The Hessenberg form `a = q @ h @ qᴴ`: h, or `(h, q)` with `calc_q`.

    It has zeros below the first subdiagonal.

    >>> import arrayx.numpy as anp
    >>> hessenberg(anp.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    x = matrix(a, "hessenberg", square=True)
    back = narrowing(a, "hessenberg")
    n, last = x.shape[-1], x.ndim - 1
    with placed_like(x):
        packed, taus = similar_forms.hessenberg(x)
        form = back(similar_forms.above_reflectors(packed))
        if not calc_q:
            return form
        less = max(n - 1, 0)
        below = cut(cut(packed, last - 1, n - less, n), last, 0, less)
        inner = reflectors.householder_product(below, taus)
        none = (0,) * x.ndim
        corner = (*none[2:], n - less, n - less)
        zero = zero_literal(x.dtype)
        q = pad(inner, zero, low=corner, high=none, interior=none)
        if n:
            unit = np.zeros((n, n), x.dtype)
            unit[0, 0] = 1
            q = add(q, as_array(np.broadcast_to(unit, q.shape), "hessenberg", "a"))
    return form, back(q)


def polar(
    a: Any,
    side: str = "right",
    *,
    method: str = "qdwh",
    eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Array, Array]:
    """The polar decomposition `a = u @ p` (`side="right"`) or `a = p @ u` ("left"): `(u, p)`.

    u has orthonormal columns or rows, whichever are fewer, and p is positive semidefinite.  It is
    made from singular values: `method` ("qdwh" or "svd"), `eps` and `max_iterations` change
    nothing.  The derivative is that at full rank.

    >>> import arrayx.numpy as anp
    >>> u, p = polar(anp.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> u.round(3).tolist(), p.round(3).tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 2.0]])
    """
    if side not in ("right", "left"):
        raise errors.ArgumentError(f"polar: side is 'right' or 'left', got {side!r}")
    if method not in ("qdwh", "svd"):
        raise errors.ArgumentError(f"polar: method is 'qdwh' or 'svd', got {method!r}")
    x = matrix(a, "polar")
    back = narrowing(a, "polar")
    with placed_like(x):
        u = polar_primitives.polar_factor(x)
        p = guarded_product(adjoint(u), x) if side == "right" else guarded_product(x, adjoint(u))
        p = mul(add(p, adjoint(p)), 0.5 * type(zero_literal(x.dtype))(1))
    return back(u), back(p)


def qr_multiply(
    a: Any,
    c: Any,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[Array, ...]:
    """`c @ q` (`mode="right"`) or `q @ c` ("left"), and r, for `q @ r = a`: `(cq, r)`.

    q is the thin one, with min(M, N) columns.  With `pivoting` it is that of `a[:, p]`, and p
    comes third.  With `conjugate`, q is conjugated.  `c` may be a vector.

    >>> import arrayx.numpy as anp
    >>> cq, r = qr_multiply(anp.eye(3)[:, :2], anp.ones((1, 3)))
    >>> cq.shape, r.shape
    ((1, 2), (2, 2))
    """
    if mode not in ("left", "right"):
        raise errors.ArgumentError(f"qr_multiply: mode is 'left' or 'right', got {mode!r}")
    x, y = promoted_arrays((a, c), "qr_multiply", ("a", "c"))
    q, r, *order = qr_of(x, pivoting)
    if conjugate:
        q = transcendental.conjugate(q)
    vector = y.ndim == 1
    if vector:
        y = expand_dims(y, -1 if mode == "left" else 0)
    rows = q.shape[-1] if mode == "left" else q.shape[-2]
    if y.ndim < 2 or y.shape[-2 if mode == "left" else -1] != rows:
        raise errors.ShapeError(
            f"qr_multiply: c of shape {np.shape(c)} does not fit q of shape {q.shape} from the "
            f"{'right' if mode == 'left' else 'left'}"
        )
    found = matmul(q, y) if mode == "left" else matmul(y, q)
    if vector:
        found = squeeze(found, -1 if mode == "left" else 0)
    return found, r, *order


def qr_of(a: Any, pivoting: bool) -> tuple[Array, ...]:
    """The thin QR decomposition, with or without an order of columns."""
    if not pivoting:
        q, r = numpy_linalg.qr(a)
        return q, r
    back = narrowing(a, "qr")
    q, r, order = spectral.pivoted_qr(matrix(a, "qr"), full_matrices=False)
    return back(q), back(r), order


def eigh_tridiagonal(
    d: Any,
    e: Any,
    *,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: tuple[float, float] | None = None,
    tol: float | None = None,
    key: Any = None,
) -> Any:
    """Eigenvalues and eigenvectors of Hermitian matrices of three diagonals: `(w, v)`.

    `d` is the diagonal and `e` the one below it.  `select` is "a" for all, "i" for those with the
    numbers from `select_range[0]` to `select_range[1]`, or "v" for those above the first and up to
    the second value of `select_range`, for which concrete operands without a batch are needed.
    They are made as those of any Hermitian matrix; `tol` and `key` change nothing.

    >>> import arrayx.numpy as anp
    >>> eigh_tridiagonal(anp.zeros(2), anp.ones(1), eigvals_only=True).round(3).tolist()
    [-1.0, 1.0]
    """
    middle, below = promoted_arrays((d, e), "eigh_tridiagonal", ("d", "e"))
    n = middle.shape[-1] if middle.ndim else 0
    if not n or below.shape != (*middle.shape[:-1], n - 1):
        raise errors.ShapeError(
            f"eigh_tridiagonal: e of shape {below.shape} needs one element fewer than d of shape "
            f"{middle.shape}"
        )
    if select not in ("a", "i", "v") or (select != "a") != (select_range is not None):
        raise errors.ArgumentError(
            "eigh_tridiagonal: select is 'a', or 'i' or 'v' with a select_range, got "
            f"{select!r} and {select_range!r}"
        )
    back = narrowing(middle, "eigh_tridiagonal")
    x = matrix(_three_diagonals(middle, below, n), "eigh_tridiagonal", square=True)
    w, *v = spectral.eigh(x, vectors=not eigvals_only)
    start, stop = 0, n
    if select == "i":
        assert select_range is not None
        start, stop = int(select_range[0]), int(select_range[1]) + 1
        if not 0 <= start < stop <= n:
            raise errors.ArgumentError(
                f"eigh_tridiagonal: select_range {select_range} is no range of {n} eigenvalues"
            )
    elif select == "v":
        assert select_range is not None
        if w.ndim > 1:
            raise errors.ShapeError("eigh_tridiagonal: select='v' takes one matrix, not a stack")
        low, high = (int(logic.less_equal(w, bound).sum()) for bound in select_range)
        start, stop = low, max(high, low)
    w = back(w[..., start:stop])
    return w if eigvals_only else (w, back(v[0][..., start:stop]))


def _three_diagonals(d: Array, e: Array, n: int) -> Array:
    """The matrix with these elements on its diagonal and below it, zeros above."""
    places = np.arange(n)
    on_it, below = places[:, None] == places, places[:, None] == places + 1
    rows = expand_dims(d, -1) * on_it.astype(d.dtype)
    if n < 2:
        return rows  # type: ignore[no-any-return]
    last = (*(0,) * (e.ndim - 1), 0)
    moved = pad(e, zero_literal(e.dtype), low=(*last[:-1], 1), high=last, interior=last)
    return rows + expand_dims(moved, -1) * below.astype(d.dtype)  # type: ignore[no-any-return]
