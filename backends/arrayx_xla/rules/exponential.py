"""Exponentials, logarithms, roots and powers."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes
from arrayx.core.aval import Aval
from arrayx_xla.emitter import BOOL, Emitter, Value
from arrayx_xla.rules.forms import stable, through_float32

# XLA:CPU looks at six bits of an integer exponent.
_XLA_EXPONENTS = 64


@through_float32
def power(e: Emitter, x: Value, y: Value) -> Value:
    """Of an integer to a negative one the quotient of 1 and the positive power."""
    kind = dtypes.kind(x.dtype)
    if kind not in ("int", "uint"):
        return e.op("power", x, y)
    if y.literal is not None and 0 <= y.literal < _XLA_EXPONENTS:
        return e.op("power", x, y)
    if kind == "uint":
        return positive_power(e, x, y)
    zero, one, minus_one = (e.like(n, x) for n in (0, 1, -1))
    positive = positive_power(e, x, e.op("maximum", y, zero))
    odd = e.op("and", y, one)
    turned = e.op("subtract", e.op("subtract", one, odd), odd)
    tiny = e.select(e.compare("EQ", x, minus_one), turned, zero)
    tiny = e.select(e.compare("EQ", x, one), one, tiny)
    # 1 / 0 is -1, as in a division.
    tiny = e.select(e.compare("EQ", x, zero), minus_one, tiny)
    return e.select(e.compare("LT", y, zero), tiny, positive)


def positive_power(e: Emitter, x: Value, y: Value) -> Value:
    """An integer to the power of one that is not negative: squared until no bit is left."""
    zero, one = e.like(0, x), e.like(1, x)
    carried = [Value(e.fresh(name), x.aval) for name in ("result", "square", "bits")]
    result, square, bits = carried
    with e.region() as condition:
        left = e.compare("NE", bits, zero)
        axes = tuple(range(x.aval.ndim))
        some = e.reduce("or", left, False, axes, Aval((), BOOL))
        condition.append(f"{e.indent}stablehlo.return {some.name} : {some.type}")
    with e.region() as body:
        odd = e.compare("NE", e.op("and", bits, one), zero)
        values = (
            e.select(odd, e.op("multiply", result, square), result),
            e.op("multiply", square, square),
            e.op("shift_right_logical", bits, one),
        )
        names = ", ".join(v.name for v in values)
        types = ", ".join([x.type] * 3)
        body.append(f"{e.indent}stablehlo.return {names} : {types}")
    starts = ", ".join(f"{c.name} = {v.name}" for c, v in zip(carried, (one, x, y), strict=True))
    text = (
        f"stablehlo.while({starts}) : {types}\n{e.indent}cond {{\n"
        + "\n".join(condition)
        + f"\n{e.indent}}} do {{\n"
        + "\n".join(body)
        + f"\n{e.indent}}}"
    )
    return e.add_several("power", text, [x.aval] * 3)[0]


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
