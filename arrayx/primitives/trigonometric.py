"""Circular and hyperbolic functions."""

from __future__ import annotations

from arrayx.primitives.arithmetic import mul, neg, sub
from arrayx.primitives.families import INEXACT, unary

sin = unary("sin", INEXACT, lambda x, out: cos(x), doc="Sine of `x`, in radians.")
cos = unary("cos", INEXACT, lambda x, out: neg(sin(x)), doc="Cosine of `x`, in radians.")
tanh = unary(
    "tanh", INEXACT, lambda x, out: sub(1.0, mul(out, out)), doc="Hyperbolic tangent of `x`."
)
