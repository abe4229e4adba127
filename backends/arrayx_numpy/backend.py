"""How NumPy runs graphs: kernels one by one, or a whole graph as one Python function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np

from arrayx.backend.contract import API_VERSION, CompileOptions, Device, Executable
from arrayx.backend.control import CONTROL
from arrayx.backend.foreign import ffi_call_on_arrays
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
    api_version = API_VERSION
    quiet = True
    kernels = KERNELS
    control: ClassVar[Mapping[str, Callable[..., Any]]] = {
        **CONTROL,
        "scan": scan,
        "ffi_call": ffi_call_on_arrays,
    }

    def share(self, array: np.ndarray, device: Device) -> Any:
        return array

    def supports(self, equation: Equation) -> bool | str:
        if equation.primitive is integer_pow:
            # As products, powers share their squares and go into planned memory.
            return "it is expanded into products"
        return super().supports(equation)

    def kernel_of(self, e: Equation, device: Device | None = None) -> Any:
        """The kernel of an equation, which takes the params by keyword."""
        avals = [getattr(a, "aval", None) for a in e.inputs]
        return plain(e.primitive.name, avals) or self.lookup(e.primitive, device)

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
        return Program(graph, partial(self.kernel_of, device=options.device), options.device)

    def lowered_text(self, graph: Graph, options: CompileOptions) -> str:
        kernel_of = partial(self.kernel_of, device=options.device)
        return ProgramWriter(simplify(legalise(graph, self)), kernel_of).source()
