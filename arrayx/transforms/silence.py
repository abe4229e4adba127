"""Graphs run a second time: without what their first run has told the world already."""

from __future__ import annotations

from typing import Any

from arrayx.core.graph import Equation, Graph, graphs_in, map_graphs


def silenced(equation: Equation) -> Equation | None:
    """An equation without effects that give no result; None if nothing is left of it.

    What has effects and gives results (a callback that answers) still has its effects.
    """
    if not equation.effects:
        return equation
    if not equation.outputs:
        return None
    if not any(True for v in equation.params.values() for _ in graphs_in(v)):
        return equation
    params = {k: map_graphs(v, silenced_graph) for k, v in equation.params.items()}
    return equation.replace(params=params, effects=equation.primitive.effects(**params))


def silenced_graph(graph: Graph) -> Graph:
    """A graph without the effects that give no result."""
    if not graph.effects:
        return graph
    found: Any = graph.memo.get("silenced")
    if found is None:
        equations = [e for e in map(silenced, graph.equations) if e is not None]
        found = graph.memo["silenced"] = Graph(
            graph.inputs, equations, graph.outputs, graph.constants, graph.constant_values
        )
    return found  # type: ignore[no-any-return]
