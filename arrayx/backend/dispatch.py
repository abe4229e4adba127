"""Eager execution: which device runs an operation, and the call of its kernel.

The decision is made once for each combination of operand types and kept in a table on the
primitive: afterwards an operation is a look-up, the kernel, and an array around its result.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.backend.callbacks import call_now, keys_on, run_calling_back
from arrayx.backend.concrete import (
    ConcreteArray,
    Gone,
    array_types,
    give_away,
    refuse_gone,
)
from arrayx.backend.contract import Backend, CompileOptions, Device, Executable, one_equation_graph
from arrayx.backend.legalise import (
    as_equation,
    has_keys,
    legalise,
    places_in,
    refuse_other_place,
)
from arrayx.backend.registry import default_name, registry
from arrayx.control.call import call
from arrayx.control.callback import callback, calls_back
from arrayx.control.external import external
from arrayx.core.array import SCALARS, Array
from arrayx.core.aval import Aval
from arrayx.core.graph import Graph, graphs_in
from arrayx.core.interpreter import Base, Tracer, refuse_leaked
from arrayx.core.primitive import Primitive
from arrayx.core.quiet import quietly
from arrayx.transforms.simplify import simplify

_MOST_KERNELS = 1024
# Of primitives that hold graphs: their programs keep memory for the next run.
_MOST_PROGRAMS = 64
_SCALARS = frozenset(SCALARS)


def apply(primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Applies a primitive to concrete arrays now."""
    array_type = None
    key: list[Any] = []
    operands: list[Any] = []
    for a in args:
        cls = type(a)
        if cls is array_type:
            key.append(a.aval)
            operands.append(a.buffer)
        elif cls in _SCALARS:
            key.append(cls)
            operands.append(a)
        elif array_type is None and cls in array_types:
            array_type = cls
            key.append(a.aval)
            operands.append(a.buffer)
        else:
            return apply_to_any(primitive, args, params)
    if array_type is None:
        array_type = default_device().array_type
    if params:
        entry = primitive.kernels.get((array_type, *key, *primitive.key(params)))
    else:
        entry = primitive.kernels.get((array_type, *key))
    if entry is None:
        return apply_to_any(primitive, args, params)
    kernel, out, is_quiet = entry
    result = quietly(kernel, *operands) if is_quiet else kernel(*operands)
    if type(out) is Aval:
        return array_type(result, out)
    return tuple([array_type(b, a) for b, a in zip(result, out)])


