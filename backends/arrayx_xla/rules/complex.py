"""Complex numbers apart and together."""

from __future__ import annotations

from typing import Any

from arrayx_xla.emitter import Emitter, Value, type_of


def real(e: Emitter, x: Value) -> Value:
    return e.to("real", x.name, e.results[0], x)


def imag(e: Emitter, x: Value) -> Value:
    return e.to("imag", x.name, e.results[0], x)


def complex_(e: Emitter, re: Value, im: Value) -> Value:
    aval = e.results[0]
    body = f"stablehlo.complex {re.name}, {im.name} : {type_of(aval)}"
    return e.add("complex", body, aval)


RULES: dict[str, Any] = {"real": real, "imag": imag, "complex": complex_}
