"""The primitives that carry derivative rules of users' own along.

Transformations call such a rule directly while they run, so Python's control flow on values
works in it; a staged program holds the function as a graph and the rule as it is (`rules.py`),
and asks it only when that program is differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from arrayx import dtypes, errors
from arrayx.control.rules import (
    Batched,
    Capturing,
    Rule,
    SettledPullback,
    WithinPullback,
    unwrapped,
)
from arrayx.core.array import typeof
from arrayx.core.aval import Aval
from arrayx.core.graph import Graph
from arrayx.core.interpreter import Interpreter, Tracer, current, installed
from arrayx.core.linear import Zero
from arrayx.core.named_axes import resolving
from arrayx.core.primitive import NO_EFFECTS, Primitive
from arrayx.primitives.families import add_tangents
from arrayx.source import replaying
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.jvp import JVPInterpreter, JVPTracer
from arrayx.transforms.linearize import LinearizeInterpreter, LinearTracer
from arrayx.transforms.stage import StageInterpreter, stage_closure, under_derivation
from arrayx.transforms.varying import retyped, varying_of
from arrayx.transforms.vmap import BatchTracer, VmapInterpreter, vmap_graph


class CustomCall(Primitive):
    """What the two kinds of custom rules share.

    `rule` is the function with its derivative; `graph` is the function staged, None while
    nothing has staged it; `hidden` operands stand in front for what the function closes over.
    """

    multiple = True
    callable_params = True
    holds_graphs = True

    def type_rule(self, *avals: Any, rule: Rule, graph: Graph, hidden: int) -> tuple[Aval, ...]:
        return graph.out_avals

    def widen(self, avals: Any, params: dict[str, Any]) -> dict[str, Any]:
        if params["graph"] is None:
            return params
        graph = retyped(params["graph"], varying_of(avals))
        return params if graph is params["graph"] else params | {"graph": graph}

    def effects(self, *, rule: Rule, graph: Graph | None, hidden: int) -> frozenset[str]:
        return NO_EFFECTS if graph is None else graph.effects

    def key(self, params: dict[str, Any]) -> tuple[Any, ...]:
        return ()  # there is no eager kernel to find

    def expand(self, *args: Any, rule: Rule, graph: Graph | None, hidden: int) -> Any:
        return tuple(rule.call(args) if graph is None else evaluate(graph, args))

    def evaluate(self, *args: Any, rule: Rule, graph: Graph | None, hidden: int) -> Any:
        return self.expand(*args, rule=rule, graph=graph, hidden=hidden)

    def stage(
        self, interpreter: StageInterpreter, args: tuple[Any, ...], params: dict[str, Any]
    ) -> Any:
        if params["graph"] is not None:
            return interpreter.record(self, args, params)
        rule: Rule = params["rule"]
        graph, captured, tracers = stage_closure(
            lambda *xs: rule.call(xs),
            [typeof(a) for a in args],
            word=interpreter.word,
            parent=interpreter,
        )
        operands = (*captured, *args)
        params = {
            "rule": Capturing(rule, tracers) if captured else rule,
            "graph": graph,
            "hidden": len(captured),
        }
        if all(is_around(x.interpreter, interpreter) for x in captured if isinstance(x, Tracer)):
            return interpreter.record(self, operands, params)
        # A transformation inside this one made some of them: it has to see the operation.
        return self(*operands, **params)

    def interpret(
        self, interpreter: Interpreter, args: tuple[Any, ...], params: dict[str, Any]
    ) -> Any:
        if isinstance(interpreter, VmapInterpreter):
            if not may_differentiate(interpreter):
                return self.expand(*args, **params)
            return self.batched(interpreter, args, **params)
        if not any(is_active(interpreter, a) for a in args[params["hidden"] :]):
            return self.by_hidden(interpreter, args, **params)
        if isinstance(interpreter, LinearizeInterpreter):
            return self.linearized(interpreter, args, **params)
        assert isinstance(interpreter, JVPInterpreter)
        return self.differentiated(interpreter, args, **params)

    def by_hidden(self, interpreter: Interpreter, args: tuple[Any, ...], **params: Any) -> Any:
        """The derivative by what the function closes over alone.

        Of that the rule says nothing, so it is the function's own; for transformations
        outside of this one the value still has its rule.
        """
        results = self.expand(*args, **params)
        if not may_differentiate(interpreter):
            return results
        primals, _ = taken_apart(interpreter, args)  # type: ignore[arg-type]
        with installed(interpreter.parent):  # type: ignore[arg-type]
            values = self(*primals, **params)
        return tuple(
            JVPTracer(interpreter, v, r.tangent) if is_active(interpreter, r) else v
            for v, r in zip(values, results, strict=True)
        )

    def lifted(self, args: tuple[Any, ...], rule: Rule) -> Any:
        """The operation on arrays of which none belongs to the innermost transformation.

        What the function closes over may: that becomes hidden operands, or the innermost
        transformation would not see them.
        """
        captured, params = self.captured(args, rule, current.get())
        return self(*captured, *args, **params)

    def captured(
        self, args: tuple[Any, ...], rule: Rule, interpreter: Interpreter
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Hidden operands for all traced values that the function closes over, and the params."""
        try:
            graph, captured, tracers = stage_closure(
                lambda *xs: rule.call(xs), [typeof(a) for a in args], parent=interpreter
            )
        except Exception:  # it asks for values, or fails, which it does again when it runs
            captured = ()
        if not captured:
            return (), {"rule": rule, "graph": None, "hidden": 0}
        rule = Capturing(rule, tracers)
        return captured, {"rule": rule, "graph": graph, "hidden": len(captured)}

    def batched(
        self,
        mapped: VmapInterpreter,
        args: tuple[Any, ...],
        *,
        rule: Rule,
        graph: Graph | None,
        hidden: int,
    ) -> Any:
        """The same of a whole axis: function and rule are batched."""
        pairs = [unwrapped(mapped, a) for a in args]
        dims = tuple(d for _, d in pairs)
        if graph is not None:
            out_dims = (0,) * len(graph.outputs)
            with resolving(mapped.axis_name):
                graph = vmap_graph(graph, mapped.size, dims, out_dims)[0]
        with installed(mapped.parent):  # type: ignore[arg-type]
            results = self(
                *(x for x, _ in pairs),
                rule=Batched(rule, mapped, dims, hidden),
                graph=graph,
                hidden=hidden,
            )
        return tuple(BatchTracer(mapped, r, 0) for r in results)

    def linearized(
        self, interpreter: LinearizeInterpreter, args: tuple[Any, ...], **params: Any
    ) -> Any:
        """Values, with tangents on the tape."""
        raise NotImplementedError

    def differentiated(
        self, interpreter: JVPInterpreter, args: tuple[Any, ...], **params: Any
    ) -> Any:
        """Values and tangents."""
        raise NotImplementedError


