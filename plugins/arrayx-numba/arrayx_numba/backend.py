"""The backend: when a graph is compiled, and when NumPy's kernels run it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from arrayx.backend import CompileOptions, Device, Executable
from arrayx.core.graph import Equation, Graph
from arrayx_numba.program import NATIVE, NativePart, split, work_of
from arrayx_numpy.backend import NumpyBackend
from arrayx_numpy.program import Program

# Work, in elementary operations, from which a program is compiled at its first call, and that
# smaller ones must have done before they are.
LARGE = 1 << 18
IN_ALL = 1 << 28
# Parts with less work stay with NumPy.
PART = 1 << 11


def policy() -> str:
    """`"compile"`, `"numpy"` or `"auto"`, from the environment variable `ARRAYX_NUMBA`."""
    return os.environ.get("ARRAYX_NUMBA", "auto")


class NumbaBackend(NumpyBackend):
    """Whole graphs as native loops; kernels, eager operations and small graphs are NumPy's."""

    name = "numba"

    def compile(self, graph: Graph, options: CompileOptions) -> Executable:
        if policy() == "numpy":
            return super().compile(graph, options)
        return Adaptive(self, graph, options)

    def by_numpy(self, graph: Graph, options: CompileOptions) -> Executable:
        """The graph as a program of NumPy's kernels."""
        return super().compile(graph, options)

    def native(self, graph: Graph, options: CompileOptions) -> Executable | None:
        """The graph as a native program; None where no part of it is worth it."""
        whole, parts = split(graph, 0 if policy() == "compile" else PART)
        if not parts:
            return None
        return MixedProgram(self, whole, [NativePart(p) for p in parts], options.device)


class MixedProgram(Program):
    """NumPy's program, of which some equations are native parts."""

    def __init__(
        self, backend: NumbaBackend, graph: Graph, parts: list[NativePart], device: Device
    ) -> None:
        self.parts = parts

        def kernel_of(e: Equation) -> Any:
            if e.primitive is NATIVE:
                part = parts[e.params["number"]]
                return _numbered(part)
            return backend.kernel_of(e)

        super().__init__(graph, kernel_of, device)

    def text(self) -> str:
        return "\n".join([self.source, *(part.text for part in self.parts)])


class _Numbered:
    """A native part that takes, and does not need, the param of its equation."""

    def __init__(self, part: NativePart) -> None:
        self.part = part

    def __call__(self, *operands: Any, number: int) -> Any:
        return self.part(*operands)


def _numbered(part: NativePart) -> _Numbered:
    found = part.__dict__.get("numbered")
    if found is None:
        found = part.__dict__["numbered"] = _Numbered(part)
    return found  # type: ignore[no-any-return]


class Adaptive(Executable):
    """A program that is compiled when it is worth it: at once, or once it has done much."""

    def __init__(self, backend: NumbaBackend, graph: Graph, options: CompileOptions) -> None:
        self.backend = backend
        self.graph = graph
        self.options = options
        self.work = work_of(graph.equations)
        self.done = 0
        self.program: Executable | None = None
        self.settled = False
        if policy() == "compile" or self.work >= LARGE:
            self.compile()
        else:
            self.program = backend.by_numpy(graph, options)

    def compile(self) -> None:
        self.settled = True
        native = self.backend.native(self.graph, self.options)
        if native is not None:
            self.program = native
        elif self.program is None:
            self.program = self.backend.by_numpy(self.graph, self.options)
        # From here on it is the program itself that runs.
        assert self.program is not None
        self.run = self.program.run  # type: ignore[method-assign]

    def run(self, buffers: Sequence[Any]) -> Sequence[Any]:
        self.done += self.work
        if self.done >= IN_ALL:
            self.compile()
        assert self.program is not None
        return self.program.run(buffers)

    def text(self) -> str:
        assert self.program is not None
        return self.program.text()
