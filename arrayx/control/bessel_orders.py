"""Bessel functions of any real order: `jv`, `yv` and, scaled, the modified `iv`.

Apart because they take a recurrence over orders, and with it a loop.  The ways for `jv` and `yv`:

    orders from -1/2 to 3/2: up to 2 the power series and Temme's series, up to 25 Schläfli's
        integrals, beyond Hankel's expansion;
    then upward by the recurrence, which is stable for the second kind, and for the first as long
        as the order is below x;
    the first kind of orders above x: the power series, or where its terms cancel the integral
        along the path of steepest descent.

The derivative by the argument is closed (DLMF 10.6.2, 10.29.2); that by the order is not offered.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn

from arrayx import errors
from arrayx.control.incomplete_gamma import stirling_rest
from arrayx.control.repetition import repeated
from arrayx.primitives.arithmetic import add, eq, ge, gt, le, lt, mul, ne, neg, select, sub
from arrayx.primitives.bitwise import bitwise_and, bitwise_or
from arrayx.primitives.expanded import Special, number_like
from arrayx.primitives.exponential import exp, expm1, log, log1p, rsqrt, sqrt
from arrayx.primitives.numeric import abs as absolute
from arrayx.primitives.numeric import div, floor, is_finite, rem, sign
from arrayx.primitives.numeric import max as maximum
from arrayx.primitives.numeric import min as minimum
from arrayx.primitives.quadrature import integral
from arrayx.primitives.special import lgamma
from arrayx.primitives.trigonometric import cos, cosh, sin, sinh, tanh

# The Taylor series of 1 / gamma(1 + z), its even and its odd part; computed with mpmath.
EVEN = (
    1.0,
    -0.6558780715202539,
    0.16653861138229148,
    -0.009621971527876973,
    -0.0011651675918590652,
    0.0001280502823881162,
    -1.2504934821426706e-06,
    -2.056338416977607e-07,
    5.002007644469223e-09,
    1.0434267116911005e-10,
    -3.696805618642206e-12,
    -2.0583260535665066e-14,
    1.2267786282382608e-15,
    1.1866922547516004e-18,
)
ODD = (
    0.5772156649015329,
    -0.04200263503409524,
    -0.04219773455554433,
    0.0072189432466631,
    -0.00021524167411495098,
    -2.013485478078824e-05,
    1.133027231981696e-06,
    6.116095104481416e-09,
    -1.18127457048702e-09,
    7.782263439905071e-12,
    5.100370287454476e-13,
    -5.348122539423018e-15,
    -1.1812593016974588e-16,
)

# Up to SMALL by series, from LARGE on by expansions at infinity.
SMALL, LARGE = 2.0, 25.0
# Terms of the power series, and of the expansions.
TERMS, EXPANDED = 30, 26
# An integrand below exp(-NEGLIGIBLE) adds nothing.
NEGLIGIBLE = 40.0
# Points of the quadratures, for float32 and float64.
WAVY, SMOOTH = (32, 56), (24, 48)


def polynomial(table: Sequence[float], x: Any) -> Any:
    """The sum of `table[k]` times the power k of `x`."""
    total = add(mul(x, 0.0), table[-1])
    for c in reversed(table[:-1]):
        total = add(mul(total, x), c)
    return total


def ratio_to(x: Any, function: Any) -> Any:
    """`function(x) / x`, 1 at 0."""
    zero = eq(x, 0.0)
    safe = select(zero, 1.0, x)
    return select(zero, 1.0, div(function(safe), safe))


def powers(order: Any, squared: Any) -> Any:
    """The sum of (-squared)**k / (k! (order + 1)···(order + k)): DLMF 10.2.2 without its factor."""
    one = number_like(order, 1.0)
    return repeated(_more_terms, _next_power, (order, squared), (one, one, one))[-1]


def _more_terms(k: Any, *rest: Any) -> Any:
    return lt(k, float(TERMS))


def _next_power(order: Any, squared: Any, k: Any, term: Any, total: Any) -> list[Any]:
    term = neg(div(mul(term, squared), mul(add(order, k), k)))
    return [add(k, 1.0), term, add(total, term)]


def near(order: Any, x: Any) -> tuple[Any, ...]:
    """J, J of the next order, Y, Y of the next, for x up to 2 and orders of at most 1/2 in size.

    Y by the series of Temme (J. Comput. Phys. 19, 1975).
    """
    half = mul(x, 0.5)
    squared = mul(half, half)
    square = mul(order, order)
    even, odd = polynomial(EVEN, square), polynomial(ODD, square)
    # 1 / gamma(1 + order) and 1 / gamma(1 - order).
    above, below = add(even, mul(odd, order)), sub(even, mul(odd, order))
    logarithm = neg(log(half))
    power = exp(mul(order, logarithm))
    first = mul(div(above, power), powers(order, squared))
    next_order = add(order, 1.0)
    second = mul(div(mul(half, div(above, power)), next_order), powers(next_order, squared))
    angle = mul(order, math.pi)
    sigma = mul(order, logarithm)
    hyperbolic = ratio_to(sigma, sinh)
    f = sub(mul(mul(even, logarithm), hyperbolic), mul(odd, cosh(sigma)))
    f = mul(mul(f, 2 / math.pi), div(1.0, ratio_to(angle, sin)))
    p = mul(div(power, above), 1 / math.pi)
    q = mul(div(1.0, mul(power, below)), 1 / math.pi)
    quarter = mul(angle, 0.5)
    sine = mul(mul(sin(quarter), ratio_to(quarter, sin)), math.pi)
    one = number_like(x, 1.0)
    *_, total, following = repeated(
        _more_of_temme,
        _next_of_temme,
        (order, square, squared, sine),
        (one, one, f, p, q, add(f, mul(sine, q)), p),
    )
    return first, second, neg(total), neg(div(following, half))


def _more_of_temme(k: Any, *rest: Any) -> Any:
    return lt(k, float(TERMS // 2 + 2))


def _next_of_temme(
    order: Any,
    square: Any,
    squared: Any,
    sine: Any,
    k: Any,
    factor: Any,
    f: Any,
    p: Any,
    q: Any,
    total: Any,
    following: Any,
) -> list[Any]:
    f = div(add(add(mul(f, k), p), q), sub(mul(k, k), square))
    p, q = div(p, sub(k, order)), div(q, add(order, k))
    factor = neg(div(mul(factor, squared), k))
    both = add(f, mul(sine, q))
    total = add(total, mul(factor, both))
    following = add(following, mul(factor, sub(p, mul(both, k))))
    return [add(k, 1.0), factor, f, p, q, total, following]


def middle(order: Any, x: Any) -> tuple[Any, ...]:
    """The same for x from 2 to 25, by Schläfli's integrals (DLMF 10.9.6, 10.9.7)."""
    # x sinh(t) - 3/2 t reaches NEGLIGIBLE before it.
    ratio = div(NEGLIGIBLE + 6.0, x)
    last = log(add(ratio, sqrt(add(mul(ratio, ratio), 1.0))))
    turn = number_like(x, math.pi)

    def phase(t: Any, order: Any, x: Any) -> Any:
        return sub(mul(order, t), mul(x, sin(t)))

    def falling(t: Any, order: Any, x: Any) -> Any:
        return exp(neg(add(mul(x, sinh(t)), mul(order, t))))

    def rising(t: Any, order: Any, x: Any) -> Any:
        down = mul(order, t)
        cosine = cos(mul(order, math.pi))
        return mul(exp(neg(mul(x, sinh(t)))), add(exp(down), mul(exp(neg(down)), cosine)))

    found = []
    for v in (order, add(order, 1.0)):
        wave = integral(lambda t, v, x: cos(phase(t, v, x)), turn, v, x, count=WAVY)
        tail = mul(integral(falling, last, v, x, count=SMOOTH), sin(mul(v, math.pi)))
        found.append(mul(sub(wave, tail), 1 / math.pi))
    for v in (order, add(order, 1.0)):
        wave = integral(lambda t, v, x: sin(phase(t, v, x)), turn, v, x, count=WAVY)
        tail = integral(rising, last, v, x, count=SMOOTH)
        found.append(mul(add(wave, tail), -1 / math.pi))
    return tuple(found)


