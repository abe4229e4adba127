"""Rows of polynomials from points, and of roots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx.conformance.case import Case, Operand
from arrayx.conformance.public import public

POINTS = Operand((6,), values=(-1.5, -1.0, 0.0, 0.5, 1.0, 2.0))
POLYNOMIAL = Operand((4,), values=(1.0, -2.0, -1.0, 2.0))


def power_sums(function: Callable[..., Any], p: Any, **params: Any) -> Any:
    """Sums over the roots, whatever order they come in."""
    roots = function(p, **params)
    return roots.sum(), (roots * roots).sum()


CASES: tuple[Case, ...] = (
    public("numpy.polyfit", (POINTS, (6,)), {"deg": 2}, ulps=200, special=False),
    public(
        "numpy.polyfit",
        (POINTS, (6, 2)),
        {"deg": 1},
        ulps=200,
        special=False,
        label="several",
    ),
    public(
        "numpy.roots",
        (POLYNOMIAL,),
        {"strip_zeros": False},
        lambda p, strip_zeros: np.roots(p),
        form=power_sums,
        ulps=200,
        special=False,
    ),
)
