"""The most used functions, called alone on the numpy backend, beside NumPy's own.

Prints a table of ratios (arrayx over NumPy), worst first: for vectors of 10 elements the cost of
a call, for 10,000 and 1,000,000 that of the work.  `--only` takes names; with `--limit` a ratio
above it at a size of `--at` or more is an error.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import in_turns, ratio

import arrayx.numpy as anp

SIZES = (10, 10_000, 1_000_000)


def operands(n: int) -> dict[str, Any]:
    """The operands of one size: vectors of n elements, matrices of about n."""
    draw = np.random.default_rng(0)
    side = max(3, int(n**0.5))
    x = draw.uniform(0.1, 0.9, n).astype(np.float32)
    return {
        "x": x,
        "y": draw.uniform(0.1, 0.9, n).astype(np.float32),
        "s": np.sort(x),
        "i": draw.integers(0, n, n).astype(np.int32),
        "k": draw.integers(0, 50, n).astype(np.int32),
        "few": draw.integers(0, 50, 20).astype(np.int32),
        "b": draw.uniform(size=n) < 0.5,
        "m": draw.uniform(0.1, 0.9, (side, side)).astype(np.float32),
        "r": draw.integers(0, side, n).astype(np.int32),
        "c": draw.integers(0, side, n).astype(np.int32),
        "n": n,
        "side": side,
    }


# Each is written once, for both modules; `o` are the operands.
ROWS: dict[str, Callable[[Any, Any], Any]] = {
    "where": lambda np, o: np.where(o.b, o.x, o.y),
    "zeros": lambda np, o: np.zeros(o.n, "float32"),
    "asarray": lambda np, o: np.asarray(o.x),
    "log": lambda np, o: np.log(o.x),
    "sum": lambda np, o: np.sum(o.x),
    "sum axis": lambda np, o: np.sum(o.m, axis=0),
    "sqrt": lambda np, o: np.sqrt(o.x),
    "broadcast_to": lambda np, o: np.broadcast_to(o.x, (3, o.n)),
    "arange": lambda np, o: np.arange(o.n),
    "exp": lambda np, o: np.exp(o.x),
    "maximum": lambda np, o: np.maximum(o.x, o.y),
    "concatenate": lambda np, o: np.concatenate([o.x, o.y]),
    "dot": lambda np, o: np.dot(o.x, o.y),
    "reshape": lambda np, o: np.reshape(o.x, (-1, 2)),
    "zeros_like": lambda np, o: np.zeros_like(o.x),
    "abs": lambda np, o: np.abs(o.x),
    "square": lambda np, o: np.square(o.x),
    "clip": lambda np, o: np.clip(o.x, 0.2, 0.7),
    "ones": lambda np, o: np.ones(o.n, "float32"),
    "full": lambda np, o: np.full(o.n, 2.0, "float32"),
    "mean": lambda np, o: np.mean(o.x),
    "mean axis": lambda np, o: np.mean(o.m, axis=1),
    "expand_dims": lambda np, o: np.expand_dims(o.x, 0),
    "matmul": lambda np, o: np.matmul(o.m, o.m),
    "power": lambda np, o: np.power(o.x, o.y),
    "minimum": lambda np, o: np.minimum(o.x, o.y),
    "eye": lambda np, o: np.eye(o.side),
    "ones_like": lambda np, o: np.ones_like(o.x),
    "moveaxis": lambda np, o: np.moveaxis(o.m, 0, 1),
    "stack": lambda np, o: np.stack([o.x, o.y]),
    "einsum": lambda np, o: np.einsum("i,i->", o.x, o.y),
    "max": lambda np, o: np.max(o.x),
    "diag": lambda np, o: np.diag(o.m),
    "logical_and": lambda np, o: np.logical_and(o.b, o.b),
    "cross": lambda np, o: np.cross(o.m[:3], o.m[:3], axis=0),
    "isnan": lambda np, o: np.isnan(o.x),
    "norm": lambda np, o: np.linalg.norm(o.x),
    "isfinite": lambda np, o: np.isfinite(o.x),
    "outer": lambda np, o: np.outer(o.m[0], o.m[1]),
    "all": lambda np, o: np.all(o.b),
    "log1p": lambda np, o: np.log1p(o.x),
    "repeat": lambda np, o: np.repeat(o.x, 3),
    "squeeze": lambda np, o: np.squeeze(o.x),
    "sign": lambda np, o: np.sign(o.x),
    "swapaxes": lambda np, o: np.swapaxes(o.m, 0, 1),
    "cos": lambda np, o: np.cos(o.x),
    "any": lambda np, o: np.any(o.b),
    "multiply": lambda np, o: np.multiply(o.x, o.y),
    "diagonal": lambda np, o: np.diagonal(o.m),
    "cumsum": lambda np, o: np.cumsum(o.x),
    "transpose": lambda np, o: np.transpose(o.m),
    "pad": lambda np, o: np.pad(o.x, 2),
    "tensordot": lambda np, o: np.tensordot(o.m, o.m, axes=1),
    "take": lambda np, o: np.take(o.x, o.i),
    "argmax": lambda np, o: np.argmax(o.x),
    "split": lambda np, o: np.split(o.x, 2),
    "tanh": lambda np, o: np.tanh(o.x),
    "argsort": lambda np, o: np.argsort(o.x),
    "floor": lambda np, o: np.floor(o.x),
    "tile": lambda np, o: np.tile(o.x, 3),
    "roll": lambda np, o: np.roll(o.x, 3),
    "append": lambda np, o: np.append(o.x, o.y),
    "astype": lambda np, o: o.x.astype("int32"),
    "count_nonzero": lambda np, o: np.count_nonzero(o.b),
    "logaddexp": lambda np, o: np.logaddexp(o.x, o.y),
    "linspace": lambda np, o: np.linspace(0.0, 1.0, o.n),
    "std": lambda np, o: np.std(o.x),
    "var": lambda np, o: np.var(o.x),
    "var axis": lambda np, o: np.var(o.m, axis=1),
    "average": lambda np, o: np.average(o.x),
    "take_along_axis": lambda np, o: np.take_along_axis(o.x, o.i, 0),
    "diff": lambda np, o: np.diff(o.x),
    "median": lambda np, o: np.median(o.x),
    "round": lambda np, o: np.round(o.x),
    "sort": lambda np, o: np.sort(o.x),
    "atleast_1d": lambda np, o: np.atleast_1d(o.x),
    "mod": lambda np, o: np.mod(o.x, o.y),
    "tril": lambda np, o: np.tril(o.m),
    "arctan2": lambda np, o: np.arctan2(o.x, o.y),
    "searchsorted": lambda np, o: np.searchsorted(o.s, o.y),
    "isin": lambda np, o: np.isin(o.k, o.few),
    "nonzero": lambda np, o: np.nonzero(o.b),
    "unique": lambda np, o: np.unique(o.k),
    "argwhere": lambda np, o: np.argwhere(o.b),
    "flip": lambda np, o: np.flip(o.x),
    "meshgrid": lambda np, o: np.meshgrid(o.m[0], o.m[0]),
    "histogram": lambda np, o: np.histogram(o.x, 10),
    "bincount": lambda np, o: np.bincount(o.k),
    "interp": lambda np, o: np.interp(o.y, o.s, o.x),
    "digitize": lambda np, o: np.digitize(o.x, o.s[:5]),
    "percentile": lambda np, o: np.percentile(o.x, 30),
    "prod": lambda np, o: np.prod(o.x),
    "nan_to_num": lambda np, o: np.nan_to_num(o.x),
    "isclose": lambda np, o: np.isclose(o.x, o.y),
    "allclose": lambda np, o: np.allclose(o.x, o.x),
    "array_equal": lambda np, o: np.array_equal(o.x, o.x),
    "kron": lambda np, o: np.kron(o.m[:2, :2], o.m),
    "x[3]": lambda np, o: o.x[3],
    "x[1:-1]": lambda np, o: o.x[1:-1],
    "x[i]": lambda np, o: o.x[o.i],
    "x[mask]": lambda np, o: o.x[o.b],
    "m[i, j]": lambda np, o: o.m[o.r, o.c],
    "m[:, 1]": lambda np, o: o.m[:, 1],
    "x + y": lambda np, o: o.x + o.y,
    "2 * x": lambda np, o: 2.0 * o.x,
    "x ** 2": lambda np, o: o.x**2,
    "-x": lambda np, o: -o.x,
    "x < y": lambda np, o: o.x < o.y,
}
# Rows whose work grows faster than the number of elements, or whose results are large.
SMALLER = {"matmul", "tensordot"}


class Operands:
    """The operands as attributes: NumPy's arrays, or arrayx's."""

    def __init__(self, given: dict[str, Any], convert: Callable[[Any], Any]) -> None:
        self.__dict__.update(
            {k: convert(v) if isinstance(v, np.ndarray) else v for k, v in given.items()}
        )


def measured(row: str, n: int, rounds: int, seconds: float) -> float:
    """How many times NumPy's time an eager call takes."""
    function = ROWS[row]
    given = operands(n)
    theirs, ours = Operands(given, np.copy), Operands(given, anp.asarray)
    both = {
        "numpy": lambda: function(np, theirs),
        "arrayx": lambda: function(anp, ours),
    }
    for _ in range(3):  # kernels are made, and programs compiled, by the first calls
        for call in both.values():
            call()
    timings = in_turns(
        both,
        rounds,
        seconds,
        time.thread_time if n < 100_000 else time.perf_counter,
    )
    return ratio(timings, "arrayx", "numpy")


def main() -> int:
    """Measures and prints; 1 if a ratio is above the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(ROWS))
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.004)
    parser.add_argument("--limit", type=float, default=float("inf"))
    parser.add_argument("--at", type=int, default=10_000)
    options = parser.parse_args()
    found: dict[str, list[float]] = {}
    for row in options.only:
        found[row] = [
            float("nan")
            if n > 100_000 and row in SMALLER
            else measured(row, n, options.rounds, options.seconds)
            for n in options.sizes
        ]
    print(f"{'':18}" + "".join(f"{n:>10,}" for n in options.sizes))
    for row in sorted(found, key=lambda row: -np.nanmax(found[row])):
        print(f"{row:18}" + "".join(f"{ratio:10.2f}" for ratio in found[row]))
    worst = max(
        (r for row in found.values() for n, r in zip(options.sizes, row) if n >= options.at),
        default=0.0,
    )
    print(f"worst at {options.at:,} and more: {worst:.1f} times NumPy")
    return 1 if worst > options.limit else 0


if __name__ == "__main__":
    sys.exit(main())
