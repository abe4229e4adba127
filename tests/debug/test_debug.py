"""`ax.debug.print` and `ax.debug.breakpoint`: what is written, and where."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors
from arrayx.debug.breakpoints import Quit

X = np.array([1.0, -2.5], np.float32)


@pytest.fixture(params=["numpy", "xla"])
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    with ax.default_backend(request.param):
        yield request.param


LINES = {
    "an array": (lambda x: ax.debug.print("x = {}", x), "x = [ 1.  -2.5]"),
    "by name": (lambda x: ax.debug.print("{a} {b}", a=x[0], b="text"), "1.0 text"),
    "a format of a number": (lambda x: ax.debug.print("{:.2f}|{:>4d}", x[1], 7), "-2.50|   7"),
    "a format of elements": (lambda x: ax.debug.print("{:.2f}", x), "[1.00 -2.50]"),
    "a tree": (
        lambda x: ax.debug.print("{}", {"a": x}),
        "{'a': array([ 1. , -2.5], dtype=float32)}",
    ),
    "a part": (lambda x: ax.debug.print("{0.shape} {0[1]}", x), "(2,) -2.5"),
    "unchecked": (lambda x: ax.debug.print("{}", x[0], 3, skip_format_check=True), "1.0"),
    "braces": (lambda x: ax.debug.print("{{}} {}", True, ordered=True), "{} True"),
}


@pytest.mark.parametrize("case", LINES)
def test_a_line_is_written(case: str, backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    call, line = LINES[case]
    call(anp.asarray(X))
    ax.jit(call)(X)
    assert capsys.readouterr().out == f"{line}\n{line}\n"


def test_each_element_of_a_batch_is_written(
    backend: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def f(x: Any) -> Any:
        ax.debug.print("{}", x)
        return x**2

    ax.jit(ax.vmap(ax.grad(f)))(X)
    assert capsys.readouterr().out == "1.0\n-2.5\n"


def test_a_log_goes_to_the_logger(backend: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "arrayx.debug"):
        ax.jit(lambda x: ax.debug.log("x = {}", x))(X)
    assert caplog.messages == ["x = [ 1.  -2.5]"]


MISTAKES = {
    "too few values": (lambda: ax.debug.print("{} {}", X), ["'{} {}'", "1 by position"]),
    "too many values": (lambda: ax.debug.print("{}", X, X), ["value number 1 is not used"]),
    "a name that is not there": (lambda: ax.debug.print("{a}", b=X), ["KeyError", "'b'"]),
    "an unused name": (lambda: ax.debug.print("x", b=X), ["'b' is not used"]),
    "no format": (lambda: ax.debug.print(X), ["format string first", 'print("{}", x)']),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_format_that_does_not_fit_is_refused_at_once(mistake: str) -> None:
    call, parts = MISTAKES[mistake]
    with pytest.raises(errors.ArgumentError) as caught:
        ax.jit(call)()
    for part in parts:
        assert part in str(caught.value)


def test_a_decorated_function_is_called_with_values(backend: str) -> None:
    seen = []

    @ax.debug.callback
    def direct() -> None:
        seen.append("direct")

    @ax.debug.callback(ordered=True)
    def note(x: Any, *, word: str) -> None:
        seen.append((word, float(x)))

    ax.jit(lambda x: note(x, word="x"))(3.0)
    assert seen == ["direct", ("x", 3.0)]


def test_a_breakpoint_shows_the_variables(backend: str) -> None:
    commands = io.StringIO("p y + 1\npp x\np nothing\nl\nw\nu\nd\n\nc\n")
    answers = io.StringIO()

    @ax.jit
    def f(x: Any) -> Any:
        y = x * 2
        ax.debug.breakpoint(stdin=commands, stdout=answers)
        return y

    assert f(X).tolist() == [2.0, -5.0]
    text = answers.getvalue()
    assert "test_debug.py" in text
    assert "array([ 3., -4.], dtype=float32)" in text
    assert "array([ 1. , -2.5], dtype=float32)" in text
    assert "NameError" in text
    assert "ax.debug.breakpoint(stdin=commands" in text


def test_a_breakpoint_can_end_the_program(backend: str) -> None:
    @ax.jit
    def f(x: Any) -> Any:
        ax.debug.breakpoint(stdin=io.StringIO("q\n"), stdout=io.StringIO())
        return x

    with pytest.raises(Quit):
        f(X)


def test_without_a_terminal_a_breakpoint_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        ax.debug.breakpoint()
        return x

    assert ax.jit(f)(X).tolist() == X.tolist()
    assert "no terminal to stop at" in capsys.readouterr().out
