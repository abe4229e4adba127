"""What a function costs, counted from its graph alone: flops, bytes, and memory, line by line."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from arrayx.api.staging import make_graph
from arrayx.core.graph import Equation, Graph, Var, subgraphs
from arrayx.transforms.simplify import dead_code_removed

Place = tuple[str, int]
_NOWHERE: Place = ("", 0)


@dataclass(frozen=True)
class LineCost:
    """What the equations of one source line cost, all their repetitions counted."""

    file: str
    line: int
    flops: int
    bytes: int
    equations: int

    @property
    def place(self) -> str:
        """The file's name and the line."""
        return f"{os.path.basename(self.file)}:{self.line}" if self.file else "(no line)"


@dataclass(frozen=True)
class Cost:
    """What one call of a function costs, as its graph says.

    - `flops`: elementary operations; a transcendental function counts as one.
    - `bytes`: read and written if every equation ran alone; fusion needs fewer.
    - `peak_memory`: the most bytes that are alive at once, arguments and results included, if
      every equation makes its results before its operands are freed.
    - `peak_line`: where that is.
    - `lines`: the cost of each source line, most flops first.
    - `unbounded`: True where a loop runs nobody knows how often; it is counted once.
    """

    name: str
    flops: int
    bytes: int
    peak_memory: int
    peak_line: str
    lines: tuple[LineCost, ...]
    unbounded: bool

    def __str__(self) -> str:
        head = (
            f"{self.name}: {quantity(self.flops)}flop, {quantity(self.bytes)}B moved, "
            f"at most {quantity(self.peak_memory)}B alive, at {self.peak_line}"
        )
        if self.unbounded:
            head += "; a loop without a known number of steps is counted once"
        rows = [f"{'flops':>10}  {'bytes':>10}  {'equations':>9}  line"]
        rows += [
            f"{quantity(c.flops):>10}  {quantity(c.bytes):>10}  {c.equations:>9}  {c.place}"
            for c in self.lines
        ]
        return "\n".join([head, *rows])


def quantity(number: int) -> str:
    """A number with a prefix of the SI.

    >>> quantity(12_345_678), quantity(12)
    ('12.3 M', '12 ')
    """
    value = float(number)
    for prefix in ("", "k", "M", "G", "T"):
        if value < 1000:
            return f"{value:.3g} {prefix}"
        value /= 1000
    return f"{value:.3g} P"


def cost(fun: Callable[..., Any], static_argnums: Any = None) -> Callable[..., Cost]:
    """A function that says what a call of `fun` costs, from its graph, without running it.

    Its arguments are those of `fun`, or `ShapeDtypeStruct`s.  The graph is the one that would be
    compiled, without what its results do not need; a backend may need less, by fusion.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> found = ax.inspect.cost(lambda a, b: anp.dot(a, b))(anp.ones((2, 3)), anp.ones((3, 4)))
    >>> found.flops, found.bytes, found.peak_memory
    (48, 104, 104)
    """
    graph_of = make_graph(fun, static_argnums)
    name = getattr(fun, "__name__", type(fun).__name__)

    def cost_of(*args: Any, **kwargs: Any) -> Cost:
        return graph_cost(graph_of(*args, **kwargs), name)

    return cost_of


def graph_cost(graph: Graph, name: str = "graph") -> Cost:
    """What a graph costs."""
    count = _Count()
    graph = dead_code_removed(graph)
    count.walk(graph, 1)
    peak, place = peak_memory(graph)
    lines = sorted(
        (LineCost(*place, *numbers) for place, numbers in count.lines.items()),
        key=lambda c: (-c.flops, -c.bytes, c.file, c.line),
    )
    return Cost(
        name,
        sum(c.flops for c in lines),
        sum(c.bytes for c in lines),
        peak,
        LineCost(*place, 0, 0, 0).place,
        tuple(lines),
        count.unbounded,
    )


def place_of(equation: Equation) -> Place:
    """The file and line that an equation comes from."""
    source = equation.source
    return (source.file, source.line) if source is not None else _NOWHERE


def bytes_of(equation: Equation) -> int:
    """Bytes of the operands and results of an equation."""
    operands = {a for a in equation.inputs if type(a) is Var}
    return sum(v.aval.nbytes for v in (*operands, *equation.outputs))


def flops_of(equation: Equation) -> int:
    """Elementary operations of an equation, without those of graphs among its params."""
    avals = tuple(a.aval if type(a) is Var else type(a) for a in equation.inputs)
    results = tuple(v.aval for v in equation.outputs)
    return equation.primitive.flops(avals, results, **equation.params)


class _Count:
    """Sums over graphs and the graphs inside."""

    def __init__(self) -> None:
        self.lines: dict[Place, list[int]] = {}
        self.unbounded = False

    def walk(self, graph: Graph, times: int) -> None:
        """Adds what a graph costs that runs so often."""
        for equation in graph.equations:
            inner = subgraphs(equation) if equation.primitive.holds_graphs else ()
            if not inner:
                self.add(equation, times)
                continue
            repeats = equation.primitive.repeats(**equation.params)
            if repeats is None:
                self.unbounded = True
                repeats = 1
            if equation.primitive.exclusive:
                inner = (max(inner, key=_flops_of_graph),)
            for sub in inner:
                self.walk(sub, times * repeats)

    def add(self, equation: Equation, times: int) -> None:
        """Adds one equation."""
        entry = self.lines.setdefault(place_of(equation), [0, 0, 0])
        entry[0] += times * flops_of(equation)
        entry[1] += times * bytes_of(equation)
        entry[2] += times


def _flops_of_graph(graph: Graph) -> int:
    count = _Count()
    count.walk(graph, 1)
    return sum(flops for flops, _, _ in count.lines.values())


def peak_memory(graph: Graph) -> tuple[int, Place]:
    """The most bytes alive at once while a graph runs, and the line where that is."""
    kept = {*graph.inputs, *graph.constants}
    alive = sum(v.aval.nbytes for v in kept)
    peak, place = alive, _NOWHERE
    if graph.equations:
        place = place_of(graph.equations[0])
    last: dict[Var, int] = {}
    for i, equation in enumerate(graph.equations):
        for v in (*equation.inputs, *equation.outputs):
            if type(v) is Var:
                last[v] = i
    never = len(graph.equations)
    last.update(dict.fromkeys((*graph.outputs, *kept), never))
    dying: dict[int, set[Var]] = {}
    for v, i in last.items():
        dying.setdefault(i, set()).add(v)
    for i, equation in enumerate(graph.equations):
        results = sum(v.aval.nbytes for v in equation.outputs)
        most, where = results, place_of(equation)
        if equation.primitive.holds_graphs:
            for sub in subgraphs(equation):
                inside, line = peak_memory(sub)
                # Its operands are counted outside already.
                inside -= sum(v.aval.nbytes for v in sub.inputs)
                # Of a loop, what all steps give together is there as well.
                inside += max(results - sum(v.aval.nbytes for v in sub.outputs), 0)
                if inside > most:
                    most, where = inside, line if line != _NOWHERE else where
        if alive + most > peak:
            peak, place = alive + most, where
        alive += results
        alive -= sum(v.aval.nbytes for v in dying.get(i, ()))
    return peak, place
