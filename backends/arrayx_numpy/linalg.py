"""NumPy kernels of factorisations, by LAPACK through numpy.linalg and scipy.linalg.

Where a factorisation does not exist the result is nan for that matrix of a stack alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx.lazy import lazy

lapack = lazy("scipy.linalg.lapack")
blas = lazy("scipy.linalg.blas")
scipy_linalg = lazy("scipy.linalg")
# The letter that BLAS and LAPACK put before a name.
LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}


def routine(library: Any, name: str, dtype: Any) -> Callable[..., Any]:
    """The routine of BLAS or LAPACK for a dtype."""
    return getattr(library, LETTERS[dtype.char] + name)  # type: ignore[no-any-return]


def or_nan(factorise: Callable[[Any], Any], x: Any) -> tuple[np.ndarray, ...]:
    """The results for a stack of matrices, nan for those that LAPACK gives up on."""
    x = np.asarray(x)
    try:
        return as_tuple(factorise(x))
    except np.linalg.LinAlgError:
        pass
    made: list[Any] = []
    for index in np.ndindex(x.shape[:-2]):
        try:
            made.append(as_tuple(factorise(x[index])))
        except np.linalg.LinAlgError:
            made.append(None)
    model = as_tuple(factorise(np.eye(*x.shape[-2:], dtype=x.dtype)))
    results = tuple(np.full((*x.shape[:-2], *r.shape), np.nan, r.dtype) for r in model)
    for index, parts in zip(np.ndindex(x.shape[:-2]), made, strict=True):
        if parts is not None:
            for out, part in zip(results, parts, strict=True):
                out[index] = part
    return results


def as_tuple(result: Any) -> tuple[np.ndarray, ...]:
    return tuple(result) if isinstance(result, tuple) else (np.asarray(result),)


def cholesky(x: Any) -> Any:
    return or_nan(np.linalg.cholesky, x)[0]


def triangular_solve(
    a: Any, b: Any, *, left_side: bool, lower: bool, transpose_a: str, unit_diagonal: bool
) -> Any:
    if many_and_small(a):
        return substituted(a, b, left_side, lower, transpose_a, unit_diagonal)
    out = np.empty(b.shape, b.dtype)
    if out.size:
        solve = routine(blas, "trsm", out.dtype)
        trans = ("none", "transpose", "adjoint").index(transpose_a)
        for index in np.ndindex(b.shape[:-2]):
            out[index] = solve(1.0, a[index], b[index], not left_side, lower, trans, unit_diagonal)
    return out


def many_and_small(x: Any) -> bool:
    """Whether steps over a whole stack cost less than a call of LAPACK for each matrix."""
    rows = min(x.shape[-2:])
    return x.ndim > 2 and x.size > 0 and math.prod(x.shape[:-2]) > 4 * rows


def substituted(
    a: Any, b: Any, left_side: bool, lower: bool, transpose_a: str, unit_diagonal: bool
) -> Any:
    """`triangular_solve` row by row, for a whole stack at once."""
    if not left_side:
        turned = "none" if transpose_a != "none" else "transpose"
        a = a.conj() if transpose_a == "adjoint" else a
        sides = b.swapaxes(-1, -2)
        found = substituted(a, sides, True, lower, turned, unit_diagonal)
        return np.ascontiguousarray(found.swapaxes(-1, -2))
    if transpose_a != "none":
        a, lower = a.swapaxes(-1, -2), not lower
        a = a.conj() if transpose_a == "adjoint" else a
    n = a.shape[-1]
    out = np.empty(b.shape, b.dtype)
    for i in range(n) if lower else reversed(range(n)):
        known = slice(0, i) if lower else slice(i + 1, n)
        row = b[..., i : i + 1, :] - a[..., i : i + 1, known] @ out[..., known, :]
        out[..., i : i + 1, :] = row if unit_diagonal else row / a[..., i : i + 1, i : i + 1]
    return out


def absorbed(right: Any, found: Any, axis: int) -> Any:
    """A solution, but 0 where the right-hand side is all zeros along `axis`."""
    if np.isfinite(found).all():
        return found
    return np.where((right != 0).any(axis, keepdims=True), found, found.dtype.type(0))


def absorb_triangular_solve(a: Any, b: Any, *, left_side: bool, **params: Any) -> Any:
    found = triangular_solve(a, b, left_side=left_side, **params)
    return absorbed(b, found, -2 if left_side else -1)


def lu(x: Any) -> Any:
    *batch, m, n = x.shape
    if many_and_small(x):
        return eliminated(x)
    factors = np.empty(x.shape, x.dtype)
    pivots = np.empty((*batch, min(m, n)), np.int32)
    if factors.size:
        factorise = routine(lapack, "getrf", factors.dtype)
        for index in np.ndindex(*batch):
            factors[index], pivots[index], _ = factorise(x[index])
    return factors, pivots


def eliminated(x: Any) -> tuple[Any, Any]:
    """`lu` column by column, for a whole stack at once."""
    *batch, m, n = x.shape
    factors = x.reshape(-1, m, n).copy()
    pivots = np.empty((len(factors), min(m, n)), np.int32)
    each = np.arange(len(factors))
    for k in range(min(m, n)):
        column = factors[:, k:, k]
        # LAPACK compares sums of both parts of complex numbers.
        sizes = abs(column) if x.dtype.kind != "c" else abs(column.real) + abs(column.imag)
        chosen = k + np.argmax(sizes, axis=1)
        pivots[:, k] = chosen
        held = factors[:, k].copy()
        factors[:, k] = factors[each, chosen]
        factors[each, chosen] = held
        pivot = factors[:, k, k]
        none = pivot == 0
        below = factors[:, k + 1 :, k]
        below /= np.where(none, 1, pivot)[:, None]
        factors[:, k + 1 :, k + 1 :] -= below[:, :, None] * factors[:, k, None, k + 1 :]
    return factors.reshape(x.shape), pivots.reshape(*batch, min(m, n))


def permutation_of_pivots(pivots: Any, *, size: int) -> Any:
    batch = pivots.shape[:-1]
    order = np.empty((*batch, size), np.int32)
    order[...] = np.arange(size)
    rows = order.reshape(-1, size)
    places = np.arange(len(rows))
    steps = pivots.reshape(-1, pivots.shape[-1]) if pivots.size else np.empty((len(rows), 0), int)
    for i in range(steps.shape[1]):
        j = steps[:, i]
        held = rows[:, i].copy()
        rows[:, i] = rows[places, j]
        rows[places, j] = held
    return order


def linear_solve(a: Any, lu: Any, pivots: Any, b: Any, *, transpose_a: bool) -> Any:
    if many_and_small(a):
        try:
            # NumPy factorises once more, but without a call from Python for each matrix.
            return np.linalg.solve(a.swapaxes(-1, -2) if transpose_a else a, b)
        except np.linalg.LinAlgError:
            pass
    out = np.empty(b.shape, b.dtype)
    if out.size:
        solve = routine(lapack, "getrs", out.dtype)
        for index in np.ndindex(b.shape[:-2]):
            out[index], _ = solve(lu[index], pivots[index], b[index], transpose_a)
    return out


def absorb_linear_solve(a: Any, lu: Any, pivots: Any, b: Any, *, transpose_a: bool) -> Any:
    return absorbed(b, linear_solve(a, lu, pivots, b, transpose_a=transpose_a), -2)


def eigh(x: Any, *, vectors: bool) -> Any:
    return or_nan(np.linalg.eigh if vectors else np.linalg.eigvalsh, x)


def eig(x: Any, *, left: bool, right: bool) -> Any:
    wide = np.result_type(x.dtype, np.complex64)
    if left:
        found = eig_of_each(x, right)
    else:
        found = or_nan(np.linalg.eig if right else np.linalg.eigvals, x)
    return tuple(r.astype(wide, copy=False) for r in found)


def eig_of_each(x: Any, right: bool) -> tuple[np.ndarray, ...]:
    """Eigenvalues and left vectors, which NumPy does not give, and right ones if asked for."""
    wide = np.result_type(x.dtype, np.complex64)
    results = (
        np.full(x.shape[:-1], np.nan, wide),
        *(np.full(x.shape, np.nan, wide) for _ in range(1 + right)),
    )
    for index in np.ndindex(x.shape[:-2]):
        if np.isfinite(x[index]).all():
            found = scipy_linalg.eig(x[index], left=True, right=right)
            for out, part in zip(results, found, strict=True):
                out[index] = part
    return results


def svd(x: Any, *, full_matrices: bool, compute_uv: bool) -> Any:
    return or_nan(lambda m: np.linalg.svd(m, full_matrices, compute_uv), x)


def qr(x: Any, *, full_matrices: bool) -> Any:
    return or_nan(lambda m: np.linalg.qr(m, "complete" if full_matrices else "reduced"), x)


LINALG: dict[str, Any] = {
    "cholesky": cholesky,
    "triangular_solve": triangular_solve,
    "absorb_triangular_solve": absorb_triangular_solve,
    "lu": lu,
    "permutation_of_pivots": permutation_of_pivots,
    "linear_solve": linear_solve,
    "absorb_linear_solve": absorb_linear_solve,
    "eigh": eigh,
    "eig": eig,
    "svd": svd,
    "qr": qr,
}
