"""`trace_nans`: the first operation that makes a nan, wherever it runs, and in which pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.errors import NanError


def loss(x: Any) -> Any:
    y = anp.sqrt(x)
    return anp.sum(y * y)


LINE = loss.__code__.co_firstlineno + 1
BAD = np.array([1.0, -4.0, 9.0], np.float32)

# Programs that take a root of a negative number in `loss`.
PROGRAMS = {
    "eager": loss,
    "jit": ax.jit(loss),
    "jit in jit": ax.jit(lambda x: ax.jit(loss)(x) + 1),
    "grad": ax.grad(loss),
    "grad of jit": ax.grad(ax.jit(loss)),
    "vmap": lambda x: ax.vmap(loss)(x[:, None]),
    "jvp": lambda x: ax.jvp(loss, (x,), (x,)),
    "scan": lambda x: ax.lax.scan(lambda c, e: (c + loss(e), None), 0.0, x)[0],
    "fori_loop": lambda x: ax.lax.fori_loop(0, 2, lambda i, c: c + loss(x), 0.0),
    "while_loop": lambda x: ax.lax.while_loop(lambda c: c < 1, lambda c: c + 1 + loss(x), 0.0),
    "cond": lambda x: ax.lax.cond(x[0] > 0, loss, lambda x: 0.0, x),
    "batched cond": lambda x: ax.vmap(lambda e: ax.lax.cond(e < 0, loss, lambda e: e, e))(x),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_the_operation_and_its_line_are_named(name: str, backend: str) -> None:
    with (
        ax.default_backend(backend),
        pytest.raises(NanError, match=rf"sqrt made nan\n  at: .*test_nans\.py:{LINE} \(loss\)"),
        ax.debug.trace_nans(),
    ):
        PROGRAMS[name](BAD)


def test_the_value_and_the_place_are_shown() -> None:
    with pytest.raises(NanError) as caught, ax.debug.trace_nans():
        loss(BAD)
    lines = str(caught.value).splitlines()
    assert lines[2:] == [
        "  of: float32[3], there -4.0",
        "  1 of 3 elements are nan, the first at (1,)",
    ]


def test_the_backward_pass_is_named() -> None:
    @ax.custom_vjp
    def wild(x: Any) -> Any:
        return x

    wild.defvjp(lambda x: (x, x), lambda x, ct: (ct * anp.log(x),))
    with (
        pytest.raises(NanError, match=r"log made nan\n  at: .*test_nans\.py"),
        ax.debug.trace_nans(),
    ):
        ax.grad(lambda x: anp.sum(wild(x)))(BAD)

    def cancelling(x: Any) -> Any:
        return anp.sum(anp.sqrt(x) - anp.sqrt(x))

    with pytest.raises(NanError, match=r"backward pass"), ax.debug.trace_nans():
        ax.grad(cancelling)(np.zeros(2, np.float32))


def test_what_makes_no_nan_runs_as_ever() -> None:
    good = np.array([1.0, 4.0, 9.0], np.float32)
    for name, program in PROGRAMS.items():
        expected = ax.tree.leaves(program(good))
        with ax.debug.trace_nans():
            found = ax.tree.leaves(program(good))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, err_msg=name)


def test_a_nan_that_was_given_is_nobody_s_fault() -> None:
    with ax.debug.trace_nans():
        assert np.isnan(loss(np.array([1.0, np.nan])))


def test_a_branch_that_is_not_taken_is_not_looked_at() -> None:
    with ax.debug.trace_nans():
        ax.lax.cond(False, loss, lambda x: anp.sum(x), BAD)


def test_products_that_zeros_absorbed_are_reported_with_their_line() -> None:
    def hidden(x: Any) -> Any:
        return anp.log(anp.exp(x))

    with ax.debug.trace_nans() as report:
        assert float(ax.grad(hidden)(-200.0)) == 0.0
    (text,) = report.absorbed
    line = hidden.__code__.co_firstlineno + 1
    assert f"test_nans.py:{line} (" in text and "backward pass" in text
    with ax.debug.trace_nans() as report:
        ax.grad(hidden)(1.0)
    assert report.absorbed == [] and str(report) == "no zero absorbed an inf or nan"


def test_afterwards_nothing_is_watched() -> None:
    with ax.debug.trace_nans():
        pass
    assert np.isnan(loss(BAD))