def apply_to_any(primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """`apply` for the first time of its kind, or for operands that need preparing."""
    if primitive is call:
        return run_graph(params["graph"], args)
    if primitive.evaluate is not None:
        results = primitive.evaluate(*args, **params)
        if primitive.multiple and any(isinstance(x, np.ndarray | np.generic) for x in results):
            # A constant of a graph can be a result of it as it is.
            device = choose_device(args)
            return tuple([x if isinstance(x, Array) else as_concrete(x, device) for x in results])
        return results
    device = choose_device(args)
    if primitive is callback:
        return call_now(args, params, device)
    if primitive is external and takes_external(params, args, device) is not True:
        return external.expand(*args, **params)
    args = tuple([a if type(a) in _SCALARS else as_concrete(a, device) for a in args])
    avals = tuple([type(a) if type(a) in _SCALARS else a.aval for a in args])
    out = primitive.infer(avals, params)
    key = (device.array_type, *avals, *primitive.key(params))
    if key not in primitive.kernels:
        backend = device.backend
        for aval in out if primitive.multiple else (out,):
            backend.check_dtype(aval)
        outs = out if primitive.multiple else (out,)
        # Kernels know no keys, nor graphs that were not legalised.
        unknown = has_keys((*avals, *outs)) and not backend.eager_takes_keys
        if unknown or primitive.holds_graphs:
            kernel = compile_one(backend, primitive, avals, params, device)
        else:
            kernel = backend.eager(primitive, avals, params, device)
        # The keys hold types and graphs, so it is bounded.
        most = _MOST_PROGRAMS if primitive.holds_graphs else _MOST_KERNELS
        if len(primitive.kernels) >= most:
            primitive.kernels.clear()
        is_quiet = backend.quiet
        if is_quiet and primitive.holds_graphs and graphs_call_back(params):
            kernel, is_quiet = partial(run_calling_back, kernel, True), False
        primitive.kernels[key] = kernel, out, is_quiet
        if backend.quiet and not params and not primitive.multiple:
            remember(primitive, device.array_type, avals, kernel, out)
    kernel, out, is_quiet = primitive.kernels[key]
    operands = [a if type(a) in _SCALARS else a.buffer for a in args]
    result = quietly(kernel, *operands) if is_quiet else kernel(*operands)
    if not primitive.multiple:
        return device.array_type(result, out)
    return tuple([device.array_type(b, a) for b, a in zip(result, out, strict=True)])


def takes_external(params: dict[str, Any], args: Sequence[Any], device: Device) -> bool | str:
    """Whether the backend has the function itself."""
    return device.backend.supports(as_equation(external, args, params))


def graphs_call_back(params: dict[str, Any]) -> bool:
    """True if a callback stands in one of the graphs among the params."""
    return any(calls_back(graph) for value in params.values() for graph in graphs_in(value))


def remember(
    primitive: Primitive, array_type: Any, avals: tuple[Any, ...], kernel: Any, out: Aval
) -> None:
    """Enters a kernel in the table of the primitive's own `__call__` (see `Elementwise`)."""
    if len(primitive.direct) >= _MOST_KERNELS:
        primitive.direct.clear()
    if all(type(a) is Aval for a in avals):
        primitive.direct[(array_type, *avals)] = kernel, out, array_type
    elif len(avals) == 2:
        first = (array_type, *avals) if type(avals[0]) is Aval else (avals[0], array_type, avals[1])
        primitive.direct[first] = kernel, out, array_type


def default_device() -> Device:
    """The device of work whose arguments do not decide."""
    return registry.get(default_name()).devices()[0]


def choose_device(args: Sequence[Any]) -> Device:
    """The device of the arrays among `args`, else the default one."""
    device: Device | None = None
    for a in args:
        if isinstance(a, ConcreteArray):
            if type(a) is Gone:
                refuse_gone(a)
            if device is not None and a.device is not device:
                refuse_mixed(args)
            device = a.device
    return device if device is not None else default_device()


def refuse_mixed(args: Sequence[Any]) -> None:
    """Raises the error for arrays that live in different places."""
    places = "; ".join(
        f"operand {i} of type {a.aval} on {a.device}"
        for i, a in enumerate(args)
        if isinstance(a, ConcreteArray)
    )
    raise errors.MixedBackendsError(
        f"an operation got arrays that live in different places: {places}. Arrays move only "
        "when told to: x = ax.device_put(x, device), or pass NumPy arrays, which are free."
    )


def as_concrete(x: Any, device: Device) -> ConcreteArray:
    """A NumPy value on the device, a copy; an array stays where it is."""
    if type(x) is device.array_type:
        return x
    if isinstance(x, np.ndarray | np.generic):
        aval = Aval(x.shape, dtypes.as_dtype(x.dtype))
        device.backend.check_dtype(aval)
        return device.array_type(device.backend.put(np.asarray(x), device), aval)
    if isinstance(x, Tracer):
        refuse_leaked(x)
    raise TypeError(f"{x!r} of type {type(x).__name__} is not an array")


def compile_one(
    backend: Backend,
    primitive: Primitive,
    avals: tuple[Any, ...],
    params: dict[str, Any],
    device: Device,
) -> Any:
    """`Backend.eager` by compiling a graph of one equation, one for each set of literals."""
    programs: dict[Any, Executable] = {}
    is_array = [type(a) is Aval for a in avals]

    def run(*operands: Any) -> Any:
        literals = tuple([x for x, array in zip(operands, is_array, strict=True) if not array])
        key = repr(literals)
        program = programs.get(key)
        if program is None:
            graph = one_equation_graph(primitive, avals, params, literals)
            program = programs[key] = compile_graph(graph, CompileOptions(device))
        result = program.run([x for x, array in zip(operands, is_array, strict=True) if array])
        return tuple(result) if primitive.multiple else result[0]

    return run


Backend.compile_one = staticmethod(compile_one)


def compile_graph(graph: Graph, options: CompileOptions) -> Executable:
    """Legalises, simplifies and compiles; kept on the graph."""
    key = "executable", options
    found = graph.memo.get(key)
    if found is None:
        backend = options.device.backend
        for aval in (*graph.in_avals, *graph.out_avals):
            backend.check_dtype(aval)
        legal = simplify(legalise(graph, backend))
        # Of other backends the graph has told by now.
        for place in places_in(graph) - {str(options.device)}:
            refuse_other_place(place, str(options.device), "device")
        found = backend.compile(legal, options)
        if calls_back(legal):
            found.calls_back = True
        graph.memo[key] = found
    return found


def run_graph(
    graph: Graph,
    args: Sequence[Any],
    device: Device | None = None,
    donated: tuple[int, ...] = (),
    name: str = "",
) -> tuple[Any, ...]:
    """Runs a whole graph on concrete arrays, on `device` or where they are.

    The arrays numbered `donated` are given away, to the function `name`.
    """
    if device is None:
        device = choose_device((*args, *graph.constant_values))
    arrays = [as_concrete(a, device) for a in args]
    program = compile_graph(graph, CompileOptions(device, donated))
    array_type = device.array_type
    buffers = [a.buffer for a in arrays]
    if program.calls_back:
        outputs = run_calling_back(program.run, device.backend.quiet, buffers)
    else:
        outputs = quietly(program.run, buffers)
    results = tuple([array_type(b, a) for b, a in zip(outputs, graph.out_avals, strict=True)])
    for i in donated:
        give_away(arrays[i], name)
    return results


keys_on(default_device)
Base.apply = staticmethod(apply)  # type: ignore[method-assign,assignment]
