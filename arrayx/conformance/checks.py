"""What is checked of every row of the case table, each check one function.

A check takes a case, the name of a dtype, and the name of a backend; it returns None or raises
an `AssertionError` that says what differs.  `CHECKS` lists them with the dtypes that each is
run in.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.backend.dispatch import as_concrete
from arrayx.backend.registry import chosen, registry
from arrayx.conformance.case import Case, as_tuple, widened
from arrayx.control.call import call
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.axes import move_batch_dim
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.jvp import jvp_flat
from arrayx.transforms.linearize import linearize_flat
from arrayx.transforms.stage import stage
from arrayx.transforms.vjp import backward, transpose_graph
from arrayx.transforms.vmap import vmap_flat

# The step of the central differences, and how far they may be from the derivative: the
# truncation error is about STEP**2, that of rounding about eps / STEP.
STEP = 1e-5
CLOSE = 2e-6
_MOST_BATCHINGS = 40
# The backend that the others are compared with, and the checks that do so.
REFERENCE = "numpy"
RELATIVE = ("agreement", "placement")


# ----------------------------------------------------------------- getting in and out


def put(array: np.ndarray, backend: str) -> Any:
    """A NumPy array as an array of the backend."""
    return as_concrete(array, registry.get(backend).devices()[0])


def put_all(arrays: Sequence[np.ndarray], backend: str) -> list[Any]:
    """Several NumPy arrays as arrays of the backend."""
    return [put(a, backend) for a in arrays]


def flat(case: Case) -> Callable[..., tuple[Any, ...]]:
    """The case's function with its params bound and a tuple as result."""
    return lambda *args: as_tuple(case.call(*args, **case.params))


def run(case: Case, arrays: Sequence[np.ndarray], backend: str) -> list[np.ndarray]:
    """The results of the case's function as NumPy arrays."""
    return [np.asarray(r.host()) for r in flat(case)(*put_all(arrays, backend))]


# ----------------------------------------------------------------- comparing


def eps_of(dtype: Any) -> float:
    """The distance from 1 to the next number of an inexact dtype; 0 for exact ones."""
    return float(dtypes.finfo(dtype).eps) if dtypes.is_inexact(dtype) else 0.0


def expected(case: Case, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The reference's results for these operands."""
    assert case.reference is not None, f"{case.id} has no reference"
    with np.errstate(all="ignore"):
        return [
            np.asarray(r)
            for r in as_tuple(case.reference(*(widened(a) for a in arrays), **case.params))
        ]


def magnitudes(
    case: Case, arrays: Sequence[np.ndarray], results: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """What the errors of the results are relative to."""
    with np.errstate(all="ignore"):
        if case.scale is None:
            return [np.abs(r) if r.dtype.kind != "b" else r for r in results]
        wide = [widened(a) for a in arrays]
        return [
            np.broadcast_to(np.abs(s), r.shape)
            for s, r in zip(as_tuple(case.scale(*wide, **case.params)), results)
        ]


def assert_near(
    got: np.ndarray, wanted: np.ndarray, scale: Any, ulps: float, what: str, signs: bool = False
) -> None:
    """Raises where `got` is further from `wanted` than its dtype's precision explains.

    NaN is near NaN and inf near inf of the same sign; with `signs` zeros must agree in sign.
    """
    assert got.shape == wanted.shape, f"{what}: shape {got.shape}, expected {wanted.shape}"
    kind = dtypes.kind(got.dtype)
    if kind not in ("float", "complex"):
        with np.errstate(all="ignore"):
            same = got == wanted
        assert np.all(same), difference(got, wanted, ~np.asarray(same), what)
        return
    if kind == "complex":
        with np.errstate(all="ignore"):
            wide_scale = np.broadcast_to(np.abs(scale), got.shape)
            for part in (np.real, np.imag):
                # One part may be infinite or nan and the other a number.
                own = np.where(np.isfinite(wide_scale), wide_scale, np.abs(part(wanted)))
                assert_near(part(got), part(wanted), own, ulps, what, signs)
        return
    with np.errstate(all="ignore"):
        rounded = np.asarray(wanted).astype(got.dtype)  # overflow as in the dtype itself
        a, b = widened(got), widened(rounded)
        truth = np.asarray(wanted, np.float64)
        exact = ~np.isfinite(b) | ~np.isfinite(a)
        tiny = float(dtypes.finfo(got.dtype).tiny)
        allowed = ulps * eps_of(got.dtype) * np.broadcast_to(scale, a.shape) + ulps * tiny
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        wrong = np.where(exact, ~same, ~(abs(a - truth) <= allowed))
        if signs:
            wrong = wrong | ((a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b)))
    assert not wrong.any(), difference(got, wanted, wrong, what)


def difference(got: np.ndarray, wanted: np.ndarray, wrong: np.ndarray, what: str) -> str:
    """Where two arrays differ most early, in words."""
    where = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(wrong)))
    left, right = np.atleast_1d(got)[where], np.atleast_1d(wanted)[where]
    return (
        f"{what}: {int(wrong.sum())} of {wrong.size} elements of dtype {got.dtype} differ; "
        f"at {where} got {left!r}, expected {right!r}"
    )


