"""`call`: the application of a graph, which is what `jit` stages a function to."""

from __future__ import annotations

from typing import Any

from arrayx.control.layout import Mask, reached
from arrayx.core.aval import Aval
from arrayx.core.graph import Graph
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.families import is_linear
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.jvp import jvp_graph
from arrayx.transforms.partial import linearize_graph
from arrayx.transforms.varying import retyped, varying_of
from arrayx.transforms.vjp import transpose_graph
from arrayx.transforms.vmap import vmap_graph


class Call(Primitive):
    """The outputs of `graph` for the operands.

    Its transforms are calls of transformed graphs, made once and kept on the graph: the
    derivative of a compiled function is compiled too, and saves only residuals.
    """

    name = "call"
    multiple = True
    holds_graphs = True

    def type_rule(self, *avals: Aval, graph: Graph, name: str) -> tuple[Aval, ...]:
        return graph.out_avals

    def widen(self, avals: Any, params: dict[str, Any]) -> dict[str, Any]:
        graph = retyped(params["graph"], varying_of(avals))
        return params if graph is params["graph"] else params | {"graph": graph}

    def effects(self, *, graph: Graph, name: str) -> frozenset[str]:
        return graph.effects

    def expand(self, *args: Any, graph: Graph, name: str) -> Any:
        return tuple(evaluate(graph, args))

    def jvp(self, primals: Any, tangents: Any, *, graph: Graph, name: str) -> Any:
        active = tuple(t is not Zero for t in tangents)
        both, out_active = jvp_graph(graph, active)
        results = self(*primals, *(t for t in tangents if t is not Zero), graph=both, name=name)
        n = len(graph.outputs)
        given = iter(results[n:])
        return results[:n], tuple(next(given) if a else Zero for a in out_active)

    def linearize(self, tape: Any, primals: Any, tangents: Any, *, graph: Graph, name: str) -> Any:
        active = tuple(t is not Zero for t in tangents)
        split = linearize_graph(graph, active)
        results = self(*primals, graph=split.forward, name=name)
        residuals = [primals[i] if src == "input" else results[i] for src, i in split.residuals]
        given = iter(
            tape.record(
                self,
                (*residuals, *(t for t in tangents if t is not Zero)),
                {"graph": split.linear, "name": name},
                split.linear.out_avals,
            )
        )
        out_tangents = tuple(next(given) if a else Zero for a in split.out_active)
        return results[: len(graph.outputs)], out_tangents

    def reach(self, active: Mask, *, graph: Graph, name: str) -> Mask:
        return reached(graph, active)

    def transpose(self, cts: Any, *args: Any, graph: Graph, name: str) -> Any:
        linear = tuple(is_linear(a) for a in args)
        given = tuple(ct is not Zero for ct in cts)
        transposed, found = transpose_graph(graph, linear, given)
        known = [a for a in args if not is_linear(a)]
        results = iter(
            self(*known, *(ct for ct in cts if ct is not Zero), graph=transposed, name=name)
        )
        answers = iter([next(results) if f else None for f in found])
        return tuple(next(answers) if lin else None for lin in linear)

    def vmap(self, size: int, args: Any, dims: Any, *, graph: Graph, name: str) -> Any:
        batched, out_dims = vmap_graph(graph, size, tuple(dims))
        return self(*args, graph=batched, name=name), out_dims


call = Call()
