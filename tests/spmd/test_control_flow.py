"""Collectives inside everything that holds a program: loops, choices, rules, compiled functions.

Each case is written twice: for one lane, with collectives, and for all lanes at once, with a
Python loop over a stacked array.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import lax

N = 3
NEEDS_XLA = pytest.mark.skipif(
    importlib.util.find_spec("jaxlib") is None,
    reason="the xla backend needs jaxlib: pip install 'arrayx[xla]'",
)
TIMES = np.array([0.5, -1.0, 2.0], np.float64)
MESH = ax.make_mesh((N,), ("i",))


def total(x: Any) -> Any:
    """What `psum` is of stacked lanes."""
    return anp.broadcast_to(anp.sum(x, 0, keepdims=True), x.shape)


def scan_lane(x: Any) -> Any:
    def step(c: Any, t: Any) -> Any:
        return anp.tanh(c * x + 0.3 * lax.psum(c * t, "i")), c * t

    c, ys = lax.scan(step, x, TIMES)
    return c + anp.sum(ys, 0)


def scan_all(x: Any) -> Any:
    c, ys = x, 0.0
    for t in TIMES:
        ys = ys + c * t
        c = anp.tanh(c * x + 0.3 * total(c * t))
    return c + ys


def scan_shared_lane(x: Any) -> Any:
    # The carry begins as what all lanes share, and comes to differ.
    def step(c: Any, t: Any) -> Any:
        return anp.sin(c + x) + t * lax.pmean(c * x, "i"), None

    return lax.scan(step, anp.full(x.shape, 0.5, x.dtype), TIMES, reverse=True)[0]


def scan_shared_all(x: Any) -> Any:
    c = anp.full(x.shape, 0.5, x.dtype)
    for t in TIMES[::-1]:
        c = anp.sin(c + x) + t * total(c * x) / N
    return c


def scan_index_lane(x: Any) -> Any:
    # Nothing that goes into the body differs between lanes but what it asks for itself.
    c, _ = lax.scan(lambda c, t: (c * 0.5 + t * lax.axis_index("i"), None), 1.0, TIMES)
    return x * c


def scan_index_all(x: Any) -> Any:
    c = anp.ones((N, 1))
    for t in TIMES:
        c = c * 0.5 + t * anp.arange(N)[:, None]
    return x * c


def fori_lane(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda k, c: anp.cos(c) + x * lax.psum(c, "i") / (k + 1), x)


def fori_all(x: Any) -> Any:
    c = x
    for k in range(3):
        c = anp.cos(c) + x * total(c) / (k + 1)
    return c


def while_lane(x: Any) -> Any:
    # All lanes go on until their sum is large enough.
    def going(c: Any) -> Any:
        return anp.sum(lax.psum(c * c, "i")) < 40.0

    return lax.while_loop(going, lambda c: 1.3 * c + 0.1 * lax.psum(c, "i"), x, max_steps=12)


def while_all(x: Any) -> Any:
    c = x
    for _ in range(12):
        if not float(anp.sum(c * c)) < 40.0:
            break
        c = 1.3 * c + 0.1 * total(c)
    return c


def own_while_lane(x: Any) -> Any:
    # Each lane goes on as long as it likes, and what all lanes share is used on the way.
    shared = lax.psum(x, "i")

    def step(c: Any) -> Any:
        return 1.5 * c + 0.1 * anp.sin(shared) * x

    return lax.while_loop(lambda c: anp.sum(c * c) < 20.0, step, x, max_steps=9)


def own_while_all(x: Any) -> Any:
    shared = total(x)
    rows = []
    for i in range(N):
        c = x[i]
        for _ in range(9):
            if not float(anp.sum(c * c)) < 20.0:
                break
            c = 1.5 * c + 0.1 * anp.sin(shared[i]) * x[i]
        rows.append(c)
    return anp.stack(rows)


def cond_lane(x: Any) -> Any:
    return lax.cond(
        anp.sum(lax.psum(x, "i")) > 0,
        lambda y: anp.sin(y) * lax.psum(y * x, "i"),
        lambda y: y * lax.psum(y, "i") + x,
        2 * x,
    )


def cond_all(x: Any) -> Any:
    y = 2 * x
    if float(anp.sum(x)) > 0:
        return anp.sin(y) * total(y * x)
    return y * total(y) + x


def own_cond_lane(x: Any) -> Any:
    # Lanes choose differently; what all share goes into both branches.
    shared = lax.psum(x * x, "i")
    return lax.cond(
        lax.axis_index("i") < 1, lambda: anp.sin(shared) * x, lambda: shared * anp.cos(x)
    )


def own_cond_all(x: Any) -> Any:
    shared = total(x * x)
    return anp.concatenate([(anp.sin(shared) * x)[:1], (shared * anp.cos(x))[1:]])


def switch_lane(x: Any) -> Any:
    branches = [lambda y: y * y, lambda y: anp.sin(y), lambda y: 3 * y]
    return lax.psum(lax.switch(lax.axis_index("i"), branches, x), "i") * x


def switch_all(x: Any) -> Any:
    return total(anp.stack([x[0] * x[0], anp.sin(x[1]), 3 * x[2]])) * x


def map_lane(x: Any) -> Any:
    return lax.map(lambda v: v * lax.psum(v, "i"), x)


def map_all(x: Any) -> Any:
    return x * total(x)


def associative_lane(x: Any) -> Any:
    return lax.associative_scan(lambda a, b: a + 0.5 * b, x * lax.psum(x, "i"))


def associative_all(x: Any) -> Any:
    y = x * total(x)
    return anp.stack([lax.associative_scan(lambda a, b: a + 0.5 * b, y[i]) for i in range(N)])


@ax.custom_jvp
def soft(x: Any) -> Any:
    return anp.sin(x) * lax.psum(x, "i")


@soft.defjvp
def soft_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return soft(x), anp.cos(x) * dx * lax.psum(x, "i") + anp.sin(x) * lax.psum(dx, "i")


def custom_all(x: Any) -> Any:
    return anp.sin(x) * total(x)


@ax.custom_vjp
def doubled(x: Any) -> Any:
    return x * lax.pmean(x, "i")


def doubled_fwd(x: Any) -> Any:
    mean = lax.pmean(x, "i")
    return x * mean, (x, mean)


def doubled_bwd(residuals: Any, ct: Any) -> Any:
    x, mean = residuals
    return (ct * mean + lax.psum(ct * x, "i") / lax.axis_size("i"),)


doubled.defvjp(doubled_fwd, doubled_bwd)


def compiled_lane(x: Any) -> Any:
    inner = ax.jit(lambda y: y * lax.psum(ax.jit(anp.sin)(y), "i"))
    return inner(x) + inner(anp.full(x.shape, 0.5, x.dtype))


def compiled_all(x: Any) -> Any:
    return x * total(anp.sin(x)) + 0.5 * N * np.sin(0.5)


def checkpointed_lane(x: Any) -> Any:
    part = ax.checkpoint(lambda y: anp.sin(y) * lax.psum(y * x, "i"))
    return part(part(x))


def checkpointed_all(x: Any) -> Any:
    y = anp.sin(x) * total(x * x)
    return anp.sin(y) * total(y * x)


def nested_lane(x: Any) -> Any:
    def step(c: Any, t: Any) -> Any:
        c = lax.cond(
            anp.sum(lax.psum(c, "i")) * t > 0,
            lambda c: lax.fori_loop(0, 2, lambda _, c: c - 0.2 * lax.pmax(c, "i"), c),
            lambda c: ax.jit(lambda c: lax.ppermute(c, "i", [(0, 1), (1, 2), (2, 0)]) * x)(c),
            c,
        )
        return c, lax.all_gather(c, "i")[1]

    c, ys = lax.scan(step, x, TIMES)
    return c + anp.sum(ys, 0)


def nested_all(x: Any) -> Any:
    c, ys = x, 0.0
    for t in TIMES:
        if float(anp.sum(c)) * t > 0:
            for _ in range(2):
                c = c - 0.2 * anp.broadcast_to(anp.max(c, 0, keepdims=True), c.shape)
        else:
            c = anp.roll(c, 1, 0) * x
        ys = ys + c[1]
    return c + ys


CASES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "scan": (scan_lane, scan_all),
    "scan-shared": (scan_shared_lane, scan_shared_all),
    "scan-index": (scan_index_lane, scan_index_all),
    "fori_loop": (fori_lane, fori_all),
    "while_loop": (while_lane, while_all),
    "while_loop-own": (own_while_lane, own_while_all),
    "cond": (cond_lane, cond_all),
    "cond-own": (own_cond_lane, own_cond_all),
    "switch": (switch_lane, switch_all),
    "map": (map_lane, map_all),
    "associative_scan": (associative_lane, associative_all),
    "custom_jvp": (soft, custom_all),
    "custom_vjp": (doubled, lambda x: x * total(x) / N),
    "jit": (compiled_lane, compiled_all),
    "checkpoint": (checkpointed_lane, checkpointed_all),
    "nested": (nested_lane, nested_all),
}


def by_shard_map(lane: Any, **options: Any) -> Any:
    return ax.shard_map(
        lambda x: lane(x[0])[None],
        mesh=MESH,
        in_specs=ax.P("i"),
        out_specs=ax.P("i"),
        **options,
    )


WAYS: dict[str, Callable[[Any], Any]] = {
    "vmap": lambda lane: ax.vmap(lane, axis_name="i"),
    "pmap": lambda lane: ax.pmap(lane, "i", devices=N * ax.devices()),
    "vmap-jit": lambda lane: ax.vmap(ax.jit(lane), axis_name="i"),
    "shard_map": by_shard_map,
    "unchecked": lambda lane: by_shard_map(lane, check_vma=False),
}
QUICK = ("numpy-vmap", "numpy-shard_map")
EACH_CASE = pytest.mark.parametrize("case", CASES)
EACH_WAY = pytest.mark.parametrize(
    ("backend", "way"),
    [
        pytest.param(
            backend,
            way,
            id=f"{backend}-{way}",
            marks=[
                *([NEEDS_XLA] if backend == "xla" else []),
                *([] if f"{backend}-{way}" in QUICK else [pytest.mark.slow]),
            ],
        )
        for backend in ("numpy", "xla")
        for way in WAYS
    ],
)


def operand(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.2, 0.9, size=(N, 2))


def close(got: Any, wanted: Any) -> None:
    np.testing.assert_allclose(got, wanted, rtol=1e-8, atol=1e-9)


@EACH_CASE
@EACH_WAY
def test_a_program_of_lanes_equals_a_loop_over_stacked_lanes(
    case: str, way: str, backend: str
) -> None:
    lane, everything = CASES[case]
    with ax.default_backend(backend):
        x, dx = anp.asarray(operand()), anp.asarray(operand(1))
        weights = operand(2)
        function = WAYS[way](lane)

        def value(f: Any) -> Any:
            return lambda x: anp.sum(anp.sin(f(x)) * weights)

        close(function(x), everything(x))
        close(ax.jit(function)(x), everything(x))
        wanted = ax.grad(value(everything))(x)
        close(ax.grad(value(function))(x), wanted)
        close(ax.jit(ax.grad(value(function)))(x), wanted)
        if case != "custom_vjp":
            close(ax.jvp(function, (x,), (dx,))[1], ax.jvp(everything, (x,), (dx,))[1])


@EACH_CASE
@EACH_WAY
def test_second_derivatives_of_a_program_of_lanes(case: str, way: str, backend: str) -> None:
    lane, everything = CASES[case]
    with ax.default_backend(backend):
        x, dx = anp.asarray(operand()), anp.asarray(operand(1))

        def slope(f: Any) -> Any:
            return ax.grad(lambda x: anp.sum(anp.sin(f(x))))

        def along(f: Any) -> Any:
            return ax.grad(lambda x: anp.sum(slope(f)(x) * dx))(x)

        function = WAYS[way](lane)
        wanted = along(everything)
        close(along(function), wanted)
        if case != "custom_vjp":
            close(ax.jvp(slope(function), (x,), (dx,))[1], wanted)


@EACH_CASE
@pytest.mark.parametrize("way", ["vmap", "shard_map"])
def test_a_batch_of_programs_of_lanes(case: str, way: str) -> None:
    lane, everything = CASES[case]
    x = anp.asarray(np.stack([operand(seed) for seed in range(3)]))
    wanted = anp.stack([everything(part) for part in x])
    close(ax.vmap(WAYS[way](lane))(x), wanted)
    inside = WAYS[way](ax.vmap(lane))(anp.moveaxis(x, 0, 1))
    close(anp.moveaxis(inside, 1, 0), wanted)


@EACH_CASE
def test_the_gradient_in_a_lane_counts_what_it_does_to_all_lanes(case: str) -> None:
    lane, everything = CASES[case]
    x = anp.asarray(operand())
    wanted = ax.grad(lambda x: anp.sum(anp.sin(everything(x))))(x)
    for way in ("vmap", "pmap", "vmap-jit"):
        close(WAYS[way](ax.grad(lambda x: anp.sum(anp.sin(lane(x)))))(x), wanted)
