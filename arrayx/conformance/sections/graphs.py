"""Whole programs made at random: a backend computes them, their derivatives and their batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from arrayx import dtypes
from arrayx.backend.registry import chosen
from arrayx.conformance.checks import REFERENCE, pairing, pulled, pushed, put_all
from arrayx.conformance.item import Item
from arrayx.conformance.sections.search import Failure, search
from arrayx.conformance.sections.statement import item
from arrayx.control.call import call
from arrayx.core.checking import check_graph
from arrayx.core.graph import Graph, Var
from arrayx.lazy import lazy
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.fuse import plan, run_plan
from arrayx.transforms.simplify import simplify
from arrayx.transforms.vmap import vmap_flat

programs = lazy("arrayx.conformance.programs")

_ITEMS = 12
_EXAMPLES = 10
# How often a program is run with its roundings changed, to learn how far they carry.
_SHAKES = 6
# Primitives whose results are rounded; all others here move or choose elements.
_ROUNDED = frozenset(
    ("add", "sub", "mul", "absorb_mul", "div", "reduce_sum", "dot_general")
) | frozenset(("sin", "cos", "tanh", "logistic"))


def items(backend: str) -> Iterator[Item]:
    """Each property, over several seeds."""
    for prop in PROPERTIES:
        for number in range(_ITEMS):
            yield item(
                "graphs",
                prop.__name__,
                check,
                prop.__name__,
                number,
                backend,
                detail=str(number),
                owed=True,
                core=number < 2,
            )


def check(name: str, number: int, backend: str) -> None:
    """Draws programs until the property fails for one; the smallest found is told."""
    prop = next(p for p in PROPERTIES if p.__name__ == name)
    finite = prop in _OF_FINITE_PROGRAMS

    def attempt(data: Any) -> None:
        graph = data.draw(programs.graphs(finite=finite))
        arguments = data.draw(programs.arguments_of(graph, finite))
        try:
            with chosen(backend):
                prop(graph, arguments, backend)
        except AssertionError as error:
            told = ", ".join(f"np.array({a.tolist()}, {str(a.dtype)!r})" for a in arguments)
            raise Failure(len(graph), f"{error}\n{graph}\narguments: [{told}]") from None

    search(attempt, f"{name}/{number}", _EXAMPLES)


# ----------------------------------------------------------------- how far roundings carry


def compiled(graph: Graph, arguments: Any, backend: str) -> list[np.ndarray]:
    """The results of the whole program, compiled by the backend."""
    results = call(*put_all(arguments, backend), graph=graph, name="program")
    return programs.host_values(results)  # type: ignore[no-any-return]


def equation_by_equation(graph: Graph, arguments: Any, shake: Any = None) -> list[np.ndarray]:
    """The results on the reference backend, each rounding changed by up to one unit."""
    with chosen(REFERENCE):
        values: dict[Any, Any] = dict(zip(graph.constants, graph.constant_values, strict=True))
        values.update(zip(graph.inputs, put_all(arguments, REFERENCE), strict=True))
        for equation in graph.equations:
            inputs = [values[a] if type(a) is Var else a for a in equation.inputs]
            if "graph" in equation.params:
                inner = [np.asarray(x.host()) if hasattr(x, "host") else x for x in inputs]
                results: Any = put_all(
                    equation_by_equation(equation.params["graph"], inner, shake), REFERENCE
                )
            else:
                results = equation.primitive(*inputs, **equation.params)
            if not equation.primitive.multiple:
                results = (results,)
            if shake is not None and equation.primitive.name in _ROUNDED:
                results = put_all([shaken(np.asarray(r.host()), shake) for r in results], REFERENCE)
            values.update(zip(equation.outputs, results, strict=True))
        return programs.host_values([values[v] for v in graph.outputs])  # type: ignore[no-any-return]


def shaken(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each element up to one unit in the last place away."""
    if not dtypes.is_inexact(x.dtype):
        return x
    eps = float(dtypes.finfo(x.dtype).eps)
    factor = 1 + eps * rng.choice([-1.0, 0.0, 1.0], x.shape)
    with np.errstate(all="ignore"):
        return np.asarray(x.astype(np.float64) * factor).astype(x.dtype)


def assert_explained(got: list[np.ndarray], graph: Graph, arguments: Any, what: str) -> None:
    """Raises where a result is further from the reference than roundings can carry it.

    The reference is run several times with its roundings changed; what such a run can change,
    another backend may change as well, four times as far.
    """
    wanted = equation_by_equation(graph, arguments)
    if all(programs.same_elements(g, w) for g, w in zip(got, wanted, strict=True)):
        return
    rng = np.random.default_rng(0)
    runs = [equation_by_equation(graph, arguments, rng) for _ in range(_SHAKES)]
    for i, (g, w) in enumerate(zip(got, wanted, strict=True)):
        assert (g.shape, g.dtype) == (w.shape, w.dtype), f"{what}: {g.dtype}{list(g.shape)}"
        a, b = g.astype(np.float64), w.astype(np.float64)
        others = np.stack([run[i].astype(np.float64) for run in runs])
        with np.errstate(all="ignore"):
            # Where changed roundings flip a choice, anything may come out.
            flips = ~np.isfinite(others).all(0) | ~np.isfinite(b)
            moved = np.nanmax(np.abs(np.where(np.isfinite(others), others, b) - b), 0)
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            unstable = flips & ~np.all((others == b) | (np.isnan(others) & np.isnan(b)), 0)
            wrong = ~same & ~unstable & ~(np.abs(a - b) <= 4 * moved)
        assert not wrong.any(), f"{what}: result {i} is {g.tolist()}, expected {w.tolist()}"


