"""What loops share: graphs with their inputs and outputs in another order, and fixpoints.

Transforms of graphs put what they add behind what was there; a loop wants it beside its own kind:
constants with constants, carried values with carried values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayx.core.graph import Equation, Graph, Var

Mask = tuple[bool, ...]


def rearranged(graph: Graph, inputs: Sequence[int], outputs: Sequence[int] | None = None) -> Graph:
    """The graph that takes its inputs, and gives its outputs, in the order of these numbers."""
    return Graph(
        [graph.inputs[i] for i in inputs],
        graph.equations,
        graph.outputs if outputs is None else [graph.outputs[i] for i in outputs],
        graph.constants,
        graph.constant_values,
    )


def with_more_outputs(graph: Graph, outputs: Sequence[Var]) -> Graph:
    """The graph that gives these variables too, behind its outputs."""
    return Graph(
        graph.inputs,
        graph.equations,
        (*graph.outputs, *outputs),
        graph.constants,
        graph.constant_values,
    )


def part(
    graph: Graph, inputs: Sequence[Var], equations: Sequence[Equation], outputs: Sequence[Var]
) -> Graph:
    """Some of a graph's equations as a graph of its own, with the constants they use."""
    used = {a for e in equations for a in e.inputs if type(a) is Var} | {*outputs}
    held = [
        (v, x) for v, x in zip(graph.constants, graph.constant_values, strict=True) if v in used
    ]
    return Graph(inputs, equations, outputs, [v for v, _ in held], [x for _, x in held])


def reached(graph: Graph, active: Mask) -> Mask:
    """Which outputs of a graph depend on the inputs marked `active`."""
    key = "reached", active
    if key not in graph.memo:
        found = {v for v, moves in zip(graph.inputs, active, strict=True) if moves}
        for e in graph.equations:
            given = tuple([type(a) is Var and a in found for a in e.inputs])
            if not any(given):
                continue
            if e.primitive.reach is None:
                found.update(e.outputs)
            else:
                found.update(chosen(e.outputs, e.primitive.reach(given, **e.params)))
        graph.memo[key] = tuple(v in found for v in graph.outputs)
    return graph.memo[key]  # type: ignore[no-any-return]


def order(sizes: Sequence[int], groups: Sequence[int]) -> list[int]:
    """Positions of values that come in runs of these sizes, with the runs in another order.

    >>> order((2, 1, 2), (2, 0, 1))
    [3, 4, 0, 1, 2]
    """
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return [starts[g] + k for g in groups for k in range(sizes[g])]


def runs(values: Sequence[Any], *sizes: int) -> list[list[Any]]:
    """Values cut into runs of these sizes, and what is left."""
    found, start = [], 0
    for n in sizes:
        found.append(list(values[start : start + n]))
        start += n
    found.append(list(values[start:]))
    return found


def union(a: Sequence[bool], b: Sequence[bool]) -> Mask:
    """True where either is."""
    return tuple(x or y for x, y in zip(a, b, strict=True))


def settled(mask: Mask, step: Callable[[Mask], Sequence[bool]]) -> Mask:
    """The least mask above `mask` that a loop's step does not widen further."""
    while True:
        wider = union(mask, step(mask))
        if wider == mask:
            return mask
        mask = wider


def chosen(values: Sequence[Any], mask: Sequence[bool]) -> list[Any]:
    """The values where the mask is true."""
    return [x for x, wanted in zip(values, mask, strict=True) if wanted]


def spread(values: Sequence[Any], mask: Sequence[bool], other: Any) -> list[Any]:
    """Values put back where the mask is true, `other` elsewhere."""
    given = iter(values)
    return [next(given) if wanted else other for wanted in mask]
