"""`debug.check`: what a user states of values, looked at eagerly and by `ax.checked`."""

from __future__ import annotations

import string
from typing import Any

from arrayx import errors
from arrayx.config import config
from arrayx.control.check import check as primitive
from arrayx.core.interpreter import BASE, current
from arrayx.numpy.creation import asarray


def check(condition: Any, words: str, **values: Any) -> None:
    """States that `condition` is true, everywhere if it is an array.

    - `condition`: a bool, or an array of bools.
    - `words`: the message, a format string with the names of `values` in braces.
    - `values`: arrays or numbers that the message shows.

    Outside of compiled functions it raises `CheckError` at once.  Inside it does so under
    `ax.checked`, after the run; without that it is left out, and costs nothing.

    Raises `ArgumentError` where the message names a value that is not given.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> def inverse(x):
    ...     ax.debug.check(x != 0, "x is {x}", x=x)
    ...     return 1 / x
    >>> ax.checked(ax.jit(inverse), checks=("user",))(0.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    arrayx.errors.CheckError: x is 0.0
      checked at: ...
    """
    named = {
        field.partition(".")[0].partition("[")[0]
        for _, field, _, _ in string.Formatter().parse(words)
        if field is not None
    }
    missing = sorted(named - values.keys())
    if missing:
        raise errors.ArgumentError(
            f"ax.debug.check: the message {words!r} names {', '.join(missing)}, which is not "
            f"given; given are {', '.join(values) or 'no values'}"
        )
    if current.get() is not BASE and not config.checks:
        return
    operands = [asarray(v) for v in values.values()]
    primitive(asarray(condition), *operands, kind="user", words=words, names=tuple(values))
