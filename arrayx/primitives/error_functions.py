"""Error functions of complex numbers, and the inverse of the complementary one.

Apart because a backend owes those of real numbers, while these are made of them and of others.
"""

from __future__ import annotations

import math
from typing import Any

from arrayx.primitives.arithmetic import add, ge, gt, lt, mul, neg, select, sub
from arrayx.primitives.bitwise import bitwise_and
from arrayx.primitives.complex import complex as from_parts
from arrayx.primitives.complex import imag, real
from arrayx.primitives.expanded import Special
from arrayx.primitives.exponential import exp, log, sqrt
from arrayx.primitives.exponential_integrals import erfcx
from arrayx.primitives.faddeeva import faddeeva
from arrayx.primitives.families import COMPLEX, Unary
from arrayx.primitives.numeric import max as maximum
from arrayx.primitives.special import erf_inv

# 2 / sqrt(pi), the slope of the error function at 0.
SLOPE = 2.0 / math.sqrt(math.pi)
# Terms of the series of the error function within the unit circle.
TERMS = 24
# Newton steps for the inverse: their error is squared each time.
STEPS = 5


def gaussian(z: Any) -> Any:
    """exp(-z²)."""
    return exp(neg(mul(z, z)))


def complement(z: Any) -> Any:
    """1 - erf(z) for numbers whose real part is not negative (DLMF 7.2.3)."""
    return mul(gaussian(z), faddeeva(from_parts(neg(imag(z)), real(z))))


class ComplexErf(Unary):
    """The error function of a complex number (DLMF 7.2.1).

    Within the unit circle by its series (DLMF 7.6.2), else by the Faddeeva function.
    """

    name = "complex_erf"
    kinds = COMPLEX
    costly = True
    partials = (lambda z, out: mul(gaussian(z), complex(SLOPE)),)

    def expand(self, z: Any) -> Any:
        squared = mul(z, z)
        near = lt(add(mul(real(z), real(z)), mul(imag(z), imag(z))), 1.0)
        small = select(near, squared, 0j)
        total = add(mul(small, 0j), 1.0 + 0j)
        for n in range(TERMS, 0, -1):
            total = add(mul(mul(small, complex(2.0 / (2 * n + 1))), total), 1.0 + 0j)
        inside = mul(mul(z, mul(exp(neg(small)), total)), complex(SLOPE))
        right = ge(real(z), 0.0)
        away = select(near, 1.0 + 0j, select(right, z, neg(z)))
        beyond = sub(1.0 + 0j, complement(away))
        return select(near, inside, select(right, beyond, neg(beyond)))


class ComplexErfc(Unary):
    """1 less the error function of a complex number, accurate far to the right."""

    name = "complex_erfc"
    kinds = COMPLEX
    costly = True
    partials = (lambda z, out: mul(gaussian(z), complex(-SLOPE)),)

    def expand(self, z: Any) -> Any:
        right = ge(real(z), 0.0)
        value = complement(select(right, z, neg(z)))
        return select(right, value, sub(2.0 + 0j, value))


class ErfcInv(Special):
    """The inverse of the complementary error function: inf at 0, -inf at 2, nan beyond.

    Where 1 - p would lose digits by Newton steps for the logarithm of the function, which is
    concave, from sqrt(-log(p)), which is beyond the root.
    """

    name = "erfc_inv"
    partials = (lambda p, out: mul(exp(mul(out, out)), -1.0 / SLOPE),)

    def computed(self, p: Any) -> Any:
        above = gt(p, 1.0)
        tail = select(above, sub(2.0, p), p)
        small = bitwise_and(lt(tail, 0.5), gt(tail, 0.0))
        middle = erf_inv(sub(1.0, select(small, 1.0, tail)))
        logarithm = log(select(small, tail, 0.25))
        x = sqrt(neg(logarithm))
        for _ in range(STEPS):
            scaled = erfcx(x)
            excess = sub(sub(log(scaled), mul(x, x)), logarithm)
            x = maximum(add(x, mul(mul(excess, scaled), 1.0 / SLOPE)), 0.0)
        value = select(small, x, middle)  # erf_inv is infinite at 1, nan beyond
        return select(above, neg(value), value)


complex_erf = ComplexErf()
complex_erfc = ComplexErfc()
erfc_inv = ErfcInv()