def assert_close(got: Any, wanted: Any, what: str, tolerance: float = CLOSE) -> None:
    """Raises where two derivatives differ by more than `tolerance`, relatively to the largest."""
    got, wanted = widened(got), widened(wanted)
    assert got.shape == wanted.shape, f"{what}: shape {got.shape}, expected {wanted.shape}"
    if not got.size:
        return
    allowed = tolerance * (1 + max(np.max(np.abs(got)), np.max(np.abs(wanted))))
    wrong = ~(np.abs(got - wanted) <= allowed)
    assert not wrong.any(), difference(got, wanted, wrong, what)


# ----------------------------------------------------------------- values and types


def check_value(case: Case, dtype: str, backend: str) -> None:
    """The results are the reference's, within the precision of the dtype."""
    with chosen(backend):
        arrays = case.draw(dtype)
        wanted = expected(case, arrays)
        scales = magnitudes(case, arrays, wanted)
        got = run(case, arrays, backend)
        assert len(got) == len(wanted), f"{len(got)} results, expected {len(wanted)}"
        for i, (g, w, s) in enumerate(zip(got, wanted, scales, strict=True)):
            assert_near(g, w, s, case.ulps, f"{case.id} on {backend}, result {i}")


def check_type(case: Case, dtype: str, backend: str) -> None:
    """The elements that come out have the shape and dtype that the type rule announces."""
    with chosen(backend):
        arrays = put_all(case.draw(dtype), backend)
        announced = stage(flat(case), [a.aval for a in arrays]).graph.out_avals
        for result, aval in zip(flat(case)(*arrays), announced, strict=True):
            host = np.asarray(result.host())
            assert result.aval is aval, f"{case.id}: eager {result.aval}, staged {aval}"
            assert (host.shape, host.dtype) == (aval.shape, aval.dtype), (
                f"{case.id} on {backend}: elements {host.dtype}{list(host.shape)}, type {aval}"
            )


def check_literals(case: Case, dtype: str, backend: str) -> None:
    """A Python scalar in place of an operand does what an array of it does."""
    with chosen(backend):
        arrays = case.draw(dtype)
        for i in case.literals:
            literal = arrays[i].flatten()[0]
            python = literal.item() if dtypes.kind(literal.dtype) != "float" else float(literal)
            same = [np.full_like(a, literal) if i == j else a for j, a in enumerate(arrays)]
            wanted = run(case, same, backend)
            operands = put_all(arrays, backend)
            operands[i] = python
            for form in (flat(case)(*operands), jitted(case, operands)):
                for g, w in zip(form, wanted, strict=True):
                    host = np.asarray(g.host())
                    assert host.dtype == w.dtype, f"{case.id}: literal gives {host.dtype}"
                    what = f"{case.id} with literal operand {i}"
                    assert_near(host, w, np.abs(w), case.ulps, what)


