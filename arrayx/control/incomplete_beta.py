"""The regularised incomplete beta function, by the quadrature of `incomplete_gamma`.

With the density D(a, b, x) = x**a (1 - x)**b / B(a, b) the share below x (DLMF 8.17.1, the
variable replaced by its logarithm) is D / (1 - x) times the integral over u from 0 on of

    exp(-a·u + (b - 1)·log1p(x / (1 - x)·(1 - exp(-u)))),

which falls from 1 for x below the mean; above, a and b change places and x becomes 1 - x.  The
recurrence DLMF 8.17.20 raises a first.
"""

from __future__ import annotations

import math
from typing import Any

from arrayx.control.incomplete_gamma import (
    LARGE,
    NEGLIGIBLE,
    RAISED,
    log1p_less,
    stirling_rest,
)
from arrayx.control.slopes import by_expansion
from arrayx.primitives.arithmetic import add, eq, ge, gt, le, lt, mul, ne, neg, select, sub
from arrayx.primitives.bitwise import bitwise_and, bitwise_not, bitwise_or
from arrayx.primitives.combined import stop_gradient
from arrayx.primitives.expanded import Special, number_like
from arrayx.primitives.exponential import exp, expm1, log, log1p, sqrt
from arrayx.primitives.numeric import div
from arrayx.primitives.numeric import max as maximum
from arrayx.primitives.quadrature import integral
from arrayx.primitives.special import digamma, lgamma


def log_beta(a: Any, b: Any) -> Any:
    """The logarithm of the beta function of positive numbers, without cancellation."""
    swap = lt(a, b)
    large, small = select(swap, b, a), select(swap, a, b)
    far = ge(large, LARGE)
    both = ge(small, LARGE)
    # One large: lgamma(large + small) - lgamma(large) by Stirling's formula.
    big, little = select(far, large, LARGE), select(both, 1.0, small)
    total = add(big, little)
    rise = sub(add(mul(little, log(total)), mul(sub(big, 0.5), log1p(div(little, big)))), little)
    rise = add(rise, sub(stirling_rest(total), stirling_rest(big)))
    one = sub(lgamma(little), rise)
    # None large.
    near = select(far, 1.0, large), select(far, 1.0, small)
    none = sub(add(lgamma(near[0]), lgamma(near[1])), lgamma(add(*near)))
    # Both large.
    p, q = select(both, large, LARGE), select(both, small, LARGE)
    whole = add(p, q)
    shares = add(mul(p, log1p(div(q, p))), mul(q, log1p(div(p, q))))
    rest = sub(add(stirling_rest(p), stirling_rest(q)), stirling_rest(whole))
    root = mul(log(mul(div(whole, mul(p, q)), 2 * math.pi)), 0.5)
    two = add(sub(root, shares), rest)
    return select(both, two, select(far, one, none))


def log_density(a: Any, b: Any, x: Any, y: Any, log_x: Any, log_y: Any) -> Any:
    """log(x**a y**b / B(a, b)) for y = 1 - x, both positive."""
    both = bitwise_and(ge(a, LARGE), ge(b, LARGE))
    p, q = select(both, a, LARGE), select(both, b, LARGE)
    whole = add(p, q)
    # How far x is from the place where both powers are balanced.
    off = sub(mul(x, q), mul(y, p))
    exponents = add(
        mul(p, _relative(div(off, p), log_x, div(whole, p))),
        mul(q, _relative(neg(div(off, q)), log_y, div(whole, q))),
    )
    rest = sub(add(stirling_rest(p), stirling_rest(q)), stirling_rest(whole))
    root = mul(log(mul(div(mul(p, q), whole), 1 / (2 * math.pi))), 0.5)
    wide = add(exponents, sub(root, rest))
    narrow = sub(add(mul(a, log_x), mul(b, log_y)), log_beta(a, b))
    return select(both, wide, narrow)


def _relative(distance: Any, logarithm: Any, scale: Any) -> Any:
    """log(1 + distance) - distance, where 1 + distance is scale·exp(logarithm)."""
    near = gt(distance, -0.5)
    close = log1p_less(select(near, distance, 0.0))
    return select(near, close, sub(add(logarithm, log(scale)), distance))


def tail(a: Any, b: Any, x: Any, y: Any) -> Any:
    """The share below `x`, which is below the mean, divided by the density; y = 1 - x."""
    raised = add(a, float(RAISED))
    odds = div(x, y)
    more = maximum(sub(b, 1.0), 0.0)
    rate = sub(raised, mul(more, odds))
    # Where the exponent's bound rate·u + bend·u² / (1 + scale·u) reaches NEGLIGIBLE.
    scale = add(odds, 1.0)
    bend = mul(mul(more, odds), mul(scale, 0.5))
    square = add(mul(rate, scale), bend)
    linear = sub(mul(scale, NEGLIGIBLE), rate)
    root = sqrt(add(mul(linear, linear), mul(square, 4 * NEGLIGIBLE)))
    steep = lt(linear, 0.0)
    size = select(steep, neg(linear), linear)
    total = add(size, root)
    length = select(steep, div(2 * NEGLIGIBLE, total), div(mul(total, 0.5), square))
    length = stop_gradient(length)

    def integrand(u: Any, a: Any, b: Any, odds: Any) -> Any:
        power = mul(b, log1p(neg(mul(odds, expm1(neg(u))))))
        return exp(sub(power, mul(a, u)))

    result = div(integral(integrand, length, raised, sub(b, 1.0), odds, count=(24, 48)), y)
    whole = add(a, b)
    for k in range(RAISED - 1, -1, -1):
        grown = mul(mul(x, add(whole, float(k))), result)
        result = div(add(grown, 1.0), add(a, float(k)))
    return result


