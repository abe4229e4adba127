"""Derivative rules of the user's own: `custom_jvp` and `custom_vjp`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from arrayx import dtypes, errors
from arrayx.api.arguments import check_callable, name_of
from arrayx.api.operands import (
    arrays_of,
    as_array,
    described,
    float0_zeros,
    home_of,
    is_differentiable,
    paths_of,
    result_arrays,
    working_at,
)
from arrayx.control.custom_rules import Rule
from arrayx.control.custom_rules import custom_jvp as custom_jvp_primitive
from arrayx.control.custom_rules import custom_vjp as custom_vjp_primitive
from arrayx.core.array import Array, is_scalar, typeof
from arrayx.core.aval import Aval, Shape
from arrayx.core.interpreter import BASE, Tracer, current
from arrayx.core.linear import Zero
from arrayx.primitives.arithmetic import add
from arrayx.primitives.creation import fill, zeros
from arrayx.transforms.jvp import JVPTracer
from arrayx.treedef import (
    LEAF,
    TreeDef,
    flatten,
    flatten_up_to,
    flatten_with_path,
    keystr,
    unflatten,
)


class SymbolicZero:
    """A tangent or cotangent known to be zero, given to rules with `symbolic_zeros=True`."""

    __slots__ = ("aval",)

    def __init__(self, aval: Aval) -> None:
        self.aval = aval

    @property
    def shape(self) -> Shape:
        """The shape of the value it belongs to."""
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        """The dtype of the value it belongs to."""
        return self.aval.dtype

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval})"


class CustomPrimal:
    """An argument given to the forward rule of a `custom_vjp` with `symbolic_zeros=True`.

    `value` is the argument; `perturbed` says whether it is differentiated.
    """

    __slots__ = ("perturbed", "value")

    def __init__(self, value: Any, perturbed: bool) -> None:
        self.value = value
        self.perturbed = perturbed

    def __repr__(self) -> str:
        return f"CustomPrimal({self.value!r}, perturbed={self.perturbed})"


def given_to_rule(tangent: Any, aval: Aval, symbolic: bool) -> Any:
    """A tangent as rules of users take it."""
    if tangent is Zero and symbolic:
        return SymbolicZero(aval)
    if not is_differentiable(aval):
        return float0_zeros(aval)
    return zeros(aval.strong()) if tangent is Zero else tangent


# ----------------------------------------------------------------- what both share


class Custom:
    """A function with derivative rules of its own; behaves like the function."""

    word = "ax.custom_jvp"
    rule_word = "defjvp"

    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        check_callable(fun, self.word)
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.name = name_of(fun)
        numbers = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else nondiff_argnums
        names = (nondiff_argnames,) if isinstance(nondiff_argnames, str) else nondiff_argnames
        self.nondiff = frozenset((*map(int, numbers), *self._positions(names)))
        self.symbolic_zeros = False

    def _positions(self, names: Sequence[str]) -> list[int]:
        if not names:
            return []
        known = list(inspect.signature(self.fun).parameters)
        missing = [n for n in names if n not in known]
        if missing:
            raise errors.ArgumentError(
                f"{self.word}: {self.name} has no argument {missing[0]!r}, which nondiff_argnames "
                f"names; it has {', '.join(known)}"
            )
        return [known.index(n) for n in names]

    def rule_given(self) -> bool:
        """True once the rules are there."""
        raise NotImplementedError

    def make_rule(
        self, static: dict[int, Any], count: int, tree: TreeDef, avals: list[Aval]
    ) -> FlatRule:
        """The flat rule of one call."""
        raise NotImplementedError

    primitive: Any

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.rule_given():
            raise errors.ArgumentError(
                f"{self.name} is decorated by {self.word} but has no rule yet: give it one with "
                f"{self.name}.{self.rule_word}(...) before it is called"
            )
        args = self.resolved(args, kwargs)
        static: dict[int, Any] = {}
        if self.nondiff:
            n = len(args)
            places = {i + n if i < 0 else i for i in self.nondiff}
            static = {i: args[i] for i in sorted(places) if i < n}
            self.check_static(static, args)
        moving = tuple(a for i, a in enumerate(args) if i not in static)
        leaves, tree = flatten(moving)
        device = home_of(leaves)

        def paths() -> list[str]:
            places = [i for i in range(len(args)) if i not in static]
            return paths_of(self.fun, places, args)

        with working_at(device):
            try:
                arrays = arrays_of(leaves, device, self.name, paths)
            except errors.ArgumentError as error:
                text = str(error).split(" Close over it")[0]
                raise errors.ArgumentError(
                    f"{text} Options and functions are named in nondiff_argnums of {self.word}."
                ) from None
            rule = self.make_rule(static, len(args), tree, [a.aval for a in arrays])
            results = self.primitive(*arrays, rule=rule, graph=None, hidden=0)
            return unflatten(rule.out_tree, list(results))

    def resolved(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """All arguments by position, defaults filled in: rules take them so."""
        try:
            signature = self.__dict__.get("signature")
            if signature is None:
                signature = self.__dict__["signature"] = inspect.signature(self.fun)
        except (TypeError, ValueError):
            if kwargs:
                raise errors.ArgumentError(
                    f"{self.name} has no signature that Python can read: pass its arguments by "
                    "position"
                ) from None
            return args
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            names = ", ".join(k for k in bound.kwargs)
            raise errors.ArgumentError(
                f"{self.name} takes {names} by keyword only, but the rules of {self.word} take "
                "every argument by position: change its signature, or wrap it in a function of "
                "positional arguments"
            )
        return bound.args  # type: ignore[no-any-return]

    def check_static(self, static: dict[int, Any], args: tuple[Any, ...]) -> None:
        """Raises for a value that is being differentiated in a place that is not."""
        if current.get() is BASE:
            return
        for i, value in static.items():
            for path, leaf in flatten_with_path(value)[0]:
                if isinstance(leaf, Tracer) and is_differentiated(leaf):
                    raise errors.GradError(
                        f"{self.name}: args[{i}]{keystr(path)} is being differentiated, but "
                        f"nondiff_argnums of its {self.word} says that argument {i} is not. Take "
                        f"{i} out of nondiff_argnums and give the rule a tangent or cotangent for "
                        "it, or pass ax.lax.stop_gradient of the array."
                    )

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<{self.word} of {self.name}>"


def is_differentiated(x: Any) -> bool:
    """True for a tracer that carries a tangent, at any level."""
    while isinstance(x, Tracer):
        if type(x) is JVPTracer:
            if x.tangent is not Zero:
                return True
            x = x.primal
        else:
            x = getattr(x, "value", None)
    return False


class FlatRule(Rule):
    """The function and rule of one call, on flat lists of arrays."""

    def __init__(
        self,
        custom: Any,
        static: dict[int, Any],
        count: int,
        tree: TreeDef,
        avals: list[Aval],
    ) -> None:
        self.custom = custom
        self.name = custom.name
        self.static = static
        self.count = count
        self.tree = tree
        self.avals = avals
        # Noted by whatever of function and rule runs.
        self.out_tree: Any = None

    def arguments(self, leaves: Sequence[Any]) -> list[Any]:
        """All arguments in their places."""
        moving = iter(unflatten(self.tree, list(leaves)))
        return [self.static[i] if i in self.static else next(moving) for i in range(self.count)]

    def outs(self, result: Any, rule: str | None = None) -> list[Any]:
        """The leaves of a result of the function, or of its `rule`."""
        outs, tree = result_arrays(result, self.custom.word, self.custom.fun)
        if self.out_tree is None or rule is None:
            self.out_tree = tree
        elif tree != self.out_tree:
            raise errors.TreeError(
                f"the {rule} of {self.name} returned a value of structure {tree}, but {self.name} "
                f"itself returns {self.out_tree}"
            )
        return outs

    def call(self, args: Sequence[Any]) -> list[Any]:
        return self.outs(self.custom.fun(*self.arguments(args)))


# ----------------------------------------------------------------- custom_jvp


class JVPRule(FlatRule):
    """The rule of a `custom_jvp`."""

    def jvp(
        self, primals: Sequence[Any], tangents: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[Any]]:
        custom = self.custom
        given = [
            given_to_rule(t, typeof(p), custom.symbolic_zeros)
            for p, t in zip(primals, tangents, strict=True)
        ]
        pair = custom.jvp(
            *self.static.values(),
            tuple(unflatten(self.tree, list(primals))),
            tuple(unflatten(self.tree, given)),
        )
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise errors.ArgumentError(
                f"the custom_jvp rule of {self.name} has to return a pair (value, tangent), but it "
                f"returned {pair!r}"
            )
        outs = self.outs(pair[0], "custom_jvp rule")
        try:
            found = flatten_up_to(self.out_tree, pair[1])
        except errors.TreeError as error:
            raise errors.TreeError(
                f"the custom_jvp rule of {self.name} has to return a tangent with the structure of "
                f"its value, {self.out_tree}: {error}"
            ) from None
        return outs, [
            self.checked(t, typeof(o), i) for i, (t, o) in enumerate(zip(found, outs, strict=True))
        ]

    def checked(self, tangent: Any, aval: Aval, i: int) -> Any:
        """A tangent that the rule returned; raises where its type is not the value's."""
        if type(tangent) is SymbolicZero or not is_differentiable(aval):
            return Zero
        made = rule_value(tangent, aval)
        if made is None:
            marks = unflatten(self.out_tree, list(range(self.out_tree.num_leaves)))
            path = keystr(flatten_with_path(marks)[0][i][0])
            raise errors.ArgumentError(
                f"the custom_jvp rule of {self.name} has to return a tangent of the type of its "
                f"value{path}, {aval.strong()}, but it returned {described(tangent)}"
            )
        return made


