"""Rows for special functions; the references are mpmath's, to 30 digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx.conformance.case import COMPLEX, FLOATS, Case
from arrayx.lazy import lazy
from arrayx.primitives import bessel, error_functions, special

mpmath = lazy("mpmath")
ONE = ((2, 3),)


def exactly(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of mpmath's numbers as a reference, elements outside its domain as nan."""

    def reference(x: Any, **params: Any) -> Any:
        with mpmath.workdps(30):
            found = [float(function(mpmath.mpf(float(v)), **params)) for v in x.flat]
        # mpmath has one zero; the functions that are 0 at 0 are odd.
        result = np.array(found, np.float64).reshape(x.shape)
        return np.where((result == 0) & (x == 0), x, result)

    return reference


def of_complex(name: str) -> Callable[..., Any]:
    """A function of mpmath's complex numbers as a reference."""

    def reference(z: Any) -> Any:
        with mpmath.workdps(30):
            found = [complex(getattr(mpmath, name)(mpmath.mpc(complex(v)))) for v in z.flat]
        return np.array(found, np.complex128).reshape(z.shape)

    return reference


def _erf_inv(x: Any) -> Any:
    return mpmath.erfinv(x) if abs(x) <= 1 else mpmath.nan


def _scaled_bessel(order: int) -> Callable[[Any], Any]:
    return lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(order, x)


def row(name: str, reference: Any, domain: tuple[float, float], **more: Any) -> Case:
    """The row of a special function."""
    return Case(name, getattr(special, name), ONE, {}, reference, FLOATS, domain, **more)


CASES = (
    row("erf", exactly(lambda x: mpmath.erf(x)), (-3, 3)),
    row("erfc", exactly(lambda x: mpmath.erfc(x)), (-2, 4), ulps=16),
    row("erf_inv", exactly(_erf_inv), (-0.9, 0.9)),
    row(
        "lgamma",
        exactly(lambda x: mpmath.log(abs(mpmath.gamma(x)))),
        (0.1, 6),
        special=False,
        scale=lambda x: 1 + np.abs(x),
        ulps=8,
    ),
    Case(
        "erfc_inv",
        error_functions.erfc_inv,
        ONE,
        {},
        exactly(lambda p: mpmath.erfinv(1 - p)),
        FLOATS,
        (0.05, 1.95),
        special=False,
        ulps=8,
        scale=lambda p: 1 + 1 / (p * (2 - p)),
    ),
    *(
        Case(
            f"complex_{name}",
            getattr(error_functions, f"complex_{name}"),
            ONE,
            {},
            of_complex(name),
            COMPLEX,
            (-2, 2),
            special=False,
            ulps=64,
            scale=lambda z, name=name: 1 + np.abs(of_complex(name)(z)),
        )
        for name in ("erf", "erfc")
    ),
    row(
        "digamma",
        exactly(lambda x: mpmath.digamma(x)),
        (0.3, 6),
        special=False,
        scale=lambda x: 1 + 1 / x,
        ulps=8,
    ),
    *(
        Case(
            "polygamma",
            special.polygamma,
            ONE,
            {"order": n},
            exactly(lambda x, order: mpmath.polygamma(order, x)),
            FLOATS,
            (0.5, 4),
            special=False,
            ulps=16,
            label=str(n),
        )
        for n in (1, 2)
    ),
    *(
        Case(
            f"bessel_i{n}e",
            function,
            ONE,
            {},
            exactly(_scaled_bessel(n)),
            FLOATS,
            (-12, 12),
            special=False,
            ulps=16,
        )
        for n, function in enumerate((bessel.bessel_i0e, bessel.bessel_i1e))
    ),
)