def inside_of(a: Any, b: Any, x: Any) -> Any:
    """Where parameters are positive and finite, and x is between 0 and 1."""
    proper = bitwise_and(bitwise_and(gt(a, 0.0), gt(b, 0.0)), lt(add(a, b), math.inf))
    return bitwise_and(proper, bitwise_and(gt(x, 0.0), lt(x, 1.0)))


class IncompleteBeta(Special):
    """The regularised incomplete beta function: the share of the beta distribution with
    parameters `a` and `b` below `x`."""

    name = "betainc"
    partials = (
        by_expansion("betainc", 0, 3),
        by_expansion("betainc", 1, 3),
        lambda a, b, x, out: beta_density(a, b, x),
    )

    def computed(self, a: Any, b: Any, x: Any) -> Any:
        inside = inside_of(a, b, x)
        a_, b_ = select(inside, a, 1.0), select(inside, b, 1.0)
        x_ = select(inside, x, 0.5)
        above = ge(mul(x_, add(add(a_, b_), 2.0)), add(a_, 1.0))
        y_, log_x, log_y = sub(1.0, x_), log(x_), log1p(neg(x_))
        p, q = select(above, b_, a_), select(above, a_, b_)
        near, far = select(above, y_, x_), select(above, x_, y_)
        logs = select(above, log_y, log_x), select(above, log_x, log_y)
        share = mul(exp(log_density(p, q, near, far, *logs)), tail(p, q, near, far))
        value = select(above, sub(1.0, share), share)
        return select(inside, value, stop_gradient(at_edges(a, b, x)))


def at_edges(a: Any, b: Any, x: Any) -> Any:
    """`betainc` where x is 0 or 1, or all of the distribution is there; nan elsewhere."""
    all_at_0 = bitwise_or(eq(a, 0.0), eq(b, math.inf))
    all_at_1 = bitwise_or(eq(b, 0.0), eq(a, math.inf))
    proper = bitwise_and(bitwise_and(ge(a, 0.0), ge(b, 0.0)), ge(x, 0.0))
    proper = bitwise_and(proper, le(x, 1.0))
    proper = bitwise_and(proper, bitwise_not(bitwise_and(all_at_0, all_at_1)))
    between = select(all_at_0, 1.0, select(all_at_1, number_like(x, 0.0), math.nan))
    value = select(eq(x, 0.0), 0.0, select(eq(x, 1.0), 1.0, between))
    return select(proper, value, math.nan)


class BetaDensity(Special):
    """The density of the beta distribution with parameters `a` and `b` at `x`."""

    name = "beta_density"

    def computed(self, a: Any, b: Any, x: Any) -> Any:
        inside = inside_of(a, b, x)
        a_, b_ = select(inside, a, 1.0), select(inside, b, 1.0)
        x_ = select(inside, x, 0.5)
        y_, log_x, log_y = sub(1.0, x_), log(x_), log1p(neg(x_))
        value = exp(sub(log_density(a_, b_, x_, y_, log_x, log_y), add(log_x, log_y)))
        at_ends = select(eq(x, 0.0), edge(a, b), select(eq(x, 1.0), edge(b, a), 0.0))
        bad = bitwise_or(bitwise_or(ne(a, a), ne(b, b)), ne(x, x))
        return select(inside, value, stop_gradient(select(bad, math.nan, at_ends)))

    @staticmethod
    def by_a(a: Any, b: Any, x: Any, out: Any) -> Any:
        return mul(out, add(log(x), sub(digamma(add(a, b)), digamma(a))))

    @staticmethod
    def by_b(a: Any, b: Any, x: Any, out: Any) -> Any:
        return mul(out, add(log1p(neg(x)), sub(digamma(add(a, b)), digamma(b))))

    @staticmethod
    def by_x(a: Any, b: Any, x: Any, out: Any) -> Any:
        return mul(out, sub(div(sub(a, 1.0), x), div(sub(b, 1.0), sub(1.0, x))))

    partials = (by_a, by_b, by_x)


def edge(own: Any, other: Any) -> Any:
    """The density at the end where the power with the parameter `own` is singular."""
    finite = select(eq(own, 1.0), other, 0.0)
    return select(lt(own, 1.0), math.inf, finite)


class LogBeta(Special):
    """The logarithm of the beta function of positive `a` and `b`."""

    name = "log_beta"
    partials = (
        lambda a, b, out: sub(digamma(a), digamma(add(a, b))),
        lambda a, b, out: sub(digamma(b), digamma(add(a, b))),
    )

    def computed(self, a: Any, b: Any) -> Any:
        inside = bitwise_and(bitwise_and(gt(a, 0.0), gt(b, 0.0)), lt(add(a, b), math.inf))
        value = log_beta(select(inside, a, 1.0), select(inside, b, 1.0))
        # Elsewhere what the gamma function gives, infinities and poles included.
        outside = sub(add(lgamma(a), lgamma(b)), lgamma(add(a, b)))
        at_pole = bitwise_or(eq(a, 0.0), eq(b, 0.0))
        outside = select(at_pole, math.inf, outside)
        return select(inside, value, stop_gradient(outside))


betainc = IncompleteBeta()
beta_density = BetaDensity()
beta_logarithm = LogBeta()
