"""Factorisations: calls of the LAPACK that jaxlib brings along for the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import dtypes
from arrayx.core.aval import Aval
from arrayx.core.graph import Equation
from arrayx.primitives.creation import zero_literal
from arrayx_xla.client import register_lapack
from arrayx_xla.emitter import Emitter, Value, type_of

INT = np.dtype(np.int32)
LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}
VECTOR, MATRIX = 1, 2


def layout(aval: Aval, rank: int) -> str:
    """The axes from the one that varies fastest: LAPACK's matrices go by columns."""
    axes = list(reversed(range(aval.ndim)))
    if rank == MATRIX:
        axes[:2] = axes[1], axes[0]
    text = str(axes) if axes else ""
    return f"dense<{text}> : tensor<{len(axes)}xindex>"


def lapack(
    e: Emitter,
    name: str,
    operands: Sequence[tuple[Value, int]],
    results: Sequence[tuple[Aval, int]],
    **options: str | bool | int,
) -> tuple[Value, ...]:
    """A routine of LAPACK for stacks: each operand and result with the rank of one of its parts.

    `options` are single letters, as LAPACK takes them, booleans and numbers.
    """
    register_lapack()
    letter = LETTERS[operands[0][0].dtype.char]
    config = ", ".join(f"{k} = {attribute(v)}" for k, v in options.items())
    names = ", ".join(v.name for v, _ in operands)
    types = ", ".join(v.type for v, _ in operands)
    made = ", ".join(type_of(a) for a, _ in results)
    body = (
        f"stablehlo.custom_call @lapack_{letter}{name}_ffi({names}) {{api_version = 4 : i32, "
        f"backend_config = {{{config}}}, "
        f"operand_layouts = [{', '.join(layout(v.aval, r) for v, r in operands)}], "
        f"result_layouts = [{', '.join(layout(a, r) for a, r in results)}]}} "
        f": ({types}) -> {made if len(results) == 1 else f'({made})'}"
    )
    return e.add_several(name, body, [a for a, _ in results])


def attribute(option: str | bool | int) -> str:
    """An option as an attribute of MLIR."""
    if isinstance(option, bool):
        return "true" if option else "false"
    return f"{ord(option)} : ui8" if isinstance(option, str) else f"{option} : i32"


def batched(x: Value, shape: tuple[int, ...], dtype: Any = None) -> Aval:
    """A result with the batch axes of `x`."""
    return Aval((*x.shape[:-2], *shape), x.dtype if dtype is None else dtype)


def status(x: Value) -> tuple[Aval, int]:
    """The result that tells of success, by 0, for each matrix."""
    return batched(x, (), INT), 0


def spread(e: Emitter, x: Value, shape: tuple[int, ...], dims: Sequence[int]) -> Value:
    return e.to("broadcast_in_dim", f"{x.name}, dims = {list(dims)}", Aval(shape, x.dtype), x)


def where_done(e: Emitter, info: Value, x: Value) -> Value:
    """`x`, but nan for the matrices that the routine gave up on."""
    done = e.compare("EQ", info, e.like(0, info))
    done = spread(e, done, x.shape, range(info.aval.ndim))
    nan = complex("nan") if dtypes.kind(x.dtype) == "complex" else float("nan")
    return e.select(done, x, e.like(nan, x))


def count(e: Emitter, shape: tuple[int, ...], axis: int) -> Value:
    aval = Aval(shape, INT)
    return e.add("iota", f"stablehlo.iota dim = {axis} : {type_of(aval)}", aval)


def triangle(e: Emitter, x: Value, lower: bool) -> Value:
    """One triangle, with zeros elsewhere."""
    n = x.aval.ndim
    rows, columns = count(e, x.shape, n - 2), count(e, x.shape, n - 1)
    inside = e.compare("GE" if lower else "LE", rows, columns)
    return e.select(inside, x, e.like(zero_literal(x.dtype), x))


def identity(e: Emitter, aval: Aval) -> Value:
    n = aval.ndim
    rows, columns = count(e, aval.shape, n - 2), count(e, aval.shape, n - 1)
    return e.convert(e.compare("EQ", rows, columns), aval.dtype)


