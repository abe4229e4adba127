"""Programs of lanes that speak with each other, against the same over the whole array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import arrayx as ax
import arrayx.numpy as anp
from arrayx import lax
from arrayx.conformance.case import Case
from arrayx.sharding import PartitionSpec

LANES = 4
_TURN = [(i, (i + 1) % LANES) for i in range(LANES)]
_PAIRS = [[0, 1], [2, 3]]


def _lanes(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return ax.vmap(function, axis_name="i")


def _each(value: Any) -> Any:
    return np.broadcast_to(value, (LANES, *np.shape(value)))


def _row(name: str, lane: Any, reference: Any, **facts: Any) -> Case:
    facts.setdefault("dtypes", ("float32", "float64"))
    facts.setdefault("special", False)
    return Case(name, _lanes(lane), ((LANES, LANES),), reference=reference, **facts)


def _normalised(x: Any) -> Any:
    mean = lax.pmean(x, "i")
    variance = lax.pmean((x - mean) ** 2, "i")
    return (x - mean) / anp.sqrt(variance + 1.0)


def _normalised_plain(x: Any) -> Any:
    return (x - x.mean(0)) / np.sqrt(((x - x.mean(0)) ** 2).mean(0) + 1.0)


def _looped(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, y: anp.sin(y) + lax.ppermute(y, "i", _TURN), x)


def _looped_plain(x: Any) -> Any:
    for _ in range(3):
        x = np.sin(x) + np.roll(x, 1, 0)
    return x


def _branched(x: Any) -> Any:
    return lax.cond(
        lax.psum(anp.sum(x), "i") > 0, lambda: lax.psum(x, "i") * x, lambda: lax.pmax(x, "i") - x
    )


def _branched_plain(x: Any) -> Any:
    return x.sum(0) * x if x.sum() > 0 else x.max(0) - x


def _sharded(x: Any) -> Any:
    mesh = ax.make_mesh((2,), ("i",), devices=2 * ax.devices()[:1])
    spec = PartitionSpec("i")
    return ax.shard_map(
        lambda part: part * lax.psum(anp.sum(part, 0), "i"),
        mesh=mesh,
        in_specs=spec,
        out_specs=spec,
    )(x)


def _mapped(x: Any) -> Any:
    return ax.pmap(lambda y: y / lax.psum(y * y, "i"), "i", devices=LANES * ax.devices()[:1])(x)


CASES = (
    _row("psum", lambda x: lax.psum(x, "i"), lambda x: _each(x.sum(0))),
    _row("pmean", lambda x: lax.pmean(x, "i"), lambda x: _each(x.mean(0))),
    _row("pmax", lambda x: lax.pmax(x, "i"), lambda x: _each(x.max(0))),
    _row("pmin", lambda x: lax.pmin(x, "i"), lambda x: _each(x.min(0))),
    _row(
        "psum_in_groups",
        lambda x: lax.psum(x, "i", axis_index_groups=_PAIRS),
        lambda x: np.repeat(x.reshape(2, 2, LANES).sum(1), 2, 0),
    ),
    _row("all_gather", lambda x: lax.all_gather(x, "i"), _each),
    _row(
        "all_gather_tiled",
        lambda x: lax.all_gather(x, "i", tiled=True),
        lambda x: _each(x.reshape(-1)),
    ),
    _row("psum_scatter", lambda x: lax.psum_scatter(x, "i"), lambda x: x.sum(0)),
    _row(
        "psum_scatter_tiled",
        lambda x: lax.psum_scatter(x, "i", tiled=True),
        lambda x: x.sum(0)[:, None],
    ),
    _row("ppermute", lambda x: lax.ppermute(x, "i", _TURN), lambda x: np.roll(x, 1, 0)),
    _row(
        "ppermute_of_some",
        lambda x: lax.ppermute(x, "i", [(0, 2)]),
        lambda x: np.stack([0 * x[0], 0 * x[0], x[0], 0 * x[0]]),
        signed_zeros=False,
    ),
    _row("pshuffle", lambda x: lax.pshuffle(x, "i", [3, 2, 1, 0]), lambda x: x[::-1]),
    _row("all_to_all", lambda x: lax.all_to_all(x, "i", 0, 0), lambda x: x.T),
    _row(
        "axis_index",
        lambda x: x * lax.axis_index("i"),
        lambda x: x * np.arange(LANES, dtype=x.dtype)[:, None],
    ),
    # Differences from a mean are as exact as the elements, which are below 3.
    _row("normalisation", _normalised, _normalised_plain, scale=lambda x: 0 * x + 3.0),
    _row("in_a_loop", _looped, _looped_plain, ulps=64.0),
    _row("in_a_branch", _branched, _branched_plain, ulps=16.0),
    Case(
        "shard_map",
        _sharded,
        ((4, 3),),
        reference=lambda x: x * x.sum(0),
        dtypes=("float32", "float64"),
        special=False,
        ulps=16.0,
    ),
    Case(
        "pmap",
        _mapped,
        ((LANES, 3),),
        reference=lambda x: x / (x * x).sum(0),
        dtypes=("float32", "float64"),
        special=False,
        ulps=16.0,
    ),
)
