"""Functions with derivatives of the user's own: the primitives that carry the rules along.

A rule is a Python object that can run the function and its derivative on flat lists of
arrays.  Transformations call it directly while they run, so Python's control flow on values
works in it; a staged program holds the function as a graph and the rule as it is, and asks it
only when that program is differentiated.

Functions and rules may use traced values from around them.  While the transformation that
made such a value is still running, rules run under it, so that derivatives with respect to
those values are right too.  Staging turns them into operands in front of the others, the
*hidden* ones, and the rule is told their values (`Rebinding`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from arrayx import dtypes, errors
from arrayx.core.array import typeof
from arrayx.core.aval import Aval
from arrayx.core.graph import Graph
from arrayx.core.interpreter import Interpreter, Tracer, current, installed, opened
from arrayx.core.linear import Zero
from arrayx.core.primitive import NO_EFFECTS, Primitive
from arrayx.primitives.axes import move_batch_dim, reduce_sum
from arrayx.primitives.families import add_tangents
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.jvp import JVPInterpreter, JVPTracer
from arrayx.transforms.linearize import LinearizeInterpreter, LinearTracer
from arrayx.transforms.stage import StageInterpreter, stage
from arrayx.transforms.vmap import BatchTracer, VmapInterpreter, named_axis, vmap_graph


class Rule:
    """A function of flat arrays, with its derivative.  Each has one of `jvp` and `fwd`."""

    name: str

    def call(self, args: Sequence[Any]) -> list[Any]:
        """The function's results."""
        raise NotImplementedError

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[Any]]:
        """Results and their tangents; tangents in and out may be `Zero`."""
        raise NotImplementedError

    def fwd(
        self, primals: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[Any], Callable[..., list[Any]]]:
        """Results, residuals, and the pullback.

        `pullback(residuals, cotangents)` gives a cotangent for each primal; they may be
        `Zero`.
        """
        raise NotImplementedError

    def __call__(self, *args: Any) -> list[Any]:
        return self.call(args)


# ----------------------------------------------------------------- values from around


class Rebinding(Interpreter):
    """Puts values in the place of tracers that rules have closed over."""

    __slots__ = ("tracers", "values", "word")

    def __init__(
        self, parent: Interpreter, tracers: Sequence[Tracer], values: Sequence[Any]
    ) -> None:
        super().__init__(parent)
        self.word = parent.word  # type: ignore[misc]
        self.tracers = tracers  # held, so that their ids stay theirs
        self.values = {id(t): v for t, v in zip(tracers, values, strict=True)}

    def apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        values = self.values
        args = tuple([values.get(id(a), a) for a in args])
        if primitive.callable_params and "rule" in params:
            within = Within(params["rule"], self.tracers, [values[id(t)] for t in self.tracers])
            params = {**params, "rule": within}
        return self.parent.apply(primitive, args, params)  # type: ignore[union-attr]


class Settling(Interpreter):
    """Replaces what a finished differentiation traced by its value.

    A backward rule runs after the differentiation that it belongs to.
    """

    __slots__ = ("of", "word")

    def __init__(self, parent: Interpreter, of: Interpreter) -> None:
        super().__init__(parent)
        self.word = parent.word  # type: ignore[misc]
        self.of = of

    def apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        return self.parent.apply(primitive, tuple([self.settled(a) for a in args]), params)  # type: ignore[union-attr]

    def settled(self, x: Any) -> Any:
        """The value behind a tracer of that differentiation; anything else as it is."""
        return x.primal if type(x) is JVPTracer and x.interpreter is self.of else x


