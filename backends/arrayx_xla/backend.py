"""How XLA runs graphs: compiled ones on PJRT devices, small single operations on the host.

An operation called alone on small arrays of a CPU device runs on NumPy's kernels, on views of
the same memory: it costs a microsecond either way, and XLA would take 20 to 50 ms to compile it
first.  `config.eager_xla` (`ARRAYX_XLA_EAGER`) says "compile" where that is not wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from arrayx.backend.concrete import ConcreteArray, physical_aval
from arrayx.backend.contract import API_VERSION, Backend, CompileOptions, Device, Executable
from arrayx.backend.dispatch import compile_graph, compile_one
from arrayx.backend.legalise import has_keys, legalise
from arrayx.backend.registry import registry
from arrayx.config import config
from arrayx.control.external import external
from arrayx.core.aval import Aval
from arrayx.core.graph import Equation, Graph
from arrayx.core.primitive import Primitive
from arrayx.core.quiet import quietly
from arrayx.primitives.axes import broadcast_in_dim
from arrayx.transforms.simplify import simplify
from arrayx.transforms.stage import derive
from arrayx_xla import lower
from arrayx_xla.buffers import HostBuffer
from arrayx_xla.callbacks import Run
from arrayx_xla.client import Client, cpu_client
from arrayx_xla.client import Executable as LoadedExecutable
from arrayx_xla.emitter import ORDER, RUN
from arrayx_xla.text import ELEMENT_TYPES

# Elements, of operands and results together, up to which an operation runs on the host: NumPy
# works through them in less time (some 50 us) than XLA saves with its threads and fusion.
MOST_HOST_ELEMENTS = 1 << 16
_settings = config.snapshot


class XlaBackend(Backend):
    """XLA through PJRT, on the CPU."""

    name = "xla"
    api_version = API_VERSION
    dtypes = frozenset(str(dtype) for dtype in ELEMENT_TYPES)
    keeps_calls = True
    asynchronous = True
    eager_takes_keys = True

    def __init__(self, client: Client | None = None) -> None:
        self.client = client or cpu_client()
        self.platform = self.client.platform
        self._devices = tuple(
            Device(self, d.platform, d.index, d.kind) for d in self.client.devices
        )
        self.host = registry.get("numpy")

    # ------------------------------------------------------------- arrays

    def devices(self) -> tuple[Device, ...]:
        return self._devices

    def put(self, array: np.ndarray, device: Device) -> Any:
        if array.size > MOST_HOST_ELEMENTS:
            return self.client.put(array, device.id)
        return HostBuffer(np.array(array))

    def share(self, array: np.ndarray, device: Device) -> Any:
        return HostBuffer(array) if self.platform == "cpu" else None

    def get(self, buffer: Any) -> np.ndarray:
        if type(buffer) is HostBuffer:
            return np.asarray(buffer.array)
        return self.client.get(buffer)

    def is_ready(self, buffer: Any) -> bool:
        return type(buffer) is HostBuffer or bool(buffer.is_ready())

    def synchronize(self, buffer: Any) -> None:
        if type(buffer) is not HostBuffer:
            self.client.wait(buffer)

    def delete(self, buffer: Any) -> None:
        """Does nothing: a buffer goes with its last reference, and a view may look at it."""

    def placed(self, buffer: Any, index: int) -> Any:
        """The PJRT buffer of any buffer, on the device of this number: put there only once."""
        if type(buffer) is not HostBuffer:
            return buffer
        if buffer.placed is None:
            buffer.placed = self.client.put(buffer.array, index, immutable=True)
        return buffer.placed

    def given(self, buffer: Any, index: int) -> Any:
        """The PJRT buffer for a program that may take its memory: not one that others share."""
        if type(buffer) is not HostBuffer:
            return buffer
        return self.client.put(buffer.array, index)

    # ------------------------------------------------------------- programs

    def takes(self, primitive: Primitive) -> bool | str:
        return lower.takes(primitive)

    def supports(self, equation: Equation) -> bool | str:
        return lower.supports(equation, self.platform)

    def compile(self, graph: Graph, options: CompileOptions) -> Executable:
        return Program(self, graph, options)

    def lowered_text(self, graph: Graph, options: CompileOptions) -> str:
        return lower.lower(simplify(legalise(graph, self)), options.donated).text

    # ------------------------------------------------------------- eager

    def eager(
        self,
        primitive: Primitive,
        avals: tuple[Any, ...],
        params: dict[str, Any],
        device: Device,
    ) -> Callable[..., Any]:
        out = primitive.infer(avals, params)
        arrays = [a for a in avals if type(a) is Aval]
        elements = sum(a.size for a in (*arrays, *(out if primitive.multiple else (out,))))
        compiled = self.compiled_kernel(primitive, avals, params, device)
        outside = primitive is external  # this backend's own function, not NumPy's
        if self.platform != "cpu" or elements > MOST_HOST_ELEMENTS or outside:
            return compiled
        return self.host_kernel(primitive, avals, params, compiled)

    def host_kernel(
        self,
        primitive: Primitive,
        avals: tuple[Any, ...],
        params: dict[str, Any],
        compiled: Callable[..., Any],
    ) -> Callable[..., Any]:
        """A primitive on views of the operands' memory, where the settings allow that."""
        kernel = host_function(self.host, primitive, avals, params)
        view = self.client.get
        if primitive.multiple or len(avals) > 2:
            return self.host_kernel_of_many(primitive, compiled, kernel)

        # The setting is looked up at each call: what dispatch keeps does not know of it.
        def unary(x: Any) -> Any:
            if _settings().eager_xla != "host":
                return compiled(x)
            return HostBuffer(quietly(kernel, x.array if type(x) is HostBuffer else view(x)))

        first, second = [type(a) is Aval for a in avals] if len(avals) == 2 else (True, True)

        def binary(x: Any, y: Any) -> Any:
            if _settings().eager_xla != "host":
                return compiled(x, y)
            if first:
                x = x.array if type(x) is HostBuffer else view(x)
            if second:
                y = y.array if type(y) is HostBuffer else view(y)
            return HostBuffer(quietly(kernel, x, y))

        def nullary() -> Any:
            return HostBuffer(quietly(kernel)) if _settings().eager_xla == "host" else compiled()

        return (nullary, unary, binary)[len(avals)]

    def host_kernel_of_many(
        self, primitive: Primitive, compiled: Callable[..., Any], kernel: Callable[..., Any]
    ) -> Callable[..., Any]:
        """`host_kernel` for many operands or several results."""
        view = self.client.get

        def run(*buffers: Any) -> Any:
            if _settings().eager_xla != "host":
                return compiled(*buffers)
            operands = [
                b.array if type(b) is HostBuffer else b if type(b) in _SCALARS else view(b)
                for b in buffers
            ]
            result = quietly(kernel, *operands)
            if primitive.multiple:
                return tuple([HostBuffer(r) for r in result])
            return HostBuffer(result)

        return run

    def compiled_kernel(
        self,
        primitive: Primitive,
        avals: tuple[Any, ...],
        params: dict[str, Any],
        device: Device,
    ) -> Callable[..., Any]:
        """A primitive as a program, made at its first call.

        Literals are arguments of the program: one program does for all of their values.
        """
        types = literal_avals(primitive, avals)
        if types is None:
            return self.compile_one(self, primitive, avals, params, device)
        program: Executable | None = None
        multiple = primitive.multiple
        literals = [(i, a.dtype) for i, a in enumerate(types) if type(avals[i]) is not Aval]

        def run(*buffers: Any) -> Any:
            nonlocal program
            if program is None:
                graph = graph_of(primitive, avals, types, params)
                program = compile_graph(graph, CompileOptions(device))
            operands = list(buffers)
            for i, dtype in literals:
                operands[i] = HostBuffer(np.asarray(operands[i], dtype))
            results = program.run(operands)
            return tuple(results) if multiple else results[0]

        return run


