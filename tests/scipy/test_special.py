"""Special functions with parameters: far ranges, edges, derivatives by parameters, refusals."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import special as theirs

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors, lax
from arrayx.control import bessel_orders, hurwitz, incomplete_beta, incomplete_gamma
from arrayx.primitives import cylinder, exponential_integrals, sine_integrals
from arrayx.scipy import special

SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.0)
# What stands in for a kernel on other backends, and SciPy's function of as many operands.
EXPANDED: dict[str, tuple[Any, Any, int]] = {
    "igamma": (incomplete_gamma.igamma, theirs.gammainc, 2),
    "igammac": (incomplete_gamma.igammac, theirs.gammaincc, 2),
    "betainc": (incomplete_beta.betainc, theirs.betainc, 3),
    "erfcx": (exponential_integrals.erfcx, theirs.erfcx, 1),
    "dawsn": (exponential_integrals.dawsn, theirs.dawsn, 1),
    "exp1": (exponential_integrals.exp1, theirs.exp1, 1),
    "expi": (exponential_integrals.expi, theirs.expi, 1),
    "owens_t": (exponential_integrals.owens_t, theirs.owens_t, 2),
    "sine_integral": (sine_integrals.sine_integral, lambda x: theirs.sici(x)[0], 1),
    "fresnel_sine": (sine_integrals.fresnel_sine, lambda x: theirs.fresnel(x)[0], 1),
    "fresnel_cosine": (sine_integrals.fresnel_cosine, lambda x: theirs.fresnel(x)[1], 1),
}


@pytest.mark.parametrize(("primitive", "truth", "count"), EXPANDED.values(), ids=EXPANDED.keys())
def test_expansions_have_the_edges_of_the_kernels(primitive: Any, truth: Any, count: int) -> None:
    columns = np.array(list(itertools.product(SPECIAL, repeat=count))).T
    got = np.asarray(ax.jit(primitive.expand)(*map(anp.asarray, columns)))
    with np.errstate(all="ignore"):
        want = truth(*columns)
    np.testing.assert_allclose(got, want, rtol=1e-12)


def far_gamma() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    a = 10 ** rng.uniform(-3, 6, 300)
    near = np.abs(a + 4 * rng.normal(size=300) * np.sqrt(a))
    return a, np.where(rng.random(300) < 0.5, near, a * 10 ** rng.uniform(-1, 1, 300))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_incomplete_gamma_functions_are_exact_from_tiny_to_huge_parameters(dtype: Any) -> None:
    a, x = (v.astype(dtype) for v in far_gamma())
    rtol = 3e-12 if dtype is np.float64 else 2e-3
    for primitive, truth in (
        (incomplete_gamma.igamma, theirs.gammainc),
        (incomplete_gamma.igammac, theirs.gammaincc),
    ):
        got = np.asarray(ax.jit(primitive.expand)(anp.asarray(a), anp.asarray(x)))
        want = truth(a.astype(np.float64), x.astype(np.float64))
        # SciPy's own tails lose digits far out, so only what matters is compared relatively.
        seen = want > 1e-12
        np.testing.assert_allclose(got[seen], want[seen], rtol=rtol)
        assert (got[~seen] < 2e-12).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_incomplete_beta_function_is_exact_for_tiny_and_huge_parameters(dtype: Any) -> None:
    rng = np.random.default_rng(1)
    a, b = (10 ** rng.uniform(-2, 5, 300) for _ in range(2))
    mean = a / (a + b)
    near = mean + 3 * rng.normal(size=300) * np.sqrt(mean * (1 - mean) / (a + b + 1))
    x = np.where(rng.random(300) < 0.5, rng.random(300), np.clip(near, 1e-6, 0.999))
    a, b, x = (v.astype(dtype) for v in (a, b, x))
    got = np.asarray(ax.jit(incomplete_beta.betainc.expand)(*map(anp.asarray, (a, b, x))))
    want = theirs.betainc(*(v.astype(np.float64) for v in (a, b, x)))
    seen = want > 1e-10
    rtol = 1e-11 if dtype is np.float64 else 2e-3
    np.testing.assert_allclose(got[seen], want[seen], rtol=rtol)


PARAMETERS: dict[str, tuple[Any, tuple[float, ...]]] = {
    "gammainc": (special.gammainc, (2.3, 1.7)),
    "gammainc of a large parameter": (special.gammainc, (50.0, 48.0)),
    "gammaincc": (special.gammaincc, (0.4, 2.5)),
    "betainc": (special.betainc, (2.3, 0.7, 0.3)),
    "zeta": (special.zeta, (2.5, 1.3)),
    "hyp1f1": (special.hyp1f1, (1.3, 2.1, -0.7)),
    "hyp2f1": (special.hyp2f1, (1.3, 0.6, 2.1, 0.4)),
    "betaln": (special.betaln, (2.5, 30.0)),
    "owens_t": (special.owens_t, (0.7, 1.4)),
}


@pytest.mark.parametrize(("function", "at"), PARAMETERS.values(), ids=PARAMETERS.keys())
def test_every_parameter_has_derivatives_to_second_order(function: Any, at: Any) -> None:
    operands = tuple(anp.asarray(np.float64(v)) for v in at)
    ax.check_grads(function, operands, order=2, rtol=1e-4, atol=1e-4)


def test_derivatives_by_parameters_are_mapped_and_compiled() -> None:
    a, x = np.array([0.5, 2.0, 40.0]), np.array([0.3, 3.0, 38.0])
    slope = ax.vmap(ax.grad(special.gammainc))
    by_hand = (theirs.gammainc(a + 1e-6, x) - theirs.gammainc(a - 1e-6, x)) / 2e-6
    np.testing.assert_allclose(slope(a, x), by_hand, rtol=1e-6)
    np.testing.assert_allclose(ax.jit(slope)(a, x), by_hand, rtol=1e-6)
    np.testing.assert_allclose(lax.igamma_grad_a(a, x), by_hand, rtol=1e-6)


def test_derivatives_at_the_edges_are_finite() -> None:
    for function, at in (
        (special.gammainc, (2.0, 0.0)),
        (special.gammaincc, (2.0, np.inf)),
        (special.betainc, (2.0, 3.0, 0.0)),
        (special.betainc, (2.0, 3.0, 1.0)),
        (special.dawsn, (0.0,)),
        (special.spence, (1.0,)),
    ):
        for i in range(len(at)):
            slope = ax.grad(function, i)(*map(np.float64, at))
            assert np.isfinite(np.asarray(slope)), (function, at, i)


def test_expn_says_that_its_order_has_no_derivative() -> None:
    assert float(ax.grad(special.expn, 1)(2, np.float64(1.5))) == pytest.approx(
        -theirs.expn(1, 1.5)
    )
    with pytest.raises(errors.GradError, match="no derivative in its order n"):
        ax.grad(special.expn)(np.float64(2.0), np.float64(1.5))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats_are_computed_as_float32(dtype: str) -> None:
    x = anp.asarray(np.float32([0.5, 1.5, 3.0])).astype(dtype)
    got = special.gammainc(x, x)
    assert got.dtype == ax.dtypes.as_dtype(dtype)
    exact = theirs.gammainc(*(np.asarray(x).astype(np.float64),) * 2)
    np.testing.assert_allclose(np.asarray(got).astype(np.float64), exact, rtol=5e-3)


def test_sequences_refuse_what_is_no_order() -> None:
    for call, text in (
        (lambda: special.bernoulli(-1), "n must be a Python integer"),
        (lambda: special.bessel_jn(1.0, v=-1), "v must be a Python integer"),
        (lambda: special.bessel_jn(1.0, v=3, n_iter=3), "n_iter must be a Python integer above"),
        (lambda: special.sph_harm_y(1, 0, 0.0, 0.0, diff_n=1), "diff_n is not offered"),
        (lambda: special.gammainc(1j, 2.0), "must be real"),
    ):
        with pytest.raises((ValueError, TypeError), match=text):
            call()


def test_bessel_functions_are_right_at_zero_and_near_it() -> None:
    z = np.array([0.0, 1e-8, 0.3, -7.0])
    got = np.asarray(special.bessel_jn(z, v=4))
    np.testing.assert_allclose(got, [theirs.jv(k, z) for k in range(5)], rtol=1e-12, atol=1e-18)
    slope = ax.vmap(ax.grad(lambda x: special.bessel_jn(x, v=1)[1]))(np.array([0.0, 0.3]))
    np.testing.assert_allclose(slope, theirs.jvp(1, [0.0, 0.3]), rtol=1e-10)


def test_zeta_is_riemanns_without_a_second_argument() -> None:
    assert float(special.zeta(np.float64(3.0))) == pytest.approx(theirs.zeta(3.0))
    s = np.array([1.001, 2.0, 30.0])
    got = np.asarray(hurwitz.zeta.expand(anp.asarray(s), anp.asarray(np.full(3, 3.0))))
    np.testing.assert_allclose(got, theirs.zeta(s, 3.0), rtol=1e-13)


def orders_and_arguments() -> tuple[np.ndarray, np.ndarray]:
    """Pairs from every range that has a way of its own, borders and whole orders among them."""
    rng = np.random.default_rng(3)
    ranges = ((0.5, 2), (3, 25), (3, 100), (14, 60), (60, 60), (60, 400), (600, 800))
    orders = np.concatenate([rng.uniform(0, v, 60) for v, _ in ranges])
    points = np.concatenate([rng.uniform(1e-3, x, 60) for _, x in ranges])
    orders[::3] = np.round(orders[::3])
    points[1::7] = orders[1::7] + 1e-3
    borders = np.array([(v, x) for v in (0, 0.5, 1.5, 12, 8) for x in (2.0, 25.0, 30.0, 72.0)]).T
    return np.concatenate([orders, borders[0]]), np.concatenate([points, borders[1]])


@pytest.mark.parametrize("name", ["jv", "yv", "ive"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 6e-13), (np.float32, 6e-5)])
def test_bessel_functions_of_any_order_are_those_of_scipy(
    name: str, dtype: Any, tolerance: float
) -> None:
    v, x = (a.astype(dtype) for a in orders_and_arguments())
    primitive = getattr(bessel_orders, f"bessel_{name}")
    got = np.asarray(ax.jit(primitive.expand)(anp.asarray(v), anp.asarray(x))).astype(float)
    wide = v.astype(float), x.astype(float)
    want = getattr(theirs, name)(*wide)
    # Where there is a wave, errors count beside its height.
    wave = np.where(v < x, np.hypot(theirs.jv(*wide), theirs.yv(*wide)), 0)
    size = np.abs(want) if name == "ive" else np.maximum(np.abs(want), wave)
    held = (size > 1e3 * np.finfo(dtype).tiny) & (size < np.finfo(dtype).max / 2)
    assert held.sum() > 300
    assert np.max(np.abs(got[held] - want[held]) / size[held]) < tolerance


@pytest.mark.parametrize("name", ["j0", "j1", "y0", "y1"])
def test_bessel_functions_of_orders_0_and_1_are_exact_near_and_far(name: str) -> None:
    x = np.concatenate([10.0 ** np.linspace(-8, 0, 40), np.linspace(1, 60, 200)])
    got = np.asarray(ax.jit(getattr(cylinder, f"bessel_{name}").expand)(anp.asarray(x)))
    want = getattr(theirs, name)(x)
    height = np.minimum(1.0, np.sqrt(2 / (np.pi * x)))
    np.testing.assert_array_less(np.abs(got - want), 4e-15 * (np.abs(want) + height))


EDGES = (0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 3.0, -3.0, np.inf, np.nan)


@pytest.mark.parametrize("name", ["jv", "yv", "ive"])
def test_bessel_functions_reflect_and_end_as_the_kernels_do(name: str) -> None:
    v, x = np.array(list(itertools.product(EDGES[:-2], EDGES[:-2]))).T
    primitive = getattr(bessel_orders, f"bessel_{name}")
    got = np.asarray(ax.jit(primitive.expand)(anp.asarray(v), anp.asarray(x)))
    want = np.asarray(primitive(anp.asarray(v), anp.asarray(x)))
    finite = np.isfinite(want)
    np.testing.assert_allclose(got[finite], want[finite], rtol=1e-12, atol=1e-14)
    assert np.array_equal(np.isnan(got), np.isnan(want))


def test_bessel_functions_have_no_derivative_by_their_order() -> None:
    for function in (special.jv, special.yv, special.iv, special.ive):
        with pytest.raises(errors.UnsupportedError, match="no derivative by their order"):
            ax.grad(function)(1.5, 2.0)
        with ax.config(default_dtype_bits=64):
            ax.check_grads(lambda x, f=function: f(1.5, x), (2.0,), order=3)


def test_the_slope_of_a_bessel_function_at_0_is_its_limit() -> None:
    for order, slope in ((0.0, 0.0), (1.0, 0.5), (2.0, 0.0)):
        assert float(ax.grad(lambda x, v=order: special.jv(v, x))(0.0)) == slope
        assert float(ax.grad(lambda x, v=order: special.iv(v, x))(0.0)) == slope
    assert float(ax.grad(special.j1)(0.0)) == 0.5 and float(ax.grad(special.j0)(0.0)) == 0.0


def test_the_inverse_of_erfc_keeps_the_digits_of_small_numbers() -> None:
    p = 10.0 ** np.arange(-300.0, 0.0, 13)
    np.testing.assert_allclose(np.asarray(special.erfcinv(p)), theirs.erfcinv(p), rtol=2e-15)
    ends = np.asarray(special.erfcinv(np.array([0.0, 2.0, -0.1, 2.1])))
    np.testing.assert_array_equal(ends, [np.inf, -np.inf, np.nan, np.nan])


def test_the_reciprocal_of_gamma_has_zeros_with_slopes() -> None:
    slopes = ax.vmap(ax.grad(special.rgamma))(np.array([0.0, -1.0, -2.0, -3.0]))
    np.testing.assert_allclose(np.asarray(slopes), [1.0, -1.0, 2.0, -6.0], rtol=1e-14)
    x = np.linspace(-6.3, 20, 101)
    np.testing.assert_allclose(np.asarray(special.rgamma(x)), theirs.rgamma(x), rtol=3e-15 * 10)


def test_error_functions_of_complex_numbers_are_those_of_scipy_everywhere() -> None:
    rng = np.random.default_rng(0)
    z = (rng.uniform(-4, 4, 400) + 1j * rng.uniform(-4, 4, 400)) * rng.choice([0.1, 0.5, 1], 400)
    for name in ("erf", "erfc"):
        want = getattr(theirs, name)(z)
        np.testing.assert_allclose(np.asarray(getattr(special, name)(z)), want, rtol=3e-14)
        slope = ax.grad(getattr(special, name), holomorphic=True)(0.5 + 0.2j)
        sign = 1 if name == "erf" else -1
        np.testing.assert_allclose(
            complex(slope), sign * 2 / np.sqrt(np.pi) * np.exp(-((0.5 + 0.2j) ** 2)), rtol=1e-6
        )
