"""Distributions on an interval or a simplex."""

from __future__ import annotations

import math
from typing import Any

from arrayx import errors
from arrayx.core.array import Array
from arrayx.numpy import logic, transcendental
from arrayx.numpy.promotion import inexact, promoted_arrays
from arrayx.numpy.reductions import all as all_true
from arrayx.numpy.reductions import sum
from arrayx.numpy.selection import where
from arrayx.numpy.shapes import concatenate
from arrayx.scipy import special
from arrayx.scipy.stats.distributions import exponential_of, operands, standard, within
from arrayx.scipy.stats.line import norm

log = transcendental.log


class uniform:
    """The uniform distribution from `loc` to `loc + scale`."""

    @staticmethod
    def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of the density; -inf outside.

        >>> float(uniform.logpdf(0.5))
        0.0
        """
        z, s = standard("uniform.logpdf", x, loc, scale)
        inside = logic.logical_and(z >= 0, z <= 1)
        return within(inside, -log(s) + 0.0 * z, -math.inf)

    pdf = exponential_of(logpdf, "pdf", ">>> float(uniform.pdf(0.5))\n1.0")

    @staticmethod
    def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of at most `x`."""
        (z, _) = standard("uniform.cdf", x, loc, scale)
        return where(z <= 0, 0.0, where(z >= 1, 1.0, z))  # type: ignore[no-any-return]

    @staticmethod
    def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The inverse of `cdf`; nan outside of [0, 1]."""
        p, m, s = operands("uniform.ppf", ("q", "loc", "scale"), q, loc, scale)
        inside = logic.logical_and(p >= 0, p <= 1)
        return where(inside, m + p * s, math.nan)  # type: ignore[no-any-return]


class beta:
    """The beta distribution with parameters `a` and `b`."""

    @staticmethod
    def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of the density; -inf outside.

        >>> round(float(beta.logpdf(0.5, 2.0, 2.0)), 4)
        0.4055
        """
        z, s, p, q = standard("beta.logpdf", x, loc, scale, a, b)
        inside = logic.logical_and(z >= 0, z <= 1)
        safe = where(inside, z, 0.5)
        value = special.xlogy(p - 1.0, safe) + special.xlog1py(q - 1.0, -safe)
        return within(inside, value - special.betaln(p, q) - log(s), -math.inf)

    pdf = exponential_of(logpdf, "pdf", ">>> float(beta.pdf(0.5, 1.0, 1.0))\n1.0")

    @staticmethod
    def cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of at most `x`.

        >>> float(beta.cdf(0.5, 1.0, 1.0))
        0.5
        """
        z, _, p, q = standard("beta.cdf", x, loc, scale, a, b)
        return special.betainc(p, q, _clipped(z))

    @staticmethod
    def logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `cdf`."""
        return log(beta.cdf(x, a, b, loc, scale))  # type: ignore[no-any-return]

    @staticmethod
    def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of more than `x`."""
        z, _, p, q = standard("beta.sf", x, loc, scale, a, b)
        return special.betainc(q, p, _clipped(1.0 - z))

    @staticmethod
    def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `sf`."""
        return log(beta.sf(x, a, b, loc, scale))  # type: ignore[no-any-return]


def _clipped(z: Array) -> Array:
    """Numbers between 0 and 1."""
    return where(z <= 0, 0.0, where(z >= 1, 1.0, z))  # type: ignore[no-any-return]


class truncnorm:
    """The normal distribution cut off at `a` and `b` deviations."""

    @staticmethod
    def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of the density; -inf outside.

        >>> round(float(truncnorm.logpdf(0.0, -1.0, 1.0)), 4)
        -0.5372
        """
        z, s, low, high = standard("truncnorm.logpdf", x, loc, scale, a, b)
        inside = logic.logical_and(z >= low, z <= high)
        value = norm.logpdf(z) - _log_between(low, high) - log(s)
        return within(inside, value, -math.inf)

    pdf = exponential_of(
        logpdf, "pdf", ">>> round(float(truncnorm.pdf(0.0, -1.0, 1.0)), 4)\n0.5844"
    )

    @staticmethod
    def logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `cdf`."""
        z, _, low, high = standard("truncnorm.logcdf", x, loc, scale, a, b)
        inside = logic.logical_and(z > low, z < high)
        safe = where(inside, z, 0.5 * (low + high))
        value = _log_between(low, safe) - _log_between(low, high)
        return where(inside, value, where(z <= low, -math.inf, where(z >= high, 0.0, math.nan)))  # type: ignore[no-any-return]

    cdf = exponential_of(logcdf, "cdf", ">>> round(float(truncnorm.cdf(0.0, -1.0, 1.0)), 4)\n0.5")

    @staticmethod
    def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of more than `x`."""
        return truncnorm.cdf(_turned(x, loc), -_array(b), -_array(a), 0, scale)  # type: ignore[no-any-return]

    @staticmethod
    def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of `sf`."""
        return truncnorm.logcdf(_turned(x, loc), -_array(b), -_array(a), 0, scale)


def _array(x: Any) -> Array:
    return operands("truncnorm", ("x",), x)[0]


def _turned(x: Any, loc: Any) -> Array:
    return _array(loc) - _array(x)


def _log_between(low: Array, high: Array) -> Array:
    """The logarithm of the normal probability between two bounds, from the nearer tail."""
    right = low > 0
    near = where(right, -low, high)
    far = where(right, -high, low)
    first, second = special.log_ndtr(near), special.log_ndtr(far)
    # At -inf the difference of logarithms is -inf too, whose exponential is 0.
    return first + transcendental.log1p(-transcendental.exp(second - first))  # type: ignore[no-any-return]


class dirichlet:
    """The Dirichlet distribution of shares with parameters `alpha`, one for each."""

    @staticmethod
    def logpdf(x: Any, alpha: Any) -> Array:
        """The logarithm of the density of `x`, whose first axis holds the shares.

        The last share may be left out, as in SciPy.  -inf where they are no shares.

        >>> import arrayx.numpy as anp
        >>> round(float(dirichlet.logpdf(anp.array([0.5, 0.5]), anp.ones(2))), 4)
        0.0
        """
        shares, power = promoted_arrays((x, alpha), "dirichlet.logpdf", ("x", "alpha"), inexact)
        count = power.shape[0] if power.ndim == 1 else -1
        if not shares.ndim or shares.shape[0] not in (count, count - 1):
            raise errors.ShapeError(
                f"dirichlet.logpdf: alpha must be a vector, and x have as many rows, or one less; "
                f"got shapes {power.shape} and {shares.shape}"
            )
        if shares.shape[0] == count - 1:
            last = 1.0 - sum(shares, 0, keepdims=True)
            shares = concatenate([shares, last])
        column = power.reshape((count,) + (1,) * (shares.ndim - 1))
        positive = shares >= 0
        safe = where(positive, shares, 1.0)
        size = sum(special.gammaln(power)) - special.gammaln(sum(power))
        value = sum(special.xlogy(column - 1.0, safe), 0) - size
        total = sum(shares, 0)
        whole = logic.logical_and(all_true(positive, 0), abs(total - 1.0) < 1e-4)
        return within(whole, value, -math.inf)

    pdf = exponential_of(logpdf, "pdf", "")
