"""Division, order and rounding."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes
from arrayx.core.aval import Aval
from arrayx_xla.emitter import Emitter, Value
from arrayx_xla.rules.forms import same, stable


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


def nextafter(e: Emitter, x: Value, y: Value) -> Value:
    """A step of the bits, read as integers: comparing floats, XLA:CPU takes denormals for 0."""
    bits = dtypes.as_dtype(f"int{8 * x.dtype.itemsize}")
    lowest = int(dtypes.iinfo(bits).min)
    a, b = (e.to("bitcast_convert", v.name, Aval(v.shape, bits), v) for v in (x, y))
    zero, bottom = e.like(0, a), e.like(lowest, a)

    def turned(v: Value) -> Value:
        """From bits to a number that counts floats in their order, and back."""
        return e.select(e.compare("LT", v, zero), e.op("subtract", bottom, v), v)

    i, j = turned(a), turned(b)
    one = e.like(1, a)
    up, down = e.op("add", i, one), e.op("subtract", i, one)
    moved = turned(e.select(e.compare("LT", i, j), up, down))
    # A step that ends at 0 keeps the sign.
    moved = e.select(e.compare("EQ", moved, zero), e.op("and", a, bottom), moved)
    moved = e.select(e.compare("EQ", i, j), b, moved)
    result = e.to("bitcast_convert", moved.name, x.aval, moved)
    numbers = e.op("and", e.compare("EQ", x, x), e.compare("EQ", y, y))
    return e.select(numbers, result, e.like(float("nan"), x))


RULES: dict[str, Any] = {
    "div": same("divide"),
    "rem": same("remainder"),
    "max": same("maximum"),
    "min": same("minimum"),
    "clamp": clamp,
    "abs": absolute,
    "sign": sign,
    "nextafter": nextafter,
    "floor": stable("floor"),
    "ceil": stable("ceil"),
    "round": stable("round_nearest_even"),
    "is_finite": is_finite,
}
