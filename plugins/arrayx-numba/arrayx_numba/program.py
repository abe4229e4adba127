"""A graph as a program: parts that are native, and the rest by NumPy's kernels in between."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np

from arrayx.core.graph import Equation, Graph, Var
from arrayx_numba import build
from arrayx_numba.lower import MOST_EQUATIONS, can_be_native, native_text
from arrayx_numba.places import is_view

# Of two threads that run parallel code at a time, Numba's simplest scheduler takes only one.
_one_at_a_time = threading.Lock()
# Results' memory that is kept for the next call, once their user has let go of it: in bytes.
_MOST_KEPT = 64 << 20



class NativePart:
    """A native program as a kernel: buffers in, buffers out."""

    def __init__(self, graph: Graph) -> None:
        text, constants, buffers = native_text(graph)
        self.text = text
        self.function = build.function(text)
        self.constants = [
            np.ascontiguousarray(x) if x.ndim else x[()] for x in constants
        ]
        self.buffers = buffers
        self.outputs = [(a.shape, a.size, a.dtype) for a in graph.out_avals]
        self.is_array = [a.ndim > 0 for a in graph.in_avals]
        self.dtypes = [a.dtype for a in graph.in_avals]
        self.parallel = "prange(" in text
        self.arenas: list[list[np.ndarray]] = []
        self.results: list[list[np.ndarray]] = [[] for _ in self.outputs]

    def memory(self, i: int) -> np.ndarray:
        """Memory for a result: what the last user of one has let go of, or new."""
        _, size, dtype = self.outputs[i]
        kept = self.results[i]
        for k in range(len(kept)):
            try:
                candidate = kept.pop(0)
            except IndexError:  # another thread has it
                break
            if sys.getrefcount(candidate) <= 2:
                return candidate
            kept.append(candidate)
            del k
        return np.empty(size, dtype)

    def __call__(self, *operands: Any) -> tuple[Any, ...]:
        arguments = []
        for x, is_array, dtype in zip(operands, self.is_array, self.dtypes):
            if not is_array:
                arguments.append(x[()] if isinstance(x, np.ndarray) else dtype.type(x))
            elif x.flags.c_contiguous and x.flags.aligned:
                arguments.append(x)
            else:
                arguments.append(np.array(x, order="C"))
        results = [self.memory(i) for i in range(len(self.outputs))]
        try:
            arena = self.arenas.pop()
        except IndexError:
            arena = [np.empty(size, dtype) for size, dtype in self.buffers]
        if self.parallel:
            with _one_at_a_time:
                self.function(*arguments, *self.constants, *results, *arena)
        else:
            self.function(*arguments, *self.constants, *results, *arena)
        self.arenas.append(arena)
        shaped = []
        for i, (r, (shape, size, _)) in enumerate(zip(results, self.outputs)):
            if not shape:
                shaped.append(r[0])
                continue
            shaped.append(r.reshape(shape))
            if 1 << 15 <= size and r.nbytes <= _MOST_KEPT and len(self.results[i]) < 4:
                self.results[i].append(r)
        return tuple(shaped)


class _Native:
    """Stands for a primitive in equations that are native parts."""

    name = "native"
    multiple = True
    elementwise = False
    moves = False
    has_effects = False


NATIVE: Any = _Native()


def movable(e: Equation) -> bool:
    """True for views: NumPy makes them in no time, and native parts on the way."""
    return is_view(e) and e.primitive.name != "dynamic_slice" and not e.effects


def split(graph: Graph, smallest: int) -> tuple[Graph, list[Graph]]:
    """The graph with native parts as one equation each, and these parts.

    Equations run in stages: in each first what is native, then what is not.  Views are made where
    they are read.  A part with less than `smallest` work is left to NumPy.
    """
    stage: dict[Var, int] = {}
    native: list[list[Equation]] = []
    others: list[list[Equation]] = []
    views: dict[Var, Equation] = {}
    effects = 0

    def room(n: int) -> None:
        while len(native) <= n:
            native.append([])
            others.append([])

    room(0)
    made_native: dict[Var, int] = {}
    for e in graph.equations:
        at = max([stage.get(a, 0) for a in e.inputs if type(a) is Var], default=0)
        if movable(e) and can_be_native(e):
            (out,) = e.outputs
            views[out] = e
            stage[out] = at
            made = [made_native[a] for a in e.inputs if type(a) is Var and a in made_native]
            if made:
                made_native[out] = made[0]
            continue
        if can_be_native(e):
            while at < len(native) and len(native[at]) >= MOST_EQUATIONS:
                at += 1
            room(at)
            native[at].append(e)
            for v in e.outputs:
                stage[v] = at
                made_native[v] = at
            continue
        # Values of a native part of this stage can be read, as that runs first.
        if e.effects:
            at = effects = max(at, effects)
        room(at)
        others[at].append(e)
        for v in e.outputs:
            stage[v] = at + 1
            room(at + 1)
    wanted = {*graph.outputs}
    readers: dict[Var, set[Any]] = {}
    parts: list[Graph] = []
    steps: list[Equation] = []
    # What of each native part is read outside of it, views followed to what they show.
    def closure(equations: Sequence[Equation]) -> list[Equation]:
        """The equations with the views that they read, in order."""
        result: list[Equation] = []
        done: set[Var] = set()
        mine = {v for e in equations for v in e.outputs}

        def pull(v: Any) -> None:
            stack = [v]
            chain = []
            while stack:
                v = stack.pop()
                if type(v) is not Var or v in done or v in mine or v not in views:
                    continue
                done.add(v)
                chain.append(views[v])
                stack.extend(views[v].inputs)
            result.extend(reversed(chain))

        for e in equations:
            for a in e.inputs:
                pull(a)
            result.append(e)
        return result

    groups: list[tuple[bool, list[Equation]]] = []
    for n, o in zip(native, others):
        if n:
            full = closure(n)
            groups.append((work_of(n) >= smallest, full))
        if o:
            groups.append((False, closure(o)))
    groups.append((False, closure_of_outputs(graph, views)))
    made_by: dict[Var, int] = {}
    for k, (_, equations) in enumerate(groups):
        for e in equations:
            for a in e.inputs:
                if type(a) is Var:
                    readers.setdefault(a, set()).add(k)
    del made_by
    already: set[Var] = set()
    constants = dict(zip(graph.constants, graph.constant_values, strict=True))
    for k, (is_native_part, equations) in enumerate(groups):
        if not is_native_part:
            for e in equations:
                if e.outputs and e.outputs[0] in already:
                    continue
                steps.append(e)
                already.update(e.outputs)
            continue
        inside = {v for e in equations for v in e.outputs}
        read = dict.fromkeys(
            a for e in equations for a in e.inputs if type(a) is Var and a not in inside
        )
        outputs = tuple(
            v
            for e in equations
            if e.outputs and e.outputs[0] not in views
            for v in e.outputs
            if v in wanted or readers.get(v, set()) - {k}
        )
        part = Graph(
            [v for v in read if v not in constants],
            equations,
            outputs,
            [v for v in read if v in constants],
            [constants[v] for v in read if v in constants],
        )
        steps.append(
            Equation(NATIVE, part.inputs, {"number": len(parts)}, outputs, frozenset())
        )
        parts.append(part)
        already.update(outputs)
    whole = Graph(graph.inputs, steps, graph.outputs, graph.constants, graph.constant_values)
    return whole, parts


def closure_of_outputs(graph: Graph, views: dict[Var, Equation]) -> list[Equation]:
    """The views that a graph's outputs are, and those they show."""
    result: list[Equation] = []
    done: set[Var] = set()
    stack = [v for v in graph.outputs]
    while stack:
        v = stack.pop()
        if v in views and v not in done:
            done.add(v)
            result.append(views[v])
            stack.extend(a for a in views[v].inputs if type(a) is Var)
    order = {e.outputs[0]: i for i, e in enumerate(graph.equations) if e.outputs}
    return sorted(result, key=lambda e: order[e.outputs[0]])


UNKNOWN_TURNS = 100


def work_of(equations: Sequence[Equation]) -> int:
    """About how many elementary operations equations take, loops included."""
    total = 0
    for e in equations:
        graphs = [
            g
            for value in e.params.values()
            for g in (value if type(value) is tuple else (value,))
            if isinstance(g, Graph)
        ]
        if graphs:
            turns = e.primitive.repeats(**e.params)
            inner = sum(work_of(g.equations) for g in graphs)
            total += (UNKNOWN_TURNS if turns is None else turns) * inner
        elif not is_view(e):
            total += max(v.aval.size for v in (*e.inputs, *e.outputs) if type(v) is Var)
    return total


def threads() -> int:
    """How many threads run parallel nests."""
    return int(numba.get_num_threads())


__all__: list[Callable[..., Any] | str] = []
