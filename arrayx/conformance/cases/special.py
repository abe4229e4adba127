"""Rows for special functions; the references are mpmath's, to 30 digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx.conformance.case import FLOATS, Case
from arrayx.lazy import lazy
from arrayx.primitives import special

mpmath = lazy("mpmath")
ONE = ((2, 3),)


def exactly(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of mpmath's numbers as a reference, elements outside its domain as nan."""

    def reference(x: Any, **params: Any) -> Any:
        with mpmath.workdps(30):
            found = [float(function(mpmath.mpf(float(v)), **params)) for v in x.flat]
        # mpmath has one zero; the functions that are 0 at 0 are odd.
        result = np.array(found, np.float64).reshape(x.shape)
        return np.where((result == 0) & (x == 0), x, result)

    return reference


def _erf_inv(x: Any) -> Any:
    return mpmath.erfinv(x) if abs(x) <= 1 else mpmath.nan


def row(name: str, reference: Any, domain: tuple[float, float], **more: Any) -> Case:
    """The row of a special function."""
    return Case(name, getattr(special, name), ONE, {}, reference, FLOATS, domain, **more)


CASES = (
    row("erf", exactly(lambda x: mpmath.erf(x)), (-3, 3)),
    row("erfc", exactly(lambda x: mpmath.erfc(x)), (-2, 4), ulps=16),
    row("erf_inv", exactly(_erf_inv), (-0.9, 0.9)),
    row(
        "lgamma",
        exactly(lambda x: mpmath.log(abs(mpmath.gamma(x)))),
        (0.1, 6),
        special=False,
        scale=lambda x: 1 + np.abs(x),
        ulps=8,
    ),
    row(
        "digamma",
        exactly(lambda x: mpmath.digamma(x)),
        (0.3, 6),
        special=False,
        scale=lambda x: 1 + 1 / x,
        ulps=8,
    ),
    *(
        Case(
            "polygamma",
            special.polygamma,
            ONE,
            {"order": n},
            exactly(lambda x, order: mpmath.polygamma(order, x)),
            FLOATS,
            (0.5, 4),
            special=False,
            ulps=16,
            label=str(n),
        )
        for n in (1, 2)
    ),
)
