"""Orthogonal factorisations: eigenvalues, singular values, QR.

Vectors are determined up to a phase, and in a space of equal values up to a rotation.  Their
derivatives take one choice (no movement inside such a space), so that whatever does not depend
on that choice has a finite derivative.
"""

from __future__ import annotations

from typing import Any

from arrayx import dtypes
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.primitives.arithmetic import add, eq, le, mul, neg, select, sub
from arrayx.primitives.axes import broadcast_in_dim, reduce_sum
from arrayx.primitives.bitwise import bitwise_or
from arrayx.primitives.complex import complex as from_parts
from arrayx.primitives.complex import conj, imag, real
from arrayx.primitives.families import scaled
from arrayx.primitives.gather import as_dtype
from arrayx.primitives.linalg import Factorisation, derivative_right, derivative_solve
from arrayx.primitives.matrices import (
    INDEX,
    absorbing_product,
    adjoint,
    along_columns,
    along_rows,
    check_matrices,
    counts,
    diagonal,
    is_complex,
    of_lower,
    on_diagonal,
    rows_at,
    triangle,
    turned,
)
from arrayx.primitives.numeric import abs as absolute
from arrayx.primitives.numeric import div
from arrayx.primitives.reduction import argmax, reduce_max
from arrayx.primitives.slicing import concatenate, cut, pad


def scaled_by(x: Any, v: Any, rows: bool = False) -> Any:
    """The columns (or rows) of matrices, each times its own real number."""
    shape = x.aval.shape
    factor = along_rows(v, shape) if rows else along_columns(v, shape)
    return scaled(x, as_dtype(factor, x.aval.dtype))


def reciprocal_or_zero(x: Any, zero: Any) -> Any:
    """1 / x, and 0 where `zero`: those parts of a derivative are left out."""
    return select(zero, 0.0, div(1.0, select(zero, 1.0, x)))


def negligible(differences: Any, values: Any) -> Any:
    """True where a difference of two `values` is what rounding makes of nothing."""
    n = differences.aval.shape[-1]
    largest = reduce_max(absolute(values), axes=(values.aval.ndim - 1,))
    # LAPACK's values are off by a few eps of the largest for each row.
    eps = 4.0 * n * float(dtypes.finfo(values.aval.dtype).eps)
    batch = tuple(range(largest.aval.ndim))
    bound = broadcast_in_dim(mul(largest, eps), shape=differences.aval.shape, dims=batch)
    return le(absolute(differences), bound)


def gaps(values: Any) -> tuple[Any, Any]:
    """The values of the column, and those of the row, in each element of a square matrix."""
    n = values.aval.shape[-1]
    shape = (*values.aval.shape, n)
    return along_columns(values, shape), along_rows(values, shape)


class Eigh(Factorisation):
    """A = V·diag(w)·Vᴴ for Hermitian A, of which the lower triangle is read: (w, V).

    The real eigenvalues ascend.  Without `vectors` the result is (w,).
    """

    name = "eigh"
    multiple = True

    def type_rule(self, x: Aval, *, vectors: bool) -> tuple[Aval, ...]:
        x = check_matrices(self.name, x, square=True)
        values = x.update(shape=x.shape[:-1], dtype=dtypes.real_dtype(x.dtype))
        return (values, x) if vectors else (values,)

    def jvp(self, primals: Any, tangents: Any, *, vectors: bool) -> Any:
        (x,), (dx,) = primals, tangents
        values, v = self(x, vectors=True)
        inner = absorbing_product(adjoint(v), absorbing_product(of_lower(dx), v))
        moved = diagonal(inner)
        moved = real(moved) if is_complex(moved) else moved
        if not vectors:
            return (values,), (moved,)
        right, left = gaps(values)
        apart = sub(right, left)
        factor = reciprocal_or_zero(apart, negligible(apart, values))
        turning = scaled(inner, as_dtype(factor, inner.aval.dtype))
        return (values, v), (moved, absorbing_product(v, turning))


