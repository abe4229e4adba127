"""Errors name the function that the user called, also where another one noticed the mistake."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, TypeVar

from arrayx import errors

F = TypeVar("F", bound=Callable[..., Any])
_PREFIX = re.compile(r"[A-Za-z_][\w.]*: ")


def named(function: F) -> F:
    """A function whose errors name it in place of the functions that it is made of.

    >>> @named
    ... def twice(x):
    ...     raise errors.ShapeError("add: x1 of shape (2,) and x2 of shape (3,) do not fit")
    >>> twice(1)
    Traceback (most recent call last):
        ...
    arrayx.errors.ShapeError: twice: x1 of shape (2,) and x2 of shape (3,) do not fit
    """
    name = function.__name__
    mentioned = re.compile(rf"\b{re.escape(name)}\b")

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (errors.ArrayxError, OverflowError) as error:
            text = error.args[0] if len(error.args) == 1 else None
            if isinstance(text, str) and not mentioned.search(text):
                found = _PREFIX.match(text)
                error.args = (f"{name}: {text[found.end() if found else 0 :]}",)
            raise

    return checked  # type: ignore[return-value]


def refuse_out(out: Any, function: str) -> None:
    """Raises where a result is to be written into an array."""
    if out is not None:
        raise errors.ImmutableArrayError(
            f"{function}: arrays do not change, so there is no out=; use the result"
        )
