"""Hurwitz's zeta function."""

from __future__ import annotations

import math
from typing import Any

from arrayx.control.slopes import by_expansion
from arrayx.primitives.arithmetic import add, eq, gt, le, lt, mul, ne, neg, select, sub
from arrayx.primitives.bitwise import bitwise_and, bitwise_or
from arrayx.primitives.combined import stop_gradient
from arrayx.primitives.expanded import Special, number_like
from arrayx.primitives.exponential import exp, log
from arrayx.primitives.numeric import div, floor

# Terms that are summed one by one before the Euler-Maclaurin formula.
SUMMED = 10
# B(2k) / (2k)! for k = 1, 2, …
BERNOULLI = tuple(
    b / math.factorial(2 * k)
    for k, b in enumerate(
        (
            1 / 6,
            -1 / 30,
            1 / 42,
            -1 / 30,
            5 / 66,
            -691 / 2730,
            7 / 6,
            -3617 / 510,
            43867 / 798,
            -174611 / 330,
        ),
        start=1,
    )
)


class Zeta(Special):
    """Hurwitz's zeta function: the sum of (q + k)**-s over k = 0, 1, …, for s > 1 (DLMF 25.11.1).

    By the Euler-Maclaurin formula (DLMF 25.11.28 with the remainder left out).  inf at s = 1 and
    where q is a whole number from 0 down, nan for s < 1.
    """

    name = "zeta"
    partials = (
        by_expansion("zeta", 0, 2),
        lambda s, q, out: neg(mul(s, zeta(add(s, 1.0), q))),
    )

    def computed(self, s: Any, q: Any) -> Any:
        inside = bitwise_and(gt(s, 1.0), gt(q, 0.0))
        inside = bitwise_and(inside, lt(add(s, q), math.inf))
        power, first = select(inside, s, 2.0), select(inside, q, 1.0)

        def fallen(x: Any) -> Any:
            return exp(neg(mul(power, log(x))))

        total = fallen(first)
        for k in range(1, SUMMED):
            total = add(total, fallen(add(first, float(k))))
        last = add(first, float(SUMMED))
        edge = fallen(last)
        total = add(total, add(mul(edge, 0.5), div(mul(edge, last), sub(power, 1.0))))
        factor = div(power, last)
        squared = mul(last, last)
        term = mul(edge, factor)
        for k, b in enumerate(BERNOULLI):
            total = add(total, mul(term, b))
            both = mul(add(power, 2.0 * k + 1.0), add(power, 2.0 * k + 2.0))
            term = mul(term, div(both, squared))
        pole = bitwise_or(eq(s, 1.0), bitwise_and(le(q, 0.0), eq(floor(q), q)))
        pole = bitwise_and(pole, bitwise_or(eq(s, 1.0), gt(s, 1.0)))
        outside = select(pole, math.inf, number_like(s, math.nan))
        # Far out only the first term is left, or none.
        small = select(eq(q, 1.0), 1.0, number_like(s, math.inf))
        first_term = select(gt(q, 1.0), 0.0, small)
        far = bitwise_and(gt(q, 0.0), bitwise_and(gt(s, 1.0), eq(add(s, q), math.inf)))
        outside = select(far, first_term, outside)
        outside = select(bitwise_or(ne(s, s), ne(q, q)), math.nan, outside)
        return select(inside, total, stop_gradient(outside))


zeta = Zeta()
