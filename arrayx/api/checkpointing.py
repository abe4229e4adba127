"""`checkpoint`: functions whose backward pass computes again instead of keeping values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from arrayx import errors
from arrayx.api.arguments import (
    argument_paths,
    check_callable,
    flatten_result,
    leaf_aval,
    name_of,
)
from arrayx.api.compilation import Jitted, Options, check_static, integers, strings
from arrayx.api.operands import as_array, home_of, is_differentiable, working_at
from arrayx.config import config
from arrayx.control.checkpoint import checkpoint as checkpoint_primitive
from arrayx.control.checkpoint import checkpoint_name as checkpoint_name_primitive
from arrayx.control.policies import (
    Policy,
    SaveAll,
    SaveContractions,
    SaveEither,
    SaveNames,
    SaveUnlessNamed,
)
from arrayx.core.array import Array
from arrayx.core.interpreter import BASE, Tracer, current
from arrayx.transforms.linearize import linearize_flat
from arrayx.transforms.stage import stage
from arrayx.treedef import flatten, unflatten

__all__ = ["checkpoint", "checkpoint_name", "checkpoint_policies", "print_saved_residuals"]


class Checkpointed:
    """A function whose backward pass computes again what it needs."""

    def __init__(
        self, fun: Callable[..., Any], options: Options, policy: Policy | None, prevent_cse: bool
    ) -> None:
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.jitted = Jitted(fun, options, watched=False, word="ax.checkpoint")
        self.policy = policy
        self.prevent_cse = prevent_cse

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if current.get() is BASE or config.disable_jit:
            return self.fun(*args, **kwargs)
        _, _, traced, leaves = self.jitted.prepare(args, kwargs)
        device = home_of(leaves)
        with working_at(device):
            results = checkpoint_primitive(
                *traced.captured,
                *[as_array(x, device) for x in leaves],
                graph=traced.graph,
                name=self.jitted.name,
                policy=self.policy,
                prevent_cse=self.prevent_cse,
                again=False,
            )
        return traced.rebuild(list(results))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<ax.checkpoint of {self.jitted.name}>"


def checkpoint(
    fun: Callable[..., Any] | None = None,
    *,
    prevent_cse: bool | Sequence[bool] = True,
    policy: Policy | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (),
    concrete: bool = False,
) -> Any:
    """A function that computes the same, but saves less for its backward pass.

    Where it is differentiated in reverse mode, its arguments alone are kept, and the backward
    pass runs the function again: less memory, more work.  `policy` names results that are
    worth keeping.  (The trade is that of Griewank, 1992, with one level for each use.)

    Args:
        fun: a function of trees of arrays; left out, `checkpoint` returns a decorator.
        prevent_cse: keeps compilers from merging the second run with the first, which would
            keep the values after all.  False is right inside `ax.lax.scan`, whose backward
            pass is a loop of its own.
        policy: a function `(primitive, *avals, **params) -> bool` that says which results may
            be kept, mostly one of `ax.checkpoint_policies`; None keeps none.
        static_argnums, static_argnames: arguments that stay Python values, as in `jit`.
        concrete: must be False: it is there for programs written for older versions of JAX.

    Effects, such as those of `ax.debug.print`, do not happen again in the backward pass.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.grad(ax.checkpoint(lambda x: anp.sin(anp.sin(x))))(0.0)
    Array(1., dtype=float32)
    """
    if concrete:
        raise errors.ArgumentError(
            "ax.checkpoint: concrete=True was dropped from JAX too. Name the arguments whose "
            "values Python needs in static_argnums."
        )
    if fun is None:
        return functools.partial(
            checkpoint,
            prevent_cse=prevent_cse,
            policy=policy,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
        )
    check_callable(fun, "ax.checkpoint")
    if policy is not None and not callable(policy):
        raise errors.ArgumentError(
            f"ax.checkpoint: policy has to be a function or one of ax.checkpoint_policies, got "
            f"{policy!r} of type {type(policy).__name__}"
        )
    names = tuple(strings(static_argnames))
    check_static(fun, static_argnums, names)
    options = Options(integers("static_argnums", static_argnums), names, (), (), None, False)
    prevents = prevent_cse if isinstance(prevent_cse, bool) else any(prevent_cse)
    return Checkpointed(fun, options, policy, prevents)


def checkpoint_name(x: Any, name: str) -> Any:
    """The tree of arrays `x`, by a name that policies of `checkpoint` know it by.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> def f(x):
    ...     y = ax.ad_checkpoint.checkpoint_name(anp.sin(x), "sine")
    ...     return anp.sin(y)
    >>> policy = ax.checkpoint_policies.save_only_these_names("sine")
    >>> ax.grad(ax.checkpoint(f, policy=policy))(0.0)
    Array(1., dtype=float32)
    """
    if not isinstance(name, str):
        raise errors.ArgumentError(
            f"checkpoint_name: name has to be a string, got {name!r} of type {type(name).__name__}"
        )
    leaves, tree = flatten(x)
    named = []
    for leaf in leaves:
        array = as_array(leaf)
        named.append(leaf if array is None else checkpoint_name_primitive(array, name=name))
    return unflatten(tree, named)


def print_saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Prints the type and origin of every array that the backward pass of `f` would keep.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.ad_checkpoint.print_saved_residuals(lambda x: anp.sin(anp.exp(x)), 1.0)  # doctest: +SKIP
    float32[] made at example.py:1 (<lambda>), from the argument x
    """
    check_callable(f, "ax.ad_checkpoint.print_saved_residuals")
    leaves, tree = flatten((args, kwargs))
    paths = argument_paths(f, args, kwargs)
    avals = [
        leaf_aval(x, functools.partial("argument {} of {}".format, path, name_of(f)))
        for x, path in zip(leaves, paths, strict=True)
    ]
    kept: dict[int, Any] = {}

    def linearized(*given: Any) -> list[Any]:
        def flat(*leaves: Any) -> list[Any]:
            positional, keywords = unflatten(tree, list(leaves))
            return flatten_result(f(*positional, **keywords), name_of(f))[0]

        tape = linearize_flat(flat, given, [is_differentiable(a) for a in avals]).tape
        for _, operands, _, _ in tape.entries:
            for x in operands:
                if isinstance(x, Array) and getattr(x, "interpreter", None) is not tape:
                    kept[id(x)] = x
        for x in kept.values():
            origin = x.origin() if isinstance(x, Tracer) else "a constant"
            print(f"{x.aval.strong()} {origin}".rstrip())
        return []

    stage(linearized, avals, word=f"ax.grad of {name_of(f)}", paths=paths)


