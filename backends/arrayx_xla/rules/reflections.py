"""Forms made by reflections, Schur forms and tridiagonal systems: further calls of LAPACK."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes
from arrayx.core.aval import Aval
from arrayx.primitives.creation import zero_literal
from arrayx_xla.emitter import Emitter, Value
from arrayx_xla.rules.linalg import (
    INT,
    MATRIX,
    VECTOR,
    batched,
    count,
    cut,
    identity,
    lapack,
    on_cpu,
    padded,
    spread,
    status,
    triangle,
    where_done,
)


def is_complex(x: Value) -> bool:
    return dtypes.kind(x.dtype) == "complex"


def zeros(e: Emitter, aval: Aval) -> Value:
    if not aval.size:
        return e.empty(aval)
    return e.constant(zero_literal(aval.dtype), aval.shape, aval.dtype)


def product_of_reflections(e: Emitter, start: Value, taus: Value) -> Value:
    name = "ungqr" if is_complex(start) else "orgqr"
    (q,) = lapack(e, name, [(start, MATRIX), (taus, VECTOR)], [(start.aval, MATRIX)])
    return q


def pivoted_qr(e: Emitter, x: Value, *, full_matrices: bool) -> tuple[Value, ...]:
    m, n = x.shape[-2:]
    k = min(m, n)
    q_aval, r_aval, order_aval = e.results
    if not k:
        q = identity(e, q_aval) if q_aval.size else e.empty(q_aval)
        places = count(e, order_aval.shape, order_aval.ndim - 1) if order_aval.size else None
        return q, zeros(e, r_aval), places or e.empty(order_aval)
    # Zeros say that every column may be moved.
    free = e.constant(0, order_aval.shape, INT)
    results = [(x.aval, MATRIX), (order_aval, VECTOR), (batched(x, (k,)), VECTOR)]
    packed, from_one, taus = lapack(e, "geqp3", [(x, MATRIX), (free, VECTOR)], results)
    made = q_aval.shape[-1]
    q = product_of_reflections(e, padded(e, cut(e, packed, m, min(n, made)), made), taus)
    r = triangle(e, cut(e, packed, r_aval.shape[-2], n), lower=False)
    return q, r, e.op("subtract", from_one, e.like(1, from_one))


def householder_product(e: Emitter, a: Value, taus: Value) -> Value:
    if not taus.shape[-1]:
        return identity(e, a.aval)
    return product_of_reflections(e, a, taus)


def ormqr(e: Emitter, a: Value, taus: Value, c: Value, *, left: bool, transpose: bool) -> Value:
    k = taus.shape[-1]
    if not k:
        return c
    operands = [(cut(e, a, a.shape[-2], k), MATRIX), (taus, VECTOR), (c, MATRIX)]
    name = "unmqr" if is_complex(c) else "ormqr"
    (result,) = lapack(
        e, name, operands, [(c.aval, MATRIX)], left=bool(left), transpose=bool(transpose)
    )
    return result


def hessenberg(e: Emitter, x: Value) -> tuple[Value, ...]:
    packed_aval, taus_aval = e.results
    n = x.shape[-1]
    if n < 2:
        return x, e.empty(taus_aval)
    results = [(packed_aval, MATRIX), (taus_aval, VECTOR), status(x)]
    packed, taus, info = lapack(e, "gehrd", [(x, MATRIX)], results, low=1, high=n)
    return where_done(e, info, packed), where_done(e, info, taus)


def geqrf(e: Emitter, x: Value) -> tuple[Value, ...]:
    packed_aval, taus_aval = e.results
    if not taus_aval.size:
        return x, e.empty(taus_aval)
    packed, taus = lapack(e, "geqrf", [(x, MATRIX)], [(packed_aval, MATRIX), (taus_aval, VECTOR)])
    return packed, taus


def tridiagonal(e: Emitter, x: Value) -> tuple[Value, ...]:
    d_aval, e_aval, taus_aval = e.results[1:]
    if x.shape[-1] < 2:
        value = e.to("real", x.name, Aval(x.shape, d_aval.dtype), x) if is_complex(x) else x
        packed = e.convert(value, x.dtype)
        return packed, e.reshape(value, d_aval.shape), e.empty(e_aval), e.empty(taus_aval)
    name = "hetrd" if is_complex(x) else "sytrd"
    results = [(a, MATRIX if i == 0 else VECTOR) for i, a in enumerate(e.results)]
    packed, d, off, taus, info = lapack(e, name, [(x, MATRIX)], [*results, status(x)], uplo="L")
    packed = triangle(e, packed, lower=True)
    n = packed.aval.ndim
    rows, columns = count(e, x.shape, n - 2), count(e, x.shape, n - 1)
    on_it = e.compare("EQ", rows, columns)
    wide = spread(e, e.convert(d, x.dtype), x.shape, range(n - 1))
    packed = e.select(on_it, wide, packed)
    return tuple(where_done(e, info, r) for r in (packed, d, off, taus))


def schur(e: Emitter, x: Value, *, vectors: bool) -> tuple[Value, ...]:
    values = Aval(x.shape[:-1], x.dtype)
    parts = [(values, VECTOR)] * (1 if is_complex(x) else 2)
    results = [(x.aval, MATRIX), (x.aval, MATRIX), *parts, status(x), status(x)]
    options = {"mode": "V" if vectors else "N", "sort": "N"}
    t, q, *_, info = lapack(e, "gees", [(x, MATRIX)], results, **options)
    return tuple(where_done(e, info, r) for r in ((t, q) if vectors else (t,)))


def tridiagonal_solve(e: Emitter, dl: Value, d: Value, du: Value, b: Value) -> Value:
    operands = [(dl, VECTOR), (d, VECTOR), (du, VECTOR), (b, MATRIX)]
    results = [(v.aval, rank) for v, rank in operands]
    *_, found, info = lapack(e, "gtsv", operands, [*results, status(b)])
    return where_done(e, info, found)


RULES: dict[str, Any] = {
    "pivoted_qr": pivoted_qr,
    "householder_product": householder_product,
    "ormqr": ormqr,
    "hessenberg": hessenberg,
    "geqrf": geqrf,
    "tridiagonal": tridiagonal,
    "schur": schur,
    "tridiagonal_solve": tridiagonal_solve,
}
WHEN: dict[str, Any] = dict.fromkeys(RULES, on_cpu)
