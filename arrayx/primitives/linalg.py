"""Factorisations of matrices and solutions of linear systems.

Every primitive works on the last two axes and takes any number of batch axes before them.
What cannot be computed is nan rather than an error, since a compiled program cannot raise.
"""

from __future__ import annotations

import math
from typing import Any

from arrayx import errors
from arrayx.config import config
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.arithmetic import add, mul, ne, neg, select, sub
from arrayx.primitives.axes import broadcast_in_dim, reshape, transpose
from arrayx.primitives.combined import stop_gradient
from arrayx.primitives.creation import iota, zero_literal
from arrayx.primitives.families import NonDifferentiable
from arrayx.primitives.matrices import (
    INDEX,
    absorbing_product,
    adjoint,
    check_matrices,
    conjugate,
    identity,
    is_complex,
    of_lower,
    rows_at,
    to_front,
    triangle,
    turned,
    with_diagonal,
)
from arrayx.primitives.reduction import reduce_or
from arrayx.primitives.slicing import cut, pad
from arrayx.primitives.sorting import sort


class Factorisation(Primitive):
    """Of the matrices in the last two axes of one operand; a batch axis goes to the front."""

    optional = True

    def flops(self, avals: tuple[Any, ...], results: tuple[Aval, ...], /, **params: Any) -> int:
        # Of this order for all of them; the constant is that of Gaussian elimination.
        *batch, m, n = avals[0].shape
        size: int = 2 * math.prod(batch) * max(m, n) * min(m, n) ** 2
        return size

    def vmap(self, size: int, args: Any, dims: Any, **params: Any) -> Any:
        result = self(*to_front(size, args, dims), **params)
        return result, ((0,) * len(result) if self.multiple else 0)


class Cholesky(Factorisation):
    """The lower triangular L with L·Lᴴ = A, for Hermitian positive definite A.

    Of A only the lower triangle is read.  Where A is not positive definite, L is nan.
    """

    name = "cholesky"

    def type_rule(self, x: Aval) -> Aval:
        return check_matrices(self.name, x, square=True)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        factor = self(x)
        # L⁻¹ dA L⁻ᴴ = L⁻¹ dL + (L⁻¹ dL)ᴴ, and L⁻¹ dL is lower triangular.
        right = derivative_right(factor, of_lower(dx), lower=True, transpose_a="adjoint")
        both = derivative_left(factor, right, lower=True)
        half = mul(triangle(both, lower=True), 0.5 + 0j if is_complex(both) else 0.5)
        inner = add(half, triangle(half, lower=True, strict=True))
        return factor, absorbing_product(factor, inner)


_TRANSPOSED = {"none": "transpose", "transpose": "none"}