def rule_value(x: Any, aval: Aval) -> Any:
    """A tangent or cotangent from a rule as an array of the type it has to have, or None."""
    if is_scalar(x) and type(x) is not complex and aval.shape == ():
        kind = dtypes.kind(aval.dtype)
        return fill((), aval.dtype, complex(x) if kind == "complex" else float(x))
    array = as_array(x)
    if array is None or array.aval.shape != aval.shape or array.aval.dtype != aval.dtype:
        return None
    return array


class custom_jvp(Custom):
    """A function with a derivative of the user's own, for forward and reverse mode.

    Use it as a decorator and give the rule with `defjvp` (or one for each argument with
    `defjvps`).  Where the function is not differentiated the rule plays no part.

    Args:
        fun: a function of trees of arrays.
        nondiff_argnums, nondiff_argnames: arguments that are not arrays to differentiate
            (options, functions); rules get them first.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> @ax.custom_jvp
    ... def soft(x):
    ...     return anp.log1p(anp.exp(x))
    >>> @soft.defjvp
    ... def soft_jvp(primals, tangents):
    ...     (x,), (dx,) = primals, tangents
    ...     return soft(x), (1 - 1 / (1 + anp.exp(x))) * dx
    >>> ax.grad(soft)(100.0)
    Array(1., dtype=float32)
    """

    word = "ax.custom_jvp"
    rule_word = "defjvp"
    primitive = custom_jvp_primitive
    jvp: Callable[..., Any] | None = None

    def rule_given(self) -> bool:
        return self.jvp is not None

    def make_rule(
        self, static: dict[int, Any], count: int, tree: TreeDef, avals: list[Aval]
    ) -> FlatRule:
        return JVPRule(self, static, count, tree, avals)

    def defjvp(self, jvp: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Gives the rule: `jvp(*nondiff, primals, tangents)` returns `(value, tangent)`.

        `primals` and `tangents` are tuples of the differentiable arguments; a tangent is
        zeros where an argument is not differentiated, a float0 array for integers, and with
        `symbolic_zeros` a `SymbolicZero` in both cases.  Returns `jvp`: it is a decorator.
        """
        check_callable(jvp, "defjvp")
        self.jvp = jvp
        self.symbolic_zeros = symbolic_zeros
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Gives a rule for each argument: `jvps[i](tangent, value, *primals)` is its part.

        None for an argument that the result does not vary with.
        """
        if self.nondiff:
            raise errors.ArgumentError(
                f"{self.name}: defjvps cannot be used with nondiff_argnums; use defjvp"
            )

        def jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
            if len(jvps) != len(primals):
                raise errors.ArgumentError(
                    f"{self.name} has {len(primals)} arguments, but defjvps got {len(jvps)} rules"
                )
            value = self(*primals)
            outs, tree = flatten(value)
            total: list[Any] = [None] * len(outs)
            for t, rule in zip(tangents, jvps, strict=True):
                if rule is None:
                    continue
                parts = flatten_up_to(tree, rule(t, value, *primals))
                total = [
                    p if held is None else add(held, p)
                    for held, p in zip(total, parts, strict=True)
                ]
            filled = [
                given_to_rule(Zero, typeof(o), False) if t is None else t
                for t, o in zip(total, outs, strict=True)
            ]
            return value, unflatten(tree, filled)

        self.defjvp(jvp)


# ----------------------------------------------------------------- custom_vjp


class VJPRule(FlatRule):
    """The rules of a `custom_vjp`."""

    def fwd(
        self, primals: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[Any], Callable[..., list[Any]]]:
        custom = self.custom
        given = list(primals)
        if custom.symbolic_zeros:
            given = [CustomPrimal(p, is_differentiable(typeof(p))) for p in primals]
        pair = custom.fwd(*self.arguments(given))
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise errors.ArgumentError(
                f"the forward rule (fwd) of {self.name} has to return a pair (value, residuals), "
                f"but it returned {pair!r}"
            )
        outs = self.outs(pair[0], "forward rule (fwd)")
        leaves, tree = flatten(pair[1])
        # What is no array (shapes, options) stays what it is.
        saved = [x if isinstance(x, Array) else None for x in leaves]
        fixed = [None if isinstance(x, Array) else x for x in leaves]
        out_avals = [typeof(o) for o in outs]
        pullback = RulePullback(self, tree, fixed, [x is not None for x in saved], out_avals)
        return outs, [x for x in saved if x is not None], pullback


class RulePullback:
    """The backward rule with what it was saved by the forward rule, except arrays."""

    def __init__(
        self,
        rule: VJPRule,
        tree: TreeDef,
        fixed: Sequence[Any],
        is_array: Sequence[bool],
        out_avals: Sequence[Aval],
    ) -> None:
        self.rule = rule
        self.tree = tree
        self.fixed = fixed
        self.is_array = is_array
        self.out_avals = out_avals

    def __call__(self, residuals: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        rule = self.rule
        custom = rule.custom
        arrays = iter(residuals)
        leaves = [
            next(arrays) if moving else x
            for x, moving in zip(self.fixed, self.is_array, strict=True)
        ]
        given = [
            given_to_rule(ct, a, custom.symbolic_zeros)
            for ct, a in zip(cts, self.out_avals, strict=True)
        ]
        found = custom.bwd(
            *rule.static.values(), unflatten(self.tree, leaves), unflatten(rule.out_tree, given)
        )
        wanted = len(rule.tree.children())
        if isinstance(found, list):
            found = tuple(found)
        if not isinstance(found, tuple) or len(found) != wanted:
            got = f"a tuple of {len(found)}" if isinstance(found, tuple) else described(found)
            hint = " Write `return (ct,)`." if wanted == 1 else ""
            raise errors.ArgumentError(
                f"the backward rule (bwd) of {rule.name} has to return a tuple with a cotangent "
                f"for each of its {wanted} differentiable argument{'' if wanted == 1 else 's'} "
                f"(None for zero), but it returned {got}.{hint}"
            )
        try:
            parts = parts_of(rule.tree, found)
        except errors.TreeError as error:
            raise errors.TreeError(
                f"the backward rule (bwd) of {rule.name} has to return cotangents with the "
                f"structure of its arguments, {rule.tree}: {error}"
            ) from None
        return [self.checked(x, i) for i, x in enumerate(parts)]

    def checked(self, ct: Any, i: int) -> Any:
        """A cotangent that the rule returned; raises where its type is not the argument's."""
        rule = self.rule
        aval = rule.avals[i]
        if ct is None or type(ct) is SymbolicZero or not is_differentiable(aval):
            return Zero
        made = rule_value(ct, aval)
        if made is None:
            marks = unflatten(rule.tree, list(range(rule.tree.num_leaves)))
            path = keystr(flatten_with_path(marks)[0][i][0])
            raise errors.ArgumentError(
                f"the backward rule (bwd) of {rule.name} has to return a cotangent of the type of "
                f"its argument, {aval.strong()}, at {path} of its tuple, but it returned "
                f"{described(ct)}"
            )
        return made


def parts_of(treedef: TreeDef, tree: Any) -> list[Any]:
    """The parts of `tree` at the leaves of a structure; None stands for a whole sub-tree."""
    if tree is None:
        return [None] * treedef.num_leaves
    if treedef is LEAF:
        return [tree]
    whole = unflatten(treedef, [0] * treedef.num_leaves)
    level = flatten(whole, is_leaf=lambda x: x is not whole)[1]
    found: list[Any] = []
    for child, part in zip(treedef.children(), flatten_up_to(level, tree), strict=True):
        found += parts_of(child, part)
    return found


class custom_vjp(Custom):
    """A function with a reverse-mode derivative of the user's own.

    Use it as a decorator and give the two rules with `defvjp`.  Such a function cannot be
    differentiated in forward mode: `custom_jvp` serves both modes.

    Args:
        fun: a function of trees of arrays.
        nondiff_argnums, nondiff_argnames: arguments that are not arrays to differentiate
            (options, functions); the backward rule gets them first.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> @ax.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda _, ct: (anp.clip(ct, -1.0, 1.0),))
    >>> ax.grad(lambda x: 5 * clipped(x))(2.0)
    Array(1., dtype=float32)
    """

    word = "ax.custom_vjp"
    rule_word = "defvjp"
    primitive = custom_vjp_primitive
    fwd: Callable[..., Any] | None = None
    bwd: Callable[..., Any] | None = None

    def rule_given(self) -> bool:
        return self.fwd is not None

    def make_rule(
        self, static: dict[int, Any], count: int, tree: TreeDef, avals: list[Aval]
    ) -> FlatRule:
        return VJPRule(self, static, count, tree, avals)

    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Gives the rules.

        Args:
            fwd: `fwd(*args)`, with the arguments of the function, returns
                `(value, residuals)`; residuals are any tree.
            bwd: `bwd(*nondiff, residuals, cotangent)` returns a tuple with a cotangent for
                each differentiable argument; None means zero.
            symbolic_zeros: `fwd` takes `CustomPrimal` objects for arrays, and `bwd`
                `SymbolicZero` for cotangents known to be zero.
            optimize_remat: accepted for JAX's sake; nothing depends on it.
        """
        check_callable(fwd, "defvjp")
        check_callable(bwd, "defvjp")
        self.fwd = fwd
        self.bwd = bwd
        self.symbolic_zeros = symbolic_zeros
