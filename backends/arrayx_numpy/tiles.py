"""Groups of equations that run tile by tile, so that what passes between them stays in cache.

A group becomes a function of one tile: some rows of its operands and results, and buffers for
as many rows.  `in_tiles` calls it for all of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayx import dtypes
from arrayx.core.aval import Aval, Shape
from arrayx.core.graph import Equation, Graph, Var
from arrayx.primitives.axes import broadcast_in_dim, reshape
from arrayx_numpy.groups import VIEWS, Group, Planner, is_final, repeated, scheduled, size_of
from arrayx_numpy.into import Into, into
from arrayx_numpy.into import broadcast_in_dim as write_repeated
from arrayx_numpy.writer import Writer

# Bytes of a tile: of all that is in use at the same time.  Measured with 512 KiB of second-level
# cache a core: half of this is 5 to 10 % slower, a quarter 20 %, for the calls that are added.
BUDGET = 2 << 20
# Graphs whose arrays are all smaller than this are not looked at for groups.
_WORTH_PLANNING = 1 << 18

REDUCERS: dict[str, np.ufunc] = {
    "reduce_sum": np.add,
    "reduce_prod": np.multiply,
    "reduce_max": np.maximum,
    "reduce_min": np.minimum,
    "reduce_and": np.bitwise_and,
    "reduce_or": np.bitwise_or,
}
# Kernels that do not broadcast their operands.
_EQUAL_SHAPES = frozenset({"complex"})


def in_tiles(
    tile: Callable[..., None],
    count: int,
    height: int,
    rows: Sequence[np.ndarray],
    whole: Sequence[np.ndarray],
    results: Sequence[np.ndarray],
    parts: Sequence[np.ndarray],
    buffers: Sequence[np.ndarray],
) -> None:
    """Calls `tile` for `count` rows, `height` at a time.

    It gets its rows of `rows` and `results`, `whole` as it is, the place of its own in
    `parts`, and as many rows of the buffers.  Tiles depend on no other: threads could share
    them out here, each with buffers of its own.
    """
    for number, start in enumerate(range(0, count, height)):
        stop = start + height
        if stop > count:
            stop = count
            buffers = [b[: stop - start] for b in buffers]
        tile(
            [x[start:stop] for x in rows],
            whole,
            [x[start:stop] for x in results],
            [x[number : number + 1] for x in parts],
            buffers,
        )


def steps(
    graph: Graph, kernel_of: Callable[[Equation], Any], scope: dict[str, Any]
) -> Sequence[Any]:
    """The equations of a graph, those that are worth it taken together as `Tiled` groups.

    `scope` is that of the program, to which the groups add what they speak of.
    """
    if all(size_of(e) < _WORTH_PLANNING for e in graph.equations):
        return graph.equations
    planner = Planner(graph)
    units = dict(planner.singles)
    tiled: list[tuple[int, Tiled]] = []
    wanted = {*graph.outputs, *(a for e in units.values() for a in e.inputs if type(a) is Var)}
    # Last ones first: what a group is read by is known by then.
    for group in reversed(planner.groups):
        equations = group.without_last_views()
        chosen = {id(e) for e in equations}
        rest = {n: e for n, e in group.members.items() if id(e) not in chosen}
        rest = {n: e for n, e in rest.items() if e.outputs[0] not in planner.floating}
        wanted.update(a for e in rest.values() for a in e.inputs if type(a) is Var)
        units.update(rest)
        made = Tiled(group, equations, wanted, kernel_of, scope) if worth_while(equations) else None
        if made is not None and made.count * made.row_bytes >= 2 * BUDGET:
            tiled.append((group.first, made))
            wanted.update(made.inputs)
        else:
            units.update((n, e) for n, e in group.members.items() if id(e) in chosen)
            wanted.update(a for e in equations for a in e.inputs if type(a) is Var)
    if not tiled:
        return graph.equations
    return scheduled(graph, [*units.items(), *tiled])


def worth_while(equations: Sequence[Equation]) -> bool:
    """True for a group in which a value passes from one equation to another."""
    return sum(e.primitive.name not in VIEWS for e in equations) > 1


class Tiled:
    """A group that runs tile by tile; it stands among the equations of a program.

    `graph` computes one tile.  Its variables have the shapes that they would have were all
    rows one tile, but axes along which elements only repeat have length 1 in them: NumPy
    broadcasts where such a value meets others.
    """

    effects: frozenset[str] = frozenset()

    def __init__(
        self,
        group: Group,
        equations: Sequence[Equation],
        wanted: set[Var],
        kernel_of: Callable[[Equation], Any],
        scope: dict[str, Any],
    ) -> None:
        lengths = group.rows()
        self.axes = len(lengths)
        self.count = math.prod(lengths)
        self.outputs = [
            v
            for e in equations
            for v in e.outputs
            # Broadcasts are made again for whoever else reads them.
            if v in wanted and not is_final(e) and e.primitive is not broadcast_in_dim
        ]
        # Reductions over all rows, by the variable of what a tile leaves of them.
        self.final: dict[Var, Equation] = {}
        # What is read row by row, and what is the same for all rows in a shape for tiles.
        self.rows: dict[Var, Var] = {}
        self.whole: dict[tuple[Var, Shape], Var] = {}
        self.vars: dict[Var, Var] = {}
        self.equations: list[Equation] = []
        for e in equations:
            self.add(e)
        self.inputs = tuple(dict.fromkeys((*self.rows, *(v for v, _ in self.whole))))
        self.results = {v: self.vars[v] for v in self.outputs}
        self.outputs += [e.outputs[0] for e in self.final.values()]
        self.graph = Graph(
            (*self.rows.values(), *self.whole.values()),
            self.equations,
            dict.fromkeys((*self.results.values(), *self.final)),
        )
        self.body = TileWriter(self, kernel_of, scope)
        self.row_bytes = self.most_live()
        self.height = min(max(1, BUDGET // max(1, self.row_bytes)), self.count)
        self.number_of_tiles = -(-self.count // self.height)

    def most_live(self) -> int:
        """Bytes of one row of all that is in use at the same time, at most."""
        begins: dict[Var, int] = {}
        ends: dict[Var, int] = {}
        for i, e in enumerate(self.equations):
            for v in (*e.inputs, *e.outputs):
                if type(v) is Var:
                    begins.setdefault(v, i)
                    ends[v] = i
        change = [0] * (len(self.equations) + 1)
        for v, i in begins.items():
            if v.aval.shape[0] == self.count:
                change[i] += v.aval.nbytes // self.count
                change[ends[v] + 1] -= v.aval.nbytes // self.count
        return max(itertools.accumulate(change))

    def buffers(self) -> list[Aval]:
        """The types of a tile's buffers."""
        shapes = [
            (self.height if a.shape[0] == self.count else 1, *a.shape[1:])
            for a in self.body.buffers
        ]
        return [Aval(s, a.dtype) for s, a in zip(shapes, self.body.buffers, strict=True)]

    # ------------------------------------------------------------- from rows to tiles

    def collapsed(self, aval: Aval) -> Shape:
        """The shape of an array with its row axes made one."""
        return (self.count, *aval.shape[self.axes :])

    def row(self, v: Var) -> Var:
        """A value of the group, or rows of an operand."""
        if v not in self.vars:
            self.vars[v] = self.rows[v] = Var(Aval(self.collapsed(v.aval), v.aval.dtype))
        return self.vars[v]

    def new(self, e: Equation, inputs: Sequence[Any], shape: Shape, **params: Any) -> Var:
        """The result of an equation on tiles."""
        out = Var(Aval(shape, e.outputs[0].aval.dtype))
        params = params or e.params
        self.equations.append(Equation(e.primitive, tuple(inputs), params, (out,)))
        return out

    def full(self, v: Var, like: Aval) -> Var:
        """A tile without axes that only repeat: `like` is its value's type."""
        shape = self.collapsed(like)
        if v.aval.shape == shape:
            return v
        out = Var(Aval(shape, like.dtype))
        params = {"shape": shape, "dims": tuple(range(len(shape)))}
        self.equations.append(Equation(broadcast_in_dim, (v,), params, (out,)))
        return out

    def add(self, e: Equation) -> None:
        """Adds one equation of the group, for tiles."""
        (out,) = e.outputs
        if e.primitive.elementwise:
            self.vars[out] = self.elementwise(e)
        elif e.primitive is broadcast_in_dim:
            self.vars[out] = self.repeated(e)
        else:
            (x,) = e.inputs
            tile = self.full(self.row(x), x.aval)
            if e.primitive is reshape:
                shape = self.collapsed(out.aval)
                self.vars[out] = self.reshaped(tile, shape)
            elif is_final(e):
                part = self.new(e, (tile,), self.part(e).shape)
                self.final[part] = e
            else:
                axes = tuple(a - self.axes + 1 for a in e.params["axes"])
                self.vars[out] = self.new(e, (tile,), self.collapsed(out.aval), axes=axes)

    def elementwise(self, e: Equation) -> Var:
        inputs = [self.row(a) if type(a) is Var else a for a in e.inputs]
        shapes = {a.aval.shape for a in inputs if type(a) is Var}
        if len(shapes) > 1 and e.primitive.name in _EQUAL_SHAPES:
            inputs = [
                self.full(t, a.aval) if type(a) is Var else a
                for t, a in zip(inputs, e.inputs, strict=True)
            ]
            shapes = {self.collapsed(e.outputs[0].aval)}
        shape = np.broadcast_shapes(*shapes) if len(shapes) > 1 else shapes.pop()
        return self.new(e, inputs, shape)

    def repeated(self, e: Equation) -> Var:
        """A broadcast: only axes of length 1 are put in, which NumPy then repeats."""
        (x,) = e.inputs
        dims = e.params["dims"]
        shape = [1] * len(e.params["shape"])
        kept, _ = repeated(e)
        for n, d in zip(x.aval.shape, dims, strict=True):
            shape[d] = n
        thin = (1, *shape[self.axes :])
        if self.axes <= kept:
            return self.reshaped(self.full(self.row(x), x.aval), (self.count, *thin[1:]))
        if (x, thin) not in self.whole:
            self.whole[x, thin] = Var(Aval(thin, x.aval.dtype))
        return self.whole[x, thin]

    def reshaped(self, tile: Var, shape: Shape) -> Var:
        if tile.aval.shape == shape:
            return tile
        out = Var(Aval(shape, tile.aval.dtype))
        # Tiles differ in how many rows they have.
        self.equations.append(Equation(reshape, (tile,), {"shape": (-1, *shape[1:])}, (out,)))
        return out

    # ------------------------------------------------------------- reductions over all rows

    def part(self, e: Equation, tiles: int = 1) -> Aval:
        """What so many tiles leave of a reduction, one row each."""
        x = e.inputs[0].aval
        axes = e.params["axes"]
        kept = (1 if a in axes else x.shape[a] for a in range(self.axes, x.ndim))
        return Aval((tiles, *kept), dtypes.accumulation_dtype(x.dtype))

    def reduced_axes(self, e: Equation) -> tuple[int, ...]:
        """The axes that a reduction drops from the rows of all tiles."""
        return (0, *(a - self.axes + 1 for a in e.params["axes"] if a >= self.axes))


