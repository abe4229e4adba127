"""Incomplete gamma functions, and how gamma random numbers depend on their parameter.

All rest on one integral (DLMF 8.2.1, 8.2.2, with the variable replaced by its logarithm).  With
the density D(a, x) = x**a exp(-x) / gamma(a) the two tails are D times

    upper: the integral of exp(a·u - x·expm1(u)) over u from 0 on, for x > a + 1,
    lower: the same with -u for u, for x <= a + 1.

The integrands are entire and fall from 1, so quadrature over the part that is not negligible is
exact to rounding.  Below, the parameter is raised first by the recurrence DLMF 8.8.5, so that the
integrand is gone soon for small parameters as well.
"""

from __future__ import annotations

import math
from typing import Any

from arrayx.control.slopes import by_expansion, derivative
from arrayx.primitives.arithmetic import add, eq, ge, gt, le, lt, mul, ne, neg, select, sub
from arrayx.primitives.bitwise import bitwise_and, bitwise_not, bitwise_or
from arrayx.primitives.combined import stop_gradient
from arrayx.primitives.expanded import Special, number_like
from arrayx.primitives.exponential import exp, expm1, log, log1p, sqrt
from arrayx.primitives.numeric import div
from arrayx.primitives.numeric import min as minimum
from arrayx.primitives.quadrature import integral
from arrayx.primitives.special import digamma, lgamma

# Coefficients of Stirling's series, B(2k) / (2k(2k - 1)): DLMF 5.11.1.
STIRLING = (
    1 / 12,
    -1 / 360,
    1 / 1260,
    -1 / 1680,
    1 / 1188,
    -691 / 360360,
    1 / 156,
    -3617 / 122400,
)
# From here on the series is exact to rounding.
LARGE = 8.0
# An integrand below exp(-NEGLIGIBLE) adds nothing.
NEGLIGIBLE = 40.0
# By how much the recurrence raises the parameter.
RAISED = 12


def stirling_rest(a: Any) -> Any:
    """log(gamma(a)) without the first terms of Stirling's series, for a of at least `LARGE`."""
    inverse = div(1.0, a)
    squared = mul(inverse, inverse)
    total = mul(squared, STIRLING[-1])
    for c in reversed(STIRLING[1:-1]):
        total = mul(add(total, c), squared)
    return mul(add(total, STIRLING[0]), inverse)


def log1p_less(x: Any) -> Any:
    """log(1 + x) - x without cancellation, from 2·atanh(x / (2 + x))."""
    near = lt(mul(x, x), 0.25)
    safe = select(near, x, 0.0)
    ratio = div(safe, add(safe, 2.0))
    squared = mul(ratio, ratio)
    terms = 17 if x.aval.dtype.itemsize == 8 else 7
    total = mul(squared, 1.0 / (2 * terms + 1))
    for k in range(terms - 1, 0, -1):
        total = mul(add(total, 1.0 / (2 * k + 1)), squared)
    close = mul(ratio, sub(mul(total, 2.0), safe))
    away = select(near, 1.0, x)
    return select(near, close, sub(log1p(away), away))


def log_density(a: Any, x: Any, log_x: Any) -> Any:
    """log(x**a exp(-x) / gamma(a)) for positive `a` and `x`."""
    large = ge(a, LARGE)
    big, small = select(large, a, LARGE), select(large, 1.0, a)
    distance = div(sub(x, big), big)
    # Far below, 1 + distance would lose what x has.
    near = gt(distance, -0.5)
    close = log1p_less(select(near, distance, 0.0))
    far = add(sub(log_x, log(big)), neg(distance))
    peak = sub(mul(log(mul(big, 1 / (2 * math.pi))), 0.5), stirling_rest(big))
    wide = add(mul(big, select(near, close, far)), peak)
    narrow = sub(sub(mul(small, log_x), x), lgamma(small))
    return select(large, wide, narrow)


def tail(a: Any, x: Any, lower: Any) -> Any:
    """The lower tail where `lower` holds, else the upper one, divided by the density."""
    raised = select(lower, add(a, float(RAISED)), a)
    rate = select(lower, sub(raised, x), sub(x, raised))
    # Where bounds of the exponents reach -NEGLIGIBLE; below expm1(-u) is at least -u + u²/(2 + u)
    # and above expm1(u) - u at least u²/2.
    twice = sub(mul(rate, 2.0), NEGLIGIBLE)
    root = sqrt(add(mul(twice, twice), mul(select(lower, raised, 0.0), 8 * NEGLIGIBLE)))
    below = div(4 * NEGLIGIBLE, select(lower, add(twice, root), 1.0))
    under = select(lower, 0.0, mul(x, 2 * NEGLIGIBLE))
    above = div(2 * NEGLIGIBLE, add(rate, sqrt(add(mul(rate, rate), under))))
    above = minimum(above, log1p(add(div(NEGLIGIBLE, x), above)))
    length = stop_gradient(select(lower, below, above))
    sign = select(lower, -1.0, number_like(x, 1.0))

    def integrand(u: Any, a: Any, x: Any, sign: Any) -> Any:
        signed = mul(u, sign)
        return exp(sub(mul(a, signed), mul(x, expm1(signed))))

    total = integral(integrand, length, raised, x, stop_gradient(sign))
    summed = total
    for k in range(RAISED - 1, -1, -1):
        summed = div(add(mul(x, summed), 1.0), add(a, float(k)))
    return select(lower, summed, total)


