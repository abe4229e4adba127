"""Rows for operations across the lanes of a named axis, which here is the first of the operand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx.conformance.case import ANY, NUMERIC, ORDERED, Case
from arrayx.primitives import collectives
from arrayx.primitives.arithmetic import mul
from arrayx.primitives.axes import broadcast_in_dim, move_batch_dim
from arrayx.primitives.conversion import convert
from arrayx.transforms.vmap import vmap_flat

PAIRS = ((0, 2), (3, 1))


def in_lanes(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one lane as one of all lanes, stacked along the first axis."""

    def stacked(x: Any, **params: Any) -> Any:
        n = x.aval.shape[0]
        (result,), (dim,) = vmap_flat(lambda v: [function(v, **params)], n, [x], [0], "i")
        return move_batch_dim(n, result, dim, 0)

    return stacked


def numbered(x: Any) -> Any:
    """Each lane's value times the lane's number."""
    index = collectives.axis_index(axis_name="i", tracked=False)
    index = convert(index, dtype=x.aval.dtype, weak_type=False)
    return mul(x, broadcast_in_dim(index, shape=x.aval.shape, dims=()))


def everywhere(reduce: Any, **options: Any) -> Callable[..., Any]:
    """A reduction of all lanes, or of each group, in every lane of them."""

    def model(x: Any, groups: Any = None, **params: Any) -> Any:
        out = np.empty_like(x)
        for group in map(list, groups or [range(len(x))]):
            out[group] = reduce(x[group], 0, **options)
        return out

    return model


def summed(x: Any, axis: int) -> Any:
    return np.sum(x, axis, dtype=x.dtype)


def magnitudes(x: Any, **params: Any) -> Any:
    return everywhere(summed)(np.abs(x), **params)


def gathered(x: Any, axis: int, **params: Any) -> Any:
    return np.stack([np.concatenate(list(x), axis=axis)] * len(x))


def scattered(x: Any, axis: int, **params: Any) -> Any:
    return np.stack(np.split(summed(x, 0), len(x), axis=axis))


def exchanged(x: Any, split: int, concat: int, **params: Any) -> Any:
    parts = [np.split(lane, len(x), axis=split) for lane in x]
    return np.stack([np.concatenate([p[i] for p in parts], axis=concat) for i in range(len(x))])


def sent(x: Any, perm: Any, **params: Any) -> Any:
    out = np.zeros_like(x)
    for i, j in perm:
        out[j] = x[i]
    return out


ALL = {"axes": ("i",), "groups": None, "tracked": False}
ONE = {"axis_name": "i", "tracked": False}
SIZED = {**ONE, "size": 4, "groups": None}

CASES = (
    Case(
        "psum",
        in_lanes(collectives.psum),
        ((4, 3),),
        ALL,
        everywhere(summed),
        NUMERIC,
        scale=magnitudes,
    ),
    Case(
        "psum",
        in_lanes(collectives.psum),
        ((4, 3),),
        {**ALL, "groups": PAIRS},
        everywhere(summed),
        NUMERIC,
        scale=magnitudes,
        label="groups",
    ),
    Case(
        "pmax",
        in_lanes(collectives.pmax),
        ((4, 3),),
        ALL,
        everywhere(np.max),
        ORDERED,
        signed_zeros=False,
    ),
    Case(
        "pmin",
        in_lanes(collectives.pmin),
        ((4, 3),),
        ALL,
        everywhere(np.min),
        ORDERED,
        signed_zeros=False,
    ),
    Case(
        "all_gather",
        in_lanes(collectives.all_gather),
        ((4, 2, 3),),
        {**SIZED, "axis": 1, "same": False},
        gathered,
        ANY,
    ),
    Case(
        "psum_scatter",
        in_lanes(collectives.psum_scatter),
        ((4, 2, 8),),
        {**SIZED, "axis": 1},
        scattered,
        NUMERIC,
        scale=lambda x, **params: scattered(np.abs(x), **params),
    ),
    Case(
        "all_to_all",
        in_lanes(collectives.all_to_all),
        ((4, 8, 3),),
        {**SIZED, "split": 0, "concat": 1},
        exchanged,
        ANY,
    ),
    Case(
        "ppermute",
        in_lanes(collectives.ppermute),
        ((4, 3),),
        {**ONE, "perm": ((0, 2), (3, 0))},
        sent,
        ANY,
    ),
    Case(
        "pbroadcast",
        in_lanes(collectives.pbroadcast),
        ((4, 3),),
        {**ONE, "source": 2},
        lambda x, **params: x[[2] * 4],
        ANY,
    ),
    Case(
        "axis_index",
        in_lanes(numbered),
        ((4, 3),),
        {},
        lambda x: x * np.arange(4).reshape(4, 1).astype(x.dtype),
        NUMERIC,
    ),
    # Over the axis of a vmap every value may differ already.
    Case("pvary", in_lanes(collectives.pvary), ((4, 3),), {"axes": ("i",)}, lambda x, axes: x, ANY),
)
