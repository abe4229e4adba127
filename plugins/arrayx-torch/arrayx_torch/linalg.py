"""Factorisations by torch.linalg and Fourier transforms by torch.fft.

Where a factorisation does not exist the result is nan for that matrix of a stack alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from arrayx_torch.kinds import WHOLE_OF


def finite_only(factorise: Callable[..., Any]) -> Callable[..., Any]:
    """The factorisation, of matrices with nan or infinities nan, for which torch raises."""

    def kernel(x: Any, **params: Any) -> Any:
        fine = torch.isfinite(x).all(-1).all(-1)
        safe = torch.where(fine[..., None, None], x, torch.ones((), dtype=x.dtype, device=x.device))
        return tuple(masked(r, fine) for r in factorise(safe, **params))

    return kernel


def masked(x: Any, fine: Any) -> Any:
    """nan where a matrix of the stack is not `fine`."""
    mask = fine.reshape((*fine.shape, *(1,) * (x.ndim - fine.ndim)))
    missing = torch.full((), float("nan"), dtype=x.dtype, device=x.device)
    return torch.where(mask, x, missing)


def adjoint(x: Any) -> Any:
    return torch.conj_physical(x).mT


def cholesky(x: Any) -> Any:
    factor, info = torch.linalg.cholesky_ex(x)
    return masked(factor, info == 0)


def triangular_solve(
    a: Any, b: Any, *, left_side: bool, lower: bool, transpose_a: str, unit_diagonal: bool
) -> Any:
    if transpose_a != "none":
        a, lower = adjoint(a) if transpose_a == "adjoint" else a.mT, not lower
    return torch.linalg.solve_triangular(
        a, b, upper=not lower, left=left_side, unitriangular=unit_diagonal
    )


def absorbed(right: Any, found: Any, axis: int) -> Any:
    """A solution, but 0 where the right-hand side is all zeros along `axis`."""
    some = (right != 0).any(axis, keepdim=True)
    return torch.where(some, found, torch.zeros((), dtype=found.dtype, device=found.device))


def absorb_triangular_solve(a: Any, b: Any, *, left_side: bool, **params: Any) -> Any:
    found = triangular_solve(a, b, left_side=left_side, **params)
    return absorbed(b, found, -2 if left_side else -1)


def lu(x: Any) -> Any:
    if x.numel() == 0:
        rows = min(x.shape[-2:])
        return x, torch.zeros((*x.shape[:-2], rows), dtype=torch.int32, device=x.device)
    factors, pivots, _ = torch.linalg.lu_factor_ex(x)
    return factors, pivots - 1


def permutation_of_pivots(pivots: Any, *, size: int) -> Any:
    batch = pivots.shape[:-1]
    order = torch.arange(size, dtype=torch.int32, device=pivots.device)
    rows = order.expand((*batch, size)).reshape(-1, size).clone()
    steps = pivots.reshape(rows.shape[0], pivots.shape[-1]).long()
    each = torch.arange(rows.shape[0], device=pivots.device)
    for i in range(steps.shape[1]):
        held, j = rows[:, i].clone(), steps[:, i]
        rows[:, i] = rows[each, j]
        rows[each, j] = held
    return rows.reshape((*batch, size))


def linear_solve(a: Any, lu: Any, pivots: Any, b: Any, *, transpose_a: bool) -> Any:
    if b.numel() == 0:
        return b
    if not transpose_a:
        return torch.linalg.lu_solve(lu, pivots + 1, b)
    # The transposed system is the adjoint one of conjugates.
    found = torch.linalg.lu_solve(lu, pivots + 1, torch.conj_physical(b), adjoint=True)
    return torch.conj_physical(found)


def absorb_linear_solve(a: Any, lu: Any, pivots: Any, b: Any, *, transpose_a: bool) -> Any:
    return absorbed(b, linear_solve(a, lu, pivots, b, transpose_a=transpose_a), -2)


@finite_only
def eigh(x: Any, *, vectors: bool) -> Any:
    if vectors:
        return tuple(torch.linalg.eigh(x))
    return (torch.linalg.eigvalsh(x),)


@finite_only
def eig(x: Any, *, left: bool, right: bool) -> Any:
    if not (left or right):
        return (torch.linalg.eigvals(x),)
    values, vectors = torch.linalg.eig(x)
    if not left:
        return values, vectors
    # The rows of the inverse are left vectors; their lengths and phases are LAPACK's.
    across = adjoint(torch.linalg.inv_ex(vectors).inverse)
    across = across / torch.linalg.vector_norm(across, dim=-2, keepdim=True)
    if x.shape[-1]:
        largest = torch.abs(across).argmax(-2, keepdim=True)
        largest = across.gather(-2, largest)
        across = across * (torch.conj_physical(largest) / torch.abs(largest))
    return (values, across, vectors) if right else (values, across)


@finite_only
def svd(x: Any, *, full_matrices: bool, compute_uv: bool) -> Any:
    if not compute_uv:
        return (torch.linalg.svdvals(x),)
    return tuple(
        torch.conj_physical(r) if r.is_conj() else r
        for r in torch.linalg.svd(x, full_matrices=full_matrices)
    )


def qr(x: Any, *, full_matrices: bool) -> Any:
    return tuple(torch.linalg.qr(x, "complete" if full_matrices else "reduced"))


def fft(x: Any, *, kind: str, lengths: Any) -> Any:
    axes = tuple(range(x.ndim - len(lengths), x.ndim))
    if x.numel() == 0:
        last = lengths[-1] // 2 + 1 if kind == "rfft" else lengths[-1]
        dtype = WHOLE_OF.get(x.dtype, x.dtype)
        made = torch.empty((*x.shape[: axes[0]], *lengths[:-1], last), dtype=dtype)
        return (made.real if kind == "irfft" else made).to(x.device)
    return getattr(torch.fft, f"{kind}n")(x, lengths, axes)


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
    "fft": fft,
}
