"""Derivatives at kinks, ties and poles, where mathematics leaves them open or has none."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import arrayx as ax
import arrayx.numpy as anp

INF = math.inf
Values = tuple[Any, ...]


class Row(NamedTuple):
    """A convention: a function of `x` (and `y`) as text, a point, and the derivatives there."""

    name: str
    function: str
    point: Values
    derivatives: Values

    def callable(self) -> Any:
        """The function itself."""
        names = ", ".join("xy"[: len(self.point)])
        return eval(f"lambda {names}: {self.function}", {"ax": ax, "anp": anp})

    def numbers(self) -> tuple[int, ...]:
        """The positions of the arguments: all of them are differentiated."""
        return tuple(range(len(self.point)))


TABLE = [
    Row("abs at 0 is flat", "anp.abs(x)", (0.0,), (0.0,)),
    Row("sign is flat everywhere", "anp.sign(x)", (0.0,), (0.0,)),
    Row("round is flat everywhere", "anp.round(x)", (2.5,), (0.0,)),
    Row("a tie of maximum gives each a half", "anp.maximum(x, y)", (2.0, 2.0), (0.5, 0.5)),
    Row("a tie of minimum gives each a half", "anp.minimum(x, y)", (2.0, 2.0), (0.5, 0.5)),
    Row("a tie with a constant gives a half", "anp.maximum(x, 0.0)", (0.0,), (0.5,)),
    Row("relu at 0 is flat", "ax.nn.relu(x)", (0.0,), (0.0,)),
    Row("a tie of max is shared", "anp.max(x)", ([1.0, 3.0, 3.0],), ([0.0, 0.5, 0.5],)),
    Row("a tie of min is shared", "anp.min(x)", ([1.0, 1.0, 3.0],), ([0.5, 0.5, 0.0],)),
    Row(
        "a tie of cummax is shared so far",
        "ax.lax.cummax(x)",
        ([1.0, 1.0],),
        ([[1.0, 0.0], [0.5, 0.5]],),
    ),
    Row(
        "a tie in a window is shared",
        "ax.lax.reduce_window(x, -anp.inf, ax.lax.max, (2,))",
        ([1.0, 1.0, 0.0],),
        ([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]],),
    ),
    Row(
        "a tie of at max is shared",
        "anp.asarray([1.0, 2.0]).at[anp.asarray([0, 0])].max(x)",
        ([3.0, 3.0],),
        ([[0.5, 0.5], [0.0, 0.0]],),
    ),
    Row("clip inside is the identity", "anp.clip(x, 0.0, 1.0)", (0.3,), (1.0,)),
    Row("clip on a bound gives a half", "anp.clip(x, 0.0, 1.0)", (1.0,), (0.5,)),
    Row("clip outside is flat", "anp.clip(x, 0.0, 1.0)", (4.0,), (0.0,)),
    Row("clip below is flat", "anp.clip(x, 0.0, 1.0)", (-4.0,), (0.0,)),
    Row("clip shares with its bound", "anp.clip(x, y, 1.0)", (0.0, 0.0), (0.5, 0.5)),
    Row(
        "sort is stable at ties",
        "anp.sort(x)",
        ([2.0, 1.0, 1.0],),
        ([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],),
    ),
    Row("median takes the places of sort", "anp.median(x)", ([1.0, 1.0, 1.0],), ([0.0, 1.0, 0.0],)),
    Row("norm at 0 is flat", "anp.linalg.norm(x)", ([0.0, 0.0],), ([0.0, 0.0],)),
    Row("norm of order 3 at 0 is flat", "anp.linalg.norm(x, 3)", ([0.0, 0.0],), ([0.0, 0.0],)),
    Row(
        "a tie of the maximum norm is shared",
        "anp.linalg.norm(x, anp.inf)",
        ([2.0, -2.0, 1.0],),
        ([0.5, -0.5, 0.0],),
    ),
    Row("std of equal numbers is flat", "anp.std(x)", ([1.0, 1.0],), ([0.0, 0.0],)),
    Row("hypot at the origin is flat", "anp.hypot(x, y)", (0.0, 0.0), (0.0, 0.0)),
    Row("sinc at 0 is flat", "anp.sinc(x)", (0.0,), (0.0,)),
    Row("logsumexp leaves -inf out", "ax.nn.logsumexp(x)", ([-INF, 0.0],), ([0.0, 1.0],)),
    Row("logsumexp of -inf alone is flat", "ax.nn.logsumexp(x)", ([-INF, -INF],), ([0.0, 0.0],)),
    Row("logsumexp of inf follows it", "ax.nn.logsumexp(x)", ([INF, 0.0],), ([1.0, 0.0],)),
    Row("logsumexp shares a tie of inf", "ax.nn.logsumexp(x)", ([INF, INF],), ([0.5, 0.5],)),
    Row(
        "logsumexp leaves weights of 0 out",
        "ax.nn.logsumexp(x, b=anp.asarray([0.0, 1.0]))",
        ([1000.0, 0.0],),
        ([0.0, 1.0],),
    ),
    Row("logsumexp does not overflow", "ax.nn.logsumexp(x)", ([1000.0, 0.0],), ([1.0, 0.0],)),
    Row("logaddexp leaves -inf out", "anp.logaddexp(x, y)", (0.0, -INF), (1.0, 0.0)),
    Row("logaddexp of inf follows it", "anp.logaddexp(x, y)", (INF, 0.0), (1.0, 0.0)),
    Row("a tie of inf gives each a half", "anp.logaddexp(x, y)", (INF, INF), (0.5, 0.5)),
    Row("logaddexp2 of inf follows it", "anp.logaddexp2(x, y)", (0.0, INF), (0.0, 1.0)),
    Row("a tie of logaddexp gives each a half", "anp.logaddexp(x, y)", (-INF, -INF), (0.5, 0.5)),
    Row("sqrt at 0 is steep", "anp.sqrt(x)", (0.0,), (INF,)),
    Row("sqrt of a square at 0 is flat", "anp.sqrt(x ** 2)", (0.0,), (0.0,)),
    Row("log at 0 is steep", "anp.log(x)", (0.0,), (INF,)),
    Row("cbrt at 0 is steep", "anp.cbrt(x)", (0.0,), (INF,)),
    Row("arctan2 at the origin has none", "anp.arctan2(x, y)", (0.0, 0.0), (math.nan, math.nan)),
    Row("0 to the power 0 is flat", "x ** y", (0.0, 0.0), (0.0, 0.0)),
    Row("0 to the power 1 has slope 1", "x ** y", (0.0, 1.0), (1.0, 0.0)),
    Row("0 to the power 2 is flat", "x ** y", (0.0, 2.0), (0.0, 0.0)),
    Row("0 to the power one half is steep", "x ** 0.5", (0.0,), (INF,)),
    Row("a negative base has a slope", "x ** y", (-2.0, 3.0), (12.0, math.nan)),
    Row("prod at one zero", "anp.prod(x)", ([0.0, 2.0, 3.0],), ([6.0, 0.0, 0.0],)),
    Row("prod at two zeros", "anp.prod(x)", ([0.0, 0.0, 3.0],), ([0.0, 0.0, 0.0],)),
    Row(
        "cumprod at a zero",
        "anp.cumprod(x)",
        ([2.0, 0.0, 3.0],),
        ([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 6.0, 0.0]],),
    ),
    Row("where drops a root", "anp.where(x > 0, anp.sqrt(x), 0.0)", (0.0,), (0.0,)),
    Row("where drops a logarithm", "anp.where(x > 0, anp.log(x), 0.0)", (-1.0,), (0.0,)),
    Row("where drops a quotient", "anp.where(x == 0, 1.0, anp.sin(x) / x)", (0.0,), (0.0,)),
    Row("arccos of what was clipped", "anp.arccos(anp.clip(x, -1.0, 1.0))", (2.0,), (0.0,)),
    Row("a sigmoid whose exp overflows", "1 / (1 + anp.exp(-x))", (-150.0,), (0.0,)),
    Row("a sigmoid far to the right", "ax.nn.sigmoid(x)", (50.0,), (math.exp(-50.0),)),
    Row("expm1 far to the left", "anp.expm1(x)", (-50.0,), (math.exp(-50.0),)),
    Row("a true 0 times inf is hidden", "anp.log(anp.exp(x))", (-200.0,), (0.0,)),
]


def agree(got: Any, expected: Any) -> bool:
    """Whether derivatives are those of a row: small ones by their own size too."""
    found, wanted = np.asarray(got, np.float64), np.asarray(expected, np.float64)
    room = np.where(wanted == 0, 1e-7, 1e-6 * np.abs(wanted))
    with np.errstate(invalid="ignore"):
        near = (found == wanted) | (np.abs(found - wanted) <= room)
    return bool(np.all(near | (np.isnan(found) & np.isnan(wanted))))
