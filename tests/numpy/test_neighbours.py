"""The functions of `ax.nn`, `ax.scipy.special`, `ax.lax` and `ax.ops` that rest on anp's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special

import arrayx.nn as nn
import arrayx.numpy as anp
import arrayx.scipy.special as special
from arrayx import errors, lax, ops
from arrayx.api.autodiff import grad, jvp
from arrayx.api.compilation import jit
from arrayx.api.mapping import vmap

X = np.linspace(-4.3, 4.3, 24).astype(np.float32)
UNIT = np.linspace(0.03, 0.97, 24).astype(np.float32)
WIDE = np.linspace(-30.0, 30.0, 41).astype(np.float32)

SPECIAL = [
    *((name, X) for name in ("erf", "erfc", "expit", "ndtr", "gammaln", "gammasgn", "gamma")),
    *((name, UNIT) for name in ("logit", "ndtri", "entr", "digamma")),
    ("erfinv", 2 * UNIT - 1),
    ("log_ndtr", WIDE),
]


@pytest.mark.parametrize(("name", "x"), SPECIAL)
def test_special_functions_are_those_of_scipy(name: str, x: np.ndarray) -> None:
    want = getattr(scipy.special, name)(x.astype(np.float64))
    for f in (getattr(special, name), jit(getattr(special, name))):
        np.testing.assert_allclose(np.asarray(f(x)), want, rtol=2e-5, atol=1e-6)
    step = 1e-5
    f = getattr(scipy.special, name)
    wide = x.astype(np.float64)
    slope = (f(wide + step) - f(wide - step)) / (2 * step)
    _, got = jvp(getattr(special, name), (anp.asarray(x),), (anp.ones(x.shape),))
    np.testing.assert_allclose(np.asarray(got), slope, rtol=2e-3, atol=2e-4)


PAIRS = [
    ("xlogy", UNIT, UNIT[::-1]),
    ("xlog1py", UNIT, UNIT[::-1]),
    ("betaln", UNIT, UNIT[::-1]),
    ("beta", UNIT + 1, UNIT[::-1] + 1),
    ("rel_entr", UNIT, UNIT[::-1]),
    ("kl_div", UNIT, UNIT[::-1]),
]


@pytest.mark.parametrize(("name", "x", "y"), PAIRS)
def test_special_functions_of_two_arguments_are_those_of_scipy(
    name: str, x: np.ndarray, y: np.ndarray
) -> None:
    want = getattr(scipy.special, name)(x.astype(np.float64), y.astype(np.float64))
    np.testing.assert_allclose(np.asarray(getattr(special, name)(x, y)), want, rtol=3e-5, atol=1e-6)


def test_xlogy_is_flat_where_its_first_factor_is_zero() -> None:
    assert float(special.xlogy(0.0, 0.0)) == 0.0
    assert float(grad(special.xlogy, argnums=1)(0.0, 0.0)) == 0.0
    assert float(grad(special.xlogy)(0.0, 2.0)) == pytest.approx(np.log(2.0))


def test_logsumexp_is_that_of_scipy_with_weights_and_signs() -> None:
    x = X.reshape(4, 6)
    b = np.resize(np.array([1.0, -2.0, 0.0], np.float32), x.shape)
    for options in ({}, {"axis": 0}, {"axis": (0, 1), "keepdims": True}, {"axis": 1, "b": b * b}):
        want = scipy.special.logsumexp(x.astype(np.float64), **options)
        np.testing.assert_allclose(np.asarray(special.logsumexp(x, **options)), want, rtol=1e-5)
    got = special.logsumexp(x, b=b, axis=1, return_sign=True)
    want = scipy.special.logsumexp(x, b=b, axis=1, return_sign=True)
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(g), w, rtol=1e-4)
    assert special.logsumexp(anp.full(3, -np.inf)).item() == -np.inf


ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": scipy.special.expit,
    "softplus": lambda x: np.logaddexp(x, 0),
    "log_sigmoid": lambda x: -np.logaddexp(-x, 0),
    "silu": lambda x: x * scipy.special.expit(x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "leaky_relu": lambda x: np.where(x >= 0, x, 0.01 * x),
    "mish": lambda x: x * np.tanh(np.logaddexp(x, 0)),
    "hard_tanh": lambda x: np.clip(x, -1, 1),
    "squareplus": lambda x: (x + np.sqrt(x * x + 4)) / 2,
    "softmax": lambda x: scipy.special.softmax(x),
    "log_softmax": lambda x: scipy.special.log_softmax(x),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_have_their_value_and_finite_slopes(name: str) -> None:
    f = getattr(nn, name)
    for x in (X, WIDE * 10):
        want = ACTIVATIONS[name](x.astype(np.float64))
        np.testing.assert_allclose(np.asarray(f(x)), want, rtol=2e-5, atol=1e-5)
        assert np.isfinite(np.asarray(grad(lambda v: anp.sum(f(v)))(anp.asarray(x)))).all()


def test_gelu_is_exact_or_approximate() -> None:
    exact = X * scipy.special.ndtr(X.astype(np.float64))
    np.testing.assert_allclose(np.asarray(nn.gelu(X, approximate=False)), exact, atol=1e-6)
    np.testing.assert_allclose(np.asarray(nn.gelu(X)), exact, atol=1e-3)


def test_masked_softmax_gives_nothing_to_what_is_left_out() -> None:
    where = np.array([True, False, True])
    got = nn.softmax(np.array([1.0, np.inf, 1.0], np.float32), where=where)
    assert got.tolist() == [0.5, 0.0, 0.5]


def test_one_hot_ignores_what_is_out_of_range() -> None:
    got = nn.one_hot(np.array([0, 3, -1, 2]), 3)
    np.testing.assert_array_equal(np.asarray(got), [[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]])
    assert nn.one_hot(np.array([[1]]), 2, axis=0, dtype=int).shape == (2, 1, 1)


def test_segments_are_reduced_apart() -> None:
    data = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
    ids = np.array([2, 0, 2])
    want = np.zeros((3, 2), np.float32)
    np.add.at(want, ids, data)
    np.testing.assert_array_equal(np.asarray(ops.segment_sum(data, ids)), want)
    traced = jit(lambda d, i: ops.segment_max(d, i, num_segments=4))(data, ids)
    np.testing.assert_array_equal(
        np.asarray(traced), [[3, 4], [-np.inf] * 2, [5, 6], [-np.inf] * 2]
    )
    with pytest.raises(errors.ConcretizationError, match="num_segments"):
        jit(ops.segment_sum)(data, ids)


def test_lax_functions_neither_promote_nor_broadcast() -> None:
    with pytest.raises(errors.ShapeError, match="equal shape"):
        lax.add(np.ones(2), np.ones((2, 2)))
    with pytest.raises(errors.DtypeError, match="one dtype"):
        lax.mul(np.ones(2, np.float32), np.ones(2, np.int32))
    assert lax.add(np.ones(2, np.float32), 1).tolist() == [2.0, 2.0]


def test_lax_functions_take_the_arguments_of_jax() -> None:
    x = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    cases: list[tuple[Any, Any]] = [
        (lax.dot_general(x, x, (((1,), (1,)), ((), ()))), x @ x.T),
        (lax.dot_general(x, x, (((1,), (1,)), ((0,), (0,)))), np.einsum("ij,ij->i", x, x)),
        (lax.broadcast_in_dim(x, (3, 2, 4), (0, 2)), np.broadcast_to(x[:, None], (3, 2, 4))),
        (lax.pad(x[0], -1.0, [(1, 2, 0)]), np.pad(x[0], (1, 2), constant_values=-1)),
        (lax.slice(x, (1, 0), (3, 4), (1, 2)), x[1:3, ::2]),
        (lax.dynamic_slice(x, (1, np.int32(2)), (2, 2)), x[1:3, 2:4]),
        (lax.dynamic_update_slice(x, np.zeros((1, 2), np.float32), (0, 1))[0], [0, 0, 0, 3]),
        (lax.dynamic_index_in_dim(x, -1, keepdims=False), x[-1]),
        (lax.rev(x, (1,)), x[:, ::-1]),
        (lax.reduce_max(x, (0,)), x.max(0)),
        (lax.cumsum(x, 1, reverse=True), np.cumsum(x[:, ::-1], 1)[:, ::-1]),
        (lax.top_k(x, 2)[0], x[:, [3, 2]]),
        (lax.clamp(2.0, x, 5.0), x.clip(2, 5)),
        (lax.select(x > 3, x, -x), np.where(x > 3, x, -x)),
        (lax.iota(np.int32, 3), [0, 1, 2]),
        (lax.round(np.array([0.5, -2.5, 1.2], np.float32)), [1.0, -3.0, 1.0]),
        (lax.integer_pow(x, 3), x**3),
        (lax.reduce(x, 0.0, lax.add, (0, 1)), x.sum()),
        (lax.split(x, (1, 3), axis=1)[1], x[:, 1:]),
        (lax.collapse(x, 0), x.ravel()),
    ]
    for got, want in cases:
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)


def test_lax_slices_map_over_their_starts() -> None:
    x = np.arange(6.0, dtype=np.float32)
    got = vmap(lambda i: lax.dynamic_slice_in_dim(x, i, 2))(np.array([0, 3, 9]))
    np.testing.assert_array_equal(np.asarray(got), [[0, 1], [3, 4], [4, 5]])
