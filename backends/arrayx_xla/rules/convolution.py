"""Convolution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayx import dtypes
from arrayx.core.aval import Aval
from arrayx.primitives.creation import zero_literal
from arrayx_xla.emitter import Emitter, Value
from arrayx_xla.rules.contraction import PRECISION
from arrayx_xla.rules.forms import F32, is_float8


def _spec(axes: Sequence[int], first: str, second: str) -> str:
    """What each axis is, in order: two letters, and numbers for the spatial ones."""
    words = {axes[0]: first, axes[1]: second}
    words.update((a, str(i)) for i, a in enumerate(axes[2:]))
    return f"[{', '.join(words[i] for i in range(len(axes)))}]"


def conv_general_dilated(
    e: Emitter,
    x: Value,
    y: Value,
    *,
    strides: Any,
    padding: Any,
    lhs_dilation: Any,
    rhs_dilation: Any,
    dims: Any,
    feature_groups: int,
    batch_groups: int,
    precision: Any,
) -> Value:
    out = e.results[0]
    if not (x.aval.size and y.aval.size):
        return e.constant(zero_literal(out.dtype), out.shape, out.dtype)
    wide = dtypes.accumulation_dtype(out.dtype)
    if is_float8(x.dtype):
        x, y = e.convert(x, F32), e.convert(y, F32)
    word = PRECISION.get(str(precision), "HIGHEST")
    pads = [list(pair) for pair in padding]
    body = (
        f"({x.name}, {y.name}) dim_numbers = {_spec(dims[0], 'b', 'f')}x"
        f"{_spec(dims[1], 'o', 'i')}->{_spec(dims[2], 'b', 'f')}, window = {{"
        f"stride = {list(strides)}, pad = {pads}, lhs_dilate = {list(lhs_dilation)}, "
        f"rhs_dilate = {list(rhs_dilation)}}} {{batch_group_count = {batch_groups} : i64, "
        f"feature_group_count = {feature_groups} : i64, precision_config = "
        f"[#stablehlo<precision {word}>, #stablehlo<precision {word}>]}}"
    )
    result = e.to("convolution", body, Aval(out.shape, wide), x, y)
    return e.convert(result, out.dtype)


RULES: dict[str, Any] = {"conv_general_dilated": conv_general_dilated}
