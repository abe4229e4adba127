"""Least squares of polynomials and their roots, against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp

X = np.linspace(-1.0, 2.0, 8)
Y = np.array([0.3, -0.2, 0.5, 0.9, 1.4, 0.8, 0.1, -1.0])
W = np.linspace(0.5, 1.5, 8)


@pytest.fixture(autouse=True)
def wide() -> Any:
    with ax.config(default_dtype_bits=64):
        yield


def close(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("degree", [0, 1, 3])
@pytest.mark.parametrize("weights", [None, W], ids=["equal", "weighted"])
@pytest.mark.parametrize("y", [Y, np.stack([Y, Y[::-1]], 1)], ids=["one", "two"])
def test_fits_are_those_of_numpy(degree: int, weights: Any, y: Any) -> None:
    close(anp.polyfit(X, y, degree, w=weights), np.polyfit(X, y, degree, w=weights))
    ours = anp.polyfit(X, y, degree, w=weights, full=True)
    theirs = np.polyfit(X, y, degree, w=weights, full=True)
    for a, b in zip(ours, theirs, strict=True):
        close(a.reshape(np.shape(b)), b)
    for scaled in (True, "unscaled"):
        ours = anp.polyfit(X, y, degree, w=weights, cov=scaled)
        theirs = np.polyfit(X, y, degree, w=weights, cov=scaled)
        for a, b in zip(ours, theirs, strict=True):
            close(np.broadcast_to(np.asarray(a), b.shape), b)


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_a_fit_is_compiled_and_differentiated(backend: str) -> None:
    if backend == "xla":
        pytest.importorskip("jaxlib")
    with ax.default_backend(backend):
        fit = ax.jit(lambda y: anp.polyfit(X, y, 2))
        close(fit(anp.asarray(Y)), np.polyfit(X, Y, 2))
        jacobian = np.asarray(ax.jacobian(fit)(anp.asarray(Y)))
    # A fit is linear in y.
    close(jacobian @ Y, np.polyfit(X, Y, 2))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: anp.polyfit(X, Y, -1), "degree is negative"),
        (lambda: anp.polyfit(X, Y[:3], 1), "x has 8 points"),
        (lambda: anp.polyfit(X.reshape(2, 4), Y, 1), "x must be a vector"),
        (lambda: anp.polyfit(X, Y, 1, w=W[:2]), "one weight for each of 8"),
        (lambda: anp.polyfit(X[:2], Y[:2], 1, cov=True), "more than 2 points"),
        (lambda: anp.roots(np.ones((2, 2))), "p must be a vector"),
    ],
)
def test_what_does_not_fit_is_named(call: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


POLYNOMIALS = [
    [1.0, -6.0, 11.0, -6.0],
    [2.0, 0.0, 2.0],
    [0.0, 0.0, 1.0, -3.0, 2.0, 0.0],
    [1.0, 2.0],
    [3.0],
    [0.0, 0.0],
    [],
    [1.0, 0.0, 0.0],
]


@pytest.mark.parametrize("p", POLYNOMIALS, ids=str)
@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_roots_are_those_of_numpy(p: list[float], backend: str) -> None:
    if backend == "xla":
        pytest.importorskip("jaxlib")
    with ax.default_backend(backend):
        got = anp.roots(np.array(p, np.float64))
    assert got.dtype == np.complex128
    close(anp.sort_complex(got), np.sort_complex(np.roots(np.array(p))))


def test_roots_of_known_length_are_compiled_and_move_with_the_coefficients() -> None:
    p = np.array([1.0, -3.0, 2.0])

    def larger(p: Any) -> Any:
        return anp.max(anp.real(anp.roots(p, strip_zeros=False)))

    assert abs(float(ax.jit(larger)(p)) - 2.0) < 1e-12
    slope = np.asarray(ax.grad(larger)(anp.asarray(p)))
    # dx = -(x² da + x db + dc) / p'(x) at x = 2, where p' is 1.
    close(slope, [-4.0, -2.0, -1.0])
    with pytest.raises(ax.errors.ConcretizationError, match="strip_zeros="):
        ax.jit(anp.roots)(p)
