"""NumPy kernels of forms that NumPy itself lacks, by LAPACK's own routines, matrix by matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx_numpy.linalg import absorbed, lapack, routine


def is_complex(dtype: Any) -> bool:
    return dtype.kind == "c"  # type: ignore[no-any-return]


def pivoted_qr(x: Any, *, full_matrices: bool) -> Any:
    *batch, m, n = x.shape
    k = min(m, n)
    wide = m if full_matrices else k
    q = np.zeros((*batch, m, wide), x.dtype)
    r = np.zeros((*batch, wide, n), x.dtype)
    order = np.empty((*batch, n), np.int32)
    order[...] = np.arange(n)
    if not k:
        q[...] = np.eye(m, wide)
        return q, r, order
    factorise = routine(lapack, "geqp3", x.dtype)
    for index in np.ndindex(*batch):
        packed, pivots, taus, _, _ = factorise(x[index])
        order[index] = pivots - 1
        r[index] = np.triu(packed[:wide])
        start = np.zeros((m, wide), x.dtype)
        start[:, :k] = packed[:, :k]
        q[index] = product_of_reflections(start, taus)
    return q, r, order


def product_of_reflections(a: Any, taus: Any) -> Any:
    name = "ungqr" if is_complex(a.dtype) else "orgqr"
    return routine(lapack, name, a.dtype)(a, taus)[0]


def householder_product(a: Any, taus: Any) -> Any:
    out = np.empty(a.shape, a.dtype)
    if not taus.shape[-1]:
        out[...] = np.eye(*a.shape[-2:])
    elif out.size:
        for index in np.ndindex(a.shape[:-2]):
            out[index] = product_of_reflections(a[index], taus[index])
    return out


def ormqr(a: Any, taus: Any, c: Any, *, left: bool, transpose: bool) -> Any:
    k = taus.shape[-1]
    if not k or not c.size:
        return np.array(c)
    out = np.empty(c.shape, c.dtype)
    multiply = routine(lapack, "unmqr" if is_complex(c.dtype) else "ormqr", c.dtype)
    turn = "N" if not transpose else "C" if is_complex(c.dtype) else "T"
    work = max(c.shape[-2:]) * 32
    for index in np.ndindex(c.shape[:-2]):
        reflectors = np.asfortranarray(a[index][:, :k])
        out[index] = multiply("L" if left else "R", turn, reflectors, taus[index], c[index], work)[
            0
        ]
    return out


def hessenberg(x: Any) -> Any:
    n = x.shape[-1]
    packed = np.array(x)
    taus = np.zeros((*x.shape[:-2], max(n - 1, 0)), x.dtype)
    if packed.size and n > 1:
        reduce = routine(lapack, "gehrd", x.dtype)
        for index in np.ndindex(x.shape[:-2]):
            packed[index], taus[index], _ = reduce(x[index])
    return packed, taus


def geqrf(x: Any) -> Any:
    packed = np.array(x)
    taus = np.zeros((*x.shape[:-2], min(x.shape[-2:])), x.dtype)
    if packed.size:
        reduce = routine(lapack, "geqrf", x.dtype)
        for index in np.ndindex(x.shape[:-2]):
            packed[index], taus[index], _, _ = reduce(x[index])
    return packed, taus


def tridiagonal(x: Any) -> Any:
    n, real = x.shape[-1], x.real.dtype
    batch, less = x.shape[:-2], max(x.shape[-1] - 1, 0)
    packed, d = np.empty(x.shape, x.dtype), np.empty((*batch, n), real)
    e, taus = np.empty((*batch, less), real), np.empty((*batch, less), x.dtype)
    if packed.size:
        reduce = routine(lapack, "hetrd" if is_complex(x.dtype) else "sytrd", x.dtype)
        for index in np.ndindex(batch):
            c, d[index], e[index], taus[index], _ = reduce(x[index], lower=1)
            packed[index] = np.tril(c)
            # LAPACK leaves the diagonal's imaginary part where it was.
            np.fill_diagonal(packed[index], d[index])
    return packed, d, e, taus


def schur(x: Any, *, vectors: bool) -> Any:
    t, q = np.array(x), np.empty(x.shape, x.dtype)
    if x.size:
        reduce = routine(lapack, "gees", x.dtype)
        for index in np.ndindex(x.shape[:-2]):
            if np.isfinite(x[index]).all():
                t[index], *_, found, _, status = reduce(never, x[index], compute_v=vectors)
            else:
                status = 1
            if status:
                t[index] = q[index] = np.nan
            elif vectors:
                q[index] = found
    return (t, q) if vectors else (t,)


def never(*value: Any) -> bool:
    """The choice of eigenvalues to put first: none."""
    return False


def sylvester(a: Any, b: Any, c: Any) -> Any:
    out = np.zeros(c.shape, c.dtype)
    if not out.size:
        return out
    (r, u), (s, v) = schur(a, vectors=True), schur(b, vectors=True)
    inner = u.conj().swapaxes(-1, -2) @ c @ v
    solve = routine(lapack, "trsyl", c.dtype)
    for index in np.ndindex(c.shape[:-2]):
        if not c[index].any():
            continue
        if not (np.isfinite(r[index]).all() and np.isfinite(s[index]).all()):
            out[index] = np.nan
            continue
        y, scale, status = solve(r[index], s[index], inner[index])
        found = u[index] @ (y / scale) @ v[index].conj().T
        out[index] = np.nan if status == 1 else found
    return out


def tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any) -> Any:
    out = np.empty(b.shape, b.dtype)
    if not out.size:
        return out
    n = b.shape[-2]
    if n < 2:
        return b / d[..., None]
    solve = routine(lapack, "gtsv", out.dtype)
    for index in np.ndindex(b.shape[:-2]):
        *_, found, status = solve(dl[index][1:], d[index], du[index][:-1], b[index])
        out[index] = np.nan if status else found
    return out


def absorb_tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any) -> Any:
    return absorbed(b, tridiagonal_solve(dl, d, du, b), -2)


REFLECTIONS: dict[str, Any] = {
    "pivoted_qr": pivoted_qr,
    "householder_product": householder_product,
    "ormqr": ormqr,
    "hessenberg": hessenberg,
    "geqrf": geqrf,
    "tridiagonal": tridiagonal,
    "schur": schur,
    "sylvester": sylvester,
    "tridiagonal_solve": tridiagonal_solve,
    "absorb_tridiagonal_solve": absorb_tridiagonal_solve,
}
