"""Bessel functions of the orders 0 and 1, of both kinds."""

from __future__ import annotations

import math
from typing import Any

from arrayx.primitives.arithmetic import add, eq, ge, gt, lt, mul, neg, select, sub
from arrayx.primitives.bessel import chebyshev
from arrayx.primitives.bitwise import bitwise_and
from arrayx.primitives.expanded import Special, number_like
from arrayx.primitives.exponential import log, rsqrt
from arrayx.primitives.numeric import abs as absolute
from arrayx.primitives.numeric import div, sign
from arrayx.primitives.numeric import max as maximum
from arrayx.primitives.numeric import min as minimum
from arrayx.primitives.trigonometric import cos, sin

# Chebyshev coefficients, computed with mpmath by interpolation at 40 points.  Up to 8, as functions
# of 2(x/8)² - 1: J0(x), J1(x)/x, Y0(x) - (2/π)log(x)J0(x), and the same for Y1 with its pole taken
# off, over x.  Beyond, as functions of 2(8/x)² - 1: P(x) and x·Q(x) of DLMF 10.17.3.
J0_NEAR = (
    0.15772797147489012,
    -0.008723442352852221,
    0.2651786132033368,
    -0.37009499387264977,
    0.15806710233209725,
    -0.034893769411408884,
    0.004819180069467605,
    -0.00046062616620627504,
    3.246032882100508e-05,
    -1.7619469077621507e-06,
    7.608163592418782e-08,
    -2.679253530557673e-09,
    7.848696314479465e-11,
    -1.9438346867370164e-12,
    4.125320595634374e-14,
    -7.588508125447546e-16,
    1.2218515873961411e-17,
)
J1_NEAR = (
    0.08104484632565812,
    -0.1489751450676521,
    0.1609992623572097,
    -0.08268049176681791,
    0.022213639654966037,
    -0.003646940600769276,
    0.0004050337728354822,
    -3.255554866857259e-05,
    1.9858774049915165e-06,
    -9.521984756750436e-08,
    3.687133759097148e-09,
    -1.178026622695885e-10,
    3.160154580348003e-12,
    -7.221755239651773e-14,
    1.4232144003513942e-15,
    -2.4441972916190464e-17,
)
Y0_NEAR = (
    -0.03314611320328494,
    -0.2744743055297453,
    0.17903431407718265,
    0.26156734625504663,
    -0.17730201278114358,
    0.04719668959576339,
    -0.007287962479552079,
    0.0007531135932577742,
    -5.632079141056987e-05,
    3.206532537654801e-06,
    -1.44072332740187e-07,
    5.248794787330516e-09,
    -1.5837552541812015e-10,
    4.02633081830612e-12,
    -8.747341203310769e-14,
    1.6434898714919468e-15,
    -2.6977881152566837e-17,
)
Y1_NEAR = (
    0.0025380132357417816,
    -0.01608717304766875,
    -0.09591204536083074,
    0.08445197259652346,
    -0.028328123944594365,
    0.005289897544167113,
    -0.0006414551451326356,
    5.505982873338744e-05,
    -3.53808001868935e-06,
    1.7707804556154404e-07,
    -7.11055004989928e-09,
    2.344337905911516e-10,
    -6.4651518414115946e-12,
    1.51429151205002e-13,
    -3.0511859694473254e-15,
    5.34668038572867e-17,
)
P0_FAR = (
    0.9994603493475187,
    -0.0005365220468132117,
    3.0751847875194745e-06,
    -5.1705945376060975e-08,
    1.6306464635151382e-09,
    -7.86409137723707e-11,
    5.168262387349193e-12,
    -4.3045788699253914e-13,
    4.3265957431549404e-14,
    -5.069034095935236e-15,
    6.748072215733873e-16,
    -1.0011513723467786e-16,
    1.6305919233744186e-17,
)
Q0_FAR = (
    -0.12444683684269607,
    0.0005470815954089319,
    -5.9315987288485175e-06,
    1.4377965798375193e-07,
    -5.817532749493056e-09,
    3.376097523734991e-10,
    -2.565397936797308e-11,
    2.404916100281365e-12,
    -2.6690625482579414e-13,
    3.4041800321963686e-14,
    -4.87994410531204e-15,
    7.729703176242605e-16,
    -1.3348852171502517e-16,
    2.4865952389390515e-17,
    -4.952892629886516e-18,
)
P1_FAR = (
    1.0009030408600137,
    0.0008989898330859408,
    -3.987284300488908e-06,
    6.177633960644299e-08,
    -1.8718907491063067e-09,
    8.816898659582339e-11,
    -5.704863640395645e-12,
    4.699195515230542e-13,
    -4.6842237839904895e-14,
    5.452674896044717e-15,
    -7.221180842274018e-16,
    1.0667689114335412e-16,
    -1.7312313216116335e-17,
)
Q1_FAR = (
    0.3742222965562826,
    -0.0007702178839325664,
    7.3108922063643636e-06,
    -1.676782510726674e-07,
    6.583354662120443e-09,
    -3.749090950541556e-10,
    2.8121750359748866e-11,
    -2.61145253946232e-12,
    2.8774212663332235e-13,
    -3.649001916061838e-14,
    5.206626366226707e-15,
    -8.215318025458595e-16,
    1.4141084390211833e-16,
    -2.626761589838529e-17,
    5.2192649196714085e-18,
)

