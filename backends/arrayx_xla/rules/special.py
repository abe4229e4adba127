"""Error and gamma functions."""

from __future__ import annotations

from typing import Any

from arrayx_xla.emitter import Emitter, Value
from arrayx_xla.rules.forms import chlo, through_float32


@through_float32
def polygamma(e: Emitter, x: Value, *, order: int) -> Value:
    return e.chlo("polygamma", e.like(float(order), x), x)


RULES: dict[str, Any] = {
    **{name: chlo(name) for name in ("erf", "erfc", "erf_inv", "lgamma", "digamma")},
    "polygamma": polygamma,
}
