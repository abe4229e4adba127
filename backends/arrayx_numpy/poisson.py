"""The acceptance test of large Poisson numbers, rounded as compiled float32 code rounds it.

Of two candidates of a mean of 1e5 the logarithms of the probabilities differ by less than their
last place, so the draws of a key are those of JAX only if every rounding is.  Two things decide
it: a product that is only added to something is not rounded before (here: made in float64, where
it is exact), and the logarithm is Cephes' polynomial (`logf.c` of Moshier's library; its
coefficients), each third of which is summed apart.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

F = np.float32
ROOT_HALF = F(math.sqrt(0.5))
# Cephes' polynomial of log(1 + x), the highest power first, and log 2 as a sum of two.
LOGARITHM = tuple(
    tuple(F(c) for c in third)
    for third in (
        (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1),
        (-1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1),
        (2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
    )
)
LOW_LOG_2, HIGH_LOG_2 = F(-2.12194440e-4), F(0.693359375)
# Lanczos' coefficients for g = 7 and nine terms.
LANCZOS = tuple(
    F(c)
    for c in (
        676.520368121885098567009190444019,
        -1259.13921672240287047156078755283,
        771.3234287776530788486528258894,
        -176.61502916214059906584551354,
        12.507343278686904814458936853,
        -0.13857109526572011689554707,
        9.984369578019570859563e-6,
        1.50563273514931155834e-7,
    )
)
LOG_ROOT_2_PI = F(0.5 * math.log(2 * math.pi))
LOG_7_AND_A_HALF = F(math.log(7.5))
HALF, ONE = F(0.5), F(1.0)


def fused(x: Any, y: Any, z: Any) -> Any:
    """x·y + z, rounded once."""
    return (np.multiply(x, y, dtype=np.float64) + z).astype(F)


def logarithm(x: Any) -> Any:
    """The logarithm of positive float32."""
    part, power = np.frexp(x)
    low = part < ROOT_HALF
    power = power.astype(F) - low
    m = (part - ONE) + np.where(low, part, F(0.0))
    square = m * m
    cube = square * m
    high, middle, least = (fused(fused(a, m, b), m, c) for a, b, c in LOGARITHM)
    series = fused(fused(high, cube, middle), cube, least)
    series = fused(series, cube, power * LOW_LOG_2)
    return fused(power, HIGH_LOG_2, fused(F(-0.5), square, m) + series)


def log_factorial(k: Any) -> Any:
    """log k! by Lanczos' formula."""
    share = ONE
    for i, c in enumerate(LANCZOS):
        share = share + c / (k + F(i + 1))
    log_t = logarithm(k * F(1 / 7.5) + ONE) + LOG_7_AND_A_HALF
    main = (k + HALF) - (k + F(7.5)) / log_t
    return fused(main, log_t, LOG_ROOT_2_PI) + logarithm(share)


def poisson_try(mean: Any, u: Any, v: Any) -> Any:
    """The candidate of two uniform numbers, -1 where it is rejected."""
    shape = np.shape(u)
    mean, u, v = (np.broadcast_to(x, shape).reshape(-1) for x in (mean, u, v))
    root = np.sqrt(mean)
    b = fused(root, F(2.53), F(0.931))
    a = fused(b, F(0.02483), F(-0.059))
    inverse_alpha = F(1.1328) / (b + F(-3.4)) + F(1.1239)
    certain = F(0.9277) - F(3.6224) / (b + F(-2.0))
    edge = HALF - np.abs(u)
    k = np.floor(fused((a * F(2.0)) / edge + b, u, mean) + F(0.43))
    inside = (edge >= F(0.07)) & (v <= certain)
    outside = (k < 0) | ((edge < F(0.013)) & (v > edge))
    result = np.where(inside, k, F(-1.0))
    # The logarithms only where they decide.
    places = np.nonzero(~(inside | outside) & np.isfinite(k))[0]
    if places.size:
        k, v, edge, a, b, mean, inverse_alpha = (
            x[places] for x in (k, v, edge, a, b, mean, inverse_alpha)
        )
        s = logarithm((v * inverse_alpha) / (a / (edge * edge) + b))
        bound = fused(k, logarithm(mean), -mean) - log_factorial(k)
        result[places] = np.where(s <= bound, k, F(-1.0))
    return result.reshape(shape)


POISSON: dict[str, Any] = {"poisson_try": poisson_try}
