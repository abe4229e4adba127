"""Rows for eigenvalues, singular values and QR.

Vectors are compared through products that do not depend on their phases.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from arrayx.conformance.cases.linalg import matrices
from arrayx.primitives import spectral
from arrayx.primitives.arithmetic import mul
from arrayx.primitives.axes import broadcast_in_dim
from arrayx.primitives.matrices import adjoint, product
from arrayx.primitives.slicing import cut


def pairs(u: Any, vh: Any) -> Any:
    """The product of each column of `u` with its row of `vh`, along a new axis in front of both."""
    *batch, m, k = u.aval.shape
    n = vh.aval.shape[-1]
    shape, b = (*batch, m, k, n), len(batch)
    lead = tuple(range(b))
    left = broadcast_in_dim(u, shape=shape, dims=(*lead, b, b + 1))
    return mul(left, broadcast_in_dim(vh, shape=shape, dims=(*lead, b + 1, b + 2)))


def pairs_reference(u: Any, vh: Any) -> Any:
    return u[..., :, :, None] * vh[..., None, :, :]


def star(x: Any) -> Any:
    return x.conj().swapaxes(-1, -2)


def hermitian(x: Any) -> Any:
    """What is read of `x`: its lower triangle."""
    below = np.tril(x, -1)
    return below + below.conj().swapaxes(-1, -2) + np.eye(x.shape[-1]) * x.real


def eigh(x: Any, *, vectors: bool) -> Any:
    w, *v = spectral.eigh(x, vectors=vectors)
    return (w, pairs(v[0], adjoint(v[0]))) if v else (w,)


def eigh_reference(x: Any, *, vectors: bool) -> Any:
    w, v = np.linalg.eigh(hermitian(x))
    return (w, pairs_reference(v, v.conj().swapaxes(-1, -2))) if vectors else (w,)


def eig(x: Any, *, left: bool, right: bool) -> Any:
    """The values, and the product of each vector with its adjoint."""
    w, *vectors = spectral.eig(x, left=left, right=right)
    return (w, *(pairs(v, adjoint(v)) for v in vectors))


def eig_reference(x: Any, *, left: bool, right: bool) -> Any:
    found = [
        scipy.linalg.eig(x[index], left=True, right=True) for index in np.ndindex(*x.shape[:-2])
    ]
    w, u, v = (
        np.stack(parts).astype(complex).reshape(*x.shape[:-2], *parts[0].shape)
        for parts in zip(*found, strict=True)
    )
    vectors = [*([u] if left else []), *([v] if right else [])]
    return (w, *(pairs_reference(v, star(v)) for v in vectors))


def svd(x: Any, *, full_matrices: bool, compute_uv: bool) -> Any:
    """The singular values, each pair's product, and the projections on what is left over."""
    results = spectral.svd(x, full_matrices=full_matrices, compute_uv=compute_uv)
    if not compute_uv:
        return results
    u, s, vh = results
    k, last = s.aval.shape[-1], x.aval.ndim - 1
    few, fewer = cut(u, last, 0, k), cut(vh, last - 1, 0, k)
    found = [s, pairs(few, fewer), pairs(few, adjoint(few)), pairs(adjoint(fewer), fewer)]
    rest = cut(u, last, k, u.aval.shape[-1])
    others = cut(vh, last - 1, k, vh.aval.shape[-2])
    return (*found, product(rest, adjoint(rest)), product(adjoint(others), others))


def svd_reference(x: Any, *, full_matrices: bool, compute_uv: bool) -> Any:
    u, s, vh = np.linalg.svd(x, full_matrices)
    if not compute_uv:
        return (s,)
    k = s.shape[-1]
    few, fewer, rest, others = u[..., :k], vh[..., :k, :], u[..., k:], vh[..., k:, :]
    found = pairs_reference(few, fewer), pairs_reference(few, star(few))
    return (
        s,
        *found,
        pairs_reference(star(fewer), fewer),
        rest @ star(rest),
        star(others) @ others,
    )


def qr(x: Any, *, full_matrices: bool) -> Any:
    """Each column of Q with its row of R, each column's projection, and that on the rest."""
    q, r = spectral.qr(x, full_matrices=full_matrices)
    k, last = min(x.aval.shape[-2:]), x.aval.ndim - 1
    few, rest = cut(q, last, 0, k), cut(q, last, k, q.aval.shape[-1])
    upper = cut(r, last - 1, 0, k)
    return pairs(few, upper), pairs(few, adjoint(few)), product(rest, adjoint(rest))


def qr_reference(x: Any, *, full_matrices: bool) -> Any:
    q, r = np.linalg.qr(x, "complete" if full_matrices else "reduced")
    k = min(x.shape[-2:])
    few, rest = q[..., :k], q[..., k:]
    return pairs_reference(few, r[..., :k, :]), pairs_reference(few, star(few)), rest @ star(rest)


SHAPES = (("square", (3, 3)), ("tall", (4, 2)), ("wide", (2, 3)), ("stack", (2, 3, 2)))
CASES = (
    *(
        matrices(
            "eigh", eigh, (shape,), {"vectors": vectors}, eigh_reference, ulps=1000.0, label=label
        )
        for label, shape, vectors in (
            ("vectors", (3, 3), True),
            ("stack", (2, 2, 2), True),
            ("values", (3, 3), False),
        )
    ),
    *(
        matrices(
            "eig",
            eig,
            (shape,),
            {"left": left, "right": right},
            eig_reference,
            ulps=2000.0,
            label=label,
        )
        for label, shape, left, right in (
            ("vectors", (3, 3), False, True),
            ("stack", (2, 2, 2), False, True),
            ("values", (3, 3), False, False),
            ("left", (3, 3), True, False),
            ("both", (2, 2, 2), True, True),
        )
    ),
    *(
        matrices(
            "svd",
            svd,
            (shape,),
            {"full_matrices": full, "compute_uv": True},
            svd_reference,
            ulps=1000.0,
            label=f"{label}_{'full' if full else 'thin'}",
        )
        for label, shape in SHAPES
        for full in (False, True)
    ),
    matrices(
        "svd",
        svd,
        ((3, 2),),
        {"full_matrices": True, "compute_uv": False},
        svd_reference,
        ulps=1000.0,
        label="values",
    ),
    *(
        matrices(
            "qr",
            qr,
            (shape,),
            {"full_matrices": full},
            qr_reference,
            ulps=1000.0,
            label=f"{label}_{'full' if full else 'thin'}",
        )
        for label, shape in SHAPES
        for full in (False, True)
    ),
)
