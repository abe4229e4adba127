"""Reductions over windows: ties, windows of many sizes, and what users make of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
from arrayx import errors, lax
from arrayx.primitives import windows


def max_pool(x: Any, window: Any, strides: Any, padding: Any = "VALID") -> Any:
    return lax.reduce_window(x, -np.inf, lax.max, window, strides, padding)


@pytest.mark.parametrize("jit", (False, True), ids=("eager", "compiled"))
def test_a_tie_in_a_window_is_shared(jit: bool) -> None:
    x = ax.numpy.array([2.0, 2.0, 1.0, 2.0])
    f = lambda x: max_pool(x, (2,), (1,)).sum()  # noqa: E731
    for derivative in (ax.grad(f), ax.jacfwd(f)):
        got = (ax.jit(derivative) if jit else derivative)(x)
        assert np.asarray(got).tolist() == [0.5, 1.5, 0.0, 1.0]


def test_a_window_of_padding_alone_has_no_slope() -> None:
    x = ax.numpy.array([1.0, 2.0])
    f = lambda x: max_pool(x, (2,), (2,), [(2, 0)])  # noqa: E731
    assert np.asarray(f(x)).tolist() == [-np.inf, 2.0]
    assert np.asarray(ax.jacrev(f)(x)).tolist() == [[0.0, 0.0], [0.0, 1.0]]


def test_nan_is_reached_by_nan() -> None:
    x = ax.numpy.array([1.0, np.nan, 2.0])
    assert np.asarray(ax.grad(lambda x: max_pool(x, (3,), (1,))[0])(x)).tolist() == [0, 1, 0]


@pytest.mark.parametrize("k", (1, 2, 3, 7, 8, 31, 64, 100))
def test_windows_of_any_length_are_cumulative(k: int) -> None:
    x = np.random.default_rng(k).normal(size=100)
    padding = [(k - 1, 0)]
    sums = np.convolve(x, np.ones(k))[:100]
    got = lax.reduce_window(x, 0.0, lax.add, (k,), padding=padding)
    np.testing.assert_allclose(np.asarray(got), sums, rtol=1e-12, atol=1e-12)
    largest = [x[max(0, i - k + 1) : i + 1].max() for i in range(100)]
    assert np.asarray(max_pool(x, (k,), (1,), padding)).tolist() == largest


@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
def test_sixteen_bits_are_added_up_in_more(dtype: str) -> None:
    x = ax.numpy.ones(3000, dtype=dtype)
    total = lax.reduce_window(x, 0.0, lax.add, (3000,))
    assert float(total[0]) == float(np.float32(3000).astype(total.dtype))


SIDES = (
    ("side by side", (4, 6), (2, 3), (2, 3)),
    ("overlapping", (4, 6), (2, 3), (1, 2)),
    ("large", (10, 12), (9, 9), (1, 1)),
    ("whole", (4, 6), (4, 6), (1, 1)),
)


@pytest.mark.parametrize(("label", "shape", "window", "strides"), SIDES, ids=[s[0] for s in SIDES])
def test_expansions_agree_with_kernels(label: str, shape: Any, window: Any, strides: Any) -> None:
    rng = np.random.default_rng(0)
    x = ax.numpy.asarray(rng.integers(0, 3, shape).astype(float))
    params: dict[str, Any] = {
        "window": window,
        "strides": strides,
        "padding": ((1, 0), (0, 2)),
        "base_dilation": (1, 1),
        "window_dilation": (1, 1),
    }
    best = windows.reduce_window_max(x, **params)
    for primitive, moving in (
        (windows.window_reached_sum, rng.normal(size=x.shape)),
        (windows.reached_window_sum, rng.normal(size=best.shape)),
    ):
        given = ax.numpy.asarray(moving)
        kernel, expanded = (f(given, x, best, **params) for f in (primitive, primitive.expand))
        np.testing.assert_allclose(np.asarray(kernel), np.asarray(expanded), atol=1e-12)


def test_large_windows_make_small_programs() -> None:
    x = ax.numpy.ones((40, 40))
    graph = ax.make_graph(ax.grad(lambda x: max_pool(x, (30, 30), (1, 1)).sum()))(x)
    assert len(graph.equations) < 20  # each primitive is one equation, expanded only where owed


def test_average_pooling_counts_what_is_inside() -> None:
    x = ax.numpy.arange(5.0)
    total, count = (
        lax.reduce_window(v, 0.0, lax.add, (3,), (2,), "SAME") for v in (x, ax.numpy.ones(5))
    )
    assert np.asarray(total / count).tolist() == [0.5, 2.0, 3.5]


def test_what_does_not_fit_is_said() -> None:
    x = ax.numpy.ones((3, 3))
    with pytest.raises(errors.ShapeError, match="must have an entry for each of 2 axes"):
        lax.reduce_window(x, 0.0, lax.add, (2,))
    with pytest.raises(errors.ShapeError, match="must be positive"):
        lax.reduce_window(x, 0.0, lax.add, (0, 1))
    with pytest.raises(errors.ArgumentError, match="as many initial values"):
        lax.reduce((x, x), (0.0,), lambda a, b: a, (0,))
    with pytest.raises(errors.ArgumentError, match="must give scalars"):
        lax.reduce(x, 0.0, lambda a, b: (a, b), (0,))
