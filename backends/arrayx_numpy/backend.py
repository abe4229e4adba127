"""How NumPy runs graphs: kernels one by one, or a whole graph as one Python function."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from arrayx.backend.contract import CompileOptions, Device, Executable
from arrayx.backend.kernels import KernelBackend
from arrayx.backend.legalise import legalise
from arrayx.core.graph import Equation, Graph
from arrayx.core.primitive import Primitive
from arrayx.primitives.exponential import integer_pow
from arrayx.transforms.simplify import simplify
from arrayx_numpy.elementwise import plain, with_literals
from arrayx_numpy.kernels import KERNELS
from arrayx_numpy.loops import scan
from arrayx_numpy.program import Program, ProgramWriter


class NumpyBackend(KernelBackend):
    """NumPy on the host."""

    name = "numpy"
    quiet = True
    kernels = KERNELS

    def __init__(self) -> None:
        super().__init__()
        self.kernels = {**self.kernels, "scan": partial(scan, self)}

    def share(self, array: np.ndarray, device: Device) -> Any:
        return array

    def supports(self, equation: Equation) -> bool | str:
        if equation.primitive is integer_pow:
            # As products, powers share their squares and go into planned memory.
            return "it is expanded into products"
        return super().supports(equation)

    def kernel_of(self, e: Equation) -> Any:
        """The kernel of an equation, which takes the params by keyword."""
        name = e.primitive.name
        return plain(name, [getattr(a, "aval", None) for a in e.inputs]) or self.kernels[name]

    def eager(
        self,
        primitive: Primitive,
        avals: tuple[Any, ...],
        params: dict[str, Any],
        device: Device,
    ) -> Callable[..., Any]:
        kernel = plain(primitive.name, avals) or super().eager(primitive, avals, params, device)
        return with_literals(kernel, avals)

    def compile(self, graph: Graph, options: CompileOptions) -> Executable:
        return Program(graph, self.kernel_of, options.device)

    def lowered_text(self, graph: Graph, options: CompileOptions) -> str:
        return ProgramWriter(simplify(legalise(graph, self)), self.kernel_of).source()
