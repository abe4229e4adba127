"""Errors name the function that the user called, also where another one noticed the mistake."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, TypeVar

from arrayx import errors
from arrayx.api.operands import home_of, working_at

# Sentences about values, which are the same wherever an operation notices them: also on the path
# of a call that was planned before, where nobody is there to add a name.
WHOLE = (errors.LeakedTracerError, errors.MixedBackendsError)
NAMED = (errors.ArrayxError, OverflowError)
F = TypeVar("F", bound=Callable[..., Any])
_PREFIX = re.compile(r"[A-Za-z_][\w.]*: ")


def name_error(error: Exception, function: str) -> None:
    """Makes an error name the function that was called, unless it does already."""
    if isinstance(error, WHOLE):
        return
    text = error.args[0] if len(error.args) == 1 else None
    if isinstance(text, str) and not re.search(rf"\b{re.escape(function)}\b", text):
        found = _PREFIX.match(text)
        error.args = (f"{function}: {text[found.end() if found else 0 :]}",)


def at_home(function: F) -> F:
    """A function that makes what it needs besides where its array arguments lie.

    So `f(x)` works for an array of any backend, whatever the default one is.
    """

    @functools.wraps(function)
    def placed(*args: Any, **kwargs: Any) -> Any:
        with working_at(home_of(_arrays_among(args))):
            return function(*args, **kwargs)

    return placed  # type: ignore[return-value]


def _arrays_among(args: tuple[Any, ...]) -> list[Any]:
    return [x for a in args for x in (a if type(a) in (list, tuple) else (a,))]


def named(function: F) -> F:
    """A function whose errors name it in place of the functions that it is made of, `at_home`.

    >>> @named
    ... def twice(x):
    ...     raise errors.ShapeError("add: x1 of shape (2,) and x2 of shape (3,) do not fit")
    >>> twice(1)
    Traceback (most recent call last):
        ...
    arrayx.errors.ShapeError: twice: x1 of shape (2,) and x2 of shape (3,) do not fit
    """

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            with working_at(home_of(_arrays_among(args))):
                return function(*args, **kwargs)
        except NAMED as error:
            name_error(error, function.__name__)
            raise

    return checked  # type: ignore[return-value]


def refuse_out(out: Any, function: str) -> None:
    """Raises where a result is to be written into an array."""
    if out is not None:
        raise errors.ImmutableArrayError(
            f"{function}: arrays do not change, so there is no out=; use the result"
        )
