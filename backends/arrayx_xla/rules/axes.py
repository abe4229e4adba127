"""Moving, making and summing axes."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes
from arrayx.core.aval import Aval
from arrayx.primitives.creation import zero_literal
from arrayx_xla.emitter import Emitter, Value


def broadcast_in_dim(e: Emitter, x: Value, *, shape: Any, dims: Any) -> Value:
    return e.to("broadcast_in_dim", f"{x.name}, dims = {list(dims)}", e.results[0], x)


def reduced(e: Emitter, op: str, x: Value, unit: Any, axes: Any) -> Value:
    """A reduction in which narrow floats are accumulated in float32."""
    dtype, out = x.dtype, e.results[0]
    wide = dtypes.accumulation_dtype(dtype)
    result = e.reduce(op, e.convert(x, wide), unit, axes, Aval(out.shape, wide))
    return e.convert(result, dtype)


def reduce_sum(e: Emitter, x: Value, *, axes: Any) -> Value:
    zero = zero_literal(x.dtype)
    if not axes:
        # A sum begins with 0, so it never is -0; XLA takes x + 0 for x.
        none = e.like(zero, x)
        return e.select(e.compare("EQ", x, none), none, x)
    return reduced(e, "add", x, zero, axes)


def reshape(e: Emitter, x: Value, *, shape: Any) -> Value:
    return e.reshape(x, shape)


def transpose(e: Emitter, x: Value, *, perm: Any) -> Value:
    return e.to("transpose", f"{x.name}, dims = {list(perm)}", e.results[0], x)


def rev(e: Emitter, x: Value, *, axes: Any) -> Value:
    body = f"stablehlo.reverse {x.name}, dims = {list(axes)} : {x.type}"
    return e.add("reverse", body, x.aval)


RULES: dict[str, Any] = {
    "broadcast_in_dim": broadcast_in_dim,
    "reduce_sum": reduce_sum,
    "reshape": reshape,
    "transpose": transpose,
    "rev": rev,
}
