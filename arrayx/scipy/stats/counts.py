"""Distributions of whole numbers."""

from __future__ import annotations

import math
from typing import Any

from arrayx.core.array import Array
from arrayx.numpy import logic, ranges, rounding, transcendental
from arrayx.numpy.promotion import inexact, placed_like, promoted_arrays
from arrayx.numpy.reductions import sum
from arrayx.numpy.selection import where
from arrayx.numpy.shapes import expand_dims
from arrayx.scipy import special
from arrayx.scipy.stats.distributions import exponential_of, operands, within

log, log1p, floor = transcendental.log, transcendental.log1p, rounding.floor


def _whole(k: Array, low: Any, high: Any = math.inf) -> Any:
    """Which are whole numbers of a range."""
    inside = logic.logical_and(k >= low, k <= high)
    return logic.logical_and(inside, floor(k) == k)


class bernoulli:
    """1 with probability `p`, else 0."""

    @staticmethod
    def logpmf(k: Any, p: Any, loc: Any = 0) -> Array:
        """The logarithm of the probability of `k`; -inf if it is impossible.

        >>> round(float(bernoulli.logpmf(1, 0.5)), 4)
        -0.6931
        """
        k, p, loc = operands("bernoulli.logpmf", ("k", "p", "loc"), k, p, loc)
        x = k - loc
        value = where(x == 0, log1p(-p), log(p))
        return within(_whole(x, 0, 1), value, -math.inf)

    pmf = exponential_of(logpmf, "pmf", ">>> float(bernoulli.pmf(1, 0.5))\n0.5")

    @staticmethod
    def cdf(k: Any, p: Any) -> Array:
        """The probability of at most `k`."""
        k, p = operands("bernoulli.cdf", ("k", "p"), k, p)
        value = where(k < 0, 0.0, where(k < 1, 1.0 - p, 1.0))
        bad = logic.logical_or(logic.logical_or(p < 0, p > 1), logic.isnan(k))
        return where(bad, math.nan, value)  # type: ignore[no-any-return]

    @staticmethod
    def ppf(q: Any, p: Any) -> Array:
        """The inverse of `cdf`."""
        q, p = operands("bernoulli.ppf", ("q", "p"), q, p)
        inside = logic.logical_and(q >= 0, q <= 1)
        valid = logic.logical_and(inside, logic.logical_and(p >= 0, p <= 1))
        return where(valid, where(q <= 1.0 - p, 0.0, 1.0), math.nan)  # type: ignore[no-any-return]


class poisson:
    """The Poisson distribution with mean `mu`."""

    @staticmethod
    def logpmf(k: Any, mu: Any, loc: Any = 0) -> Array:
        """The logarithm of the probability of `k`; -inf if it is impossible.

        >>> float(poisson.logpmf(0, 2.0))
        -2.0
        """
        k, mu, loc = operands("poisson.logpmf", ("k", "mu", "loc"), k, mu, loc)
        x = k - loc
        inside = _whole(x, 0)
        safe = where(inside, x, 0.0)
        return within(inside, special.xlogy(safe, mu) - special.gammaln(safe + 1.0) - mu, -math.inf)

    pmf = exponential_of(logpmf, "pmf", ">>> round(float(poisson.pmf(0, 2.0)), 4)\n0.1353")

    @staticmethod
    def cdf(k: Any, mu: Any, loc: Any = 0) -> Array:
        """The probability of at most `k`.

        >>> round(float(poisson.cdf(0, 2.0)), 4)
        0.1353
        """
        k, mu, loc = operands("poisson.cdf", ("k", "mu", "loc"), k, mu, loc)
        x = floor(k - loc)
        inside = x >= 0
        return within(inside, special.gammaincc(where(inside, x, 0.0) + 1.0, mu), 0.0)

    @staticmethod
    def entropy(mu: Any, loc: Any = 0) -> Array:
        """The entropy of the distribution in nats: a sum for means up to 60, beyond the first
        terms of its expansion (Evans and Boersma, SIAM Review 30, 1988), to 1e-7.

        >>> round(float(poisson.entropy(2.0)), 4)
        1.7049
        """
        mu, _ = operands("poisson.entropy", ("mu", "loc"), mu, loc)
        few = mu <= 60.0
        mean = where(few, mu, 1.0)
        with placed_like(mu):
            counts = ranges.arange(160, dtype=mu.dtype)
        chances = poisson.logpmf(counts, expand_dims(mean, -1))
        total = -sum(transcendental.exp(chances) * where(chances > -1e4, chances, 0.0), -1)
        large = where(few, 100.0, mu)
        inverse = 1.0 / large
        rest = inverse * (1 / 12 + inverse * (1 / 24 + inverse * (19 / 360)))
        beyond = 0.5 * log(2 * math.pi * math.e * large) - rest
        return within(mu >= 0, where(few, total, beyond), math.nan)


