"""Kernel densities and the normal distribution of vectors, against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import arrayx as ax
from arrayx import errors
from arrayx.scipy import stats as ours

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(2, 50))
PLACES = RNG.normal(size=(2, 5))
WEIGHTS = RNG.random(50)


@pytest.mark.parametrize("more", [{}, {"bw_method": "silverman"}, {"bw_method": 0.3}])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_kernel_densities_agree_with_scipy(more: Any, weights: Any) -> None:
    got = ours.gaussian_kde(POINTS, weights=weights, **more)
    want = stats.gaussian_kde(POINTS, weights=weights, **more)
    np.testing.assert_allclose(got(PLACES), want(PLACES), rtol=1e-10)
    np.testing.assert_allclose(got.logpdf(PLACES), want.logpdf(PLACES), rtol=1e-10)
    np.testing.assert_allclose(got.integrate_kde(got), want.integrate_kde(want), rtol=1e-10)
    args = np.zeros(2), np.eye(2)
    np.testing.assert_allclose(
        got.integrate_gaussian(*args), want.integrate_gaussian(*args), rtol=1e-10
    )
    assert got.resample(ax.random.key(0), (3,)).shape == (2, 3)


def test_a_kernel_density_is_an_argument_of_transformed_functions() -> None:
    density = ours.gaussian_kde(POINTS[0])
    want = stats.gaussian_kde(POINTS[0])
    got = ax.jit(lambda d, x: d(x))(density, PLACES[0])
    np.testing.assert_allclose(got, want(PLACES[0]), rtol=1e-10)
    np.testing.assert_allclose(
        density.integrate_box_1d(-1.0, 1.0), want.integrate_box_1d(-1, 1), rtol=1e-10
    )
    slope = ax.grad(lambda points: ours.gaussian_kde(points)(np.zeros(1))[0])(POINTS[0])
    assert np.isfinite(np.asarray(slope)).all()


def test_kernel_densities_refuse_what_does_not_fit() -> None:
    density = ours.gaussian_kde(POINTS)
    for call, text in (
        (lambda: ours.gaussian_kde(np.zeros(1)), "dataset must be a matrix"),
        (lambda: ours.gaussian_kde(POINTS, "best"), "bw_method is"),
        (lambda: ours.gaussian_kde(POINTS, weights=np.ones(3)), "weights must have shape"),
        (lambda: density(np.zeros((3, 2))), "columns of length 2"),
        (lambda: density.integrate_box_1d(0, 1), "on the line"),
    ):
        with pytest.raises((errors.ShapeError, errors.ArgumentError), match=text):
            call()


def test_the_normal_distribution_of_vectors_agrees_with_scipy() -> None:
    mean, cov = np.array([1.0, 2.0]), np.array([[2.0, 0.5], [0.5, 1.0]])
    x = PLACES.T
    want = stats.multivariate_normal.logpdf(x, mean, cov)
    np.testing.assert_allclose(ours.multivariate_normal.logpdf(x, mean, cov), want, rtol=1e-12)
    np.testing.assert_allclose(ours.multivariate_normal.pdf(x, mean, cov), np.exp(want), rtol=1e-12)
    np.testing.assert_allclose(
        ours.multivariate_normal.logpdf(x, mean, 2.0),
        stats.multivariate_normal.logpdf(x, mean, 2.0),
        rtol=1e-12,
    )
    with pytest.raises(errors.ShapeError, match=r"a matrix of shape \(2, 2\)"):
        ours.multivariate_normal.logpdf(x, mean, np.eye(3))
