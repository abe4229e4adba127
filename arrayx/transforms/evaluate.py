"""Running a graph equation by equation under the current interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayx import source
from arrayx.core.graph import Graph, Var
from arrayx.core.interpreter import current


def evaluate(graph: Graph, args: Sequence[Any]) -> list[Any]:
    """The outputs of `graph` for these inputs, as the current interpreter gives them."""
    apply = current.get().apply
    values: dict[Any, Any] = dict(zip(graph.constants, graph.constant_values, strict=True))
    values.update(zip(graph.inputs, args, strict=True))
    with source.replaying() as cell:
        for equation in graph.equations:
            cell[0] = equation.source
            inputs = tuple(values[a] if type(a) is Var else a for a in equation.inputs)
            result = apply(equation.primitive, inputs, equation.params)
            if equation.primitive.multiple:
                values.update(zip(equation.outputs, result, strict=True))
            else:
                values[equation.outputs[0]] = result
    return [values[v] for v in graph.outputs]