class Within(Rule):
    """A rule that runs with values in the place of tracers."""

    def __init__(self, rule: Rule, tracers: Sequence[Tracer], values: Sequence[Any]) -> None:
        self.rule = rule
        self.name = rule.name
        self.tracers = tuple(tracers)
        self.values = tuple(values)

    def _run(self, fun: Callable[..., Any], *args: Any) -> Any:
        interpreter = Rebinding(current.get(), self.tracers, self.values)
        with installed(interpreter):
            return fun(*args), interpreter.values

    def call(self, args: Sequence[Any]) -> list[Any]:
        outs, values = self._run(self.rule.call, args)
        return [values.get(id(o), o) for o in outs]

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[Any]]:
        (outs, out_tangents), values = self._run(self.rule.jvp, primals, tangents, hidden)
        return [values.get(id(o), o) for o in outs], out_tangents

    def fwd(
        self, primals: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[Any], Callable[..., list[Any]]]:
        (outs, residuals, pullback), values = self._run(self.rule.fwd, primals, hidden)
        outs = [values.get(id(o), o) for o in outs]
        residuals = [values.get(id(r), r) for r in residuals]
        return outs, [*self.values, *residuals], WithinPullback(pullback, self.tracers)


class WithinPullback:
    """A pullback whose first residuals stand for tracers that it closes over."""

    def __init__(self, pullback: Callable[..., list[Any]], tracers: Sequence[Tracer]) -> None:
        self.pullback = pullback
        self.tracers = tracers

    def __call__(self, residuals: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        n = len(self.tracers)
        interpreter = Rebinding(current.get(), self.tracers, residuals[:n])
        with installed(interpreter):
            found = self.pullback(residuals[n:], cts)
        return [interpreter.values.get(id(x), x) for x in found]


class Capturing(Rule):
    """A rule whose first operands, the hidden ones, stand for tracers that it closes over."""

    def __init__(self, rule: Rule, tracers: Sequence[Tracer]) -> None:
        self.rule = rule
        self.name = rule.name
        self.tracers = tuple(tracers)

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[Any]]:
        return Within(self.rule, self.tracers, hidden).jvp(primals, tangents)

    def fwd(
        self, primals: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[Any], Callable[..., list[Any]]]:
        return Within(self.rule, self.tracers, hidden).fwd(primals)


# ----------------------------------------------------------------- batches


class Continued(VmapInterpreter):
    """Goes on where a batching has ended: values that it traced, and rules closed over, count."""

    __slots__ = ("of",)

    def __init__(self, parent: Interpreter, of: VmapInterpreter) -> None:
        super().__init__(parent, of.size, of.axis_name)
        self.of = of

    def apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        return super().apply(primitive, tuple([self.adopted(a) for a in args]), params)

    def adopted(self, x: Any) -> Any:
        """A tracer of the batching that has ended as one's own; anything else as it is."""
        mine = type(x) is BatchTracer and x.interpreter is self.of
        return BatchTracer(self, x.value, x.dim) if mine else x


@contextmanager
def reentered(mapped: VmapInterpreter) -> Iterator[VmapInterpreter]:
    """Works under `mapped` again, on top of whatever is current; goes on with it if it has ended.

    The same one, since a rule may close over what it traced.
    """
    here = current.get()
    if mapped.closed:
        fresh = Continued(here, mapped)
        with opened(fresh), named_axis(mapped.axis_name, mapped.size):
            yield fresh
        return
    before = mapped.parent
    mapped.parent = here
    try:
        with installed(mapped):
            yield mapped
    finally:
        mapped.parent = before


def wrapped(mapped: VmapInterpreter, x: Any, dim: int | None) -> Any:
    """A value with a batch axis as the function sees it."""
    return x if dim is None or x is Zero else BatchTracer(mapped, x, dim)


def unwrapped(mapped: VmapInterpreter, x: Any) -> tuple[Any, int | None]:
    """What a function gave, and the place of its batch axis."""
    if isinstance(mapped, Continued):
        x = mapped.adopted(x)
    if type(x) is BatchTracer and x.interpreter is mapped:
        return x.value, x.dim
    return x, None


def batched_first(mapped: VmapInterpreter, x: Any) -> Any:
    """What a function gave, with its batch axis in front."""
    if x is Zero:
        return x
    value, dim = unwrapped(mapped, x)
    return move_batch_dim(mapped.size, value, dim, 0)


