"""Reductions that are not sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayx import dtypes
from arrayx.primitives.creation import zero_literal
from arrayx.primitives.cumulative import highest, lowest
from arrayx_xla.emitter import Emitter, Value
from arrayx_xla.rules.axes import reduced
from arrayx_xla.rules.forms import through_float32


def _extreme(op: str, unit: Callable[[Any], Any]) -> Callable[..., Value]:
    @through_float32  # some floats of one byte have no infinity
    def rule(e: Emitter, x: Value, *, axes: Any) -> Value:
        aval = e.results[0].update(dtype=x.dtype, weak_type=False)
        return e.reduce(op, x, unit(x.dtype), axes, aval)

    return rule


def reduce_prod(e: Emitter, x: Value, *, axes: Any) -> Value:
    return reduced(e, "multiply", x, 1 + zero_literal(x.dtype), axes)


def reduce_and(e: Emitter, x: Value, *, axes: Any) -> Value:
    return e.reduce("and", x, all_bits(x.dtype), axes, e.results[0])


def reduce_or(e: Emitter, x: Value, *, axes: Any) -> Value:
    return e.reduce("or", x, zero_literal(x.dtype), axes, e.results[0])


def all_bits(dtype: Any) -> Any:
    """The literal whose bits are all set."""
    kind = dtypes.kind(dtype)
    if kind == "bool":
        return True
    return -1 if kind == "int" else int(dtypes.iinfo(dtype).max)


# argmax and argmin have no rule: their expansion is two reductions that XLA vectorises, where a
# reduction of pairs is a loop over elements.
RULES: dict[str, Any] = {
    "reduce_max": _extreme("maximum", lowest),
    "reduce_min": _extreme("minimum", highest),
    "reduce_prod": reduce_prod,
    "reduce_and": reduce_and,
    "reduce_or": reduce_or,
}
