"""`ax.checked`: a function with its mistakes written into the program as values.

While the function is staged, an interpreter adds to the graph, beside each operation that can go
wrong, a flag that says whether it did, and carries the number of the first flag that is true
through branches and loops to an output of its own.  The program stays one compiled program; what
the number means is known where it was staged.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from arrayx import dtypes, errors, source
from arrayx.api.arguments import check_callable
from arrayx.api.compilation import jit
from arrayx.backend.concrete import ConcreteArray
from arrayx.config import config
from arrayx.control.check import refuse
from arrayx.control.cond import cond
from arrayx.control.layout import runs
from arrayx.control.while_loop import while_loop
from arrayx.core.array import is_scalar
from arrayx.core.aval import Aval
from arrayx.core.graph import Graph
from arrayx.core.interpreter import Interpreter, current, installed
from arrayx.core.primitive import Fault, Primitive
from arrayx.debug.keys import CONSUMERS, KeyUses
from arrayx.debug.keys import refuse as refuse_key
from arrayx.debug.observing import Observer
from arrayx.primitives.arithmetic import eq, ne, select
from arrayx.primitives.axes import broadcast_in_dim
from arrayx.primitives.creation import fill, scalar, zeros
from arrayx.primitives.reduction import reduce_max, reduce_min, reduce_or
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.stage import derive
from arrayx.tree_nodes import register_static

CHECKS = ("index", "nan", "division", "keys", "user")
_CODE = np.dtype(np.int32)
_BOOL = np.dtype(bool)


@dataclass(frozen=True)
class Site:
    """A place in a program that can go wrong: what is said if it does."""

    words: str
    where: source.Source | None
    # For each value of the message its name, and the types of what is kept of it.
    names: tuple[str, ...]
    avals: tuple[tuple[Aval, ...], ...]


class Sites:
    """All places of one staged program; number i has the code i + 1.  Compared by identity."""

    def __init__(self) -> None:
        self.found: list[Site] = []


# Which sites a program has is part of the structure of its result, kept with the program.
register_static(Sites)


def checked(fun: Callable[..., Any], checks: Sequence[str] = CHECKS) -> Callable[..., Any]:
    """`fun`, whose mistakes become errors after it has run: a compiled function.

    - `checks`: which to look for.  "index": traced indices out of bounds, unless a `mode` or
      a fill says that they are meant.  "nan": an operation that makes
      a nan of operands without one.  "division": a divisor that is 0.  "user": `ax.debug.check`.

      "keys": a random key that is used twice, which is noticed when the function is staged.

    The first failing check in the order of the program is reported, with its line and values.
    Branches that are not taken are not looked at, but both sides of `anp.where` are.  Loops stop
    at the first mistake.

    It goes outside of other transformations: `ax.checked(ax.grad(f))`; inside of `jit` or `vmap`
    nobody could raise.

    Raises `CheckError` for a mistake, `ArgumentError` for an unknown check.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> f = ax.checked(lambda x, i: anp.log(x)[i])
    >>> f(anp.ones(3), 2)
    Array(0., dtype=float32)
    >>> f(anp.ones(3), 3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    arrayx.errors.CheckError: index 3 is out of bounds for axis 0 of length 3
      checked at: ...
    """
    check_callable(fun, "ax.checked")
    unknown = [c for c in checks if c not in CHECKS]
    if isinstance(checks, str) or unknown:
        raise errors.ArgumentError(
            f"ax.checked knows the checks {', '.join(CHECKS)}, got {checks!r}"
        )
    wanted = frozenset(checks)

    @functools.wraps(fun)
    def watched(*args: Any, **kwargs: Any) -> Any:
        checker = Checker(current.get(), Sites(), wanted)
        with installed(checker):
            result = fun(*args, **kwargs)
        return result, checker.state(), checker.sites

    compiled = jit(watched)

    @functools.wraps(fun)
    def run(*args: Any, **kwargs: Any) -> Any:
        with config(checks=True):
            result, (code, *kept), sites = compiled(*args, **kwargs)
        if not isinstance(code, ConcreteArray):
            raise errors.ConcretizationError(
                f"ax.checked of {getattr(fun, '__name__', fun)} runs inside another "
                "transformation, where no error can be raised. Put ax.checked outside: "
                "ax.checked(ax.jit(f)), ax.checked(ax.vmap(f))"
            )
        number = int(code.host())
        if number:
            report(sites.found, number - 1, kept)
        return result

    return run


def report(sites: list[Site], number: int, kept: list[Any]) -> None:
    """Raises the error of a site, with the values that were kept for it."""
    site = sites[number]
    given = iter(by_site(sites, range(len(sites)), kept)[number])
    values = {}
    for name, avals in zip(site.names, site.avals, strict=True):
        parts = [np.asarray(next(given).host()) for _ in avals]
        values[name] = shown(parts)
    refuse(site.words, values, site.where)


def by_site(
    sites: Sequence[Site], numbers: Sequence[int], kept: Sequence[Any]
) -> dict[int, tuple[Any, ...]]:
    """What is kept for the sites of these numbers, taken apart."""
    given = iter(kept)
    return {i: tuple(next(given) for avals in sites[i].avals for _ in avals) for i in numbers}


def shown(parts: list[np.ndarray]) -> Any:
    """A value of a message: itself, or its range."""
    if len(parts) == 1:
        return parts[0] if parts[0].ndim else parts[0].item()
    low, high = (p.item() for p in parts)
    return low if low == high else f"{low} to {high}"


class Checker(Observer):
    """Adds flags beside operations, and keeps the number of the first that is true."""

    __slots__ = ("code", "flags", "kept", "kept_alive", "keys", "names", "sites", "wanted")
    word = "ax.checked"

    def __init__(
        self,
        parent: Interpreter,
        sites: Sites,
        wanted: frozenset[str],
        keys: KeyUses | None = None,
        names: dict[int, Any] | None = None,
    ) -> None:
        super().__init__(parent)
        self.keys = KeyUses() if keys is None else keys
        # Keys of a graph around this one, by the identity of what stands for them here.
        self.names = {} if names is None else names
        self.sites = sites
        self.wanted = wanted
        self.code: Any = None  # None: nothing can have failed yet
        # For each site, by its number, what is kept for its message.
        self.kept: dict[int, tuple[Any, ...]] = {}
        # Whether values hold a nan, by identity, which holds while they are kept alive.
        self.flags: dict[int, Any] = {}
        self.kept_alive: list[Any] = []

    def state(self) -> tuple[Any, ...]:
        """The code, and what is kept for all sites, in order."""
        with installed(self.parent):  # type: ignore[arg-type]
            code = fill((), _CODE, 0) if self.code is None else self.code
            numbers = range(len(self.sites.found))
            return code, *(x for n in numbers for x in self.all_of(n, self.kept))

    def see(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        where = source.current()
        if primitive in CONSUMERS and "keys" in self.wanted:
            self.keys.use(self.name_of_key(args[0]), where)
        with installed(self.parent):  # type: ignore[arg-type]
            if primitive.faults is not None:
                for fault in primitive.faults(*args, **params):
                    if fault.kind in self.wanted:
                        self.note(fault, where)
            result = self.parent.apply(primitive, args, params)  # type: ignore[union-attr]
            if "nan" in self.wanted and not primitive.moves:
                self.look_for_nan(primitive, args, result, where)
        return result

    def name_of_key(self, key: Any) -> Any:
        """What a key is known by, here and in the graphs around."""
        self.kept_alive.append(key)
        return self.names.get(id(key), id(key))

    def look_for_nan(
        self, primitive: Primitive, args: tuple[Any, ...], result: Any, where: Any
    ) -> None:
        """Notes an operation that makes a nan of operands without one."""
        results = result if primitive.multiple else (result,)
        made = [self.flag(r) for r in results if can_be_nan(r)]
        if not made:
            return
        failed = functools.reduce(either, made)
        for operand in args:
            if can_be_nan(operand):
                failed = select(self.flag(operand), False, failed)
            elif isinstance(operand, float | complex) and operand != operand:
                return
        self.note(Fault("nan", f"{primitive.name} made nan", failed, {}), where)

    def flag(self, x: Any) -> Any:
        """Whether a value holds a nan, as a bool of rank 0."""
        found = self.flags.get(id(x))
        if found is None:
            self.kept_alive.append(x)
            found = self.flags[id(x)] = anywhere(ne(x, x))
        return found

    def note(self, fault: Fault, where: Any) -> None:
        """Adds a site, and remembers it where it is the first that fails."""
        failed = anywhere(fault.failed)
        kept = [parts_of(v, fault.kind) for v in fault.values.values()]
        avals = tuple(tuple(p.aval for p in parts) for parts in kept)
        number = len(self.sites.found)
        self.sites.found.append(Site(fault.words, where, tuple(fault.values), avals))
        self.kept[number] = tuple(p for parts in kept for p in parts)
        here = select(failed, fill((), _CODE, number + 1), fill((), _CODE, 0))
        self.code = here if self.code is None else select(eq(self.code, 0), here, self.code)

    def merge(self, code: Any, numbers: Sequence[int], kept: Sequence[Any]) -> None:
        """Takes over what a branch or loop found; `kept` belongs to the sites `numbers`."""
        self.kept.update(by_site(self.sites.found, numbers, kept))
        self.code = code if self.code is None else select(eq(self.code, 0), code, self.code)

    def open(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if primitive is cond:
            return self.branches(*args, **params)
        if primitive is while_loop:
            return self.loop(*args, **params)
        return super().open(primitive, args, params)

    # ------------------------------------------------------------- branches and loops

    def inside(
        self, graph: Graph, operands: Sequence[Any], keys: KeyUses
    ) -> tuple[Graph, list[int]]:
        """A graph that also gives its code and what it keeps, and the numbers of its sites.

        `operands` are what it is given, where they are known; `keys` takes what it uses.
        """
        first = len(self.sites.found)

        def run(*args: Any) -> list[Any]:
            names = {
                id(a): self.name_of_key(o)
                for a, o in zip(args, operands, strict=False)
                if dtypes.kind(a.dtype) == "key"
            }
            child = Checker(current.get(), self.sites, self.wanted, keys, names)
            with installed(child):
                outputs = evaluate(graph, args)
            code = fill((), _CODE, 0) if child.code is None else child.code
            kept = [
                x for n in range(first, len(self.sites.found)) for x in self.all_of(n, child.kept)
            ]
            return [*outputs, code, *kept]

        derived = derive(run, graph.in_avals)
        return derived, list(range(first, len(self.sites.found)))

    def all_of(self, number: int, kept: dict[int, tuple[Any, ...]]) -> Sequence[Any]:
        """What is kept for a site; zeros where it is not known."""
        found = kept.get(number)
        if found is not None:
            return found
        return [zeros(a) for avals in self.sites.found[number].avals for a in avals]

    def branches(self, index: Any, *operands: Any, branches: tuple[Graph, ...]) -> Any:
        """A choice whose branches have their own code."""
        n = len(branches[0].outputs)
        before = self.keys.used
        uses = [KeyUses(before) for _ in branches]
        parts = [self.inside(b, operands, u) for b, u in zip(branches, uses, strict=True)]
        for own_uses in uses:
            self.keys.used = {**self.keys.used, **own_uses.used}
        numbers = [i for _, own in parts for i in own]

        def widened(graph: Graph, own: list[int]) -> Graph:
            def run(*args: Any) -> list[Any]:
                results = evaluate(graph, args)
                kept = by_site(self.sites.found, own, results[n + 1 :])
                return [*results[: n + 1], *(x for i in numbers for x in self.all_of(i, kept))]

            return derive(run, graph.in_avals)

        all_alike = tuple(widened(graph, own) for graph, own in parts)
        results = self.under(cond, (index, *operands), {"branches": all_alike})
        with installed(self.parent):  # type: ignore[arg-type]
            self.merge(results[n], numbers, results[n + 1 :])
        return tuple(results[:n])

    def loop(self, *args: Any, cond: Graph, body: Graph, n_cond: int, n_body: int) -> Any:
        """A loop that carries its code, and ends where something fails."""
        tests, constants, carry = runs(args, n_cond, n_body)
        test, test_numbers = self.inside(cond, tests, KeyUses())
        step, step_numbers = self.inside(body, constants, self.keys)
        # Each step uses again what the first one used of the keys that all steps share.
        for x in constants:
            if dtypes.kind(x.dtype) == "key" and self.name_of_key(x) in self.keys.used:
                where = self.keys.used[self.name_of_key(x)]
                refuse_key(where, f"the next step of the loop, {where}")
        numbers = [*test_numbers, *step_numbers]
        avals = [a for i in numbers for avals in self.sites.found[i].avals for a in avals]
        n, m = len(carry), len(avals)

        def goes_on(*operands: Any) -> list[Any]:
            *inputs, code = operands[: n_cond + n + 1]
            return [select(eq(code, 0), evaluate(cond, inputs)[0], False)]

        def next_state(*operands: Any) -> list[Any]:
            before, steps, held, (code,), kept = runs(operands, n_cond, n_body, n, 1)
            _, test_code, *test_kept = evaluate(test, [*before, *held])
            results = evaluate(step, [*steps, *held])
            after, step_code, step_kept = results[:n], results[n], results[n + 1 :]
            found = select(eq(test_code, 0), step_code, test_code)
            failed = select(eq(code, 0), ne(found, 0), False)
            now = [*test_kept, *step_kept]
            kept = [
                select(spread(failed, new.aval.shape), new, old)
                for new, old in zip(now, kept, strict=True)
            ]
            return [*after, select(failed, found, code), *kept]

        state = [Aval((), _CODE), *avals]
        held = [v.aval for v in body.inputs[n_body:]]
        graphs = {
            "cond": derive(goes_on, [*cond.in_avals[:n_cond], *held, *state]),
            "body": derive(
                next_state, [*cond.in_avals[:n_cond], *body.in_avals[:n_body], *held, *state]
            ),
        }
        with installed(self.parent):  # type: ignore[arg-type]
            # After a mistake before the loop it does not begin: it might not end.
            code = fill((), _CODE, 0) if self.code is None else self.code
            start = [code, *map(zeros, avals)]
        operands = (*tests, *tests, *constants, *carry, *start)
        counts = {"n_cond": n_cond, "n_body": n_cond + n_body}
        results = self.under(while_loop, operands, {**graphs, **counts})
        assert len(results) == n + 1 + m
        with installed(self.parent):  # type: ignore[arg-type]
            self.merge(results[n], numbers, results[n + 1 :])
        return tuple(results[:n])


def can_be_nan(x: Any) -> bool:
    """True for arrays of floats and complex numbers."""
    return not is_scalar(x) and hasattr(x, "dtype") and dtypes.is_inexact(x.dtype)


def anywhere(flags: Any) -> Any:
    """Whether any is true, as a bool of rank 0."""
    return reduce_or(flags, axes=tuple(range(flags.ndim))) if flags.ndim else flags


def either(a: Any, b: Any) -> Any:
    """Whether one of two is true."""
    return select(a, True, b)


def spread(flag: Any, shape: tuple[int, ...]) -> Any:
    """A flag for each element of a shape."""
    return broadcast_in_dim(flag, shape=shape, dims=()) if shape else flag


def parts_of(value: Any, kind: str) -> tuple[Any, ...]:
    """What is kept of a value: a user's whole, of indices the least and the greatest."""
    if is_scalar(value):
        value = scalar(value)
    if kind == "user" or not value.ndim:
        return (value,)
    axes = tuple(range(value.ndim))
    return reduce_min(value, axes=axes), reduce_max(value, axes=axes)