class _Incomplete(Special):
    """A regularised incomplete gamma function."""

    def computed(self, a: Any, x: Any) -> Any:
        inside = bitwise_and(bitwise_and(gt(a, 0.0), gt(x, 0.0)), lt(add(a, x), math.inf))
        safe_a, safe_x = select(inside, a, 1.0), select(inside, x, 1.0)
        lower = le(safe_x, add(safe_a, 1.0))
        share = mul(exp(log_density(safe_a, safe_x, log(safe_x))), tail(safe_a, safe_x, lower))
        return select(inside, self.of_tail(lower, share), stop_gradient(self.at_edges(a, x)))

    def of_tail(self, lower: Any, share: Any) -> Any:
        """The function, given the share of the lower tail where `lower` holds, or the upper."""
        raise NotImplementedError

    def at_edges(self, a: Any, x: Any) -> Any:
        """The function where a parameter is 0 or infinite; nan outside of the domain."""
        valid = bitwise_and(ge(a, 0.0), ge(x, 0.0))
        both = bitwise_or(
            bitwise_and(eq(a, 0.0), eq(x, 0.0)),
            bitwise_and(eq(a, math.inf), eq(x, math.inf)),
        )
        full = bitwise_or(eq(a, 0.0), eq(x, math.inf))
        value = select(full, self.at_one, number_like(x, 1.0 - self.at_one))
        return select(bitwise_and(valid, bitwise_not(both)), value, math.nan)

    # What the function is where the lower tail is everything.
    at_one = 1.0


def density_by_x(a: Any, x: Any) -> Any:
    """The density of the gamma distribution at `x`, the slope of `igamma`."""
    logarithm = sub(sub(mul(sub(a, 1.0), log(x)), x), lgamma(a))
    return exp(logarithm)


class GammaDensity(Special):
    """The density of the gamma distribution with shape `a` at `x`; 0 outside of x >= 0."""

    name = "gamma_density"

    def computed(self, a: Any, x: Any) -> Any:
        inside = bitwise_and(bitwise_and(gt(a, 0.0), gt(x, 0.0)), lt(add(a, x), math.inf))
        safe_a, safe_x = select(inside, a, 1.0), select(inside, x, 1.0)
        log_x = log(safe_x)
        value = exp(sub(log_density(safe_a, safe_x, log_x), log_x))
        at_zero = select(lt(a, 1.0), math.inf, select(eq(a, 1.0), 1.0, number_like(x, 0.0)))
        edge = select(bitwise_and(eq(x, 0.0), gt(a, 0.0)), at_zero, 0.0)
        edge = select(bitwise_or(ne(a, a), ne(x, x)), math.nan, edge)
        return select(inside, value, stop_gradient(edge))

    @staticmethod
    def by_a(a: Any, x: Any, out: Any) -> Any:
        return mul(out, sub(log(x), digamma(a)))

    @staticmethod
    def by_x(a: Any, x: Any, out: Any) -> Any:
        return mul(out, sub(div(sub(a, 1.0), x), 1.0))

    partials = (by_a, by_x)


class IncompleteGamma(_Incomplete):
    """The regularised lower incomplete gamma function P(a, x): the share of the gamma
    distribution with shape `a` below `x`."""

    name = "igamma"
    partials = (by_expansion("igamma", 0, 2), lambda a, x, out: gamma_density(a, x))

    def of_tail(self, lower: Any, share: Any) -> Any:
        return select(lower, share, sub(1.0, share))


class IncompleteGammaComplement(_Incomplete):
    """The regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x)."""

    name = "igammac"
    partials = (by_expansion("igammac", 0, 2), lambda a, x, out: neg(gamma_density(a, x)))
    at_one = 0.0

    def of_tail(self, lower: Any, share: Any) -> Any:
        return select(lower, sub(1.0, share), share)


class LogGammaSlope(Special):
    """How the logarithm `z` of a gamma random number moves with the shape `a`, the share below
    it kept: -(dP/da) / (dP/dz) at x = exp(z) (Figurnov, Mohamed and Mnih, 2018)."""

    name = "loggamma_slope"
    partials = (by_expansion("loggamma_slope", 0, 2), by_expansion("loggamma_slope", 1, 2))

    def computed(self, a: Any, z: Any) -> Any:
        inside = bitwise_and(gt(a, 0.0), lt(a, math.inf))
        inside = bitwise_and(inside, lt(z, math.inf))
        safe_a, safe_z = select(inside, a, 1.0), select(inside, z, 0.0)
        x = exp(safe_z)
        lower = le(x, add(safe_a, 1.0))
        by_a = (1, 0)
        parts = (
            lambda a, x: log_density(a, x, safe_z),
            lambda a, x: tail(a, x, lower),
        )
        of_density, of_tail = (derivative(f, by_a)(safe_a, x) for f in parts)
        size = add(mul(tail(safe_a, x, lower), of_density), of_tail)
        return select(inside, select(lower, neg(size), size), math.nan)


igamma = IncompleteGamma()
igammac = IncompleteGammaComplement()
gamma_density = GammaDensity()
loggamma_slope = LogGammaSlope()
