"""Rows for determinants."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.cases.linalg import far_from_singular, matrices, regular
from arrayx.primitives import determinant


def minors(x: Any) -> Any:
    """The cofactors by their definition."""
    result = np.empty(x.shape, x.dtype)
    for i, j in np.ndindex(*x.shape[-2:]):
        rest = np.delete(np.delete(x, i, -2), j, -1)
        result[..., i, j] = (-1) ** (i + j) * np.linalg.det(rest)
    return result


UNIT: dict[str, Any] = {"domain": (-1.0, 1.0)}
CASES = (
    matrices("det", determinant.det, ((3, 3),), {}, np.linalg.det, label="small"),
    matrices("det", determinant.det, ((4, 4),), {}, np.linalg.det, ulps=1000.0),
    matrices(
        "cofactors",
        lambda x: determinant.cofactors(regular(x)),
        ((3, 3),),
        {},
        lambda x: minors(far_from_singular(x)),
        **UNIT,
    ),
)
