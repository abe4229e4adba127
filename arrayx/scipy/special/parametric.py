"""Special functions that are integrals, or have parameters: gamma, beta, zeta and their kin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayx import dtypes, errors
from arrayx.control import hurwitz, hypergeometric, incomplete_beta, incomplete_gamma
from arrayx.core.array import Array
from arrayx.numpy.functions import array_of
from arrayx.numpy.promotion import (
    as_type,
    broadcast_shapes,
    broadcast_to_shape,
    inexact,
    placed_like,
    promoted_arrays,
)
from arrayx.primitives import exponential_integrals, faddeeva, sine_integrals
from arrayx.primitives.complex import complex as from_parts
from arrayx.primitives.creation import fill


def applied(
    function: str, primitive: Callable[..., Any], names: tuple[str, ...], *values: Any
) -> Array:
    """A primitive of floats, applied to operands that are promoted and broadcast first."""
    arrays = promoted_arrays(values, function, names, inexact)
    if dtypes.kind(arrays[0].dtype) == "complex":
        raise errors.DtypeError(
            f"{function}: {', '.join(names)} must be real, got "
            f"{', '.join(str(a.aval) for a in arrays)}"
        )
    shape = broadcast_shapes(*(a.shape for a in arrays))
    return primitive(*(broadcast_to_shape(a, shape) for a in arrays))  # type: ignore[no-any-return]


def gammainc(a: Any, x: Any) -> Array:
    """The regularised lower incomplete gamma function: the share below `x` of the gamma
    distribution of shape `a` (DLMF 8.2.4).

    1 where `a` is 0, nan where one is negative.  Differentiable by both to any order.

    >>> round(float(gammainc(2.0, 1.5)), 4)
    0.4422
    """
    return applied("gammainc", incomplete_gamma.igamma, ("a", "x"), a, x)


def gammaincc(a: Any, x: Any) -> Array:
    """The regularised upper incomplete gamma function, 1 - gammainc(a, x) without cancellation.

    >>> round(float(gammaincc(2.0, 1.5)), 4)
    0.5578
    """
    return applied("gammaincc", incomplete_gamma.igammac, ("a", "x"), a, x)


def betainc(a: Any, b: Any, x: Any) -> Array:
    """The regularised incomplete beta function: the share below `x` of the beta distribution with
    parameters `a` and `b` (DLMF 8.17.2).

    nan where a parameter is negative, or `x` outside of [0, 1].  Differentiable by all three to
    any order.

    >>> round(float(betainc(2.0, 3.0, 0.4)), 4)
    0.5248
    """
    return applied("betainc", incomplete_beta.betainc, ("a", "b", "x"), a, b, x)


def zeta(x: Any, q: Any = None) -> Array:
    """Hurwitz's zeta function: the sum of (q + k)**-x over k = 0, 1, … (DLMF 25.11.1).

    Riemann's for `q` of None, which means 1.  inf at x = 1, nan below.

    >>> round(float(zeta(2.0, 1.0)), 4)
    1.6449
    """
    return applied("zeta", hurwitz.zeta, ("x", "q"), x, 1.0 if q is None else q)


def erfcx(x: Any) -> Array:
    """exp(x²)·erfc(x), without overflow for positive `x`.

    >>> round(float(erfcx(10.0)), 4)
    0.0561
    """
    return applied("erfcx", exponential_integrals.erfcx, ("x",), x)


def dawsn(x: Any) -> Array:
    """Dawson's integral: exp(-x²) times the integral of exp(t²) from 0 to `x` (DLMF 7.2.5).

    >>> round(float(dawsn(1.0)), 4)
    0.5381
    """
    return applied("dawsn", exponential_integrals.dawsn, ("x",), x)


def exp1(x: Any) -> Array:
    """The exponential integral E1 of positive `x` (DLMF 6.2.1).

    >>> round(float(exp1(1.0)), 4)
    0.2194
    """
    return applied("exp1", exponential_integrals.exp1, ("x",), x)


def expi(x: Any) -> Array:
    """The exponential integral Ei (DLMF 6.2.5).

    >>> round(float(expi(1.0)), 4)
    1.8951
    """
    return applied("expi", exponential_integrals.expi, ("x",), x)


def expn(n: Any, x: Any) -> Array:
    """The generalised exponential integral of order `n`, whole numbers from 0 on (DLMF 8.19.3).

    Not differentiable by `n`.

    >>> round(float(expn(2, 1.0)), 4)
    0.1485
    """
    return applied("expn", exponential_integrals.expn, ("n", "x"), n, x)


def owens_t(h: Any, a: Any) -> Array:
    """Owen's T function (Owen, 1956): the probability that X > h and 0 < Y < a·X for independent
    standard normal X and Y.

    >>> round(float(owens_t(1.0, 0.5)), 4)
    0.0431
    """
    return applied("owens_t", exponential_integrals.owens_t, ("h", "a"), h, a)


def sici(x: Any) -> tuple[Array, Array]:
    """The sine integral, and the cosine integral of the size of `x` (DLMF 6.2.9, 6.2.11).

    >>> [round(float(v), 4) for v in sici(1.0)]
    [0.9461, 0.3374]
    """
    return (
        applied("sici", sine_integrals.sine_integral, ("x",), x),
        applied("sici", sine_integrals.cosine_integral, ("x",), x),
    )


def fresnel(x: Any) -> tuple[Array, Array]:
    """Fresnel's integrals S and C, of sin(π t²/2) and cos(π t²/2) from 0 to `x` (DLMF 7.2.7).

    >>> [round(float(v), 4) for v in fresnel(1.0)]
    [0.4383, 0.7799]
    """
    return (
        applied("fresnel", sine_integrals.fresnel_sine, ("x",), x),
        applied("fresnel", sine_integrals.fresnel_cosine, ("x",), x),
    )


def spence(x: Any) -> Array:
    """Spence's function, the dilogarithm of 1 - `x`; nan for negative `x` (DLMF 25.12.1).

    >>> round(float(spence(0.0)), 4)
    1.6449
    """
    return applied("spence", sine_integrals.spence, ("x",), x)


def hyp1f1(a: Any, b: Any, x: Any) -> Array:
    """Kummer's confluent hypergeometric function of real numbers (DLMF 13.2.2).

    Differentiable by all three.

    >>> round(float(hyp1f1(1.0, 2.0, 0.5)), 4)
    1.2974
    """
    return applied("hyp1f1", hypergeometric.hyp1f1, ("a", "b", "x"), a, b, x)


def hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Array:
    """Gauss's hypergeometric function of real numbers, for `x` up to 1 (DLMF 15.2.1).

    Differentiable by all four.

    >>> round(float(hyp2f1(1.0, 1.0, 2.0, 0.5)), 4)
    1.3863
    """
    names = ("a", "b", "c", "x")
    return applied("hyp2f1", hypergeometric.hyp2f1, names, a, b, c, x)


def wofz(z: Any) -> Array:
    """The Faddeeva function exp(-z²)·erfc(-i·z), a complex array (DLMF 7.2.3).

    >>> complex(wofz(0.0))
    (1+0j)
    """
    x = array_of(z, "wofz", inexact)
    kind = dtypes.kind(x.dtype)
    if kind == "float":
        wide = as_type(x, dtypes.accumulation_dtype(x.dtype))
        with placed_like(wide):
            x = from_parts(wide, fill(wide.aval.shape, wide.aval.dtype, 0.0))
    return faddeeva.faddeeva(x)  # type: ignore[no-any-return]
