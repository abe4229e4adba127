"""Rows for cutting arrays and putting them together."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import ANY, FLOAT8, INEXACT, NUMERIC, Case, Operand
from arrayx.primitives import slicing


def sliced(x: Any, starts: Any, limits: Any, strides: Any) -> Any:
    return x[tuple(map(slice, starts, limits, strides))]


def padded(x: Any, value: Any, low: Any, high: Any, interior: Any) -> Any:
    """Element by element: the place of each, and whether there is one."""
    shape = tuple(
        a + n + max(n - 1, 0) * i + b
        for n, a, b, i in zip(x.shape, low, high, interior, strict=True)
    )
    out = np.full(shape, value, x.dtype)
    for index in np.ndindex(x.shape):
        place = tuple(a + k * (i + 1) for k, a, i in zip(index, low, interior, strict=True))
        if all(0 <= p < n for p, n in zip(place, shape, strict=True)):
            out[place] = x[index]
    return out


def window(shape: Any, starts: Any, sizes: Any) -> Any:
    moved = [int(np.clip(a, 0, n - s)) for a, n, s in zip(starts, shape, sizes, strict=True)]
    return tuple(slice(a, a + s) for a, s in zip(moved, sizes, strict=True))


def sliced_at(x: Any, *starts: Any, sizes: Any) -> Any:
    return x[window(x.shape, starts, sizes)]


def updated_at(x: Any, update: Any, *starts: Any) -> Any:
    out = x.copy()
    out[window(x.shape, starts, update.shape)] = update
    return out


def START(dtype: str = "int32") -> Operand:
    """A start, often out of bounds."""
    return Operand((), dtype=dtype, domain=(-1 if dtype[0] == "i" else 0, 4))


SLICES = (
    ("plain", (4, 3), (1, 0), (3, 3), (1, 1)),
    ("strided", (5, 5), (1, 0), (5, 4), (3, 2)),
    ("empty", (4, 3), (2, 1), (2, 3), (1, 2)),
    ("scalar", (), (), (), ()),
)
PADS = (
    ("around", (2, 3), (1, 0), (0, 2), (0, 0)),
    ("negative", (4, 3), (-1, 2), (1, -1), (0, 0)),
    ("interior", (3, 2), (0, 1), (2, 0), (1, 2)),
    ("cut_interior", (3, 3), (-2, -1), (-1, 1), (1, 2)),
    ("cut_all", (2, 2), (-3, 0), (4, 0), (0, 0)),
    ("empty", (0, 2), (1, 0), (2, 0), (3, 0)),
    ("scalar", (), (), (), ()),
)

CASES = (
    *(
        Case(
            "slice",
            slicing.slice,
            (shape,),
            {"starts": starts, "limits": limits, "strides": strides},
            sliced,
            ANY + FLOAT8,
            label=label,
        )
        for label, shape, starts, limits, strides in SLICES
    ),
    *(
        Case(
            "pad",
            slicing.pad,
            (shape, ()),
            {"low": low, "high": high, "interior": interior},
            padded,
            ANY + FLOAT8,
            label=label,
        )
        for label, shape, low, high, interior in PADS
    ),
    Case(
        "pad",
        lambda x: slicing.pad(x, 0, low=(1, -1), high=(-1, 0), interior=(1, 0)),
        ((3, 3),),
        {},
        lambda x: padded(x, 0, (1, -1), (-1, 0), (1, 0)),
        NUMERIC,
        label="literal",
    ),
    Case(
        "concatenate",
        slicing.concatenate,
        ((2, 3), (2, 2), (2, 0)),
        {"axis": 1},
        lambda *xs, axis: np.concatenate(xs, axis),
        ANY + FLOAT8,
    ),
    Case(
        "concatenate",
        slicing.concatenate,
        ((2, 2), (2, 2)),
        {"axis": 0},
        lambda *xs, axis: np.concatenate(xs, axis),
        INEXACT,
        label="square",
    ),
    Case(
        "dynamic_slice",
        slicing.dynamic_slice,
        ((4, 3), START(), START()),
        {"sizes": (2, 2)},
        sliced_at,
        ANY + FLOAT8,
    ),
    Case(
        "dynamic_slice",
        lambda x, i: slicing.dynamic_slice(x, 1, i, sizes=(2, 3)),
        ((3, 3), START("uint8")),
        {},
        lambda x, i: sliced_at(x, 1, i, sizes=(2, 3)),
        INEXACT,
        label="literal",
    ),
    Case(
        "dynamic_slice",
        lambda x, i: slicing.dynamic_slice(x, 9, i, sizes=(2, 2)),
        ((3, 3), START()),
        {},
        lambda x, i: sliced_at(x, 9, i, sizes=(2, 2)),
        INEXACT,
        label="literal_outside",
    ),
    Case(
        "dynamic_update_slice",
        slicing.dynamic_update_slice,
        ((4, 3), (2, 2), START(), START()),
        {},
        updated_at,
        ANY + FLOAT8,
    ),
    Case(
        "dynamic_update_slice",
        lambda x, u, i: slicing.dynamic_update_slice(x, u, i, 0),
        ((3, 3), (2, 3), START("int64")),
        {},
        lambda x, u, i: updated_at(x, u, i, 0),
        INEXACT,
        label="literal",
    ),
)
