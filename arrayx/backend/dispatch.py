"""Eager execution: which backend runs an operation, and the call of its kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.backend.concrete import ConcreteArray
from arrayx.backend.contract import Backend, CompileOptions, Device, Executable, one_equation_graph
from arrayx.backend.legalise import legalise
from arrayx.backend.registry import default_name, registry
from arrayx.control.call import call
from arrayx.core.array import SCALARS
from arrayx.core.aval import Aval
from arrayx.core.graph import Graph
from arrayx.core.interpreter import BASE, Tracer, refuse_leaked
from arrayx.core.primitive import Primitive
from arrayx.transforms.simplify import simplify

_MOST_KERNELS = 4096
# Eager kernels by backend object, primitive, operand types and params.  One look-up
# decides everything about an operation but its elements.
_kernels: dict[Any, Any] = {}


def choose_device(args: Sequence[Any]) -> Device:
    """The device of the committed arrays among `args`, else the default one."""
    device: Device | None = None
    for a in args:
        if isinstance(a, ConcreteArray) and a.device is not device:
            if device is None:
                device = a.device
            elif a.device != device:
                refuse_mixed(args)
    return device if device is not None else registry.get(default_name()).devices()[0]


def refuse_mixed(args: Sequence[Any]) -> None:
    """Raises the error for arrays that live in different places."""
    places = "; ".join(
        f"argument {i} of type {a.aval} on {a.device}"
        for i, a in enumerate(args)
        if isinstance(a, ConcreteArray)
    )
    raise errors.MixedBackendsError(
        f"an operation got arrays that live in different places: {places}. Arrays move only "
        "when told to: x = ax.device_put(x, device), or pass NumPy arrays, which are free."
    )


def as_concrete(x: Any, device: Device) -> ConcreteArray:
    """A NumPy value on the device, a copy; an array stays where it is."""
    if isinstance(x, ConcreteArray):
        return x
    if isinstance(x, Tracer):
        refuse_leaked(x)
    if isinstance(x, np.ndarray | np.generic):
        aval = Aval(x.shape, dtypes.as_dtype(x.dtype))
        backend = registry.get(device.backend)
        backend.check_dtype(aval)
        return backend.array_type(backend.put(np.asarray(x), device), aval, device)
    raise TypeError(f"{x!r} of type {type(x).__name__} is not an array")


def run(primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Applies a primitive to concrete arrays now."""
    if primitive is call:
        return run_graph(params["graph"], args)
    if primitive.evaluate is not None:
        return primitive.evaluate(*args, **params)
    device = choose_device(args)
    operands = []
    avals = []
    for a in args:
        if type(a) in SCALARS:
            operands.append(a)
            avals.append(type(a))
        else:
            a = as_concrete(a, device)
            operands.append(live_buffer(a))
            avals.append(a.aval)
    key = primitive, device, tuple(avals), *params.items()
    entry = _kernels.get(key)
    if entry is None:
        entry = _kernel(key, primitive, tuple(avals), params, device)
    kernel, array_type, out = entry
    result = kernel(*operands)
    if primitive.multiple:
        return tuple(array_type(b, a, device) for b, a in zip(result, out, strict=True))
    return array_type(result, out, device)


def live_buffer(x: ConcreteArray) -> Any:
    """The buffer of an array; raises for one that was donated."""
    if x.buffer is None:
        x.host()
    return x.buffer


def _kernel(
    key: Any, primitive: Primitive, avals: tuple[Any, ...], params: dict[str, Any], device: Device
) -> Any:
    backend = registry.get(device.backend)
    out = primitive.infer(avals, params)
    for aval in out if primitive.multiple else (out,):
        backend.check_dtype(aval)
    kernel = backend.eager(primitive, avals, params, device)
    if len(_kernels) >= _MOST_KERNELS:  # the keys hold avals and params, so it is bounded
        _kernels.clear()
    entry = _kernels[key] = kernel, backend.array_type, out
    return entry


def compile_one(
    backend: Backend,
    primitive: Primitive,
    avals: tuple[Any, ...],
    params: dict[str, Any],
    device: Device,
) -> Any:
    """`Backend.eager` by compiling a graph of one equation, one for each set of literals."""
    programs: dict[Any, Executable] = {}

    def apply(*operands: Any) -> Any:
        literals = tuple(x for x, a in zip(operands, avals, strict=True) if type(a) is not Aval)
        key = tuple((type(x), repr(x)) for x in literals)
        program = programs.get(key)
        if program is None:
            graph = one_equation_graph(primitive, avals, params, literals)
            options = CompileOptions(device)
            program = programs[key] = compile_graph(graph, backend, options)
        buffers = [x for x, a in zip(operands, avals, strict=True) if type(a) is Aval]
        result = program.run(buffers)
        return tuple(result) if primitive.multiple else result[0]

    return apply


Backend.compile_one = staticmethod(compile_one)  # type: ignore[assignment]


def compile_graph(graph: Graph, backend: Backend, options: CompileOptions) -> Executable:
    """Legalises, simplifies and compiles; kept on the graph."""
    key = "executable", backend.name, options
    found = graph.memo.get(key)
    if found is None:
        found = graph.memo[key] = backend.compile(simplify(legalise(graph, backend)), options)
    return found  # type: ignore[no-any-return]


def run_graph(graph: Graph, args: Sequence[Any]) -> tuple[Any, ...]:
    """Runs a whole graph on concrete arrays through its compiled form."""
    device = choose_device((*args, *graph.constant_values))
    backend = registry.get(device.backend)
    program = compile_graph(graph, backend, CompileOptions(device))
    buffers = [live_buffer(as_concrete(a, device)) for a in args]
    return tuple(
        backend.array_type(b, aval, device)
        for b, aval in zip(program.run(buffers), graph.out_avals, strict=True)
    )


BASE.run = run
