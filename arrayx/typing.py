"""Types for annotations of functions that take arrays, dtypes and shapes."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np

from arrayx.core.array import Array

__all__ = ["ArrayLike", "DTypeLike", "Shape"]


class HasDType(Protocol):
    """Anything with a `dtype` attribute, such as an array or `anp.float32`."""

    dtype: Any


# What stands for an array: one, a NumPy array or scalar, or a Python number.
ArrayLike: TypeAlias = Array | np.ndarray | np.bool_ | np.number | bool | int | float | complex
# What stands for a dtype: one, its name, a scalar type, or an object that has one.
DTypeLike: TypeAlias = str | type[Any] | np.dtype | HasDType
Shape: TypeAlias = tuple[int, ...]
