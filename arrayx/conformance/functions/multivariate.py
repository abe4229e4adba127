"""Rows of distributions of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx.conformance.case import Case
from arrayx.conformance.public import public


def covariance(root: Any) -> Any:
    """A positive definite matrix from any matrix."""
    return root @ root.T + np.asarray(3 * np.eye(root.shape[0])).astype(root.dtype)


def at_point(function: Callable[..., Any], x: Any, mean: Any, root: Any) -> Any:
    """A density at one point."""
    return function(x, mean, covariance(root))


def of_spread(function: Callable[..., Any], root: Any) -> Any:
    """A function of the covariance alone."""
    return function(cov=covariance(root))


VECTOR, MATRIX = (3,), (3, 3)
WIDE: dict[str, Any] = {
    "dtypes": ("float32", "float64"),
    "domain": (-1.0, 1.0),
    "special": False,
    "ulps": 60,
}

CASES: tuple[Case, ...] = (
    public(
        "scipy.stats.multivariate_normal.logpdf", (VECTOR, VECTOR, MATRIX), form=at_point, **WIDE
    ),
    public("scipy.stats.multivariate_normal.pdf", (VECTOR, VECTOR, MATRIX), form=at_point, **WIDE),
    public("scipy.stats.multivariate_normal.entropy", (MATRIX,), form=of_spread, **WIDE),
)
