"""Kernels of the primitives that hold graphs, for backends that run kernels one by one.

A kernel of this kind takes the backend first: it compiles the graphs and runs what is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayx.backend.callbacks import callback
from arrayx.backend.contract import Backend, CompileOptions, Executable
from arrayx.core.graph import Graph


def program_of(backend: Backend, graph: Graph) -> Executable:
    """A legalised graph's program, compiled at its first use and kept on the graph."""
    key = "program", backend.name
    program = graph.memo.get(key)
    if program is None:
        options = CompileOptions(backend.devices()[0])
        program = graph.memo[key] = backend.compile(graph, options)
    return program


def cond(backend: Backend, index: Any, *operands: Any, branches: tuple[Graph, ...]) -> Any:
    """The outputs of one of the branches."""
    i = min(max(int(backend.get(index)), 0), len(branches) - 1)
    return tuple(program_of(backend, branches[i]).run(operands))


def while_loop(
    backend: Backend, *operands: Any, cond: Graph, body: Graph, n_cond: int, n_body: int
) -> Any:
    """The carried values once the test of them is false."""
    tests, steps = operands[:n_cond], operands[n_cond : n_cond + n_body]
    carry: Sequence[Any] = operands[n_cond + n_body :]
    get = backend.get
    with program_of(backend, cond).stepping() as test, program_of(backend, body).stepping() as step:
        while get(test([*tests, *carry])[0]):
            carry = step([*steps, *carry])
    return tuple(carry)


def optimization_barrier(backend: Backend, *operands: Any) -> Any:
    """The operands: nothing is moved where programs are written line by line."""
    return operands


CONTROL: dict[str, Callable[..., Any]] = {
    "callback": callback,
    "cond": cond,
    "while_loop": while_loop,
    "optimization_barrier": optimization_barrier,
}
