"""exp, log and tanh of float32 as plain arithmetic, which a compiler can turn into vectors.

The C library's functions work on one number at a time.  Errors here are below 2 units in the last
place.  They are inlined into the loops that call them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_inlined = njit(forceinline=True, error_model="numpy", cache=True, fastmath={"contract"})

f32 = np.float32


@_inlined
def exp32(x):  # type: ignore[no-untyped-def]
    """exp: a power of 2, times a polynomial of what is left between ±ln(2)/2."""
    known = x if x == x else f32(0.0)
    known = known if known < f32(89.0) else f32(89.0)
    known = known if known > f32(-105.0) else f32(-105.0)
    n = np.rint(known * f32(1.4426950408889634))
    r = known - n * f32(0.693359375)
    r = r - n * f32(-2.12194440e-4)
    p = f32(1.0 / 5040.0)
    p = p * r + f32(1.0 / 720.0)
    p = p * r + f32(1.0 / 120.0)
    p = p * r + f32(1.0 / 24.0)
    p = p * r + f32(1.0 / 6.0)
    p = p * r + f32(0.5)
    p = p * r * r + r + f32(1.0)
    k = np.int32(n)
    half = np.int32(k >> np.int32(1))
    rest = np.int32(k - half)
    low = np.int32(np.int32(half + np.int32(127)) << np.int32(23)).view(np.float32)
    high = np.int32(np.int32(rest + np.int32(127)) << np.int32(23)).view(np.float32)
    result = p * low * high
    return result if x == x else x


@_inlined
def log32(x):  # type: ignore[no-untyped-def]
    """log: the exponent, and the series of atanh for a mantissa near 1."""
    tiny = x < f32(1.17549435e-38)
    scaled = x * f32(8388608.0) if tiny else x
    bits = np.float32(scaled).view(np.int32)
    # The exponent of x / sqrt(1/2), so that the mantissa is between sqrt(1/2) and sqrt(2).
    above = np.int32(bits - np.int32(0x3F3504F3))
    k = np.int32(above >> np.int32(23))
    mantissa = np.int32(bits - np.int32(k << np.int32(23))).view(np.float32)
    e = f32(k) - (f32(23.0) if tiny else f32(0.0))
    f = mantissa - f32(1.0)
    s = f / (f + f32(2.0))
    z = s * s
    r = f32(2.0 / 9.0)
    r = r * z + f32(2.0 / 7.0)
    r = r * z + f32(2.0 / 5.0)
    r = r * z + f32(2.0 / 3.0)
    half = f32(0.5) * f * f
    # log(1 + f) = f - (f²/2 - s·(f²/2 + R)), the same series with a small last term.
    small = half - s * (half + z * r)
    result = e * f32(0.693359375) - (small - e * f32(-2.12194440e-4) - f)
    result = result if x < f32(np.inf) else x
    result = result if x > f32(0.0) else (f32(-np.inf) if x == f32(0.0) else f32(np.nan))
    return result


@_inlined
def tanh32(x):  # type: ignore[no-untyped-def]
    """tanh: a polynomial near 0, elsewhere 1 - 2 / (exp(2x) + 1)."""
    size = abs(x)
    z = x * x
    p = f32(-5.70498872745e-3)
    p = p * z + f32(2.06390887954e-2)
    p = p * z + f32(-5.37397155531e-2)
    p = p * z + f32(1.33314422036e-1)
    p = p * z + f32(-3.33332819422e-1)
    near = p * z * x + x
    near = near if x != f32(0.0) else x  # -0.0 stays
    far = f32(1.0) - f32(2.0) / (exp32(size + size) + f32(1.0))
    far = far if x > f32(0.0) else -far
    return near if size < f32(0.625) else far
