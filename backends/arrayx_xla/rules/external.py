"""Functions from outside: calls of targets that were registered for XLA."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.control.external import Number, targets
from arrayx.core.aval import Aval
from arrayx_xla.client import is_target, register_target
from arrayx_xla.emitter import Emitter, Value, type_of
from arrayx_xla.rules.control import row_major
from arrayx_xla.text import element_type, literal, quoted


def ffi_call(
    e: Emitter,
    *operands: Value,
    target: str,
    avals: tuple[Aval, ...],
    attributes: tuple[tuple[str, Any], ...],
    vmap_method: str | None,
) -> tuple[Value, ...]:
    """A custom call of the typed form, operands and results in rows."""
    name = register_target(target, targets[target]["xla"])
    config = ", ".join(f"{quoted(k)} = {attribute(v)}" for k, v in attributes)
    given = ", ".join(v.type for v in operands)
    made = ", ".join(map(type_of, avals))
    body = (
        f"stablehlo.custom_call @{quoted(name)}({', '.join(v.name for v in operands)}) "
        f"{{api_version = 4 : i32, backend_config = {{{config}}}, "
        f"operand_layouts = [{', '.join(row_major(v.aval) for v in operands)}], "
        f"result_layouts = [{', '.join(map(row_major, avals))}]}} : ({given}) -> "
        f"{made if len(avals) == 1 else f'({made})'}"
    )
    return tuple(e.add_several("external", body, list(avals)))


def attribute(value: Any) -> str:
    """A static argument as an attribute of MLIR: Python's numbers have 64 bits."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Number):
        dtype, values = value.dtype, value.values
    else:
        values = value
        dtype = np.asarray(value).dtype if value != () else np.dtype(np.int64)
    if not isinstance(values, tuple):
        return f"{literal(values, dtype)} : {element_type(dtype)}"
    listed = ", ".join(literal(v, dtype) for v in values)
    return f"array<{element_type(dtype)}: {listed}>" if listed else f"array<{element_type(dtype)}>"


def is_registered(platform: str, equation: Any) -> bool | str:
    target = equation.params["target"]
    found = targets.get(target, {}).get("xla")
    if found is None:
        return f"nothing is registered as {target!r} for it"
    if not is_target(found):
        return f"what is registered as {target!r} is no capsule or pointer of compiled code"
    return True if platform == "cpu" else f"{target!r} is code for the CPU"


RULES: dict[str, Any] = {"ffi_call": ffi_call}
WHEN: dict[str, Any] = {"ffi_call": is_registered}