# ----------------------------------------------------------------- properties


def a_program_computes_what_its_equations_do(graph: Graph, arguments: Any, backend: str) -> None:
    """Compiled as a whole it gives what the reference gives equation by equation."""
    assert_explained(compiled(graph, arguments, backend), graph, arguments, "compiled")


def a_program_runs_eagerly(graph: Graph, arguments: Any, backend: str) -> None:
    """Equation by equation on the backend it gives the same."""
    got = programs.host_values(evaluate(graph, put_all(arguments, backend)))
    assert_explained(got, graph, arguments, "eager")


def the_groups_of_a_program_equal_it(graph: Graph, arguments: Any, backend: str) -> None:
    """The planner's groups, run one after the other, give what the whole gives."""
    got = programs.host_values(run_plan(graph, plan(graph), put_all(arguments, backend)))
    assert_explained(got, graph, arguments, "in groups")


def a_simplified_program_equals_it(graph: Graph, arguments: Any, backend: str) -> None:
    """Simplified it is well-typed, not longer, and gives the same."""
    short = simplify(graph)
    check_graph(short)
    assert len(short.equations) <= len(graph.equations), "simplified it is longer"
    got = programs.host_values(evaluate(short, put_all(arguments, backend)))
    assert_explained(got, graph, arguments, "simplified")


def its_derivatives_are_transposes(graph: Graph, arguments: Any, backend: str) -> None:
    """Reverse mode is the transpose of forward mode, through the compiled program."""

    def function(*xs: Any) -> Any:
        return tuple(call(*xs, graph=graph, name="program"))

    def eagerly(*xs: Any) -> Any:
        return tuple(evaluate(graph, xs))

    rng = np.random.default_rng(1)
    active = [dtypes.is_inexact(a.dtype) for a in arguments]
    if not any(active):
        return
    tangents = [
        rng.uniform(-1, 1, a.shape).astype(a.dtype) if m else None
        for a, m in zip(arguments, active, strict=True)
    ]
    values, forward = pushed(function, arguments, tangents, backend)
    _, plain = pushed(eagerly, arguments, tangents, backend)
    cts = [
        rng.uniform(-1, 1, v.shape).astype(v.dtype) if dtypes.is_inexact(v.dtype) else None
        for v in values
    ]
    back = pulled(function, arguments, active, cts, backend)
    inexact = [a.dtype for a in (*values, *arguments) if dtypes.is_inexact(a.dtype)]
    eps = max(float(dtypes.finfo(dtype).eps) for dtype in inexact)
    size = 1 + sum(float(np.sum(np.abs(t.astype(np.float64)))) for t in forward)
    size += sum(float(np.sum(np.abs(b.astype(np.float64)))) for b in back if b is not None)
    for f, p in zip(forward, plain, strict=True):
        assert np.allclose(f, p, rtol=500 * eps, atol=500 * eps * size), (
            f"the compiled program's tangent is {f.tolist()}, the eager one's {p.tolist()}"
        )
    left, right = pairing(cts, forward), pairing(back, tangents)
    assert abs(left - right) <= 500 * eps * size, f"<ct, J v> = {left}, <J^T ct, v> = {right}"


def a_batch_of_programs_equals_a_loop(graph: Graph, arguments: Any, backend: str) -> None:
    """Batched over the first axis it gives what a loop gives."""
    lanes = [np.stack([a, np.flip(a)]) for a in arguments]
    outs, dims = vmap_flat(
        lambda *xs: tuple(call(*xs, graph=graph, name="program")),
        2,
        put_all(lanes, backend),
        [0] * len(lanes),
    )
    hosts = programs.host_values(outs)
    for lane in range(2):
        got = [h if d is None else np.take(h, lane, d) for h, d in zip(hosts, dims, strict=True)]
        assert_explained(got, graph, [a[lane] for a in lanes], f"lane {lane}")


PROPERTIES = (
    a_program_computes_what_its_equations_do,
    a_program_runs_eagerly,
    the_groups_of_a_program_equal_it,
    a_simplified_program_equals_it,
    its_derivatives_are_transposes,
    a_batch_of_programs_equals_a_loop,
)
_OF_FINITE_PROGRAMS = (its_derivatives_are_transposes,)
