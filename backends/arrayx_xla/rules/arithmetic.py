"""Ring operations, comparisons and choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayx.primitives.creation import zero_literal
from arrayx_xla.emitter import Emitter, Value
from arrayx_xla.rules.forms import same


def absorb_mul(e: Emitter, x: Value, y: Value) -> Value:
    """The product, and 0 where either factor is 0."""
    product = e.op("multiply", x, y)
    zero = e.like(zero_literal(x.dtype), x)
    # A literal that is not zero needs no test.
    tests = [e.compare("EQ", v, zero) for v in (x, y) if not v.literal]
    if not tests:
        return product
    either = tests[0] if len(tests) == 1 else e.op("or", *tests)
    return e.select(either, zero, product)


def _compare(direction: str) -> Callable[..., Value]:
    return lambda e, x, y: e.compare(direction, x, y)


def select(e: Emitter, which: Value, x: Value, y: Value) -> Value:
    return e.select(which, x, y)


RULES: dict[str, Any] = {
    "add": same("add"),
    "sub": same("subtract"),
    "neg": same("negate"),
    "mul": same("multiply"),
    "absorb_mul": absorb_mul,
    "select": select,
    **{name: _compare(name.upper()) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
}
