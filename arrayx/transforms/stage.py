"""Staging: run a function once on tracers and write down what it does as a graph."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from arrayx import errors, source
from arrayx.core.array import SCALAR_TYPES, Array, is_scalar, typeof
from arrayx.core.aval import Aval
from arrayx.core.checking import checked
from arrayx.core.graph import Equation, Graph, Var
from arrayx.core.interpreter import (
    BASE,
    Interpreter,
    Tracer,
    current,
    opened,
    revived,
)
from arrayx.core.primitive import NO_EFFECTS, Primitive
from arrayx.primitives.creation import scalar


class StageTracer(Tracer):
    """Stands for the `variable` of the graph being written."""

    __slots__ = ("argument", "source", "variable")
    variable: Var
    # The path of the argument that this tracer is, for messages; None for results.
    argument: str | None

    def __init__(
        self, interpreter: StageInterpreter, var: Var, where: Any, argument: str | None = None
    ) -> None:
        self.interpreter = interpreter
        self.aval = var.aval
        self.variable = var
        self.source = where
        self.argument = argument

    def origin(self) -> str:
        if self.argument is not None:
            return f"it is the argument {self.argument}"
        names = self.interpreter.arguments_of(self.variable)  # type: ignore[attr-defined]
        return made_from(self.source, names)


def made_from(where: Any, names: Sequence[str]) -> str:
    """Where a value was made, and from which arguments, in words; either may be unknown."""
    made = f"made at {where}" if where is not None else ""
    if not names:
        return made
    several = "s" if len(names) > 1 else ""
    return f"{made or 'made'}{', ' if made else ' '}from the argument{several} {', '.join(names)}"


_STATIC = (
    "static_argnums or static_argnames of ax.jit for an argument that should stay a Python "
    "value; or calling the function without ax.jit"
)


class StageInterpreter(Interpreter):
    """Writes every application down as an equation; nothing is computed."""

    __slots__ = (
        "arguments",
        "captured",
        "constants",
        "equations",
        "kept_alive",
        "met",
        "remedy",
        "word",
    )

    def __init__(self, parent: Interpreter, word: str = "ax.jit") -> None:
        super().__init__(parent)
        self.word = word
        self.remedy = _STATIC if word.startswith("ax.jit") else ""
        self.equations: list[Equation] = []
        # Concrete arrays, by identity, which holds while the objects are kept alive.
        self.constants: dict[int, tuple[Var, Any]] = {}
        self.kept_alive: list[Any] = []
        # Tracers of enclosing transformations, by identity, and what stands for them now, by
        # identity too: that becomes an input of the graph.
        self.met: dict[int, tuple[Var, Tracer]] = {}
        self.captured: dict[int, tuple[Var, Any, list[Tracer]]] = {}
        self.arguments: dict[Var, str] = {}

    def apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if self.closed:
            raise errors.LeakedTracerError(f"{primitive.name} was applied after {self.word} ended")
        if primitive.stage is not None:
            return primitive.stage(self, args, params)
        return self.record(primitive, args, params)

    def record(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Adds an equation and returns the tracer(s) of its result."""
        inputs: list[Any] = []
        avals: list[Any] = []
        for a in args:
            kind = type(a)
            if kind is StageTracer and a.interpreter is self:
                inputs.append(a.variable)
                avals.append(a.aval)
            elif kind in SCALAR_TYPES:
                inputs.append(a)
                avals.append(kind)
            else:
                var = self.lift(a)
                inputs.append(var)
                avals.append(var.aval)
        if primitive.widen is not None:
            params = primitive.widen(avals, params)
        result = primitive.infer(tuple(avals), params)
        # Between here and the user's code lie at least `apply` and the primitive's call.
        where = source.current(3)
        effects = primitive.effects(**params) if primitive.has_effects else NO_EFFECTS
        if primitive.multiple:
            outputs = tuple([Var(aval) for aval in result])
            self.equations.append(
                Equation(primitive, tuple(inputs), params, outputs, effects, where)
            )
            return tuple([StageTracer(self, var, where) for var in outputs])
        var = Var(result)
        self.equations.append(Equation(primitive, tuple(inputs), params, (var,), effects, where))
        return StageTracer(self, var, where)

    def lift(self, x: Any) -> Var:
        """The variable of a value that was not made here: a constant or an outer tracer."""
        if isinstance(x, Tracer):
            if x.interpreter is self:
                return x.variable  # type: ignore[no-any-return]
            met = self.met.get(id(x))
            if met is None:
                stands: Any = x
                if x.interpreter.closed:
                    stands = revived(x, self.parent)
                    if is_scalar(stands):
                        stands = scalar(stands)
                key = id(stands)
                if key not in self.captured:
                    self.captured[key] = Var(typeof(stands)), stands, []
                var, _, tracers = self.captured[key]
                tracers.append(x)
                met = self.met[id(x)] = var, x
            return met[0]
        held = self.constants.get(id(x))
        if held is None:
            # The caller may write to a NumPy array later; the graph keeps what it was.
            value = np.array(x) if isinstance(x, np.ndarray) else x
            self.kept_alive.append(x)
            held = self.constants[id(x)] = Var(typeof(x)), value
        return held[0]

    def argument(self, aval: Aval, path: str | None) -> StageTracer:
        """A new input, named by its path in the arguments."""
        var = Var(aval)
        if path is not None:
            self.arguments[var] = path
        return StageTracer(self, var, None, path)

    def arguments_of(self, var: Var) -> list[str]:
        """The paths of the arguments that `var` was computed from; for messages only."""
        makers = {out: e for e in self.equations for out in e.outputs}
        found: dict[str, None] = {}
        seen = {var}
        todo = [var]
        while todo:
            v = todo.pop()
            if v in self.arguments:
                found[self.arguments[v]] = None
            for a in makers[v].inputs if v in makers else ():
                if type(a) is Var and a not in seen:
                    seen.add(a)
                    todo.append(a)
        return sorted(found)


