"""The plugin as arrayx finds it: installed, known by its entry point alone."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path
from typing import Any

import arrayx_python
import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.backend import core_set
from arrayx.conformance.checks import CHECKS
from arrayx.conformance.table import cases

SOURCE = Path(arrayx_python.__file__).read_text()
ROWS = [case for case in cases() if {case.name, *case.covers} & set(core_set())]


def lines_of_code(source: str) -> int:
    """Lines that hold something besides comments and docstrings."""
    held: set[int] = set()
    layout = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in (*layout, tokenize.ENDMARKER):
            held.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            text = node.body[0]
            held.difference_update(range(text.lineno, (text.end_lineno or 0) + 1))
    return len(held)


def test_every_core_primitive_takes_at_most_300_lines() -> None:
    code, everything = lines_of_code(SOURCE), len(SOURCE.splitlines())
    print(f"\narrayx_python.py: {code} lines of code, {everything} in all")
    assert code <= 300
    assert lines_of_code('"""Doc."""\n\n# note\nx = """a\nb"""\ndef f():\n    """Doc."""\n') == 3
    assert ax.backends.capabilities("python").missing == {}


def test_numpy_is_used_at_the_borders_alone() -> None:
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.FunctionDef) and node.name not in ("put", "get"):
            names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            assert "np" not in names, node.name
    x = ax.device_put(np.ones((2, 3), np.float32), "python")
    assert type(x.buffer.flat) is list and type((x + 1).buffer.flat[0]) is float


def test_it_is_known_by_its_entry_point_and_in_order() -> None:
    assert "python" in ax.backends.names()
    (record,) = [r for r in ax.backends.doctor() if r.name == "python"]
    assert record.state == "ready", record
    assert record.origin == "arrayx_python of arrayx-python 0.1.0"


def test_programs_run_on_it() -> None:
    def loss(w: Any, x: Any) -> Any:
        return anp.mean(anp.logaddexp(0.0, -anp.tanh(x @ w)))

    w, x = np.linspace(-1, 1, 3), np.arange(12.0).reshape(4, 3)
    wanted = ax.grad(loss)(w, x)
    got = ax.jit(ax.grad(loss), backend="python")(w, x)
    assert str(got.device) == "python:cpu:0"
    np.testing.assert_allclose(got, wanted, rtol=1e-12)
    with ax.default_backend("python"):
        draws = ax.random.normal(ax.random.key(0), (3,))
        sums = ax.lax.fori_loop(0, 4, lambda i, v: v + i, anp.zeros(2))
    np.testing.assert_allclose(draws, ax.random.normal(ax.random.key(0), (3,)), rtol=1e-6)
    assert sums.tolist() == [6.0, 6.0]


@pytest.mark.parametrize("case", ROWS, ids=lambda case: case.id)
def test_every_row_of_the_core_set_has_the_right_values_and_derivatives(case: Any) -> None:
    """The suite's own runner does every check, in every dtype."""
    for check in CHECKS:
        if check.name not in ("value", "dot_product"):
            continue
        wanted = check.dtypes(case)
        for dtype in wanted if check.name == "value" else wanted[:1]:
            try:
                check.function(case, dtype, "python")
            except ax.errors.UnsupportedDtypeError as refusal:
                assert "float8" in str(refusal), refusal
