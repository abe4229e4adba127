"""Rows for the parts of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import COMPLEX, Case
from arrayx.primitives import complex as parts

ONE = ((2, 3),)


def joined(re: Any, im: Any) -> Any:
    """The complex number of two parts, infinite ones too."""
    result = np.empty(re.shape, np.complex128)
    result.real, result.imag = re, im
    return result


CASES = (
    Case("real", parts.real, ONE, {}, np.real, COMPLEX),
    Case("imag", parts.imag, ONE, {}, np.imag, COMPLEX),
    Case("conj", parts.conj, ONE, {}, np.conjugate, COMPLEX),
    Case(
        "complex",
        parts.complex,
        ((2, 3), (2, 3)),
        {},
        joined,
        ("float32", "float64"),
        literals=(0, 1),
    ),
)
