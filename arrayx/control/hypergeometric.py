"""Hypergeometric functions of real numbers: Kummer's 1F1 and Gauss's 2F1."""

from __future__ import annotations

import math
from typing import Any

from arrayx.control.repetition import series
from arrayx.control.slopes import by_expansion
from arrayx.primitives.arithmetic import add, eq, ge, gt, le, lt, mul, ne, neg, select, sub
from arrayx.primitives.bitwise import bitwise_and, bitwise_not
from arrayx.primitives.combined import stop_gradient
from arrayx.primitives.expanded import Special, number_like
from arrayx.primitives.exponential import exp, log, log1p
from arrayx.primitives.numeric import abs as absolute
from arrayx.primitives.numeric import div, floor, is_finite, rem, round
from arrayx.primitives.special import lgamma

# Beyond it 1F1 is taken from its expansion at infinity.
FAR = 50.0


def reciprocal_gamma(x: Any) -> Any:
    """1 / gamma(x), 0 at the poles of the gamma function."""
    whole = floor(x)
    pole = bitwise_and(le(x, 0.0), eq(whole, x))
    negative = bitwise_and(lt(x, 0.0), ne(rem(whole, 2.0), 0.0))
    size = exp(neg(lgamma(select(pole, 0.5, x))))
    return select(pole, 0.0, select(negative, neg(size), size))


def kummer_ratio(k: Any, a: Any, b: Any, x: Any) -> Any:
    """From term k of the series of 1F1 to the next (DLMF 13.2.2)."""
    return div(mul(add(a, k), x), mul(add(b, k), add(k, 1.0)))


def at_infinity_ratio(k: Any, a: Any, b: Any, x: Any) -> Any:
    """From term k of the expansion at infinity to the next, 0 once the terms would grow."""
    top = mul(add(sub(b, a), k), add(sub(1.0, a), k))
    ratio = div(top, mul(add(k, 1.0), x))
    return select(lt(absolute(ratio), 1.0), ratio, 0.0)


class Hyp1f1(Special):
    """Kummer's confluent hypergeometric function 1F1 of `a`, `b` and `x` (DLMF 13.2.2).

    For negative `x` by Kummer's transformation (DLMF 13.2.39), for large `x` by the expansion at
    infinity (DLMF 13.7.2), which is exact to rounding where `a` and `b` are small beside `x`.
    nan where an operand is not finite.
    """

    name = "hyp1f1"
    partials = (
        by_expansion("hyp1f1", 0, 3),
        by_expansion("hyp1f1", 1, 3),
        lambda a, b, x, out: mul(div(a, b), hyp1f1(add(a, 1.0), add(b, 1.0), x)),
    )

    def computed(self, a: Any, b: Any, x: Any) -> Any:
        # A polynomial stays one: its terms all have the same sign where x is negative.
        whole = bitwise_and(le(a, 0.0), eq(floor(a), a))
        turned = bitwise_and(lt(x, 0.0), bitwise_not(whole))
        first = select(turned, sub(b, a), a)
        size = select(turned, neg(x), x)
        far = bitwise_and(gt(size, FAR), bitwise_not(whole))
        far = bitwise_and(far, gt(size, mul(add(absolute(a), absolute(b)), 2.0)))
        finite = is_finite(add(add(a, b), x))
        first, b = select(finite, first, 0.5), select(finite, b, 1.0)
        near_x = select(bitwise_and(finite, bitwise_not(far)), size, 0.0)
        one = number_like(x, 1.0)
        scale = exp(neg(select(turned, near_x, 0.0)))
        near = mul(series(kummer_ratio, one, first, b, near_x, most=2000), scale)
        far_x = select(bitwise_and(far, finite), size, 2 * FAR)
        total = series(at_infinity_ratio, one, first, b, far_x, most=60)
        power = exp(
            add(mul(sub(first, b), log(far_x)), select(turned, 0.0, select(far, size, 0.0)))
        )
        beyond = mul(mul(total, power), div(reciprocal_gamma(first), reciprocal_gamma(b)))
        value = select(far, beyond, near)
        pole = bitwise_and(bitwise_and(le(b, 0.0), eq(floor(b), b)), ne(x, 0.0))
        ends = bitwise_and(pole, bitwise_not(bitwise_and(whole, ge(a, b))))
        value = select(ends, math.inf, value)
        return select(is_finite(add(add(a, b), x)), value, math.nan)