class geom:
    """How often something of probability `p` is tried until it happens."""

    @staticmethod
    def logpmf(k: Any, p: Any, loc: Any = 0) -> Array:
        """The logarithm of the probability of `k`; -inf if it is impossible.

        >>> round(float(geom.logpmf(1, 0.5)), 4)
        -0.6931
        """
        k, p, loc = operands("geom.logpmf", ("k", "p", "loc"), k, p, loc)
        x = k - loc
        inside = _whole(x, 1)
        safe = where(inside, x, 1.0)
        return within(inside, special.xlog1py(safe - 1.0, -p) + log(p), -math.inf)

    pmf = exponential_of(logpmf, "pmf", ">>> float(geom.pmf(2, 0.5))\n0.25")


class binom:
    """How often something of probability `p` happens in `n` tries."""

    @staticmethod
    def logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
        """The logarithm of the probability of `k`; -inf if it is impossible.

        >>> round(float(binom.logpmf(1, 2, 0.5)), 4)
        -0.6931
        """
        k, n, p, loc = operands("binom.logpmf", ("k", "n", "p", "loc"), k, n, p, loc)
        x = k - loc
        inside = _whole(x, 0, n)
        x = where(inside, x, 0.0)
        ways = special.gammaln(n + 1.0) - special.gammaln(x + 1.0) - special.gammaln(n - x + 1.0)
        return within(inside, ways + special.xlogy(x, p) + special.xlog1py(n - x, -p), -math.inf)

    pmf = exponential_of(logpmf, "pmf", ">>> round(float(binom.pmf(1, 2, 0.5)), 4)\n0.5")


class nbinom:
    """How often something fails until it, of probability `p`, has happened `n` times."""

    @staticmethod
    def logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
        """The logarithm of the probability of `k`; -inf if it is impossible.

        >>> round(float(nbinom.logpmf(0, 1, 0.5)), 4)
        -0.6931
        """
        k, n, p, loc = operands("nbinom.logpmf", ("k", "n", "p", "loc"), k, n, p, loc)
        x = k - loc
        inside = _whole(x, 0)
        x = where(inside, x, 0.0)
        ways = special.gammaln(x + n) - special.gammaln(x + 1.0) - special.gammaln(n)
        return within(inside, ways + special.xlogy(n, p) + special.xlog1py(x, -p), -math.inf)

    pmf = exponential_of(logpmf, "pmf", ">>> round(float(nbinom.pmf(0, 1, 0.5)), 4)\n0.5")


class betabinom:
    """`binom` whose probability is drawn from the beta distribution of `a` and `b`."""

    @staticmethod
    def logpmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Array:
        """The logarithm of the probability of `k`; -inf if it is impossible.

        >>> round(float(betabinom.logpmf(0, 1, 1.0, 1.0)), 4)
        -0.6931
        """
        names = ("k", "n", "a", "b", "loc")
        k, n, a, b, loc = operands("betabinom.logpmf", names, k, n, a, b, loc)
        x = k - loc
        inside = _whole(x, 0, n)
        x = where(inside, x, 0.0)
        ways = -log(n + 1.0) - special.betaln(n - x + 1.0, x + 1.0)
        value = ways + special.betaln(x + a, n - x + b) - special.betaln(a, b)
        return within(inside, value, -math.inf)

    pmf = exponential_of(logpmf, "pmf", ">>> round(float(betabinom.pmf(0, 1, 1.0, 1.0)), 4)\n0.5")


class multinomial:
    """How often each of several things happens in `n` tries."""

    @staticmethod
    def logpmf(x: Any, n: Any, p: Any) -> Array:
        """The logarithm of the probability of the counts in the last axis of `x`.

        -inf where they do not sum to `n`.

        >>> import arrayx.numpy as anp
        >>> round(float(multinomial.logpmf(anp.array([1, 1]), 2, anp.array([0.5, 0.5]))), 4)
        -0.6931
        """
        x, n, p = promoted_arrays((x, n, p), "multinomial.logpmf", ("x", "n", "p"), inexact)
        terms = special.xlogy(x, p) - special.gammaln(x + 1.0)
        return where(sum(x, -1) == n, special.gammaln(n + 1.0) + sum(terms, -1), -math.inf)  # type: ignore[no-any-return]

    pmf = exponential_of(logpmf, "pmf", "")