class TriangularSolve(Primitive):
    """The X with op(A)·X = B (`left_side`) or X·op(A) = B, for triangular A.

    Of A the triangle named by `lower` is read, with ones as its diagonal where
    `unit_diagonal`.  `transpose_a` is "none", "transpose" or "adjoint".
    """

    name = "triangular_solve"
    optional = True

    def flops(self, avals: tuple[Any, ...], results: tuple[Aval, ...], /, **params: Any) -> int:
        return int(results[0].size) * int(avals[0].shape[-1])

    def type_rule(
        self,
        a: Aval,
        b: Aval,
        *,
        left_side: bool,
        lower: bool,
        transpose_a: str,
        unit_diagonal: bool,
    ) -> Aval:
        check_matrices(self.name, a, square=True)
        check_matrices(self.name, b)
        axis = -2 if left_side else -1
        if a.shape[:-2] != b.shape[:-2] or a.shape[-1] != b.shape[axis] or a.dtype != b.dtype:
            raise errors.ShapeError(
                f"{self.name}: {a} does not fit {b}: they need equal dtypes, equal batch axes, and "
                f"as many rows in a as there are in axis {axis} of b"
            )
        if transpose_a not in ("none", "transpose", "adjoint"):
            raise errors.ArgumentError(
                f"{self.name}: transpose_a is 'none', 'transpose' or 'adjoint', got {transpose_a!r}"
            )
        return b.strong()

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        (a, b), (da, db) = primals, tangents
        result = self(a, b, **params)
        right: Any = db
        if da is not Zero:
            change = triangle(da, lower=params["lower"], strict=params["unit_diagonal"])
            if params["transpose_a"] != "none":
                change = turned(change) if params["transpose_a"] == "transpose" else adjoint(change)
            moved = (
                absorbing_product(change, result)
                if params["left_side"]
                else absorbing_product(result, change)
            )
            right = neg(moved) if db is Zero else sub(db, moved)
        return result, Zero if right is Zero else derivative_of(self)(a, right, **params)

    def transpose(self, ct: Any, a: Any, b: Any, *, transpose_a: str, **params: Any) -> Any:
        if transpose_a == "adjoint":
            return None, self(conjugate(a), ct, transpose_a="none", **params)
        return None, self(a, ct, transpose_a=_TRANSPOSED[transpose_a], **params)

    def vmap(self, size: int, args: Any, dims: Any, **params: Any) -> Any:
        (a, b), (i, j) = args, dims
        if i is None:
            return shared(lambda x: self(a, x, **params), size, b, j, params["left_side"])
        return self(*to_front(size, args, dims), **params), 0


def shared(solve: Any, size: int, b: Any, d: int, left_side: bool = True) -> tuple[Any, int]:
    """A solution for a batch of right-hand sides of one matrix: they are further columns."""
    n = b.aval.ndim - 1  # without the batch axis
    at = n - 1 if left_side else n - 2
    perm = [i for i in range(n + 1) if i != d]
    perm.insert(at, d)
    moved = transpose(b, perm=tuple(perm))
    shape = moved.aval.shape
    wide = reshape(moved, shape=(*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :]))
    return reshape(solve(wide), shape=shape), at


class LU(Factorisation):
    """P·A = L·U with rows exchanged so that the pivots are large: (LU, pivots).

    LU has U in its upper triangle and L, whose diagonal is 1, below it.  In step i, row i was
    exchanged with row `pivots[i]`, an int32 that counts from 0.  A may have any shape.
    """

    name = "lu"
    multiple = True

    def type_rule(self, x: Aval) -> tuple[Aval, Aval]:
        x = check_matrices(self.name, x)
        steps = min(x.shape[-2:])
        return x, x.update(shape=(*x.shape[:-2], steps), dtype=INDEX)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        factors, pivots = self(x)
        m, n = x.aval.shape[-2:]
        k = min(m, n)
        order = permutation_of_pivots(pivots, size=m)
        # Both factors made square, with parts of the identity.
        lower = square(triangle(cut(factors, x.aval.ndim - 1, 0, k), lower=True, strict=True), m)
        lower = with_diagonal(lower, 1.0 + 0j if is_complex(x) else 1.0)
        upper = square(triangle(cut(factors, x.aval.ndim - 2, 0, k), lower=False), n)
        if n > k:
            tail = identity((*x.aval.shape[:-2], n - k, n - k), x.aval.dtype)
            none = (0,) * x.aval.ndim
            corner = (*none[2:], k, k)
            zero = zero_literal(x.aval.dtype)
            upper = add(upper, pad(tail, zero, low=corner, high=none, interior=none))
        inner = derivative_left(lower, rows_at(dx, order), lower=True, unit_diagonal=True)
        inner = derivative_right(upper, inner, lower=False)
        below = triangle(inner, lower=True, strict=True)
        above = triangle(inner, lower=False)
        return (factors, pivots), (
            add(absorbing_product(lower, below), absorbing_product(above, upper)),
            Zero,
        )