def jitted(case: Case, operands: Sequence[Any]) -> tuple[Any, ...]:
    """The results through a compiled graph; Python scalars stay literals."""
    arrays = [x for x in operands if hasattr(x, "aval")]

    def function(*given: Any) -> tuple[Any, ...]:
        coming = iter(given)
        return flat(case)(*(next(coming) if hasattr(x, "aval") else x for x in operands))

    graph = stage(function, [a.aval for a in arrays]).graph
    return call(*arrays, graph=graph, name=case.name)  # type: ignore[no-any-return]


def check_jit_equals_eager(case: Case, dtype: str, backend: str) -> None:
    """The compiled function gives what eager execution gives."""
    with chosen(backend):
        arrays = case.draw(dtype)
        operands = put_all(arrays, backend)
        eager = flat(case)(*operands)
        scales = magnitudes(case, arrays, [np.asarray(w.host()) for w in eager])
        for g, w, scale in zip(jitted(case, operands), eager, scales, strict=True):
            assert g.aval is w.aval, f"{case.id}: compiled {g.aval}, eager {w.aval}"
            a, b = np.asarray(g.host()), np.asarray(w.host())
            assert_near(a, b, scale, case.ulps, f"{case.id} compiled on {backend}")


def check_agreement(case: Case, dtype: str, backend: str) -> None:
    """The compiled function gives what the reference backend gives."""
    arrays = case.draw(dtype)
    with chosen(REFERENCE):
        wanted = run(case, arrays, REFERENCE)
    with chosen(backend):
        got = [np.asarray(g.host()) for g in jitted(case, put_all(arrays, backend))]
    scales = magnitudes(case, arrays, wanted)
    assert len(got) == len(wanted), f"{case.id}: {len(got)} results, expected {len(wanted)}"
    for g, w, scale in zip(got, wanted, scales, strict=True):
        assert g.dtype == w.dtype, f"{case.id}: {g.dtype} on {backend}, {w.dtype} on {REFERENCE}"
        # Each may be off by the published tolerance, to either side.
        assert_near(g, w, scale, 2 * case.ulps, f"{case.id}, {backend} against {REFERENCE}")


def check_placement(case: Case, dtype: str, backend: str) -> None:
    """Results lie where the operands lie, whichever backend is the default."""
    operands = put_all(case.draw(dtype), backend)
    with chosen(REFERENCE):
        for i, result in enumerate(flat(case)(*operands)):
            name = result.backend.name
            assert name == backend, f"{case.id}: result {i} lies on {name}, operands on {backend}"


_SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.0)


def special_operands(case: Case, dtype: str) -> tuple[np.ndarray, ...]:
    """Operands that hold every combination of nan, infinities and signed zeros."""
    inexact = [i for i, o in enumerate(case.specs) if dtypes.is_inexact(o.dtype or dtype)]
    drawn = case.draw(dtype)
    if not elementwise(case):
        result = list(drawn)
        for i in inexact:
            cycle = np.resize(np.array(_SPECIAL), drawn[i].shape)
            result[i] = cycle.astype(drawn[i].dtype)
        return tuple(result)
    columns = np.array(list(itertools.product(_SPECIAL, repeat=len(inexact)))).T
    filled = []
    for i in range(len(case.specs)):
        if i in inexact:
            filled.append(columns[inexact.index(i)].astype(drawn[i].dtype))
        else:
            filled.append(np.resize(drawn[i], columns.shape[1:]))
    return tuple(filled)


def elementwise(case: Case) -> bool:
    """True where operands of any common shape will do."""
    return bool(getattr(case.call, "elementwise", False))


