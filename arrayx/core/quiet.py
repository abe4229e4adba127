"""Calling NumPy kernels without their floating-point warnings, cheaply.

Entering a context in which `np.seterr` was called costs a tenth of `np.errstate`.  It stands
on this floor because the primitives' own fast path needs it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import Context
from typing import Any

import numpy as np


class Quiet(threading.local):
    """One context for each thread: a context can be entered only once at a time."""

    run: Callable[..., Any]

    def __init__(self) -> None:
        # An empty one: a copy would keep alive, and show to kernels, what the first caller
        # of this thread had set.
        context = Context()
        context.run(np.seterr, all="ignore")
        self.run = context.run


quiet = Quiet()


def quietly(function: Callable[..., Any], *args: Any) -> Any:
    """`function(*args)` without warnings, also where the context is entered already.

    That is so in a kernel that runs a graph, or a finalizer that interrupts a kernel.
    """
    try:
        return quiet.run(function, *args)
    except RuntimeError as error:
        if "cannot enter context" not in str(error):
            raise
        with np.errstate(all="ignore"):
            return function(*args)