class Eig(Factorisation):
    """A·V = V·diag(w) and Uᴴ·A = diag(w)·Uᴴ for any square A: (w, U, V), all complex.

    `left` and `right` say which of U and V there are.  Their columns have length 1, and their
    largest elements are real, as LAPACK has it.  Eigenvalues come in no order.  Derivatives keep
    both; vectors of equal eigenvalues are not turned.
    """

    name = "eig"
    multiple = True

    def type_rule(self, x: Aval, *, left: bool, right: bool) -> tuple[Aval, ...]:
        x = check_matrices(self.name, x, square=True)
        found = x.update(dtype=dtypes.complex_dtype(x.dtype))
        values = found.update(shape=x.shape[:-1])
        return (values, *[found] * (left + right))

    def jvp(self, primals: Any, tangents: Any, *, left: bool, right: bool) -> Any:
        (x,), (dx,) = primals, tangents
        values, *sides, v = self(x, left=left, right=True)
        dx = as_dtype(dx, v.aval.dtype)
        inner = derivative_solve(v, absorbing_product(dx, v))
        moved = diagonal(inner)
        results, changes = [values], [moved]
        for u in sides:
            # The left vectors are the right ones of the adjoint, whose eigenvalues are conjugate.
            across = derivative_solve(u, absorbing_product(adjoint(dx), u))
            results.append(u)
            changes.append(moved_vectors(u, across, conj(values)))
        if right:
            results.append(v)
            changes.append(moved_vectors(v, inner, values))
        return tuple(results), tuple(changes)


def moved_vectors(v: Any, inner: Any, values: Any) -> Any:
    """The tangent of normalised eigenvectors, for V⁻¹·dA·V."""
    right, left = gaps(values)
    apart = sub(right, left)
    none = negligible(apart, values)
    factor = select(none, 0j, div(1.0 + 0j, select(none, 1.0 + 0j, apart)))
    dv = absorbing_product(v, scaled(inner, factor))
    # The length stays 1, and the largest element real.
    n, shape = v.aval.ndim, v.aval.shape
    along = real(diagonal(absorbing_product(adjoint(v), dv)))
    rows = counts(shape)[0]
    places = argmax(absolute(v), axis=n - 2, dtype=INDEX)
    largest = eq(rows, along_columns(places, shape))
    size = reduce_sum(select(largest, real(v), 0.0), axes=(n - 2,))
    turning = reduce_sum(select(largest, imag(dv), 0.0), axes=(n - 2,))
    turning = scaled(turning, reciprocal_or_zero(size, eq(size, 0.0)))
    return sub(dv, scaled(along_columns(from_parts(along, turning), shape), v))


class SVD(Factorisation):
    """A = U·diag(s)·Vh: (U, s, Vh), the singular values descending.

    U and Vh are square with `full_matrices`, else as long as s.  Without `compute_uv` the
    result is (s,).
    """

    name = "svd"
    multiple = True

    def type_rule(self, x: Aval, *, full_matrices: bool, compute_uv: bool) -> tuple[Aval, ...]:
        x = check_matrices(self.name, x)
        *batch, m, n = x.shape
        k = min(m, n)
        s = x.update(shape=(*batch, k), dtype=dtypes.real_dtype(x.dtype))
        if not compute_uv:
            return (s,)
        rows, columns = (m, n) if full_matrices else (k, k)
        return x.update(shape=(*batch, m, rows)), s, x.update(shape=(*batch, columns, n))

    def jvp(self, primals: Any, tangents: Any, *, full_matrices: bool, compute_uv: bool) -> Any:
        (x,), (dx,) = primals, tangents
        m, n = x.aval.shape[-2:]
        k = min(m, n)
        last = x.aval.ndim - 1
        all_u, s, all_vh = self(x, full_matrices=full_matrices and compute_uv, compute_uv=True)
        u, vh = cut(all_u, last, 0, k), cut(all_vh, last - 1, 0, k)
        uh, v = adjoint(u), adjoint(vh)
        inner = absorbing_product(absorbing_product(uh, dx), v)
        ds = diagonal(inner)
        ds = real(ds) if is_complex(ds) else ds
        if not compute_uv:
            return (s,), (ds,)
        right, left = gaps(s)
        apart = sub(right, left)
        none = bitwise_or(negligible(apart, s), eq(add(right, left), 0.0))
        factor = reciprocal_or_zero(mul(apart, add(right, left)), none)
        factor = as_dtype(factor, inner.aval.dtype)
        by_columns, by_rows = scaled_by(inner, s), scaled_by(inner, s, rows=True)
        turning_u = scaled(add(by_columns, adjoint(by_columns)), factor)
        turning_v = scaled(add(by_rows, adjoint(by_rows)), factor)
        inverse = reciprocal_or_zero(s, negligible(s, s))
        if is_complex(x):
            # The phase of each pair of vectors; all of it is put into U.
            phase = from_parts(0.0, imag(inner))
            on_it = select(on_diagonal(phase.aval.shape), phase, 0j)
            turning_u = add(turning_u, scaled_by(on_it, inverse))
        du, dv = absorbing_product(u, turning_u), absorbing_product(v, turning_v)
        if m > k:
            ahead = absorbing_product(dx, v)
            du = add(
                du,
                scaled_by(sub(ahead, absorbing_product(u, absorbing_product(uh, ahead))), inverse),
            )
        if n > k:
            ahead = absorbing_product(adjoint(dx), u)
            dv = add(
                dv,
                scaled_by(sub(ahead, absorbing_product(v, absorbing_product(vh, ahead))), inverse),
            )
        dvh = adjoint(dv)
        if full_matrices and m > k:
            rest = cut(all_u, last, k, m)
            du = concatenate(
                du, neg(absorbing_product(u, absorbing_product(adjoint(du), rest))), axis=last
            )
        if full_matrices and n > k:
            rest = cut(all_vh, last - 1, k, n)
            more = neg(absorbing_product(absorbing_product(rest, adjoint(dvh)), vh))
            dvh = concatenate(dvh, more, axis=last - 1)
        return (all_u, s, all_vh), (du, ds, dvh)


