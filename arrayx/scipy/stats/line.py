"""Distributions on the whole line."""

from __future__ import annotations

import math
from typing import Any

from arrayx.core.array import Array
from arrayx.nn.functions import softplus
from arrayx.numpy import arithmetic, transcendental
from arrayx.numpy.selection import where
from arrayx.scipy import special
from arrayx.scipy.stats.distributions import exponential_of, operands, standard

log, exp, log1p, expm1 = (
    transcendental.log,
    transcendental.exp,
    transcendental.log1p,
    transcendental.expm1,
)


class norm:
    """The normal distribution: `loc` is its mean, `scale` its standard deviation."""

    @staticmethod
    def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of the density.

        >>> round(float(norm.logpdf(0.0)), 4)
        -0.9189
        """
        z, s = standard("norm.logpdf", x, loc, scale)
        return -0.5 * (z * z) - (log(s) + 0.5 * math.log(2 * math.pi))  # type: ignore[no-any-return]

    pdf = exponential_of(logpdf, "pdf", ">>> round(float(norm.pdf(0.0)), 4)\n0.3989")

    @staticmethod
    def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of at most `x`.

        >>> float(norm.cdf(0.0))
        0.5
        """
        return special.ndtr(standard("norm.cdf", x, loc, scale)[0])  # type: ignore[no-any-return]

    @staticmethod
    def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `cdf`, exact far left."""
        return special.log_ndtr(standard("norm.logcdf", x, loc, scale)[0])  # type: ignore[no-any-return]

    @staticmethod
    def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of more than `x`."""
        return special.ndtr(-standard("norm.sf", x, loc, scale)[0])  # type: ignore[no-any-return]

    @staticmethod
    def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `sf`, exact far right."""
        return special.log_ndtr(-standard("norm.logsf", x, loc, scale)[0])  # type: ignore[no-any-return]

    @staticmethod
    def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The inverse of `cdf`."""
        p, m, s = operands("norm.ppf", ("q", "loc", "scale"), q, loc, scale)
        return special.ndtri(p) * s + m  # type: ignore[no-any-return]

    @staticmethod
    def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The inverse of `sf`."""
        p, m, s = operands("norm.isf", ("q", "loc", "scale"), q, loc, scale)
        return m - special.ndtri(p) * s  # type: ignore[no-any-return]


class logistic:
    """The logistic distribution, whose `cdf` is the sigmoid."""

    @staticmethod
    def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of the density.

        >>> round(float(logistic.logpdf(0.0)), 4)
        -1.3863
        """
        z, s = standard("logistic.logpdf", x, loc, scale)
        return -z - 2.0 * softplus(-z) - log(s)  # type: ignore[no-any-return]

    pdf = exponential_of(logpdf, "pdf", ">>> round(float(logistic.pdf(0.0)), 4)\n0.25")

    @staticmethod
    def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of at most `x`."""
        return special.expit(standard("logistic.cdf", x, loc, scale)[0])  # type: ignore[no-any-return]

    @staticmethod
    def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of more than `x`."""
        return special.expit(-standard("logistic.sf", x, loc, scale)[0])  # type: ignore[no-any-return]

    @staticmethod
    def ppf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The inverse of `cdf`."""
        p, m, s = operands("logistic.ppf", ("x", "loc", "scale"), x, loc, scale)
        return special.logit(p) * s + m  # type: ignore[no-any-return]

    @staticmethod
    def isf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The inverse of `sf`."""
        p, m, s = operands("logistic.isf", ("x", "loc", "scale"), x, loc, scale)
        return m - special.logit(p) * s  # type: ignore[no-any-return]


class laplace:
    """The Laplace distribution: exponential to both sides."""

    @staticmethod
    def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of the density.

        >>> round(float(laplace.logpdf(0.0)), 4)
        -0.6931
        """
        z, s = standard("laplace.logpdf", x, loc, scale)
        return -arithmetic.abs(z) - log(2.0 * s)  # type: ignore[no-any-return]

    pdf = exponential_of(logpdf, "pdf", ">>> float(laplace.pdf(0.0))\n0.5")

    @staticmethod
    def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of at most `x`."""
        (z, _) = standard("laplace.cdf", x, loc, scale)
        tail = 0.5 * exp(-arithmetic.abs(z))
        return where(z <= 0, tail, 1.0 - tail)  # type: ignore[no-any-return]


