"""Which equations run together, tile by tile: groups that share their rows.

The rows of a group are the indices along its leading axes.  All that a group holds works on
each row alone, or adds up over all rows at its end; so it can run on any tile of rows.
`arrayx.transforms.fuse` cuts differently: there a reduction ends its loop, here the reduction
of a row is one more value of the row, which the next equation may use.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from typing import Any

from arrayx.core.aval import Aval, Shape
from arrayx.core.graph import Equation, Graph, Var

REDUCTIONS = frozenset(
    {"reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or"}
)
# Equations that make views: they cost nothing outside of groups.
VIEWS = frozenset({"broadcast_in_dim", "reshape", "transpose", "slice", "rev"})
# Bytes of an array from which it is worth while to keep it in cache.
LARGE = 1 << 16
# Bytes of one row of an array, at most: longer rows would be tiles larger than the cache.
LONGEST_ROW = 1 << 16
# Rows are made no longer than this by leaving axes together.
HANDY_ROW = 1 << 14
# Groups that still take equations, at most.
_MOST_OPEN = 8


def common(x: Shape, y: Shape) -> Shape:
    """The leading lengths that two shapes share."""
    n = 0
    while n < len(x) and n < len(y) and x[n] == y[n]:
        n += 1
    return x[:n]


def repeated(e: Equation) -> tuple[int, int]:
    """Of a broadcast: how many leading axes it keeps, and before how many it puts new ones.

    With so many row axes at most the operand has rows as the result has, or is the same for
    every row.
    """
    (x,) = e.inputs
    shape, dims = e.params["shape"], e.params["dims"]
    kept = 0
    while kept < len(dims) and dims[kept] == kept and x.aval.shape[kept] == shape[kept]:
        kept += 1
    proper = [d for n, d in zip(x.aval.shape, dims, strict=True) if n != 1]
    return kept, min(proper, default=len(shape))


def is_final(e: Equation) -> bool:
    """True for a reduction that adds up over rows."""
    return e.primitive.name in REDUCTIONS and 0 in e.params["axes"]


def row_axes(e: Equation) -> Shape:
    """The lengths of the most leading axes that can be an equation's rows; () for none."""
    if e.effects or len(e.outputs) != 1 or not all(ordinary(v.aval) for v in e.outputs):
        return ()
    arrays = [a.aval for a in e.inputs if type(a) is Var]
    (out,) = e.outputs
    name = e.primitive.name
    if not arrays or not all(map(ordinary, arrays)):
        return ()
    if e.primitive.elementwise:
        fits = not e.primitive.multiple and all(a.shape == out.aval.shape for a in arrays)
        return out.aval.shape if fits else ()
    if name == "broadcast_in_dim":
        return out.aval.shape[: max(repeated(e))]
    if name == "reshape":
        return common(arrays[0].shape, out.aval.shape)
    if name in REDUCTIONS and e.params["axes"]:
        axes = e.params["axes"]
        n = min(axes)
        if n == 0:
            while n in axes:
                n += 1
        return arrays[0].shape[:n]
    return ()


def ordinary(aval: Aval) -> bool:
    """True for arrays that hold something."""
    return aval.size > 0 and hasattr(aval.dtype, "itemsize")


def size_of(e: Equation) -> int:
    """Bytes of the largest array that an equation reads or makes."""
    avals = [a.aval for a in (*e.inputs, *e.outputs) if type(a) is Var]
    return max((a.nbytes for a in avals if ordinary(a)), default=0)


class Group:
    """Equations on the same rows, by their numbers in the graph."""

    def __init__(self, number: int, first: int) -> None:
        self.number = number
        self.first = first
        self.lengths: Shape | None = None
        self.members: dict[int, Equation] = {}
        self.made: set[Var] = set()
        self.largest = 0
        # Once something large has to run between, what comes after had better stay there.
        self.closed = False

    def rows(self) -> Shape:
        """The lengths of the axes that are its rows: as few as make rows of a handy size."""
        assert self.lengths is not None
        for n in range(1, len(self.lengths)):
            if self.largest <= HANDY_ROW * math.prod(self.lengths[:n]):
                return self.lengths[:n]
        return self.lengths

    def without_last_views(self) -> list[Equation]:
        """The members, less the views that only others read."""
        kept: list[Equation] = []
        read: set[Var] = set()
        for _, e in sorted(self.members.items(), reverse=True):
            if e.primitive.name in VIEWS and e.outputs[0] not in read:
                continue
            kept.append(e)
            read.update(a for a in e.inputs if type(a) is Var)
        return kept[::-1]


