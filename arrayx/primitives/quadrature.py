"""Integrals that special functions are, by Gauss-Legendre quadrature of each element at once.

Apart because the functions differ only in what they integrate: smooth functions over an interval
that is cut off where nothing is left to add.  The rule of n points is exact for polynomials up to
degree 2n - 1, and its error falls exponentially for functions without a singularity nearby
(Davis and Rabinowitz, "Methods of Numerical Integration", 1984).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx.lazy import lazy
from arrayx.primitives.arithmetic import mul
from arrayx.primitives.axes import broadcast_in_dim, reduce_sum

decimal = lazy("decimal")  # for the first integral, not for every import


@functools.cache
def rule(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Points in [0, 1] and weights that sum to 1, for an even number of points.

    The roots of the Legendre polynomial by Newton's method in 30 digits: in float64 the weights
    would be off by hundreds of units in the last place.
    """
    with decimal.localcontext() as context:
        context.prec = 30
        half = [point_and_weight(count, k) for k in range(count // 2)]
        points = [(1 - x) / 2 for x, _ in half] + [(1 + x) / 2 for x, _ in reversed(half)]
        weights = [w / 2 for _, w in half] + [w / 2 for _, w in reversed(half)]
        return np.array([*map(float, points)]), np.array([*map(float, weights)])


def point_and_weight(count: int, k: int) -> tuple[Any, Any]:
    """Root number k of the Legendre polynomial of degree `count`, from 1 downwards."""
    x = decimal.Decimal(math.cos(math.pi * (k + 0.75) / (count + 0.5)))
    for _ in range(6):
        before, value = decimal.Decimal(1), x
        for n in range(1, count):
            before, value = value, ((2 * n + 1) * x * value - n * before) / (n + 1)
        slope = count * (x * value - before) / (x * x - 1)
        x -= value / slope
    return x, 2 / ((1 - x * x) * slope * slope)


def integral(
    integrand: Callable[..., Any], length: Any, *operands: Any, count: tuple[int, int] = (20, 32)
) -> Any:
    """The integral of `integrand(t, *operands)` for t from 0 to `length`, for each element.

    All are arrays of one shape and dtype; the integrand gets them with one more axis.  `count` is
    the number of points for float32 and for float64.
    """
    aval = length.aval
    points, weights = rule(count[aval.dtype.itemsize == 8])
    shape = (*aval.shape, len(points))
    outer, last = tuple(range(len(aval.shape))), (len(aval.shape),)
    at, weight = (
        broadcast_in_dim(x.astype(aval.dtype), shape=shape, dims=last) for x in (points, weights)
    )
    spread = [broadcast_in_dim(x, shape=shape, dims=outer) for x in (length, *operands)]
    values = integrand(mul(at, spread[0]), *spread[1:])
    return mul(reduce_sum(mul(values, weight), axes=last), length)
