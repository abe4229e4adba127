"""Distributions on a half-line."""

from __future__ import annotations

import math
from typing import Any

from arrayx.core.array import Array
from arrayx.numpy import transcendental
from arrayx.numpy.selection import where
from arrayx.scipy import special
from arrayx.scipy.stats.distributions import exponential_of, operands, standard, within

log, exp, log1p, expm1 = (
    transcendental.log,
    transcendental.exp,
    transcendental.log1p,
    transcendental.expm1,
)


class expon:
    """The exponential distribution from `loc` on, with mean distance `scale`."""

    @staticmethod
    def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of the density; -inf below `loc`.

        >>> float(expon.logpdf(2.0))
        -2.0
        """
        z, s = standard("expon.logpdf", x, loc, scale)
        return within(z >= 0, -z - log(s), -math.inf)

    pdf = exponential_of(logpdf, "pdf", ">>> float(expon.pdf(0.0))\n1.0")

    @staticmethod
    def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `sf`."""
        (z, _) = standard("expon.logsf", x, loc, scale)
        return within(z >= 0, -z, 0.0)

    sf = exponential_of(logsf, "sf", ">>> float(expon.sf(0.0))\n1.0")

    @staticmethod
    def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of at most `x`."""
        return -expm1(expon.logsf(x, loc, scale))  # type: ignore[no-any-return]

    @staticmethod
    def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `cdf`."""
        return log(expon.cdf(x, loc, scale))  # type: ignore[no-any-return]

    @staticmethod
    def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The inverse of `cdf`."""
        p, m, s = operands("expon.ppf", ("q", "loc", "scale"), q, loc, scale)
        return m - s * log1p(-p)  # type: ignore[no-any-return]


class gamma:
    """The gamma distribution of shape `a`."""

    @staticmethod
    def logpdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of the density; -inf below `loc`.

        >>> float(gamma.logpdf(2.0, 1.0))
        -2.0
        """
        z, s, shape = standard("gamma.logpdf", x, loc, scale, a)
        inside = z >= 0
        safe = where(inside, z, 1.0)
        size = special.gammaln(shape) + log(s)
        return within(inside, special.xlogy(shape - 1.0, safe) - safe - size, -math.inf)

    pdf = exponential_of(logpdf, "pdf", ">>> round(float(gamma.pdf(1.0, 1.0)), 4)\n0.3679")

    @staticmethod
    def cdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of at most `x`.

        >>> round(float(gamma.cdf(1.0, 1.0)), 4)
        0.6321
        """
        z, _, shape = standard("gamma.cdf", x, loc, scale, a)
        return special.gammainc(shape, where(z < 0, 0.0, z))

    @staticmethod
    def logcdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `cdf`."""
        return log(gamma.cdf(x, a, loc, scale))  # type: ignore[no-any-return]

    @staticmethod
    def sf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of more than `x`."""
        z, _, shape = standard("gamma.sf", x, loc, scale, a)
        return special.gammaincc(shape, where(z < 0, 0.0, z))

    @staticmethod
    def logsf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `sf`."""
        return log(gamma.sf(x, a, loc, scale))  # type: ignore[no-any-return]


class chi2:
    """The chi-squared distribution with `df` degrees of freedom."""

    @staticmethod
    def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of the density; -inf below `loc`.

        >>> round(float(chi2.logpdf(2.0, 2.0)), 4)
        -1.6931
        """
        z, s, v = standard("chi2.logpdf", x, loc, scale, df)
        return within(z >= 0, gamma.logpdf(0.5 * z, 0.5 * v) - log(2.0 * s), -math.inf)

    pdf = exponential_of(logpdf, "pdf", ">>> round(float(chi2.pdf(2.0, 2.0)), 4)\n0.1839")

    @staticmethod
    def cdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of at most `x`.

        >>> round(float(chi2.cdf(2.0, 2.0)), 4)
        0.6321
        """
        z, _, v = standard("chi2.cdf", x, loc, scale, df)
        return gamma.cdf(0.5 * z, 0.5 * v)

    @staticmethod
    def logcdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `cdf`."""
        return log(chi2.cdf(x, df, loc, scale))  # type: ignore[no-any-return]

    @staticmethod
    def sf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of more than `x`."""
        z, _, v = standard("chi2.sf", x, loc, scale, df)
        return gamma.sf(0.5 * z, 0.5 * v)

    @staticmethod
    def logsf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `sf`."""
        return log(chi2.sf(x, df, loc, scale))  # type: ignore[no-any-return]


class pareto:
    """The Pareto distribution from `loc + scale` on, whose tail falls with the power `b`."""

    @staticmethod
    def logpdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of the density; -inf below `loc + scale`.

        >>> round(float(pareto.logpdf(1.0, 2.0)), 4)
        0.6931
        """
        z, s, power = standard("pareto.logpdf", x, loc, scale, b)
        inside = z >= 1
        value = log(power) - log(s) - (power + 1.0) * log(where(inside, z, 1.0))
        return within(inside, value, -math.inf)

    pdf = exponential_of(logpdf, "pdf", ">>> round(float(pareto.pdf(1.0, 2.0)), 4)\n2.0")

    @staticmethod
    def logsf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `sf`."""
        z, _, power = standard("pareto.logsf", x, loc, scale, b)
        inside = z >= 1
        return within(inside, -power * log(where(inside, z, 1.0)), 0.0)

    sf = exponential_of(logsf, "sf", ">>> float(pareto.sf(2.0, 1.0))\n0.5")

    @staticmethod
    def cdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of at most `x`."""
        return -expm1(pareto.logsf(x, b, loc, scale))  # type: ignore[no-any-return]

    @staticmethod
    def logcdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `cdf`."""
        return log(pareto.cdf(x, b, loc, scale))  # type: ignore[no-any-return]

    @staticmethod
    def ppf(q: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The inverse of `cdf`."""
        names = ("q", "b", "loc", "scale")
        p, power, m, s = operands("pareto.ppf", names, q, b, loc, scale)
        return m + s * exp(-log1p(-p) / power)  # type: ignore[no-any-return]
