"""Rows of functions that are solutions of equations, and of the barrier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import arrayx.numpy as anp
from arrayx.conformance.case import ANY
from arrayx.conformance.public import public

DTYPES = ("float32", "float64")


def quotient(function: Callable[..., Any], a: Any, b: Any) -> Any:
    """b / a as the solution of a x = b."""
    return function(lambda x: a * x, b, lambda matvec, right: right / a, symmetric=True)


def cube_root(function: Callable[..., Any], a: Any) -> Any:
    """The cube root as the root of x³ - a, by Newton's method."""

    def solve(f: Any, x: Any) -> Any:
        for _ in range(12):
            x = x - f(x) / (3 * x * x)
        return x

    return function(lambda x: x * x * x - a, a * 0 + 1, solve, lambda g, y: y / g(anp.ones_like(y)))


CASES = (
    public("lax.optimization_barrier", ((2, 3),), reference=lambda x: x, dtypes=ANY),
    public(
        "lax.custom_linear_solve",
        ((2, 3), (2, 3)),
        reference=lambda matvec, b, solve, symmetric: solve(matvec, b),
        dtypes=DTYPES,
        domain=(0.5, 3.0),
        form=quotient,
    ),
    public(
        "lax.custom_root",
        ((2, 3),),
        reference=lambda f, guess, solve, tangent_solve: solve(f, guess),
        dtypes=DTYPES,
        domain=(0.5, 3.0),
        form=cube_root,
        ulps=32,
    ),
)