def hankel(order: Any, x: Any, alternating: bool) -> tuple[Any, Any]:
    """The sums of the even and the odd terms of the expansions DLMF 10.17.3 and 10.40.1; with
    `alternating` each has another sign than the one before."""
    one = number_like(x, 1.0)
    square = mul(mul(order, order), 4.0)
    turn = number_like(x, -1.0 if alternating else 1.0)
    _, _, _, even, odd = repeated(
        _more_expanded,
        _next_expanded,
        (square, div(0.125, x), turn),
        (one, one, one, one, mul(one, 0.0)),
    )
    return even, odd


def _more_expanded(k: Any, *rest: Any) -> Any:
    return lt(k, float(EXPANDED))


def _next_expanded(
    square: Any, inverse: Any, turn: Any, k: Any, term: Any, sign_: Any, even: Any, odd: Any
) -> list[Any]:
    def following(term: Any, k: Any) -> Any:
        twice = sub(mul(k, 2.0), 1.0)
        factor = div(mul(sub(square, mul(twice, twice)), inverse), k)
        # Once the terms would grow they say nothing.
        return select(lt(absolute(factor), 1.0), mul(term, factor), 0.0)

    first = following(term, k)
    second = following(first, add(k, 1.0))
    odd = add(odd, mul(first, sign_))
    sign_ = mul(sign_, turn)
    return [add(k, 2.0), second, sign_, add(even, mul(second, sign_)), odd]


