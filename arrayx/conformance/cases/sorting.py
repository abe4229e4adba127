"""Rows for sorting."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any

import numpy as np

from arrayx.conformance.case import ANY, FLOATS, ORDERED, REAL, Case, Operand
from arrayx.primitives import sorting


def compared(a: Any, b: Any) -> int:
    """The order of two keys: nan last, zeros equal, complex numbers by their parts."""
    if isinstance(a, complex | np.complexfloating):
        return compared(a.real, b.real) or compared(a.imag, b.imag)
    if a != a or b != b:
        return int(a != a) - int(b != b)
    return int(a > b) - int(a < b)


def sorted_together(*xs: Any, axis: int, num_keys: int) -> Any:
    """Line by line with Python's stable sort."""
    results = [np.moveaxis(x.copy(), axis, -1) for x in xs]
    lines = [np.moveaxis(x, axis, -1) for x in xs]
    for index in np.ndindex(lines[0].shape[:-1]):

        def order(i: int, j: int, index: Any = index) -> int:
            for key in lines[:num_keys]:
                sign = compared(key[index][i], key[index][j])
                if sign:
                    return sign
            return 0

        perm = sorted(range(lines[0].shape[-1]), key=cmp_to_key(order))
        for r, x in zip(results, lines, strict=True):
            r[index] = x[index][perm]
    return tuple(np.moveaxis(r, -1, axis) for r in results)


def searched_for(line: Any, wanted: Any, *, side: str, batch: int) -> Any:
    """The primitive, of lines that are sorted."""
    line = sorting.sort(line, axis=batch, num_keys=1)[0]
    return sorting.searchsorted(line, wanted, side=side, batch=batch, dtype=np.dtype(np.int32))


def places_of(line: Any, wanted: Any, *, side: str, batch: int) -> Any:
    """How many elements of its line stand before each wanted one, one by one."""
    out = np.zeros(wanted.shape, np.int32)
    for index in np.ndindex(wanted.shape):
        least = [compared(x, wanted[index]) for x in line[index[:batch]].reshape(-1)]
        out[index] = sum(c < (0 if side == "left" else 1) for c in least)
    return out


# Keys with many ties, which a payload tells apart.
FEW = (-1.0, 1.0)
REAL_ANY = tuple(d for d in ANY if not d.startswith("complex"))
CASES = (
    Case(
        "sort", sorting.sort, ((7,),), {"axis": 0, "num_keys": 1}, sorted_together, ANY, label="one"
    ),
    Case(
        "sort",
        sorting.sort,
        ((3, 3),),
        {"axis": 0, "num_keys": 1},
        sorted_together,
        REAL_ANY,
        label="columns",
    ),
    Case(
        "sort",
        sorting.sort,
        (Operand((3, 4), dtype="int8", domain=FEW), (3, 4)),
        {"axis": 1, "num_keys": 1},
        sorted_together,
        ANY,
        label="with_payload",
    ),
    Case(
        "sort",
        sorting.sort,
        ((2, 4), Operand((2, 4), dtype="float64")),
        {"axis": 1, "num_keys": 1},
        sorted_together,
        REAL,
        label="by_first",
    ),
    Case(
        "sort",
        sorting.sort,
        (Operand((9,), dtype="int32", domain=FEW), Operand((9,), domain=FEW), (9,)),
        {"axis": 0, "num_keys": 2},
        sorted_together,
        ORDERED,
        label="by_two",
    ),
    Case(
        "sort",
        sorting.sort,
        ((2, 0),),
        {"axis": 1, "num_keys": 1},
        sorted_together,
        FLOATS,
        label="empty",
    ),
    *(
        Case(
            "searchsorted",
            searched_for,
            (lines, wanted),
            {"side": side, "batch": len(lines) - 1},
            places_of,
            REAL_ANY,
            domain=FEW if side == "left" else (-3.0, 3.0),
            differentiable=(),
            label=f"{side}-{len(lines) - 1}-{len(wanted)}",
        )
        for side in ("left", "right")
        for lines, wanted in (((7,), (2, 3)), ((7,), ()), ((2, 5), (2, 3)), ((0,), (2,)))
    ),
)
