"""Elementwise functions of floats that are known by what they expand into.

Apart because all of them compute 16-bit floats as float32, and take literals for operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayx.core.array import is_scalar
from arrayx.primitives.conversion import convert
from arrayx.primitives.creation import fill
from arrayx.primitives.families import FLOAT, Differentiable

FLOAT32 = np.dtype(np.float32)
Function = Callable[..., Any]


def number_like(x: Any, number: float) -> Any:
    """A number in the shape and dtype of `x`, on its device."""
    return fill(x.aval.shape, x.aval.dtype, number)


def in_float32(function: Function, operands: Sequence[Any]) -> Any:
    """A function of floats, computed as float32 for those of 16 bits; literals become arrays."""
    aval = next(x.aval for x in operands if not is_scalar(x))
    arrays = [fill(aval.shape, aval.dtype, float(x)) if is_scalar(x) else x for x in operands]
    if aval.dtype.itemsize >= 4:
        return function(*arrays)
    wide = [convert(x, dtype=FLOAT32, weak_type=False) for x in arrays]
    return convert(function(*wide), dtype=aval.dtype, weak_type=aval.weak_type)


class Special(Differentiable):
    """An elementwise function of floats, computed as float32 for those of 16 bits."""

    kinds = FLOAT
    costly = True
    cheap = False

    def computed(self, *operands: Any) -> Any:
        """The function of arrays of float32 or float64, in simpler operations."""
        raise NotImplementedError

    def expand(self, *operands: Any) -> Any:
        return in_float32(self.computed, operands)
