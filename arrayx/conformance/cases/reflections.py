"""Rows for forms made by reflections, for Schur forms and for systems of three diagonals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg import lapack

from arrayx.conformance.cases.linalg import matrices
from arrayx.conformance.cases.spectral import pairs, pairs_reference, star
from arrayx.control import similar_forms
from arrayx.primitives import reflectors, schur, spectral, tridiagonal
from arrayx.primitives.arithmetic import add, mul
from arrayx.primitives.axes import broadcast_in_dim
from arrayx.primitives.creation import fill, zero_literal
from arrayx.primitives.matrices import adjoint, diagonal
from arrayx.primitives.slicing import cut

UNIT: dict[str, Any] = {"domain": (-1.0, 1.0)}


def each(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one matrix, applied to each of a stack."""

    def applied(x: Any, **params: Any) -> Any:
        batch = x.shape[:-2]
        found = [function(x[index], **params) for index in np.ndindex(*batch)]
        stacked = [np.stack(r).reshape(*batch, *r[0].shape) for r in zip(*found, strict=True)]
        return tuple(stacked)

    return applied


def routine(name: str, x: Any) -> Any:
    return getattr(lapack, ("z" if np.iscomplexobj(x) else "d") + name)


def pivoted(x: Any, *, full_matrices: bool) -> Any:
    """Each column of Q with its row of R, each column's projection, the order."""
    q, r, order = spectral.pivoted_qr(x, full_matrices=full_matrices)
    k, last = min(x.aval.shape[-2:]), x.aval.ndim - 1
    few, upper = cut(q, last, 0, k), cut(r, last - 1, 0, k)
    return pairs(few, upper), pairs(few, adjoint(few)), order


@each
def pivoted_reference(x: Any, *, full_matrices: bool) -> Any:
    q, r, order = scipy.linalg.qr(x, mode="full" if full_matrices else "economic", pivoting=True)
    k = min(x.shape)
    few = q[:, :k]
    found = pairs_reference(few, r[:k]), pairs_reference(few, star(few))
    return *found, order.astype(np.int32)


def reflections(a: Any, taus: Any) -> Any:
    """The product of reflections by its definition."""
    m, k = a.shape[-2], taus.shape[-1]
    result = np.broadcast_to(np.eye(m, dtype=a.dtype), (*a.shape[:-2], m, m))
    for i in range(k):
        v = np.where(np.arange(m) > i, a[..., :, i], 0)
        v[..., i] = 1
        factor = taus[..., i, None, None]
        result = result @ (np.eye(m) - factor * v[..., :, None] * v.conj()[..., None, :])
    return result


def factored(x: Any) -> tuple[Any, Any]:
    """Reflectors and factors of unitary matrices, made from any."""
    packed, taus = similar_forms.hessenberg(x)
    last = x.aval.ndim - 1
    below = cut(cut(packed, last - 1, 1, x.aval.shape[-1]), last, 0, x.aval.shape[-1] - 1)
    return below, taus


def factored_reference(x: Any) -> tuple[Any, Any]:
    @each
    def reduced(m: Any) -> Any:
        ht, tau, _ = routine("gehrd", m)(m)
        return ht[1:, :-1], tau

    below, taus = reduced(x)
    return below, taus


def unitary(x: Any) -> Any:
    return reflectors.householder_product(*factored(x))


def turned_by(x: Any, c: Any, **how: Any) -> Any:
    return reflectors.ormqr(*factored(x), c, **how)


def turned_by_reference(x: Any, c: Any, *, left: bool, transpose: bool) -> Any:
    q = reflections(*factored_reference(x))
    q = star(q) if transpose else q
    return q @ c if left else c @ q


@each
def hessenberg_reference(x: Any) -> Any:
    return routine("gehrd", x)(x)[:2]


@each
def geqrf_reference(x: Any) -> Any:
    return routine("geqrf", x)(x)[:2]


@each
def tridiagonal_reference(x: Any) -> Any:
    name = "hetrd" if np.iscomplexobj(x) else "sytrd"
    packed, d, e, taus, _ = routine(name, x)(x, lower=1)
    packed = np.tril(packed)
    np.fill_diagonal(packed, d)
    return packed, d, e, taus


def schur_parts(x: Any, *, vectors: bool) -> Any:
    """The triangle's elements, each with the product of its two vectors: no phase is left."""
    t, *q = schur.schur(x, vectors=vectors)
    if not q:
        return diagonal(t)
    n = x.aval.ndim - 2
    both = pairs_of_all(q[0], adjoint(q[0]))
    shape = both.aval.shape
    factor = broadcast_in_dim(t, shape=shape, dims=(*range(n), n + 1, n + 2))
    return diagonal(t), mul(factor, both)


