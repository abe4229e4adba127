"""All orders of grad, jvp, vmap and jit over every kind of control flow, to second order.

One table: each kind, a step of which uses what is around it, under each order, against the same
order of the plain Python loop, where vmap is a loop too and jit is nothing.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.conformance.by_hand import BY_HAND, TRACED, Control
from arrayx.conformance.nests import EACH, POINTS, Nest, Node

NEEDS_XLA = pytest.mark.skipif(
    importlib.util.find_spec("jaxlib") is None,
    reason="the xla backend needs jaxlib: pip install 'arrayx[xla]'",
)
UNBOUNDED = Node("while", EACH["while"].parts, (2, None, *EACH["while"].how[2:]))
KINDS = {**EACH, "while without a limit": UNBOUNDED}
# Forward over reverse and reverse over forward, and each twice.
ORDERS = [
    *permutations(("grad", "jvp", "vmap", "jit")),
    *dict.fromkeys(permutations(("grad", "grad", "vmap", "jit"))),
    *dict.fromkeys(permutations(("jvp", "jvp", "vmap", "jit"))),
]
W, X = (np.stack([p[i] for p in POINTS[:2]]) for i in (0, 1))


def gradient(f: Any) -> Any:
    """In both vectors, of the sine of all that a function gives, joined."""
    return lambda w, x: anp.concatenate(
        ax.grad(lambda w, x: anp.sum(anp.sin(f(w, x))), (0, 1))(w, x), axis=-1
    )


def tangent(f: Any) -> Any:
    """Along the cosines of both."""
    return lambda w, x: ax.jvp(f, (w, x), (anp.cos(w), anp.cos(x)))[1]


def transformed(f: Any, order: tuple[str, ...], control: Control) -> Any:
    """The function under the transformations, the last of them outermost."""
    wraps: dict[str, Callable[[Any], Any]] = {
        "grad": gradient,
        "jvp": tangent,
        "vmap": control.vmap,
        "jit": control.jit,
    }
    for name in order:
        f = wraps[name](f)
    return f


@cache
def wanted(kind: str, order: tuple[str, ...]) -> Any:
    """What the plain loop gives."""
    nest = Nest(KINDS[kind])
    function = transformed(lambda w, x: nest.run(BY_HAND, w, x), order, BY_HAND)
    return np.asarray(function(anp.asarray(W), anp.asarray(X)))


def rows() -> Iterator[Any]:
    for i, kind in enumerate(KINDS):
        modes = {"custom_vjp": ("grad",), "while without a limit": ("jvp",)}.get(kind)
        orders = [o for o in ORDERS if modes is None or {*o} & {"grad", "jvp"} == {*modes}]
        for backend in ("numpy", "xla"):
            for j, order in enumerate(orders):
                quick = backend == "numpy" and j == (5 * i) % len(orders)
                marks = [] if quick else [pytest.mark.slow]
                if backend == "xla":
                    marks.append(NEEDS_XLA)
                name = f"{kind}-{'-'.join(order)}-{backend}"
                yield pytest.param(kind, order, backend, id=name, marks=marks)


@pytest.mark.filterwarnings("ignore::arrayx.errors.UnrolledLoopWarning")
@pytest.mark.parametrize(("kind", "order", "backend"), list(rows()))
def test_every_order_is_that_of_the_plain_loop(
    kind: str, order: tuple[str, ...], backend: str
) -> None:
    nest = Nest(KINDS[kind])
    function = transformed(lambda w, x: nest.run(TRACED, w, x), order, TRACED)
    want = wanted(kind, tuple(n for n in order if n != "jit"))
    with ax.default_backend(backend):
        got = function(W, X)
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-8, atol=1e-9)
