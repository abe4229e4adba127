"""The pseudoinverse, whose derivative does not go through singular vectors."""

from __future__ import annotations

from typing import Any

from arrayx import errors
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.primitives.arithmetic import add, gt, mul, neg, sub
from arrayx.primitives.axes import broadcast_in_dim, reshape
from arrayx.primitives.bitwise import bitwise_not
from arrayx.primitives.linalg import Factorisation
from arrayx.primitives.matrices import absorbing_product, adjoint, check_matrices, product
from arrayx.primitives.slicing import cut
from arrayx.primitives.spectral import reciprocal_or_zero, scaled_by, svd


class Pinv(Factorisation):
    """The pseudoinverse of A: singular values up to `rtol` times the largest count as 0.

    `rtol` is a real number for each matrix.  The derivative is that at constant rank, by
    Golub and Pereyra; where singular values are equal it is right as well.
    """

    name = "pinv"

    def type_rule(self, x: Aval, rtol: Aval) -> Aval:
        x = check_matrices(self.name, x)
        *batch, m, n = x.shape
        if rtol.shape != tuple(batch):
            raise errors.ShapeError(f"{self.name}: rtol {rtol} has not the batch axes of {x}")
        return x.update(shape=(*batch, n, m))

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x, rtol), (dx, _) = primals, tangents
        p = self(x, rtol)
        if dx is Zero:
            return p, Zero
        ph, dxh = adjoint(p), adjoint(dx)
        # What dA does outside of the spaces that A maps from and to.
        outside = absorbing_product(
            absorbing_product(p, ph), sub(dxh, absorbing_product(absorbing_product(dxh, x), p))
        )
        inside = absorbing_product(
            sub(dxh, absorbing_product(p, absorbing_product(x, dxh))), absorbing_product(ph, p)
        )
        return p, add(add(outside, inside), neg(absorbing_product(absorbing_product(p, dx), p)))

    def expand(self, x: Any, rtol: Any) -> Any:
        u, s, vh = svd(x, full_matrices=False, compute_uv=True)
        shape = s.aval.shape
        if not shape[-1]:
            return product(adjoint(vh), adjoint(u))
        axis = s.aval.ndim - 1
        largest = reshape(cut(s, axis, 0, 1), shape=shape[:-1])
        lead = tuple(range(axis))
        bound = broadcast_in_dim(mul(largest, rtol), shape=shape, dims=lead)
        inverse = reciprocal_or_zero(s, bitwise_not(gt(s, bound)))
        return product(scaled_by(adjoint(vh), inverse), adjoint(u))


pinv = Pinv()
