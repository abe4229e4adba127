"""Distributions of angles."""

from __future__ import annotations

import math
from typing import Any

from arrayx.core.array import Array
from arrayx.numpy import arithmetic, logic, transcendental
from arrayx.numpy.bessel import i0e
from arrayx.scipy.stats.distributions import exponential_of, operands, within

log, cos = transcendental.log, transcendental.cos


class vonmises:
    """The von Mises distribution with concentration `kappa`."""

    @staticmethod
    def logpdf(x: Any, kappa: Any) -> Array:
        """The logarithm of the density.

        >>> round(float(vonmises.logpdf(0.0, 0.0)), 4)
        -1.8379
        """
        angle, k = operands("vonmises.logpdf", ("x", "kappa"), x, kappa)
        return k * (cos(angle) - 1.0) - (math.log(2 * math.pi) + log(i0e(k)))  # type: ignore[no-any-return]

    pdf = exponential_of(logpdf, "pdf", ">>> round(float(vonmises.pdf(0.0, 0.0)), 4)\n0.1592")


class wrapcauchy:
    """The Cauchy distribution wrapped round the circle, with concentration `c` below 1."""

    @staticmethod
    def logpdf(x: Any, c: Any) -> Array:
        """The logarithm of the density; -inf outside of [0, 2π].

        >>> round(float(wrapcauchy.logpdf(0.0, 0.5)), 4)
        -0.7393
        """
        angle, c = operands("wrapcauchy.logpdf", ("x", "c"), x, c)
        inside = logic.logical_and(angle >= 0, angle <= 2 * math.pi)
        squared = arithmetic.multiply(c, c)
        value = log(1.0 - squared) - log(1.0 + squared - 2.0 * c * cos(angle))
        return within(inside, value - math.log(2 * math.pi), -math.inf)

    pdf = exponential_of(logpdf, "pdf", ">>> round(float(wrapcauchy.pdf(0.0, 0.5)), 4)\n0.4775")
