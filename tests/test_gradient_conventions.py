"""Derivatives at kinks, ties and poles: the table that docs/gradients.md shows, row by row.

`python tests/test_gradient_conventions.py` writes the table into the page again.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.config import config

INF = math.inf
PAGE = Path(__file__).parent.parent / "docs" / "gradients.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
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
    Row("clip inside is the identity", "anp.clip(x, 0.0, 1.0)", (0.3,), (1.0,)),
    Row("clip on a bound gives a half", "anp.clip(x, 0.0, 1.0)", (1.0,), (0.5,)),
    Row("clip outside is flat", "anp.clip(x, 0.0, 1.0)", (4.0,), (0.0,)),
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
    Row("a true 0 times inf is hidden", "anp.log(anp.exp(x))", (-200.0,), (0.0,)),
]
IDS = [row.name for row in TABLE]


def installed_backends() -> list[str]:
    """The backends that the table is checked on."""
    return [name for name in ("numpy", "xla") if ax.backends.installed(name)]


def check(found: Values, row: Row) -> None:
    for derivative, expected in zip(found, row.derivatives, strict=True):
        np.testing.assert_allclose(np.asarray(derivative), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("row", TABLE, ids=IDS)
@pytest.mark.parametrize("jacobian", [ax.jacfwd, ax.jacrev], ids=["forward", "reverse"])
def test_derivative(jacobian: Any, row: Row) -> None:
    point = [np.asarray(x, np.float32) for x in row.point]
    check(jacobian(row.callable(), row.numbers())(*point), row)


@pytest.mark.filterwarnings("ignore::arrayx.errors.UnrolledLoopWarning")
@pytest.mark.parametrize("backend", installed_backends())
@pytest.mark.parametrize("jacobian", [ax.jacfwd, ax.jacrev], ids=["forward", "reverse"])
def test_compiled_programs_follow_the_whole_table(jacobian: Any, backend: str) -> None:
    # One program for all rows: a compilation each would take a minute.
    def derivatives(points: Any) -> Any:
        return [
            jacobian(row.callable(), row.numbers())(*point)
            for row, point in zip(TABLE, points, strict=True)
        ]

    points = [tuple(np.asarray(x, np.float32) for x in row.point) for row in TABLE]
    found = ax.jit(derivatives, backend=backend)(points)
    for row, derivative in zip(TABLE, found, strict=True):
        check(derivative, row)


def test_without_absorption_the_hidden_derivative_shows() -> None:
    f = lambda x: anp.log(anp.exp(x))  # noqa: E731
    with config(zeros_absorb=False):
        assert np.isnan(ax.grad(f)(-200.0)) or np.isinf(ax.grad(f)(-200.0))
        assert np.isnan(ax.grad(lambda x: anp.where(x > 0, anp.sqrt(x), 0.0))(0.0))
    assert float(ax.grad(f)(-200.0)) == 0.0


# ----------------------------------------------------------------- the page


def shown(values: Values) -> str:
    """Numbers as the table shows them."""
    return ", ".join(repr(v).replace(".0", "") for v in values)


def table() -> str:
    """The table of docs/gradients.md."""
    lines = ["| function | at | derivative | test |", "|---|---|---|---|"]
    for row in TABLE:
        at = ", ".join(
            f"{name} = {shown((value,))}" for name, value in zip("xy", row.point, strict=False)
        )
        link = f"[{row.name}](../tests/test_gradient_conventions.py)"
        lines.append(f"| `{row.function}` | {at} | {shown(row.derivatives)} | {link} |")
    return "\n".join(lines)


def test_the_page_shows_exactly_this_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.count(BEGIN) == text.count(END) == 1
    assert text.split(BEGIN)[1].split(END)[0].strip() == table()


def test_names_of_rows_are_different() -> None:
    assert len(set(IDS)) == len(IDS)


def write() -> None:
    """Puts the table into the page, between its two marks."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    write()
