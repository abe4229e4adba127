"""`timeit`: how long a function takes; what is paid once is kept apart from what each call pays."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from arrayx.api.arguments import check_callable, name_of
from arrayx.api.compilation import Cache, Jitted, jit
from arrayx.api.placement import block_until_ready, device_put
from arrayx.core.array import Array
from arrayx.treedef import flatten, unflatten


@dataclass(frozen=True)
class Timing:
    """Seconds that a function takes, part by part.

    - `trace`: running the Python function once on tracers; paid for each kind of arguments.
    - `compile`: making a program of the graph; paid once as well.
    - `transfer`: moving those arguments to the device that are NumPy arrays.
    - `run`: a call on arrays that are there, until the results are; the median of `runs`.
    - `spread`: how far the middle half of the calls lies apart.
    """

    name: str
    trace: float
    compile: float
    transfer: float
    run: float
    spread: float
    runs: int

    def __str__(self) -> str:
        parts = (("trace", self.trace), ("compile", self.compile), ("transfer", self.transfer))
        once = ", ".join(f"{word} {seconds(value)}" for word, value in parts)
        return (
            f"{self.name}: run {seconds(self.run)} (median of {self.runs}, middle half within "
            f"{seconds(self.spread)}); {once}"
        )


def seconds(value: float) -> str:
    """A time in the unit that suits it.

    >>> seconds(0.0123), seconds(4.5e-6)
    ('12.3 ms', '4.5 µs')
    """
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def timeit(
    fun: Callable[..., Any], *args: Any, runs: int = 20, budget: float = 1.0, **kwargs: Any
) -> Timing:
    """Times a call of `fun`, jitted, on these arguments.

    Each call is waited for: on backends that work while Python goes on, timing the call alone
    would time nothing.

    - `runs`: how many calls there are at most, after one that is not counted.
    - `budget`: seconds after which no further call is begun.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> timing = ax.timeit(lambda x: anp.sum(x * x), anp.ones(1000))
    >>> timing.run > 0 and timing.trace > 0 and timing.compile > 0
    True
    """
    check_callable(fun, "ax.timeit")
    jitted = fun if isinstance(fun, Jitted) else jit(fun)
    # What was traced before would look as if it cost nothing.
    # Arguments that are given away could be used for one call only.
    options = jitted.options._replace(donate_argnums=(), donate_argnames=())
    fresh = Jitted(jitted.fun, options, watched=False)
    fresh.cache = Cache()
    clock = time.perf_counter
    start = clock()
    traced = fresh.trace(*args, **kwargs)
    traced_at = clock()
    traced.lower().compile()
    compiled_at = clock()
    args, kwargs, transfer = _on_device((args, kwargs), traced.device)
    block_until_ready(fresh(*args, **kwargs))
    times: list[float] = []
    began = clock()
    while not times or (len(times) < runs and clock() - began < budget):
        before = clock()
        block_until_ready(fresh(*args, **kwargs))
        times.append(clock() - before)
    quarters = statistics.quantiles(times, n=4) if len(times) > 1 else [0.0, 0.0, 0.0]
    return Timing(
        name_of(fun),
        traced_at - start,
        compiled_at - traced_at,
        transfer,
        statistics.median(times),
        quarters[2] - quarters[0],
        len(times),
    )


def _on_device(arguments: Any, device: Any) -> tuple[Any, Any, float]:
    """The arguments with NumPy arrays moved to the device, and how long that took."""
    leaves, tree = flatten(arguments)
    start = time.perf_counter()
    moved = [device_put(x, device) if isinstance(x, np.ndarray) else x for x in leaves]
    block_until_ready([x for x in moved if isinstance(x, Array)])
    transfer = time.perf_counter() - start
    args, kwargs = unflatten(tree, moved)
    return args, kwargs, transfer
