"""Primitives that hold graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx.core.aval import Aval
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
        lines.append(returning(e, results))
    given = ", ".join(map(repr, arguments))
    head = f"\n{e.indent}^bb0({given}):" if arguments else ""
    return "{" + head + "\n" + "\n".join(lines) + f"\n{e.indent}}}"


def optimization_barrier(e: Emitter, *operands: Value) -> tuple[Value, ...]:
    names = ", ".join(v.name for v in operands)
    types = ", ".join(v.type for v in operands)
    avals = [v.aval for v in operands]
    body = f"stablehlo.optimization_barrier {names} : {types}"
    return e.add_several("barrier", body, avals) if operands else ()


# Zero, as an array that programs get when they run: XLA cannot know it.
NOW = np.zeros((), np.int32)


def checkpoint(e: Emitter, *operands: Value, graph: Any, **params: Any) -> tuple[Value, ...]:
    """What is computed again, in a conditional whose outcome XLA does not know.

    XLA moves nothing out of it, where it takes barriers away before it merges equal work.
    """
    avals = e.results
    now = e.argument(Aval((), NOW.dtype), NOW)
    texts = [region(e, graph, operands)]
    with e.region() as lines:
        zeros = [e.constant(0, a.shape, a.dtype) for a in avals]
        lines.append(returning(e, zeros))
    texts.append("{\n" + "\n".join(lines) + f"\n{e.indent}}}")
    made = ", ".join(type_of(a) for a in avals)
    body = f'"stablehlo.case"({now.name}) ({", ".join(texts)}) : ({now.type}) -> ({made})'
    return e.add_several("again", body, avals)


def returning(e: Emitter, results: Sequence[Value]) -> str:
    """The last line of a region."""
    names = ", ".join(v.name for v in results)
    types = ", ".join(v.type for v in results)
    head = f"{e.indent}stablehlo.return"
    return f"{head} {names} : {types}" if results else head


def is_again(platform: str, equation: Any) -> bool | str:
    params = equation.params
    if params["again"] and params["prevent_cse"]:
        return True
    return "it is a plain call in the forward pass"


RULES: dict[str, Any] = {
    "call": call,
    "checkpoint": checkpoint,
    "cond": cond,
    "optimization_barrier": optimization_barrier,
    "while_loop": while_loop,
}
WHEN: dict[str, Any] = {"checkpoint": is_again}