class Batched(Rule):
    """A rule over an axis of its operands; all results have it, in front."""

    def __init__(
        self, rule: Rule, mapped: VmapInterpreter, dims: Sequence[int | None], hidden: int
    ) -> None:
        self.rule = rule
        self.name = rule.name
        self.mapped = mapped
        self.hidden_dims = tuple(dims[:hidden])
        self.dims = tuple(dims[hidden:])

    def _given(self, mapped: VmapInterpreter, values: Sequence[Any], dims: Any) -> list[Any]:
        return [wrapped(mapped, x, d) for x, d in zip(values, dims, strict=True)]

    def call(self, args: Sequence[Any]) -> list[Any]:
        with reentered(self.mapped) as mapped:
            outs = self.rule.call(self._given(mapped, args, self.dims))
        return [batched_first(mapped, o) for o in outs]

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[Any]]:
        with reentered(self.mapped) as mapped:
            outs, out_tangents = self.rule.jvp(
                self._given(mapped, primals, self.dims),
                self._given(mapped, tangents, self.dims),
                self._given(mapped, hidden, self.hidden_dims),
            )
        return (
            [batched_first(mapped, o) for o in outs],
            [batched_first(mapped, t) for t in out_tangents],
        )

    def fwd(
        self, primals: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[Any], Callable[..., list[Any]]]:
        with reentered(self.mapped) as mapped:
            outs, residuals, pullback = self.rule.fwd(
                self._given(mapped, primals, self.dims),
                self._given(mapped, hidden, self.hidden_dims),
            )
        pairs = [unwrapped(mapped, r) for r in residuals]
        dims = [d for _, d in pairs]
        return (
            [batched_first(mapped, o) for o in outs],
            [r for r, _ in pairs],
            BatchedPullback(pullback, self.mapped, dims, self.dims),
        )


class BatchedPullback:
    """A pullback over an axis; what all calls share gets the sum of its cotangents."""

    def __init__(
        self,
        pullback: Callable[..., list[Any]],
        mapped: VmapInterpreter,
        residual_dims: Sequence[int | None],
        dims: Sequence[int | None],
    ) -> None:
        self.pullback = pullback
        self.mapped = mapped
        self.residual_dims = residual_dims
        self.dims = dims

    def __call__(self, residuals: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        with reentered(self.mapped) as mapped:
            found = self.pullback(
                [wrapped(mapped, r, d) for r, d in zip(residuals, self.residual_dims, strict=True)],
                [wrapped(mapped, ct, 0) for ct in cts],
            )
        return [self.placed(mapped, x, d) for x, d in zip(found, self.dims, strict=True)]

    def placed(self, mapped: VmapInterpreter, x: Any, dim: int | None) -> Any:
        """A cotangent with the axes that its primal has."""
        if x is Zero:
            return x
        value, at = unwrapped(mapped, x)
        if dim is not None:
            return move_batch_dim(mapped.size, value, at, dim)
        return reduce_sum(move_batch_dim(mapped.size, value, at, 0), axes=(0,))


# ----------------------------------------------------------------- the primitives


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
        graph, captured = stage(
            lambda *xs: rule.call(xs),
            [typeof(a) for a in args],
            word=interpreter.word,
            parent=interpreter,
        )
        operands = (*captured, *args)
        params = {
            "rule": Capturing(rule, captured) if captured else rule,
            "graph": graph,
            "hidden": len(captured),
        }
        if all(is_around(t.interpreter, interpreter) for t in captured):
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
            # Only what the function closes over is differentiated, of which the rule says
            # nothing: that derivative is the function's own.
            return self.expand(*args, **params)
        if isinstance(interpreter, LinearizeInterpreter):
            return self.linearized(interpreter, args, **params)
        assert isinstance(interpreter, JVPInterpreter)
        return self.differentiated(interpreter, args, **params)

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


class SettledPullback:
    """A pullback that may close over values traced by the differentiation it belongs to."""

    def __init__(self, pullback: Callable[..., list[Any]], of: Interpreter) -> None:
        self.pullback = pullback
        self.of = of

    def __call__(self, residuals: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        interpreter = Settling(current.get(), self.of)
        with installed(interpreter):
            found = self.pullback(residuals, cts)
        return [interpreter.settled(x) for x in found]


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
        found = pullback(args[:residuals], given)
        return (*([None] * residuals), *(found[i] for i in active))


custom_jvp = CustomJVP()
custom_vjp = CustomVJP()
custom_linear = CustomLinear()
