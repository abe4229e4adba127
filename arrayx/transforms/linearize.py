"""Linearization: the value of a function now, and its derivative as a linear tape.

It is forward mode whose tangents are recorded instead of computed, so one set of rules
serves both modes.  The same code runs eagerly (the tape holds arrays) and inside a stage
(it holds tracers of the stage).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayx.core.aval import Aval
from arrayx.core.interpreter import BASE, Interpreter, Tracer, current, installed
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive, aval_or_scalar_type
from arrayx.primitives.collectives import varied
from arrayx.primitives.creation import zeros
from arrayx.source import Source
from arrayx.source import current as current_source
from arrayx.transforms.jvp import JVPInterpreter, JVPTracer, widened, without_rule


class LinearTracer(Tracer):
    """A tangent on the tape: the result of the entry, or the input, number `index`."""

    __slots__ = ("index",)

    def __init__(self, interpreter: Tape, aval: Aval, index: int) -> None:
        self.interpreter = interpreter
        self.aval = aval
        self.index = index


# In place of an entry's params: it multiplies a tangent by a known factor, and so is its own
# transpose.  Most entries are of this kind, and running them needs no rule.
PRODUCT: Any = None


class Tape(Interpreter):
    """Records what is applied to tangents, and lets the parent compute all else.

    An entry is `(primitive, args, params, results)`; its args are tangents (LinearTracer)
    and known values.  `params` is `PRODUCT` for `primitive(tangent, factor)`.
    """

    __slots__ = ("count", "entries", "sources")
    word = "linearization"

    def __init__(self, parent: Interpreter) -> None:
        super().__init__(parent)
        self.entries: list[tuple[Primitive, tuple[Any, ...], dict[str, Any], Any]] = []
        self.count = 0
        # Where each entry comes from, for who stages the backward pass; eagerly nobody looks.
        self.sources: list[Source | None] | None = None if parent is BASE else []

    def new(self, aval: Aval) -> LinearTracer:
        """A tangent of this type that nothing is known of yet."""
        tracer = LinearTracer(self, aval, self.count)
        self.count += 1
        return tracer

    def record(
        self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any], aval: Any
    ) -> Any:
        """Writes an entry whose result has this type (a tuple of types where `multiple`)."""
        if primitive.multiple:
            result: Any = tuple(self.new(a) for a in aval)
        else:
            result = self.new(aval)
        self.entries.append((primitive, args, params, result))
        if self.sources is not None:
            self.sources.append(current_source())
        return result

    def product(self, primitive: Primitive, tangent: LinearTracer, factor: Any) -> LinearTracer:
        """Writes `primitive(tangent, factor)`, a product with a known factor."""
        aval = tangent.aval
        over = getattr(factor, "aval", aval).varying
        if over is not aval.varying:
            aval = aval.update(varying=aval.varying | over)
        result = LinearTracer(self, aval, self.count)
        self.count += 1
        self.entries.append((primitive, (tangent, factor), PRODUCT, result))
        if self.sources is not None:
            self.sources.append(current_source())
        return result

    def apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        for a in args:
            if type(a) is LinearTracer and a.interpreter is self:
                break
        else:
            return self.parent.apply(primitive, args, params)  # type: ignore[union-attr]
        if primitive.reach is not None:
            mine = tuple([type(a) is LinearTracer and a.interpreter is self for a in args])
            if primitive.transpose is None or not all(primitive.reach(mine, **params)):
                return self.taken_apart(primitive, args, mine, params)
        if primitive.transpose is None and primitive.expand is not None:
            return primitive.expand(*args, **params)
        avals = tuple([aval_or_scalar_type(a) for a in args])
        return self.record(primitive, args, params, primitive.infer(avals, params))

    def taken_apart(
        self,
        primitive: Primitive,
        args: tuple[Any, ...],
        mine: tuple[bool, ...],
        params: dict[str, Any],
    ) -> Any:
        """Applies what works on values and tangents alike, as the derivative of a loop does.

        It is linear in the tangents, so it is its own derivative at tangents of zero; what does
        not depend on them is a value.
        """
        assert primitive.linearize is not None
        token = current.set(self.parent)  # type: ignore[arg-type]
        try:
            primals = [zeros(a.aval.strong()) if m else a for a, m in zip(args, mine, strict=True)]
            tangents = [a if m else Zero for a, m in zip(args, mine, strict=True)]
            results, moving = primitive.linearize(self, primals, tangents, **params)
        finally:
            current.reset(token)
        return tuple([r if t is Zero else t for r, t in zip(results, moving, strict=True)])


REVERSE = "reverse-mode differentiation"


class LinearizeInterpreter(JVPInterpreter):
    """Forward mode with the tangents on a tape; families may write the tape directly."""

    __slots__ = ("tape",)

    def __init__(self, parent: Interpreter, word: str = REVERSE) -> None:
        super().__init__(parent, word)
        self.tape = Tape(parent)

    def apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        active = False
        primals: list[Any] = []
        tangents: list[Any] = []
        for a in args:
            if type(a) is JVPTracer and a.interpreter is self:
                tangent = a.tangent
                primals.append(a.primal)
                tangents.append(tangent)
                if tangent is not Zero:
                    active = True
            else:
                primals.append(a)
                tangents.append(Zero)
        if not active:
            return self.parent.apply(primitive, tuple(primals), params)  # type: ignore[union-attr]
        if primitive.widen is not None:
            params = widened(primitive, primals, params)
        if primitive.reach is not None:
            mine = tuple([type(p) is LinearTracer and p.interpreter is self.tape for p in primals])
            if any(mine):
                return self.mixed(primitive, primals, tangents, mine, params)
        if primitive.linearize is not None:
            token = current.set(self.parent)  # type: ignore[arg-type]
            try:
                result, tangent = primitive.linearize(self.tape, primals, tangents, **params)
            finally:
                current.reset(token)
        elif primitive.jvp is not None:
            token = current.set(self.tape)
            try:
                result, tangent = primitive.jvp(primals, tangents, **params)
            finally:
                current.reset(token)
        else:
            return without_rule(self, primitive, "jvp", args, params)
        if primitive.multiple:
            return self.pair(primitive, result, tangent)
        if tangent is Zero:
            return result
        if tangent.aval.varying is not result.aval.varying:
            tangent = self.fitted(tangent, result)
        return JVPTracer(self, result, tangent)

    def mixed(
        self,
        primitive: Primitive,
        primals: list[Any],
        tangents: list[Any],
        mine: tuple[bool, ...],
        params: dict[str, Any],
    ) -> Any:
        """What a rule does to values and tangents alike, where values have a derivative too.

        That is by what the rule closes over.  The tangents have none in this differentiation,
        so they go their own way, and values theirs.
        """
        assert primitive.linearize is not None and primitive.reach is not None
        along = self.tape.apply(primitive, tuple(primals), params)
        token = current.set(self.tape.parent)  # type: ignore[arg-type]
        try:
            given = [zeros(p.aval.strong()) if m else p for p, m in zip(primals, mine, strict=True)]
            results, found = primitive.linearize(self.tape, given, tangents, **params)
        finally:
            current.reset(token)
        values = self.pair(primitive, results, found)
        moves = primitive.reach(mine, **params)
        return tuple([t if m else v for t, v, m in zip(along, values, moves, strict=True)])

    def pair(self, primitive: Primitive, result: Any, tangent: Any) -> Any:
        if primitive.multiple:
            tangent = [
                t if t is Zero or t.aval.varying is r.aval.varying else self.fitted(t, r)
                for r, t in zip(result, tangent, strict=True)
            ]
        return super().pair(primitive, result, tangent)

    def fitted(self, tangent: Any, result: Any) -> Any:
        """A tangent that varies over the mesh axes that its value does: rules count on it."""
        with installed(self.tape):
            return varied(tangent, result.aval.varying)


class Linearized:
    """A function's values at a point, and its derivative there as a tape.

    `inputs` are the tangents the tape starts from (None for an input that is not
    differentiated), `tangents` those of the outputs (`Zero` where known).
    """

    __slots__ = ("inputs", "outs", "tangents", "tape")

    def __init__(self, outs: list[Any], tangents: list[Any], tape: Tape, inputs: list[Any]) -> None:
        self.outs = outs
        self.tangents = tangents
        self.tape = tape
        self.inputs = inputs

    def forward(self, tangents: Sequence[Any]) -> list[Any]:
        """The outputs' tangents (or `Zero`) for tangents of the differentiated inputs."""
        values: list[Any] = [None] * self.tape.count
        given = iter(tangents)
        for t in self.inputs:
            if t is not None:
                values[t.index] = next(given)
        apply = current.get().apply
        tape = self.tape
        for primitive, args, params, result in tape.entries:
            if params is PRODUCT:
                values[result.index] = apply(primitive, (values[args[0].index], args[1]), {})
                continue
            known = tuple(
                values[a.index] if type(a) is LinearTracer and a.interpreter is tape else a
                for a in args
            )
            out = apply(primitive, known, params)
            if primitive.multiple:
                for r, o in zip(result, out, strict=True):
                    values[r.index] = o
            else:
                values[result.index] = out
        return [Zero if t is Zero else values[t.index] for t in self.tangents]


def linearize_flat(
    fun: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    active: Sequence[bool],
    word: str = REVERSE,
) -> Linearized:
    """Runs a flat function at `primals`, differentiating the inputs marked `active`.

    `word` names the transformation in messages.
    """
    interpreter = LinearizeInterpreter(current.get(), word)
    tape = interpreter.tape
    inputs: list[Any] = []
    args: list[Any] = []
    for p, moves in zip(primals, active, strict=True):
        if moves:
            tangent = tape.new(p.aval.strong())
            inputs.append(tangent)
            args.append(JVPTracer(interpreter, p, tangent))
        else:
            inputs.append(None)
            args.append(p)
    token = current.set(interpreter)
    try:
        results = fun(*args)
    finally:
        current.reset(token)
        interpreter.closed = tape.closed = True
    outs: list[Any] = []
    tangents: list[Any] = []
    for r in results:
        if type(r) is JVPTracer and r.interpreter is interpreter:
            outs.append(r.primal)
            tangents.append(r.tangent)
        else:
            outs.append(r)
            tangents.append(Zero)
    return Linearized(outs, tangents, tape, inputs)
