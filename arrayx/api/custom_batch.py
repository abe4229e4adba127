"""`custom_vmap`: a function with a rule of the user's own for batches of its arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayx import errors
from arrayx.api.arguments import check_callable, name_of
from arrayx.api.operands import arrays_of, home_of, paths_of, result_arrays, working_at
from arrayx.control.custom_batch import custom_vmap as custom_vmap_primitive
from arrayx.control.rules import Rule, skips_a_level
from arrayx.core.interpreter import BASE, current
from arrayx.lax.loops import map as lax_map
from arrayx.treedef import TreeDef, broadcast_prefix, flatten, unflatten

__all__ = ["custom_vmap", "sequential_vmap"]


class BatchRule(Rule):
    """The function and batching rule of one call, on flat lists of arrays."""

    def __init__(self, custom: custom_vmap, tree: TreeDef) -> None:
        self.custom = custom
        self.name = custom.name
        self.tree = tree
        self.out_tree: Any = None

    def call(self, args: Sequence[Any]) -> list[Any]:
        result = self.custom.fun(*unflatten(self.tree, list(args)))
        outs, self.out_tree = result_arrays(result, "ax.custom_batching.custom_vmap", self.custom)
        return outs

    def batch(
        self, size: int, batched: Sequence[bool], args: Sequence[Any], hidden: Sequence[Any] = ()
    ) -> tuple[list[Any], list[bool]]:
        custom = self.custom
        assert custom.vmap_rule is not None
        marks = unflatten(self.tree, list(batched))
        pair = custom.vmap_rule(size, list(marks), *unflatten(self.tree, list(args)))
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise errors.ArgumentError(
                f"the vmap rule of {self.name} has to return a pair (result, result_batched), but "
                f"it returned {pair!r}"
            )
        result, flags = pair
        outs, tree = result_arrays(result, "ax.custom_batching.custom_vmap", custom)
        if self.out_tree is None:
            self.out_tree = tree
        elif tree != self.out_tree:
            raise errors.TreeError(
                f"the vmap rule of {self.name} returned a result of structure {tree}, but "
                f"{self.name} itself returns {self.out_tree}"
            )
        try:
            found = broadcast_prefix(flags, unflatten(tree, list(range(len(outs)))))
        except errors.TreeError as error:
            raise errors.TreeError(
                f"the vmap rule of {self.name} has to say for each part of its result whether it "
                f"is batched, by a tree of booleans of the structure {tree} (or the upper part of "
                f"it): {error}"
            ) from None
        for x, flag in zip(outs, found, strict=True):
            if not isinstance(flag, bool | np.bool_):
                raise errors.ArgumentError(
                    f"the vmap rule of {self.name} has to say by booleans what is batched, got "
                    f"{flag!r}"
                )
            if flag and x.shape[:1] != (size,):
                raise errors.ShapeError(
                    f"the vmap rule of {self.name} says that a result of shape {x.shape} is "
                    f"batched, but its first axis is not of length {size}"
                )
        return outs, [bool(flag) for flag in found]


class custom_vmap:
    """A function with a rule of the user's own for `vmap`.

    Use it as a decorator, and give the rule with `def_vmap`.  Where the function is not
    batched, and where it is differentiated, the rule plays no part.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> @ax.custom_batching.custom_vmap
    ... def f(x, y):
    ...     return x + y
    >>> @f.def_vmap
    ... def f_vmap(axis_size, in_batched, x, y):
    ...     return x * y, True
    >>> f(2.0, 3.0), ax.vmap(f, (0, None))(anp.arange(3.0), 10.0)
    (Array(5., dtype=float32, weak_type=True), Array([ 0., 10., 20.], dtype=float32))
    """

    def __init__(self, fun: Callable[..., Any]) -> None:
        check_callable(fun, "ax.custom_batching.custom_vmap")
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.name = name_of(fun)
        self.vmap_rule: Callable[..., Any] | None = None

    def def_vmap(self, vmap_rule: Callable[..., Any]) -> Callable[..., Any]:
        """Gives the rule: `vmap_rule(axis_size, in_batched, *args)`.

        `in_batched` has a boolean for each array of `args`, in the structure of `args`: those
        that are batched have one more axis, in front.  The rule returns
        `(result, result_batched)` of that kind.  Returns the rule: it is a decorator.
        """
        check_callable(vmap_rule, "def_vmap")
        self.vmap_rule = vmap_rule
        return vmap_rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.vmap_rule is None:
            raise errors.ArgumentError(
                f"{self.name} is decorated by ax.custom_batching.custom_vmap but has no rule yet: "
                f"give it one with {self.name}.def_vmap(...) before it is called"
            )
        if kwargs:
            bound = inspect.signature(self.fun).bind(*args, **kwargs)
            bound.apply_defaults()
            if bound.kwargs:
                raise errors.ArgumentError(
                    f"{self.name} takes {', '.join(bound.kwargs)} by keyword only, but the rule of "
                    "custom_vmap takes every argument by position"
                )
            args = bound.args
        leaves, tree = flatten(args)
        device = home_of(leaves)

        def paths() -> list[str]:
            return paths_of(self.fun, range(len(args)), args)

        with working_at(device):
            arrays = arrays_of(leaves, device, self.name, paths)
            rule = BatchRule(self, tree)
            if current.get() is not BASE and skips_a_level(arrays):
                results = custom_vmap_primitive.lifted(tuple(arrays), rule)
            else:
                results = custom_vmap_primitive(*arrays, rule=rule, graph=None, hidden=0)
        return unflatten(rule.out_tree, list(results))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<ax.custom_batching.custom_vmap of {self.name}>"


def sequential_vmap(f: Callable[..., Any]) -> custom_vmap:
    """A function whose batches run one element after the other, by `ax.lax.map`.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.vmap(ax.custom_batching.sequential_vmap(anp.sin))(anp.zeros(3))
    Array([0., 0., 0.], dtype=float32)
    """
    mapped = custom_vmap(f)

    def rule(axis_size: int, in_batched: Any, *args: Any) -> Any:
        leaves, tree = flatten(args)
        flags = flatten(tuple(in_batched))[0]

        def one(moving: Sequence[Any]) -> Any:
            given = iter(moving)
            full = [next(given) if m else x for x, m in zip(leaves, flags, strict=True)]
            return f(*unflatten(tree, full))

        return lax_map(one, [x for x, m in zip(leaves, flags, strict=True) if m]), True

    mapped.def_vmap(rule)
    return mapped