class TileWriter(Writer):
    """Writes the function of one tile."""

    buffer_name = "t"

    def __init__(
        self, tiled: Tiled, kernel_of: Callable[[Equation], Any], scope: dict[str, Any]
    ) -> None:
        super().__init__(tiled.graph, kernel_of, scope)
        self.tiled = tiled
        # Where results go: a value that is the result of several equations is copied there.
        self.results = {v: f"r{i}" for i, v in enumerate(tiled.results)}
        self.direct: dict[Var, str] = {}
        read = {*tiled.graph.inputs}
        for v, name in self.results.items():
            tile = tiled.results[v]
            if tile.aval.shape == tiled.collapsed(v.aval) and tile not in read:
                self.direct.setdefault(tile, name)
        names = [f"x{i}" for i in range(len(tiled.rows))]
        names += [f"w{i}" for i in range(len(tiled.whole))]
        self.names.update(zip(tiled.graph.inputs, names, strict=True))
        for i, e in enumerate(tiled.graph.equations):
            self.write(i, e)
        for v, name in self.results.items():
            held = self.names[tiled.results[v]]
            if held != name:
                self.lines.append(f"    np.copyto({name}, {held})")

    def write(self, i: int, e: Equation) -> None:
        (out,) = e.outputs
        if out in self.tiled.final:
            self.reduce(e, f"p{list(self.tiled.final).index(out)}")
            dying = self.dying(i, e.inputs)
            for a in dying:
                self.release(a)
            self.end(dying, ())
        else:
            super().write(i, e)

    def call(self, kernel: Any, e: Equation, arguments: list[str]) -> str:
        if e.primitive is reshape:
            # The method: `np.reshape` takes microseconds, for each tile.
            return f"{arguments[0]}.reshape({e.params['shape']})"
        return super().call(kernel, e, arguments)

    def reduce(self, e: Equation, part: str) -> None:
        """What one tile leaves of a reduction over all rows."""
        (x,), (out,) = e.inputs, e.outputs
        ufunc = REDUCERS[e.primitive.name]
        axes = self.tiled.reduced_axes(self.tiled.final[out])
        dtype = self.constant("dtype", dtypes.accumulation_dtype(x.aval.dtype))
        self.lines.append(
            f"    np.{ufunc.__name__}.reduce({self.names[x]}, axis={axes}, dtype={dtype}, "
            f"out={part}, keepdims=True)"
        )

    def writes(self, e: Equation, kernel: Any) -> Into | None:
        if e.primitive is broadcast_in_dim:
            return Into(write_repeated, frozenset())
        return into(e, kernel)

    def given(self, out: Var) -> str | None:
        return self.direct.get(out)

    def must_be_fresh(self, out: Var) -> bool:
        return False

    def text(self, name: str) -> list[str]:
        """The function's lines."""
        tiled = self.tiled
        head = [f"def {name}(rows, whole, results, parts, buffers):"]
        operands = {
            "rows": [f"x{i}" for i in range(len(tiled.rows))],
            "whole": [f"w{i}" for i in range(len(tiled.whole))],
            "results": [*self.results.values()],
            "parts": [f"p{i}" for i in range(len(tiled.final))],
            "buffers": [f"t{i}" for i in range(len(self.buffers))],
        }
        head += [f"    {', '.join(names)}, = {what}" for what, names in operands.items() if names]
        return [*head, *self.lines, ""]
