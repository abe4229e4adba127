"""Running a graph equation by equation under the current interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import source
from arrayx.core.graph import Graph, Var
from arrayx.core.interpreter import current
from arrayx.core.primitive import Primitive
from arrayx.transforms.stage import StageTracer, stage_around


def constants_of(graph: Graph) -> dict[Any, Any]:
    """The constants of a graph with their values, as rules may see them.

    A NumPy value is on no device, so that it can be a constant beside arrays of any backend; a
    stage that is being written takes it over as a constant of its own, since rules expect arrays.
    """
    values: dict[Any, Any] = dict(zip(graph.constants, graph.constant_values, strict=True))
    if any(isinstance(x, np.ndarray | np.generic) for x in graph.constant_values):
        for var, x in values.items():
            if isinstance(x, np.ndarray | np.generic):
                values[var] = as_constant(x)
    return values


def as_constant(x: Any) -> Any:
    """A NumPy value as a constant of the stage that is being written; itself if there is none."""
    interpreter = stage_around(current.get())
    return x if interpreter is None else StageTracer(interpreter, interpreter.lift(x), None)


def evaluate(graph: Graph, args: Sequence[Any], expand: Primitive | None = None) -> list[Any]:
    """The outputs of `graph` for these inputs, as the current interpreter gives them.

    Applications of the primitive `expand`, which holds a `graph`, are replaced by what is in it.
    """
    apply = current.get().apply
    values = constants_of(graph)
    values.update(zip(graph.inputs, args, strict=True))
    with source.replaying() as cell:
        for equation in graph.equations:
            cell[0] = equation.source
            inputs = tuple(values[a] if type(a) is Var else a for a in equation.inputs)
            if equation.primitive is expand:
                result: Any = evaluate(equation.params["graph"], inputs, expand)
            else:
                result = apply(equation.primitive, inputs, equation.params)
            if equation.primitive.multiple:
                values.update(zip(equation.outputs, result, strict=True))
            else:
                values[equation.outputs[0]] = result
    return [values[v] for v in graph.outputs]


def evaluate_frugally(graph: Graph, args: Sequence[Any]) -> list[Any]:
    """`evaluate` that lets go of every value after its last use."""
    dying = graph.memo.get("dying")
    if dying is None:
        last: dict[Var, int] = {}
        for i, e in enumerate(graph.equations):
            last.update((v, i) for v in (*e.inputs, *e.outputs) if type(v) is Var)
        for v in (*graph.outputs, *graph.inputs, *graph.constants):
            last.pop(v, None)
        dying = graph.memo["dying"] = [[] for _ in graph.equations]
        for v, i in last.items():
            dying[i].append(v)
    apply = current.get().apply
    values = constants_of(graph)
    values.update(zip(graph.inputs, args, strict=True))
    with source.replaying() as cell:
        for equation, dead in zip(graph.equations, dying, strict=True):
            cell[0] = equation.source
            inputs = tuple(values[a] if type(a) is Var else a for a in equation.inputs)
            result = apply(equation.primitive, inputs, equation.params)
            if equation.primitive.multiple:
                values.update(zip(equation.outputs, result, strict=True))
            else:
                values[equation.outputs[0]] = result
            del inputs, result
            for v in dead:
                del values[v]
    return [values[v] for v in graph.outputs]
