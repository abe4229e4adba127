"""Exponentials, logarithms, roots and powers."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes
from arrayx_xla.emitter import Emitter, Value
from arrayx_xla.rules.forms import stable, through_float32


@through_float32
def power(e: Emitter, x: Value, y: Value) -> Value:
    """Of an integer to a negative one the quotient of 1 and the positive power."""
    known = y.literal is not None and y.literal >= 0 if dtypes.kind(x.dtype) == "int" else True
    if known:
        return e.op("power", x, y)
    zero, one, minus_one = (e.like(n, x) for n in (0, 1, -1))
    positive = e.op("power", x, e.op("maximum", y, zero))
    odd = e.op("and", y, one)
    turned = e.op("subtract", e.op("subtract", one, odd), odd)
    tiny = e.select(e.compare("EQ", x, minus_one), turned, zero)
    tiny = e.select(e.compare("EQ", x, one), one, tiny)
    # 1 / 0 is -1, as in a division.
    tiny = e.select(e.compare("EQ", x, zero), minus_one, tiny)
    return e.select(e.compare("LT", y, zero), tiny, positive)


RULES: dict[str, Any] = {
    "exp": stable("exponential"),
    "expm1": stable("exponential_minus_one"),
    "log": stable("log"),
    "log1p": stable("log_plus_one"),
    "sqrt": stable("sqrt"),
    "rsqrt": stable("rsqrt"),
    "cbrt": stable("cbrt"),
    "logistic": stable("logistic"),
    "pow": power,
}
