"""What the xla backend keeps an array in while no program has needed it on a device yet."""

from __future__ import annotations

from typing import Any

import numpy as np


class HostBuffer:
    """An array on the host, and its copy on the device once a program has asked for it.

    Nobody writes to the array: it is our own copy, a kernel's result, or a view of such.
    """

    __slots__ = ("array", "placed")

    def __init__(self, array: Any) -> None:
        # A NumPy scalar for most of rank 0: that is what kernels give and take fastest.
        self.array: np.ndarray | np.generic = array
        self.placed: Any = None