class cauchy:
    """The Cauchy distribution."""

    @staticmethod
    def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of the density.

        >>> round(float(cauchy.logpdf(0.0)), 4)
        -1.1447
        """
        z, s = standard("cauchy.logpdf", x, loc, scale)
        return -log(math.pi * s) - log1p(z * z)  # type: ignore[no-any-return]

    pdf = exponential_of(logpdf, "pdf", ">>> round(float(cauchy.pdf(0.0)), 4)\n0.3183")

    @staticmethod
    def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of at most `x`."""
        (z, _) = standard("cauchy.cdf", x, loc, scale)
        return 0.5 + transcendental.arctan(z) / math.pi  # type: ignore[no-any-return]

    @staticmethod
    def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of more than `x`."""
        (z, _) = standard("cauchy.sf", x, loc, scale)
        return 0.5 - transcendental.arctan(z) / math.pi  # type: ignore[no-any-return]

    @staticmethod
    def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The inverse of `cdf`."""
        p, m, s = operands("cauchy.ppf", ("q", "loc", "scale"), q, loc, scale)
        return transcendental.tan(math.pi * (p - 0.5)) * s + m  # type: ignore[no-any-return]

    @staticmethod
    def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `cdf`."""
        return log(cauchy.cdf(x, loc, scale))  # type: ignore[no-any-return]

    @staticmethod
    def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `sf`."""
        return log(cauchy.sf(x, loc, scale))  # type: ignore[no-any-return]

    @staticmethod
    def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The inverse of `sf`."""
        p, m, s = operands("cauchy.isf", ("q", "loc", "scale"), q, loc, scale)
        return transcendental.tan(math.pi * (0.5 - p)) * s + m  # type: ignore[no-any-return]


class t:
    """Student's t distribution with `df` degrees of freedom."""

    @staticmethod
    def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of the density.

        >>> round(float(t.logpdf(0.0, 1.0)), 4)
        -1.1447
        """
        z, s, v = standard("t.logpdf", x, loc, scale, df)
        half = 0.5 * (v + 1.0)
        size = special.gammaln(half) - special.gammaln(0.5 * v) - 0.5 * log(math.pi * v)
        return size - log(s) - half * log1p(z * z / v)  # type: ignore[no-any-return]

    pdf = exponential_of(logpdf, "pdf", ">>> round(float(t.pdf(0.0, 1.0)), 4)\n0.3183")

    @staticmethod
    def cdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of at most `x`: an incomplete beta function (DLMF 8.17), near the middle
        as a hypergeometric one (15.2), which is smooth there.

        >>> float(t.cdf(0.0, 1.0))
        0.5
        """
        z, _, v = standard("t.cdf", x, loc, scale, df)
        near = z * z < 0.5 * v
        inside = where(near, z, 0.0)
        size = exp(special.gammaln(0.5 * (v + 1.0)) - special.gammaln(0.5 * v))
        slope = size / (math.pi * v) ** 0.5
        series = special.hyp2f1(0.5, 0.5 * (v + 1.0), 1.5, -inside * inside / v)
        outside = where(near, 1.0, z)
        tail = 0.5 * special.betainc(0.5 * v, 0.5, v / (v + outside * outside))
        far = where(z < 0, tail, 1.0 - tail)
        return where(near, 0.5 + inside * slope * series, far)  # type: ignore[no-any-return]

    @staticmethod
    def logcdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `cdf`."""
        return log(t.cdf(x, df, loc, scale))  # type: ignore[no-any-return]

    @staticmethod
    def sf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of more than `x`."""
        z, _, v = standard("t.sf", x, loc, scale, df)
        return t.cdf(-z, v)

    @staticmethod
    def logsf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `sf`."""
        return log(t.sf(x, df, loc, scale))  # type: ignore[no-any-return]


class gumbel_r:
    """The Gumbel distribution of maxima."""

    @staticmethod
    def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of the density.

        >>> float(gumbel_r.logpdf(0.0))
        -1.0
        """
        z, s = standard("gumbel_r.logpdf", x, loc, scale)
        return -z - exp(-z) - log(s)  # type: ignore[no-any-return]

    pdf = exponential_of(logpdf, "pdf", ">>> round(float(gumbel_r.pdf(0.0)), 4)\n0.3679")

    @staticmethod
    def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `cdf`."""
        return -exp(-standard("gumbel_r.logcdf", x, loc, scale)[0])  # type: ignore[no-any-return]

    cdf = exponential_of(logcdf, "cdf", ">>> round(float(gumbel_r.cdf(0.0)), 4)\n0.3679")

    @staticmethod
    def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of more than `x`."""
        return -expm1(gumbel_r.logcdf(x, loc, scale))  # type: ignore[no-any-return]

    @staticmethod
    def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `sf`."""
        return log(gumbel_r.sf(x, loc, scale))  # type: ignore[no-any-return]

    @staticmethod
    def ppf(p: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The inverse of `cdf`."""
        q, m, s = operands("gumbel_r.ppf", ("p", "loc", "scale"), p, loc, scale)
        return m - s * log(-log(q))  # type: ignore[no-any-return]