_SCALARS = frozenset((bool, int, float, complex))


def host_function(
    host: Backend, primitive: Primitive, avals: tuple[Any, ...], params: dict[str, Any]
) -> Callable[..., Any]:
    """The NumPy backend's function for a primitive, or its program where there are keys."""
    out = primitive.infer(avals, params)
    if has_keys((*avals, *(out if primitive.multiple else (out,)))):
        return compile_one(host, primitive, avals, params, host.devices()[0])  # type: ignore[no-any-return]
    return host.eager(primitive, avals, params, host.devices()[0])


def literal_avals(primitive: Primitive, avals: tuple[Any, ...]) -> tuple[Aval, ...] | None:
    """The operands' types with rank-0 types in place of literals; None where they must stay."""
    if all(type(a) is Aval for a in avals):
        return avals
    # The condition of a select, which comes first, is the only operand of another dtype.
    given = [a for a in (avals if primitive.name != "select" else avals[1:]) if type(a) is Aval]
    if not primitive.elementwise or not given:
        return None
    dtype = given[0].dtype
    return tuple(a if type(a) is Aval else Aval((), dtype) for a in avals)


def graph_of(
    primitive: Primitive, avals: tuple[Any, ...], types: tuple[Aval, ...], params: dict[str, Any]
) -> Graph:
    """A graph that applies one primitive; what stood as literals are inputs of rank 0."""
    shape = next((a.shape for a in avals if type(a) is Aval), ())

    def function(*args: Any) -> Any:
        operands = [
            x if type(a) is Aval or not shape else broadcast_in_dim(x, shape=shape, dims=())
            for x, a in zip(args, avals, strict=True)
        ]
        result = primitive(*operands, **params)
        return result if primitive.multiple else (result,)

    return derive(function, types)


