"""Sine and cosine integrals, Fresnel's integrals, and the dilogarithm."""

from __future__ import annotations

import math
from typing import Any

from arrayx.primitives.arithmetic import add, eq, gt, lt, mul, neg, select, sub
from arrayx.primitives.bitwise import bitwise_and
from arrayx.primitives.expanded import Special, number_like
from arrayx.primitives.exponential import exp, log
from arrayx.primitives.numeric import abs as absolute
from arrayx.primitives.numeric import div, rem, sign
from arrayx.primitives.quadrature import integral
from arrayx.primitives.trigonometric import cos, sin

EULER = 0.5772156649015329
NEGLIGIBLE = 40.0
# Up to here the sine integrals are sums of powers, and Fresnel's integrals up to the other.
NEAR = 4.0
NEAR_FRESNEL = 1.6


def alternating(squared: Any, coefficients: list[float]) -> Any:
    """The sum of (-1)**k c[k] squared**k."""
    total = number_like(squared, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = sub(c, mul(total, squared))
    return total


def auxiliary(x: Any) -> tuple[Any, Any]:
    """The auxiliary functions f and g of the sine integrals for x > `NEAR` (DLMF 6.7.13, 6.7.14,
    as Laplace transforms)."""
    length = div(NEGLIGIBLE, x)

    def fall(t: Any, x: Any) -> Any:
        return div(exp(neg(mul(t, x))), add(mul(t, t), 1.0))

    f = integral(fall, length, x, count=(24, 64))
    g = integral(lambda t, x: mul(t, fall(t, x)), length, x, count=(24, 64))
    return f, g


class SineIntegral(Special):
    """The sine integral Si: of sin(t)/t from 0 to `x` (DLMF 6.2.9)."""

    name = "sine_integral"

    @staticmethod
    def slope(x: Any, out: Any) -> Any:
        at_zero = eq(x, 0.0)
        return select(at_zero, 1.0, div(sin(x), select(at_zero, 1.0, x)))

    partials = (slope,)

    def computed(self, x: Any) -> Any:
        size = absolute(x)
        near = lt(size, NEAR)
        small = select(near, size, 1.0)
        terms = [1 / ((2 * k + 1) * math.factorial(2 * k + 1)) for k in range(18)]
        series = mul(small, alternating(mul(small, small), terms))
        far = bitwise_and(gt(size, NEAR - 1), lt(size, math.inf))
        large = select(far, size, NEAR)
        f, g = auxiliary(large)
        beyond = sub(math.pi / 2, add(mul(f, cos(large)), mul(g, sin(large))))
        limit = select(eq(size, math.inf), math.pi / 2, size)
        value = select(near, series, select(far, beyond, limit))
        return select(eq(x, 0.0), x, mul(sign(x), value))


class CosineIntegral(Special):
    """The cosine integral Ci of the size of `x` (DLMF 6.2.11); -inf at 0."""

    name = "cosine_integral"
    partials = (lambda x, out: div(cos(x), x),)

    def computed(self, x: Any) -> Any:
        size = absolute(x)
        near = bitwise_and(lt(size, NEAR), gt(size, 0.0))
        small = select(near, size, 1.0)
        squared = mul(small, small)
        terms = [1 / (2 * k * math.factorial(2 * k)) for k in range(1, 18)]
        series = sub(add(log(small), EULER), mul(squared, alternating(squared, terms)))
        far = bitwise_and(gt(size, NEAR - 1), lt(size, math.inf))
        large = select(far, size, NEAR)
        f, g = auxiliary(large)
        beyond = sub(mul(f, sin(large)), mul(g, cos(large)))
        limit = select(eq(size, math.inf), 0.0, select(eq(size, 0.0), -math.inf, size))
        return select(near, series, select(far, beyond, limit))


class _Fresnel(Special):
    """One of Fresnel's integrals: powers near 0, beyond by DLMF 7.5.3, 7.5.4, 7.7.10, 7.7.11."""

    terms: tuple[float, ...]
    power: int

    def computed(self, x: Any) -> Any:
        size = absolute(x)
        near = lt(size, NEAR_FRESNEL)
        small = select(near, size, 1.0)
        squared = mul(small, small)
        series = mul(alternating(mul(squared, squared), list(self.terms)), small)
        series = mul(series, squared) if self.power == 3 else series
        far = bitwise_and(gt(size, NEAR_FRESNEL / 2), lt(size, math.inf))
        large = select(far, size, NEAR_FRESNEL)
        length = div(math.sqrt(2 * NEGLIGIBLE / math.pi), large)

        def fall(t: Any, x: Any) -> tuple[Any, Any]:
            squared = mul(t, t)
            gone = exp(mul(mul(squared, mul(x, x)), -math.pi / 2))
            return squared, div(gone, add(mul(squared, squared), 1.0))

        f = integral(lambda t, x: fall(t, x)[1], length, large, count=(24, 48))
        g = integral(lambda t, x: mul(*fall(t, x)), length, large, count=(24, 48))
        f, g = mul(f, math.sqrt(2) / math.pi), mul(g, math.sqrt(2) / math.pi)
        angle = mul(rem(mul(large, large), 4.0), math.pi / 2)
        beyond = add(self.beyond(f, g, cos(angle), sin(angle)), 0.5)
        limit = select(eq(size, math.inf), 0.5, size)
        value = select(near, series, select(far, beyond, limit))
        return select(eq(x, 0.0), x, mul(sign(x), value))

    def beyond(self, f: Any, g: Any, cosine: Any, sine: Any) -> Any:
        """The integral less 1/2, from the auxiliary functions."""
        raise NotImplementedError


class FresnelSine(_Fresnel):
    """Fresnel's integral S: of sin(π t²/2) from 0 to `x`."""

    name = "fresnel_sine"
    partials = (lambda x, out: sin(fresnel_angle(x)),)
    terms = tuple(
        (math.pi / 2) ** (2 * k + 1) / (math.factorial(2 * k + 1) * (4 * k + 3)) for k in range(17)
    )
    power = 3

    def beyond(self, f: Any, g: Any, cosine: Any, sine: Any) -> Any:
        return neg(add(mul(f, cosine), mul(g, sine)))


class FresnelCosine(_Fresnel):
    """Fresnel's integral C: of cos(π t²/2) from 0 to `x`."""

    name = "fresnel_cosine"
    partials = (lambda x, out: cos(fresnel_angle(x)),)
    terms = tuple(
        (math.pi / 2) ** (2 * k) / (math.factorial(2 * k) * (4 * k + 1)) for k in range(17)
    )
    power = 1

    def beyond(self, f: Any, g: Any, cosine: Any, sine: Any) -> Any:
        return sub(mul(f, sine), mul(g, cosine))


class FresnelAngle(Special):
    """π x²/2 without whole turns, whose slope is π x."""

    name = "fresnel_angle"
    partials = (lambda x, out: mul(x, math.pi),)

    def computed(self, x: Any) -> Any:
        return mul(rem(mul(x, x), 4.0), math.pi / 2)


# B(k) / (k + 1)! for k = 0, 1, 2, 4, 6, …
BERNOULLI = (
    1 / 36,
    -1 / 3600,
    1 / 211680,
    -1 / 10886400,
    5 / 66 / math.factorial(11),
    -691 / 2730 / math.factorial(13),
    7 / 6 / math.factorial(15),
    -3617 / 510 / math.factorial(17),
    43867 / 798 / math.factorial(19),
)


class Spence(Special):
    """Spence's function: the integral of log(t) / (1 - t) from 1 to `x`; nan for negative `x`.

    It is the dilogarithm of 1 - x.  DLMF 25.12.4 and 25.12.6 lead to x from 1/2 to 2, where the
    series of Bernoulli numbers in log(x) ends soon.
    """

    name = "spence"

    @staticmethod
    def slope(x: Any, out: Any) -> Any:
        at_one = eq(x, 1.0)
        return select(at_one, -1.0, div(log(x), sub(1.0, select(at_one, 2.0, x))))

    partials = (slope,)

    def computed(self, x: Any) -> Any:
        large = gt(x, 2.0)
        inner = select(large, div(1.0, x), x)
        small = lt(inner, 0.5)
        reflected = select(small, sub(1.0, inner), inner)
        u = neg(log(reflected))
        squared = mul(u, u)
        total = mul(squared, BERNOULLI[-1])
        for c in reversed(BERNOULLI[:-1]):
            total = mul(add(total, c), squared)
        value = mul(u, add(sub(1.0, mul(u, 0.25)), total))
        # 0 times log(0) is 0 here.
        positive = select(gt(inner, 0.0), inner, 1.0)
        both = mul(log(positive), log(reflected))
        value = select(small, sub(math.pi**2 / 6, add(both, value)), value)
        logarithm = log(select(large, x, 1.0))
        turned = neg(add(value, mul(mul(logarithm, logarithm), 0.5)))
        value = select(large, turned, value)
        return select(eq(x, math.inf), -math.inf, select(lt(x, 0.0), math.nan, value))


sine_integral = SineIntegral()
cosine_integral = CosineIntegral()
fresnel_angle = FresnelAngle()
fresnel_sine = FresnelSine()
fresnel_cosine = FresnelCosine()
spence = Spence()
