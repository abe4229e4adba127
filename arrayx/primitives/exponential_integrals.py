"""Integrals of exponentials: `erfcx`, `dawsn`, `expi`, `exp1`, `expn`, and Owen's T function."""

from __future__ import annotations

import math
from typing import Any

from arrayx import errors
from arrayx.primitives.arithmetic import add, eq, ge, gt, le, lt, mul, ne, neg, select, sub
from arrayx.primitives.bessel import chebyshev
from arrayx.primitives.bitwise import bitwise_and, bitwise_or
from arrayx.primitives.combined import stop_gradient
from arrayx.primitives.expanded import Special, number_like
from arrayx.primitives.exponential import exp, expm1, log, log1p, sqrt
from arrayx.primitives.numeric import abs as absolute
from arrayx.primitives.numeric import div, floor, sign
from arrayx.primitives.numeric import max as maximum
from arrayx.primitives.numeric import min as minimum
from arrayx.primitives.quadrature import integral
from arrayx.primitives.special import erf, erfc

EULER = 0.5772156649015329
# An integrand below exp(-NEGLIGIBLE) adds nothing.
NEGLIGIBLE = 40.0
# Chebyshev coefficients of x·exp(-x)·Ei(x) as a function of 1/x, between two bounds of it; computed
# with mpmath by interpolation at 48 points.
EXPI_PIECES = (
    (
        0,
        0.025,
        (
            1.013000946388941,
            0.013173609544194371,
            0.00017620552371111085,
            3.642352053413063e-06,
            1.0363147927429255e-07,
            3.813480680688832e-09,
            1.7472024577940168e-10,
            9.723024129155516e-12,
            6.46603930664024e-13,
            5.08862570166315e-14,
            4.721533478404255e-15,
            5.18072280073843e-16,
            6.776097942327015e-17,
        ),
    ),
    (
        0.025,
        0.07142857142857142,
        (
            1.054661429217968,
            0.029208896204993194,
            0.0009558646693560945,
            5.912241023788809e-05,
            5.761420402502663e-06,
            5.130317108645892e-07,
            -3.59079612744081e-08,
            -2.7659867885503915e-08,
            -3.441026682247415e-09,
            7.646551566337095e-10,
            2.1557099372465756e-10,
            -2.8216086677951427e-11,
            -1.0587508799523422e-11,
            1.7581440729305047e-12,
            4.420908325374064e-13,
            -1.311782084971837e-13,
            -9.442803421343932e-15,
            8.42394194235794e-15,
            -7.401041678222294e-16,
            -3.500007429329976e-16,
            1.0645494183988808e-16,
        ),
    ),
    (
        0.07142857142857142,
        0.16666666666666666,
        (
            1.1757302663190548,
            0.0978044812311918,
            0.00640321134684211,
            -0.0008321662010600045,
            -0.00025260555146155284,
            2.543004558306092e-05,
            6.837628835007846e-06,
            -1.6374486807182674e-06,
            -7.385386634892838e-09,
            6.201927356112897e-08,
            -1.2088845608736272e-08,
            2.649444089061578e-10,
            4.080424748898786e-10,
            -1.1221835531202968e-10,
            1.3158716825982537e-11,
            9.065366849781113e-13,
            -7.841633241311535e-13,
            1.9012242061977797e-13,
            -2.448134328825646e-14,
            -3.4653680246333147e-16,
            1.1100663184713343e-15,
            -3.341909374673511e-16,
            6.071442065131476e-17,
        ),
    ),
)


class ScaledErfc(Special):
    """exp(x²) times 1 - erf(x), by DLMF 7.7.1: no overflow for positive `x`."""

    name = "erfcx"
    partials = (lambda x, out: sub(mul(mul(x, out), 2.0), 2.0 / math.sqrt(math.pi)),)

    def computed(self, x: Any) -> Any:
        size = absolute(x)
        finite = lt(size, math.inf)
        safe = select(finite, size, 1.0)
        length = div(NEGLIGIBLE, add(safe, sqrt(add(mul(safe, safe), NEGLIGIBLE))))

        def integrand(t: Any, x: Any) -> Any:
            return exp(neg(mul(t, add(t, mul(x, 2.0)))))

        value = mul(integral(integrand, length, safe), 2.0 / math.sqrt(math.pi))
        value = select(finite, value, select(eq(size, size), 0.0, size))
        return select(lt(x, 0.0), sub(mul(exp(mul(x, x)), 2.0), value), value)