def square(x: Any, n: int) -> Any:
    """The matrices made n by n with zeros behind."""
    rows, columns = x.aval.shape[-2:]
    if (rows, columns) == (n, n):
        return x
    none = (0,) * (x.aval.ndim - 2)
    high = (*none, n - rows, n - columns)
    low = (*none, 0, 0)
    return pad(x, zero_literal(x.aval.dtype), low=low, high=high, interior=low)


class PermutationOfPivots(NonDifferentiable):
    """The order of `size` rows after the exchanges of an LU factorisation."""

    name = "permutation_of_pivots"
    optional = True

    def type_rule(self, pivots: Aval, *, size: int) -> Aval:
        if pivots.ndim < 1 or pivots.dtype != INDEX or pivots.shape[-1] > size:
            raise errors.ShapeError(
                f"{self.name} needs int32 vectors of at most {size} pivots, got {pivots}"
            )
        return pivots.update(shape=(*pivots.shape[:-1], size))

    def vmap(self, size_: int, args: Any, dims: Any, *, size: int) -> Any:
        return self(*to_front(size_, args, dims), size=size), 0


class LinearSolve(Primitive):
    """The X with A·X = B, or Aᵀ·X = B where `transpose_a`, for square A.

    The factors of A are handed along as `lu` and `pivots`; the derivative goes through A
    itself, by dX = A⁻¹(dB − dA·X), so that nothing is differentiated that was not asked for.
    Whoever applies this makes them from `stop_gradient(a)`.
    """

    name = "linear_solve"

    def type_rule(self, a: Aval, lu: Aval, pivots: Aval, b: Aval, *, transpose_a: bool) -> Aval:
        check_matrices(self.name, a, square=True)
        check_matrices(self.name, b)
        if a.shape[:-1] != b.shape[:-1] or a.dtype != b.dtype:
            raise errors.ShapeError(
                f"{self.name}: {a} does not fit {b}: they need equal dtypes, batches and rows"
            )
        return b.strong()

    def jvp(self, primals: Any, tangents: Any, *, transpose_a: bool) -> Any:
        (a, lu, pivots, b), (da, _, _, db) = primals, tangents
        result = self(a, lu, pivots, b, transpose_a=transpose_a)
        right: Any = db
        if da is not Zero:
            moved = absorbing_product(turned(da) if transpose_a else da, result)
            right = neg(moved) if db is Zero else sub(db, moved)
        if right is Zero:
            return result, Zero
        return result, derivative_of(self)(a, lu, pivots, right, transpose_a=transpose_a)

    def transpose(self, ct: Any, a: Any, lu: Any, pivots: Any, b: Any, *, transpose_a: bool) -> Any:
        return None, None, None, self(a, lu, pivots, ct, transpose_a=not transpose_a)

    def vmap(self, size: int, args: Any, dims: Any, *, transpose_a: bool) -> Any:
        if all(d is None for d in dims[:3]):
            a, lu, pivots, b = args
            return shared(
                lambda x: self(a, lu, pivots, x, transpose_a=transpose_a), size, b, dims[3]
            )
        return self(*to_front(size, args, dims), transpose_a=transpose_a), 0

    def expand(self, a: Any, lu: Any, pivots: Any, b: Any, *, transpose_a: bool) -> Any:
        return solve_by_factors(lu, pivots, b, transpose_a)


def absorbed(right: Any, found: Any, axis: int) -> Any:
    """A solution, but 0 where the right-hand side is all zeros along `axis`."""
    zero = zero_literal(right.aval.dtype)
    some = reduce_or(ne(right, zero), axes=(axis,))
    dims = tuple(i for i in range(right.aval.ndim) if i != axis)
    return select(broadcast_in_dim(some, shape=found.aval.shape, dims=dims), found, zero)


class AbsorbTriangularSolve(TriangularSolve):
    """`triangular_solve` where a right-hand side of zeros has the solution 0 for every A.

    Derivatives are made of it: a cotangent of 0 stays 0 where A is singular.
    """

    name = "absorb_triangular_solve"

    def expand(self, a: Any, b: Any, *, left_side: bool, **params: Any) -> Any:
        found = triangular_solve(a, b, left_side=left_side, **params)
        return absorbed(b, found, b.aval.ndim - (2 if left_side else 1))