def may_differentiate(interpreter: Interpreter) -> bool:
    """True where a rule is still needed outside of this interpreter, now or later."""
    here = interpreter.parent
    while here is not None:
        if isinstance(here, JVPInterpreter | StageInterpreter):
            return True
        here = here.parent
    return False


def is_active(interpreter: Interpreter, x: Any) -> bool:
    """True for a value with a tangent of this differentiation."""
    return type(x) is JVPTracer and x.interpreter is interpreter and x.tangent is not Zero


def is_around(candidate: Interpreter, interpreter: Interpreter) -> bool:
    """True if `candidate` is `interpreter` or one that it was opened in."""
    here: Interpreter | None = interpreter
    while here is not None:
        if here is candidate:
            return True
        here = here.parent
    return False


def taken_apart(interpreter: JVPInterpreter, args: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Primals and tangents of operands."""
    mine = [type(a) is JVPTracer and a.interpreter is interpreter for a in args]
    return (
        [a.primal if m else a for a, m in zip(args, mine, strict=True)],
        [a.tangent if m else Zero for a, m in zip(args, mine, strict=True)],
    )


class CustomJVP(CustomCall):
    """A function whose tangent is the user's rule."""

    name = "custom_jvp"

    def differentiated(
        self,
        interpreter: JVPInterpreter,
        args: tuple[Any, ...],
        *,
        rule: Rule,
        graph: Graph | None,
        hidden: int,
    ) -> Any:
        primals, tangents = taken_apart(interpreter, args)
        # The rule runs under the differentiation itself, not outside it like other rules:
        # what it closes over is differentiated on the way.
        with installed(interpreter):
            outs, out_tangents = rule.jvp(primals[hidden:], tangents[hidden:], args[:hidden])
        outs, more = taken_apart(interpreter, outs)
        out_tangents = taken_apart(interpreter, out_tangents)[0]
        with installed(interpreter.parent):  # type: ignore[arg-type]
            total = [add_tangents(a, b) for a, b in zip(more, out_tangents, strict=True)]
        return interpreter.pair(self, outs, total)

    def linearized(
        self,
        interpreter: LinearizeInterpreter,
        args: tuple[Any, ...],
        *,
        rule: Rule,
        graph: Graph | None,
        hidden: int,
    ) -> Any:
        tape = interpreter.tape
        primals, tangents = taken_apart(interpreter, args)
        before = interpreter.parent
        # Tangents are on the tape, so that is where operations on them have to go.
        interpreter.parent = tape
        try:
            with installed(interpreter):
                outs, out_tangents = rule.jvp(primals[hidden:], tangents[hidden:], args[:hidden])
        finally:
            interpreter.parent = before
        outs, more = taken_apart(interpreter, outs)
        out_tangents = taken_apart(interpreter, out_tangents)[0]
        for out in outs:
            if on_tape(out, tape):
                refuse_mixing(rule)
        # A tangent that no tangent went into is 0, since rules are linear in them.
        kept = [t if on_tape(t, tape) else Zero for t in out_tangents]
        with installed(tape):
            total = [add_tangents(a, b) for a, b in zip(more, kept, strict=True)]
        return interpreter.pair(self, outs, total)


def on_tape(x: Any, tape: Interpreter) -> bool:
    """True for a tangent of this tape."""
    return type(x) is LinearTracer and x.interpreter is tape


def refuse_mixing(rule: Rule) -> NoReturn:
    """Raises the error for a rule whose value depends on tangents."""
    raise errors.GradError(
        f"the custom_jvp rule of {rule.name} returned a value (the first of its pair) that depends "
        "on the tangents. It has to return (value, tangent)."
    )


class CustomVJP(CustomCall):
    """A function whose cotangents are pulled back by the user's rule."""

    name = "custom_vjp"

    def differentiated(
        self, interpreter: JVPInterpreter, args: tuple[Any, ...], *, rule: Rule, **params: Any
    ) -> Any:
        refuse_forward(rule.name)

    def linearized(
        self,
        interpreter: LinearizeInterpreter,
        args: tuple[Any, ...],
        *,
        rule: Rule,
        graph: Graph | None,
        hidden: int,
    ) -> Any:
        if graph is None and under_derivation(interpreter):
            # A backward pass will have no more than what is saved.
            captured, params = self.captured(args, rule, interpreter)
            if captured:
                with installed(interpreter):
                    return self(*captured, *args, **params)
        primals, tangents = taken_apart(interpreter, args)
        with installed(interpreter):
            outs, residuals, pullback = rule.fwd(primals[hidden:], args[:hidden])
        outs, more = taken_apart(interpreter, outs)
        residuals = taken_apart(interpreter, residuals)[0]
        active = tuple(i for i, t in enumerate(tangents[hidden:]) if t is not Zero)
        if not active:
            return interpreter.pair(self, outs, more)
        varying = tuple(i for i, o in enumerate(outs) if dtypes.is_inexact(typeof(o).dtype))
        avals = tuple(typeof(outs[i]).strong() for i in varying)
        params = {
            "name": rule.name,
            "pullback": SettledPullback(pullback, interpreter),
            "residuals": len(residuals),
            "active": active,
            "varying": varying,
            "count": len(outs),
            "avals": avals,
        }
        moving = [tangents[hidden + i] for i in active]
        given = interpreter.tape.record(custom_linear, (*residuals, *moving), params, avals)
        out_tangents: list[Any] = [Zero] * len(outs)
        for i, t in zip(varying, given, strict=True):
            out_tangents[i] = t
        with installed(interpreter.tape):
            total = [add_tangents(a, b) for a, b in zip(more, out_tangents, strict=True)]
        return interpreter.pair(self, outs, total)


def refuse_forward(name: str) -> NoReturn:
    """Raises the error for forward mode through a reverse-mode rule."""
    raise errors.GradError(
        f"{name} has a custom_vjp rule, which is for reverse mode only, and was differentiated in "
        "forward mode (ax.jvp, ax.jacfwd, the outer part of ax.hessian, or the function that "
        "ax.linearize returns). Use ax.grad, ax.vjp or ax.jacrev (ax.jacrev of ax.jacrev for "
        "second derivatives), or give the function a custom_jvp rule, which serves both modes."
    )


class CustomLinear(Primitive):
    """The derivative of a function of which only the transpose is known.

    Operands are `residuals` saved values, then the tangents of the primals numbered
    `active`.  Of its function's `count` results those numbered `varying`, of types `avals`,
    have tangents.
    """

    name = "custom_linear"
    multiple = True
    callable_params = True
    holds_graphs = True

    def type_rule(self, *operands: Any, avals: tuple[Aval, ...], **params: Any) -> Any:
        return avals

    def key(self, params: dict[str, Any]) -> tuple[Any, ...]:
        return ()

    def expand(self, *args: Any, name: str, **params: Any) -> Any:
        refuse_forward(name)

    def evaluate(self, *args: Any, name: str, **params: Any) -> Any:
        refuse_forward(name)

    def enclose(
        self, args: tuple[Any, ...], params: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What the pullback closes over becomes residuals, for when it is not traced any more."""
        n, pullback = params["residuals"], params["pullback"]

        def pulled(*operands: Any) -> list[Any]:
            given: list[Any] = [Zero] * params["count"]
            for i, ct in zip(params["varying"], operands[n:], strict=True):
                given[i] = ct
            return [x for x in pullback(operands[:n], given) if x is not Zero]

        avals = [*map(typeof, args[:n]), *params["avals"]]
        try:
            _, captured, groups = stage_closure(pulled, avals, parent=current.get())
        except Exception:  # it asks for values, or fails, which it does again when it runs
            return args, params
        if not captured:
            return args, params
        tracers = [t for group in groups for t in group]
        known = [x for group, x in zip(groups, captured, strict=True) for _ in group]
        within = WithinPullback(pullback, tracers)
        params = params | {"residuals": n + len(known), "pullback": within}
        return (*known, *args), params

    def transpose(
        self,
        cts: Any,
        *args: Any,
        pullback: Callable[..., list[Any]],
        residuals: int,
        active: tuple[int, ...],
        varying: tuple[int, ...],
        count: int,
        **params: Any,
    ) -> Any:
        given: list[Any] = [Zero] * count
        for i, ct in zip(varying, cts, strict=True):
            given[i] = ct
        with replaying():  # the rule's own lines, not those of what it is the rule of
            found = pullback(args[:residuals], given)
        return (*([None] * residuals), *(found[i] for i in active))


custom_jvp = CustomJVP()
custom_vjp = CustomVJP()
custom_linear = CustomLinear()
