"""Rows of collective operations; the named axis is the first of the operand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx.api.mapping import vmap
from arrayx.api.shardings import AbstractMesh, NamedSharding, PartitionSpec
from arrayx.conformance.case import ANY, NUMERIC, ORDERED, Case
from arrayx.conformance.cases.collectives import (
    everywhere,
    exchanged,
    gathered,
    magnitudes,
    scattered,
    sent,
    summed,
)
from arrayx.conformance.public import public, resolved

TURN = ((0, 1), (1, 2), (2, 3), (3, 0))
LANES = ((4, 3),)


def lanes(
    name: str,
    operands: tuple[Any, ...],
    call: Callable[..., Any],
    reference: Callable[..., Any],
    dtypes: tuple[str, ...],
    **facts: Any,
) -> Case:
    """The row of a collective: `call(function, x)` is what one lane does."""
    function = resolved(name)

    def stacked(x: Any) -> Any:
        return vmap(lambda v: call(function, v), axis_name="i")(x)

    return Case(name, stacked, operands, {}, reference, dtypes, **facts)


def cut(x: Any) -> Any:
    """Lanes of one part each, without the axis that was cut."""
    return np.squeeze(scattered(x, axis=0), 1)


def sliced(sizes: Any) -> tuple[Any, Any, Any, Any]:
    """Offsets and sizes of `ragged_all_to_all` for slices of these sizes from lane to lane."""
    starts = np.cumsum(sizes, axis=1) - sizes
    places = np.cumsum(sizes, axis=0) - sizes
    return tuple(a.astype(np.int32) for a in (starts, sizes, places, sizes.T))  # type: ignore[return-value]


SLICES = sliced(np.array([[1, 2, 0], [2, 0, 1], [0, 1, 1]]))


def ragged(function: Any, x: Any) -> Any:
    """What each of three lanes gets of the rows of the three, after which its own ones stand."""

    def lane(v: Any, *slices: Any) -> Any:
        return function(v, -v, *slices, axis_name="i")

    return vmap(lane, axis_name="i")(x, *SLICES)


def ragged_reference(x: Any) -> Any:
    """The same, slice by slice."""
    result = np.array(-x)
    starts, sizes, places, _ = SLICES
    for sender in range(3):
        for receiver in range(3):
            start, size = starts[sender, receiver], sizes[sender, receiver]
            place = places[sender, receiver]
            result[receiver, place : place + size] = x[sender, start : start + size]
    return result


CASES = (
    lanes("lax.psum", LANES, lambda f, x: f(x, "i"), everywhere(summed), NUMERIC, scale=magnitudes),
    lanes(
        "lax.pmean",
        LANES,
        lambda f, x: f(x, "i"),
        everywhere(np.mean),
        ("float32", "float64", "complex64", "complex128"),
        scale=lambda x: magnitudes(x) / 4,
    ),
    lanes(
        "lax.pmax",
        LANES,
        lambda f, x: f(x, "i"),
        everywhere(np.max),
        ORDERED,
        signed_zeros=False,
    ),
    lanes(
        "lax.pmin",
        LANES,
        lambda f, x: f(x, "i"),
        everywhere(np.min),
        ORDERED,
        signed_zeros=False,
    ),
    lanes(
        "lax.all_gather",
        LANES,
        lambda f, x: f(x, "i", axis=1, tiled=False),
        lambda x: gathered(x[..., None], axis=1),
        ANY,
    ),
    lanes(
        "lax.psum_scatter",
        ((4, 4, 3),),
        lambda f, x: f(x, "i"),
        cut,
        NUMERIC,
        scale=lambda x: cut(np.abs(x)),
    ),
    lanes(
        "lax.all_to_all",
        ((4, 8, 3),),
        lambda f, x: f(x, "i", 0, 1, tiled=True),
        lambda x: exchanged(x, split=0, concat=1),
        ANY,
    ),
    Case(
        "lax.ragged_all_to_all",
        lambda x: ragged(resolved("lax.ragged_all_to_all"), x),
        ((3, 4, 2),),
        {},
        ragged_reference,
        NUMERIC,
        signed_zeros=False,
    ),
    lanes(
        "lax.pswapaxes",
        ((4, 4, 3),),
        lambda f, x: f(x, "i", 0),
        lambda x: np.swapaxes(x, 0, 1),
        ANY,
    ),
    lanes("lax.ppermute", LANES, lambda f, x: f(x, "i", TURN), lambda x: sent(x, TURN), ANY),
    lanes(
        "lax.pshuffle", LANES, lambda f, x: f(x, "i", [2, 0, 3, 1]), lambda x: x[[2, 0, 3, 1]], ANY
    ),
    lanes("lax.pbroadcast", LANES, lambda f, x: f(x, "i", 2), lambda x: x[[2] * 4], ANY),
    lanes("lax.pvary", LANES, lambda f, x: f(x, "i"), lambda x: x, ANY),
    lanes("lax.pcast", LANES, lambda f, x: f(x, "i", to="varying"), lambda x: x, ANY),
    lanes(
        "lax.axis_index",
        LANES,
        lambda f, x: x * f("i"),
        lambda x: x * np.arange(4).reshape(4, 1),
        ("float32", "float64"),
    ),
    lanes("lax.axis_size", LANES, lambda f, x: x * f("i"), lambda x: 4 * x, ("float32", "float64")),
    public(
        "lax.with_sharding_constraint",
        ((4, 3),),
        {"shardings": NamedSharding(AbstractMesh((2,), ("x",)), PartitionSpec("x"))},
        reference=lambda x, shardings: x,
        dtypes=ANY,
    ),
)
