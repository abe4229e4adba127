"""What the order of transformations costs: the same result, composed in different ways.

    python benchmarks/orders.py

Prints the tables of docs/transformations.md.  Variants of a group are timed in turns, on each
backend; a cell is the ratio to the first line of its group, the median over rounds.  All runs on
one core, and the time is the CPU time of the process: neighbours on a shared machine disturb that
least.
"""

from __future__ import annotations

import os
import platform
import time

# Before NumPy and XLA start their threads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from measure import in_turns, median, ratio

import arrayx as ax
import arrayx.numpy as anp

BACKENDS = ("numpy", "xla")
ROUNDS = 15
Variants = dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]


def random(*shape: int) -> np.ndarray:
    """The same numbers at each call."""
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def layers(x: Any, weights: Any) -> Any:
    """A network of three layers."""
    for w in weights:
        x = anp.tanh(x @ w)
    return x


def loss(weights: Any, x: Any) -> Any:
    """A number made of many."""
    return anp.sum(layers(x, weights) ** 2)


def wave(x: Any) -> Any:
    """Ten elementwise operations."""
    y = anp.sin(x) * 0.5 + 0.25
    return anp.tanh(anp.exp(-y * y) + x * 0.125 - y * 0.5)


def compiled_or_not(examples: int) -> Variants:
    """Where `jit` stands around `grad`."""
    given = ([0.1 * random(64, 64)] * 3, random(examples, 64))
    return {
        "`jit(grad(f))`": (ax.jit(ax.grad(loss)), given),
        "`grad(jit(f))`": (ax.grad(ax.jit(loss)), given),
        "`jit(grad(jit(f)))`": (ax.jit(ax.grad(ax.jit(loss))), given),
        "`grad(f)`": (ax.grad(loss), given),
    }


def elementwise_slopes() -> Variants:
    """A slope for each element, 100,000 of them."""
    given = (random(100_000),)
    summed = lambda x: anp.sum(ax.vmap(wave)(x))  # noqa: E731
    plain = lambda x: anp.sum(wave(x))  # noqa: E731
    return {
        "`jit(vmap(grad(f)))`": (ax.jit(ax.vmap(ax.grad(wave))), given),
        "`jit(grad(sum of vmap(f)))`": (ax.jit(ax.grad(summed)), given),
        "`jit(grad(sum of f))`": (ax.jit(ax.grad(plain)), given),
        "`vmap(jit(grad(f)))`": (ax.vmap(ax.jit(ax.grad(wave))), given),
        "`vmap(grad(jit(f)))`": (ax.vmap(ax.grad(ax.jit(wave))), given),
        "`vmap(grad(f))`": (ax.vmap(ax.grad(wave)), given),
    }


def shared_weights() -> Variants:
    """The gradient of a sum over 128 examples, by weights that all of them share."""
    given = ([0.1 * random(64, 64)] * 3, random(128, 64))
    axes = (None, 0)
    together = lambda w, x: anp.sum(ax.vmap(loss, axes)(w, x))  # noqa: E731
    apart = ax.vmap(ax.grad(loss), axes)
    added = lambda w, x: ax.tree.map(partial(anp.sum, axis=0), apart(w, x))  # noqa: E731
    return {
        "`jit(grad(sum of vmap(f)))`": (ax.jit(ax.grad(together)), given),
        "`jit(sum of vmap(grad(f)))`": (ax.jit(added), given),
    }


def loops() -> Variants:
    """Two hundred steps on 1,000 elements."""
    given = (random(1_000),)

    def scanned(body: Callable[..., Any]) -> Callable[..., Any]:
        step = lambda c, _: (body(c), None)  # noqa: E731
        return lambda x: ax.lax.scan(step, x, None, length=200)[0]

    def looped(body: Callable[..., Any]) -> Callable[..., Any]:
        def run(x: Any) -> Any:
            for _ in range(200):
                x = body(x)
            return x

        return run

    return {
        "`jit(scan(f))`": (ax.jit(scanned(wave)), given),
        "`jit(scan(jit(f)))`": (ax.jit(scanned(ax.jit(wave))), given),
        "`scan(f)`": (scanned(wave), given),
        "a Python loop of `jit(f)`": (looped(ax.jit(wave)), given),
        "a Python loop of `f`": (looped(wave), given),
    }


def jacobians(inputs: int, outputs: int) -> Variants:
    """Both modes, from so many inputs to so many outputs."""
    f = partial(layers, weights=[0.1 * random(inputs, 64), 0.1 * random(64, outputs)])
    given = (random(inputs),)
    return {
        "`jit(jacrev(f))`": (ax.jit(ax.jacrev(f)), given),
        "`jit(jacfwd(f))`": (ax.jit(ax.jacfwd(f)), given),
    }


def hessians() -> Variants:
    """Second derivatives of a number by 64."""
    weights = [0.1 * random(64, 64)] * 3
    f, given = partial(loss, weights), (random(64),)
    return {
        "`jit(jacfwd(jacrev(f)))`, which is `hessian`": (ax.jit(ax.jacfwd(ax.jacrev(f))), given),
        "`jit(jacrev(jacfwd(f)))`": (ax.jit(ax.jacrev(ax.jacfwd(f))), given),
        "`jit(jacrev(jacrev(f)))`": (ax.jit(ax.jacrev(ax.jacrev(f))), given),
        "`jit(jacfwd(jacfwd(f)))`": (ax.jit(ax.jacfwd(ax.jacfwd(f))), given),
    }


