"""Writing equations as lines of Python over NumPy, with planned memory.

What decides speed here is memory: fresh pages cost more than arithmetic, so results go into
buffers that are used again as soon as their value is dead.  Apart from `program` because a
tile is written in the same way as the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayx import dtypes
from arrayx.core.aval import Aval
from arrayx.core.graph import Equation, Graph, Var
from arrayx_numpy.elementwise import is_foreign
from arrayx_numpy.into import Into, into

# Kernels whose result never shares memory with an operand.
FRESH = frozenset(
    "absorb_mul argmax argmin bessel_i0e bessel_i1e callback clamp clz complex concatenate "  # noqa: SIM905
    "conv_general_dilated cummax cummin cumprod cumsum digamma "
    "div dot_general erf erf_inv erfc gather iota lgamma logistic pad polygamma population_count "
    "pow reduce_and reduce_max reduce_min reduce_or reduce_prod rem rsqrt select shift_left "
    "shift_right_arithmetic shift_right_logical sign sort threefry2x32".split()
)


class Writer:
    """Writes equations one by one, deciding for each result where it is kept."""

    # What buffers are called, with a number.
    buffer_name = "b"

    def __init__(
        self, graph: Graph, kernel_of: Callable[[Equation], Any], scope: dict[str, Any]
    ) -> None:
        self.graph = graph
        self.kernel_of = kernel_of
        # What the text speaks of by name: kernels and constants.
        self.scope = scope
        self.names: dict[Var, str] = {}
        # The types of the buffers, in order.
        self.buffers: list[Aval] = []
        self.lines: list[str] = []
        self.last_use = last_uses(graph.equations, graph.outputs)
        # The memory that a value may share: the variables that own it.
        self.owners: dict[Var, frozenset[Var]] = {}
        # How many live values may share an owner's memory.
        self.sharers: dict[Var, int] = {}
        self.buffer_of: dict[Var, str] = {}
        self.free: dict[tuple[Any, Any], list[str]] = {}

    # ------------------------------------------------------------- for a kind of program

    def writes(self, e: Equation, kernel: Any) -> Into | None:
        """The kernel of an equation that writes into given memory, where there is one."""
        return into(e, kernel) if e.outputs[0].aval.ndim else None

    def given(self, out: Var) -> str | None:
        """The array that a result has to be written into, None for a buffer."""
        return None

    def must_be_fresh(self, out: Var) -> bool:
        """True for what nobody may write to again."""
        return False

    # ------------------------------------------------------------- equations

    def owners_of(
        self, e: Equation, owners: dict[Var, frozenset[Var]], fresh: bool
    ) -> list[frozenset[Var]]:
        """Whose memory each result of an equation may share; its own if it is fresh."""
        if fresh or isinstance(self.kernel_of(e), np.ufunc) or e.primitive.name in FRESH:
            return [frozenset((v,)) for v in e.outputs]
        if e.primitive.name == "optimization_barrier":
            return [
                frozenset((v,)) | owners.get(a, frozenset())
                for v, a in zip(e.outputs, e.inputs, strict=True)
            ]
        shared = [owners[a] for a in e.inputs if type(a) is Var and a in owners]
        return [frozenset((v,)).union(*shared) for v in e.outputs]

    def write(self, i: int, e: Equation) -> None:
        """Equation number i, and the end of what it used last."""
        kernel = self.kernel_of(e)
        if not e.outputs:
            arguments = [self.operand(e, a, False) for a in e.inputs]
            self.lines.append(f"    {self.call(kernel, e, arguments)}")
            dying = self.dying(i, e.inputs)
            for a in dying:
                self.release(a)
            self.end(dying, ())
            return
        target = None if e.primitive.multiple else self.writes(e, kernel)
        planned = target is not None
        dying = self.dying(i, e.inputs)
        arguments = [self.operand(e, a, planned) for a in e.inputs]
        self.own(e, planned)
        out = e.outputs[0]
        if target is not None and not self.must_be_fresh(out):
            # Operands that die here may give their buffer to the result.
            passed_on = [a for a in dying if self.passes_on(a, e, target)]
            for a in passed_on:
                self.release(a)
            place = self.given(out)
            if place is None:
                place = self.buffer_of[out] = self.take(out.aval)
            for a in dying:
                if a not in passed_on:
                    self.release(a)
            self.names[out] = place
            arguments.append(f"out={place}")
            self.lines.append(f"    {self.call(target.kernel, e, arguments)}")
        elif (place := self.given(out)) is not None:
            self.names[out] = place
            self.lines.append(f"    np.copyto({place}, {self.call(kernel, e, arguments)})")
            for a in dying:
                self.release(a)
        else:
            for v in e.outputs:
                self.names[v] = f"v{len(self.names)}"
            targets = ", ".join(self.names[v] for v in e.outputs)
            comma = "," if e.primitive.multiple and len(e.outputs) == 1 else ""
            self.lines.append(f"    {targets}{comma} = {self.call(kernel, e, arguments)}")
            for a in dying:
                self.release(a)
        self.end(dying, e.outputs)

    def dying(self, i: int, inputs: Sequence[Any]) -> list[Var]:
        """The operands that are read for the last time by step number i."""
        return [
            a
            for a in dict.fromkeys(inputs)
            if type(a) is Var and a in self.owners and self.last_use.get(a) == i
        ]

    def own(self, e: Equation, fresh: bool) -> None:
        """Enters who owns the memory of results."""
        for v, owners in zip(e.outputs, self.owners_of(e, self.owners, fresh), strict=True):
            self.owners[v] = owners
            for o in owners:
                self.sharers[o] = self.sharers.get(o, 0) + 1

    def end(self, dying: Sequence[Var], outputs: Sequence[Var]) -> None:
        """Lets go of what is not read any more; the dying are released already."""
        unused = [v for v in outputs if v not in self.last_use]
        for v in unused:
            self.release(v)
        gone = [self.names[a] for a in (*dying, *unused) if self.names[a][0] == "v"]
        if gone:
            self.lines.append(f"    del {', '.join(gone)}")

    def passes_on(self, a: Var, e: Equation, target: Into) -> bool:
        """Whether the kernel may write over this operand, being its whole buffer."""
        if isinstance(target.kernel, np.ufunc):
            return True
        return self.owners[a] == {a} and all(
            i in target.overwrites for i, b in enumerate(e.inputs) if b is a
        )

    def operand(self, e: Equation, a: Any, planned: bool) -> str:
        """An operand as text; a ufunc takes a literal fastest as an array of rank 0."""
        if type(a) is Var:
            return self.names[a]
        if planned or e.primitive.elementwise:
            # The last operand's: the first of `select` is its condition.
            dtype = [v.aval.dtype for v in e.inputs if type(v) is Var][-1]
            if e.primitive.name == "select":
                dtype = e.outputs[0].aval.dtype
            if (planned and dtypes.kind(dtype) != "bool") or is_foreign(dtype):
                return self.constant("literal", np.asarray(a, dtype))
        return repr(a) if np.isfinite(a) else f"{type(a).__name__}({str(a)!r})"

    def call(self, kernel: Any, e: Equation, arguments: list[str]) -> str:
        """The call of a kernel."""
        if e.outputs and kernel in OPERATORS and e.outputs[0].aval.ndim == 0 and is_builtin(e):
            # NumPy's scalars have operators that take a tenth of the ufunc's time.
            return f" {OPERATORS[kernel]} ".join(arguments)
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
        return repr(value) if is_plain(value) else self.constant("param", value)

    def constant(self, what: str, value: Any) -> str:
        """A name for a value in the program's scope."""
        name = f"{what}_{len(self.scope)}"
        self.scope[name] = value
        return name

    # ------------------------------------------------------------- buffers

    def take(self, aval: Aval) -> str:
        """A buffer for a result: a free one, or a new one."""
        free = self.free.get((aval.shape, aval.dtype))
        if free:
            return free.pop()
        self.buffers.append(aval)
        return f"{self.buffer_name}{len(self.buffers) - 1}"

    def release(self, var: Var) -> None:
        """A value is dead: its owners' buffers are free once nobody shares them."""
        for o in self.owners[var]:
            self.sharers[o] -= 1
            if self.sharers[o] == 0 and o in self.buffer_of:
                aval = o.aval
                self.free.setdefault((aval.shape, aval.dtype), []).append(self.buffer_of[o])


OPERATORS: dict[Any, str] = {np.add: "+", np.subtract: "-", np.multiply: "*", np.divide: "/"}


def is_builtin(e: Equation) -> bool:
    """True where all operands are of NumPy's own dtypes."""
    return all(v.aval.dtype.isbuiltin == 1 for v in e.inputs if type(v) is Var)


def is_plain(value: Any) -> bool:
    """True for params whose repr is Python text for them."""
    if type(value) is tuple:
        return all(is_plain(v) for v in value)
    if type(value) is float:
        return bool(np.isfinite(value))
    return value is None or type(value) in (bool, int, str)


def last_uses(steps: Sequence[Any], outputs: Sequence[Var]) -> dict[Var, int]:
    """The number of the last step that reads each variable; outputs are read last."""
    last: dict[Var, int] = {}
    for i, e in enumerate(steps):
        for a in e.inputs:
            if type(a) is Var:
                last[a] = i
    for v in outputs:
        last[v] = len(steps)
    return last
