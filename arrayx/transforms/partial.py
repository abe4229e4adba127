"""Linearizing a whole graph: a forward graph, a linear graph, and what passes between.

What passes between are *residuals*.  Saving every operand of the linear part would fill
memory and time with them, so chains of cheap operations are made again in the linear part
from inputs, contractions, reductions, and some results of costly functions such as `exp`;
`config.residual_policy` can say otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from arrayx.config import config
from arrayx.core.array import is_scalar
from arrayx.core.checking import checked
from arrayx.core.graph import Equation, Graph, Var
from arrayx.core.interpreter import BASE, opened
from arrayx.core.linear import Zero
from arrayx.primitives.collectives import pvary
from arrayx.primitives.creation import full, zero_literal
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.linearize import LinearTracer, linearize_flat
from arrayx.transforms.silence import silenced
from arrayx.transforms.simplify import dead_code_removed
from arrayx.transforms.stage import StageInterpreter, collector_paused, output_var


class Split(NamedTuple):
    """A graph taken apart for differentiation.

    `forward` takes the graph's inputs and gives its outputs, then further residuals.
    `residuals` says where each residual comes from: ("input", i) or ("output", i) of
    `forward`.  `linear` takes the residuals, then the tangents of the active inputs, and
    gives the tangents of the outputs marked in `out_active`.
    """

    forward: Graph
    residuals: tuple[tuple[str, int], ...]
    linear: Graph
    out_active: tuple[bool, ...]


def linearize_graph(
    graph: Graph, active: tuple[bool, ...], forced: tuple[bool, ...] | None = None
) -> Split:
    """Takes a graph apart at the inputs marked `active`; remembered on the graph.

    The outputs marked in `forced` have a tangent even where it is zero, and it varies over the
    mesh axes that they do.
    """
    key = "linearize", active, forced, config.snapshot()
    if key not in graph.memo:
        graph.memo[key] = _linearize(graph, active, forced or (False,) * len(graph.outputs))
    return graph.memo[key]  # type: ignore[no-any-return]


def linearize_from_inputs(
    graph: Graph, active: tuple[bool, ...], forced: tuple[bool, ...] | None = None
) -> Split:
    """`linearize_graph` that saves nothing but inputs: the linear part runs the graph again."""
    return linearize_saving(graph, active, forced, None)


def linearize_saving(
    graph: Graph,
    active: tuple[bool, ...],
    forced: tuple[bool, ...] | None,
    saveable: Callable[..., Any] | None,
) -> Split:
    """`linearize_graph` that saves inputs, and of the rest what `saveable` lets it save.

    `saveable(primitive, *avals, **params)` is asked of each application whose result the
    linear part needs; what it is not true of is computed again there.  Effects do not happen
    again: what they gave is saved.
    """
    key = "linearize saving", active, forced, saveable, config.snapshot()
    if key not in graph.memo:
        split = linearize_graph(graph, active, forced)
        graph.memo[key] = _saving(graph, split, saveable)
    return graph.memo[key]  # type: ignore[no-any-return]


def _saving(graph: Graph, split: Split, saveable: Callable[..., Any] | None) -> Split:
    forward, linear = split.forward, split.linear
    # What both graphs do, on the same variables, is done once.
    made = {v for e in forward.equations for v in e.outputs}
    equations = [
        *forward.equations,
        *(e for e in linear.equations if made.isdisjoint(e.outputs)),
    ]
    moving = {*linear.inputs[len(split.residuals) :]}
    for e in equations:
        if not moving.isdisjoint(e.inputs):
            moving.update(e.outputs)
    known = [e for e in equations if moving.isdisjoint(e.outputs)]
    needed = {*linear.outputs}
    again: list[Equation] = []
    saved: list[Var] = []
    for e in reversed(equations):
        if needed.isdisjoint(e.outputs):
            continue
        if moving.isdisjoint(e.outputs):
            quiet = silenced(e)
            if quiet is None or quiet.effects or (saveable is not None and _asked(saveable, e)):
                saved.extend(v for v in reversed(e.outputs) if v in needed)
                continue
            e = quiet
        again.append(e)
        needed.update(a for a in e.inputs if type(a) is Var)
    saved.reverse()
    used = {a for e in again for a in e.inputs if type(a) is Var} | {*linear.outputs}
    held = dict(zip(forward.constants, forward.constant_values, strict=True))
    held.update(zip(linear.constants, linear.constant_values, strict=True))
    kept = [i for i, v in enumerate(forward.inputs) if v in used]
    rest = Graph(
        (
            *(forward.inputs[i] for i in kept),
            *saved,
            *linear.inputs[len(split.residuals) :],
        ),
        again[::-1],
        linear.outputs,
        [v for v in held if v in used],
        [x for v, x in held.items() if v in used],
    )
    n = len(graph.outputs)
    outputs = list(forward.outputs[:n])
    residuals = [("input", i) for i in kept]
    for v in saved:
        if v not in outputs:
            outputs.append(v)
        residuals.append(("output", outputs.index(v)))
    whole = graph
    if len(outputs) > n or any(source == "output" for source, _ in residuals):
        whole = dead_code_removed(Graph(forward.inputs, known, outputs, [*held], held.values()))
    return Split(checked(whole), tuple(residuals), checked(rest), split.out_active)


def _asked(saveable: Callable[..., Any], e: Equation) -> bool:
    """Whether a policy lets the results of an equation be saved."""
    avals = [a.aval if type(a) is Var else type(a) for a in e.inputs]
    return bool(saveable(e.primitive, *avals, **e.params))


def zeros_equations(var: Var) -> list[Equation]:
    """The equations that make `var` zeros."""
    if var.aval.varying:
        first = Var(var.aval.unvarying())
        axes = tuple(sorted(var.aval.varying, key=str))
        return [*zeros_equations(first), Equation(pvary, (first,), {"axes": axes}, (var,))]
    dtype = var.aval.dtype
    params = {
        "shape": var.aval.shape,
        "dtype": dtype,
        "value": zero_literal(dtype),
        "weak_type": var.aval.weak_type,
    }
    return [Equation(full, (), params, (var,))]


def _linearize(graph: Graph, active: tuple[bool, ...], forced: tuple[bool, ...]) -> Split:
    stage = StageInterpreter(BASE, "a derived graph")
    with collector_paused(), opened(stage):
        args = [stage.argument(aval, None) for aval in graph.in_avals]
        linearized = linearize_flat(lambda *xs: evaluate(graph, xs), args, active)
        outputs = [output_var(stage, out) for out in linearized.outs]
        tangents: list[Var] = [Var(t.aval) for t in linearized.inputs if t is not None]
        by_index = dict(
            zip((t.index for t in linearized.inputs if t is not None), tangents, strict=True)
        )
        linear_equations = []
        tape = linearized.tape
        assert tape.sources is not None  # its parent is a stage
        for entry, where in zip(tape.entries, tape.sources, strict=True):
            primitive, operands, params, result = entry
            inputs = tuple(
                by_index[a.index]
                if type(a) is LinearTracer and a.interpreter is linearized.tape
                else a
                if is_scalar(a)
                else stage.lift(a)
                for a in operands
            )
            results = result if primitive.multiple else (result,)
            made = tuple(Var(r.aval) for r in results)
            by_index.update(zip((r.index for r in results), made, strict=True))
            equation = Equation(primitive, inputs, params or {}, made, source=where)
            linear_equations.append(equation)
    out_active = tuple(
        t is not Zero or wanted for t, wanted in zip(linearized.tangents, forced, strict=True)
    )
    out_tangents = []
    for t, wanted, aval in zip(linearized.tangents, forced, graph.out_avals, strict=True):
        if t is not Zero:
            var = by_index[t.index]
            missing = aval.varying - var.aval.varying
            if wanted and missing:
                first, var = var, Var(var.aval.update(varying=aval.varying))
                axes = tuple(sorted(missing, key=str))
                linear_equations.append(Equation(pvary, (first,), {"axes": axes}, (var,)))
            out_tangents.append(var)
        elif wanted:
            out_tangents.append(Var(aval.strong()))
            linear_equations += zeros_equations(out_tangents[-1])
    linear_equations = _without_dead(linear_equations, out_tangents)
    inputs_of_graph = [a.variable for a in args]
    constants = dict(stage.constants.values())
    tangent_vars = {*by_index.values()}
    needed = {
        a for e in linear_equations for a in e.inputs if type(a) is Var and a not in tangent_vars
    }
    computed = {v for e in _without_dead(stage.equations, outputs) for v in e.outputs}
    again, saved = _recomputed(stage.equations, needed, inputs_of_graph, computed)
    position: dict[Var, tuple[str, int]] = {}
    for i, var in enumerate(outputs):
        position[var] = "output", i
    for i, var in enumerate(inputs_of_graph):
        position[var] = "input", i
    forward_outputs = list(outputs)
    residuals = []
    for var in saved:
        if var not in position:
            position[var] = "output", len(forward_outputs)
            forward_outputs.append(var)
        residuals.append(position[var])
    forward = dead_code_removed(
        Graph(inputs_of_graph, stage.equations, forward_outputs, constants, constants.values())
    )
    used = {a for e in (*again, *linear_equations) for a in e.inputs if type(a) is Var}
    linear = Graph(
        (*saved, *tangents),
        (*again, *linear_equations),
        out_tangents,
        [v for v in constants if v in used],
        [x for v, x in constants.items() if v in used],
    )
    return Split(checked(forward), tuple(residuals), checked(linear), out_active)


def _without_dead(equations: list[Equation], outputs: list[Var]) -> list[Equation]:
    """The equations that the outputs need."""
    live = {*outputs}
    kept = []
    for e in reversed(equations):
        if any(v in live for v in e.outputs):
            kept.append(e)
            live.update(a for a in e.inputs if type(a) is Var)
    return kept[::-1]


def _recomputed(
    equations: list[Equation], wanted: set[Var], given: list[Var], computed: set[Var]
) -> tuple[list[Equation], list[Var]]:
    """The equations to run again for `wanted`, and the variables to save, in order.

    `given` are the graph's inputs: they need no equation.  `computed` is what the forward
    graph computes anyway: of that, results of costly functions are saved too, the last ones
    first, as long as they take no more memory than the inputs.
    """
    if config.residual_policy == "save":
        saved = [v for e in equations for v in e.outputs if v in wanted]
        return [], [*(v for v in given if v in wanted), *saved]
    needed = {*wanted}
    again = []
    saved = []
    room = sum(v.aval.nbytes for v in given)
    for e in reversed(equations):
        if not any(v in needed for v in e.outputs):
            continue
        out = e.outputs[0]
        if e.primitive.costly and out in computed and out.aval.nbytes <= room:
            room -= out.aval.nbytes
            saved.append(out)
        elif e.primitive.cheap and not e.effects:
            again.append(e)
            needed.update(a for a in e.inputs if type(a) is Var)
        else:
            saved.extend(v for v in reversed(e.outputs) if v in needed)
    # An input of the graph that is needed is handed over once more, which costs nothing.
    return again[::-1], [*(v for v in given if v in needed), *saved[::-1]]
