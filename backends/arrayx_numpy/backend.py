"""How NumPy runs graphs: kernels one by one, or a whole graph as one Python function."""

from __future__ import annotations

from typing import Any

from arrayx.backend.contract import CompileOptions, Executable
from arrayx.backend.kernels import KernelBackend
from arrayx.core.graph import Equation, Graph
from arrayx_numpy.kernels import KERNELS
from arrayx_numpy.program import Program


class NumpyBackend(KernelBackend):
    """NumPy on the host."""

    name = "numpy"
    quiet = True
    kernels = KERNELS

    def kernel_of(self, e: Equation) -> Any:
        """The kernel of an equation, which takes the params by keyword."""
        return self.kernels[e.primitive.name]

    def compile(self, graph: Graph, options: CompileOptions) -> Executable:
        return Program(graph, self.kernel_of)

    def lowered_text(self, graph: Graph, options: CompileOptions) -> str:
        return Program(graph, self.kernel_of).source


