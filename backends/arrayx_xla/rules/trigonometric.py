"""Circular and hyperbolic functions."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes
from arrayx_xla.emitter import Emitter, Value
from arrayx_xla.rules.forms import chlo, stable


def atanh(e: Emitter, x: Value) -> Value:
    """By log1p of 2|x| / (1 - |x|), since CHLO's difference of logarithms is ten ulps off."""
    dtype = x.dtype
    if dtypes.kind(dtype) == "complex":
        return e.chlo("atanh", x)
    x = e.convert(x, dtypes.accumulation_dtype(dtype))
    size = e.op("abs", x)
    rest = e.op("subtract", e.like(1.0, x), size)
    ratio = e.op("divide", e.op("add", size, size), rest)
    half = e.op("multiply", e.op("log_plus_one", ratio), e.like(0.5, x))
    return e.convert(e.op("multiply", half, e.op("sign", x)), dtype)


RULES: dict[str, Any] = {
    "sin": stable("sine"),
    "cos": stable("cosine"),
    "tan": stable("tan"),
    "tanh": stable("tanh"),
    "atan2": stable("atan2"),
    "atanh": atanh,
    **{name: chlo(name) for name in ("asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh")},
}
