"""Rows for circular and hyperbolic functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import COMPLEX, FLOATS, Case, Operand
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


def far(name: str, reference: Any, domain: tuple[float, float], **more: Any) -> Case:
    """The row of a function far from the origin."""
    call = getattr(trigonometric, name)
    wide = ("float32", "float64")
    return Case(name, call, ((8,),), {}, reference, wide, domain, label="far", **more)


def beside_cuts(name: str, call: Any, reference: Any, values: tuple[complex, ...]) -> Case:
    """The row of a complex function on its branch cuts, from both sides."""
    sides = tuple(z for value in values for z in (value, value.conjugate()))
    return Case(
        name,
        call,
        (Operand((len(sides),), values=sides),),
        {},
        reference,
        # Without the dtype in which derivatives are compared: there is none across a cut.
        ("complex64",),
        ulps=16,
        scale=lambda z: 1 + np.abs(reference(z)),
        special=False,
        label="cut",
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
    far("sin", np.sin, (-1e3, 1e3), scale=_absolute),
    far("cos", np.cos, (-1e3, 1e3), scale=_absolute),
    far("sinh", np.sinh, (-60, 60), ulps=32),
    far("cosh", np.cosh, (-60, 60), ulps=32),
    far("tanh", np.tanh, (-20, 20)),
    far("atan", np.arctan, (-1e4, 1e4)),
    far("asinh", np.arcsinh, (-1e4, 1e4), ulps=8),
    beside_cuts("asin", trigonometric.asin, np.arcsin, (complex(2, 0.0), complex(-3, 0.0))),
    beside_cuts("acos", trigonometric.acos, np.arccos, (complex(2, 0.0), complex(-3, 0.0))),
    beside_cuts("atanh", trigonometric.atanh, np.arctanh, (complex(2, 0.0), complex(-3, 0.0))),
    Case("atan2", trigonometric.atan2, ((2, 3), (2, 3)), {}, np.arctan2, FLOATS, literals=(0, 1)),
)
