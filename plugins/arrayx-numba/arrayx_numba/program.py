"""A graph as a program: parts that are native, and the rest by NumPy's kernels in between."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import Any

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
        self.constants = [np.ascontiguousarray(x) if x.ndim else x[()] for x in constants]
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
        for _ in range(len(kept)):
            try:
                candidate = kept.pop(0)
            except IndexError:  # another thread has it
                break
            if sys.getrefcount(candidate) <= 2:
                return candidate
            kept.append(candidate)
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
            if size >= 1 << 15 and r.nbytes <= _MOST_KEPT and len(self.results[i]) < 4:
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
    views = {e.outputs[0]: e for e in graph.equations if movable(e) and can_be_native(e)}
    groups: list[tuple[bool, list[Equation]]] = []
    for native, others in stages(graph, views):
        if native:
            groups.append((work_of(native) >= smallest, with_views(native, views)))
        if others:
            groups.append((False, with_views(others, views)))
    groups.append((False, views_among(graph.outputs, views)))
    wanted = {*graph.outputs}
    readers: dict[Var, set[int]] = {}
    for k, (_, equations) in enumerate(groups):
        for e in equations:
            for a in e.inputs:
                if type(a) is Var:
                    readers.setdefault(a, set()).add(k)
    constants = dict(zip(graph.constants, graph.constant_values, strict=True))
    steps: list[Equation] = []
    parts: list[Graph] = []
    done: set[Var] = set()
    for k, (is_native_part, equations) in enumerate(groups):
        if not is_native_part:
            for e in equations:
                if not e.outputs or e.outputs[0] not in done:
                    steps.append(e)
                    done.update(e.outputs)
            continue
        inside = {v for e in equations for v in e.outputs}
        read = dict.fromkeys(
            a for e in equations for a in e.inputs if type(a) is Var and a not in inside
        )
        outputs = tuple(
            v
            for e in equations
            if e.outputs[0] not in views
            for v in e.outputs
            if v in wanted or readers.get(v, set()) - {k}
        )
        used = [v for v in read if v in constants]
        inputs = [v for v in read if v not in constants]
        part = Graph(inputs, equations, outputs, used, [constants[v] for v in used])
        steps.append(Equation(NATIVE, part.inputs, {"number": len(parts)}, outputs, frozenset()))
        parts.append(part)
        done.update(outputs)
    whole = Graph(graph.inputs, steps, graph.outputs, graph.constants, graph.constant_values)
    return whole, parts


def stages(graph: Graph, views: dict[Var, Equation]) -> list[tuple[list[Equation], list[Equation]]]:
    """What is native and what is not, in stages; without views."""
    found: list[tuple[list[Equation], list[Equation]]] = [([], [])]
    stage: dict[Var, int] = {}
    last_effect = 0
    for e in graph.equations:
        at = max([stage.get(a, 0) for a in e.inputs if type(a) is Var], default=0)
        after = at
        if e.outputs and e.outputs[0] in views:
            pass
        elif can_be_native(e):
            while at < len(found) and len(found[at][0]) >= MOST_EQUATIONS:
                at += 1
            if at == len(found):
                found.append(([], []))
            found[at][0].append(e)
            after = at
        else:
            if e.effects:
                at = last_effect = max(at, last_effect)
            while at >= len(found):
                found.append(([], []))
            found[at][1].append(e)
            after = at + 1
            if after == len(found):
                found.append(([], []))
        stage.update(dict.fromkeys(e.outputs, after))
    return found


def with_views(equations: Sequence[Equation], views: dict[Var, Equation]) -> list[Equation]:
    """Equations with the views that they read before them."""
    result: list[Equation] = []
    done: set[Var] = set()
    for e in equations:
        missing = [v for v in e.inputs if type(v) is Var and v in views and v not in done]
        for view in views_among(missing, views):
            if view.outputs[0] not in done:
                done.update(view.outputs)
                result.append(view)
        result.append(e)
    return result


def views_among(atoms: Sequence[Any], views: dict[Var, Equation]) -> list[Equation]:
    """The views among variables, each after those that it shows."""
    result: list[Equation] = []
    done: set[Var] = set()
    stack = list(atoms)
    while stack:
        v = stack[-1]
        below = []
        if type(v) is Var and v in views and v not in done:
            below = [a for a in views[v].inputs if type(a) is Var and a in views and a not in done]
            if not below:
                done.add(v)
                result.append(views[v])
        if below:
            stack.extend(below)
        else:
            stack.pop()
    return result


# Turns of a loop that nobody knows how often it runs.
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
