"""Printing values, and calling functions with them, from inside transformed programs."""

from __future__ import annotations

import builtins
import functools
import logging
import string
from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx import errors
from arrayx.api.effects import called_back

__all__ = ["callback", "log", "print"]

_logger = logging.getLogger("arrayx.debug")


def callback(
    callback: Callable[..., None] | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> Any:
    """Calls a Python function with the values of arrays, each time the program comes here.

    The function gets NumPy arrays in place of the arrays in `args` and `kwargs`, and what it
    returns is dropped.  It is called for each element under `vmap`, in the forward pass alone
    under `grad`, and in a branch only where that is taken.  Its errors reach whoever called
    the program.

    Args:
        callback: the function; left out, `callback` returns a decorator.
        ordered, partitioned: accepted for JAX's sake: calls are always in order.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> seen = []
    >>> @ax.jit
    ... def f(x):
    ...     ax.debug.callback(lambda x: seen.append(float(x)), x)
    ...     return 2 * x
    >>> float(f(3.0)), seen
    (6.0, [3.0])
    """
    if callback is None:
        return functools.partial(_decorated, ordered)
    called_back("ax.debug.callback", callback, None, args, kwargs, "debug", ordered, "sequential")
    return None


def _decorated(ordered: bool, fun: Callable[..., Any]) -> Callable[..., None]:
    @functools.wraps(fun)
    def calls(*args: Any, **kwargs: Any) -> None:
        called_back("ax.debug.callback", fun, None, args, kwargs, "debug", ordered, "sequential")

    return calls


def print(
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> None:
    """Prints values, each time the program comes here: `fmt.format(*args, **kwargs)`.

    It prints in the order of the program, once for each element under `vmap`, in the forward
    pass alone under `grad`, and in a branch only where that is taken.

    Args:
        fmt: a format string.  What stands after a colon is applied to every element of an
            array.  It is used at run time: no f-string.
        args, kwargs: trees of arrays, and anything else that can be printed.
        ordered, partitioned: accepted for JAX's sake: lines are always in order.
        skip_format_check: do not try the format before the program runs.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> @ax.jit
    ... def f(x):
    ...     ax.debug.print("x = {}, its sum is {total:.2f}", x, total=anp.sum(x))
    ...     return x + 1
    >>> _ = f(anp.arange(3.0))
    x = [0. 1. 2.], its sum is 3.00
    """
    _written("ax.debug.print", fmt, args, kwargs, ordered, skip_format_check, builtins.print)


def log(
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> None:
    """`print` into the logger "arrayx.debug", at the level INFO.

    >>> import arrayx as ax
    >>> ax.debug.log("{}", 1.0)
    """
    _written("ax.debug.log", fmt, args, kwargs, ordered, skip_format_check, _logger.info)


def _written(
    transform: str,
    fmt: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    ordered: bool,
    skip_format_check: bool,
    write: Callable[[str], Any],
) -> None:
    if not isinstance(fmt, str):
        raise errors.ArgumentError(
            f"{transform} takes a format string first, got {fmt!r} of type {type(fmt).__name__}: "
            f'write {transform}("{{}}", x)'
        )
    if not skip_format_check:
        check_format(transform, fmt, args, kwargs)

    def line(*args: Any, **kwargs: Any) -> None:
        write(_FORMATTER.vformat(fmt, args, kwargs))

    called_back(transform, line, None, args, kwargs, "debug", ordered, "sequential")


def check_format(transform: str, fmt: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raises where a format does not fit its values, which a program would say too late."""
    stand_ins = [_Anything() for _ in args]
    try:
        _CHECKER.vformat(fmt, stand_ins, {k: _Anything() for k in kwargs})
    except (ValueError, IndexError, KeyError, AttributeError) as error:
        given = [f"{len(args)} by position"] + [repr(k) for k in kwargs]
        raise errors.ArgumentError(
            f"{transform}: the format {fmt!r} does not fit the values given ({', '.join(given)}): "
            f"{type(error).__name__}: {error}"
        ) from None


class _Anything:
    """Takes every format, and has every attribute and element."""

    def __format__(self, spec: str) -> str:
        return ""

    def __getattr__(self, name: str) -> _Anything:
        return self

    def __getitem__(self, key: Any) -> _Anything:
        return self


class _Formatter(string.Formatter):
    """Applies a format to every element of an array."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        if isinstance(value, np.ndarray) and value.ndim and format_spec:
            return np.array2string(value, formatter={"all": lambda x: format(x, format_spec)})
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        return super().format_field(value, format_spec)


class _Checker(string.Formatter):
    """Refuses values that the format does not use."""

    def check_unused_args(self, used_args: Any, args: Any, kwargs: Any) -> None:
        unused = [i for i in range(len(args)) if i not in used_args]
        if unused:
            raise ValueError(f"value number {unused[0]} is not used")
        rest = [k for k in kwargs if k not in used_args]
        if rest:
            raise ValueError(f"the value {rest[0]!r} is not used")


_FORMATTER = _Formatter()
_CHECKER = _Checker()
