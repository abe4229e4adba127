"""The straight-line program of the NumPy backend: its text, its buffers, its safety."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.core.interpreter import BASE, current
from arrayx.core.quiet import quietly


def text_of(fun: Any, *args: Any) -> str:
    return ax.jit(fun, backend="numpy").lower(*args).as_text()


def test_a_chain_of_ufuncs_works_in_one_buffer() -> None:
    text = text_of(lambda x: anp.sum(anp.sin(anp.cos(anp.exp(x)))), anp.ones(8))
    assert "out=b0" in text and "b1" not in text


def test_an_output_is_never_a_buffer_of_the_arena() -> None:
    f = ax.jit(lambda x: (anp.sin(x), anp.sin(x) + 1.0, anp.reshape(anp.sin(x), (2, 2))))
    first = f(anp.array([0.0, 1.0, 2.0, 3.0]))
    kept = [np.array(v) for v in first]
    f(anp.array([9.0, 9.0, 9.0, 9.0]))
    for value, before in zip(first, kept, strict=True):
        np.testing.assert_array_equal(value, before)


def test_an_operand_that_is_read_later_is_not_overwritten() -> None:
    def fun(x: Any) -> Any:
        y = anp.exp(x)
        z = anp.transpose(y)
        return anp.sin(y) + z, anp.cos(y)

    x = anp.asarray(np.random.default_rng(0).random((3, 3)))
    for _ in range(2):
        for got, expected in zip(ax.jit(fun)(x), fun(x), strict=True):
            np.testing.assert_array_equal(got, expected)


def test_inputs_stay_as_they_are() -> None:
    x = anp.arange(4.0)
    ax.jit(lambda v: anp.sin(v * 2.0 + 1.0))(x)
    np.testing.assert_array_equal(x, [0.0, 1.0, 2.0, 3.0])


def test_programs_run_in_several_threads_at_once() -> None:
    f = ax.jit(lambda x: anp.sin(anp.cos(x) * x) + anp.exp(-x))
    inputs = [anp.asarray(np.full(1000, float(i))) for i in range(4)]
    expected = [np.array(f(x)) for x in inputs]
    wrong = []

    def work(i: int) -> None:
        for _ in range(50):
            if not np.array_equal(f(inputs[i]), expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


@pytest.mark.parametrize("value", (complex("nan"), complex("inf"), complex(0.0, float("inf"))))
def test_complex_literals_may_be_infinite(value: complex) -> None:
    f = ax.jit(lambda x: anp.where(x == 0, value, x)[()], backend="numpy")
    got = complex(np.asarray(f(anp.asarray(np.array(0j)))))
    assert np.array_equal([got.real, got.imag], [value.real, value.imag], equal_nan=True)


def test_numpy_does_not_warn() -> None:
    x = anp.array([0.0, -1.0])
    for f in (lambda v: 1.0 / v, anp.log, anp.sqrt, lambda v: anp.exp(v * 1e10)):
        f(x)
        ax.jit(f)(x)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,)])
def test_every_shape_runs(shape: tuple[int, ...]) -> None:
    x = anp.zeros(shape)
    got = ax.jit(lambda v: anp.sin(v) * 2.0 + anp.sum(v))(x)
    assert got.shape == shape
    np.testing.assert_array_equal(got, np.zeros(shape))


def test_kernels_see_nothing_of_the_first_caller() -> None:
    seen = []

    def work() -> None:
        # The first kernel of this thread runs under a transformation and other settings.
        with ax.config(default_dtype_bits=64):
            ax.grad(anp.sin)(1.0)
        seen.append(quietly(lambda: (current.get() is BASE, ax.config.default_dtype_bits)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(True, 32)]
