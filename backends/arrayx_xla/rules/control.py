"""Primitives that hold graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx.core.aval import Aval
from arrayx_xla.callbacks import Told
from arrayx_xla.emitter import ORDER, Emitter, Value, type_of


def call(e: Emitter, *operands: Value, graph: Any, name: str) -> tuple[Value, ...]:
    return e.call(graph, name, operands)


def cond(e: Emitter, index: Value, *operands: Value, branches: Any) -> tuple[Value, ...]:
    """The branches see the operands as values of the function around them."""
    last = len(branches) - 1
    index = e.convert(index, np.dtype(np.int32))
    # StableHLO takes the last branch for every index out of range, a negative one too.
    index = e.op("minimum", e.op("maximum", index, e.like(0, index)), e.like(last, index))
    return case(e, index, branches, operands)


def case(
    e: Emitter, index: Value, branches: Sequence[Any], operands: Sequence[Value]
) -> tuple[Value, ...]:
    """One of several graphs; None stands for zeros."""
    avals = e.results
    ordered = any(graph is not None and graph.effects for graph in branches)
    texts = [region(e, graph, operands, (), ordered, avals) for graph in branches]
    made = (*avals, ORDER) if ordered else avals
    types = ", ".join(type_of(a) for a in made)
    body = f'"stablehlo.case"({index.name}) ({", ".join(texts)}) : ({index.type}) -> ({types})'
    return e.in_order(e.add_several("case", body, made), ordered)


def while_loop(
    e: Emitter, *operands: Value, cond: Any, body: Any, n_cond: int, n_body: int
) -> tuple[Value, ...]:
    """Test and body see their constants as values of the function around them.

    What the test hands on for the next effect is dropped: the body comes after it anyway.
    """
    avals = e.results
    tests, steps = operands[:n_cond], operands[n_cond : n_cond + n_body]
    carry = list(operands[n_cond + n_body :])
    inside = [Value(e.fresh("carry"), a) for a in avals]
    ordered = bool(cond.effects or body.effects)
    outer = e.order
    arguments = list(inside)
    if ordered:
        carry.append(outer)  # type: ignore[arg-type]
        arguments.append(Value(e.fresh("carry"), ORDER))
        e.order = arguments[-1]
    texts = [
        region(e, cond, [*tests, *inside], arguments),
        region(e, body, [*steps, *inside], arguments, ordered),
    ]
    names = ", ".join(v.name for v in carry)
    types = ", ".join(v.type for v in carry)
    text = f'"stablehlo.while"({names}) ({", ".join(texts)}) : ({types}) -> ({types})'
    return e.in_order(e.add_several("while", text, [v.aval for v in carry]), ordered)


def region(
    e: Emitter,
    graph: Any,
    operands: Sequence[Value],
    arguments: Sequence[Value] = (),
    ordered: bool = False,
    avals: Sequence[Aval] = (),
) -> str:
    """A graph as the text of a region that takes `arguments`; zeros of `avals` for None.

    Where it is `ordered` it also gives what the next effect takes.
    """
    outer = e.order
    with e.region() as lines:
        if graph is None:
            results = [e.constant(0, a.shape, a.dtype) for a in avals]
        else:
            results = e.graph(graph, operands)
        if ordered:
            results.append(e.order)  # type: ignore[arg-type]
        names = ", ".join(v.name for v in results)
        types = ", ".join(v.type for v in results)
        head = f"{e.indent}stablehlo.return"
        lines.append(f"{head} {names} : {types}" if results else head)
    e.order = outer
    given = ", ".join(map(repr, arguments))
    start = f"\n{e.indent}^bb0({given}):" if arguments else ""
    return "{" + start + "\n" + "\n".join(lines) + f"\n{e.indent}}}"


def optimization_barrier(e: Emitter, *operands: Value) -> tuple[Value, ...]:
    names = ", ".join(v.name for v in operands)
    types = ", ".join(v.type for v in operands)
    body = f"stablehlo.optimization_barrier {names} : {types}"
    return e.add_several("barrier", body, [v.aval for v in operands]) if operands else ()


# Zero, as an array that programs get when they run: XLA cannot know it.
NOW = np.zeros((), np.int32)


def checkpoint(e: Emitter, *operands: Value, graph: Any, **params: Any) -> tuple[Value, ...]:
    """What is computed again, in a conditional whose outcome XLA does not know.

    XLA moves nothing out of it, where it takes barriers away before it merges equal work.
    """
    now = e.argument(Aval((), NOW.dtype), NOW)
    return case(e, now, (graph, None), operands)


def callback(
    e: Emitter,
    *operands: Value,
    function: Any,
    avals: tuple[Aval, ...],
    name: str,
    kind: str,
    **params: Any,
) -> tuple[Value, ...]:
    """A call of jaxlib's target for Python functions, first the number of the run."""
    ordered = kind != "pure"
    run = e.order if ordered and e.order is not None else e.run()
    callbacks = e.module.callbacks
    config = f"index = {len(callbacks)} : ui64"
    callbacks.append(Told(function, avals, name, ordered))
    made = (ORDER, *avals) if ordered else avals
    given = (run, *operands)
    results = [v.type for v in given], [type_of(a) for a in made]
    body = (
        f"stablehlo.custom_call @xla_ffi_python_cpu_callback({', '.join(v.name for v in given)}) "
        f"{{api_version = 4 : i32, has_side_effect = {str(ordered).lower()}, "
        f"backend_config = {{{config}}}, "
        f"operand_layouts = [{', '.join(row_major(v.aval) for v in given)}], "
        f"result_layouts = [{', '.join(map(row_major, made))}]}} : ({', '.join(results[0])}) -> "
        f"{results[1][0] if len(made) == 1 else '(' + ', '.join(results[1]) + ')'}"
    )
    values = e.add_several("callback", body, made)
    if ordered:
        e.order, *values = values  # type: ignore[assignment]
    return tuple(values)


def row_major(aval: Aval) -> str:
    """The usual layout of an array, as an attribute."""
    axes = ", ".join(str(i) for i in reversed(range(aval.ndim)))
    return f"dense<[{axes}]> : tensor<{aval.ndim}xindex>"


def on_cpu(platform: str, equation: Any) -> bool | str:
    if platform == "cpu":
        return True
    return f"programs for {platform} cannot call functions of the host's Python"


def is_again(platform: str, equation: Any) -> bool | str:
    params = equation.params
    if params["again"] and params["prevent_cse"]:
        return True
    return "it is a plain call in the forward pass"


RULES: dict[str, Any] = {
    "call": call,
    "callback": callback,
    "checkpoint": checkpoint,
    "cond": cond,
    "optimization_barrier": optimization_barrier,
    "while_loop": while_loop,
}
WHEN: dict[str, Any] = {"callback": on_cpu, "checkpoint": is_again}