class Dawson(Special):
    """Dawson's integral: exp(-x²) times the integral of exp(t²) from 0 to `x` (DLMF 7.2.5)."""

    name = "dawsn"
    partials = (lambda x, out: sub(1.0, mul(mul(x, out), 2.0)),)

    def computed(self, x: Any) -> Any:
        size = absolute(x)
        finite = lt(size, math.inf)
        safe = select(finite, size, 1.0)
        # Backwards from x: exp(-s(2x - s)) falls from 1.
        under = maximum(sub(mul(safe, safe), NEGLIGIBLE), 0.0)
        length = minimum(safe, div(NEGLIGIBLE, maximum(add(safe, sqrt(under)), 1e-6)))

        def integrand(s: Any, x: Any) -> Any:
            return exp(neg(mul(s, sub(mul(x, 2.0), s))))

        value = integral(integrand, length, safe)
        value = select(finite, value, select(eq(size, size), 0.0, size))
        return mul(sign(x), value)


def upper_tail(a: Any, x: Any) -> Any:
    """The integral of exp(a·u - x·expm1(u)) from 0 on, for x > a, x of at least 1.

    It is the upper incomplete gamma function divided by x**a exp(-x).
    """
    rate = sub(x, a)
    length = div(2 * NEGLIGIBLE, add(rate, sqrt(add(mul(rate, rate), mul(x, 2 * NEGLIGIBLE)))))
    length = minimum(length, log1p(add(div(NEGLIGIBLE, x), length)))

    def integrand(u: Any, a: Any, x: Any) -> Any:
        return exp(sub(mul(a, u), mul(x, expm1(u))))

    return integral(integrand, length, a, x)


def entire_part(x: Any, terms: int) -> Any:
    """The sum of x**k / (k·k!) from k = 1 on (DLMF 6.6.1)."""
    total = mul(x, 0.0)
    for k in range(terms, 0, -1):
        # Term k is the one before times x (k - 1) / k².
        factor = (k - 1) / (k * k) if k > 1 else 1.0
        total = mul(add(total, 1.0), mul(x, factor))
    return total


class Exp1(Special):
    """The exponential integral E1: the integral of exp(-t)/t from `x` on; nan for negative `x`."""

    name = "exp1"
    partials = (lambda x, out: neg(div(exp(neg(x)), x)),)

    def computed(self, x: Any) -> Any:
        return exponential_integral_1(x)


def exponential_integral_1(x: Any) -> Any:
    """E1 of positive numbers, by its series up to 1 and by quadrature beyond."""
    near = bitwise_and(gt(x, 0.0), le(x, 1.0))
    small = select(near, x, 0.5)
    series = sub(neg(add(log(small), EULER)), entire_part(neg(small), 20))
    far = bitwise_and(gt(x, 1.0), lt(x, math.inf))
    large = select(far, x, 2.0)
    beyond = mul(exp(neg(large)), upper_tail(mul(large, 0.0), large))
    edge = select(eq(x, 0.0), math.inf, select(eq(x, math.inf), 0.0, number_like(x, math.nan)))
    return select(near, series, select(far, beyond, edge))


class Expi(Special):
    """The exponential integral Ei: the principal value of the integral of exp(t)/t up to `x`."""

    name = "expi"
    partials = (lambda x, out: div(exp(x), x),)

    def computed(self, x: Any) -> Any:
        below = neg(exponential_integral_1(neg(x)))
        near = bitwise_and(gt(x, 0.0), le(x, 6.0))
        small = select(near, x, 0.5)
        series = add(add(log(small), EULER), entire_part(small, 36))
        far = bitwise_and(gt(x, 6.0), lt(x, math.inf))
        large = select(far, x, 8.0)
        inverse = div(1.0, large)
        factor: Any = None
        for low, high, table in EXPI_PIECES:
            scale = 2.0 / (high - low)
            t = sub(mul(sub(minimum(maximum(inverse, low), high), low), scale), 1.0)
            value = chebyshev(table, t)
            factor = value if factor is None else select(gt(inverse, low), value, factor)
        half = exp(mul(large, 0.5))
        beyond = mul(mul(half, mul(factor, inverse)), half)
        edge = select(eq(x, 0.0), -math.inf, x)
        positive = select(near, series, select(far, beyond, edge))
        return select(lt(x, 0.0), below, positive)


