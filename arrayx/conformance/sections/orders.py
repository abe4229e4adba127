"""All 24 orders of grad, vmap, jit and pmap over programs with collectives, against loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import numpy as np

import arrayx as ax
import arrayx.numpy as anp
from arrayx import lax
from arrayx.backend.registry import chosen
from arrayx.conformance.item import Item
from arrayx.conformance.sections.statement import item

LANES, EXAMPLES, SIZE = 3, 2, 4
# Of float32: the sums of a dozen products of numbers near 1, differentiated twice.
TOLERANCE = 2e-5
TIMES = np.array([0.5, -1.0], np.float32)


def straight(w: Any, x: Any) -> Any:
    """A lane's part of a program without control flow."""
    y = anp.tanh(w * x)
    mean = lax.pmean(y, "i")
    turned = lax.ppermute(y * mean, "i", [(0, 1), (1, 2), (2, 0)])
    gathered = lax.all_gather(turned, "i")
    return anp.sum(y * turned) + anp.sum(anp.sin(gathered[0] - y)) * lax.axis_index("i")


def straight_all(w: Any, x: Any) -> Any:
    """The same over all lanes, without lanes."""
    y = anp.tanh(w * x)
    turned = anp.roll(y * anp.mean(y, 0), 1, 0)
    own = anp.sum(y * turned, 1) + anp.sum(anp.sin(turned[0] - y), 1) * anp.arange(LANES)
    return anp.sum(own)


def looped(w: Any, x: Any) -> Any:
    """A lane's part of a program with a loop and a branch."""

    def step(c: Any, t: Any) -> Any:
        c = anp.sin(c * w + lax.psum(c, "i") * t)
        return c, lax.pmax(c, "i")

    c, ys = lax.scan(step, x, TIMES)
    chosen_one = lax.cond(
        lax.psum(anp.sum(x), "i") > 0, lambda: lax.psum(c * w, "i"), lambda: c + anp.sum(ys, 0)
    )
    return anp.sum(chosen_one * c)


def looped_all(w: Any, x: Any) -> Any:
    """The same over all lanes, in plain Python."""
    c: Any = x
    ys: Any = 0.0
    for t in TIMES:
        c = anp.sin(c * w + anp.sum(c, 0) * t)
        ys = ys + anp.max(c, 0)
    chosen_one = anp.sum(c * w, 0) if float(anp.sum(x)) > 0 else c + ys
    return anp.sum(chosen_one * c)


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


DERIVATIVES = {"first": gradient, "second": curvature}
TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "grad": gradient,
    "vmap": ax.vmap,
    "jit": ax.jit,
    "pmap": lambda f: ax.pmap(f, "i", devices=LANES * ax.devices()[:1]),
}
ORDERS = tuple(permutations(TRANSFORMS))


def operands(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Weights and inputs: examples of lanes of elements."""
    rng = np.random.default_rng(0)
    shape = (EXAMPLES, LANES, SIZE)
    w, x = rng.uniform(0.2, 1.0, shape), rng.uniform(-1.0, 1.0, shape)
    return w.astype(dtype), x.astype(dtype)


def items(backend: str) -> Iterator[Item]:
    """Every order over every program, to first and to second order."""
    for program_name in PROGRAMS:
        for order in ORDERS:
            for depth in DERIVATIVES:
                core = (program_name, depth) == ("straight", "first")
                yield item(
                    "orders",
                    "-".join(order),
                    check,
                    order,
                    program_name,
                    depth,
                    backend,
                    detail=f"{program_name}-{depth}",
                    owed=core,
                    core=core,
                )


def results(
    order: tuple[str, ...], name: str, depth: str, dtype: str
) -> tuple[np.ndarray, np.ndarray]:
    """What the transformations in this order, outermost first, give; and what a loop gives."""
    lane, everything = PROGRAMS[name]
    derivative = DERIVATIVES[depth]
    w, x = operands(dtype)
    wanted = np.stack([derivative(everything)(w[b], x[b]) for b in range(EXAMPLES)])
    function: Any = lane
    for transformation in reversed(order):
        transform = derivative if transformation == "grad" else TRANSFORMS[transformation]
        function = transform(function)
    # The outermost mapping goes along the first axis.
    swap = order.index("pmap") < order.index("vmap")
    given = [np.swapaxes(a, 0, 1) if swap else a for a in (w, x)]
    got = np.asarray(function(*given))
    return (np.swapaxes(got, 0, 1) if swap else got), wanted


def check(order: tuple[str, ...], name: str, depth: str, backend: str) -> None:
    """The transformations in this order equal a loop over the examples."""
    with chosen(backend):
        got, wanted = results(order, name, depth, "float32")
    worst = float(np.max(np.abs(got - wanted)))
    bound = TOLERANCE * float(1 + np.max(np.abs(wanted)))
    assert worst <= bound, f"{' of '.join(order)}: off by {worst:.2g}, allowed {bound:.2g}"
