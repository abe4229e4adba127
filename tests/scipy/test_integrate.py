"""`odeint`: solutions, derivatives of both modes, bounds of steps, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate as theirs

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors
from arrayx.experimental.ode import odeint
from arrayx.scipy import integrate

TIMES = np.array([0.0, 0.5, 0.6, 2.0])


@pytest.fixture(autouse=True)
def wide() -> Any:
    with ax.config(default_dtype_bits=64):
        yield


def pendulum(y: Any, t: Any, damping: Any) -> Any:
    return anp.stack([y[1], -anp.sin(y[0]) - damping * y[1] + 0.1 * t])


def test_solutions_are_those_of_scipy() -> None:
    got = odeint(pendulum, np.array([1.0, 0.0]), TIMES, 0.3)
    want = theirs.odeint(
        lambda y, t: [y[1], -np.sin(y[0]) - 0.3 * y[1] + 0.1 * t],
        [1.0, 0.0],
        TIMES,
        rtol=1e-12,
        atol=1e-12,
    )
    np.testing.assert_allclose(np.asarray(got), want, atol=3e-8)
    swapped = integrate.odeint(
        lambda t, y, d: pendulum(y, t, d), np.array([1.0, 0.0]), TIMES, (0.3,), tfirst=True
    )
    np.testing.assert_array_equal(np.asarray(got), np.asarray(swapped))


def test_times_may_descend_and_states_be_trees() -> None:
    def turn(y: Any, t: Any) -> Any:
        return {"x": y["v"], "v": -y["x"]}

    start = {"x": np.array([[1.0, 2.0]]), "v": np.zeros((1, 2))}
    got = odeint(turn, start, -TIMES)
    assert got["x"].shape == (4, 1, 2)
    np.testing.assert_allclose(
        np.asarray(got["x"][:, 0]), np.cos(TIMES)[:, None] * [1, 2], atol=1e-7
    )
    wave = odeint(lambda y, t: 1j * y, 1.0 + 0j, TIMES)
    np.testing.assert_allclose(np.asarray(wave), np.exp(1j * TIMES), atol=1e-7)


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_derivatives_by_everything_agree_with_the_formula(backend: str) -> None:
    if backend == "xla":
        pytest.importorskip("jaxlib")
    # y(t) = y0 exp(-rate (t - t0))
    t = np.array([0.2, 1.0])

    def last(y0: Any, t: Any, rate: Any) -> Any:
        return odeint(lambda y, t, rate: -rate * y, y0, t, rate)[-1]

    want = (
        np.exp(-0.8 * 1.5),
        1.5 * 2 * np.exp(-0.8 * 1.5) * np.array([1, -1]),
        -0.8 * 2 * np.exp(-0.8 * 1.5),
    )
    with ax.default_backend(backend):
        backward = ax.jit(ax.grad(last, (0, 1, 2)))(2.0, t, 1.5)
        forward = ax.jit(ax.jacfwd(last, (0, 1, 2)))(2.0, t, 1.5)
    for got in (backward, forward):
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(np.asarray(a), b, rtol=1e-6)


def test_second_derivatives_and_batches() -> None:
    def last(rate: Any) -> Any:
        return odeint(lambda y, t: -rate * y, 1.0, np.array([0.0, 1.0]))[-1]

    rates = np.array([0.5, 4.0])
    got = ax.vmap(ax.grad(ax.grad(last)))(rates)
    np.testing.assert_allclose(np.asarray(got), np.exp(-rates), rtol=1e-5)


def test_what_does_not_arrive_is_nan() -> None:
    got = odeint(lambda y, t: y * y, 1.0, np.array([0.0, 0.5, 2.0, 3.0]))
    np.testing.assert_allclose(np.asarray(got[:2]), [1.0, 2.0], rtol=1e-6)
    assert np.isnan(np.asarray(got[2:])).all()
    few = odeint(lambda y, t: -50 * y, 1.0, np.array([0.0, 1.0]), mxstep=3)
    assert np.isnan(float(few[1]))


def test_tolerances_and_narrow_dtypes() -> None:
    t = np.array([0.0, 1.0])
    for tolerance in (1e-3, 1e-6, 1e-9):
        got = odeint(lambda y, t: -y, 1.0, t, rtol=tolerance, atol=tolerance)
        assert abs(float(got[1]) - np.exp(-1)) < 10 * tolerance
    narrow = odeint(lambda y, t: -y, np.float32(1), t.astype(np.float32))
    assert narrow.dtype == np.float32 and abs(float(narrow[1]) - np.exp(-1)) < 1e-5


MISTAKES = {
    "times of two axes": (
        lambda: odeint(lambda y, t: y, 1.0, np.ones((2, 2))),
        errors.ShapeError,
        "t is a vector of times",
    ),
    "a slope of another tree": (
        lambda: odeint(lambda y, t: (y, y), 1.0, TIMES),
        errors.ArgumentError,
        "structure of y0",
    ),
    "a slope of another shape": (
        lambda: odeint(lambda y, t: np.ones(2), 1.0, TIMES),
        errors.ShapeError,
        "shape of y0",
    ),
    "no function": (lambda: odeint(3, 1.0, TIMES), errors.NotCallableError, "odeint"),
    "args in no tuple": (
        lambda: integrate.odeint(lambda y, t, a: y, 1.0, TIMES, 2.0),
        errors.ArgumentError,
        "args is a tuple",
    ),
}


@pytest.mark.parametrize(("call", "kind", "words"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_named(call: Any, kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words):
        call()