def cut(e: Emitter, x: Value, rows: int, columns: int) -> Value:
    """The first rows and columns."""
    shape = (*x.shape[:-2], rows, columns)
    if shape == x.shape:
        return x
    ranges = ", ".join(f"0:{n}" for n in shape)
    return e.to("slice", f"{x.name} [{ranges}]", Aval(shape, x.dtype), x)


def padded(e: Emitter, x: Value, columns: int) -> Value:
    """Zeros put behind the columns."""
    more = columns - x.shape[-1]
    if not more:
        return x
    zero = e.constant(zero_literal(x.dtype), (), x.dtype)
    none = [0] * x.aval.ndim
    body = f"{x.name}, {zero.name}, low = {none}, high = {[*none[:-1], more]}, interior = {none}"
    return e.to("pad", body, Aval((*x.shape[:-1], columns), x.dtype), x, zero)


def cholesky(e: Emitter, x: Value) -> Value:
    results = [(x.aval, MATRIX), status(x)]
    factor, info = lapack(e, "potrf", [(x, MATRIX)], results, uplo="L")
    return triangle(e, where_done(e, info, factor), lower=True)


def triangular_solve(
    e: Emitter,
    a: Value,
    b: Value,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: str,
    unit_diagonal: bool,
) -> Value:
    (result,) = lapack(
        e,
        "trsm",
        [(a, MATRIX), (b, MATRIX)],
        [(b.aval, MATRIX)],
        diag="U" if unit_diagonal else "N",
        side="L" if left_side else "R",
        trans_x={"none": "N", "transpose": "T", "adjoint": "C"}[transpose_a],
        uplo="L" if lower else "U",
    )
    return result


def lu(e: Emitter, x: Value) -> tuple[Value, ...]:
    pivots = batched(x, (min(x.shape[-2:]),), INT)
    results = [(x.aval, MATRIX), (pivots, VECTOR), status(x)]
    factors, from_one, _ = lapack(e, "getrf", [(x, MATRIX)], results)
    return factors, e.op("subtract", from_one, e.like(1, from_one))


def permutation_of_pivots(e: Emitter, pivots: Value, *, size: int) -> Value:
    """A loop over the exchanges, on all vectors at once."""
    out = e.results[0]
    start = count(e, out.shape, out.ndim - 1)
    if not pivots.aval.size:
        return start
    places = start
    scalar = Aval((), INT)
    first, steps, one = (e.constant(i, (), INT) for i in (0, pivots.shape[-1], 1))
    i, order = Value(e.fresh("step"), scalar), Value(e.fresh("order"), out)
    with e.region() as condition:
        more = e.compare("LT", i, steps)
        e.lines.append(f"{e.indent}stablehlo.return {more.name} : {more.type}")
    with e.region() as body:
        one_each = Aval((*out.shape[:-1], 1), INT)
        starts = ", ".join([first.name] * (out.ndim - 1) + [i.name])
        scalars = [first] * (out.ndim - 1) + [i]

        def at_step(x: Value) -> Value:
            text = f"{x.name}, {starts}, sizes = {list(one_each.shape)}"
            found = e.to("dynamic_slice", text, one_each, x, *scalars)
            return spread(e, found, out.shape, range(out.ndim))

        there = e.compare("EQ", places, at_step(pivots))
        here = e.compare("EQ", places, spread(e, i, out.shape, ()))
        mine = at_step(order)
        chosen = e.select(there, order, e.like(0, order))
        axes = [out.ndim - 1]
        other = e.reduce("add", chosen, 0, axes, Aval(out.shape[:-1], INT))
        other = spread(e, other, out.shape, range(out.ndim - 1))
        changed = e.select(here, other, e.select(there, mine, order))
        following = e.op("add", i, one)
        e.lines.append(
            f"{e.indent}stablehlo.return {following.name}, {changed.name} : "
            f"{following.type}, {changed.type}"
        )
    text = (
        f"stablehlo.while({i.name} = {first.name}, {order.name} = {start.name}) : "
        f"{i.type}, {order.type}\n{e.indent}cond {{\n"
        + "\n".join(condition)
        + f"\n{e.indent}}} do {{\n"
        + "\n".join(body)
        + f"\n{e.indent}}}"
    )
    return e.add_several("while", text, [scalar, out])[1]


