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
from arrayx.control import hurwitz, incomplete_beta, incomplete_gamma
from arrayx.primitives import exponential_integrals, sine_integrals
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