def far(order: Any, x: Any) -> tuple[Any, ...]:
    """The same for x from 25 on."""
    height = mul(rsqrt(x), math.sqrt(2 / math.pi))
    sine, cosine = sin(x), cos(x)
    firsts, seconds = [], []
    for v in (order, add(order, 1.0)):
        p, q = hankel(v, x, True)
        turned = mul(add(mul(v, 0.5), 0.25), math.pi)
        by_cosine = add(mul(cosine, cos(turned)), mul(sine, sin(turned)))
        by_sine = sub(mul(sine, cos(turned)), mul(cosine, sin(turned)))
        firsts.append(mul(sub(mul(p, by_cosine), mul(q, by_sine)), height))
        seconds.append(mul(add(mul(p, by_sine), mul(q, by_cosine)), height))
    return (*firsts, *seconds)


def _counting(left: Any, twice: Any, order: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Where a step is left, and the numbers have not run to infinity."""
    return bitwise_and(gt(left, 0.0), is_finite(d))


def _step(left: Any, inverse: Any, order: Any, a: Any, b: Any, c: Any, d: Any) -> list[Any]:
    """One order further (DLMF 10.6.1) where a step is left."""
    going = gt(left, 0.0)
    factor = mul(mul(order, 2.0), inverse)
    after_b, after_d = sub(mul(factor, b), a), sub(mul(factor, d), c)
    return [
        sub(left, 1.0),
        inverse,
        select(going, add(order, 1.0), order),
        select(going, b, a),
        select(going, after_b, b),
        select(going, d, c),
        select(going, after_d, d),
    ]


def steep(order: Any, x: Any) -> Any:
    """J for orders above x, as an integral of positive numbers (Watson, 8.31)."""
    s = div(x, order)
    other = sqrt(mul(sub(1.0, s), add(s, 1.0)))

    def exponent(t: Any, s: Any) -> Any:
        slanted = mul(s, sin(t))
        root = sqrt(maximum(mul(sub(t, slanted), add(t, slanted)), 0.0))
        return sub(log(div(add(t, root), slanted)), mul(div(cos(t), sin(t)), root))

    def integrand(t: Any, order: Any, s: Any, least: Any) -> Any:
        return exp(neg(mul(order, sub(exponent(t, s), least))))

    least = sub(log(div(add(other, 1.0), s)), other)
    # The exponent grows by at least half·t² and by about a quarter of t³ where s is 1.
    wide = sqrt(div(NEGLIGIBLE, mul(mul(order, maximum(other, 1e-30)), 0.5)))
    slim = exp(mul(log(div(NEGLIGIBLE / 0.2566, order)), 1 / 3))
    last = minimum(minimum(wide, slim), 3.1)
    total = integral(integrand, last, order, s, least, count=WAVY)
    return mul(mul(exp(neg(mul(order, least))), total), 1 / math.pi)


def both_kinds(order: Any, x: Any) -> tuple[Any, Any]:
    """J and Y for orders from 0 on and positive, finite `x`."""
    steps = floor(add(order, 0.5))
    base = sub(order, steps)
    small, large = lt(x, SMALL), ge(x, LARGE)
    parts = (
        near(base, select(small, x, 1.0)),
        middle(base, minimum(maximum(x, SMALL), LARGE)),
        far(base, maximum(x, LARGE)),
    )
    low = [select(small, a, select(large, c, b)) for a, b, c in zip(*parts, strict=True)]
    _, _, _, first, _, second, _ = repeated(
        _counting, _step, (), (steps, div(1.0, x), add(base, 1.0), *low)
    )
    squared = mul(mul(x, x), 0.25)
    above = bitwise_and(gt(order, x), gt(steps, 0.0))
    series = bitwise_and(above, le(squared, mul(add(order, 1.0), 2.0)))
    safe_order = select(series, order, 1.0)
    safe_x = select(series, x, 1.0)
    leading = sub(mul(safe_order, log(mul(safe_x, 0.5))), lgamma(add(safe_order, 1.0)))
    summed = mul(exp(leading), powers(safe_order, select(series, squared, 0.25)))
    steep_order = select(above, maximum(order, 4.0), 4.0)
    descended = steep(steep_order, select(above, minimum(x, steep_order), 2.0))
    first = select(series, summed, select(above, descended, first))
    # What ran to infinity stays there.
    second = select(is_finite(second), second, -math.inf)
    return first, second


def is_whole(order: Any) -> Any:
    """Where an order is a whole number."""
    return eq(floor(order), order)


def parity(order: Any) -> Any:
    """-1 where a whole order is odd, else 1."""
    odd = ne(rem(order, 2.0), 0.0)
    return select(odd, -1.0, number_like(order, 1.0))


def refuse_order(*_: Any, **__: Any) -> NoReturn:
    """The derivative by the order."""
    raise errors.UnsupportedError(
        "Bessel functions have no derivative by their order here; keep the order out of argnums, "
        "or wrap it in ax.lax.stop_gradient"
    )


class _Cylinder(Special):
    """A Bessel function of real order; both kinds are needed for negative orders."""

    def computed(self, order: Any, x: Any) -> Any:
        size, positive = absolute(order), absolute(x)
        inside = bitwise_and(bitwise_and(gt(positive, 0.0), is_finite(x)), is_finite(order))
        first, second = both_kinds(select(inside, size, 1.0), select(inside, positive, 1.0))
        value = self.chosen(order, size, first, second)
        turned = select(is_whole(order), mul(value, parity(order)), math.nan)
        value = select(lt(x, 0.0), turned, value) if self.reflects else value
        return select(inside, value, self.at_edges(order, size, x))

    reflects = True

    def chosen(self, order: Any, size: Any, first: Any, second: Any) -> Any:
        """The function for positive arguments, of J and Y of the order's size."""
        raise NotImplementedError

    def at_edges(self, order: Any, size: Any, x: Any) -> Any:
        """The function at 0 and at infinity."""
        raise NotImplementedError


def slope(function: Any, order: Any, x: Any, out: Any) -> Any:
    """DLMF 10.6.2: v/x times the function, less that of the next order."""
    zero = eq(x, 0.0)
    away = sub(mul(div(order, select(zero, 1.0, x)), out), function(add(order, 1.0), x))
    return select(
        zero, select(eq(order, 1.0), 0.5, select(eq(order, -1.0), -0.5, number_like(x, 0.0))), away
    )


class BesselJv(_Cylinder):
    """The Bessel function of the first kind of real order (DLMF 10.2.2).

    For negative arguments nan, unless the order is whole.
    """

    name = "bessel_jv"
    partials = (refuse_order, lambda v, x, out: slope(bessel_jv, v, x, out))

    def chosen(self, order: Any, size: Any, first: Any, second: Any) -> Any:
        whole = is_whole(order)
        angle = mul(select(whole, 0.0, size), math.pi)
        turned = sub(mul(first, cos(angle)), mul(second, sin(angle)))
        turned = select(whole, mul(first, parity(order)), turned)
        return select(lt(order, 0.0), turned, first)

    def at_edges(self, order: Any, size: Any, x: Any) -> Any:
        at_zero = select(eq(order, 0.0), 1.0, number_like(x, 0.0))
        infinite = bitwise_and(lt(order, 0.0), ne(floor(order), order))
        # The sign is that of 1 / gamma(order + 1).
        odd = ne(rem(floor(order), 2.0), 0.0)
        at_zero = select(infinite, select(odd, math.inf, number_like(x, -math.inf)), at_zero)
        value = select(eq(x, 0.0), at_zero, 0.0)
        lost = bitwise_or(ne(x, x), bitwise_or(ne(order, order), eq(size, math.inf)))
        return select(lost, math.nan, value)


class BesselYv(_Cylinder):
    """The Bessel function of the second kind of real order (DLMF 10.2.3).

    -inf at 0, nan for negative arguments.
    """

    name = "bessel_yv"
    reflects = False
    partials = (refuse_order, lambda v, x, out: slope(bessel_yv, v, x, out))

    def chosen(self, order: Any, size: Any, first: Any, second: Any) -> Any:
        whole = is_whole(order)
        angle = mul(select(whole, 0.0, size), math.pi)
        turned = add(mul(first, sin(angle)), mul(second, cos(angle)))
        turned = select(whole, mul(second, parity(order)), turned)
        return select(lt(order, 0.0), turned, second)

    def computed(self, order: Any, x: Any) -> Any:
        value = super().computed(order, select(gt(x, 0.0), x, select(eq(x, 0.0), x, math.nan)))
        return select(lt(x, 0.0), math.nan, value)

    def at_edges(self, order: Any, size: Any, x: Any) -> Any:
        value = select(eq(x, 0.0), -math.inf, number_like(x, 0.0))
        lost = bitwise_or(ne(x, x), bitwise_or(ne(order, order), eq(size, math.inf)))
        return select(lost, math.nan, value)


def peaked(order: Any, x: Any) -> Any:
    """exp(-x)·I for orders from 12 on: an integral of Poisson's form (DLMF 10.32.2), taken around
    the peak of its integrand, with the exponents joined so that nothing cancels."""
    a = add(mul(order, 2.0), 1.0)
    root = sqrt(add(mul(a, a), mul(mul(x, x), 4.0)))
    peak = div(mul(x, 2.0), add(a, root))
    away = div(mul(a, 2.0), add(a, root))
    growth = expm1(div(NEGLIGIBLE, a))
    wide = log1p(add(growth, sqrt(mul(growth, add(growth, 2.0)))))

    def integrand(t: Any, a: Any, peak: Any) -> Any:
        slanted = tanh(t)
        z = mul(peak, slanted)
        even = mul(log1p(neg(mul(slanted, slanted))), 0.5)
        return exp(mul(a, add(sub(div(z, add(z, 1.0)), log1p(z)), even)))

    right = integral(integrand, wide, a, peak, count=SMOOTH)
    left = integral(lambda t, a, peak: integrand(neg(t), a, peak), wide, a, peak, count=SMOOTH)
    total = add(left, right)
    exponent = add(mul(order, log(peak)), mul(log(away), 0.5))
    exponent = add(exponent, div(mul(mul(a, a), 0.5), add(root, mul(x, 2.0))))
    exponent = sub(exponent, add(stirling_rest(mul(a, 0.5)), math.log(math.pi * math.sqrt(2.0))))
    return mul(exp(exponent), total)


# Orders from here on are found from the peak, those below by the series.
MANY = 12.0


class BesselIve(Special):
    """exp(-|x|) times the modified Bessel function of the first kind of real order (DLMF 10.25.2).

    nan for negative orders and arguments, unless the order is whole.
    """

    name = "bessel_ive"

    @staticmethod
    def slope(v: Any, x: Any, out: Any) -> Any:
        zero = eq(x, 0.0)
        size = absolute(v)
        away = mul(div(size, select(zero, 1.0, x)), out)
        away = sub(add(away, bessel_ive(add(size, 1.0), x)), mul(sign(x), out))
        between = bitwise_and(gt(size, 0.0), lt(size, 1.0))
        return select(
            zero, select(eq(size, 1.0), 0.5, select(between, math.inf, number_like(x, 0.0))), away
        )

    partials = (refuse_order, slope)

    def computed(self, order: Any, x: Any) -> Any:
        size, positive = absolute(order), absolute(x)
        inside = bitwise_and(bitwise_and(gt(positive, 0.0), is_finite(x)), is_finite(order))
        v, at = select(inside, size, 1.0), select(inside, positive, 1.0)
        border = maximum(mul(mul(v, v), 0.5), 30.0)
        beyond, many = ge(at, border), ge(v, MANY)
        outside = maximum(at, 30.0)
        even, odd = hankel(select(beyond, v, 1.0), outside, False)
        expanded = mul(mul(sub(even, odd), rsqrt(outside)), 1 / math.sqrt(2 * math.pi))
        high = peaked(maximum(v, MANY), at)
        low, inner = minimum(v, MANY), minimum(at, 72.0)
        leading = sub(sub(mul(low, log(mul(inner, 0.5))), lgamma(add(low, 1.0))), inner)
        squared = mul(mul(inner, inner), 0.25)
        _, _, _, _, summed = repeated(
            _adding,
            _add_term,
            (),
            (
                number_like(x, 1.0),
                low,
                squared,
                number_like(x, 1.0),
                number_like(x, 1.0),
            ),
        )
        value = select(beyond, expanded, select(many, high, mul(exp(leading), summed)))
        whole = is_whole(order)
        signed = select(whole, mul(value, parity(order)), math.nan)
        value = select(lt(x, 0.0), signed, value)
        value = select(bitwise_and(lt(order, 0.0), ne(floor(order), order)), math.nan, value)
        edge = select(bitwise_and(eq(x, 0.0), eq(order, 0.0)), 1.0, number_like(x, 0.0))
        negative = bitwise_and(lt(order, 0.0), ne(floor(order), order))
        lost = bitwise_or(bitwise_or(ne(x, x), ne(order, order)), negative)
        lost = bitwise_or(lost, eq(size, math.inf))
        return select(inside, value, select(lost, math.nan, edge))


def _adding(k: Any, order: Any, squared: Any, term: Any, total: Any) -> Any:
    """Where the next term still counts."""
    return gt(term, mul(total, 1e-18))


def _add_term(k: Any, order: Any, squared: Any, term: Any, total: Any) -> list[Any]:
    """The next term of the power series DLMF 10.25.2, without its factor."""
    term = div(mul(term, squared), mul(k, add(order, k)))
    return [add(k, 1.0), order, squared, term, add(total, term)]


bessel_jv = BesselJv()
bessel_yv = BesselYv()
bessel_ive = BesselIve()
