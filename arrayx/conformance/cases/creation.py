"""Rows for arrays out of nothing but params."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import Case
from arrayx.primitives import creation


def filled(shape: Any, dtype: Any, value: Any, weak_type: bool) -> Any:
    return np.full(shape, value, dtype)


def counted(shape: Any, dtype: Any, axis: int) -> Any:
    inner = [-1 if i == axis else 1 for i in range(len(shape))]
    return np.broadcast_to(np.arange(shape[axis]).reshape(inner), shape).astype(dtype)


def full(dtype: str, value: Any, shape: Any = (2, 3), label: str = "") -> Case:
    params = {"shape": shape, "dtype": np.dtype(dtype), "value": value, "weak_type": False}
    return Case("full", creation.full, (), params, filled, (dtype,), label=label or dtype)


def iota(dtype: str, shape: Any, axis: int) -> Case:
    params = {"shape": shape, "dtype": np.dtype(dtype), "axis": axis}
    label = f"{dtype}_{axis}_of_{len(shape)}"
    return Case("iota", creation.iota, (), params, counted, (dtype,), label=label)


CASES = (
    full("float32", 1.5),
    full("float64", float("nan"), label="nan"),
    full("bfloat16", -0.0),
    full("complex64", 1 - 2j),
    full("int8", -128),
    full("uint64", 2**64 - 1),
    full("bool", True),
    full("float32", 2.0, (), label="scalar"),
    full("float32", 2.0, (2, 0), label="empty"),
    iota("int32", (3, 4), 0),
    iota("int32", (3, 4), 1),
    iota("float32", (5,), 0),
    iota("bfloat16", (2, 3), 1),
    iota("uint8", (2, 3, 4), 1),
    iota("complex64", (3,), 0),
    iota("int64", (2, 0), 1),
)
