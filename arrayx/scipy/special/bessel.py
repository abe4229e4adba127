"""Bessel functions of any real order, with derivatives by their argument."""

from __future__ import annotations

from typing import Any

from arrayx.control import bessel_orders
from arrayx.core.array import Array
from arrayx.numpy.functions import unary
from arrayx.numpy.promotion import inexact
from arrayx.primitives import cylinder
from arrayx.primitives.arithmetic import mul
from arrayx.primitives.expanded import in_float32
from arrayx.primitives.exponential import exp
from arrayx.primitives.numeric import abs as absolute
from arrayx.scipy.special.parametric import applied


def _of_order(name: str, primitive: Any, sentence: str, value: float) -> Any:
    return unary(
        name,
        primitive,
        sentence,
        f">>> import arrayx as ax\n>>> round(float(ax.scipy.special.{name}(1.0)), 4)\n{value}",
        result_of=inexact,
        module=__name__,
    )


j0 = _of_order(
    "j0", cylinder.bessel_j0, "The Bessel function of the first kind of order 0.", 0.7652
)
j1 = _of_order(
    "j1", cylinder.bessel_j1, "The Bessel function of the first kind of order 1.", 0.4401
)
y0 = _of_order(
    "y0",
    cylinder.bessel_y0,
    "The Bessel function of the second kind of order 0: -inf at 0, nan below.",
    0.0883,
)
y1 = _of_order(
    "y1",
    cylinder.bessel_y1,
    "The Bessel function of the second kind of order 1: -inf at 0, nan below.",
    -0.7812,
)


def jv(v: Any, z: Any) -> Array:
    """The Bessel function of the first kind of real order `v` (DLMF 10.2.2).

    For negative `z` nan, unless the order is whole.  The error in float64 is about 3e-14, beside
    the height of the wave where there is one and beside the value elsewhere, and grows with the
    order: 1e-13 at 1,000.  Differentiable by `z` alone.

    >>> round(float(jv(0.5, 1.0)), 4)
    0.6714
    """
    return applied("jv", bessel_orders.bessel_jv, ("v", "z"), v, z)


jn = jv  # SciPy's other name, for whole orders


def yv(v: Any, z: Any) -> Array:
    """The Bessel function of the second kind of real order `v` (DLMF 10.2.3).

    -inf at 0, nan for negative `z`.  As accurate as `jv`; differentiable by `z` alone.

    >>> round(float(yv(0.5, 1.0)), 4)
    -0.4311
    """
    return applied("yv", bessel_orders.bessel_yv, ("v", "z"), v, z)


def yn(n: Any, x: Any) -> Array:
    """The Bessel function of the second kind of whole order `n`; see `yv`.

    >>> round(float(yn(2, 1.0)), 4)
    -1.6507
    """
    return applied("yn", bessel_orders.bessel_yv, ("n", "x"), n, x)


def ive(v: Any, z: Any) -> Array:
    """exp(-|z|)·iv(v, z), which does not overflow.

    The error in float64 is about 3e-14 of the value, and grows with the order: 3e-13 at 1,000.
    Differentiable by `z` alone.

    >>> round(float(ive(0.5, 1.0)), 4)
    0.345
    """
    return applied("ive", bessel_orders.bessel_ive, ("v", "z"), v, z)


def _unscaled(v: Array, z: Array) -> Any:
    return mul(exp(absolute(z)), bessel_orders.bessel_ive(v, z))


def _iv(v: Array, z: Array) -> Any:
    return in_float32(_unscaled, (v, z))


def iv(v: Any, z: Any) -> Array:
    """The modified Bessel function of the first kind of real order `v` (DLMF 10.25.2).

    nan for negative orders and for negative `z`, unless the order is whole.  Differentiable by `z`
    alone.

    >>> round(float(iv(0.5, 1.0)), 4)
    0.9377
    """
    return applied("iv", _iv, ("v", "z"), v, z)
