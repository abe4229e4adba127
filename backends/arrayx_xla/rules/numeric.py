"""Division, order and rounding."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes
from arrayx_xla.emitter import Emitter, Value
from arrayx_xla.rules.forms import chlo, same, stable


def clamp(e: Emitter, low: Value, x: Value, high: Value) -> Value:
    # Not stablehlo.clamp, which has no booleans.
    return e.op("minimum", e.op("maximum", x, low), high)


def absolute(e: Emitter, x: Value) -> Value:
    kind = dtypes.kind(x.dtype)
    if kind == "uint":
        return x
    if kind == "complex":
        return e.to("abs", x.name, e.results[0], x)
    return e.op("abs", x)


def sign(e: Emitter, x: Value) -> Value:
    if dtypes.kind(x.dtype) != "uint":
        return e.op("sign", x)
    return e.op("minimum", x, e.like(1, x))


def is_finite(e: Emitter, x: Value) -> Value:
    return e.to("is_finite", x.name, e.results[0], x)


RULES: dict[str, Any] = {
    "div": same("divide"),
    "rem": same("remainder"),
    "max": same("maximum"),
    "min": same("minimum"),
    "clamp": clamp,
    "abs": absolute,
    "sign": sign,
    "nextafter": chlo("next_after"),
    "floor": stable("floor"),
    "ceil": stable("ceil"),
    "round": stable("round_nearest_even"),
    "is_finite": is_finite,
}
