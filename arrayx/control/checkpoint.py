"""`checkpoint`: a graph whose backward pass computes again what it needs, instead of saving it."""

from __future__ import annotations

from typing import Any

from arrayx.control.call import call
from arrayx.control.layout import Mask, reached
from arrayx.core.aval import Aval
from arrayx.core.graph import Graph
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.barrier import optimization_barrier
from arrayx.primitives.families import EVERYTHING, Elementwise, is_linear
from arrayx.transforms.evaluate import evaluate, evaluate_frugally
from arrayx.transforms.jvp import jvp_graph
from arrayx.transforms.partial import linearize_saving
from arrayx.transforms.stage import derive
from arrayx.transforms.varying import retyped, varying_of
from arrayx.transforms.vjp import transpose_graph
from arrayx.transforms.vmap import vmap_graph


class Checkpoint(Primitive):
    """The outputs of `graph` for the operands; reverse mode saves only what `policy` lets it.

    Without a policy those are the operands.  In what reverse mode makes of it, `again` is
    true: then the graph begins with what the forward pass has computed before, and with
    `prevent_cse` no compiler may take it from there, since that would be saving it.
    """

    name = "checkpoint"
    multiple = True
    holds_graphs = True
    callable_params = True  # a policy may be any function

    def type_rule(self, *avals: Aval, graph: Graph, **params: Any) -> tuple[Aval, ...]:
        return graph.out_avals

    def widen(self, avals: Any, params: dict[str, Any]) -> dict[str, Any]:
        graph = retyped(params["graph"], varying_of(avals))
        return params if graph is params["graph"] else params | {"graph": graph}

    def effects(self, *, graph: Graph, **params: Any) -> frozenset[str]:
        return graph.effects

    def key(self, params: dict[str, Any]) -> tuple[Any, ...]:
        return ()  # there is no eager kernel to find

    def evaluate(self, *args: Any, graph: Graph, **params: Any) -> Any:
        return tuple(evaluate_frugally(graph, args))

    def expand(
        self, *args: Any, graph: Graph, prevent_cse: bool, again: bool, **params: Any
    ) -> Any:
        if again and prevent_cse:
            args = optimization_barrier(*args)
        return tuple(evaluate(graph, args))

    def jvp(self, primals: Any, tangents: Any, *, graph: Graph, **params: Any) -> Any:
        active = tuple(t is not Zero for t in tangents)
        both, out_active = jvp_graph(graph, active)
        results = self(*primals, *(t for t in tangents if t is not Zero), graph=both, **params)
        n = len(graph.outputs)
        given = iter(results[n:])
        return results[:n], tuple(next(given) if a else Zero for a in out_active)

    def linearize(
        self, tape: Any, primals: Any, tangents: Any, *, graph: Graph, policy: Any, **params: Any
    ) -> Any:
        active = tuple(t is not Zero for t in tangents)
        inner = graph if policy is None else inlined(graph)
        split = linearize_saving(inner, active, None, policy)
        results = self(*primals, graph=split.forward, policy=policy, **params)
        residuals = [primals[i] if src == "input" else results[i] for src, i in split.residuals]
        moving = [t for t in tangents if t is not Zero]
        params = {"graph": split.linear, "policy": policy, **params, "again": True}
        given = iter(tape.record(self, (*residuals, *moving), params, split.linear.out_avals))
        return (
            results[: len(graph.outputs)],
            tuple(next(given) if a else Zero for a in split.out_active),
        )

    def reach(self, active: Mask, *, graph: Graph, **params: Any) -> Mask:
        return reached(graph, active)

    def transpose(self, cts: Any, *args: Any, graph: Graph, **params: Any) -> Any:
        linear = tuple(is_linear(a) for a in args)
        given = tuple(ct is not Zero for ct in cts)
        transposed, found = transpose_graph(graph, linear, given)
        known = [a for a in args if not is_linear(a)]
        results = iter(
            self(*known, *(ct for ct in cts if ct is not Zero), graph=transposed, **params)
        )
        answers = iter([next(results) if f else None for f in found])
        return tuple(next(answers) if lin else None for lin in linear)

    def vmap(self, size: int, args: Any, dims: Any, *, graph: Graph, **params: Any) -> Any:
        batched, out_dims = vmap_graph(graph, size, tuple(dims))
        return self(*args, graph=batched, **params), out_dims


class CheckpointName(Elementwise):
    """`x` itself, by a name that policies of `checkpoint` know it by."""

    name = "checkpoint_name"
    kinds = EVERYTHING

    def expand(self, x: Any, *, name: str) -> Any:
        return x

    def evaluate(self, x: Any, *, name: str) -> Any:
        return x

    def jvp(self, primals: Any, tangents: Any, *, name: str) -> Any:
        return self(primals[0], name=name), tangents[0]

    def on_keys(self, avals: Any, words: Any, *, name: str) -> Any:
        return words


def inlined(graph: Graph) -> Graph:
    """The graph with its calls in line, so that a policy sees what they consist of."""
    found = graph.memo.get("inlined")
    if found is None:
        if not any(e.primitive is call for e in graph.equations):
            return graph
        found = graph.memo["inlined"] = derive(lambda *xs: _in_line(graph, xs), graph.in_avals)
    return found  # type: ignore[no-any-return]


def _in_line(graph: Graph, args: Any) -> list[Any]:
    return evaluate(graph, args, expand=call)


checkpoint = Checkpoint()
checkpoint_name = CheckpointName()
