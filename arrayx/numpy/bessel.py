"""Modified Bessel functions of the first kind."""

from __future__ import annotations

from typing import Any

from arrayx.core.array import Array
from arrayx.numpy.functions import unary
from arrayx.numpy.promotion import inexact
from arrayx.primitives import bessel
from arrayx.primitives.arithmetic import mul
from arrayx.primitives.exponential import exp
from arrayx.primitives.numeric import abs as absolute


def _i0(x: Array) -> Any:
    return mul(exp(absolute(x)), bessel.bessel_i0e(x))


def _i1(x: Array) -> Any:
    return mul(exp(absolute(x)), bessel.bessel_i1e(x))


i0 = unary(
    "i0",
    _i0,
    "The modified Bessel function of order 0.",
    ">>> anp.i0(anp.array([0.0])).tolist()\n[1.0]",
    result_of=inexact,
)
i0e = unary(
    "i0e",
    bessel.bessel_i0e,
    "exp(-|x|) times the modified Bessel function of order 0.",
    ">>> import arrayx as ax\n>>> round(float(ax.scipy.special.i0e(1.0)), 4)\n0.4658",
    result_of=inexact,
    module="arrayx.scipy.special",
)
i1 = unary(
    "i1",
    _i1,
    "The modified Bessel function of order 1.",
    ">>> import arrayx as ax\n>>> round(float(ax.scipy.special.i1(1.0)), 4)\n0.5652",
    result_of=inexact,
    module="arrayx.scipy.special",
)
i1e = unary(
    "i1e",
    bessel.bessel_i1e,
    "exp(-|x|) times the modified Bessel function of order 1.",
    ">>> import arrayx as ax\n>>> round(float(ax.scipy.special.i1e(1.0)), 4)\n0.2079",
    result_of=inexact,
    module="arrayx.scipy.special",
)
