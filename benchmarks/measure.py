"""Timing in turns: what is compared is sampled round by round, and medians are quoted.

Machines are shared and drift; a ratio of neighbours in time holds where a figure does not.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

Timings = dict[str, list[float]]


def calls_for(function: Callable[[], Any], seconds: float) -> int:
    """How many calls take about this long."""
    n = 1
    while True:
        start = time.perf_counter()
        for _ in range(n):
            function()
        elapsed = time.perf_counter() - start
        if elapsed > seconds / 4 or n > 1_000_000:
            return max(1, int(n * seconds / max(elapsed, 1e-9)))
        n *= 4


def in_turns(
    functions: Mapping[str, Callable[[], Any]],
    rounds: int = 9,
    seconds: float = 0.02,
    clock: Callable[[], float] = time.perf_counter,
) -> Timings:
    """Seconds per call of each function, one figure a round, in rotating order.

    What runs in this thread alone is best measured by `time.thread_time`, which counts the
    work of this thread and not that of its neighbours on a shared machine.
    """
    counts = {name: calls_for(function, seconds) for name, function in functions.items()}
    found: Timings = {name: [] for name in functions}
    names = list(functions)
    for i in range(rounds):
        for name in names[i % len(names) :] + names[: i % len(names)]:
            function, n = functions[name], counts[name]
            gc.collect()
            start = clock()
            for _ in range(n):
                function()
            found[name].append((clock() - start) / n)
    return found


def median(timings: Timings, name: str) -> float:
    """The median seconds per call."""
    return statistics.median(timings[name])


def ratio(timings: Timings, name: str, base: str) -> float:
    """The median over rounds of one function's time over another's."""
    pairs = zip(timings[name], timings[base], strict=True)
    return statistics.median(a / b for a, b in pairs)