class Planner:
    """Puts equations into groups in one pass.

    Time has two ticks for each group: what is ready at 2n can be read in group n as a whole,
    what is ready at 2n + 1 is made in group n and can be read there row by row.
    """

    def __init__(self, graph: Graph) -> None:
        self.groups: list[Group] = []
        self.open: list[Group] = []
        # Equations outside of groups.
        self.singles: dict[int, Equation] = {}
        # Broadcasts are made where they are read, as often as that is.
        self.floating: dict[Var, tuple[int, Equation]] = {}
        self.time: dict[Var, int] = dict.fromkeys((*graph.inputs, *graph.constants), 0)
        self.maker: dict[Var, int] = dict.fromkeys(self.time, -1)
        self.effects = 0
        for number, e in enumerate(graph.equations):
            self.place(number, e)
        for v in graph.outputs:
            self.settle(v)

    def place(self, number: int, e: Equation) -> None:
        lengths = row_axes(e)
        if lengths and e.primitive.name == "broadcast_in_dim":
            self.settle(e.inputs[0])
            self.floating[e.outputs[0]] = number, e
            return
        if lengths:
            for group in reversed(self.open):
                if self.joins(group, number, e, lengths):
                    return
            if size_of(e) >= LARGE and e.primitive.name not in VIEWS:
                group = Group(len(self.groups), number)
                if self.joins(group, number, e, lengths):
                    self.groups.append(group)
                    self.open = [*self.open, group][-_MOST_OPEN:]
                    return
        self.alone(number, e)

    def joins(self, group: Group, number: int, e: Equation, lengths: Shape) -> bool:
        """Puts an equation into a group where it fits."""
        if group.lengths is not None:
            lengths = common(group.lengths, lengths)
        connected = False
        along: list[tuple[int, Equation]] = []
        for a in e.inputs:
            if type(a) is not Var:
                continue
            if a in group.made:
                connected = True
            elif a in self.floating:
                along.append(self.floating[a])
                connected |= along[-1][1].inputs[0] in group.made
                lengths = common(lengths, self.fitting(group, along[-1][1]))
            elif not self.available(a, group):
                return False
        largest = max(group.largest, *(size_of(x) for _, x in along), size_of(e))
        if not lengths or largest > LONGEST_ROW * math.prod(lengths):
            return False
        if group.closed:
            if not connected or 8 * e.outputs[0].aval.nbytes > group.largest:
                return False
        elif not connected and group.members and size_of(e) < LARGE:
            return False
        group.lengths, group.largest = lengths, largest
        for m, x in (*along, (number, e)):
            group.members[m] = x
            if not is_final(x):
                group.made.update(x.outputs)
        (out,) = e.outputs
        self.time[out] = 2 * group.number + (2 if is_final(e) else 1)
        self.maker[out] = number
        return True

    def fitting(self, group: Group, e: Equation) -> Shape:
        """The most row axes with which a broadcast can be made in a group; () for none."""
        (x,) = e.inputs
        kept, _ = repeated(e)
        if x in group.made:
            return e.params["shape"][:kept]  # type: ignore[no-any-return]
        return row_axes(e) if self.available(x, group) else ()

    def available(self, x: Var, group: Group) -> bool:
        """Whether a value is there when the group runs; a large one not only since then.

        Reading what was made later would move the group to a later place, and all that it
        reads and makes would be kept for longer.
        """
        if self.time[x] > 2 * group.number:
            return False
        return self.maker[x] < group.first or x.aval.nbytes < LARGE

    def alone(self, number: int, e: Equation) -> None:
        """Leaves an equation outside of groups."""
        for a in e.inputs:
            self.settle(a)
        time = max((self.time[a] for a in e.inputs if type(a) is Var), default=0)
        if e.effects:
            self.effects = time = max(time, self.effects)
        time += time % 2
        for v in e.outputs:
            self.time[v], self.maker[v] = time, number
        self.singles[number] = e
        if e.primitive.name not in VIEWS and size_of(e) >= LARGE:
            for group in self.open:
                group.closed = True

    def settle(self, a: Any) -> None:
        """Writes a floating broadcast down, for a reader outside of groups."""
        if type(a) is Var and a in self.floating:
            self.alone(*self.floating.pop(a))


def scheduled(graph: Graph, units: Iterable[tuple[int, Any]]) -> list[Any]:
    """Units (equations, or what has `inputs` and `outputs` like one) in an order that works.

    Each comes with a number: of those that could be next, the one with the least is.
    """
    units = sorted(units, key=lambda pair: pair[0])
    maker = {v: i for i, (_, unit) in enumerate(units) for v in unit.outputs}
    readers: list[list[int]] = [[] for _ in units]
    missing = [0] * len(units)

    def after(i: int, others: Sequence[int]) -> None:
        for j in others:
            readers[j].append(i)
            missing[i] += 1

    effect = -1
    for i, (_, unit) in enumerate(units):
        after(i, [*{maker[a] for a in unit.inputs if type(a) is Var and a in maker}])
        if unit.effects:
            if effect >= 0:
                after(i, [effect])
            effect = i
    ready = [i for i, n in enumerate(missing) if n == 0]
    order = []
    while ready:
        i = heapq.heappop(ready)
        order.append(units[i][1])
        for j in readers[i]:
            missing[j] -= 1
            if missing[j] == 0:
                heapq.heappush(ready, j)
    assert len(order) == len(units)
    return order