class Expn(Special):
    """The generalised exponential integral: exp(-x·t) / t**n integrated for t from 1 on.

    `n` holds whole numbers from 0 on, others give nan; it has no derivative.  DLMF 8.19.
    """

    name = "expn"

    @staticmethod
    def by_order(n: Any, x: Any, out: Any) -> Any:
        raise errors.GradError(
            "expn has no derivative in its order n, which is a whole number; give n as an "
            "array of integers, or differentiate by x alone (argnums=1)"
        )

    partials = (by_order, lambda n, x, out: neg(lower_order(n, x)))

    def computed(self, n: Any, x: Any) -> Any:
        proper = bitwise_and(bitwise_and(ge(n, 0.0), lt(n, math.inf)), eq(floor(n), n))
        near = bitwise_and(bitwise_and(gt(x, 0.0), le(x, 1.0)), ge(n, 1.0))
        near = bitwise_and(near, proper)
        small = select(near, x, 0.5)
        order = select(near, n, 1.0)
        series = expn_series(order, small)
        far = bitwise_and(bitwise_and(gt(x, 1.0), lt(x, math.inf)), proper)
        large = select(far, x, 2.0)
        # Where the rate is large the integrand is gone soon, whatever x is.
        beyond = mul(exp(neg(large)), upper_tail(sub(1.0, select(far, n, 1.0)), large))
        high = gt(n, 1.0)
        at_zero = select(high, div(1.0, sub(select(high, n, 2.0), 1.0)), math.inf)
        none = div(exp(neg(x)), x)
        end = select(eq(x, math.inf), 0.0, number_like(x, math.nan))
        edge = select(eq(x, 0.0), at_zero, end)
        value = select(near, series, select(far, beyond, edge))
        value = select(bitwise_and(eq(n, 0.0), gt(x, 0.0)), none, value)
        return select(proper, value, math.nan)


def lower_order(n: Any, x: Any) -> Any:
    """E of order n - 1, which for order 0 is the derivative of exp(-x)/x instead."""
    zero = eq(n, 0.0)
    first = mul(div(exp(neg(x)), x), add(div(1.0, x), 1.0))
    return select(zero, first, expn(select(zero, 1.0, sub(n, 1.0)), x))


def expn_series(n: Any, x: Any) -> Any:
    """DLMF 8.19.8 for x up to 1: a logarithmic term and a sum that leaves one term out."""
    skipped = sub(n, 1.0)
    total = mul(x, 0.0)
    term = number_like(x, 1.0)
    # (-x)**(n - 1) / (n - 1)!, and digamma(n).
    leading = mul(x, 0.0)
    harmonic = number_like(x, -EULER)
    for k in range(22):
        here = eq(skipped, float(k))
        denominator = select(here, 1.0, sub(float(k), skipped))
        total = sub(total, select(here, 0.0, div(term, denominator)))
        leading = select(here, term, leading)
        harmonic = add(harmonic, select(gt(skipped, float(k)), 1.0 / (k + 1), mul(x, 0.0)))
        term = mul(term, mul(neg(x), 1.0 / (k + 1)))
    return add(mul(leading, sub(harmonic, log(x))), total)


class OwensT(Special):
    """Owen's T function of `h` and `a`: the integral of exp(-h²(1 + t²)/2) / (2π(1 + t²)) for
    t from 0 to `a` (Owen, 1956)."""

    name = "owens_t"

    @staticmethod
    def by_h(h: Any, a: Any, out: Any) -> Any:
        density = mul(exp(mul(mul(h, h), -0.5)), 1 / math.sqrt(8 * math.pi))
        return neg(mul(density, erf(mul(mul(a, h), math.sqrt(0.5)))))

    @staticmethod
    def by_a(h: Any, a: Any, out: Any) -> Any:
        root = add(mul(a, a), 1.0)
        return div(exp(mul(mul(mul(h, h), root), -0.5)), mul(root, 2 * math.pi))

    partials = (by_h, by_a)

    def computed(self, h: Any, a: Any) -> Any:
        distance, angle = absolute(h), absolute(a)
        steep = gt(angle, 1.0)
        wide = mul(distance, select(steep, angle, 1.0))
        # At 0 an infinite slope leaves nothing of the product.
        wide = select(eq(distance, 0.0), 0.0, wide)
        inner = owen_integral(
            select(steep, wide, distance), select(steep, div(1.0, select(steep, angle, 1.0)), angle)
        )
        first, second = (mul(erfc(mul(x, math.sqrt(0.5))), 0.5) for x in (distance, wide))
        whole = sub(mul(add(first, second), 0.5), mul(first, second))
        value = mul(sign(a), select(steep, sub(whole, inner), inner))
        return select(bitwise_or(ne(h, h), ne(a, a)), math.nan, value)


def owen_integral(h: Any, a: Any) -> Any:
    """T for h from 0 on and a from 0 to 1."""
    finite = lt(h, math.inf)
    safe = select(finite, h, 1.0)
    length = minimum(a, div(math.sqrt(2 * NEGLIGIBLE), maximum(safe, 1e-6)))

    def integrand(t: Any, h: Any) -> Any:
        root = add(mul(t, t), 1.0)
        return div(exp(mul(mul(mul(h, h), root), -0.5)), root)

    value = mul(integral(integrand, length, safe), 1 / (2 * math.pi))
    return select(finite, value, stop_gradient(select(eq(h, h), 0.0, h)))


erfcx = ScaledErfc()
dawsn = Dawson()
exp1 = Exp1()
expi = Expi()
expn = Expn()
owens_t = OwensT()
