"""Rules of users' own as objects, and the same rules over batches and with values from around.

A rule can run a function and its derivative on flat lists of arrays.  Functions and rules may
use traced values from around them.  While the transformation that made such a value is still
running, rules run under it; staging turns such values into operands in front of the others,
the *hidden* ones, and the rule is told what they are (`Rebinding`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from arrayx.core.interpreter import Interpreter, Tracer, current, installed, opened
from arrayx.core.linear import Zero
from arrayx.core.named_axes import named_axis
from arrayx.core.primitive import Primitive
from arrayx.primitives.axes import move_batch_dim, reduce_sum
from arrayx.transforms.jvp import JVPInterpreter, JVPTracer
from arrayx.transforms.vmap import BatchTracer, VmapInterpreter


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

    def batch(
        self, size: int, batched: Sequence[bool], args: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[bool]]:
        """Results for a batch, and which of them have its axis, in front."""
        raise NotImplementedError

    def __call__(self, *args: Any) -> list[Any]:
        return self.call(args)


# ----------------------------------------------------------------- values from around


def skips_a_level(args: Sequence[Any]) -> bool:
    """True if some transformation inside of one that traced an argument traced none of them.

    It would not see an operation on these arguments, whatever the operation closes over.
    """
    met = set()
    for x in args:
        while isinstance(x, Tracer):
            met.add(x.interpreter)
            x = getattr(x, "primal", None) if type(x) is JVPTracer else getattr(x, "value", None)
    here: Interpreter | None = current.get()
    skipped = False
    while here is not None:
        if here in met and skipped:
            return True
        if here not in met and isinstance(here, JVPInterpreter | VmapInterpreter):
            skipped = True
        here = here.parent
    return False


class Rebinding(Interpreter):
    """Puts values in the place of tracers that rules have closed over."""

    __slots__ = ("tracers", "values", "word")

    def __init__(
        self, parent: Interpreter, tracers: Sequence[Tracer], values: Sequence[Any]
    ) -> None:
        super().__init__(parent)
        self.word = parent.word
        self.tracers = tracers  # held, so that their ids stay theirs
        self.values = {id(t): v for t, v in zip(tracers, values, strict=True)}

    def apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        values = self.values
        args = tuple([values.get(id(a), a) for a in args])
        if primitive.callable_params and "rule" in params:
            rule = params["rule"]
            # What the rule gets as hidden operands has been replaced among those.
            known = captured_by(rule)
            rest = [t for t in self.tracers if id(t) not in known]
            if rest:
                within = Within(rule, rest, [values[id(t)] for t in rest])
                params = {**params, "rule": within}
        return self.parent.apply(primitive, args, params)  # type: ignore[union-attr]

    def standing_for(self, x: Any) -> Any:
        return self.values.get(id(x), x)


def captured_by(rule: Any) -> set[int]:
    """The ids of the tracers that hidden operands of a rule stand for."""
    found: set[int] = set()
    while rule is not None:
        if isinstance(rule, Capturing):
            found.update(map(id, rule.tracers))
        rule = getattr(rule, "rule", None)
    return found


class Settling(Interpreter):
    """Replaces what a finished differentiation traced by its value.

    A backward rule runs after the differentiation that it belongs to.
    """

    __slots__ = ("of", "word")

    def __init__(self, parent: Interpreter, of: Interpreter) -> None:
        super().__init__(parent)
        self.word = parent.word
        self.of = of

    def apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if primitive.callable_params and "rule" in params:
            params = {**params, "rule": Settled(params["rule"], self.of)}
        return self.parent.apply(primitive, tuple([self.settled(a) for a in args]), params)  # type: ignore[union-attr]

    def settled(self, x: Any) -> Any:
        """The value behind a tracer of that differentiation; anything else as it is."""
        return x.primal if type(x) is JVPTracer and x.interpreter is self.of else x

    standing_for = settled


class Replacing(Rule):
    """A rule that runs under an interpreter which knows what stands for values closed over."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.name = rule.name

    def around(self) -> Interpreter:
        """The interpreter to run it under."""
        raise NotImplementedError

    def _run(self, fun: Callable[..., Any], *args: Any) -> Any:
        interpreter = self.around()
        with installed(interpreter):
            return fun(*args), interpreter.standing_for

    def call(self, args: Sequence[Any]) -> list[Any]:
        outs, standing = self._run(self.rule.call, args)
        return [standing(o) for o in outs]

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[Any]]:
        (outs, out_tangents), standing = self._run(self.rule.jvp, primals, tangents, hidden)
        return [standing(o) for o in outs], [standing(t) for t in out_tangents]

    def fwd(
        self, primals: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[Any], Callable[..., list[Any]]]:
        (outs, residuals, pullback), standing = self._run(self.rule.fwd, primals, hidden)
        return [standing(o) for o in outs], [standing(r) for r in residuals], pullback

    def batch(
        self, size: int, batched: Sequence[bool], args: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[bool]]:
        (outs, flags), standing = self._run(self.rule.batch, size, batched, args, hidden)
        return [standing(o) for o in outs], flags


