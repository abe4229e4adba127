"""A graph as one Python function over NumPy, and the memory that it keeps from call to call.

Each equation becomes a line, groups of large ones a function that runs tile by tile.  Buffers
come from an arena; only what may outlive the call is allocated afresh.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from arrayx.backend.contract import Device, Executable, constant_buffers
from arrayx.core.aval import Aval
from arrayx.core.graph import Equation, Graph, Var
from arrayx_numpy.kernels import KERNELS
from arrayx_numpy.tiles import Tiled, in_tiles, steps
from arrayx_numpy.writer import Writer, last_uses

# Buffers kept from call to call, at most, in bytes for one program.
_MOST_KEPT = 256 << 20
# Where buffers of tiles begin: at lines of the cache.
_LINE = 64


class Program(Executable):
    """A compiled graph."""

    def __init__(self, graph: Graph, kernel_of: Callable[[Equation], Any], device: Device) -> None:
        writer = ProgramWriter(graph, kernel_of)
        self.source = writer.source()
        self.buffers = writer.buffers
        self.tile_buffers = writer.tile_buffers
        scope = dict(writer.scope)
        exec(compile(self.source, "<arrayx numpy program>", "exec"), scope)
        self.function = scope["program"]
        self.constants = constant_buffers(graph, device)
        bytes_kept = sum(aval.nbytes for aval in self.buffers)
        self.keep = bytes_kept <= _MOST_KEPT
        self.arena_needed = bool(self.buffers or self.tile_buffers)
        # Whole arenas are handed out and taken back: two threads never share one.
        self.arenas: list[list[Any]] = []
        if not self.arena_needed:
            # The program itself is what runs: small ones are called often.
            self.function.__defaults__ = self.constants, ()
            self.run = self.function  # type: ignore[method-assign]

    def arena(self) -> list[Any]:
        """Memory for one run, which nobody else uses."""
        if not self.arena_needed:
            return []
        try:
            return self.arenas.pop()
        except IndexError:
            arena: list[Any] = [np.empty(aval.shape, aval.dtype) for aval in self.buffers]
            return arena + tile_memory(self.tile_buffers)

    def run(self, buffers: Sequence[Any]) -> Sequence[Any]:
        arena = self.arena()
        result = self.function(buffers, self.constants, arena)
        # After an exception the arena is simply dropped.
        if self.keep:
            self.arenas.append(arena)
        return result  # type: ignore[no-any-return]

    @contextmanager
    def stepping(self) -> Iterator[Callable[[Sequence[Any]], Sequence[Any]]]:
        function, constants, arena = self.function, self.constants, self.arena()
        yield lambda buffers: function(buffers, constants, arena)
        if self.keep and arena:
            self.arenas.append(arena)

    def text(self) -> str:
        return self.source


def tile_memory(groups: Sequence[Sequence[Aval]]) -> list[list[np.ndarray]]:
    """The buffers of each group's tile, all groups in the same memory: one runs at a time."""
    size = max((sum(aval.nbytes + _LINE for aval in avals) for avals in groups), default=0)
    memory = np.empty(size + _LINE, np.uint8)
    first = -memory.ctypes.data % _LINE
    made = []
    for avals in groups:
        start, buffers = first, []
        for aval in avals:
            part = memory[start : start + aval.nbytes]
            buffers.append(part.view(aval.dtype).reshape(aval.shape))
            start += aval.nbytes + -aval.nbytes % _LINE
        made.append(buffers)
    return made


