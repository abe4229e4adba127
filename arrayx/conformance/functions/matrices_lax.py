"""Rows of `arrayx.lax.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from arrayx.conformance.case import Operand
from arrayx.conformance.cases.linalg import exchanged, factors
from arrayx.conformance.cases.reflections import (
    hessenberg_reference,
    reflections,
    tridiagonal_reference,
)
from arrayx.conformance.functions.matrices import (
    ONE,
    STACK,
    TALL,
    definite,
    hermitian,
    regular,
    row,
    sizes,
)
from arrayx.conformance.public import public

COMPLEX = ("complex64", "complex128")


def lu_reference(x: Any) -> Any:
    packed, pivots = factors(x)
    order = np.stack([exchanged(p, x.shape[-2]) for p in pivots.reshape(-1, pivots.shape[-1])])
    return packed, pivots, order.reshape(*pivots.shape[:-1], x.shape[-2])


def eig_sizes(x: Any) -> Any:
    found = [scipy.linalg.eig(m, left=True, right=True) for m in x.reshape(-1, *x.shape[-2:])]
    parts = (np.stack(p).reshape(*x.shape[:-2], *p[0].shape) for p in zip(*found, strict=True))
    return tuple(parts)


def solved(a: Any, b: Any, **params: Any) -> Any:
    """`triangular_solve` from the right, with the upper triangle."""
    return b @ np.linalg.inv(np.triu(a))


def three_diagonals(function: Any, dl: Any, d: Any, du: Any, b: Any) -> Any:
    return function(dl, d + 5, du, b)


def dense_solution(dl: Any, d: Any, du: Any, b: Any) -> Any:
    n = d.shape[-1]
    below = np.eye(n, k=-1) * dl[..., :, None]
    above = np.eye(n, k=1) * du[..., :, None]
    return np.linalg.solve(below + np.eye(n) * d[..., :, None] + above, b)


def updated(r: Any, w: Any) -> Any:
    r, column = np.triu(r), w[..., :, None]
    whole = star(r) @ r + column @ star(column)
    return star(np.linalg.cholesky(whole))


def star(x: Any) -> Any:
    return x.conj().swapaxes(-1, -2)


def symmetric(a: Any, c: Any, *, alpha: float, beta: float) -> Any:
    return alpha * a @ a.swapaxes(-1, -2) + beta * c


def polar_parts(x: Any) -> Any:
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return u @ vh, (star(vh) * s[..., None, :]) @ vh, np.int32(1), np.bool_(True)


def by_reflectors(function: Any, a: Any, *others: Any, **params: Any) -> Any:
    """Calls it with factors that make reflections of what is below the diagonal."""
    m = a.shape[-2]
    below = a * np.tri(m, a.shape[-1], -1, dtype=a.dtype)
    taus = 2 / (1 + (below * below.conj()).sum(-2))
    return function(a, taus, *others, **params)


def multiplied(a: Any, taus: Any, c: Any, *, transpose: bool) -> Any:
    q = reflections(a, taus)
    return (star(q) if transpose else q) @ c


CASES = (
    row("lax.linalg.cholesky", ONE, reference=np.linalg.cholesky, form=definite),
    row("lax.linalg.cholesky_update", ((3, 3), (3,)), reference=updated, form=regular),
    row("lax.linalg.eig", ONE, reference=eig_sizes, form=sizes()),
    row(
        "lax.linalg.eigh",
        STACK,
        reference=lambda x: np.linalg.eigh(x)[::-1],
        form=sizes(hermitian),
    ),
    row("lax.linalg.hessenberg", ((4, 4),), reference=hessenberg_reference),
    row(
        "lax.linalg.householder_product",
        TALL,
        reference=lambda a, taus: reflections(a, taus)[..., : a.shape[-1]],
        form=by_reflectors,
    ),
    *(
        row(
            "lax.linalg.ormqr",
            ((3, 2), (3, 2)),
            {"transpose": transpose},
            multiplied,
            form=by_reflectors,
            label="adjoint" if transpose else "plain",
        )
        for transpose in (False, True)
    ),
    row("lax.linalg.lu", ((2, 3, 3),), reference=lu_reference),
    public(
        "lax.linalg.lu_pivots_to_permutation",
        (Operand((3,), values=[2, 3, 2]),),
        {"permutation_size": 4},
        lambda pivots, permutation_size: exchanged(pivots, permutation_size),
        ("int32",),
    ),
    row("lax.linalg.qdwh", TALL, reference=polar_parts),
    row("lax.linalg.qr", TALL, {"full_matrices": False}, lambda x, full_matrices: np.linalg.qr(x)),
    row(
        "lax.linalg.qr",
        TALL,
        {"full_matrices": False, "pivoting": True},
        lambda x, **how: tuple(scipy.linalg.qr(x, mode="economic", pivoting=True)),
        label="pivoted",
    ),
    row(
        "lax.linalg.schur",
        ONE,
        reference=lambda x: scipy.linalg.schur(x),
        form=sizes(),
        dtypes=COMPLEX,
    ),
    row(
        "lax.linalg.svd",
        TALL,
        {"full_matrices": False},
        lambda x, full_matrices: np.linalg.svd(x, full_matrices),
        form=sizes(),
    ),
    row(
        "lax.linalg.symmetric_product",
        ((3, 2), (3, 3)),
        {"alpha": 2.0, "beta": 0.5},
        symmetric,
        form=lambda f, a, c, **how: f(a, c + c.swapaxes(-1, -2), **how),
    ),
    row("lax.linalg.triangular_solve", ((3, 3), (2, 3)), reference=solved, form=regular),
    row("lax.linalg.tridiagonal", ((4, 4),), reference=tridiagonal_reference),
    row(
        "lax.linalg.tridiagonal_solve",
        ((4,), (4,), (4,), (4, 2)),
        reference=dense_solution,
        form=three_diagonals,
    ),
)