class QR(Factorisation):
    """A = Q·R with orthonormal columns in Q and upper triangular R: (Q, R).

    Q is square with `full_matrices`; else R is, if A has no fewer rows than columns.
    """

    name = "qr"
    multiple = True

    def type_rule(self, x: Aval, *, full_matrices: bool) -> tuple[Aval, Aval]:
        x = check_matrices(self.name, x)
        *batch, m, n = x.shape
        k = m if full_matrices else min(m, n)
        return x.update(shape=(*batch, m, k)), x.update(shape=(*batch, k, n))

    def jvp(self, primals: Any, tangents: Any, *, full_matrices: bool) -> Any:
        (x,), (dx,) = primals, tangents
        q, r = self(x, full_matrices=full_matrices)
        return (q, r), moved_factors(q, r, x, dx)


class PivotedQR(Factorisation):
    """The QR factorisation of A[:, p], whose R has a descending diagonal: (Q, R, p).

    In each step the longest column that is left comes next.  p is int32.
    """

    name = "pivoted_qr"
    multiple = True

    def type_rule(self, x: Aval, *, full_matrices: bool) -> tuple[Aval, Aval, Aval]:
        q, r = qr.type_rule(x, full_matrices=full_matrices)
        return q, r, q.update(shape=(*x.shape[:-2], x.shape[-1]), dtype=INDEX)

    def jvp(self, primals: Any, tangents: Any, *, full_matrices: bool) -> Any:
        (x,), (dx,) = primals, tangents
        q, r, order = self(x, full_matrices=full_matrices)
        x, dx = (turned(rows_at(turned(m), order)) for m in (x, dx))
        return (q, r, order), (*moved_factors(q, r, x, dx), Zero)


def moved_factors(all_q: Any, all_r: Any, x: Any, dx: Any) -> tuple[Any, Any]:
    """The tangents of Q and R, square or not, of A = Q·R."""
    m, n = x.aval.shape[-2:]
    k = min(m, n)
    last = x.aval.ndim - 1
    q, r = cut(all_q, last, 0, k), cut(cut(all_r, last - 1, 0, k), last, 0, k)
    # dA·R⁻¹ = dQ + Q·(dR·R⁻¹), where Qᴴ·dQ is skew-Hermitian and dR·R⁻¹ is triangular.
    ahead = derivative_right(r, cut(dx, last, 0, k), lower=False)
    inner = absorbing_product(adjoint(q), ahead)
    below = triangle(inner, lower=True, strict=True)
    skew = sub(below, adjoint(below))
    if is_complex(x):
        phase = from_parts(0.0, imag(inner))
        skew = add(skew, select(on_diagonal(phase.aval.shape), phase, 0j))
    dq = add(absorbing_product(q, sub(skew, inner)), ahead)
    dr = absorbing_product(sub(inner, skew), r)
    if n > k:
        # The columns behind do not turn Q: their part of R is Qᴴ·A.
        more = add(
            absorbing_product(adjoint(dq), cut(x, last, k, n)),
            absorbing_product(adjoint(q), cut(dx, last, k, n)),
        )
        dr = concatenate(dr, more, axis=last)
    if all_q.aval.shape[-1] > k:
        rest = cut(all_q, last, k, m)
        dq = concatenate(
            dq, neg(absorbing_product(q, absorbing_product(adjoint(dq), rest))), axis=last
        )
        none = (0,) * x.aval.ndim
        zero = 0j if is_complex(x) else 0.0
        dr = pad(dr, zero, low=none, high=(*none[:-2], m - k, 0), interior=none)
    return dq, dr


eigh = Eigh()
eig = Eig()
svd = SVD()
qr = QR()
pivoted_qr = PivotedQR()
