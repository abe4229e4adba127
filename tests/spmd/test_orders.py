"""All orders of grad, vmap, jit and pmap over programs with collectives, against plain loops."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import lax

LANES, EXAMPLES, SIZE = 3, 2, 4
BACKENDS = [
    "numpy",
    pytest.param(
        "xla",
        marks=[
            pytest.mark.slow,
            pytest.mark.skipif(
                importlib.util.find_spec("jaxlib") is None,
                reason="the xla backend needs jaxlib: pip install 'arrayx[xla]'",
            ),
        ],
    ),
]
TIMES = np.array([0.5, -1.0])


def straight(w: Any, x: Any) -> Any:
    y = anp.tanh(w * x)
    mean = lax.pmean(y, "i")
    turned = lax.ppermute(y * mean, "i", [(0, 1), (1, 2), (2, 0)])
    gathered = lax.all_gather(turned, "i")
    return anp.sum(y * turned) + anp.sum(anp.sin(gathered[0] - y)) * lax.axis_index("i")


def straight_all(w: Any, x: Any) -> Any:
    y = anp.tanh(w * x)
    turned = anp.roll(y * anp.mean(y, 0), 1, 0)
    own = anp.sum(y * turned, 1) + anp.sum(anp.sin(turned[0] - y), 1) * anp.arange(LANES)
    return anp.sum(own)


def looped(w: Any, x: Any) -> Any:
    def step(c: Any, t: Any) -> Any:
        c = anp.sin(c * w + lax.psum(c, "i") * t)
        return c, lax.pmax(c, "i")

    c, ys = lax.scan(step, x, TIMES)
    chosen = lax.cond(
        lax.psum(anp.sum(x), "i") > 0, lambda: lax.psum(c * w, "i"), lambda: c + anp.sum(ys, 0)
    )
    return anp.sum(chosen * c)


def looped_all(w: Any, x: Any) -> Any:
    c, ys = x, 0.0
    for t in TIMES:
        c = anp.sin(c * w + anp.sum(c, 0) * t)
        ys = ys + anp.max(c, 0)
    chosen = anp.sum(c * w, 0) if float(anp.sum(x)) > 0 else c + ys
    return anp.sum(chosen * c)


PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "straight": (straight, straight_all),
    "looped": (looped, looped_all),
}


def gradient(f: Any) -> Any:
    """The gradient in `w` of all that the function gives."""
    return ax.grad(lambda w, x: anp.sum(f(w, x)))


def curvature(f: Any) -> Any:
    """A derivative of derivatives in `w`."""
    return gradient(lambda w, x: anp.sin(gradient(f)(w, x)))


TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "grad": gradient,
    "vmap": ax.vmap,
    "jit": ax.jit,
    "pmap": lambda f: ax.pmap(f, "i", devices=LANES * ax.devices()),
}
ORDERS = [*permutations(TRANSFORMS)]


def operands() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    shape = (EXAMPLES, LANES, SIZE)
    return rng.uniform(0.2, 1.0, shape), rng.uniform(-1.0, 1.0, shape)


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("depth", ["first", pytest.param("second", marks=pytest.mark.slow)])
def test_every_order_of_the_transformations_equals_the_loop(
    order: tuple[str, ...], program: str, backend: str, depth: str
) -> None:
    lane, everything = PROGRAMS[program]
    derivative = gradient if depth == "first" else curvature
    with ax.default_backend(backend):
        w, x = operands()
        wanted = np.stack([derivative(everything)(w[b], x[b]) for b in range(EXAMPLES)])
        function: Any = lane
        for name in reversed(order):
            function = derivative(function) if name == "grad" else TRANSFORMS[name](function)
        # The outermost mapping goes along the first axis.
        swap = order.index("pmap") < order.index("vmap")
        given = [np.swapaxes(a, 0, 1) if swap else a for a in (w, x)]
        got = np.asarray(function(*given))
        got = np.swapaxes(got, 0, 1) if swap else got
        np.testing.assert_allclose(got, wanted, rtol=1e-7, atol=1e-9)