class ProgramWriter(Writer):
    """Writes a whole graph."""

    def __init__(self, graph: Graph, kernel_of: Callable[[Equation], Any]) -> None:
        super().__init__(graph, kernel_of, {"np": np})
        self.steps = steps(graph, kernel_of, self.scope)
        self.last_use = last_uses(self.steps, graph.outputs)
        self.escaping = self.find_escaping()
        # The buffers of one tile of each group, and the functions of tiles.
        self.tile_buffers: list[list[Aval]] = []
        self.functions: list[str] = []

    def find_escaping(self) -> set[Var]:
        """Owners whose memory an output may share: they outlive the call."""
        owners: dict[Var, frozenset[Var]] = {}
        for e in self.steps:
            if type(e) is Tiled:
                owners.update((v, frozenset((v,))) for v in e.outputs)
                continue
            planned = not e.primitive.multiple and self.writes(e, self.kernel_of(e)) is not None
            for v, o in zip(e.outputs, self.owners_of(e, owners, planned), strict=True):
                owners[v] = o
        return {o for v in self.graph.outputs for o in owners.get(v, frozenset())}

    def must_be_fresh(self, out: Var) -> bool:
        return out in self.escaping

    def source(self) -> str:
        """The program's text."""
        graph = self.graph
        for i, var in enumerate(graph.inputs):
            self.names[var] = f"a{i}"
        for i, var in enumerate(graph.constants):
            self.names[var] = f"c{i}"
        for i, e in enumerate(self.steps):
            if type(e) is Tiled:
                self.write_tiled(i, e)
            else:
                self.write(i, e)
        head = [*self.functions, "def program(inputs, constants, arena):"]
        if graph.inputs:
            head.append(f"    {', '.join(self.names[v] for v in graph.inputs)}, = inputs")
        if graph.constants:
            head.append(f"    {', '.join(self.names[v] for v in graph.constants)}, = constants")
        names = [f"b{i}" for i in range(len(self.buffers))]
        names += [f"tile_{i}_buffers" for i in range(len(self.tile_buffers))]
        if names:
            head.append(f"    {', '.join(names)}, = arena")
        outputs = ", ".join(self.names[v] for v in graph.outputs)
        return "\n".join([*head, *self.lines, f"    return [{outputs}]", ""])

    # ------------------------------------------------------------- groups

    def write_tiled(self, i: int, tiled: Tiled) -> None:
        """A group: memory for what it gives, the call for all its tiles, what is left to add up."""
        number = len(self.tile_buffers)
        name = f"tile_{number}"
        self.tile_buffers.append(
            [
                Aval(
                    (tiled.height, *a.shape[1:]) if a.shape[0] == tiled.count else a.shape, a.dtype
                )
                for a in tiled.body.buffers
            ]
        )
        self.functions.append(f"# {tiled.height} of {tiled.count} rows; fewer in the last tile.")
        self.functions += tiled.body.text(name)
        dying = self.dying(i, tiled.inputs)
        for v in tiled.outputs:
            self.owners[v] = frozenset((v,))
            self.sharers[v] = 1
        for v in tiled.results:
            self.result(v)
        parts = [tiled.part(e, tiled.number_of_tiles) for e in tiled.final.values()]
        part_names = [self.take(aval) for aval in parts]
        self.scope["in_tiles"] = in_tiles
        operands = {
            "rows": [self.flat(tiled, v) for v in tiled.rows],
            "whole": [f"np.reshape({self.names[v]}, {shape})" for v, shape in tiled.whole],
            "results": [self.flat(tiled, v) for v in tiled.results],
            "parts": part_names,
        }
        self.lines.append("    in_tiles(")
        self.lines.append(f"        {name}, count={tiled.count}, height={tiled.height},")
        for what, names in operands.items():
            self.lines.append(f"        {what}=[{', '.join(names)}],")
        self.lines.append(f"        buffers={name}_buffers,")
        self.lines.append("    )")
        for e, aval, part in zip(tiled.final.values(), parts, part_names, strict=True):
            self.write_final(tiled, e, aval, part)
        for a in dying:
            self.release(a)
        self.end(dying, tiled.outputs)

    def result(self, v: Var) -> None:
        """Memory for a result of a group."""
        if v in self.escaping:
            self.names[v] = f"v{len(self.names)}"
            dtype = self.constant("dtype", v.aval.dtype)
            self.lines.append(f"    {self.names[v]} = np.empty({v.aval.shape}, {dtype})")
        else:
            self.names[v] = self.buffer_of[v] = self.take(v.aval)

    def flat(self, tiled: Tiled, v: Var) -> str:
        """An array as text, its row axes made one."""
        name = self.names[v]
        return name if tiled.axes == 1 else f"np.reshape({name}, {tiled.collapsed(v.aval)})"

    def write_final(self, tiled: Tiled, e: Equation, aval: Aval, part: str) -> None:
        """What the tiles left of a reduction over all rows is reduced."""
        (out,) = e.outputs
        self.names[out] = f"v{len(self.names)}"
        kernel = KERNELS[e.primitive.name]
        name = e.primitive.name
        while self.scope.setdefault(name, kernel) is not kernel:
            name += "_"
        text = f"{name}({part}, axes={tiled.reduced_axes(e)})"
        if aval.dtype != out.aval.dtype:
            text += f".astype({self.constant('dtype', out.aval.dtype)})"
        self.lines.append(f"    {self.names[out]} = {text}")
        self.free.setdefault((aval.shape, aval.dtype), []).append(part)
