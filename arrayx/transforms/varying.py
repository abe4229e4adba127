"""Graphs whose inputs vary over further mesh axes than they were staged for.

Primitives that hold graphs fit them to their operands with these (`Primitive.widen`), so that
derivatives, which look at what varies, are taken of graphs whose types say what is so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayx.core.aval import NOWHERE, Aval
from arrayx.core.graph import Graph
from arrayx.core.named_axes import names_in
from arrayx.primitives.collectives import varied
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.stage import derive

Over = frozenset[Any]


def varying_of(avals: Sequence[Any]) -> list[Over]:
    """What each of these types varies over; a literal does not vary."""
    return [a.varying if type(a) is Aval else NOWHERE for a in avals]


def nothing_varies(avals: Sequence[Any], *graphs: Graph) -> bool:
    """True where neither these types nor anything in the graphs varies."""
    return not any(varying_of(avals)) and not any(names_in(g) for g in graphs)


def retyped(graph: Graph, over: Sequence[Over], outputs: Sequence[Over] | None = None) -> Graph:
    """The graph for inputs that vary over these axes beside those that they vary over already.

    With `outputs` the outputs vary over those axes at least.
    """
    inputs = tuple(a.varying | more for a, more in zip(graph.in_avals, over, strict=True))
    same = all(a.varying == v for a, v in zip(graph.in_avals, inputs, strict=True))
    wanted = tuple(outputs) if outputs is not None else None
    if same and (
        wanted is None or all(v <= a.varying for a, v in zip(graph.out_avals, wanted, strict=True))
    ):
        return graph
    key = "retyped", inputs, wanted
    if key not in graph.memo:

        def again(*args: Any) -> list[Any]:
            results = evaluate(graph, args)
            if wanted is None:
                return results
            return [varied(r, v) for r, v in zip(results, wanted, strict=True)]

        avals = [a.update(varying=v) for a, v in zip(graph.in_avals, inputs, strict=True)]
        graph.memo[key] = derive(again, avals)
    return graph.memo[key]  # type: ignore[no-any-return]
