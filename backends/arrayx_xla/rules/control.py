"""Primitives that hold graphs."""

from __future__ import annotations

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
    texts = []
    for branch in branches:
        with e.region() as lines:
            results = e.graph(branch, operands)
            names = ", ".join(v.name for v in results)
            types = ", ".join(v.type for v in results)
            lines.append(
                f"{e.indent}stablehlo.return {names} : {types}"
                if results
                else f"{e.indent}stablehlo.return"
            )
        texts.append("{\n" + "\n".join(lines) + f"\n{e.indent}}}")
    made = ", ".join(type_of(a) for a in avals)
    body = f'"stablehlo.case"({index.name}) ({", ".join(texts)}) : ({index.type}) -> ({made})'
    return e.add_several("case", body, avals)


RULES: dict[str, Any] = {"call": call, "cond": cond}
