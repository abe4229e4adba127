"""`custom_vjp`: a derivative of the user's own, as a rule for cotangents; and its relatives."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from arrayx import errors
from arrayx.api.arguments import check_callable, name_of
from arrayx.api.custom_rules import Custom, FlatRule, SymbolicZero, given_to_rule, rule_value
from arrayx.api.operands import (
    as_array,
    described,
    is_differentiable,
    result_arrays,
)
from arrayx.control.custom_rules import custom_vjp as custom_vjp_primitive
from arrayx.core.array import Array, typeof
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.stage import stage
from arrayx.tree_nodes import keystr
from arrayx.treedef import (
    LEAF,
    TreeDef,
    flatten,
    flatten_up_to,
    flatten_with_path,
    unflatten,
)


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
        verify: compares the rule with differences of values where it is called with values,
            once for each kind of arguments; GradError where they differ.

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
    modes = ("rev",)
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


def custom_gradient(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose result and pullback are given by one function.

    `fun(*args)` returns `(value, pullback)`; `pullback(cotangent)` returns the cotangent of
    the argument, or a tuple of them where there are several.  It may use what `fun` computed.

    >>> import arrayx as ax
    >>> @ax.custom_gradient
    ... def square(x):
    ...     return x * x, lambda ct: 20 * ct * x
    >>> ax.grad(square)(3.0)
    Array(60., dtype=float32)
    """

    def value(*args: Any) -> Any:
        return split_pair(fun, fun(*args))[0]

    functools.update_wrapper(value, fun)
    custom = custom_vjp(value)

    def forward(*args: Any) -> Any:
        result, pullback = split_pair(fun, fun(*args))
        converted, saved = closure_convert(pullback, result)
        return result, (saved, _Static(converted))

    def backward(residuals: Any, ct: Any) -> Any:
        saved, converted = residuals
        found = converted.value(ct, *saved)
        return found if isinstance(found, tuple) else (found,)

    custom.defvjp(forward, backward)
    return custom


def split_pair(fun: Any, result: Any) -> tuple[Any, Any]:
    """The value and the pullback that a function under `custom_gradient` returned."""
    if isinstance(result, tuple) and len(result) == 2 and callable(result[1]):
        return result
    raise errors.ArgumentError(
        f"ax.custom_gradient: {name_of(fun)} has to return (value, pullback), but it returned "
        f"{result!r}"
    )


class _Static:
    """Holds an object that is no array among residuals."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def closure_convert(fun: Callable[..., Any], *example_args: Any) -> tuple[Any, list[Any]]:
    """`fun` as a function that gets the traced values it closes over as arguments.

    Args:
        fun: a function of trees of arrays; it is staged.
        example_args: arguments of the types it is going to have.

    Returns:
        `(converted, values)`: `converted(*args, *values)` is `fun(*args)`.

    >>> import arrayx as ax
    >>> converted, values = ax.closure_convert(lambda x: 2 * x, 1.0)
    >>> converted(3.0, *values), values
    (Array(6., dtype=float32, weak_type=True), [])
    """
    check_callable(fun, "ax.closure_convert")
    leaves, tree = flatten(example_args)
    out_tree: Any = None

    def flat(*given: Any) -> list[Any]:
        nonlocal out_tree
        result = fun(*unflatten(tree, list(given)))
        outs, out_tree = result_arrays(result, "ax.closure_convert", fun)
        return outs

    word = f"ax.closure_convert of {name_of(fun)}"
    graph, captured = stage(flat, [typeof(x) for x in leaves], word=word)

    def converted(*args: Any) -> Any:
        values = args[len(example_args) :]
        given = flatten_up_to(tree, args[: len(example_args)])
        return unflatten(out_tree, evaluate(graph, (*values, *map(as_array, given))))

    return converted, list(captured)
