"""The class that every value of a program has, concrete or traced: `ax.Array`.

It stands below tracers and device arrays so that `isinstance(x, ax.Array)` holds for both;
the operators and methods are put on it by the numpy floor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import dtypes
from arrayx.core.aval import Aval, Shape


class Array:
    """An array: a shape, a dtype, and elements that a backend holds or a trace stands for.

    Made by `arrayx.numpy` functions, `device_put` and transformations, never directly.
    """

    __slots__ = ("__weakref__", "aval")
    aval: Aval

    @property
    def shape(self) -> Shape:
        """The length of every axis."""
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.aval.size

    @property
    def weak_type(self) -> bool:
        """True where the value came from a Python scalar and yields to other dtypes."""
        return self.aval.weak_type

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return int(self.aval.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.aval.nbytes


SCALARS = (bool, int, float, complex)
_SCALAR_SET = frozenset(SCALARS)


def is_scalar(x: Any) -> bool:
    """True for Python's own bool, int, float and complex: the literals of equations."""
    return type(x) in _SCALAR_SET


def typeof(x: Any) -> Aval:
    """The type of a value; Python scalars are weakly typed, NumPy values are not.

    >>> typeof(1.5)
    float32[]~
    """
    if isinstance(x, Array):
        return x.aval
    if type(x) in _SCALAR_SET:
        return Aval((), dtypes.default_dtype(type(x)), type(x) is not bool)
    if isinstance(x, np.ndarray | np.generic):
        return Aval(x.shape, dtypes.as_dtype(x.dtype))
    raise TypeError(f"{x!r} of type {type(x).__name__} is not an array or a scalar")
