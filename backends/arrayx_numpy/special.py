"""Kernels of special functions: SciPy's, where it has them; apart because they are many.

What SciPy lacks, derivatives by parameters for one, is expanded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx.lazy import lazy

scipy_special = lazy("scipy.special")


def through_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of floats, of narrow ones by way of float32; literals take their dtype."""

    def kernel(*operands: Any) -> Any:
        dtype = next(x.dtype for x in operands if hasattr(x, "dtype"))
        wide = np.dtype(np.float32) if dtype.itemsize < 4 else dtype
        given = [np.asarray(x, wide) for x in operands]
        result = function(*given)
        return result if result.dtype is dtype else result.astype(dtype)

    return kernel


def named(name: str) -> Callable[..., Any]:
    """A function of SciPy's, looked up at its first use."""

    def function(*operands: Any) -> Any:
        return getattr(scipy_special, name)(*operands)

    function.__name__ = name
    return through_float32(function)


@through_float32
def betainc(a: Any, b: Any, x: Any) -> Any:
    missing = np.isnan(a) | np.isnan(b) | np.isnan(x)
    return np.where(missing, x.dtype.type(np.nan), scipy_special.betainc(a, b, x))


@through_float32
def zeta(s: Any, q: Any) -> Any:
    # SciPy has inf where q is a pole and s nan.
    missing = np.isnan(s) | np.isnan(q)
    return np.where(missing, s.dtype.type(np.nan), scipy_special.zeta(s, q))


@through_float32
def spence(x: Any) -> Any:
    return np.where(x == np.inf, -x, scipy_special.spence(x))


@through_float32
def sine_integral(x: Any) -> Any:
    return scipy_special.sici(x)[0]


@through_float32
def cosine_integral(x: Any) -> Any:
    return scipy_special.sici(np.abs(x))[1]


@through_float32
def fresnel_sine(x: Any) -> Any:
    return scipy_special.fresnel(x)[0]


@through_float32
def fresnel_cosine(x: Any) -> Any:
    return scipy_special.fresnel(x)[1]


@through_float32
def expn(n: Any, x: Any) -> Any:
    whole = np.isfinite(n) & (np.floor(n) == n)
    value = scipy_special.expn(np.where(whole, n, 0).astype(np.int64), x)
    return np.where(whole, value, np.nan)


def hypergeometric(name: str) -> Callable[..., Any]:
    """A hypergeometric function; nan where an operand is not finite (SciPy's may not end)."""

    @through_float32
    def function(*operands: Any) -> Any:
        x = operands[-1]
        finite = np.isfinite(sum(operands[1:], operands[0]))
        safe = [np.where(finite, v, v.dtype.type(0.5)) for v in operands]
        value = getattr(scipy_special, name)(*safe)
        return np.where(finite, value, x.dtype.type(np.nan))

    return function


@through_float32
def ive(v: Any, x: Any) -> Any:
    value = scipy_special.ive(v, x)
    return np.where((v < 0) & (np.floor(v) != v), np.nan, value)


def faddeeva(z: Any) -> Any:
    return scipy_special.wofz(z)


SPECIAL: dict[str, Callable[..., Any]] = {
    "igamma": named("gammainc"),
    "igammac": named("gammaincc"),
    "betainc": betainc,
    "zeta": zeta,
    "erfcx": named("erfcx"),
    "dawsn": named("dawsn"),
    "exp1": named("exp1"),
    "expi": named("expi"),
    "expn": expn,
    "owens_t": named("owens_t"),
    "sine_integral": sine_integral,
    "cosine_integral": cosine_integral,
    "fresnel_sine": fresnel_sine,
    "fresnel_cosine": fresnel_cosine,
    "spence": spence,
    "faddeeva": faddeeva,
    **{f"bessel_{name}": named(name) for name in ("j0", "j1", "y0", "y1", "jv", "yv")},
    "bessel_ive": ive,
    "hyp1f1": hypergeometric("hyp1f1"),
    "hyp2f1": hypergeometric("hyp2f1"),
}
