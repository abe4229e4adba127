"""Circular and hyperbolic functions."""

from __future__ import annotations

from typing import Any

from arrayx.primitives.arithmetic import add, mul, neg, sub
from arrayx.primitives.exponential import rsqrt
from arrayx.primitives.families import FLOAT, INEXACT, binary, transcendental
from arrayx.primitives.numeric import div, reciprocal

sin = transcendental("sin", INEXACT, lambda x, out: cos(x), doc="Sine of `x`, in radians.")
cos = transcendental("cos", INEXACT, lambda x, out: neg(sin(x)), doc="Cosine of `x`, in radians.")
tan = transcendental(
    "tan", INEXACT, lambda x, out: add(mul(out, out), 1.0), doc="Tangent of `x`, in radians."
)
asin = transcendental(
    "asin",
    INEXACT,
    lambda x, out: rsqrt(_one_less_square(x)),
    doc="Arc sine of `x`, from -pi/2 to pi/2; nan for a real `x` outside [-1, 1].",
)
acos = transcendental(
    "acos",
    INEXACT,
    lambda x, out: neg(rsqrt(_one_less_square(x))),
    doc="Arc cosine of `x`, from 0 to pi; nan for a real `x` outside [-1, 1].",
)
atan = transcendental(
    "atan",
    INEXACT,
    lambda x, out: reciprocal(add(mul(x, x), 1.0)),
    doc="Arc tangent of `x`, from -pi/2 to pi/2.",
)
atan2 = binary(
    "atan2",
    FLOAT,
    lambda y, x, out: div(x, _square_of_length(y, x)),
    lambda y, x, out: neg(div(y, _square_of_length(y, x))),
    doc="Angle of the point (`x`, `y`), from -pi to pi; called `atan2(y, x)`.",
)
sinh = transcendental("sinh", INEXACT, lambda x, out: cosh(x), doc="Hyperbolic sine of `x`.")
cosh = transcendental("cosh", INEXACT, lambda x, out: sinh(x), doc="Hyperbolic cosine of `x`.")
tanh = transcendental(
    "tanh", INEXACT, lambda x, out: sub(1.0, mul(out, out)), doc="Hyperbolic tangent of `x`."
)
asinh = transcendental(
    "asinh",
    INEXACT,
    lambda x, out: rsqrt(add(mul(x, x), 1.0)),
    doc="Inverse of the hyperbolic sine.",
)
acosh = transcendental(
    "acosh",
    INEXACT,
    # Two roots, since for complex ones the root of the product has another branch.
    lambda x, out: mul(rsqrt(sub(x, 1.0)), rsqrt(add(x, 1.0))),
    doc="Inverse of the hyperbolic cosine, at least 0; nan for a real `x` below 1.",
)
atanh = transcendental(
    "atanh",
    INEXACT,
    lambda x, out: reciprocal(_one_less_square(x)),
    doc="Inverse of the hyperbolic tangent; nan for a real `x` outside [-1, 1].",
)


def _one_less_square(x: Any) -> Any:
    """1 - x**2 as a product, which does not cancel near 1."""
    return mul(sub(1.0, x), add(x, 1.0))


def _square_of_length(y: Any, x: Any) -> Any:
    return add(mul(x, x), mul(y, y))
