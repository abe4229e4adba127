"""The exponential and the square root of matrices, with derivatives to every order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.control.counted_loop import counted_loop
from arrayx.control.sylvester import (
    column_at,
    entry_at,
    sylvester,
    with_column,
    zero_if_zero,
)
from arrayx.control.while_loop import while_loop
from arrayx.core.aval import Aval
from arrayx.core.graph import Graph
from arrayx.core.linear import Zero
from arrayx.primitives.arithmetic import add, eq, gt, lt, mul, ne, select, sub
from arrayx.primitives.axes import broadcast_in_dim, reduce_sum
from arrayx.primitives.bitwise import bitwise_and, bitwise_or, shift_left
from arrayx.primitives.conversion import convert
from arrayx.primitives.creation import fill, iota, zero_literal
from arrayx.primitives.exponential import log, sqrt
from arrayx.primitives.families import add_tangents, is_linear
from arrayx.primitives.gather import as_dtype
from arrayx.primitives.linalg import Factorisation, solve, solve_left
from arrayx.primitives.matrices import (
    adjoint,
    along_matrices,
    check_matrices,
    identity,
    on_diagonal,
    product,
    turned,
)
from arrayx.primitives.numeric import abs as absolute
from arrayx.primitives.numeric import ceil, clamp, div, is_finite
from arrayx.primitives.reduction import reduce_and, reduce_max
from arrayx.primitives.schur import schur
from arrayx.primitives.slicing import concatenate, cut
from arrayx.transforms.stage import derive

INT = np.dtype(np.int32)
# The Padé approximant of degree 13 is exact to 2⁻⁵³ for matrices of this 1-norm (Higham 2005).
LARGEST_NORM = 5.371920351148152
PADE = tuple(
    math.factorial(26 - k)
    * math.factorial(13)
    / (math.factorial(26) * math.factorial(k) * math.factorial(13 - k))
    for k in range(14)
)


class Expm(Factorisation):
    """The exponential of square matrices, by scaling and squaring.

    It is nan for matrices that would have to be squared more than `max_squarings` times.
    """

    name = "expm"

    def type_rule(self, x: Aval, *, max_squarings: int) -> Aval:
        return check_matrices(self.name, x, square=True)

    def jvp(self, primals: Any, tangents: Any, *, max_squarings: int) -> Any:
        (x,), (dx,) = primals, tangents
        result = self(x, max_squarings=max_squarings)
        return result, expm_frechet(x, dx, max_squarings=max_squarings)

    def expand(self, x: Any, *, max_squarings: int) -> Any:
        if not x.aval.size:
            return x
        n, shape = x.aval.ndim, x.aval.shape
        norm = reduce_max(reduce_sum(absolute(x), axes=(n - 2,)), axes=(n - 2,))
        # What is not finite stays so without a power of 2.
        regular = select(is_finite(norm), norm, 1.0)
        doublings = ceil(mul(log(div(regular, LARGEST_NORM)), 1.0 / math.log(2.0)))
        doublings = clamp(0.0, doublings, float(min(max_squarings, 29) + 1))
        times = convert(doublings, dtype=INT, weak_type=False)
        lead = tuple(range(n - 2))
        power = convert(
            shift_left(fill_like(times, 1), times), dtype=norm.aval.dtype, weak_type=False
        )
        scale = broadcast_in_dim(div(1.0, power), shape=shape, dims=lead)
        found = pade(mul(x, as_dtype(scale, x.aval.dtype)))
        most = reduce_max(times, axes=lead)
        start = (fill((), INT, 0), most, times, found)
        test, step = squaring_graphs(tuple(a.aval.strong() for a in start))
        *_, found = while_loop(*start, cond=test, body=step, n_cond=0, n_body=0)
        over = gt(times, max_squarings)
        spread = broadcast_in_dim(over, shape=shape, dims=lead)
        nan = complex("nan") if dtypes.is_complex(x.aval.dtype) else math.nan
        return select(spread, nan, found)


@lru_cache(maxsize=64)
def squaring_graphs(avals: tuple[Aval, ...]) -> tuple[Graph, Graph]:
    """A loop that squares each matrix as often as it was halved."""

    def test(done: Any, most: Any, times: Any, x: Any) -> list[Any]:
        return [lt(done, most)]

    def step(done: Any, most: Any, times: Any, x: Any) -> list[Any]:
        more = gt(times, broadcast_in_dim(done, shape=times.aval.shape, dims=()))
        spread = broadcast_in_dim(more, shape=x.aval.shape, dims=tuple(range(x.aval.ndim - 2)))
        return [add(done, 1), most, times, select(spread, product(x, x), x)]

    return derive(test, avals), derive(step, avals)


def pade(x: Any) -> Any:
    """The approximant of degree 13 of the exponential."""
    one = identity(x.aval.shape, x.aval.dtype)
    x2 = product(x, x)
    x4 = product(x2, x2)
    x6 = product(x4, x2)
    powers = (one, x2, x4, x6)

    def combined(first: int) -> Any:
        """A sum of every other coefficient, with the powers of x²."""
        low = terms(PADE[first : first + 7 : 2], powers)
        high = terms(PADE[first + 8 :: 2], powers[1:])
        return add(low, product(x6, high))

    odd, even = product(x, combined(1)), combined(0)
    return solve(sub(even, odd), add(even, odd))


def terms(coefficients: Sequence[float], powers: Sequence[Any]) -> Any:
    """The sum of the powers, each times its coefficient."""
    kind = type(zero_literal(powers[0].aval.dtype))
    total = mul(powers[0], kind(coefficients[0]))
    for coefficient, power in zip(coefficients[1:], powers[1:], strict=False):
        total = add(total, mul(power, kind(coefficient)))
    return total


class ExpmFrechet(Factorisation):
    """The derivative of the exponential at A in the direction E, linear in E.

    It is a block of the exponential of [[A, E], [0, A]] (Mathias 1996), and 0 for E of zeros,
    whatever A is.
    """

    name = "expm_frechet"

    def type_rule(self, a: Aval, e: Aval, *, max_squarings: int) -> Aval:
        check_matrices(self.name, a, square=True)
        if a.shape != e.shape or a.dtype != e.dtype:
            raise errors.ShapeError(f"{self.name}: {a} and {e} differ in shape or dtype")
        return a.update(weak_type=False, varying=a.varying | e.varying)

    def jvp(self, primals: Any, tangents: Any, *, max_squarings: int) -> Any:
        (a, e), (da, de) = primals, tangents
        result = self(a, e, max_squarings=max_squarings)
        by_e = Zero if de is Zero else self(a, de, max_squarings=max_squarings)
        by_a: Any = Zero
        if da is not Zero:
            none = fill(a.aval.shape, a.aval.dtype, zero_literal(a.aval.dtype))
            both = self(blocks(a, e, a), blocks(da, none, da), max_squarings=max_squarings)
            by_a = corner(both)
            # It is linear in E too: zeros absorb what is not finite.
            n = a.aval.ndim
            value = expm(a, max_squarings=max_squarings)
            known = reduce_and(is_finite(absolute(value)), axes=(n - 2, n - 1))
            some = bitwise_or(
                ne(zero_if_zero(e, fill_like(e, 1)), zero_literal(e.aval.dtype)),
                along_matrices(known, e.aval.shape),
            )
            by_a = select(some, by_a, zero_literal(e.aval.dtype))
        return result, add_tangents(by_e, by_a)

    def transpose(self, ct: Any, a: Any, e: Any, *, max_squarings: int) -> Any:
        assert is_linear(e)
        return None, self(turned(a), ct, max_squarings=max_squarings)

    def expand(self, a: Any, e: Any, *, max_squarings: int) -> Any:
        whole = expm(blocks(a, e, a), max_squarings=max_squarings)
        return zero_if_zero(e, corner(whole))


def fill_like(x: Any, value: Any) -> Any:
    """One number in the type of `x`."""
    return fill(x.aval.shape, x.aval.dtype, type(zero_literal(x.aval.dtype))(value))


def blocks(a: Any, b: Any, c: Any) -> Any:
    """[[A, B], [0, C]]."""
    n = a.aval.ndim
    zeros = fill(a.aval.shape, a.aval.dtype, zero_literal(a.aval.dtype))
    upper = concatenate(a, b, axis=n - 1)
    return concatenate(upper, concatenate(zeros, c, axis=n - 1), axis=n - 2)


def corner(x: Any) -> Any:
    """The upper right quarter."""
    n, axis = x.aval.shape[-1] // 2, x.aval.ndim - 1
    return cut(cut(x, axis - 1, 0, n), axis, n, 2 * n)


class SquareRoot(Factorisation):
    """The complex X with X·X = A and eigenvalues whose real parts are not negative.

    It is computed from the Schur form (Björck, Hammarling 1983).  Where none exists it is nan.
    """

    name = "square_root_of_matrix"

    def type_rule(self, x: Aval) -> Aval:
        x = check_matrices(self.name, x, square=True)
        return x.update(dtype=dtypes.complex_dtype(x.dtype))

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        root = self(x)
        return root, sylvester(root, root, as_dtype(dx, root.aval.dtype))

    def expand(self, x: Any) -> Any:
        dtype = dtypes.complex_dtype(x.aval.dtype)
        t, q = schur(as_dtype(x, dtype), vectors=True)
        if not x.aval.size:
            return t
        zeros = fill(t.aval.shape, dtype, 0j)
        (root,) = counted_loop(root_column, (t,), (zeros,), t.aval.shape[-1])
        return product(product(q, root), adjoint(q))


def root_column(
    index: Any, shared: Sequence[Any], carry: Sequence[Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """One column of the root R of an upper triangular T, those before it known."""
    (t,), (r,) = shared, carry
    column = column_at(t, index)
    own = sqrt(entry_at(column, index))
    rows = iota(shape=column.aval.shape, dtype=INT, axis=column.aval.ndim - 2)
    number = broadcast_in_dim(
        convert(index, dtype=INT, weak_type=False), shape=column.aval.shape, dims=()
    )
    before = lt(rows, number)
    # (R + r·I)·x = t above the diagonal; rows that are not known yet have the equation x = 0.
    shape, lead = t.aval.shape, tuple(range(t.aval.ndim))
    spread = broadcast_in_dim(own, shape=shape, dims=lead)
    known = broadcast_in_dim(before, shape=shape, dims=lead)
    middle = select(known, add(r, spread), 1.0 + 0j)
    none = bitwise_and(on_diagonal(shape), eq(middle, 0j))
    matrix = select(none, 1.0 + 0j, select(on_diagonal(shape), middle, r))
    found = solve_left(matrix, select(before, column, 0j), lower=False)
    # Where two eigenvalues are 0 the equation says 0 = t, and leaves x open.
    singular = reduce_sum(select(none, fill(shape, INT, 1), 0), axes=(t.aval.ndim - 1,))
    singular = broadcast_in_dim(singular, shape=column.aval.shape, dims=lead[:-1])
    wrong = bitwise_and(ne(singular, 0), ne(found, 0j))
    found = select(wrong, complex("nan"), found)
    whole = broadcast_in_dim(own, shape=column.aval.shape, dims=lead)
    return (with_column(r, select(eq(rows, number), whole, found), index),), ()


expm = Expm()
expm_frechet = ExpmFrechet()
square_root_of_matrix = SquareRoot()
