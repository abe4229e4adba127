"""The Faddeeva function: the error function of complex numbers, scaled."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from arrayx.primitives.arithmetic import add, ge, mul, neg, select, sub
from arrayx.primitives.complex import complex as from_parts
from arrayx.primitives.complex import imag, real
from arrayx.primitives.exponential import exp
from arrayx.primitives.families import COMPLEX, Unary
from arrayx.primitives.numeric import div

TERMS = 40
WIDTH = math.sqrt(TERMS / math.sqrt(2))


@functools.cache
def coefficients() -> tuple[float, ...]:
    """Fourier coefficients of exp(-t²)(WIDTH² + t²) for t = WIDTH·tan(angle / 2)."""
    angles = np.arange(1 - 2 * TERMS, 2 * TERMS) * (math.pi / (2 * TERMS))
    t = WIDTH * np.tan(angles / 2)
    values = np.exp(-t * t) * (WIDTH * WIDTH + t * t)
    return tuple(math.fsum(values * np.cos(n * angles)) / (4 * TERMS) for n in range(1, TERMS + 1))


class Faddeeva(Unary):
    """exp(-z²) times the complementary error function of -i·z (DLMF 7.2.3).

    In the upper half-plane it is a polynomial in (L + iz) / (L - iz), whose coefficients are those
    of a Fourier series (Weideman, SIAM J. Numer. Anal. 31, 1994); the lower half is reflected
    (DLMF 7.4.3).
    """

    name = "faddeeva"
    kinds = COMPLEX
    costly = True
    partials = (
        lambda z, out: sub(complex(0.0, 2.0 / math.sqrt(math.pi)), mul(mul(z, out), 2.0 + 0j)),
    )

    def expand(self, z: Any) -> Any:
        above = ge(imag(z), 0.0)
        upper = select(above, z, neg(z))
        turned = from_parts(neg(imag(upper)), real(upper))
        below = sub(complex(WIDTH), turned)
        inverse = div(1.0 + 0j, below)
        ratio = mul(add(turned, complex(WIDTH)), inverse)
        first, *rest = reversed(coefficients())
        total = add(mul(ratio, 0j), complex(first))
        for c in rest:
            total = add(mul(total, ratio), complex(c))
        twice = mul(mul(total, inverse), 2.0 + 0j)
        value = mul(add(twice, complex(1 / math.sqrt(math.pi))), inverse)
        reflected = sub(mul(exp(neg(mul(z, z))), 2.0 + 0j), value)
        return select(above, value, reflected)


faddeeva = Faddeeva()
