"""Pullbacks and pushforwards as trees: out of compiled functions, and into them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors

X = np.array([[0.5, -1.0, 2.0], [1.0, 0.0, -0.5]], np.float32)
W = np.linspace(-0.5, 0.5, 9, dtype=np.float32).reshape(3, 3)


def f(x: Any, w: Any) -> Any:
    return {"y": anp.tanh(x @ w), "n": anp.arange(3)}


CT = {"y": np.ones((2, 3), np.float32), "n": np.zeros(3, ax.float0)}


def close(got: Any, want: Any) -> None:
    for a, b in zip(ax.tree.leaves(got), ax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_a_pullback_comes_out_of_a_compiled_function_and_goes_into_one(backend: str) -> None:
    with ax.default_backend(backend):
        _, want = ax.vjp(f, X, W)
        out, pullback = ax.jit(lambda x, w: ax.vjp(f, x, w))(X, W)
        close(out["y"], np.tanh(X @ W))
        assert repr(pullback) == "<pullback of f>"
        for _ in range(2):
            close(pullback(CT), want(CT))
        close(ax.jit(lambda p: p(CT))(pullback), want(CT))
        close(ax.jit(lambda p: p(CT))(want), want(CT))


@pytest.mark.parametrize("inner", [lambda f: f, ax.jit, ax.checkpoint])
def test_a_pushforward_does_too(inner: Callable[..., Any]) -> None:
    _, push = ax.jit(lambda x: ax.linearize(inner(anp.sin), x))(X)
    close(push(X), np.cos(X) * X)
    close(ax.vmap(push)(np.stack([X, 2 * X])), np.stack([np.cos(X) * X, 2 * np.cos(X) * X]))


def test_pullbacks_are_batched_and_carried() -> None:
    pullbacks = ax.vmap(lambda x: ax.vjp(lambda x: anp.sum(anp.sin(x)), x)[1])(X)
    close(ax.vmap(lambda p: p(2.0)[0])(pullbacks), 2 * np.cos(X))
    chosen = ax.lax.cond(
        True, lambda x: ax.vjp(anp.sin, x)[1], lambda x: ax.vjp(anp.sin, 2 * x)[1], X
    )
    close(chosen(np.ones_like(X))[0], np.cos(X))


def test_what_it_needs_is_differentiated() -> None:
    def g(x: Any) -> Any:
        _, pullback = ax.jit(lambda x: ax.vjp(anp.sin, x))(x)
        return anp.sum(pullback(anp.ones_like(x))[0])

    for wrap in (lambda f: f, ax.jit):
        close(wrap(ax.grad(g))(X), -np.sin(X))
        close(wrap(ax.grad(lambda x: anp.sum(ax.grad(g)(x))))(X), -np.cos(X))


def test_rules_of_users_own_come_along() -> None:
    @ax.custom_vjp
    def square(x: Any) -> Any:
        return x * x

    square.defvjp(lambda x: (x * x, (x, "text")), lambda kept, ct: (100 * kept[0] * ct,))
    for inner in (square, ax.jit(square)):
        _, pullback = ax.jit(lambda x, g=inner: ax.vjp(g, x))(3.0)
        assert float(pullback(1.0)[0]) == 300.0


def test_equal_derivatives_have_equal_structures() -> None:
    one, other = (ax.vjp(f, x, W)[1] for x in (X, 2 * X))
    assert ax.tree.structure(one) == ax.tree.structure(other)
    assert all(isinstance(x, ax.Array) for x in ax.tree.leaves(one))
    doubled = ax.tree.map(lambda x: x, one)
    close(doubled(CT), one(CT))


def test_mistakes_with_one_that_came_out_of_a_compiled_function_name_the_path() -> None:
    _, pullback = ax.jit(lambda x, w: ax.vjp(f, x, w))(X, W)
    with pytest.raises(errors.TreeError, match="the cotangents need the structure"):
        pullback(3.0)
    with pytest.raises(errors.ArgumentError, match=r"the result\['y'\]"):
        pullback({"y": np.ones(2, np.float32), "n": CT["n"]})
    _, push = ax.jit(lambda x: ax.linearize(anp.sin, x))(X)
    with pytest.raises(errors.ArgumentError, match=r"args\[0\]"):
        push(np.ones(2, np.float32))
