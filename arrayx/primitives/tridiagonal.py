"""Linear systems whose matrix has three diagonals."""

from __future__ import annotations

from typing import Any

from arrayx import errors
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.arithmetic import eq, neg, select, sub
from arrayx.primitives.creation import zero_literal
from arrayx.primitives.families import add_tangents, is_linear, scaled
from arrayx.primitives.linalg import ABSORBING, absorbed, derivative_of, shared, solve
from arrayx.primitives.matrices import (
    along_rows,
    check_matrices,
    counts,
    to_front,
)
from arrayx.primitives.slicing import cut, padded


class TridiagonalSolve(Primitive):
    """The X with A·X = B, where A[i, i-1] = dl[i], A[i, i] = d[i] and A[i, i+1] = du[i].

    The first element of `dl` and the last of `du` lie outside of A and are not read.
    """

    name = "tridiagonal_solve"

    def type_rule(self, dl: Aval, d: Aval, du: Aval, b: Aval) -> Aval:
        check_matrices(self.name, b)
        for x in (dl, d, du):
            if x.shape != b.shape[:-1] or x.dtype != b.dtype:
                raise errors.ShapeError(
                    f"{self.name}: the diagonals {dl}, {d} and {du} do not fit {b}: they need its "
                    "dtype, its batch axes, and an element for each of its rows"
                )
        return b.update(weak_type=False, varying=b.varying | dl.varying | d.varying | du.varying)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (dl, d, du, b), (tl, t, tu, right) = primals, tangents
        result = self(dl, d, du, b)
        moved = times(tl, t, tu, result)
        if moved is not Zero:
            right = neg(moved) if right is Zero else sub(right, moved)
        if right is Zero:
            return result, Zero
        return result, derivative_of(self)(dl, d, du, right)

    def transpose(self, ct: Any, dl: Any, d: Any, du: Any, b: Any) -> Any:
        assert is_linear(b)
        axis = d.aval.ndim - 1
        below, above = shifted(du, axis, 1), shifted(dl, axis, -1)
        return None, None, None, self(below, d, above, ct)

    def vmap(self, size: int, args: Any, dims: Any) -> Any:
        if all(i is None for i in dims[:3]):
            dl, d, du, b = args
            return shared(lambda x: self(dl, d, du, x), size, b, dims[3])
        return self(*to_front(size, args, dims)), 0

    def expand(self, dl: Any, d: Any, du: Any, b: Any) -> Any:
        return solve(dense(dl, d, du), b)


class AbsorbTridiagonalSolve(TridiagonalSolve):
    """`tridiagonal_solve` where a right-hand side of zeros has the solution 0 for every A."""

    name = "absorb_tridiagonal_solve"

    def expand(self, dl: Any, d: Any, du: Any, b: Any) -> Any:
        return absorbed(b, tridiagonal_solve(dl, d, du, b), b.aval.ndim - 2)


def shifted(x: Any, axis: int, by: int) -> Any:
    """Elements moved one place up or down an axis, with a 0 in place of the missing one."""
    n = x.aval.shape[axis]
    zero = zero_literal(x.aval.dtype)
    if not n:
        return x
    if by > 0:
        return padded(cut(x, axis, 0, n - 1), axis, 1, 0, zero)
    return padded(cut(x, axis, 1, n), axis, 0, 1, zero)


def times(dl: Any, d: Any, du: Any, x: Any) -> Any:
    """The product of a matrix of three diagonals with `x`; diagonals may be `Zero`."""
    total: Any = Zero
    for diagonal, by in ((dl, 1), (d, 0), (du, -1)):
        if diagonal is not Zero:
            rows = shifted(x, x.aval.ndim - 2, by) if by else x
            total = add_tangents(total, scaled(along_rows(diagonal, x.aval.shape), rows))
    return total


def dense(dl: Any, d: Any, du: Any) -> Any:
    """The matrix with these three diagonals."""
    n = d.aval.shape[-1]
    shape = (*d.aval.shape, n)
    rows, columns = counts(shape)
    zero = zero_literal(d.aval.dtype)
    apart = sub(columns, rows)
    result = select(eq(apart, 0), along_rows(d, shape), zero)
    result = select(eq(apart, -1), along_rows(dl, shape), result)
    return select(eq(apart, 1), along_rows(du, shape), result)


tridiagonal_solve = TridiagonalSolve()
absorb_tridiagonal_solve = AbsorbTridiagonalSolve()
ABSORBING[tridiagonal_solve] = absorb_tridiagonal_solve
