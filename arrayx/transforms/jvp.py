"""Forward mode: values that carry their directional derivative along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from arrayx import errors
from arrayx.core.graph import Graph
from arrayx.core.interpreter import Interpreter, Tracer, current, opened
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive, aval_or_scalar_type
from arrayx.primitives.creation import instantiate
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.stage import derive


class JVPTracer(Tracer):
    """A primal and its tangent, which is `Zero` where it is known to vanish."""

    __slots__ = ("primal", "tangent")

    def __init__(self, interpreter: Interpreter, primal: Any, tangent: Any) -> None:
        self.interpreter = interpreter
        self.primal = primal
        self.tangent = tangent
        self.aval = primal.aval

    def concrete(self, what: str) -> Any:
        # Eager differentiation keeps values: Python control flow on them just works.
        primal = self.primal
        return primal.concrete(what) if isinstance(primal, Tracer) else primal


FORWARD = "forward-mode differentiation"


class JVPInterpreter(Interpreter):
    """Applies every primitive's `jvp` rule to pairs of primal and tangent."""

    __slots__ = ("word",)

    def __init__(self, parent: Interpreter, word: str = FORWARD) -> None:
        super().__init__(parent)
        self.word = word

    def apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        active = False
        primals: list[Any] = []
        tangents: list[Any] = []
        for a in args:
            if type(a) is JVPTracer and a.interpreter is self:
                primals.append(a.primal)
                tangents.append(a.tangent)
                active = active or a.tangent is not Zero
            else:
                primals.append(a)
                tangents.append(Zero)
        if not active:
            return self.parent.apply(primitive, tuple(primals), params)  # type: ignore[union-attr]
        rule = primitive.jvp
        if primitive.widen is not None:
            params = widened(primitive, primals, params)
        if rule is None:
            return without_rule(self, primitive, "jvp", args, params)
        token = current.set(self.parent)  # type: ignore[arg-type]
        try:
            result, tangent = rule(primals, tangents, **params)
        finally:
            current.reset(token)
        return self.pair(primitive, result, tangent)

    def pair(self, primitive: Primitive, result: Any, tangent: Any) -> Any:
        """The tracer(s) of a rule's answer; a result without tangent needs none."""
        if primitive.multiple:
            return tuple(
                r if t is Zero else JVPTracer(self, r, t)
                for r, t in zip(result, tangent, strict=True)
            )
        return result if tangent is Zero else JVPTracer(self, result, tangent)


def widened(primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> dict[str, Any]:
    """The params with graphs that fit the operands."""
    assert primitive.widen is not None
    params = primitive.widen([aval_or_scalar_type(a) for a in args], params)
    return params


def without_rule(
    interpreter: Interpreter,
    primitive: Primitive,
    slot: str,
    args: tuple[Any, ...],
    params: dict[str, Any],
) -> Any:
    """What a transformation does with a primitive that has no rule for it."""
    if primitive.interpret is not None:
        return primitive.interpret(interpreter, args, params)
    if primitive.expand is None:
        refuse_missing_rule(primitive, slot)
    return primitive.expand(*args, **params)


def refuse_missing_rule(primitive: Primitive, slot: str) -> NoReturn:
    """Raises the error for a primitive that lacks the rule a transformation needs."""
    raise errors.ArrayxError(
        f"primitive {primitive.name} has no {slot} rule and no expansion: it cannot be "
        f"transformed this way. Give its class a method `{slot}` or `expand`."
    )


def jvp_flat(
    fun: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    word: str = FORWARD,
) -> tuple[list[Any], list[Any]]:
    """Values and tangents of a flat function; tangents in and out may be `Zero`.

    `word` names the transformation in messages.
    """
    parent = current.get()
    interpreter = JVPInterpreter(parent, word)
    with opened(interpreter):
        inputs = [
            p if t is Zero else JVPTracer(interpreter, p, t)
            for p, t in zip(primals, tangents, strict=True)
        ]
        results = fun(*inputs)
    outs, out_tangents = [], []
    for r in results:
        if type(r) is JVPTracer and r.interpreter is interpreter:
            outs.append(r.primal)
            out_tangents.append(r.tangent)
        else:
            outs.append(r)
            out_tangents.append(Zero)
    return outs, out_tangents


def jvp_graph(
    graph: Graph, active: tuple[bool, ...], forced: tuple[bool, ...] | None = None
) -> tuple[Graph, tuple[bool, ...]]:
    """The graph of values and tangents, where `active` says which inputs have a tangent.

    Inputs: all primals, then the active tangents.  Outputs: all values, then the tangents
    that are not known to be zero, as told by the second result; those of the outputs marked
    in `forced` are given even where they are zero.
    """
    key = "jvp", active, forced
    if key not in graph.memo:
        out_active: tuple[bool, ...] = ()

        def both(*args: Any) -> list[Any]:
            nonlocal out_active
            primals = args[: len(active)]
            given = iter(args[len(active) :])
            tangents = [next(given) if a else Zero for a in active]
            outs, out_tangents = jvp_flat(lambda *xs: evaluate(graph, xs), primals, tangents)
            if forced is not None:
                out_tangents = [
                    instantiate(t, a.strong()) if wanted else t
                    for t, a, wanted in zip(out_tangents, graph.out_avals, forced, strict=True)
                ]
            out_active = tuple(t is not Zero for t in out_tangents)
            return [*outs, *(t for t in out_tangents if t is not Zero)]

        avals = graph.in_avals
        moving = [a.strong() for a, moves in zip(avals, active, strict=True) if moves]
        graph.memo[key] = derive(both, [*avals, *moving]), out_active
    return graph.memo[key]  # type: ignore[no-any-return]
