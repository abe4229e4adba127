"""Rows of `arrayx.nn`, its initializers, and `arrayx.ops`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from arrayx import random
from arrayx.conformance.case import FLOATS, Case, Operand
from arrayx.conformance.public import public
from arrayx.lazy import lazy

scipy_special = lazy("scipy.special")
ONE = ((2, 4),)


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


def softmax(x: Any) -> Any:
    """Shares along the last axis."""
    weights = np.exp(x - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def _elu(x: Any, alpha: float = 1.0) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(x))


def _gelu(x: Any, approximate: bool = True) -> Any:
    if approximate:
        return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x * scipy_special.ndtr(x)


def _standardize(x: Any) -> Any:
    off = x - x.mean(-1, keepdims=True)
    return off / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def _attention(q: Any, k: Any, v: Any, is_causal: bool = False) -> Any:
    batch, queries, heads, width = q.shape
    result = np.empty_like(q)
    for b in range(batch):
        for h in range(heads):
            group = h * k.shape[2] // heads
            scores = q[b, :, h] @ k[b, :, group].T / math.sqrt(width)
            if is_causal:
                scores = np.where(np.tri(queries, k.shape[1], dtype=bool), scores, -np.inf)
            result[b, :, h] = softmax(scores) @ v[b, :, group]
    return result


def _scaled(x: Any, y: Any, s: Any, t: Any) -> Any:
    wide = x * np.repeat(s, x.shape[2] // s.shape[2], 2), y * np.repeat(t, 4 // t.shape[2], 2)
    return np.einsum("bmk,bnk->bmn", *wide)


def activation(name: str, reference: Any, **facts: Any) -> Case:
    """The row of a function of one array."""
    facts.setdefault("ulps", 16)
    facts.setdefault("scale", lambda x, **params: 1 + np.abs(x))
    return public(f"nn.{name}", ONE, reference=reference, special=False, **facts)


def initial(name: str, params: Any = None, shape: tuple[int, ...] = (4, 3)) -> Case:
    """The row of an initializer, or of a function that makes one."""

    def form(function: Any, **given: Any) -> Any:
        made = function if params is None else function(**given)
        return made(random.key(3), shape, np.float32)

    return public(
        f"nn.initializers.{name}",
        (),
        params or {},
        dtypes=("float32",),
        form=form,
        compare=False,
        ulps=1024,
    )


SEGMENTS = Operand((5,), dtype="int32", values=[0, 2, 1, 2, 0])


def segments(name: str, combine: Any, empty: float) -> Case:
    """The row of a reduction over segments."""

    def reference(data: Any, ids: Any, num_segments: int) -> Any:
        rows = [
            combine(data[ids == i], axis=0) if (ids == i).any() else data[0] * 0 + empty
            for i in range(num_segments)
        ]
        return np.stack(rows)

    return public(
        f"ops.{name}",
        ((5, 2), SEGMENTS),
        {"num_segments": 3},
        reference,
        FLOATS,
        differentiable=(0,),
        special=False,
        ulps=16,
        scale=lambda data, ids, num_segments: np.full((3, 2), 1 + np.abs(data).max() ** 2),
    )


CASES = (
    activation("identity", lambda x: x),
    activation("relu", lambda x: np.maximum(x, 0)),
    activation("relu6", lambda x: np.clip(x, 0, 6), domain=(-4, 8)),
    activation("sigmoid", sigmoid),
    activation("softplus", lambda x: np.logaddexp(x, 0)),
    activation("log_sigmoid", lambda x: -np.logaddexp(-x, 0)),
    activation("soft_sign", lambda x: x / (1 + np.abs(x))),
    activation("silu", lambda x: x * sigmoid(x)),
    activation("swish", lambda x: x * sigmoid(x)),
    activation("mish", lambda x: x * np.tanh(np.logaddexp(x, 0))),
    activation("elu", _elu),
    activation("celu", lambda x: _elu(x)),
    activation("selu", lambda x: 1.0507009873554805 * _elu(x, 1.6732632423543772)),
    activation("gelu", _gelu),
    activation("gelu", _gelu, params={"approximate": False}, label="exact"),
    activation("glu", lambda x: x[..., :2] * sigmoid(x[..., 2:]), scale=lambda x: 10.0),
    activation("leaky_relu", lambda x: np.where(x >= 0, x, 0.01 * x)),
    activation("hard_tanh", lambda x: np.clip(x, -1, 1)),
    activation("hard_sigmoid", lambda x: np.clip(x + 3, 0, 6) / 6, domain=(-5, 5)),
    activation("hard_silu", lambda x: x * np.clip(x + 3, 0, 6) / 6, domain=(-5, 5)),
    activation("hard_swish", lambda x: x * np.clip(x + 3, 0, 6) / 6, domain=(-5, 5)),
    activation("squareplus", lambda x: (x + np.sqrt(x * x + 4)) / 2),
    activation(
        "sparse_plus", lambda x: np.where(x <= -1, 0, np.where(x >= 1, x, (x + 1) ** 2 / 4))
    ),
    activation("sparse_sigmoid", lambda x: 0.5 * np.clip(x + 1, 0, 2)),
    activation("tanh", np.tanh),
    activation("log1mexp", lambda x: np.log(-np.expm1(-x)), domain=(0.1, 4), ulps=64),
    activation("softmax", softmax),
    activation("log_softmax", lambda x: np.log(softmax(x)), ulps=64),
    activation(
        "logsumexp",
        lambda a: np.log(np.sum(np.exp(a))),
        scale=lambda a: 10.0,
    ),
    activation("logmeanexp", lambda a: np.log(np.mean(np.exp(a))), scale=lambda a: 10.0),
    activation("standardize", _standardize, ulps=256),
    public(
        "nn.one_hot",
        (Operand((3,), dtype="int32", values=[0, 2, -1]),),
        {"num_classes": 3},
        lambda x, num_classes: (x[:, None] == np.arange(num_classes)).astype(np.float32),
        ("float32",),
    ),
    public(
        "nn.dot_product_attention",
        ((1, 3, 4, 2), (1, 5, 2, 2), (1, 5, 2, 2)),
        reference=_attention,
        ulps=64,
        scale=lambda q, k, v: np.full(q.shape, 4.0),
        special=False,
    ),
    public(
        "nn.dot_product_attention",
        ((1, 3, 2, 2), (1, 3, 2, 2), (1, 3, 2, 2)),
        {"is_causal": True},
        _attention,
        ulps=64,
        scale=lambda q, k, v, is_causal: np.full(q.shape, 4.0),
        special=False,
        label="causal",
    ),
    public(
        "nn.scaled_matmul",
        ((1, 2, 4), (1, 3, 4), (1, 2, 2), (1, 3, 1)),
        reference=_scaled,
        dtypes=("float32",),
        ulps=64,
        scale=lambda *xs: np.full((1, 2, 3), 100.0),
        special=False,
    ),
    initial("zeros"),
    initial("ones"),
    initial("constant", {"value": 2.0}),
    initial("normal", {"stddev": 0.5}),
    initial("uniform", {"scale": 0.5}),
    initial("truncated_normal", {"stddev": 0.5}),
    initial("variance_scaling", {"scale": 2.0, "mode": "fan_in", "distribution": "uniform"}),
    initial("glorot_uniform", {"in_axis": -2}),
    initial("glorot_normal", {"in_axis": -2}),
    initial("xavier_uniform", {"in_axis": -2}),
    initial("xavier_normal", {"in_axis": -2}),
    initial("lecun_uniform", {"in_axis": -2}),
    initial("lecun_normal", {"in_axis": -2}),
    initial("he_uniform", {"in_axis": -2}),
    initial("he_normal", {"in_axis": -2}),
    initial("kaiming_uniform", {"in_axis": -2}),
    initial("kaiming_normal", {"in_axis": -2}),
    initial("orthogonal", {"scale": 2.0}),
    initial("delta_orthogonal", {"scale": 2.0}, (3, 2, 4)),
    segments("segment_sum", np.sum, 0.0),
    segments("segment_prod", np.prod, 1.0),
    segments("segment_max", np.max, -math.inf),
    segments("segment_min", np.min, math.inf),
)
