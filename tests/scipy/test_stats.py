"""One table of distributions, each function checked against SciPy's of the same name."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
from scipy import special as scipy_special
from scipy import stats

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors
from arrayx.primitives import bessel
from arrayx.scipy import special
from arrayx.scipy import stats as ours

REAL = np.float32([-3.1, -1.0, -0.2, 0.0, 0.4, 1.0, 2.5, 7.0])
UNIT = np.float32([0.05, 0.2, 0.5, 0.9])
WHOLE = np.int32([-1, 0, 1, 2, 3, 5])
ALL = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")

# distribution, functions, places, parameters
ROWS: list[tuple[str, tuple[str, ...], np.ndarray, tuple[Any, ...]]] = [
    ("norm", ALL, REAL, (0.5, 2.0)),
    ("logistic", ("pdf", "logpdf", "cdf", "sf", "ppf", "isf"), REAL, (0.5, 2.0)),
    ("laplace", ("pdf", "logpdf", "cdf"), REAL, (0.5, 2.0)),
    ("cauchy", ALL, REAL, (0.5, 2.0)),
    ("t", ("pdf", "logpdf"), REAL, (3.0, 0.5, 2.0)),
    ("gumbel_r", ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf"), REAL, (0.5, 2.0)),
    ("gumbel_l", ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf"), REAL, (0.5, 2.0)),
    ("gennorm", ("pdf", "logpdf", "cdf"), REAL, (1.5,)),
    ("expon", ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf"), REAL, (0.5, 2.0)),
    ("gamma", ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"), REAL, (2.5, 0.5, 2.0)),
    ("chi2", ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"), REAL, (3.0, 0.5, 2.0)),
    ("pareto", ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf"), REAL, (2.5, 0.5, 0.7)),
    ("uniform", ("pdf", "logpdf", "cdf", "ppf"), REAL, (-0.5, 2.0)),
    ("beta", ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"), REAL, (2.5, 1.5, -0.5, 3.0)),
    ("truncnorm", ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"), REAL, (-1.0, 2.0, 0.5, 1.5)),
    ("truncnorm", ("logpdf", "logcdf"), REAL + 8, (7.1, 9.1, 0.0, 1.0)),
    ("vonmises", ("pdf", "logpdf"), REAL, (1.7,)),
    ("wrapcauchy", ("pdf", "logpdf"), REAL, (0.4,)),
    ("bernoulli", ("pmf", "logpmf", "cdf"), WHOLE, (0.3,)),
    ("poisson", ("pmf", "logpmf", "cdf"), WHOLE, (2.5,)),
    ("geom", ("pmf", "logpmf"), WHOLE, (0.3,)),
    ("binom", ("pmf", "logpmf"), WHOLE, (3, 0.3)),
    ("nbinom", ("pmf", "logpmf"), WHOLE, (3, 0.3)),
    ("betabinom", ("pmf", "logpmf"), WHOLE, (3, 1.5, 0.7)),
]
CASES = [(d, f, x, p) for d, fs, x, p in ROWS for f in fs]
IDS = [f"{d}.{f}" for d, f, _, _ in CASES]


def places(function: str, x: np.ndarray) -> np.ndarray:
    return UNIT if function in ("ppf", "isf") else x


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(("name", "function", "x", "parameters"), CASES, ids=IDS)
def test_distributions_agree_with_scipy(
    name: str, function: str, x: np.ndarray, parameters: tuple[Any, ...]
) -> None:
    x = places(function, x)
    call = getattr(getattr(ours, name), function)
    want = getattr(getattr(stats, name), function)(x.astype(np.float64), *parameters)
    got = call(x, *parameters)
    assert got.dtype == np.float32
    np.testing.assert_allclose(np.asarray(got), want, rtol=2e-4, atol=2e-6)
    np.testing.assert_allclose(np.asarray(ax.jit(call)(x, *parameters)), want, rtol=2e-4, atol=2e-6)
    # One element for each parameter: they are mapped and broadcast together.
    mapped = ax.vmap(lambda v: call(v, *parameters))(x)
    np.testing.assert_allclose(np.asarray(mapped), np.asarray(got), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "function", "x", "parameters"),
    [c for c in CASES if c[1] in ("logpdf", "logpmf")],
    ids=[f"{c[0]}.{c[1]}" for c in CASES if c[1] in ("logpdf", "logpmf")],
)
def test_gradients_of_log_densities_are_those_of_differences_and_never_nan(
    name: str, function: str, x: np.ndarray, parameters: tuple[Any, ...]
) -> None:
    call = getattr(getattr(ours, name), function)
    y = anp.asarray(x.astype(np.float64))
    given = [np.float64(p) for p in parameters]
    for i in range(len(given)):
        if name in ("binom", "betabinom", "nbinom", "uniform", "truncnorm", "beta") and i != 1:
            continue  # a support that moves has no slope at its ends

        def total(p: Any, i: int = i) -> Any:
            value = call(y, *given[:i], p, *given[i + 1 :])
            return anp.where(anp.isfinite(value), value, 0.0).sum()

        if name == "binom" and i == 0:
            continue
        slope = float(ax.grad(total)(given[i]))
        step = 1e-5
        want = (float(total(given[i] + step)) - float(total(given[i] - step))) / (2 * step)
        assert np.isfinite(slope)
        np.testing.assert_allclose(slope, want, rtol=1e-4, atol=1e-4)


def test_dirichlet_and_multinomial_agree_with_scipy() -> None:
    alpha = np.float32([1.5, 2.0, 0.7])
    x = np.float32([[0.2, 0.5], [0.3, 0.1], [0.5, 0.4]])
    shares = x.astype(np.float64) / x.astype(np.float64).sum(0)
    want = [stats.dirichlet.logpdf(shares[:, j], alpha) for j in (0, 1)]
    np.testing.assert_allclose(np.asarray(ours.dirichlet.logpdf(x, alpha)), want, rtol=1e-4)
    np.testing.assert_allclose(np.asarray(ours.dirichlet.logpdf(x[:2], alpha)), want, rtol=1e-4)
    np.testing.assert_allclose(np.asarray(ours.dirichlet.pdf(x, alpha)), np.exp(want), rtol=1e-4)
    assert float(ours.dirichlet.logpdf(np.float32([0.9, 0.9, 0.9]), alpha)) == -np.inf
    with pytest.raises(errors.ShapeError, match="as many rows, or one less"):
        ours.dirichlet.logpdf(x, alpha[:1])
    p = np.float32([0.2, 0.3, 0.5])
    counts = np.array([[1, 2, 0], [0, 0, 3], [1, 1, 2]])
    np.testing.assert_allclose(
        np.asarray(ours.multinomial.logpmf(counts, 3, p)),
        stats.multinomial.logpmf(counts, 3, [0.2, 0.3, 0.5]),
        rtol=1e-4,
    )


@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
def test_ranks_agree_with_scipy(method: str) -> None:
    x = np.random.default_rng(0).integers(0, 4, (3, 5)).astype(np.float32)
    for axis in (None, 0, 1):
        want = stats.rankdata(x, method, axis=axis)
        got = ours.rankdata(x, method, axis=axis)
        np.testing.assert_array_equal(np.asarray(got), want)
        got = ax.jit(lambda v, axis=axis: ours.rankdata(v, method, axis=axis))(x)
        np.testing.assert_array_equal(np.asarray(got), want)
    assert np.isnan(np.asarray(ours.rankdata(np.float32([1, np.nan]), method))).all()
    with pytest.raises(errors.ArgumentError, match="method is one of"):
        ours.rankdata(x, "first")


def test_the_mode_and_the_error_of_the_mean_agree_with_scipy() -> None:
    x = np.random.default_rng(0).integers(0, 4, (3, 5)).astype(np.float32)
    for axis in (None, 0, 1):
        for keepdims in (False, True):
            got, want = (m.mode(x, axis, keepdims=keepdims) for m in (ours, stats))
            np.testing.assert_array_equal(np.asarray(got.mode), want.mode)
            np.testing.assert_array_equal(np.asarray(got.count), want.count)
        np.testing.assert_allclose(np.asarray(ours.sem(x, axis)), stats.sem(x, axis), rtol=1e-5)
    x[0, 0] = np.nan
    np.testing.assert_allclose(
        np.asarray(ours.sem(x, nan_policy="omit")), stats.sem(x, nan_policy="omit"), rtol=1e-5
    )


@pytest.mark.parametrize("name", ["i0", "i0e", "i1", "i1e"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_bessel_functions_agree_with_scipy_and_have_slopes(name: str, dtype: Any) -> None:
    x = np.array([-20, -7.9, -1, 0, 0.3, 8, 8.1, 10], dtype)
    if dtype is np.float16:
        x = x[1:-2]
    ours_, theirs = getattr(special, name), getattr(scipy_special, name)
    rtol = {np.float16: 4e-3, np.float32: 2e-6, np.float64: 1e-14}[dtype]
    got = ours_(x)
    assert got.dtype == dtype
    np.testing.assert_allclose(np.asarray(got), theirs(x.astype(np.float64)), rtol=rtol)
    if dtype is np.float64:
        step = 1e-6
        want = (theirs(x + step) - theirs(x - step)) / (2 * step)
        slope = ax.vmap(ax.grad(ours_))(x)
        np.testing.assert_allclose(np.asarray(slope), want, rtol=1e-6, atol=1e-7)


def test_bessel_functions_expand_into_chebyshev_sums() -> None:
    x = anp.asarray(np.linspace(-30, 30, 121))
    for primitive, theirs in (
        (bessel.bessel_i0e, scipy_special.i0e),
        (bessel.bessel_i1e, scipy_special.i1e),
    ):
        got = np.asarray(primitive.expand(x))
        np.testing.assert_allclose(got, theirs(np.asarray(x)), rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize("name", ["boxcox", "boxcox1p"])
def test_power_transforms_agree_with_scipy(name: str) -> None:
    x, power = np.array([0.2, 1.0, 3.0, 1e-9]), np.array([[0.0], [0.5], [-2.0]])
    ours_, theirs = getattr(special, name), getattr(scipy_special, name)
    np.testing.assert_allclose(np.asarray(ours_(x, power)), theirs(x, power), rtol=1e-12)
    slope = ax.grad(lambda v: ours_(v, power).sum())(x[:3])
    step = 1e-6
    want = (theirs(x[:3] + step, power) - theirs(x[:3] - step, power)).sum(0) / (2 * step)
    np.testing.assert_allclose(np.asarray(slope), want, rtol=1e-6)
    assert float(ours_(np.float32(2), 0)) == pytest.approx(float(theirs(2.0, 0.0)), rel=1e-6)


@pytest.mark.parametrize(
    "backend",
    [
        "numpy",
        pytest.param(
            "xla",
            marks=[
                pytest.mark.slow,  # second derivatives of nested loops, compiled one by one
                pytest.mark.skipif(
                    importlib.util.find_spec("jaxlib") is None,
                    reason="the xla backend needs jaxlib: pip install 'arrayx[xla]'",
                ),
            ],
        ),
    ],
)
@pytest.mark.parametrize("x", [np.inf, -np.inf])
@pytest.mark.parametrize("df", [3.0, *(pytest.param(n, marks=pytest.mark.slow) for n in (0.5, 40))])
def test_the_distribution_function_of_t_is_flat_at_infinity(
    x: float, df: float, backend: str
) -> None:
    at = np.float64(x), np.float64(df)
    with ax.default_backend(backend):
        value = ours.t.cdf(*at)
        first = ax.jacrev(ours.t.cdf, (0, 1))(*at)
        forward = ax.jacfwd(ours.t.cdf, (0, 1))(*at)
        second = ax.grad(ax.grad(ours.t.cdf))(*at)
        compiled = ax.jit(ax.grad(ours.t.cdf))(*at)
    assert float(value) == (1.0 if x > 0 else 0.0)
    np.testing.assert_array_equal(
        np.asarray([*first, *forward, second, compiled], dtype=np.float64), np.zeros(6)
    )
