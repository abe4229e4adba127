"""Kernels of the primitives that hold graphs, for backends that run kernels one by one.

A kernel of this kind takes the backend first: it compiles the graphs and runs what is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayx.backend.contract import Backend, CompileOptions
from arrayx.core.graph import Graph


def run_graph(backend: Backend, graph: Graph, operands: Sequence[Any]) -> Sequence[Any]:
    """Runs a legalised graph, compiled at its first use and kept on it."""
    key = "program", backend.name
    program = graph.memo.get(key)
    if program is None:
        options = CompileOptions(backend.devices()[0])
        program = graph.memo[key] = backend.compile(graph, options)
    return program.run(operands)


def cond(backend: Backend, index: Any, *operands: Any, branches: tuple[Graph, ...]) -> Any:
    """The outputs of one of the branches."""
    i = min(max(int(backend.get(index)), 0), len(branches) - 1)
    return tuple(run_graph(backend, branches[i], operands))


CONTROL: dict[str, Callable[..., Any]] = {"cond": cond}
