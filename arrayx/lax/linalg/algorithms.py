"""The names of algorithms that JAX lets its users choose from."""

from __future__ import annotations

import enum
from typing import Any

from arrayx import errors


class EigImplementation(enum.Enum):
    """Libraries for eigenvalues of general matrices."""

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


class EighImplementation(enum.Enum):
    """Algorithms for eigenvalues of Hermitian matrices."""

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


class SvdAlgorithm(enum.Enum):
    """Algorithms for singular values."""

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


def check_algorithm(function: str, argument: str, kind: type[enum.Enum], given: Any) -> None:
    """Raises for what is neither None nor a member of the enumeration.

    Which algorithm runs is a matter of the backend: all of them give the same factors.
    """
    if given is not None and not isinstance(given, kind):
        raise errors.ArgumentError(
            f"{function}: {argument} is None or a member of {kind.__name__}, got {given!r}"
        )
