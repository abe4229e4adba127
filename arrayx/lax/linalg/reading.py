"""What the functions of `arrayx.lax.linalg` do to their arguments first."""

from __future__ import annotations

from typing import Any

from arrayx.core.array import Array
from arrayx.numpy.linalg.reading import check_matrix
from arrayx.numpy.promotion import as_array


def matrix_of(x: Any, function: str, argument: str = "x", square: bool = False) -> Array:
    """An argument as matrices; raises where it is none."""
    a = as_array(x, function, argument)
    check_matrix(a, function, argument, square)
    return a
