"""Looking for a program that fails, with hypothesis, and for a small one among those that do."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable
from typing import Any

from arrayx.lazy import lazy

hypothesis = lazy("hypothesis")
strategies = lazy("hypothesis.strategies")

# How many programs are tried after the first failure: where each is compiled for a long time
# nobody waits for the very smallest.
_AFTERWARDS = 60


class Failure(AssertionError):
    """What a program of some size fails with."""

    def __init__(self, size: int, words: str) -> None:
        super().__init__(words)
        self.size = size


class _Enough(BaseException):
    """Ends the search for a smaller program; hypothesis lets it through."""


def search(attempt: Callable[[Any], None], name: str, examples: int) -> None:
    """Calls `attempt` with draws until one raises a `Failure`; raises the smallest found.

    Equal names give equal draws.
    """
    failures: list[Failure] = []
    runs = [0]

    def counted(data: Any) -> None:
        runs[0] += bool(failures)
        if runs[0] > _AFTERWARDS:
            raise _Enough
        try:
            attempt(data)
        except Failure as failure:
            failures.append(failure)
            raise

    tested = hypothesis.given(strategies.data())(counted)
    tested = hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        print_blob=False,
    )(tested)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hypothesis.errors.HypothesisWarning)
        try:
            hypothesis.seed(zlib.crc32(name.encode()))(tested)()
        except (_Enough, Failure):
            raise min(failures, key=lambda f: f.size) from None
