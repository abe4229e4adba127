"""Arrays out of nothing."""

from __future__ import annotations

from typing import Any

from arrayx_xla.emitter import Emitter, Value, type_of


def full(e: Emitter, *, shape: Any, dtype: Any, value: Any, weak_type: bool) -> Value:
    return e.constant(value, shape, dtype)


def iota(e: Emitter, *, shape: Any, dtype: Any, axis: int) -> Value:
    aval = e.results[0]
    return e.add("iota", f"stablehlo.iota dim = {axis} : {type_of(aval)}", aval)


RULES: dict[str, Any] = {"full": full, "iota": iota}