def check_special_values(case: Case, dtype: str, backend: str) -> None:
    """NaN, infinities and signed zeros give what the reference says."""
    with chosen(backend):
        arrays = special_operands(case, dtype)
        wanted = expected(case, arrays)
        for g, w in zip(run(case, arrays, backend), wanted, strict=True):
            with np.errstate(all="ignore"):
                scale = np.abs(w) if case.scale is None else np.abs(w) + 10
            what = f"{case.id}, special values"
            assert_near(g, w, scale, case.ulps, what, case.signed_zeros)


def check_zero_size(case: Case, dtype: str, backend: str) -> None:
    """Operands without elements give results without elements."""
    with chosen(backend):
        drawn = case.draw(dtype)
        if elementwise(case):
            for shape in ((0,), (3, 0)):
                for r in run(case, case.with_shapes(dtype, shape), backend):
                    assert r.shape == shape, f"{case.id}: {shape} gave {r.shape}"
            ranks = case.with_shapes(dtype, ())
            for r in run(case, ranks, backend):
                assert r.shape == (), f"{case.id}: rank 0 gave {r.shape}"
        empty = [np.empty((0, *a.shape), a.dtype) for a in drawn]
        outs, dims = vmap_flat(flat(case), 0, put_all(empty, backend), [0] * len(empty))
        for o, d, r in zip(outs, dims, run(case, drawn, backend), strict=True):
            if d is not None:
                shape = (*r.shape[:d], 0, *r.shape[d:])
                host = np.asarray(o.host())
                assert (host.shape, host.dtype) == (shape, r.dtype), (
                    f"{case.id}: a batch of none gave {host.dtype}{list(host.shape)}"
                )


def check_layouts(case: Case, dtype: str, backend: str) -> None:
    """Host arrays with negative and wide strides give what contiguous ones give."""
    with chosen(backend):
        arrays = case.draw(dtype)
        wanted = run(case, arrays, backend)
        scales = magnitudes(case, arrays, wanted)
        for how, layout in (("reversed", backwards), ("spread out", spread)):
            got = run(case, [layout(a) for a in arrays], backend)
            for g, w, s in zip(got, wanted, scales, strict=True):
                assert_near(g, w, s, case.ulps, f"{case.id} of {how} operands")


def backwards(array: np.ndarray) -> np.ndarray:
    """An equal array whose strides are negative."""
    axes = tuple(slice(None, None, -1) for _ in range(array.ndim))
    return np.ascontiguousarray(array[axes])[axes] if array.ndim else array


def spread(array: np.ndarray) -> np.ndarray:
    """An equal array with gaps between its elements, its axes in the opposite order in memory."""
    wide = np.zeros(tuple(2 * n for n in array.shape[::-1]), array.dtype).T
    every_other = tuple(slice(None, None, 2) for _ in range(array.ndim))
    wide[every_other] = array
    result: np.ndarray = wide[every_other]
    return result


# ----------------------------------------------------------------- batching


