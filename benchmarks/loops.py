"""The figures of loops: tracing, a step against NumPy's, and the memory of reverse mode.

    python benchmarks/loops.py

Ratios are of CPU time of this thread, in turns; memory is the most that Python and NumPy have
allocated at once, as `tracemalloc` counts it.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import in_turns, median, ratio

import arrayx as ax
import arrayx.numpy as anp

STEPS = 10_000
SIZES = (1, 1_000, 100_000)


def line(what: str, figure: str, goal: str = "") -> None:
    """One figure of the table."""
    print(f"{what:<62} {figure:>20}   {goal}", flush=True)


def ten_operations(x: Any, numpy: Any) -> Any:
    """A body of ten elementwise operations."""
    y = numpy.sin(x) * 0.5 + 0.25
    z = numpy.exp(-y * y) + x * 0.125
    return numpy.tanh(z - y * 0.5)


def tracing() -> None:
    """The time to stage a scan must not depend on its length."""

    def staged(length: int) -> Callable[[], Any]:
        def loop(x: Any) -> Any:
            body = lambda c, _: (ten_operations(c, anp), None)  # noqa: E731
            return ax.lax.scan(body, x, None, length=length)[0]

        return lambda: ax.make_graph(lambda x: loop(x))(np.float32(1))

    times = in_turns({"10": staged(10), "10,000": staged(STEPS)}, clock=time.thread_time)
    line(
        "staging a scan of 10,000 steps / of 10 steps",
        f"{ratio(times, '10,000', '10'):.2f}",
        "about 1",
    )


def steps() -> None:
    """A step of a compiled scan against the same operations of NumPy in a Python loop."""
    body = lambda c, _: (ten_operations(c, anp), None)  # noqa: E731
    for size in SIZES:
        length = max(STEPS // size, 20)
        x = np.linspace(-1, 1, size, dtype=np.float32)
        loop = ax.jit(lambda x, n=length: ax.lax.scan(body, x, None, length=n)[0], backend="numpy")
        given = ax.device_put(x, "numpy")
        loop(given)

        def plain(x: np.ndarray = x, length: int = length) -> np.ndarray:
            for _ in range(length):
                x = ten_operations(x, np)
            return x

        times = in_turns(
            {"scan": lambda loop=loop, given=given: loop(given), "numpy": plain},
            rounds=5,
            clock=time.thread_time,
        )
        each = f"{median(times, 'scan') / length * 1e6:.1f} µs"
        line(
            f"a step of scan on numpy, {size:,} elements / NumPy's ({each})",
            f"{ratio(times, 'scan', 'numpy'):.2f}",
            "<= 3",
        )


def peak(function: Callable[[], Any]) -> float:
    """MiB that a call allocates at most."""
    function()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    function()
    most = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return most / 2**20


def memory() -> None:
    """Reverse mode of loops: a scan saves each step, a bounded while_loop some."""
    x = np.linspace(-1, 1, 1_000, dtype=np.float32)
    for length in (100, 1_000, STEPS):

        def scanned(x: Any, n: int = length) -> Any:
            body = lambda c, _: (ten_operations(c, anp), None)  # noqa: E731
            return anp.sum(ax.lax.scan(body, x, None, length=n)[0])

        def bounded(x: Any, n: int = length) -> Any:
            test = lambda s: s[0] < n  # noqa: E731
            step = lambda s: (s[0] + 1, ten_operations(s[1], anp))  # noqa: E731
            return anp.sum(ax.lax.while_loop(test, step, (0, x), max_steps=n)[1])

        given = ax.device_put(x, "numpy")
        plain, less = (ax.jit(ax.grad(f), backend="numpy") for f in (scanned, bounded))
        one, two = peak(lambda: plain(given)), peak(lambda: less(given))  # noqa: B023
        line(f"gradient of {length:,} steps of 1,000 float32: scan, MiB", f"{one:.1f}")
        line(f"gradient of {length:,} steps: while_loop(max_steps=), MiB", f"{two:.1f}")


if __name__ == "__main__":
    tracing()
    steps()
    memory()
