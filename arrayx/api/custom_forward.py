"""`custom_jvp`: a derivative of the user's own, as a rule for tangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayx import errors
from arrayx.api.arguments import check_callable
from arrayx.api.custom_rules import Custom, FlatRule, SymbolicZero, given_to_rule, rule_value
from arrayx.api.operands import (
    described,
    is_differentiable,
)
from arrayx.control.custom_rules import custom_jvp as custom_jvp_primitive
from arrayx.core.array import typeof
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.primitives.arithmetic import add
from arrayx.tree_nodes import keystr
from arrayx.treedef import (
    TreeDef,
    flatten,
    flatten_up_to,
    flatten_with_path,
    unflatten,
)


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


class custom_jvp(Custom):
    """A function with a derivative of the user's own, for forward and reverse mode.

    Use it as a decorator and give the rule with `defjvp` (or one for each argument with
    `defjvps`).  Where the function is not differentiated the rule plays no part.

    Args:
        fun: a function of trees of arrays.
        nondiff_argnums, nondiff_argnames: arguments that are not arrays to differentiate
            (options, functions); rules get them first.
        verify: compares the rule with differences of values where it is called with values,
            once for each kind of arguments; GradError where they differ.

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