class Settled(Replacing):
    """A rule that may close over values traced by a differentiation that has ended."""

    def __init__(self, rule: Rule, of: Interpreter) -> None:
        super().__init__(rule)
        self.of = of

    def around(self) -> Interpreter:
        return Settling(current.get(), self.of)

    def fwd(
        self, primals: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[Any], Callable[..., list[Any]]]:
        outs, residuals, pullback = super().fwd(primals, hidden)
        return outs, residuals, SettledPullback(pullback, self.of)


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


class Within(Replacing):
    """A rule that runs with values in the place of tracers."""

    def __init__(self, rule: Rule, tracers: Sequence[Tracer], values: Sequence[Any]) -> None:
        super().__init__(rule)
        self.tracers = tuple(tracers)
        self.values = tuple(values)

    def around(self) -> Interpreter:
        return Rebinding(current.get(), self.tracers, self.values)

    def fwd(
        self, primals: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[Any], Callable[..., list[Any]]]:
        outs, residuals, pullback = super().fwd(primals, hidden)
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
    """A rule whose first operands, the hidden ones, stand for tracers that it closes over.

    `groups` are the tracers that each of them stands for.
    """

    def __init__(self, rule: Rule, groups: Sequence[Sequence[Tracer]]) -> None:
        self.rule = rule
        self.name = rule.name
        self.groups = tuple(map(tuple, groups))
        self.tracers = tuple(t for group in self.groups for t in group)

    def within(self, hidden: Sequence[Any]) -> Within:
        """The rule with these values of the hidden operands."""
        pairs = zip(self.groups, hidden, strict=True)
        return Within(self.rule, self.tracers, [x for group, x in pairs for _ in group])

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[Any]]:
        return self.within(hidden).jvp(primals, tangents)

    def fwd(
        self, primals: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[Any], Callable[..., list[Any]]]:
        return self.within(hidden).fwd(primals)

    def batch(
        self, size: int, batched: Sequence[bool], args: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[bool]]:
        return self.within(hidden).batch(size, batched, args)


# ----------------------------------------------------------------- batches


class Continued(VmapInterpreter):
    """Goes on where a batching has ended: values that it traced, and rules closed over, count."""

    __slots__ = ("of",)

    def __init__(self, parent: Interpreter, of: VmapInterpreter) -> None:
        super().__init__(parent, of.size, of.axis_name, of.word, of.paths)
        # All that it goes on with: what has ended may have gone on with another itself.
        self.of: tuple[VmapInterpreter, ...] = (of, *(of.of if isinstance(of, Continued) else ()))

    def apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        return super().apply(primitive, tuple([self.adopted(a) for a in args]), params)

    def adopted(self, x: Any) -> Any:
        """A tracer of the batching that has ended as one's own; anything else as it is."""
        mine = type(x) is BatchTracer and any(x.interpreter is o for o in self.of)
        return BatchTracer(self, x.value, x.dim, x.roots) if mine else x

    standing_for = adopted


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
