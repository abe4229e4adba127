"""Users' Python functions in XLA programs: which run a call belongs to, and its errors.

XLA calls them from threads of its own.  Every run has a number, which the program hands to
each function, so that it finds the context of the run's caller and can leave its error there.
"""

from __future__ import annotations

import contextvars
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx.control.callback import call_back
from arrayx.core.aval import Aval

_MOST_RUNS = 1 << 30


class Run:
    """One run of a program: the context of its caller, and the errors of its callbacks."""

    _numbers = itertools.count(1)
    running: dict[int, Run] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.number = next(Run._numbers) % _MOST_RUNS
        self.context = contextvars.copy_context()
        self.errors: list[BaseException] = []

    def __enter__(self) -> Run:
        Run.running[self.number] = self
        return self

    def __exit__(self, *error: Any) -> None:
        del Run.running[self.number]


class Told:
    """A function as XLA calls it: with the number of the run in front."""

    def __init__(
        self, function: Callable[..., Any], avals: tuple[Aval, ...], name: str, ordered: bool
    ) -> None:
        self.function = function
        self.avals = avals
        self.name = name
        self.ordered = ordered

    def __call__(self, number: Any, *arrays: Any) -> tuple[Any, ...]:
        run = Run.running[int(number)]
        # XLA's memory is only lent; a context can be entered only once at a time.
        given = [np.array(x) for x in arrays]
        try:
            results = run.context.copy().run(call_back, self.function, self.avals, self.name, given)
        except BaseException as error:
            run.errors.append(error)
            raise
        return (number, *results) if self.ordered else tuple(results)