def pairs_of_all(u: Any, vh: Any) -> Any:
    """Elements of each column of `u` times those of each row of `vh`."""
    *batch, m, k = u.aval.shape
    b, lead = len(batch), tuple(range(len(batch)))
    shape = (*batch, m, k, k, m)
    left = broadcast_in_dim(u, shape=shape, dims=(*lead, b, b + 1))
    return mul(left, broadcast_in_dim(vh, shape=shape, dims=(*lead, b + 2, b + 3)))


@each
def schur_reference(x: Any, *, vectors: bool) -> Any:
    t, q = scipy.linalg.schur(x)
    if not vectors:
        return (np.diag(t),)
    return np.diag(t), np.einsum("jk,mj,nk->mjkn", t, q, q.conj())


def dominant(d: Any) -> Any:
    """Diagonals that make a regular matrix with any others from [-1, 1]."""
    return add(d, fill(d.aval.shape, d.aval.dtype, type(zero_literal(d.aval.dtype))(5)))


def three_diagonals(primitive: Any) -> Callable[..., Any]:
    return lambda dl, d, du, b: primitive(dl, dominant(d), du, b)


def dense_solution(dl: Any, d: Any, du: Any, b: Any) -> Any:
    n = d.shape[-1]
    a = np.zeros((*d.shape, n), d.dtype)
    for i in range(n):
        a[..., i, i] = d[..., i] + 5
        if i:
            a[..., i, i - 1] = dl[..., i]
            a[..., i - 1, i] = du[..., i - 1]
    return np.linalg.solve(a, b)


CASES = (
    *(
        matrices(
            "pivoted_qr",
            pivoted,
            (shape,),
            {"full_matrices": full},
            pivoted_reference,
            ulps=1000.0,
            label=f"{label}_{'full' if full else 'thin'}",
        )
        for label, shape in (
            ("square", (3, 3)),
            ("tall", (4, 2)),
            ("wide", (2, 3)),
            ("stack", (2, 3, 2)),
        )
        for full in (False, True)
    ),
    *(
        matrices(
            "householder_product",
            unitary,
            (shape,),
            {},
            lambda x: reflections(*factored_reference(x)),
            ulps=1000.0,
            label=label,
        )
        for label, shape in (("square", (4, 4)), ("stack", (2, 3, 3)))
    ),
    *(
        matrices(
            "ormqr",
            turned_by,
            ((4, 4), shape),
            {"left": left, "transpose": transpose},
            turned_by_reference,
            ulps=1000.0,
            label=f"{'left' if left else 'right'}_{'adjoint' if transpose else 'plain'}",
        )
        for left, shape in ((True, (3, 2)), (False, (2, 3)))
        for transpose in (False, True)
    ),
    *(
        matrices(
            "hessenberg",
            similar_forms.hessenberg,
            (shape,),
            {},
            hessenberg_reference,
            ulps=1000.0,
            label=label,
        )
        for label, shape in (("four", (4, 4)), ("two", (2, 2)), ("stack", (2, 3, 3)))
    ),
    *(
        matrices(
            "geqrf",
            similar_forms.geqrf,
            (shape,),
            {},
            geqrf_reference,
            ulps=1000.0,
            label=label,
        )
        for label, shape in (("tall", (4, 2)), ("wide", (2, 3)), ("stack", (2, 3, 3)))
    ),
    *(
        matrices(
            "tridiagonal",
            similar_forms.tridiagonal,
            (shape,),
            {},
            tridiagonal_reference,
            ulps=1000.0,
            label=label,
        )
        for label, shape in (("four", (4, 4)), ("two", (2, 2)), ("stack", (2, 3, 3)))
    ),
    *(
        matrices(
            "schur",
            schur_parts,
            (shape,),
            {"vectors": vectors},
            schur_reference,
            ulps=5000.0,
            label=label,
            kinds=("complex64", "complex128"),
        )
        for label, shape, vectors in (
            ("vectors", (3, 3), True),
            ("stack", (2, 2, 2), True),
            ("values", (4, 4), False),
        )
    ),
    *(
        matrices(
            primitive.name,
            three_diagonals(primitive),
            (shape[:-1], shape[:-1], shape[:-1], shape),
            {},
            dense_solution,
            label=label,
            **UNIT,
        )
        for primitive in (tridiagonal.tridiagonal_solve, tridiagonal.absorb_tridiagonal_solve)
        for label, shape in (("four", (4, 2)), ("one", (1, 2)), ("stack", (2, 3, 1)))
    ),
)
