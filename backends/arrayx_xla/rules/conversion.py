"""From one dtype to another."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes
from arrayx.core.aval import Aval
from arrayx_xla.emitter import Emitter, Value


def convert(e: Emitter, x: Value, *, dtype: Any, weak_type: bool) -> Value:
    # XLA:CPU cuts floats towards zero, saturates, and makes nan 0, as arrayx promises.
    if dtypes.kind(x.dtype) == "complex" and dtypes.kind(dtype) != "complex":
        if dtypes.kind(dtype) == "bool":
            return e.compare("NE", x, e.like(0j, x))
        real = Aval(x.shape, dtypes.real_dtype(x.dtype))
        x = e.to("real", x.name, real, x)
    return e.convert(x, dtype)


def bitcast(e: Emitter, x: Value, *, dtype: Any) -> Value:
    return e.to("bitcast_convert", x.name, e.results[0], x)


def reduce_precision(e: Emitter, x: Value, *, exponent_bits: int, mantissa_bits: int) -> Value:
    body = f"stablehlo.reduce_precision {x.name}, format = e{exponent_bits}m{mantissa_bits}"
    return e.add("reduce_precision", f"{body} : {x.type}", x.aval)


RULES: dict[str, Any] = {
    "convert": convert,
    "bitcast": bitcast,
    "reduce_precision": reduce_precision,
}
