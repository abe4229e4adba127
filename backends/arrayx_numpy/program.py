"""A graph as one straight-line Python function over NumPy, with its buffers planned.

Each equation becomes a line.  What decides speed here is memory: fresh pages cost more than
arithmetic, so results of ufuncs go into buffers that are reused, within a call as soon as
their value is dead, and from call to call through an arena.  Only what may outlive the call
is allocated afresh.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayx import dtypes
from arrayx.backend.contract import Device, Executable, constant_buffers
from arrayx.core.aval import Aval
from arrayx.core.graph import Equation, Graph, Var
from arrayx_numpy.elementwise import is_foreign

# Kernels whose result never shares memory with an operand.
FRESH = frozenset(
    "absorb_mul argmax argmin clamp clz complex concatenate cummax cummin cumprod cumsum digamma "
    "div dot_general erf erf_inv erfc gather iota lgamma logistic pad polygamma population_count "
    "pow reduce_and reduce_max reduce_min reduce_or reduce_prod rem rsqrt select shift_left "
    "shift_right_arithmetic shift_right_logical sign sort threefry2x32".split()
)
# Buffers kept from call to call, at most, in bytes for one program.
_MOST_KEPT = 256 << 20


class Program(Executable):
    """A compiled graph."""

    def __init__(
        self, graph: Graph, kernel_of: Callable[[Equation], Any], device: Device
    ) -> None:
        writer = Writer(graph, kernel_of)
        self.source = writer.source()
        self.buffers = writer.buffers
        scope = dict(writer.scope)
        exec(compile(self.source, "<arrayx numpy program>", "exec"), scope)
        self.function = scope["program"]
        self.constants = constant_buffers(graph, device)
        bytes_kept = sum(aval.nbytes for aval in self.buffers)
        self.keep = bytes_kept <= _MOST_KEPT
        # Whole arenas are handed out and taken back: two threads never share one.
        self.arenas: list[list[np.ndarray]] = []

    def run(self, buffers: Sequence[Any]) -> Sequence[Any]:
        try:
            arena = self.arenas.pop()
        except IndexError:
            arena = [np.empty(aval.shape, aval.dtype) for aval in self.buffers]
        result = self.function(buffers, self.constants, arena)
        # After an exception the arena is simply dropped.
        if self.keep:
            self.arenas.append(arena)
        return result  # type: ignore[no-any-return]

    def text(self) -> str:
        return self.source


class Writer:
    """Writes a graph as Python, deciding for each result where it is kept."""

    def __init__(self, graph: Graph, kernel_of: Callable[[Equation], Any]) -> None:
        self.graph = graph
        self.kernel_of = kernel_of
        self.scope: dict[str, Any] = {"np": np}
        self.names: dict[Var, str] = {}
        # The types of the arena's buffers, in order.
        self.buffers: list[Aval] = []
        self.lines: list[str] = []
        self.last_use = last_uses(graph)
        # The memory that a value may share: the variables that own it.
        self.owners: dict[Var, frozenset[Var]] = {}
        # How many live values may share an owner's memory.
        self.sharers: dict[Var, int] = {}
        self.buffer_of: dict[Var, str] = {}
        self.free: dict[tuple[Any, Any], list[str]] = {}
        self.escaping = self.find_escaping()

    def find_escaping(self) -> set[Var]:
        """Owners whose memory an output may share: they outlive the call."""
        owners: dict[Var, frozenset[Var]] = {}
        for e in self.graph.equations:
            for v, o in zip(e.outputs, self.owners_of(e, owners), strict=True):
                owners[v] = o
        return {o for v in self.graph.outputs for o in owners.get(v, frozenset())}

    def owners_of(
        self, e: Equation, owners: dict[Var, frozenset[Var]]
    ) -> list[frozenset[Var]]:
        """Whose memory each result of an equation may share; its own if it is fresh."""
        if isinstance(self.kernel_of(e), np.ufunc) or e.primitive.name in FRESH:
            return [frozenset((v,)) for v in e.outputs]
        shared = [owners[a] for a in e.inputs if type(a) is Var and a in owners]
        return [frozenset((v,)).union(*shared) for v in e.outputs]

    def source(self) -> str:
        """The program's text."""
        graph = self.graph
        for i, var in enumerate(graph.inputs):
            self.names[var] = f"a{i}"
        for i, var in enumerate(graph.constants):
            self.names[var] = f"c{i}"
        for i, e in enumerate(graph.equations):
            self.write(i, e)
        head = ["def program(inputs, constants, arena):"]
        if graph.inputs:
            head.append(f"    {', '.join(self.names[v] for v in graph.inputs)}, = inputs")
        if graph.constants:
            head.append(f"    {', '.join(self.names[v] for v in graph.constants)}, = constants")
        if self.buffers:
            names = ", ".join(f"b{i}" for i in range(len(self.buffers)))
            head.append(f"    {names}, = arena")
        outputs = ", ".join(self.names[v] for v in graph.outputs)
        return "\n".join([*head, *self.lines, f"    return [{outputs}]", ""])

    def write(self, i: int, e: Equation) -> None:
        """One equation, and the end of what it used last."""
        kernel = self.kernel_of(e)
        dying = [
            a
            for a in dict.fromkeys(e.inputs)
            if type(a) is Var and a in self.owners and self.last_use.get(a) == i
        ]
        planned = isinstance(kernel, np.ufunc) and e.outputs[0].aval.ndim > 0
        arguments = [self.operand(e, a, planned) for a in e.inputs]
        for v, owners in zip(e.outputs, self.owners_of(e, self.owners), strict=True):
            self.owners[v] = owners
            for o in owners:
                self.sharers[o] = self.sharers.get(o, 0) + 1
        out = e.outputs[0]
        if planned and out not in self.escaping:
            # Operands that die here give their buffer to the result: ufuncs allow it.
            for a in dying:
                self.release(a)
            buffer = self.take(out.aval)
            self.buffer_of[out] = buffer
            arguments.append(f"out={buffer}")
            dying = [a for a in dying if self.names[a][0] == "v"]
            self.names[out] = buffer
            self.lines.append(f"    {self.call(kernel, e, arguments)}")
        else:
            for v in e.outputs:
                self.names[v] = f"v{len(self.names)}"
            targets = ", ".join(self.names[v] for v in e.outputs)
            comma = "," if e.primitive.multiple and len(e.outputs) == 1 else ""
            self.lines.append(f"    {targets}{comma} = {self.call(kernel, e, arguments)}")
            for a in dying:
                self.release(a)
        unused = [v for v in e.outputs if v not in self.last_use]
        for v in unused:
            self.release(v)
        gone = [self.names[a] for a in (*dying, *unused) if self.names[a][0] == "v"]
        if gone:
            self.lines.append(f"    del {', '.join(gone)}")

    def operand(self, e: Equation, a: Any, planned: bool) -> str:
        """An operand as text; a ufunc takes a literal fastest as an array of rank 0."""
        if type(a) is Var:
            return self.names[a]
        if planned or e.primitive.elementwise:
            # The last operand's: the first of `select` is its condition.
            dtype = [v.aval.dtype for v in e.inputs if type(v) is Var][-1]
            if (planned and dtypes.kind(dtype) != "bool") or is_foreign(dtype):
                name = f"literal_{len(self.scope)}"
                self.scope[name] = np.asarray(a, dtype)
                return name
        return repr(a) if np.isfinite(a) else f"float({str(a)!r})"

    def call(self, kernel: Any, e: Equation, arguments: list[str]) -> str:
        """The call of a kernel."""
        if isinstance(kernel, np.ufunc) and getattr(np, kernel.__name__, None) is kernel:
            return f"np.{kernel.__name__}({', '.join(arguments)})"
        name = e.primitive.name
        while self.scope.setdefault(name, kernel) is not kernel:
            name += "_"
        for key, value in e.params.items():
            arguments.append(f"{key}={self.param(value)}")
        return f"{name}({', '.join(arguments)})"

    def param(self, value: Any) -> str:
        """A param as text, or by name where it has no short one."""
        if is_plain(value):
            return repr(value)
        name = f"param_{len(self.scope)}"
        self.scope[name] = value
        return name

    def take(self, aval: Aval) -> str:
        """A buffer for a result: a free one, or a new one of the arena."""
        free = self.free.get((aval.shape, aval.dtype))
        if free:
            return free.pop()
        self.buffers.append(aval)
        return f"b{len(self.buffers) - 1}"

    def release(self, var: Var) -> None:
        """A value is dead: its owners' buffers are free once nobody shares them."""
        for o in self.owners[var]:
            self.sharers[o] -= 1
            if self.sharers[o] == 0 and o in self.buffer_of:
                aval = o.aval
                self.free.setdefault((aval.shape, aval.dtype), []).append(self.buffer_of[o])


def is_plain(value: Any) -> bool:
    """True for params whose repr is Python text for them."""
    if type(value) is tuple:
        return all(is_plain(v) for v in value)
    if type(value) is float:
        return bool(np.isfinite(value))
    return value is None or type(value) in (bool, int, str)


def last_uses(graph: Graph) -> dict[Var, int]:
    """The number of the last equation that reads each variable; outputs are read last."""
    last: dict[Var, int] = {}
    for i, e in enumerate(graph.equations):
        for a in e.inputs:
            if type(a) is Var:
                last[a] = i
    for v in graph.outputs:
        last[v] = len(graph.equations)
    return last
