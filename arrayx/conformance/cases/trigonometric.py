"""Rows for circular and hyperbolic functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import COMPLEX, FLOATS, Case
from arrayx.primitives import trigonometric

ONE = ((2, 3),)


def rows(
    name: str, reference: Any, domain: tuple[float, float] = (-3.0, 3.0), **more: Any
) -> tuple[Case, Case]:
    """The rows of a function of one operand: for real numbers and for complex ones."""
    call = getattr(trigonometric, name)
    return (
        Case(name, call, ONE, {}, reference, FLOATS, domain, **more),
        # Complex functions have a zero of their parts elsewhere than of themselves.
        Case(
            name,
            call,
            ONE,
            {},
            reference,
            COMPLEX,
            (0.2, 1.5),
            ulps=8,
            label="complex",
            scale=lambda z: 1 + np.abs(reference(z)),
        ),
    )


def _absolute(x: Any) -> Any:
    return np.ones_like(x)


CASES = (
    *rows("sin", np.sin, scale=_absolute),
    *rows("cos", np.cos, scale=_absolute),
    *rows("tan", np.tan, (-1.4, 1.4)),
    *rows("asin", np.arcsin, (-0.95, 0.95)),
    *rows("acos", np.arccos, (-0.95, 0.95)),
    *rows("atan", np.arctan),
    *rows("one_minus_square", lambda x: (1 - x) * (1 + x), (-0.99, 0.99), ulps=8),
    *rows("sinh", np.sinh),
    *rows("cosh", np.cosh),
    *rows("tanh", np.tanh),
    *rows("asinh", np.arcsinh, ulps=8),
    *rows("acosh", np.arccosh, (1.1, 4.0), ulps=8),
    *rows("atanh", np.arctanh, (-0.9, 0.9), scale=lambda x: 1 + np.abs(x)),
    Case("atan2", trigonometric.atan2, ((2, 3), (2, 3)), {}, np.arctan2, FLOATS, literals=(0, 1)),
)
