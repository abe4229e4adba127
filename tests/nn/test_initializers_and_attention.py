"""First values of weights, and attention against a plain NumPy one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors, nn
from arrayx.nn import dot_product_attention, initializers

KEY = ax.random.key(0)


@pytest.mark.parametrize(
    ("name", "variance"),
    [
        ("lecun_normal", 1 / 100),
        ("lecun_uniform", 1 / 100),
        ("he_normal", 2 / 100),
        ("he_uniform", 2 / 100),
        ("kaiming_normal", 2 / 100),
        ("glorot_normal", 2 / 300),
        ("glorot_uniform", 2 / 300),
        ("xavier_uniform", 2 / 300),
    ],
)
def test_weights_have_the_variance_of_their_scheme(name: str, variance: float) -> None:
    init = getattr(initializers, name)()
    w = init(KEY, (100, 200))
    assert w.dtype == np.float32
    np.testing.assert_allclose(np.asarray(w).var(), variance, rtol=0.05)
    assert init(KEY, (100, 200), anp.float16).dtype == np.float16
    assert getattr(initializers, name)(dtype=np.float64)(KEY, (3, 3)).dtype == np.float64


def test_weights_are_those_of_jax() -> None:
    # Recorded from jax 0.10: lecun_uniform, he_normal and glorot_normal of key 0, shape (2, 3).
    np.testing.assert_allclose(
        np.asarray(initializers.lecun_uniform()(KEY, (2, 3))),
        [[1.0965558, 1.1722765, -0.4108003], [-0.07674628, 0.17119169, -0.81934696]],
        rtol=1e-5,
    )
    np.testing.assert_allclose(
        np.asarray(initializers.he_normal()(KEY, (2, 3))),
        [[1.6552032, 1.9494075, -0.46914884], [-0.08530156, 0.19099149, -1.0375029]],
        rtol=1e-5,
    )
    np.testing.assert_allclose(
        np.asarray(initializers.glorot_normal()(KEY, (2, 3))),
        [[1.0468423, 1.2329134, -0.29671577], [-0.05394943, 0.12079362, -0.65617436]],
        rtol=1e-5,
    )


def test_plain_initializers_and_axes() -> None:
    assert initializers.zeros(KEY, (2,)).tolist() == [0, 0]
    assert initializers.ones(KEY, (2,), np.int32).dtype == np.int32
    assert initializers.constant(anp.arange(3))(KEY, (2, 3)).tolist() == [[0, 1, 2]] * 2
    assert float(abs(initializers.truncated_normal(0.5)(KEY, (500,))).max()) <= 1.0
    assert float(initializers.uniform(0.1)(KEY, (500,)).min()) >= 0.0
    # A field of 3 x 3 counts for both sides; axes of a batch do not.
    w = initializers.variance_scaling(1.0, "fan_in", "normal")(KEY, (3, 3, 20, 50))
    np.testing.assert_allclose(np.asarray(w).var(), 1 / 180, rtol=0.1)
    batched = initializers.lecun_normal(batch_axis=0)(KEY, (50, 20, 30))
    np.testing.assert_allclose(np.asarray(batched).var(), 1 / 20, rtol=0.05)
    with pytest.raises(errors.ShapeError, match="at least 2 dimensions"):
        initializers.lecun_normal()(KEY, (3,))
    with pytest.raises(errors.ArgumentError, match="mode is one of"):
        initializers.variance_scaling(1.0, "fan", "normal")  # type: ignore[arg-type]
    with pytest.raises(errors.ArgumentError, match="distribution is one of"):
        initializers.variance_scaling(1.0, "fan_in", "gauss")  # type: ignore[arg-type]


# ----------------------------------------------------------------- attention

RNG = np.random.default_rng(1)
Q = RNG.normal(size=(2, 5, 4, 3))
K, V = RNG.normal(size=(2, 2, 6, 2, 3))


def plain(bias: Any = 0.0, allowed: Any = True, scale: float = 1 / math.sqrt(3)) -> np.ndarray:
    k, v = (np.repeat(x, 2, 2) for x in (K, V))
    scores = np.einsum("bqhd,bkhd->bhqk", Q, k) * scale + bias
    scores = np.where(allowed, scores, -1e30)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return np.einsum("bhqk,bkhd->bqhd", weights, v)


ROWS, COLUMNS = np.arange(5)[:, None], np.arange(6)
BIAS = RNG.normal(size=(2, 1, 5, 6))
MASK = RNG.integers(0, 2, (1, 4, 5, 6)).astype(bool) | (COLUMNS == 0)


@pytest.mark.parametrize(
    ("options", "want"),
    [
        ({}, plain()),
        ({"scale": 0.3}, plain(scale=0.3)),
        ({"bias": BIAS}, plain(BIAS)),
        ({"mask": MASK}, plain(allowed=MASK)),
        ({"is_causal": True}, plain(allowed=COLUMNS <= ROWS)),
        ({"local_window_size": 1}, plain(allowed=abs(COLUMNS - ROWS) <= 1)),
        (
            {"local_window_size": (2, 0)},
            plain(allowed=(COLUMNS <= ROWS) & (COLUMNS >= ROWS - 2)),
        ),
        (
            {"key_value_seq_lengths": np.array([6, 3])},
            plain(allowed=np.array([6, 3])[:, None, None, None] > COLUMNS),
        ),
        (
            {"query_seq_lengths": np.array([5, 2])},
            plain() * (np.array([5, 2])[:, None, None, None] > np.arange(5)[:, None, None]),
        ),
    ],
    ids=lambda o: "-".join(o) if isinstance(o, dict) else "",
)
def test_attention_agrees_with_a_plain_one(options: dict[str, Any], want: np.ndarray) -> None:
    got = dot_product_attention(Q, K, V, **options)
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-10, atol=1e-12)
    compiled = ax.jit(lambda q: dot_product_attention(q, K, V, **options))(Q)
    np.testing.assert_allclose(np.asarray(compiled), want, rtol=1e-10, atol=1e-12)


def test_attention_takes_one_sequence_narrow_floats_and_gradients() -> None:
    one = dot_product_attention(Q[0], K[0], V[0])
    np.testing.assert_allclose(np.asarray(one), plain()[0], rtol=1e-10)
    half = dot_product_attention(*(x.astype(np.float16) for x in (Q, K, V)))
    assert half.dtype == np.float16
    np.testing.assert_allclose(np.asarray(half), plain(), atol=5e-3)
    ax.check_grads(lambda q, k, v: dot_product_attention(q, k, v, is_causal=True), (Q, K, V), 1)


@pytest.mark.parametrize(
    ("args", "options", "message"),
    [
        ((Q[0, 0], K, V), {}, "3 or 4 dimensions"),
        ((Q[:, :, :3], K, V), {}, "do not fit a query"),
        ((Q, K, V), {"mask": MASK[0, 0]}, "the mask of shape"),
        ((Q, K, V), {"key_value_seq_lengths": np.array([1])}, "one length for each sequence"),
        ((Q, K, V), {"implementation": "cudnn"}, "a backend chooses"),
        ((Q, K, V), {"local_window_size": -1}, "is not negative"),
    ],
)
def test_attention_names_what_does_not_fit(args: Any, options: Any, message: str) -> None:
    with pytest.raises(errors.ArrayxError, match=message):
        dot_product_attention(*args, **options)


@pytest.mark.parametrize("shape", [(4, 4), (5, 2), (2, 5), (2, 3, 4)])
def test_orthogonal_weights_are_orthogonal(shape: tuple[int, ...]) -> None:
    w = np.asarray(nn.initializers.orthogonal(2.0)(ax.random.key(0), shape))
    flat = w.reshape(-1, shape[-1])
    flat = flat if flat.shape[0] >= flat.shape[1] else flat.T
    np.testing.assert_allclose(flat.T @ flat, 4 * np.eye(flat.shape[1]), atol=1e-5)


def test_delta_orthogonal_weights_stand_in_the_middle() -> None:
    w = np.array(nn.initializers.delta_orthogonal()(ax.random.key(0), (3, 3, 2, 4)))
    middle = w[1, 1].copy()
    np.testing.assert_allclose(middle @ middle.T, np.eye(2), atol=1e-6)
    w[1, 1] = 0
    assert (w == 0).all()


@pytest.mark.parametrize("name", ["silu", "mish", "gelu", "hard_silu"])
def test_gated_activations_are_zero_far_left(name: str) -> None:
    x = np.float32([-np.inf, -1e30, -150.0])
    assert (np.asarray(getattr(nn, name)(x)) == 0).all()
    slopes = ax.vmap(ax.grad(getattr(nn, name)))(x)
    assert (np.asarray(slopes) == 0).all()
