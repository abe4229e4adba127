"""Rows for conversions by value and by bits."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from arrayx import dtypes
from arrayx.conformance.case import (
    ANY,
    COMPLEX,
    FLOAT8,
    FLOATS,
    INTEGERS,
    Case,
    Operand,
)
from arrayx.primitives import conversion

ONE = ((2, 3),)


def converted(x: Any, *, dtype: Any, weak_type: bool) -> Any:
    """Every element by Python's own numbers: exact, saturating from floats, else wrapping."""
    kind = dtypes.kind(dtype)
    if kind == "bool":
        return x != 0
    if kind in ("float", "complex"):
        return (np.real(x) if kind == "float" else x).astype(
            np.float64 if kind == "float" else np.complex128
        )
    limits = np.iinfo(dtype)
    if dtypes.kind(x.dtype) in ("int", "uint", "bool"):
        return x.astype(dtype)

    def one(value: float) -> int:
        if value != value:
            return 0
        return max(int(limits.min), min(int(limits.max), int(max(-1e30, min(1e30, value)))))

    return np.array([one(float(v)) for v in np.real(x).flat], dtype).reshape(x.shape)


def bits(x: Any, *, have: str, dtype: Any) -> Any:
    """The memory of elements of the dtype `have`, read as another dtype."""
    x = x.astype(have)
    if dtype.itemsize < x.dtype.itemsize:
        return np.ascontiguousarray(x).reshape(*x.shape, 1).view(dtype)
    if dtype.itemsize > x.dtype.itemsize:
        return np.ascontiguousarray(x).view(dtype).reshape(x.shape[:-1])
    return x.view(dtype)


def to(dtype: str, sources: tuple[str, ...], **more: Any) -> Case:
    """The row of the conversion to a dtype."""
    params = {"dtype": dtypes.as_dtype(dtype), "weak_type": False}
    return Case("convert", conversion.convert, ONE, params, converted, sources, label=dtype, **more)


# The integers of 64 bits; of a narrower dtype those that it has.
WHOLE = (-(2.0**63), 2.0**64)
EXTREMES = [0.5, -0.5, 1.9, -1.9, 1e10, -1e10, 3e38, -3e38, np.inf, -np.inf, np.nan, 127.5]

CASES = (
    *(to(d, ANY + FLOAT8, ulps=1) for d in (*FLOATS, *COMPLEX)),
    *(to(d, ANY + FLOAT8) for d in INTEGERS),
    to("bool", ANY),
    # Of the whole range, so that a detour through a narrower dtype shows.
    *(
        Case(
            "convert",
            conversion.convert,
            (Operand((8,), domain=WHOLE),),
            {"dtype": dtypes.as_dtype(d), "weak_type": False},
            converted,
            INTEGERS,
            ulps=1,
            label=f"{d}-wide",
        )
        for d in ("float32", "float64", *INTEGERS[:4], "uint32")
    ),
    to("float8_e4m3fn", ANY, ulps=1, special=False),
    *(
        Case(
            "convert",
            conversion.convert,
            (Operand((12,), values=EXTREMES),),
            {"dtype": dtypes.as_dtype(d), "weak_type": False},
            converted,
            ("float32", "float64", "bfloat16"),
            special=False,
            label=f"{d}-saturates",
        )
        for d in INTEGERS
    ),
    Case(
        "convert",
        conversion.convert,
        ONE,
        {"dtype": dtypes.as_dtype("float32"), "weak_type": True},
        converted,
        ("float32", "int32"),
        label="weak",
    ),
    *(
        Case(
            "bitcast",
            conversion.bitcast,
            ONE,
            {"dtype": dtypes.as_dtype(want)},
            partial(bits, have=have),
            (have,),
            special=False,
            label=f"{have}-{want}",
        )
        for have, want in (
            ("float32", "int32"),
            ("int32", "float32"),
            ("float64", "uint64"),
            ("float64", "uint32"),
            ("int32", "uint8"),
            ("float16", "uint16"),
        )
    ),
    Case(
        "bitcast",
        conversion.bitcast,
        ((3, 4),),
        {"dtype": dtypes.as_dtype("uint32")},
        partial(bits, have="uint8"),
        ("uint8",),
        label="uint8-uint32",
    ),
)
