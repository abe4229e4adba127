"""Running sums, products and extremes, as windows that reach back to the beginning.

XLA:CPU makes two levels of blocks of such a window, not a quadratic loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayx import dtypes
from arrayx.core.aval import Aval
from arrayx.primitives.creation import zero_literal
from arrayx.primitives.cumulative import highest, lowest
from arrayx_xla.emitter import Emitter, Value, type_of


def _cumulative(op: str, unit: Callable[[Any], Any]) -> Callable[..., Value]:
    def rule(e: Emitter, x: Value, *, axis: int, reverse: bool) -> Value:
        dtype = x.dtype
        x = e.convert(x, dtypes.accumulation_dtype(dtype))
        start = e.constant(unit(x.dtype), (), x.dtype)
        ndim, n = x.aval.ndim, x.shape[axis]
        window = ", ".join(str(n if d == axis else 1) for d in range(ndim))
        around = [0, n - 1] if reverse else [n - 1, 0]
        padding = [around if d == axis else [0, 0] for d in range(ndim)]
        scalar = type_of(Aval((), x.dtype))
        indent = e.indent
        body = (
            f'"stablehlo.reduce_window"({x.name}, {start.name}) <{{'
            f"window_dimensions = array<i64: {window}>, "
            f"padding = dense<{padding}> : tensor<{ndim}x2xi64>}}> ({{\n"
            f"{indent}^bb0(%old: {scalar}, %new: {scalar}):\n"
            f"{indent}  %both = stablehlo.{op} %old, %new : {scalar}\n"
            f"{indent}  stablehlo.return %both : {scalar}\n"
            f"{indent}}}) : ({x.type}, {scalar}) -> {x.type}"
        )
        return e.convert(e.add("reduce_window", body, x.aval), dtype)

    return rule


# cumlogsumexp has no rule: its expansion keeps the maximum apart from the sum.
RULES: dict[str, Any] = {
    "cumsum": _cumulative("add", zero_literal),
    "cumprod": _cumulative("multiply", lambda dtype: 1 + zero_literal(dtype)),
    "cummax": _cumulative("maximum", lowest),
    "cummin": _cumulative("minimum", highest),
}
