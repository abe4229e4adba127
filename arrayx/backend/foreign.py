"""Functions from outside on a backend: which one runs, and how a kernel backend calls it."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.backend.contract import Device
from arrayx.control.callback import checked
from arrayx.control.external import OnArrays, keywords, targets
from arrayx.core.aval import Aval


def takes_target(target: str, backend: str) -> bool | str:
    """True where a function is registered under this name for this very backend."""
    if backend in targets.get(target, {}):
        return True
    return f"nothing is registered as {target!r} for it"


def ffi_call(
    device: Device,
    *operands: Any,
    target: str,
    avals: tuple[Aval, ...],
    attributes: tuple[tuple[str, Any], ...],
    vmap_method: str | None,
) -> tuple[Any, ...]:
    """The kernel: the function that is registered for the backend, on its own buffers."""
    result = targets[target][device.backend.name](*operands, **keywords(attributes))
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def ffi_call_on_arrays(
    device: Device,
    *operands: Any,
    target: str,
    avals: tuple[Aval, ...],
    attributes: tuple[tuple[str, Any], ...],
    vmap_method: str | None,
) -> tuple[Any, ...]:
    """The same where buffers are NumPy arrays: results are checked against their types."""
    results = OnArrays(targets[target][device.backend.name], attributes)(*operands)
    return tuple([checked(np.asarray(x), a, target) for x, a in zip(results, avals, strict=True)])
