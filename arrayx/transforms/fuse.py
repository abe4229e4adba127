"""Cutting a graph into groups of equations that one loop, or one kernel, can run.

Apart from every backend, because NumPy (tiles that stay in cache), CuPy (one CUDA kernel for
each group) and others cut in the same way and differ only in policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arrayx import dtypes
from arrayx.core.aval import Aval, Shape
from arrayx.core.graph import Equation, Graph, Var
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.simplify import dead_code_removed

ROW_REDUCTIONS = frozenset(
    {"reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or"}
)


@dataclass(frozen=True)
class Policy:
    """What a backend wants in its groups.

    `reductions` are the names of the reductions that may end a group, over trailing axes of
    its loop (`ROW_REDUCTIONS` for all, none by default).  `excluded` are names of primitives
    that never are in a loop.  `duplicate` makes constants, counters and broadcasts again in
    every group that reads them, instead of writing them to memory once.  A group holds at
    most `most_equations`.
    """

    reductions: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
    duplicate: bool = True
    most_equations: int = 256


DEFAULT = Policy()


@dataclass(frozen=True, eq=False)
class Group:
    """Equations that run together, as a closed graph of their own.

    `inputs` and `outputs` are variables of the whole graph, in the order of the inputs and
    outputs of `graph`; constants are in the group's graph, with their values.

    The kinds are:

    - `elementwise`: elementwise equations over the loop `shape`, and `broadcast_in_dim`,
      `full` and `iota` that make this shape;
    - `reduction`: the same, then reductions of values of this shape over its trailing `axes`;
    - `other`: one equation;
    - `effect`: one equation that has effects.

    In a loop every variable has the loop's shape, but for the operands of
    `broadcast_in_dim`, which always are inputs or constants, and the results of reductions,
    which always are outputs alone.  So a loop may be run in pieces of any size along the
    axes that it does not reduce.  Duplicated equations make the same variable in two groups.
    """

    kind: str
    graph: Graph
    inputs: tuple[Var, ...]
    outputs: tuple[Var, ...]
    shape: Shape | None = None
    axes: tuple[int, ...] = ()


def plan(graph: Graph, policy: Policy = DEFAULT) -> tuple[Group, ...]:
    """Groups that, run one after the other, compute what the graph does, on any backend.

    Equations move across others they do not depend on, to lengthen groups; those with
    effects keep their order.  The time is linear in the number of equations.
    """
    return _Planner(dead_code_removed(graph), policy).groups()


def run_plan(graph: Graph, groups: Sequence[Group], args: Sequence[Any]) -> list[Any]:
    """The outputs of `graph` for these inputs, computed group by group.

    It uses the current interpreter, as `evaluate` does: equal results are what makes a plan
    right.
    """
    values: dict[Var, Any] = dict(zip(graph.constants, graph.constant_values, strict=True))
    values.update(zip(graph.inputs, args, strict=True))
    for group in groups:
        results = evaluate(group.graph, [values[v] for v in group.inputs])
        values.update(zip(group.outputs, results, strict=True))
    return [values[v] for v in graph.outputs]


class _Members:
    """A group being filled.  `equations` maps numbers of equations to themselves."""

    __slots__ = ("axes", "equations", "kind", "number", "shape")

    def __init__(self, number: int, kind: str, shape: Shape | None) -> None:
        self.number = number
        self.kind = kind
        self.shape = shape
        self.axes: tuple[int, ...] = ()
        self.equations: dict[int, Equation] = {}


class _Planner:
    """Places equations in one pass forwards, then moves some nearer to their readers.

    Groups run in the order of their numbers.  A value made in the loop of group g can be
    read in that loop; any other value made in g can be read from group g + 1 on: `ready`.  So
    an equation may go into the last group with its loop shape, if all its operands are ready
    by then; that group can be an earlier one, across everything in between.
    """

    def __init__(self, graph: Graph, policy: Policy) -> None:
        self.graph = graph
        self.policy = policy
        self.wanted = {*graph.outputs}
        self.members: list[_Members] = []
        # The last group of each loop shape: the only one that still takes equations.
        self.open: dict[Shape, _Members] = {}
        self.ready: dict[Var, int] = {}
        # What is made where it is read: equations by their variable, not placed so far.
        self.floating: dict[Var, tuple[int, Equation]] = {}
        # Where the written-down instance of each variable is.
        self.home: dict[Var, _Members] = {}

    # ------------------------------------------------------------- what an equation is

    def loop_shape(self, e: Equation) -> Shape | None:
        """The shape over which the equation is a loop, None if it is none."""
        primitive = e.primitive
        if e.effects or primitive.name in self.policy.excluded or not e.outputs:
            return None
        shape = e.outputs[0].aval.shape
        if primitive.elementwise:
            avals = [a.aval for a in (*e.inputs, *e.outputs) if type(a) is Var]
            return shape if all(a.shape == shape and _in_loops(a) for a in avals) else None
        if primitive.name not in _SOURCES or not _in_loops(e.outputs[0].aval):
            return None
        # A broadcast to the same shape would read what the loop makes.
        return None if any(a.aval.shape == shape for a in e.inputs if type(a) is Var) else shape

    def reduced_shape(self, e: Equation) -> Shape | None:
        """The loop shape of a reduction over trailing axes that the policy wants in groups."""
        if e.primitive.name not in self.policy.reductions or e.effects:
            return None
        (x,) = e.inputs
        if type(x) is not Var or not _in_loops(x.aval):
            return None
        axes = e.params["axes"]
        trailing = tuple(range(x.aval.ndim - len(axes), x.aval.ndim))
        return x.aval.shape if axes and tuple(sorted(axes)) == trailing else None

    # ------------------------------------------------------------- forwards

    def groups(self) -> tuple[Group, ...]:
        for number, equation in enumerate(self.graph.equations):
            self.place(number, equation)
        for var in self.graph.outputs:
            self.settle(var)
        self.sink()
        return self.finished()

    def place(self, number: int, e: Equation) -> None:
        """Puts an equation into a group, or leaves it floating."""
        shape = self.loop_shape(e)
        reduced = self.reduced_shape(e) if shape is None else None
        loop = shape if shape is not None else reduced
        if shape is not None and self.policy.duplicate and _is_free(e):
            for atom in e.inputs:
                self.settle(atom)
            self.floating[e.outputs[0]] = number, e
            return
        if loop is None:
            for atom in e.inputs:
                self.settle(atom)
            group = self.new("effect" if e.effects else "other", None)
            self.add(group, number, e)
            return
        # Operands that float come along into the loop; they need their own operands.
        along = []
        needed: list[Any] = []
        for atom in e.inputs:
            if type(atom) is Var and atom in self.floating and atom.aval.shape == loop:
                along.append(self.floating[atom])
                needed += along[-1][1].inputs
            else:
                self.settle(atom)
                needed.append(atom)
        since = max((self.ready.get(a, 0) for a in needed if type(a) is Var), default=0)
        axes = tuple(sorted(e.params["axes"])) if reduced is not None else ()
        group = self.loop_from(since, loop, axes)
        for other_number, other in along:
            group.equations.setdefault(other_number, other)
        if axes:
            group.axes = axes
            group.kind = "reduction"
        self.add(group, number, e, in_loop=not axes)

    def loop_from(self, since: int, shape: Shape, axes: tuple[int, ...]) -> _Members:
        """The open group of a loop shape, or a new one where that comes before `since`."""
        group = self.open.get(shape)
        if (
            group is None
            or group.number < since
            or len(group.equations) >= self.policy.most_equations
            or (axes and group.axes and axes != group.axes)
        ):
            group = self.new("elementwise", shape)
            self.open[shape] = group
        return group

    def new(self, kind: str, shape: Shape | None) -> _Members:
        group = _Members(len(self.members), kind, shape)
        self.members.append(group)
        return group

    def add(self, group: _Members, number: int, e: Equation, in_loop: bool = False) -> None:
        group.equations[number] = e
        for var in e.outputs:
            self.ready[var] = group.number if in_loop else group.number + 1
            self.home[var] = group

    def settle(self, atom: Any) -> None:
        """Writes a floating value down, because somebody reads it outside of its loop shape."""
        if type(atom) is not Var or atom not in self.floating or atom in self.home:
            return
        number, e = self.floating[atom]
        since = max((self.ready.get(a, 0) for a in e.inputs if type(a) is Var), default=0)
        group = self.loop_from(since, atom.aval.shape, ())
        self.add(group, number, e, in_loop=True)

    # ------------------------------------------------------------- backwards

    def sink(self) -> None:
        """Moves an equation whose only readers are in one later loop of its shape there.

        That saves writing its result; it is done only where its operands are written anyway,
        or are read by nothing else in the group and so may move as well.
        """
        # How many equations of which group read a variable.
        self.readers: dict[Var, dict[int, int]] = {}
        for group in self.members:
            for e in group.equations.values():
                self.count(e, group, 1)
        for group in reversed(self.members):
            if group.shape is None:
                continue
            for number in sorted(group.equations, reverse=True):
                e = group.equations[number]
                target = self.better_place(e, group)
                if target is not None:
                    self.move(number, e, group, target)

    def count(self, e: Equation, group: _Members, change: int) -> None:
        for a in {*e.inputs}:
            if type(a) is Var:
                by_group = self.readers.setdefault(a, {})
                by_group[group.number] = by_group.get(group.number, 0) + change
                if not by_group[group.number]:
                    del by_group[group.number]

    def better_place(self, e: Equation, group: _Members) -> _Members | None:
        """The later loop that should have the equation, None if there is none."""
        where: set[int] = set()
        for v in e.outputs:
            if v in self.wanted or self.home.get(v) is not group or v.aval.shape != group.shape:
                return None
            where.update(self.readers.get(v, ()))
        if len(where) != 1 or group.number in where:
            return None
        target = self.members[where.pop()]
        if target.shape != group.shape or len(target.equations) >= self.policy.most_equations:
            return None
        for a in e.inputs:
            if type(a) is Var and self.home.get(a) is group and a not in self.floating:
                written = a in self.wanted or len(self.readers[a]) > 1
                if not written and self.readers[a][group.number] > 1:
                    return None
        return target

    def move(self, number: int, e: Equation, group: _Members, target: _Members) -> None:
        del group.equations[number]
        self.count(e, group, -1)
        target.equations[number] = e
        self.count(e, target, 1)
        for v in e.outputs:
            self.home[v] = target
        for a in e.inputs:
            if type(a) is Var and a in self.floating and a.aval.shape == target.shape:
                other_number, other = self.floating[a]
                if other_number not in target.equations:
                    target.equations[other_number] = other
                    self.count(other, target, 1)

    # ------------------------------------------------------------- results

    def is_used(self, e: Equation, group: _Members) -> bool:
        """False for a duplicate whose readers have moved away."""
        v = e.outputs[0] if e.outputs else None
        if v not in self.floating or self.home.get(v) is group:
            return True
        return group.number in self.readers.get(v, {})

    def finished(self) -> tuple[Group, ...]:
        constants = dict(zip(self.graph.constants, self.graph.constant_values, strict=True))
        read_elsewhere = {*self.wanted}
        parts = []
        for group in self.members:
            equations = [
                group.equations[n]
                for n in sorted(group.equations)
                if self.is_used(group.equations[n], group)
            ]
            if not equations:
                continue
            made = {v for e in equations for v in e.outputs}
            read = dict.fromkeys(a for e in equations for a in e.inputs if type(a) is Var)
            outside = [v for v in read if v not in made]
            read_elsewhere.update(outside)
            parts.append((group, equations, outside))
        groups = []
        for group, equations, outside in parts:
            inputs = tuple(v for v in outside if v not in constants)
            used = [v for v in outside if v in constants]
            outputs = tuple(
                v
                for e in equations
                for v in e.outputs
                if v in read_elsewhere and self.home.get(v) is group
            )
            graph = Graph(inputs, equations, outputs, used, [constants[v] for v in used])
            groups.append(Group(group.kind, graph, inputs, outputs, group.shape, group.axes))
        return tuple(groups)


# What a loop makes out of nothing, or of fewer elements than its own.
_SOURCES = frozenset({"broadcast_in_dim", "full", "iota"})


def _is_free(e: Equation) -> bool:
    """True for what costs a loop no memory traffic to make again."""
    if e.primitive.name == "broadcast_in_dim":
        (x,) = e.inputs
        return type(x) is Var and x.aval.size <= e.outputs[0].aval.size
    return e.primitive.name in _SOURCES


def _in_loops(aval: Aval) -> bool:
    """Keys and float0 are not numbers that a loop could compute with."""
    return dtypes.kind(aval.dtype) not in ("key", "float0")
