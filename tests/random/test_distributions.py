"""Distributions: their moments and ranges, their derivatives, and that transformations agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from scipy import stats

import arrayx as ax
import arrayx.numpy as anp
from arrayx import random

MANY = 20_000

# Name → draws of a shape from a key, and SciPy's distribution function.
CONTINUOUS: dict[str, tuple[Callable[..., Any], Any]] = {
    "uniform": (random.uniform, stats.uniform()),
    "uniform between": (lambda k, s: random.uniform(k, s, None, -2.0, 3.0), stats.uniform(-2, 5)),
    "normal": (random.normal, stats.norm()),
    "exponential": (random.exponential, stats.expon()),
    "gumbel": (random.gumbel, stats.gumbel_r()),
    "gumbel high": (lambda k, s: random.gumbel(k, s, mode="high"), stats.gumbel_r()),
    "laplace": (random.laplace, stats.laplace()),
    "cauchy": (random.cauchy, stats.cauchy()),
    "logistic": (random.logistic, stats.logistic()),
    "truncated normal": (
        lambda k, s: random.truncated_normal(k, -0.5, 2.0, s),
        stats.truncnorm(-0.5, 2.0),
    ),
    "lognormal": (lambda k, s: random.lognormal(k, 0.5, s), stats.lognorm(0.5)),
    "pareto": (lambda k, s: random.pareto(k, 2.0, s), stats.pareto(2.0)),
    "rayleigh": (lambda k, s: random.rayleigh(k, 2.0, s), stats.rayleigh(scale=2.0)),
    "weibull": (
        lambda k, s: random.weibull_min(k, 2.0, 3.0, s),
        stats.weibull_min(3.0, scale=2.0),
    ),
    "triangular": (
        lambda k, s: random.triangular(k, -1.0, 0.5, 3.0, s),
        stats.triang(0.375, -1.0, 4.0),
    ),
    "wald": (lambda k, s: random.wald(k, 2.0, s), stats.invgauss(2.0)),
    "maxwell": (random.maxwell, stats.maxwell()),
    "double sided maxwell": (
        lambda k, s: abs((random.double_sided_maxwell(k, 1.0, 2.0, s) - 1.0) / 2.0),
        stats.maxwell(),
    ),
    "gamma": (lambda k, s: random.gamma(k, 2.5, s), stats.gamma(2.5)),
    "gamma below 1": (lambda k, s: random.gamma(k, 0.3, s), stats.gamma(0.3)),
    "loggamma": (lambda k, s: random.loggamma(k, 0.7, s), stats.loggamma(0.7)),
    "chisquare": (lambda k, s: random.chisquare(k, 3.0, s), stats.chi2(3.0)),
    "beta": (lambda k, s: random.beta(k, 0.5, 2.0, s), stats.beta(0.5, 2.0)),
    "f": (lambda k, s: random.f(k, 3.0, 5.0, s), stats.f(3.0, 5.0)),
    "t": (lambda k, s: random.t(k, 3.0, s), stats.t(3.0)),
    "generalized normal": (
        lambda k, s: random.generalized_normal(k, 3.0, s),
        stats.gennorm(3.0),
    ),
}
DISCRETE: dict[str, Callable[..., Any]] = {
    "randint": lambda k, s: random.randint(k, s, -3, 11),
    "randint of arrays": lambda k, s: random.randint(k, s, np.int32(-3), np.int32(11)),
    "bernoulli": lambda k, s: random.bernoulli(k, 0.3, s),
    "bernoulli high": lambda k, s: random.bernoulli(k, 0.3, s, mode="high"),
    "rademacher": random.rademacher,
    "geometric": lambda k, s: random.geometric(k, 0.3, s),
    "choice": lambda k, s: random.choice(k, 5, s),
    "weighted choice": lambda k, s: random.choice(k, 3, s, p=np.float32([0.2, 0.3, 0.5])),
    "categorical": lambda k, s: random.categorical(k, np.float32([0.0, 1.0, 2.0]), shape=s),
    "permutation": lambda k, s: random.permutation(k, int(np.prod(s))).reshape(s),
    "poisson": lambda k, s: random.poisson(k, 3.5, s),
    "poisson of many": lambda k, s: random.poisson(k, 35.0, s),
    "binomial": lambda k, s: random.binomial(k, 10, 0.3, s),
    "binomial of many": lambda k, s: random.binomial(k, 100, 0.7, s),
    "complex normal": lambda k, s: random.normal(k, s, np.complex64),
}
ALL = {**{name: f for name, (f, _) in CONTINUOUS.items()}, **DISCRETE}


@pytest.mark.parametrize(("draw", "law"), CONTINUOUS.values(), ids=CONTINUOUS.keys())
def test_draws_follow_their_law(draw: Callable[..., Any], law: Any) -> None:
    x = np.asarray(draw(random.key(17), (MANY,)), np.float64)
    assert stats.kstest(x, law.cdf).pvalue > 1e-3


@pytest.mark.parametrize("draw", ALL.values(), ids=ALL.keys())
def test_compiled_and_mapped_draws_equal_those_of_a_loop(draw: Callable[..., Any]) -> None:
    keys = random.split(random.key(4), 3)
    one = [np.asarray(draw(k, (2, 5))) for k in keys]
    for got in (
        ax.vmap(lambda k: draw(k, (2, 5)))(keys),
        ax.jit(ax.vmap(lambda k: draw(k, (2, 5))))(keys),
        anp.stack([ax.jit(lambda k: draw(k, (2, 5)))(k) for k in keys]),
    ):
        got = np.asarray(got)
        assert got.dtype == one[0].dtype and got.shape == (3, 2, 5)
        if got.dtype.kind in "fc":
            np.testing.assert_allclose(got, np.stack(one), rtol=1e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(got, np.stack(one))


@pytest.mark.parametrize("draw", ALL.values(), ids=ALL.keys())
def test_different_keys_give_different_draws(draw: Callable[..., Any]) -> None:
    first, second = (np.asarray(draw(random.key(i), (64,))) for i in (0, 1))
    assert (first != second).any()


@pytest.mark.parametrize("bits", [32, 64])
def test_the_default_dtype_is_that_of_the_settings(bits: int) -> None:
    with ax.config(default_dtype_bits=bits):
        for draw, _ in CONTINUOUS.values():
            assert draw(random.key(0), (2,)).dtype == np.dtype(f"float{bits}")
        assert random.randint(random.key(0), (2,), 0, 9).dtype == np.dtype(f"int{bits}")
        assert random.bits(random.key(0), (2,)).dtype == np.dtype(f"uint{bits}")
        assert random.rademacher(random.key(0), (2,)).dtype == np.dtype(f"int{bits}")
        assert random.permutation(random.key(0), 3).dtype == np.dtype(f"int{bits}")
        assert random.choice(random.key(0), 3).dtype == np.dtype(f"int{bits}")
        assert random.bernoulli(random.key(0)).dtype == np.dtype(bool)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
def test_floating_dtypes_are_honoured_and_ranges_kept(dtype: str) -> None:
    key = random.key(8)
    for draw in (random.uniform, random.normal, random.exponential, random.gumbel):
        x = draw(key, (500,), dtype)
        assert x.dtype == ax.dtypes.as_dtype(dtype)
        assert np.isfinite(np.asarray(x).astype(np.float64)).all()
    x = np.asarray(random.uniform(key, (5000,), dtype)).astype(np.float64)
    assert x.min() >= 0.0 and x.max() < 1.0
    # All numbers are multiples of the distance between the dtype's numbers below 1, doubled.
    step = float(ml_dtypes.finfo(ax.dtypes.as_dtype(dtype)).eps)
    assert (x / step == np.round(x / step)).all()


def test_empty_and_scalar_shapes_are_right() -> None:
    for draw in ALL.values():
        assert draw(random.key(0), (0, 3)).shape == (0, 3)
    for draw, _ in CONTINUOUS.values():
        assert draw(random.key(0), ()).shape == ()
    assert random.uniform(random.key(0), 3).shape == (3,)
    assert random.uniform(random.key(0), [2, np.int64(3)]).shape == (2, 3)


def test_uniform_is_differentiable_in_its_bounds() -> None:
    key = random.key(2)
    share = np.asarray(random.uniform(key, (3,)))

    def total(low: Any, high: Any) -> Any:
        return random.uniform(key, (3,), minval=low, maxval=high).sum()

    low, high = ax.grad(total, argnums=(0, 1))(anp.float32(1.0), anp.float32(3.0))
    np.testing.assert_allclose(low, (1 - share).sum(), rtol=1e-5)
    np.testing.assert_allclose(high, share.sum(), rtol=1e-5)


def test_truncated_normal_is_differentiable_in_its_bounds() -> None:
    key = random.key(2)

    def total(low: Any, high: Any) -> Any:
        return random.truncated_normal(key, low, high, (4,), np.float64).sum()

    low, high = anp.asarray(np.float64(-1.0)), anp.asarray(np.float64(0.5))
    ax.check_grads(total, (low, high), order=1)


def test_truncated_normal_stays_inside_its_interval() -> None:
    for low, high in ((-1.0, 1.0), (3.0, 3.5), (-6.0, -5.9)):
        x = np.asarray(random.truncated_normal(random.key(0), low, high, (2000,)))
        assert (x > low).all() and (x < high).all()


def test_integers_cover_their_range_evenly() -> None:
    x = np.asarray(random.randint(random.key(0), (MANY,), -3, 11))
    counts = np.bincount(x + 3, minlength=14)
    assert len(counts) == 14
    assert stats.chisquare(counts).pvalue > 1e-3


def test_bounds_of_randint_may_be_traced_arrays() -> None:
    low, high = np.array([0, 5, -9], np.int32), np.array([1, 9, 100], np.int32)
    f = ax.jit(lambda a, b: random.randint(random.key(1), (50, 3), a, b))
    x = np.asarray(f(low, high))
    assert (x >= low).all() and (x < high).all()
    for i in range(3):
        same = random.randint(random.key(1), (50, 3), int(low[i]), int(high[i]))
        np.testing.assert_array_equal(x[:, i], np.asarray(same)[:, i])


def test_coins_fall_with_their_probability() -> None:
    p = np.float32([0.0, 0.1, 0.5, 1.0])
    share = np.asarray(random.bernoulli(random.key(0), p, (MANY, 4))).mean(axis=0)
    np.testing.assert_allclose(share, p, atol=0.02)
    assert share[0] == 0.0 and share[3] == 1.0


def test_permutations_hold_every_element_once() -> None:
    for n in (1, 2, 50, 3000):
        order = np.asarray(random.permutation(random.key(n), n))
        np.testing.assert_array_equal(np.sort(order), np.arange(n))
    table = np.arange(12).reshape(4, 3)
    rows = np.asarray(random.permutation(random.key(0), table))
    assert sorted(map(tuple, rows)) == sorted(map(tuple, table))
    mixed = np.asarray(random.permutation(random.key(0), table, axis=1, independent=True))
    np.testing.assert_array_equal(np.sort(mixed, axis=1), table)


def test_keys_can_be_permuted() -> None:
    keys = random.split(random.key(0), 5)
    order = np.asarray(random.permutation(random.key(1), 5))
    mixed = random.permutation(random.key(1), keys)
    np.testing.assert_array_equal(random.key_data(mixed), np.asarray(random.key_data(keys))[order])


def test_choices_follow_their_probabilities() -> None:
    p = np.float32([0.5, 0.0, 0.2, 0.3])
    drawn = np.asarray(random.choice(random.key(0), 4, (MANY,), p=p))
    np.testing.assert_allclose(np.bincount(drawn, minlength=4) / MANY, p, atol=0.02)
    without = np.asarray(random.choice(random.key(0), 4, (3,), replace=False, p=p))
    assert sorted(without) == [0, 2, 3]


def test_choices_without_replacement_are_different() -> None:
    drawn = np.asarray(random.choice(random.key(0), 100, (10, 9), replace=False))
    assert len(np.unique(drawn)) == 90


def test_categories_follow_their_logits() -> None:
    p = np.float32([[0.1, 0.2, 0.7], [0.6, 0.4, 0.0]])
    with np.errstate(divide="ignore"):
        logits = np.log(p)
    drawn = np.asarray(random.categorical(random.key(0), logits, shape=(MANY, 2)))
    for row in range(2):
        share = np.bincount(drawn[:, row], minlength=3) / MANY
        np.testing.assert_allclose(share, p[row], atol=0.02)


def test_complex_normal_draws_have_unit_variance() -> None:
    z = np.asarray(random.normal(random.key(0), (MANY,), np.complex64))
    assert abs(np.mean(np.abs(z) ** 2) - 1.0) < 0.03
    assert abs(np.mean(z.real * z.imag)) < 0.02


COUNTS: dict[str, tuple[Callable[..., Any], Any]] = {
    "poisson": (lambda k, s: random.poisson(k, 3.5, s), stats.poisson(3.5)),
    "poisson of many": (lambda k, s: random.poisson(k, 35.0, s), stats.poisson(35.0)),
    "binomial": (lambda k, s: random.binomial(k, 10, 0.3, s), stats.binom(10, 0.3)),
    "binomial of many": (lambda k, s: random.binomial(k, 100, 0.7, s), stats.binom(100, 0.7)),
    "multinomial": (
        lambda k, s: random.multinomial(k, 12, np.float32([0.2, 0.5, 0.3]), shape=(*s, 3))[:, 1],
        stats.binom(12, 0.5),
    ),
}


@pytest.mark.parametrize(("draw", "law"), COUNTS.values(), ids=COUNTS.keys())
def test_counts_follow_their_law(draw: Callable[..., Any], law: Any) -> None:
    x = np.asarray(draw(random.key(23), (MANY,))).astype(np.int64)
    low, high = (int(law.ppf(q)) for q in (0.001, 0.999))
    seen = np.bincount(np.clip(x, low, high) - low, minlength=high - low + 1)
    chances = law.pmf(np.arange(low, high + 1))
    chances[0], chances[-1] = law.cdf(low), law.sf(high - 1)
    assert stats.chisquare(seen, MANY * chances / chances.sum()).pvalue > 1e-3


def test_counts_at_the_ends_of_their_parameters() -> None:
    key = random.key(0)
    lam = np.float32([0.0, np.nan, -1.0])
    np.testing.assert_array_equal(random.poisson(key, lam), [0, -1, -1])
    n, p = np.float32([5, 5, 0, -1, np.nan, 5]), np.float32([0, 1, 0.5, 0.5, 0.5, 1.5])
    np.testing.assert_array_equal(random.binomial(key, n, p), [0, 5, 0, np.nan, np.nan, np.nan])
    counts = random.multinomial(key, 9, np.float32([0.5, 0.0, 0.5]), shape=(4, 3))
    np.testing.assert_array_equal(counts.sum(-1), 9.0)
    assert (np.asarray(counts)[:, 1] == 0).all()


@pytest.mark.parametrize("a", [0.05, 0.8, 1.0, 3.0, 60.0])
def test_the_derivative_of_a_gamma_number_keeps_its_probability(a: float) -> None:
    key = random.key(6)
    x, slope = ax.jvp(
        lambda v: random.gamma(key, v, (9,), np.float64), (np.float64(a),), (np.float64(1.0),)
    )
    x, step = np.asarray(x), 1e-5 * a
    moved = [stats.gamma.ppf(stats.gamma.cdf(x, a), a + s) for s in (step, -step)]
    want = (moved[0] - moved[1]) / (2 * step)
    np.testing.assert_allclose(slope, want, rtol=1e-4, atol=1e-9)
    mapped = ax.vmap(ax.grad(lambda v: random.gamma(key, v, (9,), np.float64).sum()))
    got = ax.jit(mapped)(np.array([a, 2 * a]))
    np.testing.assert_allclose(np.asarray(got)[0], np.asarray(slope).sum(), rtol=1e-9)


def test_logarithms_of_tiny_gamma_numbers_have_a_derivative() -> None:
    slope = ax.grad(lambda a: random.loggamma(random.key(1), a, (20,)).sum())(np.float32(1e-3))
    assert np.isfinite(np.asarray(slope)) and float(slope) > 1e5


def test_shares_sum_to_one_and_follow_their_means() -> None:
    alpha = np.float32([0.2, 1.0, 3.0])
    x = np.asarray(random.dirichlet(random.key(0), alpha, (MANY // 4,)))
    np.testing.assert_allclose(x.sum(-1), 1.0, rtol=1e-5)
    np.testing.assert_allclose(x.mean(0), alpha / alpha.sum(), atol=0.01)


@pytest.mark.parametrize("method", ["cholesky", "eigh", "svd"])
def test_random_vectors_have_their_mean_and_covariance(method: str) -> None:
    mean, cov = np.float32([1, -2]), np.float32([[2, 0.5], [0.5, 1]])
    x = np.asarray(random.multivariate_normal(random.key(0), mean, cov, (MANY,), method=method))
    np.testing.assert_allclose(x.mean(0), mean, atol=0.05)
    np.testing.assert_allclose(np.cov(x.T), cov, atol=0.08)


@pytest.mark.parametrize(("n", "m"), [(3, 3), (4, 2), (2, 4)])
def test_orthogonal_matrices_are_orthogonal(n: int, m: int) -> None:
    for dtype in (np.float32, np.complex64):
        q = np.asarray(random.orthogonal(random.key(0), n, (5,), dtype, m))
        assert q.shape == (5, n, m) and q.dtype == dtype
        q = q if n >= m else np.swapaxes(q, -1, -2)
        product = np.swapaxes(q.conj(), -1, -2) @ q
        np.testing.assert_allclose(
            product, np.broadcast_to(np.eye(min(n, m)), product.shape), atol=1e-5
        )


def test_points_of_a_ball_are_inside_and_spread_evenly() -> None:
    x = np.asarray(random.ball(random.key(0), 3, 2.0, (MANY // 4,)))
    radius = np.linalg.norm(x, axis=-1)
    assert stats.kstest(radius**3, stats.uniform().cdf).pvalue > 1e-3


@pytest.fixture
def xla() -> Any:
    pytest.importorskip("jaxlib")
    return ax.devices("xla")[0]


@pytest.mark.parametrize("draw", ALL.values(), ids=ALL.keys())
def test_the_xla_backend_gives_the_same_numbers(draw: Callable[..., Any], xla: Any) -> None:
    words = np.asarray(random.key_data(random.split(random.key(5), 2)))
    expected = np.asarray(ax.vmap(lambda k: draw(k, (2, 3)))(random.wrap_key_data(words)))
    keys = random.wrap_key_data(ax.device_put(words, xla))
    for got in (
        ax.jit(ax.vmap(lambda k: draw(k, (2, 3))))(keys),
        anp.stack([draw(k, (2, 3)) for k in keys]),
    ):
        assert got.device is xla
        if expected.dtype.kind in "fc":
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(got, expected)


REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "a shape that does not fit": (
        lambda k: random.gamma(k, np.ones(3, np.float32), (2,)),
        ValueError,
        r"gamma: a parameter of shape \(3,\) cannot be broadcast",
    ),
    "a complex parameter": (
        lambda k: random.poisson(k, 1j),
        TypeError,
        "poisson: lam must be real",
    ),
    "floating counts of poisson": (
        lambda k: random.poisson(k, 1.0, (2,), np.float32),
        TypeError,
        "poisson: the dtype must be integer",
    ),
    "an unknown factorisation": (
        lambda k: random.multivariate_normal(k, np.zeros(2), np.eye(2), method="lu"),
        ValueError,
        "method must be one of 'cholesky', 'eigh', 'svd'",
    ),
    "a covariance of another size": (
        lambda k: random.multivariate_normal(k, np.zeros(2), np.eye(3)),
        ValueError,
        "cov matrices of shape",
    ),
    "no probabilities": (
        lambda k: random.multinomial(k, 3, 0.5),
        ValueError,
        "p must have an axis of probabilities",
    ),
    "a dimension that is no integer": (
        lambda k: random.ball(k, 2.5),
        ValueError,
        "ball: d must be a Python integer",
    ),
    "an integer dtype": (
        lambda k: random.uniform(k, (2,), np.int32),
        TypeError,
        "uniform: the dtype must be floating, got int32",
    ),
    "a floating dtype of integers": (
        lambda k: random.randint(k, (2,), 0, 3, np.float32),
        TypeError,
        "randint: the dtype must be integer or unsigned integer",
    ),
    "signed bits": (
        lambda k: random.bits(k, (2,), np.int32),
        TypeError,
        "must be unsigned integer, got int32",
    ),
    "bounds that do not fit": (
        lambda k: random.uniform(k, (2,), minval=np.zeros(3, np.float32)),
        ValueError,
        r"shape \(3,\) cannot be broadcast to the shape \(2,\)",
    ),
    "a list of bounds": (
        lambda k: random.uniform(k, (2,), minval=["a", 1.0]),
        TypeError,
        "no array can be made of the argument minval, a list",
    ),
    "an unknown mode": (
        lambda k: random.bernoulli(k, 0.5, (), "best"),
        ValueError,
        "mode must be 'low' or 'high'",
    ),
    "an unknown mode of gumbel": (
        lambda k: random.gumbel(k, (2,), mode="best"),
        ValueError,
        "mode must be one of",
    ),
    "too many without replacement": (
        lambda k: random.choice(k, 3, (4,), replace=False),
        ValueError,
        "4 elements cannot be drawn without replacement from 3",
    ),
    "nothing to draw from": (lambda k: random.choice(k, 0, (1,)), ValueError, "nothing to draw"),
    "probabilities of another length": (
        lambda k: random.choice(k, 3, p=np.float32([0.5, 0.5])),
        ValueError,
        r"p must be an array of shape \(3,\)",
    ),
    "a scalar of logits": (
        lambda k: random.categorical(k, 1.0),
        ValueError,
        "logits must have an axis",
    ),
    "too many categories": (
        lambda k: random.categorical(k, np.zeros(3, np.float32), shape=(4,), replace=False),
        ValueError,
        "4 draws without replacement from 3 categories",
    ),
    "a permutation of a float": (
        lambda k: random.permutation(k, 2.5),
        ValueError,
        "takes an array or an integer",
    ),
    "a permutation along no axis": (
        lambda k: random.permutation(k, np.arange(3), axis=1),
        ValueError,
        "axis 1 is out of range",
    ),
}


@pytest.mark.parametrize(("call", "error", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_what_makes_no_sense_is_refused(
    call: Callable[[Any], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        call(random.key(0))
