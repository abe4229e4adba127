"""Calls of users' functions from running programs: in the caller's context, on NumPy arrays.

Programs of NumPy kernels run in a context of their own, without warnings; a user's function
has to see the settings of whoever called the program, and to raise its errors there.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayx.backend.concrete import ConcreteArray
from arrayx.backend.contract import Device
from arrayx.control.callback import OfKeys, call_back
from arrayx.core.aval import Aval
from arrayx.core.quiet import quietly


class _Callers(threading.local):
    """The contexts of the calls that run in this thread, innermost last."""

    def __init__(self) -> None:
        self.contexts: list[contextvars.Context] = []


_callers = _Callers()


def run_calling_back(run: Callable[..., Any], quiet: bool, *args: Any) -> Any:
    """`run(*args)`, a program with callbacks, which get the present context."""
    _callers.contexts.append(contextvars.copy_context())
    try:
        return quietly(run, *args) if quiet else run(*args)
    finally:
        _callers.contexts.pop()


def callback(
    device: Device,
    *buffers: Any,
    function: Callable[..., Any],
    avals: tuple[Aval, ...],
    name: str,
    **params: Any,
) -> tuple[Any, ...]:
    """The kernel: one call.  The arrays are copies, since buffers are used again."""
    backend = device.backend
    arrays = [np.array(backend.get(b)) for b in buffers]
    contexts = _callers.contexts
    if contexts:
        # A copy, since a context can be entered only once at a time.
        results = contexts[-1].copy().run(call_back, function, avals, name, arrays)
    else:
        results = call_back(function, avals, name, arrays)
    return tuple([backend.put(x, device) for x in results])


def call_now(args: Sequence[Any], params: dict[str, Any], device: Device) -> tuple[Any, ...]:
    """A callback on concrete arrays, eagerly."""
    arrays = [_given(x) for x in args]
    avals = params["avals"]
    results = call_back(params["function"], avals, params["name"], arrays)
    backend = device.backend
    return tuple(
        [device.array_type(backend.put(x, device), a) for x, a in zip(results, avals, strict=True)]
    )


def _given(x: Any) -> Any:
    """An array as users' functions take it; keys stay keys."""
    if not isinstance(x, ConcreteArray):
        return np.asarray(x)
    return x if not isinstance(x.aval.dtype, np.dtype) else np.array(x.host())


def keys_on(device: Callable[[], Device]) -> None:
    """Hands over how keys are made of words."""

    def keys_of(words: Any, aval: Aval) -> Any:
        home = device()
        shape = words.shape[:-1]
        return home.array_type(home.backend.put(words, home), aval.update(shape=shape))

    OfKeys.keys_of = staticmethod(keys_of)