class gumbel_l:
    """The Gumbel distribution of minima."""

    @staticmethod
    def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of the density.

        >>> float(gumbel_l.logpdf(0.0))
        -1.0
        """
        z, s = standard("gumbel_l.logpdf", x, loc, scale)
        return z - exp(z) - log(s)  # type: ignore[no-any-return]

    pdf = exponential_of(logpdf, "pdf", ">>> round(float(gumbel_l.pdf(0.0)), 4)\n0.3679")

    @staticmethod
    def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `sf`."""
        return -exp(standard("gumbel_l.logsf", x, loc, scale)[0])  # type: ignore[no-any-return]

    sf = exponential_of(logsf, "sf", ">>> round(float(gumbel_l.sf(0.0)), 4)\n0.3679")

    @staticmethod
    def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of at most `x`."""
        return -expm1(gumbel_l.logsf(x, loc, scale))  # type: ignore[no-any-return]

    @staticmethod
    def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `cdf`."""
        return log(gumbel_l.cdf(x, loc, scale))  # type: ignore[no-any-return]

    @staticmethod
    def ppf(p: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The inverse of `cdf`."""
        q, m, s = operands("gumbel_l.ppf", ("p", "loc", "scale"), p, loc, scale)
        return m + s * log(-log1p(-q))  # type: ignore[no-any-return]


class gennorm:
    """The generalised normal distribution: exp(-|x|**beta) up to a factor."""

    @staticmethod
    def logpdf(x: Any, beta: Any) -> Array:
        """The logarithm of the density.

        >>> round(float(gennorm.logpdf(0.0, 2.0)), 4)
        -0.5724
        """
        z, b = operands("gennorm.logpdf", ("x", "beta"), x, beta)
        size = log(0.5 * b) - special.gammaln(1.0 / b)
        return size - arithmetic.power(arithmetic.abs(z), b)  # type: ignore[no-any-return]

    pdf = exponential_of(logpdf, "pdf", ">>> round(float(gennorm.pdf(0.0, 2.0)), 4)\n0.5642")

    @staticmethod
    def cdf(x: Any, beta: Any) -> Array:
        """The probability of at most `x`.

        >>> float(gennorm.cdf(0.0, 2.0))
        0.5
        """
        z, b = operands("gennorm.cdf", ("x", "beta"), x, beta)
        share = special.gammainc(1.0 / b, arithmetic.power(arithmetic.abs(z), b))
        return 0.5 + 0.5 * arithmetic.sign(z) * share  # type: ignore[no-any-return]
