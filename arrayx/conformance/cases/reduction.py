"""Rows for reductions that are not sums, and for where the extremes are."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import LOGICAL, NUMERIC, ORDERED, Case
from arrayx.primitives import reduction

FORMS = (
    ("all", (3, 3), (0, 1)),
    ("middle", (2, 3, 4), (1,)),
    ("apart", (3, 2, 3), (0, 2)),
    ("no_axis", (2, 3), ()),
    ("odd", (5,), (0,)),
    ("nothing_left", (0, 3), (1,)),
)


def extreme(ufunc: Any, unit: Any) -> Any:
    def reference(x: Any, axes: Any) -> Any:
        return ufunc.reduce(x, axis=axes, initial=unit(x))

    return reference


def lowest(x: Any) -> Any:
    if x.dtype == bool:
        return False
    return -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min


def highest(x: Any) -> Any:
    if x.dtype == bool:
        return True
    return np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).max


def multiplied(x: Any, axes: Any) -> Any:
    return np.multiply.reduce(x, axis=axes, dtype=x.dtype)


def logical(name: str) -> Any:
    def reference(x: Any, axes: Any) -> Any:
        of_bools, of_integers = getattr(np, f"logical_{name}"), getattr(np, f"bitwise_{name}")
        return (of_bools if x.dtype == bool else of_integers).reduce(x, axis=axes)

    return reference


def first(find: Any) -> Any:
    def reference(x: Any, axis: int, dtype: Any) -> Any:
        return find(x, axis).astype(dtype)

    return reference


REDUCTIONS = (
    ("reduce_max", reduction.reduce_max, extreme(np.maximum, lowest), ORDERED),
    ("reduce_min", reduction.reduce_min, extreme(np.minimum, highest), ORDERED),
    ("reduce_prod", reduction.reduce_prod, multiplied, NUMERIC),
    ("reduce_and", reduction.reduce_and, logical("and"), LOGICAL),
    ("reduce_or", reduction.reduce_or, logical("or"), LOGICAL),
)
# Differences of the infinite extremes of nothing are none: these rows have no derivative.
WIDE = ("float64", "complex128")
EMPTY = ("empty", (2, 0), (1,))

CASES = (
    *(
        Case(
            name,
            call,
            (shape,),
            {"axes": axes},
            reference,
            tuple(d for d in kinds if d not in WIDE) if label == "empty" else kinds,
            scale=(lambda x, axes: 1 + multiplied(np.abs(x), axes)) if "prod" in name else None,
            signed_zeros=False,
            label=label,
        )
        for name, call, reference, kinds in REDUCTIONS
        for label, shape, axes in (*FORMS, EMPTY)
    ),
    *(
        Case(
            name,
            call,
            (shape,),
            {"axis": axis, "dtype": np.dtype(dtype)},
            first(find),
            ORDERED,
            differentiable=(),
            domain=domain,
            label=label,
        )
        for name, call, find in (
            ("argmax", reduction.argmax, np.argmax),
            ("argmin", reduction.argmin, np.argmin),
        )
        for label, shape, axis, dtype, domain in (
            ("rows", (3, 3), 0, "int32", (-3.0, 3.0)),
            ("ties", (2, 9, 2), 1, "uint8", (-1.0, 1.0)),
            ("vector", (4,), 0, "int64", (-3.0, 3.0)),
        )
    ),
)