# Up to here the functions are series in x², beyond it waves of a slowly falling height.
BORDER = 8.0
TWO_OVER_PI = 2.0 / math.pi


def nearby(x: Any, table: tuple[float, ...]) -> Any:
    """A table's function of x² for `x` up to the border."""
    share = mul(x, 1 / BORDER)
    return chebyshev(table, sub(mul(mul(share, share), 2.0), 1.0))


def waves(x: Any, order: int) -> tuple[Any, Any]:
    """Both functions of order 0 or 1 for finite `x` beyond the border (DLMF 10.17.3, 10.17.4)."""
    p_table, q_table = (P0_FAR, Q0_FAR) if order == 0 else (P1_FAR, Q1_FAR)
    inverse = div(BORDER, x)
    t = sub(mul(mul(inverse, inverse), 2.0), 1.0)
    p = chebyshev(p_table, t)
    q = mul(chebyshev(q_table, t), mul(inverse, 1 / BORDER))
    # The phase x - π/4 or x - 3π/4, by sums of angles: large x keep their digits.
    total, difference = add(sin(x), cos(x)), sub(sin(x), cos(x))
    cosine, sine = (total, difference) if order == 0 else (difference, neg(total))
    height = mul(rsqrt(x), 1 / math.sqrt(math.pi))
    first = mul(sub(mul(p, cosine), mul(q, sine)), height)
    return first, mul(add(mul(p, sine), mul(q, cosine)), height)


def split(x: Any) -> tuple[Any, Any, Any]:
    """The size of `x` where it is up to the border, where it is beyond, and which it is."""
    size = absolute(x)
    beyond = bitwise_and(ge(size, BORDER), lt(size, math.inf))
    return minimum(size, BORDER), select(beyond, maximum(size, BORDER), BORDER), size


class OfFirstKind(Special):
    """A Bessel function of the first kind of order 0 or 1."""

    order: int
    near: tuple[float, ...]

    def computed(self, x: Any) -> Any:
        inside, outside, size = split(x)
        close = nearby(inside, self.near)
        close = close if self.order == 0 else mul(inside, close)
        far = select(eq(size, math.inf), 0.0, waves(outside, self.order)[0])
        value = select(lt(size, BORDER), close, select(ge(size, BORDER), far, math.nan))
        return value if self.order == 0 else mul(sign(x), value)


class OfSecondKind(Special):
    """A Bessel function of the second kind of order 0 or 1: -inf at 0, nan below."""

    order: int
    near: tuple[float, ...]

    def computed(self, x: Any) -> Any:
        positive = select(gt(x, 0.0), x, 1.0)
        inside, outside, size = split(positive)
        regular = nearby(inside, self.near)
        if self.order == 0:
            close = add(regular, mul(mul(log(inside), nearby(inside, J0_NEAR)), TWO_OVER_PI))
        else:
            first = mul(inside, nearby(inside, J1_NEAR))
            singular = sub(mul(log(inside), first), div(1.0, inside))
            close = add(mul(inside, regular), mul(singular, TWO_OVER_PI))
        far = select(eq(size, math.inf), 0.0, waves(outside, self.order)[1])
        value = select(lt(size, BORDER), close, far)
        return select(gt(x, 0.0), value, select(eq(x, 0.0), -math.inf, number_like(x, math.nan)))


def over(value: Any, x: Any, at_zero: float) -> Any:
    """`value / x`, and its limit at 0."""
    zero = eq(x, 0.0)
    return select(zero, at_zero, div(value, select(zero, 1.0, x)))


class BesselJ0(OfFirstKind):
    """The Bessel function of the first kind of order 0 (DLMF 10.2.2)."""

    name = "bessel_j0"
    order, near = 0, J0_NEAR
    partials = (lambda x, out: neg(bessel_j1(x)),)


class BesselJ1(OfFirstKind):
    """The Bessel function of the first kind of order 1 (DLMF 10.2.2)."""

    name = "bessel_j1"
    order, near = 1, J1_NEAR
    partials = (lambda x, out: sub(bessel_j0(x), over(out, x, 0.5)),)


class BesselY0(OfSecondKind):
    """The Bessel function of the second kind of order 0 (DLMF 10.2.3)."""

    name = "bessel_y0"
    order, near = 0, Y0_NEAR
    partials = (lambda x, out: neg(bessel_y1(x)),)


class BesselY1(OfSecondKind):
    """The Bessel function of the second kind of order 1 (DLMF 10.2.3)."""

    name = "bessel_y1"
    order, near = 1, Y1_NEAR
    partials = (lambda x, out: sub(bessel_y0(x), div(out, x)),)


bessel_j0 = BesselJ0()
bessel_j1 = BesselJ1()
bessel_y0 = BesselY0()
bessel_y1 = BesselY1()
