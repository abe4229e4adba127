"""Special functions of whole order: Bernoulli numbers, Bessel functions, spherical harmonics."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, creation, logic, transcendental
from arrayx.numpy.functions import array_of
from arrayx.numpy.promotion import as_array, as_type, broadcast_shapes, broadcast_to_shape, inexact
from arrayx.numpy.selection import where
from arrayx.numpy.shapes import stack

# Values above it are scaled down: the recurrence may begin anywhere.
HUGE = 2.0**60


def bernoulli(n: int) -> Array:
    """The Bernoulli numbers B(0) to B(n) as a vector, with B(1) = -1/2 (DLMF 24.2.1).

    `n` is a Python integer from 0 on.  They are exact to rounding.

    >>> [round(x, 4) for x in bernoulli(4).tolist()]
    [1.0, -0.5, 0.1667, 0.0, -0.0333]
    """
    if not isinstance(n, int) or n < 0:
        raise errors.ArgumentError(f"bernoulli: n must be a Python integer from 0 on, got {n!r}")
    numbers = [Fraction(1)]
    for m in range(1, n + 1):
        total = sum(math.comb(m + 1, k) * b for k, b in enumerate(numbers) if b)
        numbers.append(-Fraction(total) / (m + 1))
    limit = float(np.finfo(np.float64).max)
    values = [float(b) if abs(b) <= limit else math.copysign(math.inf, b) for b in numbers]
    with np.errstate(over="ignore"):
        return creation.array(np.array(values).astype(dtypes.default_float()))


def bessel_jn(z: Any, *, v: int, n_iter: int = 50) -> Array:
    """Bessel functions of the first kind of the orders 0 to `v` along a new first axis.

    By the recurrence DLMF 10.6.1 downwards from order `n_iter` (Miller's algorithm, DLMF 3.6),
    which must be some tens above both `v` and the size of `z`.

    Args:
        z: real numbers.
        v: the highest order, a Python integer from 0 on.
        n_iter: the order to start from.

    >>> [round(x, 4) for x in bessel_jn(1.0, v=1).tolist()]
    [0.7652, 0.4401]
    """
    if not isinstance(v, int) or v < 0:
        raise errors.ArgumentError(f"bessel_jn: v must be a Python integer from 0 on, got {v!r}")
    if not isinstance(n_iter, int) or n_iter <= v:
        raise errors.ArgumentError(
            f"bessel_jn: n_iter must be a Python integer above v = {v}, got {n_iter!r}"
        )
    x = array_of(z, "bessel_jn", inexact)
    if dtypes.kind(x.dtype) != "float":
        raise errors.DtypeError(f"bessel_jn: z must be real, got {x.aval}")
    wide = as_type(x, dtypes.accumulation_dtype(x.dtype))
    at_zero = logic.equal(wide, 0.0)
    twice = arithmetic.divide(2.0, where(at_zero, 1.0, wide))
    above = arithmetic.multiply(wide, 0.0)
    here = arithmetic.add(above, float(np.finfo(np.float32).tiny))
    total = arithmetic.multiply(here, 2.0 if n_iter % 2 == 0 else 0.0)
    kept: list[Any] = []
    for n in range(n_iter, 0, -1):
        below = arithmetic.subtract(arithmetic.multiply(arithmetic.multiply(twice, n), here), above)
        factor = where(logic.greater(arithmetic.abs(below), HUGE), 1 / HUGE, 1.0)
        above = arithmetic.multiply(here, factor)
        here = arithmetic.multiply(below, factor)
        total = arithmetic.multiply(total, factor)
        kept = [arithmetic.multiply(k, factor) for k in kept]
        if n - 1 <= v:
            kept.append(here)
        if (n - 1) % 2 == 0:
            total = arithmetic.add(total, arithmetic.multiply(here, 2.0 if n > 1 else 1.0))
    kept.reverse()
    values = [arithmetic.divide(k, total) for k in kept]
    ends = [where(at_zero, 1.0 if i == 0 else 0.0, value) for i, value in enumerate(values)]
    # Orders 1 have slope 1/2 at 0, where the recurrence says nothing.
    if v >= 1:
        ends[1] = where(at_zero, arithmetic.multiply(wide, 0.5), values[1])
    return as_type(stack(ends), x.dtype)


def sph_harm_y(
    n: Any, m: Any, theta: Any, phi: Any, diff_n: int | None = None, n_max: int | None = None
) -> Array:
    """Spherical harmonics of degree `n` and order `m`, with the Condon-Shortley phase
    (DLMF 14.30.1), as complex numbers.

    Args:
        n, m: integers with abs(m) <= n; elsewhere the result is 0.
        theta: the polar angle, from 0 to π.
        phi: the azimuth, from 0 to 2π.
        diff_n: not offered; None.
        n_max: the largest degree in `n`, a Python integer; needed where `n` is traced.

    The angles may be arrays and so may the orders; all are broadcast.

    >>> round(float(sph_harm_y(1, 0, 0.0, 0.0).real), 4)
    0.4886
    """
    if diff_n is not None:
        raise errors.ArgumentError("sph_harm_y: diff_n is not offered; use ax.jvp")
    degree, order = (as_array(x, "sph_harm_y", name) for x, name in ((n, "n"), (m, "m")))
    for x, name in ((degree, "n"), (order, "m")):
        if not dtypes.is_integer(x.dtype):
            raise errors.DtypeError(f"sph_harm_y: {name} must be integers, got {x.aval}")
    if n_max is None:
        n_max = int(np.max(np.asarray(degree), initial=0))
    polar = array_of(theta, "sph_harm_y", inexact)
    azimuth = array_of(phi, "sph_harm_y", inexact)
    dtype = dtypes.accumulation_dtype(
        dtypes.as_dtype(np.promote_types(*(str(a.dtype) for a in (polar, azimuth))))
        if polar.dtype != azimuth.dtype
        else polar.dtype
    )
    arrays = (degree, order, as_type(polar, dtype), as_type(azimuth, dtype))
    shape = broadcast_shapes(*(a.shape for a in arrays))
    degree, order, polar, azimuth = (broadcast_to_shape(a, shape) for a in arrays)
    size = arithmetic.abs(order)
    legendre = normalised_legendre(degree, size, polar, int(n_max))
    angle = arithmetic.multiply(as_type(size, dtype), azimuth)
    negative = logic.less(order, 0)
    odd = logic.not_equal(arithmetic.remainder(size, 2), 0)
    # Y(n, -m) is the conjugate of Y(n, m), with another sign for odd m.
    turned = where(logic.logical_and(negative, odd), -1.0, 1.0)
    real = arithmetic.multiply(arithmetic.multiply(legendre, turned), transcendental.cos(angle))
    imaginary = arithmetic.multiply(
        arithmetic.multiply(legendre, turned), transcendental.sin(angle)
    )
    imaginary = where(negative, arithmetic.negative(imaginary), imaginary)
    return arithmetic.add(real, arithmetic.multiply(imaginary, 1j))


def normalised_legendre(degree: Any, order: Any, polar: Any, most: int) -> Any:
    """Associated Legendre functions of cos(`polar`), normalised on the sphere (DLMF 14.10.3 for
    normalised functions), for degrees up to `most`; 0 where order > degree."""
    cosine, sine = transcendental.cos(polar), transcendental.sin(polar)
    one = arithmetic.add(arithmetic.multiply(polar, 0.0), math.sqrt(1 / (4 * math.pi)))
    m = as_type(order, polar.dtype)
    # The function of degree and order m.
    sectoral = one
    for k in range(1, most + 1):
        step = arithmetic.multiply(sine, -math.sqrt((2 * k + 1) / (2 * k)))
        grows = logic.less_equal(float(k), m)
        sectoral = where(grows, arithmetic.multiply(sectoral, step), sectoral)
    before = arithmetic.multiply(polar, 0.0)
    here = sectoral
    result = where(logic.equal(degree, order), here, 0.0)
    for n in range(1, most + 1):
        above = logic.less(m, float(n))
        safe = where(above, m, 0.0)
        gap = float(n * n) - arithmetic.multiply(safe, safe)
        first = transcendental.sqrt((4.0 * n * n - 1.0) / gap)
        last = float((n - 1) * (n - 1)) - arithmetic.multiply(safe, safe)
        last = where(logic.greater(last, 0.0), last, 0.0)
        ratio = (2 * n + 1) / (2 * n - 3) if n > 1 else 0.0
        rooted = transcendental.sqrt(where(logic.greater(last, 0.0), last * ratio / gap, 1.0))
        second = where(logic.greater(last, 0.0), rooted, 0.0)
        following = first * cosine * here - second * before
        before = where(above, here, before)
        here = where(above, following, here)
        result = where(logic.logical_and(above, logic.equal(degree, n)), here, result)
    return result
