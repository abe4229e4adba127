"""Derivatives taken inside lanes are those of the sum over all lanes, for every collective."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors, lax
from arrayx.backend.registry import chosen
from arrayx.conformance.item import Item
from arrayx.conformance.sections.statement import item

LANES = 4
_TURN = [(i, (i + 1) % LANES) for i in range(LANES)]
_GROUPS = [[0, 2], [1, 3]]
# A tie in the first column, for the extremes.
_X = np.random.default_rng(0).uniform(-1, 1, (LANES, LANES, 3)).astype(np.float32)
_X[:2, 0] = 2.0
_W = np.random.default_rng(1).uniform(0.5, 1.5, (LANES, 50)).astype(np.float32)

#: What a lane does with its part, of shape (LANES, 3).
COLLECTIVES: dict[str, Callable[[Any], Any]] = {
    "psum": lambda x: lax.psum(x, "i"),
    "psum_in_groups": lambda x: lax.psum(x, "i", axis_index_groups=_GROUPS),
    "pmean": lambda x: lax.pmean(x, "i"),
    "pmax": lambda x: lax.pmax(x, "i"),
    "pmin": lambda x: lax.pmin(-x, "i"),
    "all_gather": lambda x: lax.all_gather(x, "i", axis=1),
    "all_gather_tiled": lambda x: lax.all_gather(x, "i", axis=1, tiled=True),
    "psum_scatter": lambda x: lax.psum_scatter(x, "i", scatter_dimension=0),
    "all_to_all": lambda x: lax.all_to_all(x, "i", 0, 1),
    "all_to_all_tiled": lambda x: lax.all_to_all(x, "i", 0, 1, tiled=True),
    "ppermute": lambda x: lax.ppermute(x, "i", _TURN),
    "ppermute_of_some": lambda x: lax.ppermute(x, "i", [(0, 1), (3, 0)]),
    "pshuffle": lambda x: lax.pshuffle(x, "i", [2, 0, 3, 1]),
    "pbroadcast": lambda x: lax.pbroadcast(x, "i", 2),
}


def items(backend: str) -> Iterator[Item]:
    """One item for each collective."""
    for name in COLLECTIVES:
        yield item("collectives", "inside", check, name, backend, detail=name, owed=True, core=True)


def loss(name: str, x: Any, w: Any) -> Any:
    """A number for each lane, in which all that a lane gets has its own weight."""
    y = anp.ravel(COLLECTIVES[name](anp.sin(x)))
    return anp.sum(y * w[: y.size] + y**2)


def check(name: str, backend: str) -> None:
    """Gradients inside the lanes, and outside of them, agree; so do tangents, compiled too."""
    lane = partial(loss, name)
    with chosen(backend), warnings.catch_warnings():
        # Each check has functions of its own.
        warnings.simplefilter("ignore", errors.RetraceWarning)
        x, w = ax.device_put(_X, backend), ax.device_put(_W, backend)
        outside = ax.grad(lambda a, b: anp.sum(ax.vmap(lane, axis_name="i")(a, b)))
        inside = ax.vmap(ax.grad(lane), axis_name="i")

        def tangent_inside(a: Any, b: Any) -> Any:
            return ax.vmap(lambda s, t: ax.jvp(lane, (s, t), (s, t))[1], axis_name="i")(a, b)

        def tangent_outside(a: Any, b: Any) -> Any:
            return ax.jvp(ax.vmap(lane, axis_name="i"), (a, b), (a, b))[1]

        pairs = (("gradient", inside, outside), ("tangent", tangent_inside, tangent_outside))
        for what, f, g in pairs:
            wanted = np.asarray(g(x, w))
            for how, found in (("eager", f(x, w)), ("compiled", ax.jit(f)(x, w))):
                got = np.asarray(found)
                assert np.allclose(got, wanted, 1e-5, 1e-5), (
                    f"{name}, the {what} inside lanes, {how}: {got.tolist()}, "
                    f"outside it is {wanted.tolist()}"
                )
