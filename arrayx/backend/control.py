"""Kernels of the primitives that hold graphs, for backends that run kernels one by one.

A kernel of this kind takes the device first: it compiles the graphs for it and runs what is
needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayx.backend.callbacks import callback
from arrayx.backend.contract import CompileOptions, Device, Executable
from arrayx.backend.foreign import ffi_call
from arrayx.core.graph import Graph


def program_of(device: Device, graph: Graph) -> Executable:
    """A legalised graph's program, compiled at its first use and kept on the graph."""
    key = "program", device
    program = graph.memo.get(key)
    if program is None:
        program = graph.memo[key] = device.backend.compile(graph, CompileOptions(device))
    return program


def cond(device: Device, index: Any, *operands: Any, branches: tuple[Graph, ...]) -> Any:
    """The outputs of one of the branches."""
    i = min(max(int(device.backend.get(index)), 0), len(branches) - 1)
    return tuple(program_of(device, branches[i]).run(operands))


def while_loop(
    device: Device, *operands: Any, cond: Graph, body: Graph, n_cond: int, n_body: int
) -> Any:
    """The carried values once the test of them is false."""
    tests, steps = operands[:n_cond], operands[n_cond : n_cond + n_body]
    carry: Sequence[Any] = operands[n_cond + n_body :]
    get = device.backend.get
    with program_of(device, cond).stepping() as test, program_of(device, body).stepping() as step:
        while get(test([*tests, *carry])[0]):
            carry = step([*steps, *carry])
    return tuple(carry)


def optimization_barrier(device: Device, *operands: Any) -> Any:
    """The operands: nothing is moved where programs are written line by line."""
    return operands


CONTROL: dict[str, Callable[..., Any]] = {
    "callback": callback,
    "cond": cond,
    "ffi_call": ffi_call,
    "while_loop": while_loop,
    "optimization_barrier": optimization_barrier,
}