class AbsorbLinearSolve(LinearSolve):
    """`linear_solve` where a right-hand side of zeros has the solution 0 for every A."""

    name = "absorb_linear_solve"

    def expand(self, a: Any, lu: Any, pivots: Any, b: Any, *, transpose_a: bool) -> Any:
        found = linear_solve(a, lu, pivots, b, transpose_a=transpose_a)
        return absorbed(b, found, b.aval.ndim - 2)


cholesky = Cholesky()
triangular_solve = TriangularSolve()
absorb_triangular_solve = AbsorbTriangularSolve()
lu = LU()
permutation_of_pivots = PermutationOfPivots()
linear_solve = LinearSolve()
absorb_linear_solve = AbsorbLinearSolve()
# The forms of solvers in which zeros absorb.
ABSORBING: dict[Primitive, Primitive] = {
    triangular_solve: absorb_triangular_solve,
    linear_solve: absorb_linear_solve,
}


def derivative_of(solver: Any) -> Any:
    """The form of a solver that derivatives are made of: zeros absorb, unless the user says no."""
    if not config.snapshot().zeros_absorb:
        return solver
    return ABSORBING.get(solver, solver)


def solve_left(
    a: Any, b: Any, *, lower: bool, transpose_a: str = "none", unit_diagonal: bool = False
) -> Any:
    """The X with op(A)·X = B for triangular A."""
    return triangular_solve(
        a, b, left_side=True, lower=lower, transpose_a=transpose_a, unit_diagonal=unit_diagonal
    )


def solve_right(a: Any, b: Any, *, lower: bool, transpose_a: str = "none") -> Any:
    """The X with X·op(A) = B for triangular A."""
    return triangular_solve(
        a, b, left_side=False, lower=lower, transpose_a=transpose_a, unit_diagonal=False
    )


def derivative_left(
    a: Any, b: Any, *, lower: bool, transpose_a: str = "none", unit_diagonal: bool = False
) -> Any:
    """`solve_left` for derivatives."""
    return derivative_of(triangular_solve)(
        a, b, left_side=True, lower=lower, transpose_a=transpose_a, unit_diagonal=unit_diagonal
    )


def derivative_right(a: Any, b: Any, *, lower: bool, transpose_a: str = "none") -> Any:
    """`solve_right` for derivatives."""
    return derivative_of(triangular_solve)(
        a, b, left_side=False, lower=lower, transpose_a=transpose_a, unit_diagonal=False
    )


def derivative_solve(a: Any, b: Any) -> Any:
    """`solve` for derivatives."""
    factors, pivots = lu(stop_gradient(a))
    return derivative_of(linear_solve)(a, factors, pivots, b, transpose_a=False)


def solve_by_factors(factors: Any, pivots: Any, b: Any, transpose_a: bool) -> Any:
    """The X with A·X = B, or Aᵀ·X = B, as a function of A's factors."""
    n = factors.aval.shape[-1]
    order = permutation_of_pivots(pivots, size=n)
    if not transpose_a:
        y = solve_left(factors, rows_at(b, order), lower=True, unit_diagonal=True)
        return solve_left(factors, y, lower=False)
    y = solve_left(factors, b, lower=False, transpose_a="transpose")
    z = solve_left(factors, y, lower=True, transpose_a="transpose", unit_diagonal=True)
    axis = order.aval.ndim - 1
    places = iota(shape=order.aval.shape, dtype=INDEX, axis=axis)
    _, back = sort(order, places, axis=axis, num_keys=1)
    return rows_at(z, back)


def solve(a: Any, b: Any) -> Any:
    """The X with A·X = B for square A and matrices B of an equal batch."""
    factors, pivots = lu(stop_gradient(a))
    return linear_solve(a, factors, pivots, b, transpose_a=False)
