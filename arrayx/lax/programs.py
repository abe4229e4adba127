"""What says something to whoever compiles a program, and changes no value."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx import errors, tree
from arrayx.api.placement import behind
from arrayx.backend.dispatch import choose_device
from arrayx.core.array import Array
from arrayx.numpy.promotion import as_array
from arrayx.primitives import barrier


def composite(decomposition: Callable[..., Any], name: str, version: int = 0) -> Callable[..., Any]:
    """A function that is known to compilers by `name`, and means what `decomposition` does.

    The backends here know no names: they run what it is made of.

    >>> double = composite(lambda x: x + x, "my.double")
    >>> double(2.0)
    4.0
    """
    if not isinstance(name, str) or not name:
        raise errors.ArgumentError(f"lax.composite: name must be a word, got {name!r}")

    @functools.wraps(decomposition)
    def function(*args: Any, **attributes: Any) -> Any:
        return decomposition(*args, **attributes)

    return function


def platform_dependent(
    *args: Any,
    default: Callable[..., Any] | None = None,
    **per_platform: Callable[..., Any],
) -> Any:
    """The function for the platform that runs the program: `cpu=`, `gpu=`, `cuda=`, `tpu=`, ….

    The platform is that of the arrays among `args`, or of the default device.

    Raises `ArgumentError` where there is no function for it, and no `default`.

    >>> platform_dependent(3.0, cpu=lambda x: x + 1, default=lambda x: x)
    4.0
    """
    device = choose_device([behind(x) for x in tree.leaves(args)])
    names = [device.platform, *(["gpu"] if device.platform in ("cuda", "rocm") else [])]
    for name in names:
        if name in per_platform:
            return per_platform[name](*args)
    if default is None:
        raise errors.ArgumentError(
            f"lax.platform_dependent: there is no function for platform {device.platform!r} and no "
            f"default; there are {sorted(per_platform)}"
        )
    return default(*args)


def dce_sink(val: Any, *, prevent_mlir_dce: bool = False) -> None:
    """Takes arrays, and gives nothing: a use of them that says so.

    >>> import arrayx.numpy as anp
    >>> dce_sink(anp.ones(2))
    """
    for x in tree.leaves(val):
        as_array(x, "lax.dce_sink", "val")


def create_token(_: Any = None) -> Array:
    """A value without elements, to be handed on from step to step.

    >>> create_token().shape
    (0,)
    """
    return as_array(np.zeros(0, bool))


def after_all(*operands: Any) -> Array:
    """A token that stands for all of the given ones.

    >>> after_all(create_token(), create_token()).shape
    (0,)
    """
    if not operands:
        return create_token()
    tokens = [as_array(x, "lax.after_all", "operands") for x in operands]
    return barrier.optimization_barrier(*tokens)[0]  # type: ignore[no-any-return]
