"""Cutting arrays and putting them together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import dtypes
from arrayx_xla.emitter import Emitter, Value

I32, I64 = np.dtype(np.int32), np.dtype(np.int64)


def slice_(e: Emitter, x: Value, *, starts: Any, limits: Any, strides: Any) -> Value:
    ranges = ", ".join(
        f"{a}:{b}" if s == 1 else f"{a}:{b}:{s}"
        for a, b, s in zip(starts, limits, strides, strict=True)
    )
    return e.to("slice", f"{x.name} [{ranges}]", e.results[0], x)


def pad(e: Emitter, x: Value, value: Any, *, low: Any, high: Any, interior: Any) -> Value:
    if not isinstance(value, Value):
        value = e.constant(value, (), x.dtype)
    body = (
        f"{x.name}, {value.name}, low = {list(low)}, high = {list(high)}, "
        f"interior = {list(interior)}"
    )
    return e.to("pad", body, e.results[0], x, value)


def concatenate(e: Emitter, *xs: Value, axis: int) -> Value:
    names = ", ".join(x.name for x in xs)
    return e.to("concatenate", f"{names}, dim = {axis}", e.results[0], *xs)


def as_index(e: Emitter, x: Value) -> Value:
    """Indices in a signed dtype that can count any axis, those out of bounds still so.

    XLA clamps in the dtype of the indices, where the length of an axis may overflow.
    """
    if x.dtype == I32 or x.dtype == I64:
        return x
    if x.dtype.itemsize < 4:
        return e.convert(x, I32)
    if dtypes.kind(x.dtype) == "uint" and x.dtype.itemsize == 8:
        x = e.op("minimum", x, e.like(int(np.iinfo(I64).max), x))
    return e.convert(x, I64)


def start_values(e: Emitter, starts: Sequence[Any]) -> list[Value]:
    """The starts of a window in one dtype; ints among them become constants."""
    arrays = [as_index(e, a) if isinstance(a, Value) else a for a in starts]
    dtype = next((a.dtype for a in arrays if isinstance(a, Value)), I32)
    limits = np.iinfo(dtype)
    return [
        a if isinstance(a, Value) else e.constant(min(max(a, limits.min), limits.max), (), dtype)
        for a in arrays
    ]


def dynamic_slice(e: Emitter, x: Value, *starts: Any, sizes: Any) -> Value:
    if not starts:
        return x
    values = start_values(e, starts)
    names = ", ".join(v.name for v in values)
    return e.to(
        "dynamic_slice", f"{x.name}, {names}, sizes = {list(sizes)}", e.results[0], x, *values
    )


def dynamic_update_slice(e: Emitter, x: Value, update: Value, *starts: Any) -> Value:
    if not starts:
        return update
    if not update.aval.size:
        return x
    values = start_values(e, starts)
    names = ", ".join(v.name for v in (x, update, *values))
    return e.to("dynamic_update_slice", names, x.aval, x, update, *values)


RULES: dict[str, Any] = {
    "slice": slice_,
    "pad": pad,
    "concatenate": concatenate,
    "dynamic_slice": dynamic_slice,
    "dynamic_update_slice": dynamic_update_slice,
}
