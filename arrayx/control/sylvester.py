"""The Sylvester equation, whose solution goes through the columns of a triangular matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayx import dtypes, errors
from arrayx.control.counted_loop import counted_loop
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.primitives.arithmetic import add, ne, neg, select, sub
from arrayx.primitives.axes import broadcast_in_dim
from arrayx.primitives.complex import real
from arrayx.primitives.creation import fill, zero_literal
from arrayx.primitives.families import add_tangents, is_linear
from arrayx.primitives.gather import as_dtype
from arrayx.primitives.linalg import Factorisation, solve_left
from arrayx.primitives.matrices import (
    absorbing_product,
    adjoint,
    check_matrices,
    is_complex,
    on_diagonal,
    product,
    turned,
)
from arrayx.primitives.reduction import reduce_or
from arrayx.primitives.schur import schur
from arrayx.primitives.slicing import dynamic_slice, dynamic_update_slice


class Sylvester(Factorisation):
    """The X with A·X + X·B = C, by the Schur forms of A and B (Bartels, Stewart 1972).

    Where an eigenvalue of A is the negative of one of B there is none: inf, nan, or large.  For C
    of zeros the solution is 0, whatever A and B are.
    """

    name = "sylvester"

    def type_rule(self, a: Aval, b: Aval, c: Aval) -> Aval:
        for x in (a, b):
            check_matrices(self.name, x, square=True)
        check_matrices(self.name, c)
        fits = c.shape == (*a.shape[:-1], b.shape[-1]) and a.shape[:-2] == b.shape[:-2]
        if not fits or not a.dtype == b.dtype == c.dtype:
            raise errors.ShapeError(
                f"{self.name}: {a} and {b} do not fit {c}: they need equal dtypes and batch axes, "
                "and as many rows as c has rows and columns"
            )
        return c.update(weak_type=False, varying=a.varying | b.varying | c.varying)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (a, b, c), (da, db, right) = primals, tangents
        x = self(a, b, c)
        moved = add_tangents(
            Zero if da is Zero else absorbing_product(da, x),
            Zero if db is Zero else absorbing_product(x, db),
        )
        if moved is not Zero:
            right = neg(moved) if right is Zero else sub(right, moved)
        return x, Zero if right is Zero else self(a, b, right)

    def transpose(self, ct: Any, a: Any, b: Any, c: Any) -> Any:
        assert is_linear(c)
        return None, None, self(turned(a), turned(b), ct)

    def expand(self, a: Any, b: Any, c: Any) -> Any:
        dtype = dtypes.complex_dtype(a.aval.dtype)
        (r, u), (s, v) = (schur(as_dtype(x, dtype), vectors=True) for x in (a, b))
        inner = product(product(adjoint(u), as_dtype(c, dtype)), v)
        n = b.aval.shape[-1]
        if c.aval.size:
            zeros = fill(inner.aval.shape, dtype, 0j)
            (inner,) = counted_loop(solve_column, (r, s, inner), (zeros,), n)
        x = product(product(u, inner), adjoint(v))
        return zero_if_zero(c, x if is_complex(a) else real(x))


def solve_column(
    index: Any, shared: Sequence[Any], carry: Sequence[Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """One column of the Y with R·Y + Y·S = F for upper triangular R and S."""
    (r, s, f), (y,) = shared, carry
    column = column_at(s, index)
    known = product(y, column)  # the columns that come later are still 0
    shift = entry_at(column, index)
    matrix = add_to_diagonal(r, shift)
    found = solve_left(matrix, sub(column_at(f, index), known), lower=False)
    return (with_column(y, found, index),), ()


def column_at(x: Any, index: Any) -> Any:
    """One column of each matrix, as a matrix."""
    zeros = (0,) * (x.aval.ndim - 1)
    return dynamic_slice(x, *zeros, index, sizes=(*x.aval.shape[:-1], 1))


def entry_at(column: Any, index: Any) -> Any:
    """One element of each column, as a matrix of 1 by 1."""
    n = column.aval.ndim
    sizes = (*column.aval.shape[:-2], 1, 1)
    return dynamic_slice(column, *(0,) * (n - 2), index, 0, sizes=sizes)


def with_column(x: Any, column: Any, index: Any) -> Any:
    """The matrices with one column replaced."""
    return dynamic_update_slice(x, column, *(0,) * (x.aval.ndim - 1), index)


def add_to_diagonal(x: Any, number: Any) -> Any:
    """The matrices with a number (1 by 1) added to each diagonal."""
    shape = x.aval.shape
    spread = broadcast_in_dim(number, shape=shape, dims=tuple(range(len(shape))))
    return add(x, select(on_diagonal(shape), spread, zero_literal(x.aval.dtype)))


def zero_if_zero(right: Any, found: Any) -> Any:
    """What was found, but 0 for the matrices `right` that are all zeros."""
    zero = zero_literal(right.aval.dtype)
    n, shape = right.aval.ndim, found.aval.shape
    some = reduce_or(ne(right, zero), axes=(n - 2, n - 1))
    spread = broadcast_in_dim(some, shape=shape, dims=tuple(range(n - 2)))
    return select(spread, found, zero_literal(found.aval.dtype))


sylvester = Sylvester()