class checkpoint_policies:
    """What `checkpoint` may keep: policies, and functions that make them.

    >>> checkpoint_policies.dots_saveable
    SaveContractions(batched=True)
    """

    everything_saveable: Policy = SaveAll(True)
    nothing_saveable: Policy = SaveAll(False)
    dots_saveable: Policy = SaveContractions(True)
    checkpoint_dots: Policy = dots_saveable
    dots_with_no_batch_dims_saveable: Policy = SaveContractions(False)
    checkpoint_dots_with_no_batch_dims: Policy = dots_with_no_batch_dims_saveable

    @staticmethod
    def save_only_these_names(*names_which_can_be_saved: str) -> Policy:
        """Keeps the values that `checkpoint_name` gave these names, and nothing else."""
        return SaveNames(names_which_can_be_saved, True)

    @staticmethod
    def save_any_names_but_these(*names_not_to_save: str) -> Policy:
        """Keeps the values with other names than these, and nothing without a name."""
        return SaveNames(names_not_to_save, False)

    @staticmethod
    def save_anything_except_these_names(*names_not_to_save: str) -> Policy:
        """Keeps everything but the values that `checkpoint_name` gave these names."""
        return SaveUnlessNamed(names_not_to_save)

    @staticmethod
    def save_from_both_policies(policy_1: Policy, policy_2: Policy) -> Policy:
        """Keeps what either policy keeps."""
        return SaveEither(policy_1, policy_2)

    @staticmethod
    def save_and_offload_only_these_names(
        *,
        names_which_can_be_saved: Sequence[str],
        names_which_can_be_offloaded: Sequence[str],
        offload_src: str,
        offload_dst: str,
    ) -> Policy:
        """Keeps the values of both kinds of names, all where they are: nothing is moved yet."""
        return SaveNames((*names_which_can_be_saved, *names_which_can_be_offloaded), True)

    @staticmethod
    def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Policy:
        """Keeps matrix products without batch axes, where they are: nothing is moved yet."""
        return SaveContractions(False)
