"""Rows for moving, making and summing axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import ANY, FLOAT8, NUMERIC, Case
from arrayx.primitives import axes


def spread_out(x: Any, shape: Any, dims: Any) -> Any:
    inner = [1] * len(shape)
    for n, d in zip(x.shape, dims, strict=True):
        inner[d] = n
    return np.broadcast_to(x.reshape(inner), shape)


def summed(x: Any, axes: Any) -> Any:
    return np.sum(x, axis=axes, dtype=x.dtype)


def sizes_summed(x: Any, axes: Any) -> Any:
    return np.sum(np.abs(x), axis=axes)


BROADCASTS = (
    ("new", (3,), {"shape": (2, 3, 4), "dims": (1,)}),
    ("ones", (3, 1), {"shape": (3, 3, 3), "dims": (0, 2)}),
    ("scalar", (), {"shape": (2, 2), "dims": ()}),
    ("none", (2, 0), {"shape": (2, 0, 3), "dims": (0, 1)}),
)
SUMS = (
    ("all", (3, 3), {"axes": (0, 1)}),
    ("middle", (2, 3, 4), {"axes": (1,)}),
    ("apart", (3, 3, 3), {"axes": (0, 2)}),
    ("no_axis", (2, 3), {"axes": ()}),
    ("nothing", (2, 0), {"axes": (1,)}),
    ("long", (100,), {"axes": (0,)}),
)

CASES = (
    *(
        Case("broadcast_in_dim", axes.broadcast_in_dim, (s,), p, spread_out, ANY + FLOAT8, label=l)
        for l, s, p in BROADCASTS
    ),
    *(
        Case("reduce_sum", axes.reduce_sum, (s,), p, summed, NUMERIC, scale=sizes_summed, label=l)
        for l, s, p in SUMS
    ),
    Case(
        "reshape",
        axes.reshape,
        ((2, 3, 2),),
        {"shape": (3, 4)},
        lambda x, shape: x.reshape(shape),
        ANY + FLOAT8,
    ),
    Case(
        "transpose",
        axes.transpose,
        ((2, 3, 2),),
        {"perm": (2, 0, 1)},
        lambda x, perm: np.transpose(x, perm),
        ANY + FLOAT8,
    ),
    Case(
        "rev", axes.rev, ((3, 3),), {"axes": (1,)}, lambda x, axes: np.flip(x, axes), ANY + FLOAT8
    ),
    Case(
        "rev",
        axes.rev,
        ((3, 2, 3),),
        {"axes": (0, 2)},
        lambda x, axes: np.flip(x, axes),
        ANY,
        label="two",
    ),
)
