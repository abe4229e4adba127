"""Determinants, whose derivative holds at singular matrices too."""

from __future__ import annotations

from typing import Any

from arrayx.core.aval import Aval
from arrayx.primitives.arithmetic import add, eq, mul, ne, neg, select, sub
from arrayx.primitives.axes import reduce_sum, reshape
from arrayx.primitives.creation import fill, iota, zero_literal
from arrayx.primitives.cumulative import cumprod
from arrayx.primitives.families import scaled
from arrayx.primitives.gather import as_dtype
from arrayx.primitives.linalg import Factorisation, derivative_solve, lu
from arrayx.primitives.matrices import (
    INDEX,
    absorbing_product,
    along_columns,
    along_matrices,
    check_matrices,
    conjugate,
    diagonal,
    product,
    turned,
)
from arrayx.primitives.numeric import rem
from arrayx.primitives.reduction import reduce_prod
from arrayx.primitives.slicing import cut, padded
from arrayx.primitives.spectral import svd


class Det(Factorisation):
    """The determinant; the derivative is that of the polynomial, at singular matrices too."""

    name = "det"

    def type_rule(self, x: Aval) -> Aval:
        x = check_matrices(self.name, x, square=True)
        return x.update(shape=x.shape[:-2])

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        n = x.aval.ndim
        return self(x), reduce_sum(scaled(dx, cofactors(x)), axes=(n - 2, n - 1))

    def expand(self, x: Any) -> Any:
        n = x.aval.shape[-1]
        if n <= 3:
            return small_determinant(x)
        factors, pivots = lu(x)
        axis = x.aval.ndim - 2
        result = reduce_prod(diagonal(factors), axes=(axis,))
        return select(is_odd(pivots), neg(result), result)


def is_odd(pivots: Any) -> Any:
    """Whether the number of exchanges that the pivots tell of is odd."""
    axis = pivots.aval.ndim - 1
    own = iota(shape=pivots.aval.shape, dtype=INDEX, axis=axis)
    exchanged = select(ne(pivots, own), fill(pivots.aval.shape, INDEX, 1), 0)
    return eq(rem(reduce_sum(exchanged, axes=(axis,)), 2), 1)


def entry(x: Any, i: int, j: int) -> Any:
    """One element of each matrix."""
    n = x.aval.ndim
    one = cut(cut(x, n - 2, i, i + 1), n - 1, j, j + 1)
    return reshape(one, shape=x.aval.shape[:-2])


def small_determinant(x: Any) -> Any:
    """The determinant of matrices of at most 3 rows, by its definition."""
    n = x.aval.shape[-1]
    if n == 0:
        zero = zero_literal(x.aval.dtype)
        return fill(x.aval.shape[:-2], x.aval.dtype, type(zero)(1))
    if n == 1:
        return entry(x, 0, 0)
    columns = list(range(n))
    if n == 2:
        return minor(x, (0, 1), columns)
    terms = [mul(entry(x, 0, j), minor(x, (1, 2), [c for c in columns if c != j])) for j in columns]
    return add(sub(terms[0], terms[1]), terms[2])


def minor(x: Any, rows: Any, columns: Any) -> Any:
    """The determinant of two rows and columns."""
    (i, j), (k, l) = rows, columns
    return sub(mul(entry(x, i, k), entry(x, j, l)), mul(entry(x, i, l), entry(x, j, k)))


class Cofactors(Factorisation):
    """The derivative of the determinant by each element.

    Its own derivative is computed with A⁻¹: nan where A of more than 3 rows is singular.
    """

    name = "cofactors"

    def type_rule(self, x: Aval) -> Aval:
        return check_matrices(self.name, x, square=True)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        n = x.aval.ndim
        result = self(x)
        # C is det(A) A⁻ᵀ, so that with S = A⁻¹ dA its change is tr(S) C − C Sᵀ.
        change = derivative_solve(x, dx)
        trace = reduce_sum(diagonal(change), axes=(n - 2,))
        whole = scaled(along_matrices(trace, x.aval.shape), result)
        return result, sub(whole, absorbing_product(result, turned(change)))

    def expand(self, x: Any) -> Any:
        u, s, v = svd(x, full_matrices=False, compute_uv=True)
        others = product_of_others(s)
        unitary = mul(det(u), det(v))
        weighted = mul(conjugate(u), along_columns(as_dtype(others, x.aval.dtype), u.aval.shape))
        return mul(product(weighted, conjugate(v)), along_matrices(unitary, x.aval.shape))


def product_of_others(x: Any) -> Any:
    """For each element of the last axis the product of all the others, without a division."""
    axis, n = x.aval.ndim - 1, x.aval.shape[-1]
    before = padded(cut(cumprod(x, axis=axis, reverse=False), axis, 0, n - 1), axis, 1, 0, 1.0)
    behind = padded(cut(cumprod(x, axis=axis, reverse=True), axis, 1, n), axis, 0, 1, 1.0)
    return mul(before, behind)


det = Det()
cofactors = Cofactors()
