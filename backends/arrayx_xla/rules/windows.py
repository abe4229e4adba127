"""Reductions over windows.

The sums of what reaches an extreme have no rule: XLA fuses the slices of their expansion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayx import dtypes
from arrayx.core.aval import Aval
from arrayx.primitives.creation import zero_literal
from arrayx.primitives.cumulative import highest, lowest
from arrayx_xla.emitter import Emitter, Value, type_of
from arrayx_xla.rules.forms import F32, is_float8
from arrayx_xla.rules.reduction import all_bits


def _array(values: Any) -> str:
    return f"array<i64: {', '.join(map(str, values))}>"


def _windowed(op: str, unit: Callable[[Any], Any], widens: bool = False) -> Callable[..., Value]:
    def rule(
        e: Emitter,
        x: Value,
        *,
        window: Any,
        strides: Any,
        padding: Any,
        base_dilation: Any,
        window_dilation: Any,
    ) -> Value:
        out, dtype = e.results[0], x.dtype
        if not x.aval.size or not window:
            return x if not window else e.constant(unit(dtype), out.shape, dtype)
        if widens:
            x = e.convert(x, dtypes.accumulation_dtype(dtype))
        elif is_float8(dtype):
            x = e.convert(x, F32)  # some floats of one byte have no infinity
        start = e.constant(unit(x.dtype), (), x.dtype)
        scalar, made = type_of(Aval((), x.dtype)), Aval(out.shape, x.dtype)
        indent = e.indent
        body = (
            f'"stablehlo.reduce_window"({x.name}, {start.name}) <{{'
            f"window_dimensions = {_array(window)}, window_strides = {_array(strides)}, "
            f"base_dilations = {_array(base_dilation)}, "
            f"window_dilations = {_array(window_dilation)}, "
            f"padding = dense<{[list(p) for p in padding]}> : tensor<{len(window)}x2xi64>}}> ({{\n"
            f"{indent}^bb0(%old: {scalar}, %new: {scalar}):\n"
            f"{indent}  %both = stablehlo.{op} %old, %new : {scalar}\n"
            f"{indent}  stablehlo.return %both : {scalar}\n"
            f"{indent}}}) : ({x.type}, {scalar}) -> {type_of(made)}"
        )
        return e.convert(e.add("reduce_window", body, made), dtype)

    return rule


RULES: dict[str, Any] = {
    "reduce_window_sum": _windowed("add", zero_literal, True),
    "reduce_window_prod": _windowed("multiply", lambda dtype: 1 + zero_literal(dtype), True),
    "reduce_window_max": _windowed("maximum", lowest),
    "reduce_window_min": _windowed("minimum", highest),
    "reduce_window_and": _windowed("and", all_bits),
    "reduce_window_or": _windowed("or", zero_literal),
}
