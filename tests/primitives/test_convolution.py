"""Convolution where the case table is too small to look: blocks, precision, high orders, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
from arrayx import errors
from arrayx.conformance.cases.convolution import BEHIND, convolved, plain
from arrayx.primitives.convolution import conv_general_dilated
from arrayx_numpy import convolution as kernels

PARAMS: dict[str, Any] = {
    "strides": (1, 1),
    "padding": ((1, 1), (0, 0)),
    "lhs_dilation": (1, 1),
    "rhs_dilation": (1, 1),
    "dims": plain(4),
    "feature_groups": 1,
    "batch_groups": 1,
    "precision": None,
}
BATCH_BEHIND = ((3, 2, 0, 1), (3, 2, 0, 1), (0, 1, 2, 3))
# What is told apart by how the kernel goes about it.
FORMS = (
    ("features in front", (3, 2, 4, 5), (2, 2, 2, 2), {}),
    ("features behind", (3, 4, 5, 2), (2, 2, 2, 3), {"dims": BEHIND}),
    ("groups", (3, 4, 4, 5), (4, 2, 2, 2), {"feature_groups": 2}),
    ("a feature in each group", (3, 4, 4, 5), (4, 1, 2, 2), {"feature_groups": 4}),
    ("one feature", (3, 1, 4, 5), (1, 1, 2, 2), {}),
    ("few places", (3, 2, 5, 5), (2, 2, 4, 5), {}),
    ("few places, batch behind", (4, 5, 2, 3), (4, 5, 2, 2), {"dims": BATCH_BEHIND}),
    ("few places of groups", (3, 4, 5, 5), (4, 2, 4, 4), {"feature_groups": 2}),
    ("strides", (3, 2, 7, 5), (2, 2, 2, 2), {"strides": (2, 3)}),
)


@pytest.mark.parametrize("most", (1, 300, 1 << 20))
@pytest.mark.parametrize(("label", "x", "y", "changes"), FORMS, ids=[f[0] for f in FORMS])
def test_blocks_of_any_size_give_the_same(
    label: str, x: Any, y: Any, changes: Any, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "MOST_BYTES", most)
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=x), rng.normal(size=y)
    params = {**PARAMS, **changes}
    got = conv_general_dilated(ax.numpy.asarray(a), ax.numpy.asarray(b), **params)
    np.testing.assert_allclose(np.asarray(got), convolved(a, b, **params), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
def test_sixteen_bits_are_added_up_in_more(dtype: str) -> None:
    n = 3000
    x = ax.numpy.ones((1, 1, n), dtype=dtype)
    total = ax.lax.conv(x, x, (1,), "VALID")
    assert float(total[0, 0, 0]) == float(np.float32(n).astype(total.dtype))


def test_small_integers_wrap_around() -> None:
    x = ax.numpy.full((1, 1, 4), 100, dtype="int8")
    assert int(ax.lax.conv(x, x, (1,), "VALID")[0, 0, 0]) == (40000 + 128) % 256 - 128


def test_third_derivatives_agree_in_both_modes() -> None:
    rng = np.random.default_rng(1)
    x, v = (ax.numpy.asarray(rng.normal(size=(1, 2, 5))) for _ in range(2))

    def f(x: Any) -> Any:
        # A cube of the operand: each convolution has the operand on both sides.
        return (ax.lax.conv(ax.lax.conv(x, x, (1,), [(2, 2)]), x[:, :1], (1,), "VALID") ** 1).sum()

    def along(g: Any) -> Any:
        return lambda x: ax.jvp(g, (x,), (v,))[1]

    def pulled(g: Any) -> Any:
        return lambda x: (ax.grad(g)(x) * v).sum()

    truth = float(along(along(along(f)))(x))
    for g in (pulled(along(along(f))), along(pulled(along(f))), pulled(pulled(pulled(f)))):
        assert abs(float(g(x)) - truth) < 1e-8 * (1 + abs(truth))


REFUSED = (
    ({"feature_groups": 3}, "groups of the 2 input features"),
    ({"batch_groups": 2, "feature_groups": 2}, "one of them is 1"),
    ({"batch_groups": 2}, "do not divide a batch of 3"),
    ({"strides": (0, 1)}, "must be positive"),
    ({"strides": (1,)}, "has 2 spatial axes"),
    ({"dims": plain(3)}, "do not number the axes"),
)


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=[m for _, m in REFUSED])
def test_what_does_not_fit_is_said(changes: Any, message: str) -> None:
    x, y = ax.numpy.ones((3, 2, 4, 5)), ax.numpy.ones((2, 2, 2, 2))
    with pytest.raises(errors.ArrayxError, match=message):
        conv_general_dilated(x, y, **{**PARAMS, **changes})


def test_programs_with_windows_read_back() -> None:
    def f(x: Any, y: Any) -> Any:
        made = conv_general_dilated(x, y, **PARAMS)
        pooled = ax.lax.reduce_window(made, -np.inf, ax.lax.max, (1, 1, 2, 2))
        return ax.lax.optimization_barrier(ax.lax.reduce_precision(pooled, 5, 10))

    graph = ax.make_graph(ax.grad(lambda *a: f(*a).sum()))(
        ax.numpy.ones((3, 2, 4, 5)), ax.numpy.ones((2, 2, 2, 2))
    )
    assert ax.parse_graph(str(graph)) == graph


def test_the_cost_is_that_of_the_sums() -> None:
    x, y = ax.numpy.ones((3, 2, 4, 5)), ax.numpy.ones((2, 2, 2, 2))
    cost = ax.inspect.cost(lambda x, y: conv_general_dilated(x, y, **PARAMS))(x, y)
    assert cost.flops == 2 * (3 * 2 * 5 * 4) * (2 * 2 * 2)
