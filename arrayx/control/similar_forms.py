"""Matrices reduced by reflections from both sides: to Hessenberg and to tridiagonal form.

They are here rather than among the factorisations because the definition is a loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayx import dtypes
from arrayx.control.counted_loop import counted_loop
from arrayx.core.aval import Aval
from arrayx.primitives.arithmetic import add, eq, ge, gt, lt, mul, neg, select, sub
from arrayx.primitives.axes import broadcast_in_dim, reduce_sum, transpose
from arrayx.primitives.bitwise import bitwise_and
from arrayx.primitives.complex import complex as from_parts
from arrayx.primitives.complex import imag, real
from arrayx.primitives.creation import fill, iota, zero_literal
from arrayx.primitives.exponential import sqrt
from arrayx.primitives.gather import as_dtype
from arrayx.primitives.linalg import Factorisation
from arrayx.primitives.matrices import (
    along_columns,
    along_rows,
    check_matrices,
    conjugate,
    diagonal,
    is_complex,
    of_lower,
    triangle,
)
from arrayx.primitives.numeric import div
from arrayx.primitives.slicing import cut, padded


class Hessenberg(Factorisation):
    """A = Q·H·Qᴴ with zeros below the first subdiagonal of H: (packed, taus).

    The packed matrix has H down to its first subdiagonal, and below that the reflectors whose
    product is Q, as LAPACK's gehrd leaves them: number i is I - taus[i]·v·vᴴ, where v is 0 down
    to row i, 1 in row i + 1, and column i of the packed matrix below.
    """

    name = "hessenberg"
    multiple = True

    def type_rule(self, x: Aval) -> tuple[Aval, Aval]:
        x = check_matrices(self.name, x, square=True)
        return x, x.update(shape=(*x.shape[:-2], max(x.shape[-1] - 1, 0)))

    def expand(self, x: Any) -> Any:
        n, last = x.aval.shape[-1], x.aval.ndim - 1
        if n < 2:
            taus = fill((*x.aval.shape[:-2], 0), x.aval.dtype, zero_literal(x.aval.dtype))
            return x, taus
        form, vectors, taus = counted_loop(reflect, (), (x,), n - 1)
        order = (*range(1, last), last, 0)
        packed = padded(transpose(vectors, perm=order), last, 0, 1, zero_literal(x.aval.dtype))
        above = sub(form, below_subdiagonal(form))
        return add(above, below_subdiagonal(packed)), transpose(taus, perm=(*range(1, last), 0))


def above_reflectors(packed: Any) -> Any:
    """The Hessenberg matrix alone."""
    return sub(packed, below_subdiagonal(packed))


def below_subdiagonal(x: Any) -> Any:
    """The elements that a Hessenberg matrix has not."""
    rows = iota(shape=x.aval.shape, dtype=INT, axis=x.aval.ndim - 2)
    columns = iota(shape=x.aval.shape, dtype=INT, axis=x.aval.ndim - 1)
    return select(gt(rows, add(columns, 1)), x, zero_literal(x.aval.dtype))


INT = dtypes.as_dtype("int32")


def reflect(
    index: Any, shared: Sequence[Any], carry: Sequence[Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """One step of `hessenberg`: the column's elements below the subdiagonal become zeros."""
    (a,) = carry
    v, tau = reflection(column_of(a, index), add(index, 1))
    a = from_the_left(a, v, tau)
    shape, n = a.aval.shape, a.aval.ndim
    right = reduce_sum(mul(a, along_columns(v, shape)), axes=(n - 1,))
    across = along_columns(conjugate(v), shape)
    factor = broadcast_in_dim(tau, shape=shape, dims=tuple(range(n - 2)))
    return (sub(a, mul(factor, mul(along_rows(right, shape), across))),), (v, tau)