def products() -> Variants:
    """A second derivative times a vector, by 4,096 inputs."""
    weights = [0.01 * random(4096, 64), 0.1 * random(64, 64)]
    f, given = partial(loss, weights), (random(4096), random(4096))
    forward = lambda x, v: ax.jvp(ax.grad(f), (x,), (v,))[1]  # noqa: E731
    reverse = lambda x, v: ax.grad(lambda x: anp.vdot(ax.grad(f)(x), v))(x)  # noqa: E731
    swapped = lambda x, v: ax.grad(lambda x: ax.jvp(f, (x,), (v,))[1])(x)  # noqa: E731
    return {
        "`jvp` of `grad`": (ax.jit(forward), given),
        "`grad` of `jvp`": (ax.jit(swapped), given),
        "`grad` of `grad · v`": (ax.jit(reverse), given),
    }


def nested() -> Variants:
    """The distances of 200 points to 300, in 8 dimensions."""
    given = (random(200, 8), random(300, 8))
    distance = lambda a, b: anp.sqrt(anp.sum((a - b) ** 2))  # noqa: E731
    rows = ax.vmap(ax.vmap(distance, (None, 0)), (0, None))
    columns = ax.vmap(ax.vmap(distance, (0, None)), (None, 0), out_axes=1)
    by_hand = lambda a, b: anp.sqrt(anp.sum((a[:, None] - b[None]) ** 2, -1))  # noqa: E731
    return {
        "`jit`, broadcast by hand": (ax.jit(by_hand), given),
        "`jit(vmap(vmap(f)))`, first argument outside": (ax.jit(rows), given),
        "`jit(vmap(vmap(f)))`, second argument outside": (ax.jit(columns), given),
    }


def again() -> Variants:
    """Values kept, or made again: eight layers on 256 examples."""
    given = ([0.1 * random(128, 128)] * 8, random(256, 128))

    def each(weights: Any, x: Any) -> Any:
        for w in weights:
            x = ax.checkpoint(lambda x, w: anp.tanh(x @ w))(x, w)
        return anp.sum(x**2)

    return {
        "`jit(grad(f))`": (ax.jit(ax.grad(loss)), given),
        "`jit(grad(f))`, `checkpoint` of each layer": (ax.jit(ax.grad(each)), given),
        "`jit(grad(checkpoint(f)))`": (ax.jit(ax.grad(ax.checkpoint(loss))), given),
    }


GROUPS: dict[str, Callable[[], Variants]] = {
    "grad and jit, 128 examples": partial(compiled_or_not, 128),
    "grad and jit, 2,048 examples": partial(compiled_or_not, 2048),
    "vmap and grad, one slope an element": elementwise_slopes,
    "vmap and grad, shared weights": shared_weights,
    "jit and loops": loops,
    "hessian": hessians,
    "hessian times a vector": products,
    "vmap in vmap": nested,
    "checkpoint": again,
}

# Inputs and outputs of the Jacobians.
SHAPES = ((256, 1), (256, 16), (256, 256), (16, 256), (1, 256))


def alike(expected: Any, found: Any) -> bool:
    """Whether two trees hold the same numbers, as far as float32 can tell."""
    pairs = zip(ax.tree.leaves(expected), ax.tree.leaves(found), strict=True)
    return all(
        np.allclose(a, b, rtol=1e-3, atol=1e-4 * (1 + np.abs(a).max()))
        for a, b in ((np.asarray(a), np.asarray(b)) for a, b in pairs)
    )


def cells(variants: Variants, backend: str) -> dict[str, str]:
    """What each variant of a group takes on a backend, in words."""
    calls = {}
    for name, (function, given) in variants.items():
        moved = ax.device_put(given, backend)
        calls[name] = lambda f=function, a=moved: ax.block_until_ready(f(*a))
    first, *others = calls
    expected = calls[first]()
    for name in others:
        assert alike(expected, calls[name]()), f"{name} differs from {first} on {backend}"
    times = in_turns(calls, rounds=ROUNDS, clock=time.process_time)
    shown = {first: f"1 ({median(times, first) * 1e6:,.0f} µs)"}
    return shown | {name: f"{ratio(times, name, first):.2g}" for name in others}


def table(head: str, rows: dict[str, list[str]]) -> None:
    """A table of Markdown, one column for each backend."""
    print(f"\n| {head} | {' | '.join(f'`{b}`' for b in BACKENDS)} |")
    print("|---|" + "---|" * len(BACKENDS))
    for name, row in rows.items():
        print(f"| {name} | {' | '.join(row)} |", flush=True)


def main() -> None:
    """All groups on all backends, as tables of Markdown."""
    print(f"{platform.machine()}, one core, Python {platform.python_version()}")
    for title, group in GROUPS.items():
        variants = group()
        columns = [cells(variants, backend) for backend in BACKENDS]
        table(title, {name: [column[name] for column in columns] for name in variants})
    rows = {}
    for inputs, outputs in SHAPES:
        variants = jacobians(inputs, outputs)
        found = [list(cells(variants, backend).values())[1] for backend in BACKENDS]
        rows[f"{inputs} to {outputs}"] = found
    table("`jacfwd`, where `jacrev` is 1: from inputs to outputs", rows)


if __name__ == "__main__":
    main()
