"""`associative_scan` against running results in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 13, 33])
@pytest.mark.parametrize("reverse", [False, True])
def test_it_gives_running_sums(n: int, reverse: bool) -> None:
    x = np.arange(n * 6, dtype=np.int32).reshape(2, n, 3) - 7
    want = np.flip(np.cumsum(np.flip(x, 1), 1), 1) if reverse else np.cumsum(x, 1)
    for axis in (1, -2):
        got = ax.lax.associative_scan(anp.add, x, reverse=reverse, axis=axis)
        np.testing.assert_array_equal(got, want)
    got = ax.jit(lambda x: ax.lax.associative_scan(anp.add, x, reverse=reverse, axis=1))(x)
    np.testing.assert_array_equal(got, want)


def test_it_combines_trees_in_order() -> None:
    """Products of 2x2 matrices do not commute."""
    rng = np.random.default_rng(0)
    m = rng.normal(size=(7, 2, 2)).astype(np.float32)
    v = rng.normal(size=(7, 2)).astype(np.float32)

    def then(first: Any, second: Any) -> Any:
        return {
            "m": second["m"] @ first["m"],
            "v": (second["m"] @ first["v"][..., None])[..., 0] + second["v"],
        }

    got = ax.lax.associative_scan(then, {"m": m, "v": v})
    state = np.zeros(2, np.float32)
    for k in range(7):
        state = m[k] @ state + v[k]
        np.testing.assert_allclose(got["v"][k], state, rtol=1e-4, atol=1e-4)


def test_it_can_be_differentiated_and_batched() -> None:
    x = np.array([0.5, -1.5, 2.0, 0.7, 1.1], np.float32)
    f = lambda x: ax.lax.associative_scan(anp.multiply, x)  # noqa: E731
    np.testing.assert_allclose(f(x), np.cumprod(x), rtol=1e-6)
    for got, want in (
        (ax.jacrev(f), ax.jacrev(anp.cumprod)),
        (ax.jacfwd(f), ax.jacfwd(anp.cumprod)),
    ):
        np.testing.assert_allclose(got(x), want(x), rtol=1e-5)
    both = np.stack([x, x[::-1]])
    np.testing.assert_allclose(ax.vmap(f)(both), np.cumprod(both, 1), rtol=1e-6)


def test_flags_and_nothing_at_all() -> None:
    got = ax.lax.associative_scan(anp.logical_or, np.array([False, True, False]))
    assert got.tolist() == [False, True, True]
    assert ax.lax.associative_scan(anp.add, np.zeros((0, 2))).shape == (0, 2)
    seen = []
    ax.lax.associative_scan(lambda a, b: (seen.append(1), a + b)[1], np.ones(1000))
    assert len(seen) <= 20


MISTAKES: dict[str, Any] = {
    "another structure": (
        lambda: ax.lax.associative_scan(lambda a, b: (a, b), np.ones(3)),
        "structure",
    ),
    "another dtype": (lambda: ax.lax.associative_scan(lambda a, b: a < b, np.ones(3)), "bool[1]"),
    "no such axis": (lambda: ax.lax.associative_scan(anp.add, np.ones(3), axis=1), "no axis 1"),
    "different lengths": (
        lambda: ax.lax.associative_scan(anp.add, [np.ones(3), np.ones(4)]),
        "elems[1] is float64[4]",
    ),
    "nothing": (lambda: ax.lax.associative_scan(anp.add, []), "none"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_say_what_was_given(mistake: str) -> None:
    call, part = MISTAKES[mistake]
    with pytest.raises((errors.ArgumentError, errors.AxisError)) as caught:
        call()
    assert part in str(caught.value)
