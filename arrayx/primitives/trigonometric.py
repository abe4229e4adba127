"""Circular and hyperbolic functions."""

from __future__ import annotations

from typing import Any

from arrayx.primitives.arithmetic import add, mul, neg, sub
from arrayx.primitives.exponential import rsqrt
from arrayx.primitives.families import FLOAT, INEXACT, Unary, binary, transcendental
from arrayx.primitives.numeric import div, reciprocal


class OneMinusSquare(Unary):
    """1 - `x`**2, without cancellation near 1 and -1.

    A primitive of its own, since it is a factor that can be infinite: of the product
    (1 - x) * (1 + x) reverse mode would take two slopes, whose difference is then inf - inf.
    """

    name = "one_minus_square"
    kinds = INEXACT
    partials = (lambda x, out: mul(x, -2.0),)

    def expand(self, x: Any) -> Any:
        return mul(sub(1.0, x), add(x, 1.0))


one_minus_square = OneMinusSquare()

sin = transcendental("sin", INEXACT, lambda x, out: cos(x), doc="Sine of `x`, in radians.")
cos = transcendental("cos", INEXACT, lambda x, out: neg(sin(x)), doc="Cosine of `x`, in radians.")
tan = transcendental(
    "tan", INEXACT, lambda x, out: add(mul(out, out), 1.0), doc="Tangent of `x`, in radians."
)
asin = transcendental(
    "asin",
    INEXACT,
    lambda x, out: rsqrt(one_minus_square(x)),
    doc="Arc sine of `x`, from -pi/2 to pi/2; nan for a real `x` outside [-1, 1].",
)
acos = transcendental(
    "acos",
    INEXACT,
    lambda x, out: neg(rsqrt(one_minus_square(x))),
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
    lambda x, out: reciprocal(one_minus_square(x)),
    doc="Inverse of the hyperbolic tangent; nan for a real `x` outside [-1, 1].",
)


def _square_of_length(y: Any, x: Any) -> Any:
    return add(mul(x, x), mul(y, y))
