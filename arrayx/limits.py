"""The limits of dtypes as plain Python numbers, apart since they need no table of dtypes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class FloatLimits:
    """What a floating dtype can hold, as Python's own floats, under NumPy's names.

    `eps` is the distance from 1 to the next number, `epsneg` to the one before; `tiny` is
    `smallest_normal`.  Of a complex dtype they are those of its parts.
    """

    bits: int
    eps: float
    epsneg: float
    max: float
    min: float
    smallest_normal: float
    smallest_subnormal: float
    tiny: float
    resolution: float
    precision: int
    iexp: int
    machep: int
    maxexp: int
    minexp: int
    negep: int
    nexp: int
    nmant: int
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class IntegerLimits:
    """The least and the greatest number that an integer dtype holds."""

    bits: int
    min: int
    max: int
    kind: str
    dtype: np.dtype[Any]


def float_limits(dtype: np.dtype[Any]) -> FloatLimits:
    """The limits of a real floating dtype.

    >>> float_limits(np.dtype("float16")).max
    65504.0
    """
    found = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    values: dict[str, Any] = {"dtype": dtype}
    for field in fields(FloatLimits):
        if field.name != "dtype":
            python = float if field.type == "float" else int
            values[field.name] = python(getattr(found, field.name))
    return FloatLimits(**values)


def integer_limits(dtype: np.dtype[Any]) -> IntegerLimits:
    """The limits of an integer dtype.

    >>> integer_limits(np.dtype("int8")).min
    -128
    """
    found = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
    return IntegerLimits(int(found.bits), int(found.min), int(found.max), found.kind, dtype)
