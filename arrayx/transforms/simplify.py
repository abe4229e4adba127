"""Smaller graphs that compute the same."""

from __future__ import annotations

from arrayx.core.graph import Equation, Graph, Var


def dead_code_removed(graph: Graph) -> Graph:
    """The graph without equations and constants that no output and no effect needs."""
    live = {*graph.outputs}
    kept: list[Equation] = []
    for e in reversed(graph.equations):
        if e.effects or any(v in live for v in e.outputs):
            kept.append(e)
            live.update(a for a in e.inputs if type(a) is Var)
    if len(kept) == len(graph.equations) and all(v in live for v in graph.constants):
        return graph
    constants = [
        (v, x)
        for v, x in zip(graph.constants, graph.constant_values, strict=True)
        if v in live
    ]
    return Graph(
        graph.inputs,
        reversed(kept),
        graph.outputs,
        (v for v, _ in constants),
        (x for _, x in constants),
    )


def simplify(graph: Graph) -> Graph:
    """Removes what is not needed."""
    return dead_code_removed(graph)
