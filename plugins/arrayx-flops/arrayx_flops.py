"""An arrayx backend that counts the work of the programs it runs, and has NumPy run them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import arrayx as ax
from arrayx.backend import Backend, CompileOptions, Device, Executable, hookimpl

# Operations done so far, by primitive.
count: Counter[str] = Counter()


def operations(equation: Any) -> int:
    """How many scalar operations an equation stands for; moving elements is none."""
    primitive = equation.primitive
    if primitive.name == "dot_general":
        x = equation.inputs[0].aval
        summed = math.prod(x.shape[a] for a in equation.params["contracting"][0])
        return 2 * equation.outputs[0].aval.size * summed
    if primitive.name.startswith("reduce_"):
        return int(equation.inputs[0].aval.size)
    return int(equation.outputs[0].aval.size) if primitive.elementwise else 0


class Counting(Executable):
    """A program of another backend, whose work is added up at every run."""

    def __init__(self, program: Executable, work: Counter[str]) -> None:
        self.program = program
        self.work = work

    def run(self, buffers: Sequence[Any]) -> Sequence[Any]:
        count.update(self.work)
        return self.program.run(buffers)


class FlopsBackend(Backend):
    """Takes whole graphs; arrays are NumPy's."""

    name = "flops"
    quiet = True

    def __init__(self) -> None:
        self._devices = (Device(self, "cpu", 0),)
        self.numpy = ax.backends.get("numpy")

    def devices(self) -> tuple[Device, ...]:
        return self._devices

    def supports(self, equation: Any) -> bool | str:
        return self.numpy.supports(equation)

    def compile(self, graph: Any, options: CompileOptions) -> Executable:
        work: Counter[str] = Counter()
        for equation in graph.equations:
            if n := operations(equation):
                work[equation.primitive.name] += n
        return Counting(self.numpy.compile(graph, options), work)


@hookimpl
def arrayx_make_backend(name: str) -> Backend | None:
    """Makes the backend `flops`."""
    return FlopsBackend() if name == "flops" else None
