"""Forward and reverse mode agree on compositions of singular functions, to second order.

Where several paths lead from the argument to the inner value, reverse mode adds up what each
brings: an infinite slope of the outer function then gives inf - inf, where forward mode has
added first.  No rule of a primitive can know that, so there, and only there, they may differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp

Function = Callable[[Any], Any]

ONE_PATH: dict[str, Function] = {
    "sqrt": anp.sqrt,
    "log": anp.log,
    "log1p": anp.log1p,
    "cbrt": anp.cbrt,
    "abs": anp.abs,
    "sign": anp.sign,
    "floor": anp.floor,
    "reciprocal": lambda x: 1 / x,
    "rsqrt": ax.lax.rsqrt,
    "square": anp.square,
    "cube": lambda x: x**3,
    "x ** 0": lambda x: x**0.0,
    "x ** 0.5": lambda x: x**0.5,
    "x ** 1.5": lambda x: x**1.5,
    "2 ** x": lambda x: 2.0**x,
    "0 ** x": lambda x: 0.0**x,
    "exp": anp.exp,
    "expm1": anp.expm1,
    "tan": anp.tan,
    "tanh": anp.tanh,
    "arcsin": anp.arcsin,
    "arccos": anp.arccos,
    "arctan": anp.arctan,
    "arcsinh": anp.arcsinh,
    "arccosh": anp.arccosh,
    "arctanh": anp.arctanh,
    "softplus": ax.nn.softplus,
    "relu": ax.nn.relu,
    "clip": lambda x: anp.clip(x, -1.0, 1.0),
    "where": lambda x: anp.where(x > 0, anp.sqrt(x), 0.0),
    "remainder": lambda x: x % 2.0,
    "gammaln": ax.scipy.special.gammaln,
    "digamma": ax.scipy.special.digamma,
    "erf": ax.scipy.special.erf,
    "erfinv": ax.scipy.special.erfinv,
}


def _stacked(function: Function, *parts: Function) -> Function:
    return lambda x: function(anp.stack([part(x) for part in parts]))


def _same(x: Any) -> Any:
    return x


def _nothing(x: Any) -> Any:
    return 0 * x


SEVERAL_PATHS: dict[str, Function] = {
    "sigmoid": ax.nn.sigmoid,  # one path, but its slope sigmoid(x) * sigmoid(-x) has two
    "sinc": lambda x: anp.sinc(x / 7),
    "hypot(x, 0)": lambda x: anp.hypot(x, 0 * x),
    "hypot(x, x)": lambda x: anp.hypot(x, x),
    "arctan2(x, 0)": lambda x: anp.arctan2(x, 0 * x),
    "x ** x": lambda x: x**x,
    "x log x": lambda x: ax.scipy.special.xlogy(x, x),
    "logaddexp": lambda x: anp.logaddexp(x, 2 * x),
    "maximum": lambda x: anp.maximum(x, -x),
    "quotient": lambda x: (x - 1) / (x * x),
    "norm": _stacked(lambda v: anp.linalg.norm(v, axis=0), _same, anp.square),
    "std": _stacked(lambda v: anp.std(v, axis=0), _same, anp.square),
    "prod": _stacked(lambda v: anp.prod(v, axis=0), _same, lambda x: x - 1, _same),
    "cumprod": _stacked(lambda v: anp.sum(anp.cumprod(v, axis=0), axis=0), _same, anp.square),
    "logsumexp": _stacked(lambda v: ax.nn.logsumexp(v, axis=0), _same, anp.square, _nothing),
    "max": _stacked(lambda v: anp.max(v, axis=0), _same, anp.square, _nothing),
}
ALL = ONE_PATH | SEVERAL_PATHS
POINTS = np.array([-150.0, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 150.0])


def forward(function: Function) -> Function:
    """The derivative of an elementwise function, in forward mode."""
    return lambda x: ax.jvp(function, (x,), (anp.ones_like(x),))[1]


def reverse(function: Function) -> Function:
    """The derivative of an elementwise function, in reverse mode."""
    return lambda x: ax.vjp(function, x)[1](anp.ones_like(x))[0]


def slopes(function: Function) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """First derivatives in both modes, and second derivatives in all four combinations."""
    modes = (forward, reverse)
    first = [np.asarray(mode(function)(POINTS)) for mode in modes]
    second = [np.asarray(outer(inner(function))(POINTS)) for inner in modes for outer in modes]
    return first, second


def agree(derivatives: list[np.ndarray]) -> np.ndarray:
    """Where all equal the first: nan with nan, inf with inf, numbers up to rounding."""
    first = derivatives[0]
    with np.errstate(all="ignore"):
        return np.all(
            [
                (d == first)
                | (np.isnan(d) & np.isnan(first))
                | (np.abs(d - first) <= 1e-9 * (1 + np.abs(d) + np.abs(first)))
                for d in derivatives[1:]
            ],
            axis=0,
        )


def regular(inner: Function, outer: Function) -> np.ndarray:
    """Where both have finite slopes of both orders, and no more digits cancel than a few."""
    values = inner(anp.asarray(POINTS))
    derivatives = (
        values,
        *(mode(inner)(POINTS) for mode in (forward, lambda f: forward(forward(f)))),
        *(mode(outer)(values) for mode in (forward, lambda f: forward(forward(f)))),
    )
    return np.all([np.abs(np.asarray(d)) < 1e6 for d in derivatives], axis=0)


def explain(name: str, points: np.ndarray, derivatives: list[np.ndarray]) -> str:
    """The points where modes differ, with what each gives."""
    lines = [f"{name} at {x}: {row}" for x, *row in zip(POINTS, *derivatives, strict=True)]
    return "\n".join(line for line, wrong in zip(lines, points, strict=True) if wrong)


@pytest.mark.parametrize("inner", ONE_PATH)
def test_modes_agree_everywhere_on_functions_of_one_path(inner: str) -> None:
    for outer, function in ONE_PATH.items():
        composed = lambda x: function(ONE_PATH[inner](x))  # noqa: B023, E731
        for derivatives in slopes(composed):
            wrong = ~agree(derivatives)
            assert not wrong.any(), explain(f"{outer} of {inner}", wrong, derivatives)


@pytest.mark.slow
@pytest.mark.parametrize("inner", ALL)
def test_modes_agree_on_functions_of_several_paths_where_slopes_are_finite(inner: str) -> None:
    for outer, function in (ALL if inner in SEVERAL_PATHS else SEVERAL_PATHS).items():
        composed = lambda x: function(ALL[inner](x))  # noqa: B023, E731
        owed = regular(ALL[inner], function)
        for derivatives in slopes(composed):
            wrong = owed & ~agree(derivatives)
            assert not wrong.any(), explain(f"{outer} of {inner}", wrong, derivatives)


def test_compiled_modes_agree_as_well() -> None:
    inner, outer = ALL["arcsin"], ALL["sqrt"]
    composed = ax.jit(lambda x: outer(inner(x)))
    for derivatives in slopes(composed):
        assert agree(derivatives).all()
