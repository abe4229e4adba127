"""The Schur form: a triangular matrix that any square matrix is unitarily similar to."""

from __future__ import annotations

from typing import Any

from arrayx import errors
from arrayx.core.aval import Aval
from arrayx.primitives.arithmetic import select, sub
from arrayx.primitives.families import scaled
from arrayx.primitives.linalg import Factorisation
from arrayx.primitives.matrices import (
    absorbing_product,
    adjoint,
    check_matrices,
    diagonal,
    is_complex,
    triangle,
)
from arrayx.primitives.numeric import div
from arrayx.primitives.spectral import gaps, negligible


class Schur(Factorisation):
    """A = Q·T·Qᴴ with unitary Q: (T, Q).  Without `vectors` the result is (T,).

    T is upper triangular for complex A.  For real A it is real, with blocks of two rows on the
    diagonal for pairs of conjugate eigenvalues, and has no derivative.  That of a complex one
    does not turn the phases of Q, nor the vectors of equal eigenvalues.
    """

    name = "schur"
    multiple = True

    def type_rule(self, x: Aval, *, vectors: bool) -> tuple[Aval, ...]:
        x = check_matrices(self.name, x, square=True)
        return (x, x) if vectors else (x,)

    def jvp(self, primals: Any, tangents: Any, *, vectors: bool) -> Any:
        (x,), (dx,) = primals, tangents
        if not is_complex(x):
            raise errors.GradError(
                "schur of a real matrix has no derivative, since its blocks come and go: make "
                "the matrix complex first"
            )
        t, q = self(x, vectors=True)
        whole = absorbing_product(absorbing_product(adjoint(q), dx), q)
        values = diagonal(t)
        column, row = gaps(values)
        apart = sub(column, row)
        none = negligible(apart, values)
        factor = select(none, 0j, div(1.0 + 0j, select(none, 1.0 + 0j, apart)))
        # Below the diagonal L·T - T·L is that of Qᴴ·dA·Q, for L = Qᴴ·dQ there.  An element of L
        # depends on those that are further from the diagonal, so it is right after n - 1 rounds.
        above = triangle(t, lower=False, strict=True)
        below = triangle(whole, lower=True, strict=True)
        turning = scaled(below, factor)
        for _ in range(x.aval.shape[-1] - 2):
            more = commutator(turning, above)
            turning = scaled(sub(below, triangle(more, lower=True, strict=True)), factor)
        skew = sub(turning, adjoint(turning))
        dt = triangle(sub(whole, commutator(skew, t)), lower=False)
        if not vectors:
            return (t,), (dt,)
        return (t, q), (dt, absorbing_product(q, skew))


def commutator(x: Any, y: Any) -> Any:
    """X·Y - Y·X."""
    return sub(absorbing_product(x, y), absorbing_product(y, x))


schur = Schur()