def check_vmap(case: Case, dtype: str, backend: str) -> None:
    """Batching equals a loop, for every subset of operands and every place of the axis."""
    with chosen(backend):
        samples = [case.draw(dtype, seed) for seed in range(4)]
        # A size that also is a size of the operands, so that axes mixed up are not noticed
        # by their sizes alone.
        sizes = [n for o in case.specs for n in o.shape if n in (2, 3, 4)]
        size = sizes[0] if sizes else 2
        choices = [[None, *range(a.ndim + 1)] for a in samples[0]]
        batchings = [b for b in itertools.product(*choices) if any(d is not None for d in b)]
        step = max(1, -(-len(batchings) // _MOST_BATCHINGS))
        loops: dict[Any, list[tuple[np.ndarray, Any]]] = {}
        for dims in batchings[::step]:
            moving = tuple(d is not None for d in dims)
            if moving not in loops:
                rows = [
                    [s[j] if m else samples[0][j] for j, m in enumerate(moving)]
                    for s in samples[:size]
                ]
                results = [run(case, row, backend) for row in rows]
                scales = [magnitudes(case, *pair) for pair in zip(rows, results, strict=True)]
                loops[moving] = [
                    (np.stack(r), np.stack(s))
                    for r, s in zip(
                        zip(*results, strict=True), zip(*scales, strict=True), strict=True
                    )
                ]
            arrays = [
                samples[0][j] if d is None else np.stack([s[j] for s in samples[:size]], axis=d)
                for j, d in enumerate(dims)
            ]
            outs, out_dims = vmap_flat(flat(case), size, put_all(arrays, backend), dims)
            for o, d, (wanted, scale) in zip(outs, out_dims, loops[moving], strict=True):
                host = np.asarray(move_batch_dim(size, o, d, 0).host())
                what = f"{case.id} batched over axes {dims}"
                assert_near(host, wanted, scale, case.ulps, what)


# ----------------------------------------------------------------- derivatives


def direction(case: Case, arrays: Sequence[np.ndarray], seed: int) -> list[Any]:
    """A tangent for each operand with a derivative; None for the others."""
    rng = np.random.default_rng(seed)
    tangents: list[Any] = []
    for a, moves in zip(arrays, case.active(tuple(arrays)), strict=True):
        tangents.append(like(rng, a) if moves else None)
    return tangents


def like(rng: np.random.Generator, a: np.ndarray) -> np.ndarray:
    """Random elements in the shape and dtype of `a`."""
    values: Any = rng.uniform(-1, 1, a.shape)
    if dtypes.kind(a.dtype) == "complex":
        values = values + 1j * rng.uniform(-1, 1, a.shape)
    return np.asarray(values).astype(a.dtype)


def hosted(x: Any, shape_of: Any) -> np.ndarray:
    """A tangent as a NumPy array, zeros where it is `Zero`."""
    if x is Zero:
        return np.zeros(np.shape(shape_of), np.asarray(shape_of).dtype)
    return np.asarray(x.host())


def pushed(
    function: Callable[..., Any], arrays: Sequence[Any], tangents: Sequence[Any], backend: str
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Values and tangents of a flat function at NumPy arrays, as NumPy arrays."""
    given = [Zero if t is None else put(t, backend) for t in tangents]
    outs, out_tangents = jvp_flat(function, put_all(arrays, backend), given)
    values = [np.asarray(o.host()) for o in outs]
    return values, [hosted(t, v) for t, v in zip(out_tangents, values, strict=True)]


def moved(arrays: Sequence[Any], tangents: Sequence[Any], step: float) -> list[np.ndarray]:
    """The operands, a step along the tangents away."""
    return [
        a if t is None else np.asarray(a + step * t).astype(a.dtype)
        for a, t in zip(arrays, tangents, strict=True)
    ]


def differences(
    function: Callable[[Sequence[np.ndarray]], list[np.ndarray]],
    arrays: Sequence[np.ndarray],
    tangents: Sequence[Any],
) -> list[np.ndarray]:
    """Central differences of a function of NumPy arrays; 0 where it has no derivative."""
    above, below = (function(moved(arrays, tangents, s)) for s in (STEP, -STEP))
    return [difference_quotient(a, b) for a, b in zip(above, below, strict=True)]


def difference_quotient(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """The central difference; 0 where the elements stay what they are, nan or inf too."""
    if not dtypes.is_inexact(above.dtype):
        return np.zeros(above.shape)
    a, b = widened(above), widened(below)
    still = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(all="ignore"):
        return np.where(still, 0, (a - b) / (2 * STEP))


def inexact_results(results: Sequence[np.ndarray]) -> list[int]:
    """The numbers of the results that have a derivative."""
    return [i for i, r in enumerate(results) if dtypes.is_inexact(r.dtype)]


def is_wide(array: np.ndarray) -> bool:
    """True for the dtypes that are precise enough for differences."""
    return eps_of(array.dtype) < 1e-12


def precision(results: Sequence[np.ndarray]) -> float:
    """How far sums of products may differ, for results of these dtypes."""
    return max(1e-9, *(50 * eps_of(r.dtype) for r in results), 0.0)


def check_jvp(case: Case, dtype: str, backend: str) -> None:
    """The forward derivative is the limit of differences; operands without one have none.

    Where several operands have one, each also moves alone: rules have shortcuts for that.
    """
    with chosen(backend):
        arrays = case.draw(dtype)
        together = direction(case, arrays, 1)
        moving = [i for i, t in enumerate(together) if t is not None]
        if not moving:
            check_no_derivative(case, arrays, backend)
            return

        def value(xs: Sequence[np.ndarray]) -> list[np.ndarray]:
            return run(case, xs, backend)

        ways = [("", together)]
        if len(moving) > 1:
            for i in moving:
                alone = [t if i == j else None for j, t in enumerate(together)]
                ways.append((f" by operand {i} alone", alone))
        for how, tangents in ways:
            values, got = pushed(flat(case), arrays, tangents, backend)
            wanted = differences(value, arrays, tangents)
            for i in inexact_results(values):
                if is_wide(values[i]):
                    assert_close(got[i], wanted[i], f"{case.id}: jvp of result {i}{how}")


def check_no_derivative(case: Case, arrays: Sequence[np.ndarray], backend: str) -> None:
    """Operands of inexact dtype without derivative give the tangent `Zero`."""
    given = [put(np.ones_like(a), backend) if dtypes.is_inexact(a.dtype) else Zero for a in arrays]
    _, tangents = jvp_flat(flat(case), put_all(arrays, backend), given)
    assert all(t is Zero for t in tangents), f"{case.id}: a tangent where there is none"


def pairing(left: Sequence[Any], right: Sequence[Any]) -> float:
    """The real part of the sum of products, which transposition keeps."""
    return float(
        sum(
            np.sum(widened(a) * widened(b)).real
            for a, b in zip(left, right, strict=True)
            if a is not None and b is not None
        )
    )


def pulled(
    function: Callable[..., Any],
    arrays: Sequence[np.ndarray],
    active: Sequence[bool],
    cotangents: Sequence[Any],
    backend: str,
) -> list[Any]:
    """Cotangents of the active operands as NumPy arrays, None for the others."""
    linear = linearize_flat(function, put_all(arrays, backend), active)
    given = [Zero if ct is None else put(ct, backend) for ct in cotangents]
    answers = iter(backward(linear, given))
    return [hosted(next(answers), a) if m else None for a, m in zip(arrays, active, strict=True)]


def cotangents_for(results: Sequence[np.ndarray], seed: int) -> list[Any]:
    """A random cotangent for each inexact result; None for the others."""
    rng = np.random.default_rng(seed)
    return [like(rng, r) if dtypes.is_inexact(r.dtype) else None for r in results]


def check_dot_product(case: Case, dtype: str, backend: str) -> None:
    """Reverse mode is the transpose of forward mode: <ct, J v> = <J^T ct, v>.

    Checked eagerly, and through the partially evaluated call of the compiled function.
    """
    with chosen(backend):
        arrays = case.draw(dtype)
        tangents = direction(case, arrays, 2)
        active = [t is not None for t in tangents]
        if not any(active):
            return
        values, forward = pushed(flat(case), arrays, tangents, backend)
        cts = cotangents_for(values, 3)
        graph = stage(flat(case), [x.aval for x in put_all(arrays, backend)]).graph
        compiled = lambda *xs: call(*xs, graph=graph, name=case.name)  # noqa: E731
        left = pairing(cts, forward)
        size = 1 + sum(np.sum(np.abs(widened(t))) for t in forward)
        for how, function in (("eager", flat(case)), ("compiled", compiled)):
            back = pulled(function, arrays, active, cts, backend)
            for a, b in zip(arrays, back, strict=True):
                if b is not None:
                    assert (b.shape, b.dtype) == (a.shape, a.dtype), (
                        f"{case.id}, {how}: cotangent {b.dtype}{list(b.shape)} for "
                        f"{a.dtype}{list(a.shape)}"
                    )
            right = pairing(back, tangents)
            assert abs(left - right) <= precision(values) * size, (
                f"{case.id}, {how}: <ct, J v> = {left}, <J^T ct, v> = {right}"
            )


def check_transpose(case: Case, dtype: str, backend: str) -> None:
    """What is linear in one operand has a transpose there: <ct, f'(v)> = <transpose(ct), v>.

    Reverse mode asks a rule about its own favourite operand alone; `ax.linear_transpose` asks
    about any.
    """
    with chosen(backend):
        arrays = case.draw(dtype)
        tangents, steps = direction(case, arrays, 7), direction(case, arrays, 8)
        graph = stage(flat(case), [x.aval for x in put_all(arrays, backend)]).graph
        for i, tangent in enumerate(tangents):
            if tangent is None or not arrays[i].size:
                continue
            alone = [tangent if i == j else None for j in range(len(arrays))]
            elsewhere = [a + s if i == j else a for j, (a, s) in enumerate(zip(arrays, steps))]
            values, forward = pushed(flat(case), arrays, alone, backend)
            _, again = pushed(flat(case), elsewhere, alone, backend)
            if any(not np.allclose(f, g, 1e-9, 1e-9) for f, g in zip(forward, again, strict=True)):
                continue  # its derivative depends on where it is
            cts = cotangents_for(values, 9)
            linear = tuple(i == j for j in range(len(arrays)))
            given = tuple(ct is not None for ct in cts)
            try:
                back, found = transpose_graph(graph, linear, given)
            except errors.GradError:
                continue  # it is linear here by chance, and says that it is not
            known = put_all([a for j, a in enumerate(arrays) if i != j], backend)
            results = evaluate(back, [*known, *(put(c, backend) for c in cts if c is not None)])
            got = np.asarray(results[0].host()) if found[0] else np.zeros_like(arrays[i])
            left, right = pairing(cts, forward), pairing([got], [tangent])
            size = 1 + sum(np.sum(np.abs(widened(t))) for t in forward)
            assert abs(left - right) <= precision(values) * size, (
                f"{case.id}, operand {i}: <ct, J v> = {left}, <transpose(ct), v> = {right}"
            )


def check_second_order(case: Case, dtype: str, backend: str) -> None:
    """Second derivatives agree: differences of the first, forward twice, forward of reverse,
    reverse of forward, reverse of reverse.
    """
    with chosen(backend):
        arrays = case.draw(dtype)
        v, w = direction(case, arrays, 4), direction(case, arrays, 5)
        active = [t is not None for t in v]
        if not any(active):
            return
        values, _ = pushed(flat(case), arrays, v, backend)
        kept = inexact_results(values)
        cts = cotangents_for(values, 6)

        def along_v(*xs: Any) -> list[Any]:
            given = [Zero if t is None else put(t, backend) for t in v]
            _, tangents = jvp_flat(flat(case), xs, given)
            return [
                t if t is not Zero else put(np.zeros_like(r), backend)
                for t, r in zip(tangents, values, strict=True)
                if dtypes.is_inexact(r.dtype)
            ]

        def gradient(*xs: Any) -> list[Any]:
            linear = linearize_flat(flat(case), list(xs), active)
            given = [Zero if ct is None else put(ct, backend) for ct in cts]
            return [
                put(np.zeros_like(a), backend) if b is Zero else b
                for a, b in zip(
                    [a for a, m in zip(arrays, active, strict=True) if m],
                    backward(linear, given),
                    strict=True,
                )
            ]

        first, second = pushed(along_v, arrays, w, backend)
        wanted = differences(
            lambda xs: [np.asarray(r.host()) for r in along_v(*put_all(xs, backend))], arrays, w
        )
        for g, d in zip(second, wanted, strict=True):
            if is_wide(g):
                assert_close(g, d, f"{case.id}: second derivative forward over forward")
        # <ct, d2f(v, w)> in the three further ways.
        truth = pairing([cts[i] for i in kept], second)
        size = 1 + sum(np.sum(np.abs(widened(t))) for t in (*second, *first))
        moving = [t for t in v if t is not None]
        _, changed = pushed(gradient, arrays, w, backend)
        back = pulled(along_v, arrays, active, [cts[i] for i in kept], backend)
        twice = pulled(gradient, arrays, active, moving, backend)
        for how, value in (
            ("forward over reverse", pairing(changed, moving)),
            ("reverse over forward", pairing(back, w)),
            ("reverse over reverse", pairing(twice, w)),
        ):
            assert abs(value - truth) <= 10 * precision(second) * size, (
                f"{case.id}: second derivative {how} is {value}, forward over forward {truth}"
            )


def check_zeros_absorb(case: Case, dtype: str, backend: str) -> None:
    """A zero tangent or cotangent stays zero wherever the function is singular."""
    with chosen(backend):
        arrays = special_operands(case, dtype)
        active = case.active(arrays)
        if not any(active):
            return
        zeros = [np.zeros_like(a) if m else None for a, m in zip(arrays, active, strict=True)]
        values, tangents = pushed(flat(case), arrays, zeros, backend)
        cts = [np.zeros_like(r) if dtypes.is_inexact(r.dtype) else None for r in values]
        for t in (*tangents, *pulled(flat(case), arrays, active, cts, backend)):
            if t is not None:
                wrong = widened(t) != 0
                assert not wrong.any(), difference(t, np.zeros_like(t), wrong, f"{case.id}: 0 grew")


# ----------------------------------------------------------------- the list


@dataclass(frozen=True)
class Check:
    """A check by name, with the dtypes of a case that it is run in: none where it says nothing."""

    name: str
    function: Callable[[Case, str, str], None]
    dtypes: Callable[[Case], tuple[str, ...]]


def _all(case: Case) -> tuple[str, ...]:
    return case.dtypes


def _main(case: Case) -> tuple[str, ...]:
    return (case.main_dtype,)


def _derivative(case: Case) -> tuple[str, ...]:
    return case.derivative_dtypes()


def _inexact(case: Case) -> tuple[str, ...]:
    return tuple(d for d in ("float32", "float64", "bfloat16") if d in case.dtypes)


def _real_derivative(case: Case) -> tuple[str, ...]:
    return tuple(d for d in ("float32", "float64") if d in case.dtypes)


def _two(case: Case) -> tuple[str, ...]:
    return tuple(dict.fromkeys((case.main_dtype, *case.dtypes[:1])))


def _if(
    fits: Callable[[Case], object], names: Callable[[Case], tuple[str, ...]]
) -> Callable[[Case], tuple[str, ...]]:
    """The dtypes of the cases that a check has something to say of."""
    return lambda case: names(case) if fits(case) else ()


def _referenced(case: Case) -> bool:
    return case.reference is not None


def _transposed(case: Case) -> bool:
    return isinstance(case.call, Primitive) and case.call.transpose is not None


CHECKS = (
    Check("value", check_value, _if(_referenced, _all)),
    Check("type", check_type, _all),
    Check("literals", check_literals, _if(lambda case: case.literals, _all)),
    Check(
        "special_values",
        check_special_values,
        _if(lambda case: case.special and _referenced(case), _inexact),
    ),
    Check("zero_size", check_zero_size, _two),
    Check("layouts", check_layouts, _main),
    Check("vmap", check_vmap, _main),
    # In all dtypes: a backend may run small eager operations elsewhere than compiled ones.
    Check("jit_equals_eager", check_jit_equals_eager, _all),
    Check("agreement", check_agreement, _all),
    Check("placement", check_placement, _if(lambda case: case.specs and case.placed, _main)),
    Check("jvp", check_jvp, _derivative),
    Check("dot_product", check_dot_product, _derivative),
    Check("transpose", check_transpose, _if(_transposed, _derivative)),
    Check("second_order", check_second_order, _if(lambda case: case.second_order, _derivative)),
    Check("zeros_absorb", check_zeros_absorb, _if(elementwise, _real_derivative)),
)
