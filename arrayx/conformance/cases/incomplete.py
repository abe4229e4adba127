"""Rows of special functions with parameters; the references are mpmath's, to 30 digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx.conformance.case import COMPLEX, FLOATS, Case, Operand
from arrayx.control import (
    bessel_orders,
    hurwitz,
    hypergeometric,
    incomplete_beta,
    incomplete_gamma,
)
from arrayx.control.slopes import slope
from arrayx.lazy import lazy
from arrayx.primitives import cylinder, exponential_integrals, faddeeva, sine_integrals

mpmath = lazy("mpmath")
SHAPE = (2, 3)
POSITIVE = (0.3, 5.0)


def exactly(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of mpmath's numbers as a reference, element by element."""

    def reference(*arrays: Any, **params: Any) -> Any:
        with mpmath.workdps(30):
            found = [
                float(mpmath.re(function(*(mpmath.mpf(float(v)) for v in row), **params)))
                for row in zip(*(a.flat for a in arrays), strict=True)
            ]
        return np.array(found, np.float64).reshape(arrays[0].shape)

    return reference


def row(
    name: str, call: Any, reference: Callable[..., Any], *domains: tuple[float, float], **more: Any
) -> Case:
    """The row of a special function of several operands."""
    truth = exactly(reference)
    more.setdefault("scale", lambda *arrays, **params: 1e-3 + np.abs(truth(*arrays, **params)))
    more.setdefault("ulps", 32)
    operands = tuple(Operand(SHAPE, domain=d) for d in domains)
    params = more.pop("params", {})
    return Case(name, call, operands, params, truth, FLOATS, special=False, **more)


def _lower(a: Any, x: Any) -> Any:
    return mpmath.gammainc(a, 0, x, regularized=True)


def _log_share(a: Any, z: Any) -> Any:
    """The slope of z by a along which the share below exp(z) is kept."""
    x = mpmath.exp(z)
    by_a = mpmath.diff(lambda v: _lower(v, x), a)
    return -by_a / (mpmath.exp(a * z - x) / mpmath.gamma(a))


def _owens(h: Any, a: Any) -> Any:
    density = lambda t: mpmath.exp(-h * h * (1 + t * t) / 2) / (1 + t * t)  # noqa: E731
    return mpmath.quad(density, [0, a]) / (2 * mpmath.pi)


def _faddeeva(z: Any) -> Any:
    found = []
    with mpmath.workdps(30):
        for v in z.flat:
            point = mpmath.mpc(complex(v))
            found.append(complex(mpmath.exp(-point * point) * mpmath.erfc(-1j * point)))
    return np.array(found).reshape(z.shape)


def _scaled_bessel(v: Any, x: Any) -> Any:
    return mpmath.exp(-abs(x)) * mpmath.besseli(v, x)


def of_order(name: str, reference: Callable[..., Any], *domains: Any, **more: Any) -> Case:
    """The row of a Bessel function: errors beside the height of the wave."""
    truth = exactly(reference)
    scale = lambda *arrays: 0.5 + np.abs(truth(*arrays))  # noqa: E731
    function = getattr(cylinder if len(domains) == 1 else bessel_orders, name)
    return row(name, function, reference, *domains, scale=scale, **more)


