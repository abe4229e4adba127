"""Integrals of functions that are given by samples."""

from __future__ import annotations

from typing import Any

from arrayx.core.array import Array
from arrayx.numpy import cumulative

__all__ = ["trapezoid"]


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """The integral of samples `y` at `x`, or `dx` apart, joined by straight lines.

    >>> import numpy as np
    >>> float(trapezoid(np.array([0.0, 1.0, 2.0])))
    2.0
    """
    return cumulative.trapezoid(y, x, dx, axis)
