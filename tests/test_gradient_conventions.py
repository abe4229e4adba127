"""Derivatives at kinks, ties and poles: the table that docs/gradients.md shows, row by row.

`python tests/test_gradient_conventions.py` writes the table into the page again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.config import config
from arrayx.conformance.conventions import TABLE, Row, Values, agree

PAGE = Path(__file__).parent.parent / "docs" / "gradients.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"

IDS = [row.name for row in TABLE]


def installed_backends() -> list[str]:
    """The backends that the table is checked on."""
    return [name for name in ("numpy", "xla") if ax.backends.installed(name)]


def check(found: Values, row: Row) -> None:
    for derivative, expected in zip(found, row.derivatives, strict=True):
        assert agree(derivative, expected), f"{row.name}: {derivative}, expected {expected}"


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