class Program(Executable):
    """A compiled graph on one device."""

    def __init__(self, backend: XlaBackend, graph: Graph, options: CompileOptions) -> None:
        index = options.device.id
        lowered = lower.lower(graph, options.donated)
        avals = [physical_aval(a) for a in graph.out_avals]
        if lowered.ordered:
            avals.append(ORDER)
        self.loaded = backend.client.compile(
            lowered.text, avals, devices=(index,), callbacks=lowered.callbacks
        )
        # Put once, and kept with the program.
        held = [None if x is RUN else backend.placed(held_buffer(x), index) for x in lowered.arrays]
        donated = frozenset(options.donated)
        if lowered.callbacks:
            self.start = calling_starter(
                backend, self.loaded, index, donated, held, lowered.ordered
            )
        else:
            self.start = starter(backend, self.loaded, index, donated, held)
        # Whoever keeps `program.run` calls the function itself, without a method around it.
        self.run = self.start  # type: ignore[assignment,method-assign]

    def run(self, buffers: Sequence[Any]) -> Sequence[Any]:
        return self.start(buffers)

    def text(self) -> str:
        return self.loaded.hlo_text()

    def cost_analysis(self) -> dict[str, float]:
        return self.loaded.cost_analysis()

    def memory_analysis(self) -> dict[str, float]:
        return {k: float(v) for k, v in asdict(self.loaded.memory_analysis()).items()}


def calling_starter(
    backend: XlaBackend,
    loaded: LoadedExecutable,
    index: int,
    donated: frozenset[int],
    held: list[Any],
    ordered: bool,
) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """The function that runs a program with callbacks: it waits, and raises their errors.

    `held` has None where the number of the run goes.
    """
    client = backend.client

    def run(buffers: Sequence[Any]) -> Sequence[Any]:
        with Run() as this:
            number = client.put(np.int32(this.number), index)
            operands = [
                backend.given(b, index) if i in donated else backend.placed(b, index)
                for i, b in enumerate(buffers)
            ]
            operands += [number if b is None else b for b in held]
            try:
                outputs = loaded.execute(operands)
                for b in outputs:
                    client.wait(b)
            except Exception:
                if this.errors:
                    raise this.errors[0] from None
                raise
        return outputs[:-1] if ordered else outputs

    return run


def held_buffer(array: Any) -> Any:
    """The buffer of an array that a graph holds."""
    return array.buffer if isinstance(array, ConcreteArray) else HostBuffer(np.array(array))


def starter(
    backend: XlaBackend,
    loaded: LoadedExecutable,
    index: int,
    donated: frozenset[int],
    held: list[Any],
) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """The function that runs a program; it returns before the work is done."""
    execute, handlers = loaded.parts()
    given, placed = backend.given, backend.placed

    def run(buffers: Sequence[Any]) -> Sequence[Any]:
        for b in buffers:
            if type(b) is HostBuffer:
                buffers = [
                    b
                    if type(b) is not HostBuffer
                    else b.placed
                    if b.placed is not None
                    else placed(b, index)
                    for b in buffers
                ]
                break
        try:
            return execute(buffers).consume_with_handlers(handlers)  # type: ignore[no-any-return]
        except Exception as error:
            failure = loaded.failure(error, buffers)
            if failure is error:
                raise
            raise failure from error

    if not donated and not held:
        return run

    def run_with_more(buffers: Sequence[Any]) -> Sequence[Any]:
        operands = [
            given(b, index) if i in donated else placed(b, index) for i, b in enumerate(buffers)
        ]
        return run(operands + held)

    return run_with_more
