"""Traces of jitted functions: what is told of them, what is logged, and what is warned of."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.errors import RetraceWarning, UnrolledLoopWarning


def made() -> Any:
    """A jitted function that nobody has called."""
    return ax.jit(lambda x, w, mode="a": anp.sum(x) * w["a"], static_argnames="mode")


X, W = np.ones(3, np.float32), {"a": np.float32(2)}

# (the second call, after f(X, W), and what is said of it)
SECOND = {
    "shape": (lambda f: f(np.ones(4, np.float32), W), "x was float32[3], is float32[4]"),
    "dtype": (lambda f: f(np.ones(3), W), "x was float32[3], is float64[3]"),
    "weak": (lambda f: f(X, {"a": 2.0}), "w['a'] was float32[], is float32[] (weak)"),
    "key": (lambda f: f(X, {**W, "b": 1.0}), "w['b'] is new"),
    "static": (lambda f: f(X, W, mode="b"), "static argument 'mode' was left out, is 'b'"),
    "axes": (lambda f: ax.vmap(lambda _: f(X, W), axis_name="i")(X), "the named axes were"),
}


@pytest.mark.parametrize("kind", SECOND)
def test_explain_names_what_differed(kind: str) -> None:
    f = made()
    f(X, W)
    call, text = SECOND[kind]
    call(f)
    lines = f.explain().splitlines()
    assert lines[0] == "<lambda> was traced 2 times"
    assert any(text in line for line in lines[2:]), f.explain()
    assert lines[-1].startswith("    -> ")
    assert "test_retraces.py" in lines[1] and "test_retraces.py" in lines[2]


def test_explain_names_the_setting_that_changed() -> None:
    f = made()
    f(X, W)
    with ax.config(zeros_absorb=False):
        f(X, W)
    assert "the setting config.zeros_absorb was True, is False" in f.explain()


def test_each_trace_is_compared_with_the_one_it_resembles_most() -> None:
    f = made()
    f(X, W)
    f(np.ones((2, 2)), W, mode="b")
    f(np.ones(4, np.float32), W)
    assert f.explain().splitlines()[-2] == "    x was float32[3], is float32[4]"


def test_a_function_without_calls_says_so() -> None:
    assert made().explain() == "<lambda> was not traced yet"


def test_calls_that_hit_the_cache_are_no_traces() -> None:
    f = made()
    for _ in range(20):
        f(X, W)
    assert f.explain().startswith("<lambda> was traced once\n")


def test_staging_for_its_type_is_no_trace_of_the_function() -> None:
    f = made()
    ax.eval_shape(f.__wrapped__, X, W)
    assert f.explain() == "<lambda> was not traced yet"


def test_recompiles_are_logged_where_asked(caplog: Any) -> None:
    f = made()
    with caplog.at_level(logging.WARNING, logger="arrayx"):
        f(X, W)
        with ax.log_recompiles():
            f(np.ones(4, np.float32), W)
        f(np.ones(5, np.float32), W)
    (record,) = caplog.records
    assert "x was float32[3], is float32[4]" in record.getMessage()


def test_five_retraces_from_one_line_are_warned_of_once() -> None:
    f = made()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(12):
            f(np.ones(n, np.float32), W)
    (warning,) = [w for w in caught if w.category is RetraceWarning]
    assert "was traced again 5 times by one line" in str(warning.message)
    assert "x was float32[4], is float32[5]" in str(warning.message)
    assert warning.filename == __file__


def test_jit_inside_a_loop_is_warned_of() -> None:
    with pytest.warns(RetraceWarning, match="each time <lambda> was a new function object"):
        for _ in range(6):
            ax.jit(lambda x: x + 1)(X)


def test_a_function_made_anew_for_each_shape_is_not_warned_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(12):
            ax.jit(lambda x: x + 1)(np.ones(n))


def test_different_lines_may_each_have_their_shape() -> None:
    f = made()
    warnings.simplefilter("error")
    f(np.ones(1), W)
    f(np.ones(2), W)
    f(np.ones(3), W)
    f(np.ones(4), W)
    f(np.ones(5), W)
    f(np.ones(6), W)
    f(np.ones(7), W)


def _repeated(times: int) -> Any:
    def function(x: Any) -> Any:
        for _ in range(times):
            x = x * 1.01
        return x

    return function


def test_a_long_loop_that_is_unrolled_is_warned_of_once_with_its_line() -> None:
    with pytest.warns(UnrolledLoopWarning, match=r"600 of the 601 equations.*lax\.scan") as caught:
        ax.jit(lambda x: _repeated(600)(x) + 1)(X)
        ax.jit(lambda x: _repeated(600)(x) + 2)(X)
    (warning,) = caught
    assert warning.filename == __file__
    assert warning.lineno == _repeated.__code__.co_firstlineno + 3


def test_a_long_program_of_many_lines_is_not_warned_of() -> None:
    ax.jit(lambda x: _repeated(499)(x) + 1)(X)
