"""What functions with derivative rules of their own share: `custom_jvp` and `custom_vjp`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from arrayx import dtypes, errors
from arrayx.api.arguments import check_callable, name_of
from arrayx.api.checking_gradients import check_grads
from arrayx.api.operands import (
    arrays_of,
    as_array,
    float0_zeros,
    home_of,
    is_differentiable,
    paths_of,
    result_arrays,
    working_at,
)
from arrayx.control.rules import Rule, skips_a_level
from arrayx.core.array import is_scalar
from arrayx.core.aval import Aval, Shape
from arrayx.core.interpreter import BASE, Tracer, current, installed
from arrayx.core.linear import Zero
from arrayx.primitives.creation import fill, zeros
from arrayx.transforms.jvp import JVPTracer
from arrayx.tree_nodes import keystr
from arrayx.treedef import (
    TreeDef,
    flatten,
    flatten_with_path,
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


def given_to_rule(tangent: Any, aval: Aval, symbolic: bool) -> Any:
    """A tangent as rules of users take it."""
    if tangent is Zero and symbolic:
        return SymbolicZero(aval)
    if not is_differentiable(aval):
        return float0_zeros(aval)
    return zeros(aval.strong()) if tangent is Zero else tangent


class Custom:
    """A function with derivative rules of its own; behaves like the function."""

    word = "ax.custom_jvp"
    rule_word = "defjvp"

    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
        verify: bool = False,
    ) -> None:
        check_callable(fun, self.word)
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.name = name_of(fun)
        numbers = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else nondiff_argnums
        names = (nondiff_argnames,) if isinstance(nondiff_argnames, str) else nondiff_argnames
        self.nondiff = frozenset((*map(int, numbers), *self._positions(names)))
        self.symbolic_zeros = False
        self.verify = verify
        # The kinds of arguments for which the rule has been compared.
        self.verified: set[Any] = set()

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
            if self.verify:
                self.compare(rule, arrays)
            if current.get() is not BASE and skips_a_level(arrays):
                results = self.primitive.lifted(tuple(arrays), rule)
            else:
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
        return bound.args

    # The modes that its rule can be compared in.
    modes: tuple[str, ...] = ("fwd", "rev")

    def compare(self, rule: FlatRule, arrays: Sequence[Any]) -> None:
        """Compares the rule with differences of values, once for each kind of arguments.

        It needs values: under `jit` and `vmap` there are none, and nothing is compared.
        """
        values = [value_behind(x) for x in arrays]
        key = rule.tree, tuple(a.aval for a in arrays), tuple(map(id, rule.static.values()))
        if key in self.verified or any(x is None for x in values):
            return
        self.verified.add(key)

        def flat(*leaves: Any) -> Any:
            return list(self.primitive(*leaves, rule=rule, graph=None, hidden=0))

        try:
            with installed(BASE):
                check_grads(flat, values, order=1, modes=self.modes)
        except AssertionError as error:
            self.verified.discard(key)
            raise errors.GradError(
                f"the {self.word} rule of {self.name}, which has verify=True, is not its "
                f"derivative at these arguments: {str(error).strip()}"
            ) from None

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


def value_behind(x: Any) -> Any:
    """The concrete array that is being differentiated; None where there is no value."""
    while type(x) is JVPTracer:
        x = x.primal
    return None if isinstance(x, Tracer) else x


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


def rule_value(x: Any, aval: Aval) -> Any:
    """A tangent or cotangent from a rule as an array of the type it has to have, or None."""
    if is_scalar(x) and type(x) is not complex and aval.shape == ():
        kind = dtypes.kind(aval.dtype)
        return fill((), aval.dtype, complex(x) if kind == "complex" else float(x))
    array = as_array(x)
    if array is None or array.aval.shape != aval.shape or array.aval.dtype != aval.dtype:
        return None
    return array
