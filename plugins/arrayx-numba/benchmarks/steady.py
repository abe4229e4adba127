"""Steady-state times of the shared benchmark's programs on `numba`, `xla` and `numpy`.

    python plugins/arrayx-numba/benchmarks/steady.py --bench PATH [--rounds 7] [names...]

`PATH` is the directory of the benchmark: `programs.py` and `adapters/`.  All backends are prepared
in one process and sampled in turn; a ratio is the median of the ratios of each round.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import arrayx as ax


def seconds(thunk: Callable[[], Any], least: float) -> float:
    """The best of calls that last `least` seconds together."""
    best, spent = float("inf"), 0.0
    while spent < least:
        start = time.perf_counter()
        ax.block_until_ready(thunk())
        took = time.perf_counter() - start
        best, spent = min(best, took), spent + took
    return best


def fingerprint(result: Any) -> np.ndarray:
    """Sums of the leaves, to see that the same was computed."""
    leaves = [np.asarray(x, np.float64) for x in ax.tree.leaves(result)]
    return np.array([[x.sum(), np.abs(x).sum()] for x in leaves])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--least", type=float, default=0.2)
    parser.add_argument("--backends", default="numba,xla,numpy")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    sys.path.insert(0, options.bench)
    import programs  # type: ignore[import-not-found]
    from adapters.jaxlike import JaxLike  # type: ignore[import-not-found]

    backends = options.backends.split(",")
    print(
        f"{'program':20}{'ms:':>6}",
        *(f"{b:>9}" for b in backends),
        "   first call of numba; ratios",
    )
    for name in options.names or programs.STEADY:
        thunks, first, results = {}, {}, {}
        for b in backends:
            try:
                with ax.default_backend(b):
                    thunk = programs.STEADY[name](JaxLike(b, "arrayx", "arrayx.numpy", b))
                    start = time.perf_counter()
                    results[b] = fingerprint(ax.block_until_ready(thunk()))
                    first[b] = time.perf_counter() - start
                    thunks[b] = thunk
            except Exception as error:
                print(f"{name:20} {b}: {type(error).__name__}: {str(error)[:90]}")
        if backends[0] not in thunks:
            continue
        times: dict[str, list[float]] = {b: [] for b in thunks}
        for _ in range(options.rounds):
            for b, thunk in thunks.items():
                with ax.default_backend(b):
                    times[b].append(seconds(thunk, options.least / len(thunks)))
        base = backends[0]
        same = all(
            np.allclose(results[base], r, rtol=2e-3, atol=1e-3 * np.abs(r).max())
            for r in results.values()
        )
        ratios = [
            f"{statistics.median(x / y for x, y in zip(times[base], times[b])):6.2f}x {b}"
            for b in thunks
            if b != base
        ]
        medians = "".join(
            f"{1e3 * statistics.median(times[b]):10.3f}" if b in times else "       n/a"
            for b in backends
        )
        wrong = "" if same else "results differ!"
        print(f"{name:20}{medians}   {first[base]:6.1f} s ", *ratios, wrong, flush=True)


if __name__ == "__main__":
    main()