def gauss_ratio(k: Any, a: Any, b: Any, c: Any, x: Any) -> Any:
    """From term k of the series of 2F1 to the next (DLMF 15.2.1)."""
    return div(mul(mul(add(a, k), add(b, k)), x), mul(add(c, k), add(k, 1.0)))


class Hyp2f1(Special):
    """Gauss's hypergeometric function 2F1 of `a`, `b`, `c` and `x` up to 1 (DLMF 15.2.1).

    For negative `x` by Pfaff's transformation (DLMF 15.8.1), near 1 by DLMF 15.8.4; where
    c - a - b is close to a whole number the plain series is taken there, which ends after
    5,000 terms.  nan beyond 1, and where an operand is not finite.
    """

    name = "hyp2f1"
    partials = (
        by_expansion("hyp2f1", 0, 4),
        by_expansion("hyp2f1", 1, 4),
        by_expansion("hyp2f1", 2, 4),
        lambda a, b, c, x, out: mul(
            div(mul(a, b), c), hyp2f1(add(a, 1.0), add(b, 1.0), add(c, 1.0), x)
        ),
    )

    def computed(self, a: Any, b: Any, c: Any, x: Any) -> Any:
        finite = is_finite(add(add(a, b), add(c, x)))
        a, b, c = (select(finite, v, 0.5) for v in (a, b, c))
        inside = lt(x, 1.0)
        x_ = select(bitwise_and(inside, finite), x, 0.0)
        turned = lt(x_, 0.0)
        second = select(turned, sub(c, b), b)
        z = select(turned, div(x_, sub(x_, 1.0)), x_)
        excess = sub(sub(c, a), second)
        apart = gt(absolute(sub(excess, round(excess))), 0.05)
        close = bitwise_and(gt(z, 0.8), apart)
        one = number_like(x, 1.0)
        direct = series(gauss_ratio, one, a, second, c, select(close, 0.0, z), most=5000)
        value = select(close, self.near_one(a, second, c, z, excess, close), direct)
        factor = exp(neg(mul(a, log1p(neg(select(turned, x_, 0.0))))))
        value = mul(value, factor)
        at_one = self.at_one(a, b, c)
        edge = select(eq(x, 1.0), at_one, math.nan)
        value = select(inside, value, stop_gradient(edge))
        return select(finite, value, math.nan)

    def near_one(self, a: Any, b: Any, c: Any, z: Any, excess: Any, close: Any) -> Any:
        """The sum of two series in 1 - z."""
        one = number_like(z, 1.0)
        a, b = select(close, a, 0.25), select(close, b, 0.5)
        c, excess = select(close, c, 1.0), select(close, excess, 0.25)
        w = sub(1.0, select(close, z, 0.9))
        first = series(gauss_ratio, one, a, b, sub(1.0, excess), w, most=500)
        other = series(gauss_ratio, one, sub(c, a), sub(c, b), add(excess, 1.0), w, most=500)
        top = reciprocal_gamma(c)
        regular = mul(
            mul(reciprocal_gamma(sub(c, a)), reciprocal_gamma(sub(c, b))),
            div(first, mul(top, reciprocal_gamma(excess))),
        )
        singular = mul(
            mul(reciprocal_gamma(a), reciprocal_gamma(b)),
            div(mul(other, exp(mul(excess, log(w)))), mul(top, reciprocal_gamma(neg(excess)))),
        )
        return add(regular, singular)

    def at_one(self, a: Any, b: Any, c: Any) -> Any:
        """Gauss's sum (DLMF 15.4.20); inf where it diverges."""
        excess = sub(sub(c, a), b)
        converges = gt(excess, 0.0)
        safe = select(converges, excess, 1.0)
        top = mul(reciprocal_gamma(c), reciprocal_gamma(safe))
        value = div(mul(reciprocal_gamma(sub(c, a)), reciprocal_gamma(sub(c, b))), top)
        return select(converges, value, math.inf)


hyp1f1 = Hyp1f1()
hyp2f1 = Hyp2f1()
