"""`KernelBackend`: a whole backend from a table of functions, one for each primitive."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from arrayx.backend.contract import (
    Backend,
    CompileOptions,
    Device,
    Executable,
    constant_buffers,
)
from arrayx.backend.control import CONTROL
from arrayx.backend.foreign import takes_target
from arrayx.control.external import external
from arrayx.core.graph import Equation, Graph, Var
from arrayx.core.primitive import Primitive


class KernelBackend(Backend):
    """Runs a graph by looking each primitive up in `kernels`.

    A kernel is a function of the operands (buffers, or Python scalars for literals) and
    the primitive's params by keyword; it returns a buffer, or a tuple of them.  What has
    no kernel is expanded into what has.  Buffers are what `put` makes and `get` reads: any
    objects at all.  A backend with devices of its own sets `_devices`.
    """

    kernels: dict[str, Callable[..., Any]] = {}  # noqa: RUF012
    # Control flow is the same for all: these kernels take the device first.
    control: ClassVar[Mapping[str, Callable[..., Any]]] = CONTROL

    def __init__(self) -> None:
        self._devices: tuple[Device, ...] = (Device(self, "cpu", 0),)
        self.kernels = dict(type(self).kernels)
        # Adds what other distributions have for this backend: set by the registry, and called
        # once, at the first primitive that the table lacks.
        self.ask_others: Callable[[KernelBackend], None] | None = None
        # The distributions that kernels of others come from.
        self.origins: dict[str, str] = {}
        self._bound: dict[Any, Callable[..., Any]] = {}

    def devices(self) -> tuple[Device, ...]:
        return self._devices

    def lookup(self, primitive: Primitive, device: Device | None = None) -> Any:
        """The function that runs a primitive, or None: of its own, of control flow, of another
        distribution, of the primitive's own author.
        """
        name = primitive.name
        found = self.kernels.get(name)
        if found is None and name in self.control:
            device = device or self.devices()[0]
            key = name, device
            if key not in self._bound:
                self._bound[key] = partial(self.control[name], device)
            return self._bound[key]
        if found is None and self.ask_others is not None:
            ask, self.ask_others = self.ask_others, None
            ask(self)
            found = self.kernels.get(name)
        return found or primitive.implementations.get(self.name)

    def kernel(
        self, primitive: Primitive, params: dict[str, Any], device: Device
    ) -> Callable[..., Any]:
        """The kernel of a primitive with its params bound."""
        function = self.lookup(primitive, device)
        return partial(function, **params) if params else function  # type: ignore[no-any-return]

    def takes(self, primitive: Primitive) -> bool | str:
        if self.lookup(primitive) is not None:
            return True
        return f"its table has no kernel {primitive.name!r}"

    def supports(self, equation: Equation) -> bool | str:
        if equation.primitive is external:
            return takes_target(equation.params["target"], self.name)
        return self.takes(equation.primitive)

    def eager(
        self,
        primitive: Primitive,
        avals: tuple[Any, ...],
        params: dict[str, Any],
        device: Device,
    ) -> Callable[..., Any]:
        if primitive is not external and self.lookup(primitive, device) is not None:
            return self.kernel(primitive, params, device)
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
                backend.kernel(e.primitive, e.params, device),
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