CASES = (
    of_order("bessel_j0", lambda x: mpmath.besselj(0, x), (-12, 12)),
    of_order("bessel_j1", lambda x: mpmath.besselj(1, x), (-12, 12)),
    of_order("bessel_y0", lambda x: mpmath.bessely(0, x), (0.3, 12)),
    of_order("bessel_y1", lambda x: mpmath.bessely(1, x), (0.3, 12)),
    *(
        of_order(name, function, (0, 14), (0.5, 30), differentiable=(1,), ulps=64)
        for name, function in (
            ("bessel_jv", lambda v, x: mpmath.besselj(v, x)),
            ("bessel_yv", lambda v, x: mpmath.bessely(v, x)),
            ("bessel_ive", _scaled_bessel),
        )
    ),
    row("igamma", incomplete_gamma.igamma, _lower, POSITIVE, POSITIVE),
    row(
        "igammac",
        incomplete_gamma.igammac,
        lambda a, x: mpmath.gammainc(a, x, regularized=True),
        POSITIVE,
        POSITIVE,
    ),
    row(
        "gamma_density",
        incomplete_gamma.gamma_density,
        lambda a, x: mpmath.exp((a - 1) * mpmath.log(x) - x - mpmath.loggamma(a)),
        POSITIVE,
        POSITIVE,
    ),
    row("loggamma_slope", incomplete_gamma.loggamma_slope, _log_share, (0.5, 9), (-1, 2)),
    row(
        "slope",
        slope,
        lambda a, x, **params: mpmath.diff(lambda v: _lower(v, x), a),
        (0.5, 9),
        POSITIVE,
        params={"function": "igamma", "orders": (1, 0)},
    ),
    row(
        "betainc",
        incomplete_beta.betainc,
        lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True),
        POSITIVE,
        POSITIVE,
        (0.05, 0.95),
    ),
    row(
        "beta_density",
        incomplete_beta.beta_density,
        lambda a, b, x: x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b),
        POSITIVE,
        POSITIVE,
        (0.05, 0.95),
    ),
    row(
        "log_beta",
        incomplete_beta.beta_logarithm,
        lambda a, b: mpmath.log(mpmath.beta(a, b)),
        (0.3, 20),
        (0.3, 20),
        scale=lambda a, b: 5 + np.abs(a + b),
    ),
    row("zeta", hurwitz.zeta, lambda s, q: mpmath.zeta(s, q), (1.5, 6), POSITIVE),
    row(
        "hyp1f1",
        hypergeometric.hyp1f1,
        lambda a, b, x: mpmath.hyp1f1(a, b, x),
        (0.3, 3),
        (0.5, 4),
        (-3, 3),
    ),
    row(
        "hyp2f1",
        hypergeometric.hyp2f1,
        lambda a, b, c, x: mpmath.hyp2f1(a, b, c, x),
        (0.3, 2),
        (0.3, 2),
        (0.5, 4),
        (-0.9, 0.7),
    ),
    row(
        "erfcx",
        exponential_integrals.erfcx,
        lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
        (-2, 8),
    ),
    row(
        "dawsn",
        exponential_integrals.dawsn,
        lambda x: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x),
        (-5, 5),
    ),
    row("exp1", exponential_integrals.exp1, lambda x: mpmath.e1(x), (0.1, 6)),
    row("expi", exponential_integrals.expi, lambda x: mpmath.ei(x), (-2, 8)),
    Case(
        "expn",
        exponential_integrals.expn,
        (Operand(SHAPE, values=[0, 1, 2, 3, 5, 9]), Operand(SHAPE, domain=(0.1, 4))),
        {},
        exactly(lambda n, x: mpmath.expint(n, x)),
        FLOATS,
        ulps=32,
        special=False,
        differentiable=(1,),
    ),
    row("owens_t", exponential_integrals.owens_t, _owens, (-2, 2), (-2, 2)),
    row("sine_integral", sine_integrals.sine_integral, lambda x: mpmath.si(x), (-8, 8)),
    row("cosine_integral", sine_integrals.cosine_integral, lambda x: mpmath.ci(x), (0.5, 8)),
    row("fresnel_sine", sine_integrals.fresnel_sine, lambda x: mpmath.fresnels(x), (-3, 3)),
    row("fresnel_cosine", sine_integrals.fresnel_cosine, lambda x: mpmath.fresnelc(x), (-3, 3)),
    row("spence", sine_integrals.spence, lambda x: mpmath.polylog(2, 1 - x), (0.1, 5)),
    Case(
        "faddeeva",
        faddeeva.faddeeva,
        (SHAPE,),
        {},
        _faddeeva,
        COMPLEX,
        (-2, 2),
        ulps=64,
        scale=lambda z: 1 + np.abs(_faddeeva(z)),
        special=False,
    ),
)
