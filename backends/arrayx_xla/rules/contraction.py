"""Products that sum over axes."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes
from arrayx.core.aval import Aval
from arrayx_xla.emitter import Emitter, Value
from arrayx_xla.rules.forms import F32, is_float8

# StableHLO's words; None and whatever else is asked for is the full precision of the dtype.
PRECISION = {"default": "DEFAULT", "high": "HIGH"}


def dot_general(
    e: Emitter, x: Value, y: Value, *, contracting: Any, batch: Any, precision: Any
) -> Value:
    out = e.results[0]
    wide = dtypes.accumulation_dtype(out.dtype)
    if is_float8(x.dtype):
        x, y = e.convert(x, F32), e.convert(y, F32)
    word = PRECISION.get(str(precision), "HIGHEST")
    batching = f"batching_dims = {list(batch[0])} x {list(batch[1])}, " if batch[0] else ""
    body = (
        f"{x.name}, {y.name}, {batching}"
        f"contracting_dims = {list(contracting[0])} x {list(contracting[1])}, "
        f"precision = [{word}, {word}]"
    )
    result = e.to("dot_general", body, Aval(out.shape, wide), x, y)
    return e.convert(result, out.dtype)


RULES: dict[str, Any] = {"dot_general": dot_general}
