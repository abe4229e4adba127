"""The unitary factor of a matrix, whose derivative does not go through singular vectors."""

from __future__ import annotations

from typing import Any

from arrayx import errors
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.primitives.arithmetic import add, mul, ne, neg, select, sub
from arrayx.primitives.axes import broadcast_in_dim
from arrayx.primitives.creation import zero_literal
from arrayx.primitives.families import is_linear
from arrayx.primitives.gather import as_dtype
from arrayx.primitives.linalg import Factorisation, derivative_solve
from arrayx.primitives.matrices import (
    absorbing_product,
    adjoint,
    check_matrices,
    conjugate,
    of_lower,
    product,
)
from arrayx.primitives.reduction import reduce_or
from arrayx.primitives.spectral import eigh, gaps, negligible, reciprocal_or_zero, svd


class Lyapunov(Factorisation):
    """The X with H·X + X·H = C for Hermitian H, of which the lower triangle is read.

    What lies where two eigenvalues add up to 0 is left out of X; for C of zeros X is 0.
    """

    name = "lyapunov"

    def type_rule(self, h: Aval, c: Aval) -> Aval:
        check_matrices(self.name, h, square=True)
        if h.shape != c.shape or h.dtype != c.dtype:
            raise errors.ShapeError(f"{self.name}: {h} and {c} differ in shape or dtype")
        return c.update(weak_type=False, varying=h.varying | c.varying)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (h, c), (dh, right) = primals, tangents
        x = self(h, c)
        if dh is not Zero:
            dh = of_lower(dh)
            moved = add(absorbing_product(dh, x), absorbing_product(x, dh))
            right = neg(moved) if right is Zero else sub(right, moved)
        return x, Zero if right is Zero else self(h, right)

    def transpose(self, ct: Any, h: Any, c: Any) -> Any:
        assert is_linear(c)
        return None, self(conjugate(h), ct)

    def expand(self, h: Any, c: Any) -> Any:
        values, v = eigh(h, vectors=True)
        column, row = gaps(values)
        total = add(column, row)
        factor = reciprocal_or_zero(total, negligible(total, values))
        inner = product(product(adjoint(v), c), v)
        x = product(product(v, mul(inner, as_dtype(factor, inner.aval.dtype))), adjoint(v))
        n, zero = c.aval.ndim, zero_literal(c.aval.dtype)
        some = reduce_or(ne(c, zero), axes=(n - 2, n - 1))
        return select(broadcast_in_dim(some, shape=c.aval.shape, dims=tuple(range(n - 2))), x, zero)


class PolarFactor(Factorisation):
    """The U of A = U·H, with orthonormal columns (or rows) and H positive semidefinite.

    The derivative is that at full rank.
    """

    name = "polar_factor"

    def type_rule(self, x: Aval) -> Aval:
        return check_matrices(self.name, x)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        m, n = x.aval.shape[-2:]
        u = self(x)
        if m < n:
            return u, adjoint(moved_factor(adjoint(u), adjoint(x), adjoint(dx)))
        return u, moved_factor(u, x, dx)

    def expand(self, x: Any) -> Any:
        u, _, vh = svd(x, full_matrices=False, compute_uv=True)
        return product(u, vh)


def moved_factor(u: Any, x: Any, dx: Any) -> Any:
    """The tangent of U, for matrices with no fewer rows than columns."""
    h = absorbing_product(adjoint(u), x)
    h = mul(add(h, adjoint(h)), 0.5 * type(zero_literal(h.aval.dtype))(1))
    inside = absorbing_product(adjoint(u), dx)
    # Uᴴ·dU is skew-Hermitian, and Uᴴ·dA - dAᴴ·U is its sum of products with H from both sides.
    du = absorbing_product(u, lyapunov(h, sub(inside, adjoint(inside))))
    if x.aval.shape[-2] == x.aval.shape[-1]:
        return du
    outside = sub(dx, absorbing_product(u, inside))
    return add(du, adjoint(derivative_solve(h, adjoint(outside))))


lyapunov = Lyapunov()
polar_factor = PolarFactor()
