"""`KernelBackend`: a whole backend from a table of functions, one for each primitive."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from arrayx.backend.contract import (
    Backend,
    CompileOptions,
    Device,
    Executable,
    constant_buffers,
)
from arrayx.backend.control import CONTROL
from arrayx.core.graph import Equation, Graph, Var
from arrayx.core.primitive import Primitive


class KernelBackend(Backend):
    """Runs a graph by looking each primitive up in `kernels`.

    A kernel is a function of the operands (buffers, or Python scalars for literals) and
    the primitive's params by keyword; it returns a buffer, or a tuple of them.  What has
    no kernel is expanded into what has.
    """

    kernels: Mapping[str, Callable[..., Any]] = {}

    def __init__(self) -> None:
        self._devices = (Device(self, "cpu", 0),)
        # Control flow is the same for all: a plugin's table need not have it.
        control = {name: partial(kernel, self) for name, kernel in CONTROL.items()}
        self.kernels = {**control, **type(self).kernels}

    def devices(self) -> tuple[Device, ...]:
        return self._devices

    def kernel(self, primitive: Primitive, params: dict[str, Any]) -> Callable[..., Any]:
        """The kernel of a primitive with its params bound."""
        function = self.kernels[primitive.name]
        return partial(function, **params) if params else function

    def supports(self, equation: Equation) -> bool | str:
        if equation.primitive.name in self.kernels:
            return True
        return f"its table has no kernel {equation.primitive.name!r}"

    def eager(
        self,
        primitive: Primitive,
        avals: tuple[Any, ...],
        params: dict[str, Any],
        device: Device,
    ) -> Callable[..., Any]:
        if primitive.name in self.kernels:
            return self.kernel(primitive, params)
        return super().eager(primitive, avals, params, device)

    def compile(self, graph: Graph, options: CompileOptions) -> Executable:
        return Walk(self, graph, options.device)


class Walk(Executable):
    """A graph run equation by equation, each value freed after its last use."""

    def __init__(self, backend: KernelBackend, graph: Graph, device: Device) -> None:
        self.graph = graph
        self.constants = constant_buffers(graph, device)
        last: dict[Var, int] = {}
        for i, e in enumerate(graph.equations):
            last.update((a, i) for a in e.inputs if type(a) is Var)
        keep = {*graph.outputs}
        self.steps = [
            (
                backend.kernel(e.primitive, e.params),
                e.inputs,
                e.outputs,
                e.primitive.multiple,
                [v for v in {*e.inputs} if type(v) is Var and last[v] == i and v not in keep],
            )
            for i, e in enumerate(graph.equations)
        ]

    def run(self, buffers: Sequence[Any]) -> Sequence[Any]:
        graph = self.graph
        values: dict[Any, Any] = dict(zip(graph.constants, self.constants, strict=True))
        values.update(zip(graph.inputs, buffers, strict=True))
        for kernel, inputs, outputs, multiple, dead in self.steps:
            result = kernel(*[values[a] if type(a) is Var else a for a in inputs])
            if multiple:
                values.update(zip(outputs, result, strict=True))
            else:
                values[outputs[0]] = result
            for v in dead:
                del values[v]
        return [values[v] for v in graph.outputs]