def reflect_rows(
    index: Any, shared: Sequence[Any], carry: Sequence[Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """One step of `geqrf`: the column's elements below the diagonal become zeros."""
    (a,) = carry
    v, tau = reflection(column_of(a, index), index)
    return (from_the_left(a, v, tau),), (v, tau)


def column_of(a: Any, index: Any) -> Any:
    """One column of each matrix, as a vector."""
    places = iota(shape=a.aval.shape, dtype=INT, axis=a.aval.ndim - 1)
    own = eq(places, broadcast_in_dim(index, shape=a.aval.shape, dims=()))
    zero = zero_literal(a.aval.dtype)
    return reduce_sum(select(own, a, zero), axes=(a.aval.ndim - 1,))


def from_the_left(a: Any, v: Any, tau: Any) -> Any:
    """Hᴴ·A for H = I - tau·v·vᴴ."""
    shape, n = a.aval.shape, a.aval.ndim
    down = along_rows(v, shape)
    left = along_columns(reduce_sum(mul(conjugate(down), a), axes=(n - 2,)), shape)
    factor = broadcast_in_dim(conjugate(tau), shape=shape, dims=tuple(range(n - 2)))
    return sub(a, mul(factor, mul(down, left)))


def reflection(column: Any, number: Any) -> tuple[Any, Any]:
    """v and tau for which Hᴴ makes zeros behind an element of the columns, as LAPACK's larfg."""
    shape, zero = column.aval.shape, zero_literal(column.aval.dtype)
    last, lead = (column.aval.ndim - 1,), tuple(range(column.aval.ndim - 1))
    places = iota(shape=shape, dtype=INT, axis=column.aval.ndim - 1)
    number = broadcast_in_dim(number, shape=shape, dims=())
    head = reduce_sum(select(eq(places, number), column, zero), axes=last)
    tail = select(gt(places, number), column, zero)
    size = reduce_sum(squared(tail), axes=last)
    re = real(head) if is_complex(head) else head
    flat = eq(size, 0.0)
    if is_complex(head):
        flat = bitwise_and(flat, eq(imag(head), 0.0))
    # A column that is in order stays as it is; what is computed in vain must not divide by 0.
    length = sqrt(select(flat, 1.0, add(squared(head), size)))
    beta = select(ge(re, 0.0), neg(length), length)
    wide = as_dtype(beta, column.aval.dtype)
    one = type(zero)(1)
    tau = select(flat, zero, div(sub(wide, head), wide))
    scale = div(one, select(flat, one, sub(head, wide)))
    v = mul(tail, broadcast_in_dim(scale, shape=shape, dims=lead))
    return select(eq(places, number), one, v), tau


def squared(x: Any) -> Any:
    """|x|²."""
    if not is_complex(x):
        return mul(x, x)
    re, im = real(x), imag(x)
    return add(mul(re, re), mul(im, im))


class Geqrf(Factorisation):
    """A = Q·R with upper triangular R: (packed, taus).

    The packed matrix has R down to its diagonal, and below that the reflectors whose product is
    Q, as `householder_product` takes them.
    """

    name = "geqrf"
    multiple = True

    def type_rule(self, x: Aval) -> tuple[Aval, Aval]:
        x = check_matrices(self.name, x)
        return x, x.update(shape=(*x.shape[:-2], min(x.shape[-2:])))

    def expand(self, x: Any) -> Any:
        m, n = x.aval.shape[-2:]
        last, zero, k = x.aval.ndim - 1, zero_literal(x.aval.dtype), min(m, n)
        if not k:
            return x, fill((*x.aval.shape[:-2], 0), x.aval.dtype, zero)
        form, vectors, taus = counted_loop(reflect_rows, (), (x,), k)
        packed = padded(transpose(vectors, perm=(*range(1, last), last, 0)), last, 0, n - k, zero)
        both = add(triangle(form, lower=False), triangle(packed, lower=True, strict=True))
        return both, transpose(taus, perm=(*range(1, last), 0))


class Tridiagonal(Factorisation):
    """A = Q·T·Qᴴ with real tridiagonal T for Hermitian A: (packed, d, e, taus).

    Of A the lower triangle is read.  d is the diagonal of T and e the one below it.  The packed
    matrix has both, and below them the reflectors whose product is Q, as LAPACK's sytrd leaves
    them and as those of `hessenberg`; above the diagonal it is 0.
    """

    name = "tridiagonal"
    multiple = True

    def type_rule(self, x: Aval) -> tuple[Aval, Aval, Aval, Aval]:
        x = check_matrices(self.name, x, square=True)
        *batch, n = x.shape[:-1]
        real_dtype = dtypes.real_dtype(x.dtype)
        less = (*batch, max(n - 1, 0))
        return (
            x,
            x.update(shape=(*batch, n), dtype=real_dtype),
            x.update(shape=less, dtype=real_dtype),
            x.update(shape=less),
        )

    def expand(self, x: Any) -> Any:
        n, last = x.aval.shape[-1], x.aval.ndim - 1
        packed, taus = hessenberg(of_lower(x))
        packed = triangle(packed, lower=True)
        d = diagonal(packed)
        below = cut(cut(packed, last - 1, min(n, 1), n), last, 0, max(n - 1, 0))
        e = diagonal(below)
        if not is_complex(x):
            return packed, d, e, taus
        # Rounding leaves an imaginary part.
        rows = iota(shape=x.aval.shape, dtype=INT, axis=last - 1)
        columns = iota(shape=x.aval.shape, dtype=INT, axis=last)
        form = lt(rows, add(columns, 2))
        packed = select(form, from_parts(real(packed), 0.0), packed)
        return packed, real(d), real(e), taus


hessenberg = Hessenberg()
geqrf = Geqrf()
tridiagonal = Tridiagonal()
