"""Reverse mode: a linear tape, or a linear graph, run backwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayx.core.graph import Graph, Var
from arrayx.core.interpreter import current, opened
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.arithmetic import add
from arrayx.primitives.collectives import matched
from arrayx.primitives.creation import zeros
from arrayx.source import Source, in_backward, replaying
from arrayx.transforms.evaluate import constants_of, evaluate
from arrayx.transforms.jvp import refuse_missing_rule
from arrayx.transforms.linearize import PRODUCT, Linearized, LinearTracer, Tape
from arrayx.transforms.stage import derive


def add_cotangents(a: Any, b: Any) -> Any:
    """The sum of two cotangents, either of which may be absent (None)."""
    if a is None:
        return b
    if b is None:
        return a
    return add(a, b)


def backward(linear: Linearized, cotangents: Sequence[Any]) -> list[Any]:
    """Cotangents (or `Zero`) of the differentiated inputs for those of the outputs."""
    if linear.tape.sources is None:
        return _backward(linear, cotangents, None)
    with replaying() as cell:
        return _backward(linear, cotangents, cell)


def _backward(
    linear: Linearized, cotangents: Sequence[Any], cell: list[Source | None] | None
) -> list[Any]:
    """`backward`; what is staged on the way gets the position of its entry, through `cell`."""
    tape = linear.tape
    sources = reversed(tape.sources or ())
    cts: list[Any] = [None] * tape.count
    for tangent, given in zip(linear.tangents, cotangents, strict=True):
        if tangent is not Zero and given is not Zero:
            if given.aval.varying is not tangent.aval.varying:
                given = matched(given, tangent.aval)
            cts[tangent.index] = add_cotangents(cts[tangent.index], given)
    for primitive, args, params, result in reversed(tape.entries):
        if cell is not None:
            cell[0] = in_backward(next(sources))
        ct: Any
        if params is PRODUCT:
            ct = cts[result.index]
            if ct is not None:
                i = args[0].index
                ct = primitive(ct, args[1])
                if ct.aval.varying is not args[0].aval.varying:
                    ct = matched(ct, args[0].aval)
                held = cts[i]
                cts[i] = ct if held is None else add(held, ct)
            continue
        if primitive.multiple:
            ct = tuple(cts[r.index] for r in result)
            if all(c is None for c in ct):
                continue
            ct = tuple(Zero if c is None else c for c in ct)
        else:
            ct = cts[result.index]
            if ct is None:
                continue
        if primitive.transpose is None:
            refuse_missing_rule(primitive, "transpose")
        wanted = [
            a.aval.undefined if type(a) is LinearTracer and a.interpreter is tape else a
            for a in args
        ]
        for a, got in zip(args, primitive.transpose(ct, *wanted, **params), strict=True):
            if got is None or got is Zero:
                continue
            if type(a) is LinearTracer and a.interpreter is tape:
                if got.aval.varying is not a.aval.varying:
                    got = matched(got, a.aval)
                held = cts[a.index]
                cts[a.index] = got if held is None else add(held, got)
    return [Zero if cts[t.index] is None else cts[t.index] for t in linear.inputs if t is not None]


def transpose_graph(
    graph: Graph,
    linear: tuple[bool, ...],
    given: tuple[bool, ...],
    forced: tuple[bool, ...] | None = None,
) -> tuple[Graph, tuple[bool, ...]]:
    """The transpose of a graph that is linear in the inputs marked `linear`.

    Inputs of the result: the inputs that are not linear, then the cotangents of the
    outputs marked `given` (the others are zero).  Outputs: the cotangents of the linear
    inputs that are not known to be zero, as told by the second result; those of the linear
    inputs marked in `forced` are given even where they are zero.
    """
    key = "transpose", linear, given, forced
    if key in graph.memo:
        return graph.memo[key]  # type: ignore[no-any-return]
    found: tuple[bool, ...] = ()

    def transposed(*args: Any) -> list[Any]:
        n_known = linear.count(False)
        if mixes(graph, linear):
            return finished(on_tape(graph, linear, given, args))
        values = constants_of(graph)
        known = iter(args[:n_known])
        for var, is_linear in zip(graph.inputs, linear, strict=True):
            if not is_linear:
                values[var] = next(known)
        cts: dict[Var, Any] = {}
        coming = iter(args[n_known:])
        for var, is_given in zip(graph.outputs, given, strict=True):
            if is_given:
                cts[var] = add_cotangents(cts.get(var), next(coming))
        run_backwards(graph, values, cts)
        return finished(
            [cts.get(var) for var, is_linear in zip(graph.inputs, linear, strict=True) if is_linear]
        )

    def finished(results: list[Any]) -> list[Any]:
        nonlocal found
        if forced is not None:
            avals = (a for a, moves in zip(graph.in_avals, linear, strict=True) if moves)
            results = [
                zeros(a) if wanted and r is None else r
                for r, a, wanted in zip(results, avals, forced, strict=True)
            ]
        found = tuple(r is not None for r in results)
        return [r for r in results if r is not None]

    avals = [a for a, is_linear in zip(graph.in_avals, linear, strict=True) if not is_linear]
    avals += [a for a, is_given in zip(graph.out_avals, given, strict=True) if is_given]
    transposed_graph = derive(transposed, avals)
    graph.memo[key] = transposed_graph, found
    return graph.memo[key]  # type: ignore[no-any-return]


def mixes(graph: Graph, linear: tuple[bool, ...]) -> bool:
    """True if an equation gives known values along with what depends on the linear inputs."""
    moving = {v for v, is_linear in zip(graph.inputs, linear, strict=True) if is_linear}
    for e in graph.equations:
        mine = tuple([type(a) is Var and a in moving for a in e.inputs])
        if not any(mine):
            continue
        if e.primitive.reach is not None and not all(e.primitive.reach(mine, **e.params)):
            return True
        moving.update(e.outputs)
    return False


def on_tape(
    graph: Graph, linear: tuple[bool, ...], given: tuple[bool, ...], args: Sequence[Any]
) -> list[Any]:
    """The cotangents of the linear inputs, None where zero, by a tape, which takes equations apart.

    `args` are what the transposed graph takes.
    """
    n_known = linear.count(False)
    known = iter(args[:n_known])
    tape = Tape(current.get())
    inputs: list[Any] = []
    operands: list[Any] = []
    for aval, is_linear in zip(graph.in_avals, linear, strict=True):
        inputs.append(tape.new(aval.strong()) if is_linear else None)
        operands.append(inputs[-1] if is_linear else next(known))
    with opened(tape):
        outs = evaluate(graph, operands)
    mine = [type(x) is LinearTracer and x.interpreter is tape for x in outs]
    tangents = [x if m else Zero for x, m in zip(outs, mine, strict=True)]
    coming = iter(args[n_known:])
    cts = [next(coming) if is_given else Zero for is_given in given]
    found = backward(Linearized(outs, tangents, tape, inputs), cts)
    return [None if ct is Zero else ct for ct in found]


def run_backwards(graph: Graph, values: dict[Var, Any], cts: dict[Var, Any]) -> None:
    """Runs what is known forwards, then the linear equations backwards, filling `cts`."""
    with replaying() as cell:
        _run_backwards(graph, values, cts, cell)


def _run_backwards(
    graph: Graph, values: dict[Var, Any], cts: dict[Var, Any], cell: list[Source | None]
) -> None:
    apply = current.get().apply
    linear_equations = []
    for equation in graph.equations:
        if all(type(a) is not Var or a in values for a in equation.inputs):
            inputs = tuple(values[a] if type(a) is Var else a for a in equation.inputs)
            cell[0] = equation.source
            result = apply(equation.primitive, inputs, equation.params)
            results = result if equation.primitive.multiple else (result,)
            values.update(zip(equation.outputs, results, strict=True))
        else:
            linear_equations.append(equation)
    for equation in reversed(linear_equations):
        primitive: Primitive = equation.primitive
        got = [cts.pop(v, None) for v in equation.outputs]
        if all(c is None for c in got):
            continue
        if primitive.transpose is None:
            refuse_missing_rule(primitive, "transpose")
        cell[0] = in_backward(equation.source)
        ct: Any = tuple(Zero if c is None else c for c in got) if primitive.multiple else got[0]
        args = [values.get(a, a.aval.undefined) if type(a) is Var else a for a in equation.inputs]
        answers = primitive.transpose(ct, *args, **equation.params)
        for a, answer in zip(equation.inputs, answers, strict=True):
            if answer is not None and answer is not Zero and type(a) is Var and a not in values:
                if answer.aval.varying is not a.aval.varying:
                    answer = matched(answer, a.aval)
                cts[a] = add_cotangents(cts.get(a), answer)