def eigh(e: Emitter, x: Value, *, vectors: bool) -> tuple[Value, ...]:
    values = e.results[0]
    name = "heevd" if dtypes.kind(x.dtype) == "complex" else "syevd"
    results = [(x.aval, MATRIX), (values, VECTOR), status(x)]
    options = {"mode": "V" if vectors else "N", "uplo": "L"}
    v, w, info = lapack(e, name, [(x, MATRIX)], results, **options)
    found = (w, v) if vectors else (w,)
    return tuple(where_done(e, info, r) for r in found)


def eig(e: Emitter, x: Value, *, left: bool, right: bool) -> tuple[Value, ...]:
    values = e.results[0]
    wide = Aval(x.shape, values.dtype)
    parts = [values] if x.dtype == values.dtype else [Aval(values.shape, x.dtype)] * 2
    results = [(p, VECTOR) for p in parts] + [(wide, MATRIX), (wide, MATRIX), status(x)]
    options = {"compute_left": "V" if left else "N", "compute_right": "V" if right else "N"}
    *found, u, v, info = lapack(e, "geev", [(x, MATRIX)], results, **options)
    w = found[0]
    if len(found) == 2:
        re, im = found
        w = e.add("complex", f"stablehlo.complex {re.name}, {im.name} : {type_of(values)}", values)
    wanted = [w, *([u] if left else []), *([v] if right else [])]
    return tuple(where_done(e, info, r) for r in wanted)


def svd(e: Emitter, x: Value, *, full_matrices: bool, compute_uv: bool) -> tuple[Value, ...]:
    m, n = x.shape[-2:]
    if not min(m, n):
        return tuple(identity(e, a) if a.size else e.empty(a) for a in e.results)
    if compute_uv:
        u, s, vh = e.results
    else:
        # Given no vectors to write, LAPACK still wants their types.
        (s,) = e.results
        u, vh = batched(x, (m, m)), batched(x, (n, n))
    mode = "N" if not compute_uv else "A" if full_matrices else "S"
    results = [(x.aval, MATRIX), (s, VECTOR), (u, MATRIX), (vh, MATRIX), status(x)]
    _, values, left, right, info = lapack(e, "gesdd", [(x, MATRIX)], results, mode=mode)
    found = (left, values, right) if compute_uv else (values,)
    return tuple(where_done(e, info, r) for r in found)


def qr(e: Emitter, x: Value, *, full_matrices: bool) -> tuple[Value, ...]:
    m, n = x.shape[-2:]
    k = min(m, n)
    q_aval, r_aval = e.results
    if not k:
        q = identity(e, q_aval) if q_aval.size else e.empty(q_aval)
        if not r_aval.size:
            return q, e.empty(r_aval)
        return q, e.constant(zero_literal(x.dtype), r_aval.shape, r_aval.dtype)
    tau = batched(x, (k,))
    reflectors, factors = lapack(e, "geqrf", [(x, MATRIX)], [(x.aval, MATRIX), (tau, VECTOR)])
    made = q_aval.shape[-1]
    start = padded(e, cut(e, reflectors, m, min(n, made)), made)
    name = "ungqr" if dtypes.kind(x.dtype) == "complex" else "orgqr"
    (q,) = lapack(e, name, [(start, MATRIX), (factors, VECTOR)], [(q_aval, MATRIX)])
    return q, triangle(e, cut(e, reflectors, r_aval.shape[-2], n), lower=False)


def on_cpu(platform: str, equation: Equation) -> bool | str:
    """LAPACK is there for the host alone."""
    if platform == "cpu":
        return True
    return f"{equation.primitive.name} is computed by LAPACK, which platform {platform!r} lacks"


RULES: dict[str, Any] = {
    "cholesky": cholesky,
    "triangular_solve": triangular_solve,
    "lu": lu,
    "permutation_of_pivots": permutation_of_pivots,
    "eigh": eigh,
    "eig": eig,
    "svd": svd,
    "qr": qr,
}
WHEN: dict[str, Any] = {name: on_cpu for name in RULES if name != "permutation_of_pivots"}
