"""Functions of mathematical physics and statistics: error and gamma functions."""

from __future__ import annotations

import math
from typing import Any

from arrayx import errors
from arrayx.core.aval import Aval
from arrayx.primitives.arithmetic import mul, neg
from arrayx.primitives.exponential import exp
from arrayx.primitives.families import FLOAT, Differentiable, transcendental

erf = transcendental(
    "erf",
    FLOAT,
    lambda x, out: mul(exp(neg(mul(x, x))), 2.0 / math.sqrt(math.pi)),
    doc="Error function: 2/sqrt(pi) times the integral of exp(-t**2) from 0 to `x`.",
)
erfc = transcendental(
    "erfc",
    FLOAT,
    lambda x, out: mul(exp(neg(mul(x, x))), -2.0 / math.sqrt(math.pi)),
    doc="1 less the error function of `x`, accurate for large `x`.",
)
erf_inv = transcendental(
    "erf_inv",
    FLOAT,
    lambda x, out: mul(exp(mul(out, out)), math.sqrt(math.pi) / 2.0),
    doc="Inverse of the error function; infinite at -1 and 1, nan beyond.",
)
lgamma = transcendental(
    "lgamma",
    FLOAT,
    lambda x, out: digamma(x),
    doc="Natural logarithm of the magnitude of the gamma function of `x`.",
)
digamma = transcendental(
    "digamma",
    FLOAT,
    lambda x, out: polygamma(x, order=1),
    doc="Derivative of the logarithm of the gamma function of `x`.",
)


class Polygamma(Differentiable):
    """Derivative of digamma of `x`, `order` times over; `order` is at least 1."""

    name = "polygamma"
    kinds = FLOAT
    partials = (lambda x, out, order: polygamma(x, order=order + 1),)

    def type_rule(self, x: Any, *, order: int) -> Aval:
        if order < 1:
            raise errors.ArgumentError(f"polygamma needs an order of at least 1, got {order}")
        return super().type_rule(x)


polygamma = Polygamma()
