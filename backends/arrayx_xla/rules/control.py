"""Primitives that hold graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx_xla.emitter import Emitter, Value, type_of


def call(e: Emitter, *operands: Value, graph: Any, name: str) -> tuple[Value, ...]:
    return e.call(graph, name, operands)


def cond(e: Emitter, index: Value, *operands: Value, branches: Any) -> tuple[Value, ...]:
    """The branches see the operands as values of the function around them."""
    avals = e.results
    last = len(branches) - 1
    index = e.convert(index, np.dtype(np.int32))
    # StableHLO takes the last branch for every index out of range, a negative one too.
    index = e.op("minimum", e.op("maximum", index, e.like(0, index)), e.like(last, index))
    texts = [region(e, branch, operands) for branch in branches]
    made = ", ".join(type_of(a) for a in avals)
    body = f'"stablehlo.case"({index.name}) ({", ".join(texts)}) : ({index.type}) -> ({made})'
    return e.add_several("case", body, avals)


def while_loop(
    e: Emitter, *operands: Value, cond: Any, body: Any, n_cond: int, n_body: int
) -> tuple[Value, ...]:
    """Test and body see their constants as values of the function around them."""
    avals = e.results
    tests, steps = operands[:n_cond], operands[n_cond : n_cond + n_body]
    carry = operands[n_cond + n_body :]
    inside = [Value(e.fresh("carry"), a) for a in avals]
    texts = []
    for graph, constants in ((cond, tests), (body, steps)):
        texts.append(region(e, graph, [*constants, *inside], inside))
    names = ", ".join(v.name for v in carry)
    types = ", ".join(v.type for v in carry)
    text = f'"stablehlo.while"({names}) ({", ".join(texts)}) : ({types}) -> ({types})'
    return e.add_several("while", text, avals)


def region(
    e: Emitter, graph: Any, operands: Sequence[Value], arguments: Sequence[Value] = ()
) -> str:
    """A graph as the text of a region that takes `arguments`."""
    with e.region() as lines:
        results = e.graph(graph, operands)
        names = ", ".join(v.name for v in results)
        types = ", ".join(v.type for v in results)
        lines.append(
            f"{e.indent}stablehlo.return {names} : {types}"
            if results
            else f"{e.indent}stablehlo.return"
        )
    given = ", ".join(map(repr, arguments))
    head = f"\n{e.indent}^bb0({given}):" if arguments else ""
    return "{" + head + "\n" + "\n".join(lines) + f"\n{e.indent}}}"


def optimization_barrier(e: Emitter, *operands: Value) -> tuple[Value, ...]:
    names = ", ".join(v.name for v in operands)
    types = ", ".join(v.type for v in operands)
    return e.add_several("barrier", f"stablehlo.optimization_barrier {names} : {types}", e.results)


RULES: dict[str, Any] = {
    "call": call,
    "cond": cond,
    "while_loop": while_loop,
    "optimization_barrier": optimization_barrier,
}