class Staged(NamedTuple):
    """A staged function: its inputs are the captured values, then the arguments.

    They are tracers of transformations around, and what stands for tracers of those that ended.
    """

    graph: Graph
    captured: tuple[Any, ...]


class Closure(NamedTuple):
    """A staged function with the tracers that it closes over, those of each captured value.

    A tracer is not its value where its transformation has ended: the function, run again, meets
    the tracer.
    """

    graph: Graph
    captured: tuple[Any, ...]
    tracers: tuple[tuple[Tracer, ...], ...]


_gc_lock = threading.Lock()
_gc_users = 0
_gc_was_enabled = False


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keeps the cycle collector still: it would walk the growing graph again and again.

    Counted, so that nested and concurrent stagings pause it once and restore it last.
    """
    global _gc_users, _gc_was_enabled
    with _gc_lock:
        if _gc_users == 0:
            _gc_was_enabled = gc.isenabled()
            gc.disable()
        _gc_users += 1
    try:
        yield
    finally:
        with _gc_lock:
            _gc_users -= 1
            if _gc_users == 0 and _gc_was_enabled:
                gc.enable()


def stage(
    fun: Callable[..., Sequence[Any]],
    avals: Sequence[Aval],
    *,
    word: str = "ax.jit",
    paths: Sequence[str | None] | None = None,
    parent: Interpreter | None = None,
) -> Staged:
    """The graph of a flat function: arrays in, a sequence of arrays out.

    `word` names the transformation and `paths` the arguments in error messages.
    """
    closure = stage_closure(fun, avals, word=word, paths=paths, parent=parent)
    return Staged(closure.graph, closure.captured)


def stage_closure(
    fun: Callable[..., Sequence[Any]],
    avals: Sequence[Aval],
    *,
    word: str = "ax.jit",
    paths: Sequence[str | None] | None = None,
    parent: Interpreter | None = None,
) -> Closure:
    """`stage`, for those that will run the function itself again."""
    interpreter = StageInterpreter(parent or current.get(), word)
    with collector_paused(), opened(interpreter):
        arguments = [
            interpreter.argument(aval, paths[i] if paths is not None else None)
            for i, aval in enumerate(avals)
        ]
        results = fun(*arguments)
        outputs = [output_var(interpreter, r) for r in results]
    captured = interpreter.captured.values()
    graph = Graph(
        (*(v for v, _, _ in captured), *(t.variable for t in arguments)),
        interpreter.equations,
        outputs,
        [v for v, _ in interpreter.constants.values()],
        [x for _, x in interpreter.constants.values()],
    )
    return Closure(
        checked(graph),
        tuple(x for _, x, _ in captured),
        tuple(tuple(tracers) for _, _, tracers in captured),
    )


def output_var(interpreter: StageInterpreter, result: Any) -> Var:
    """The variable of a function's result: any array, or a scalar, which becomes one."""
    if type(result) is StageTracer and result.interpreter is interpreter:
        return result.variable
    if isinstance(result, Array | np.ndarray | np.generic):
        return interpreter.lift(result)
    if is_scalar(result):
        return interpreter.lift(scalar(result))
    raise TypeError(
        f"a function under {interpreter.word} returned {result!r} of type "
        f"{type(result).__name__}, which is not an array"
    )


DERIVED = "a derived graph"


def under_derivation(interpreter: Interpreter | None) -> bool:
    """True where a graph is being derived: what is traced then ends with it.

    A backward pass of it is a graph of its own, which has no more than what is saved.
    """
    while interpreter is not None:
        if interpreter.word == DERIVED:
            return True
        interpreter = interpreter.parent
    return False


def stage_around(interpreter: Interpreter | None) -> StageInterpreter | None:
    """The stage that is written into, here or around; None where work is eager."""
    while interpreter is not None and not isinstance(interpreter, StageInterpreter):
        interpreter = interpreter.parent
    return interpreter


def derive(fun: Callable[..., Sequence[Any]], avals: Sequence[Aval]) -> Graph:
    """Stages a function of graphs alone, with the base interpreter outside.

    The result depends on nothing but the arguments, so it can be kept with its origin.
    """
    graph, captured = stage(fun, avals, word=DERIVED, parent=BASE)
    assert not captured, "a derived graph captured a tracer"
    return graph
