"""`linear_transpose`, `custom_vmap`, and `verify=True` of custom rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors

X = np.arange(3.0, dtype=np.float32)
M = np.arange(6.0, dtype=np.float32).reshape(2, 3)
WRAPS: dict[str, Callable[..., Any]] = {"eager": lambda f: f, "jit": ax.jit}
LINEAR: dict[str, Callable[..., Any]] = {
    "product": lambda x: M @ x,
    "several": lambda x: {"a": x[::2] * 3, "b": anp.sum(x) - x[0]},
    "call": ax.jit(lambda x: M @ (2 * x)),
    "scan": lambda x: ax.lax.scan(lambda c, m: (c, m @ c), x, M)[1],
    "cond": lambda x: ax.lax.cond(True, lambda x: x, lambda x: -x, x),
    "choice": lambda x: anp.where(np.array([True, False, True]), x, 0),
    "unused": lambda x: anp.ones(2),
}


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("name", LINEAR)
def test_a_transpose_is_the_pullback_of_a_linear_function(name: str, wrap: str) -> None:
    f = LINEAR[name]
    out, pullback = ax.vjp(f, X)
    ct = ax.tree.map(lambda x: anp.arange(1.0, x.size + 1).reshape(x.shape), out)
    transpose = ax.linear_transpose(f, ax.ShapeDtypeStruct((3,), "float32"))
    (got,), (want,) = WRAPS[wrap](transpose)(ct), pullback(ct)
    np.testing.assert_allclose(np.asarray(got), np.asarray(want))


def test_a_transpose_transposes_back_and_is_batched() -> None:
    transpose = ax.linear_transpose(lambda x: M @ x, X)
    back = ax.linear_transpose(lambda y: transpose(y)[0], np.ones(2, np.float32))
    np.testing.assert_allclose(np.asarray(back(X)[0]), M @ X)
    got = ax.vmap(lambda y: transpose(y)[0])(np.eye(2, dtype=np.float32))
    np.testing.assert_allclose(np.asarray(got), M)
    # What the function closes over is differentiated.
    f = lambda w: ax.linear_transpose(lambda x: w * x, 1.0)(2.0)[0]  # noqa: E731
    assert float(ax.grad(f)(3.0)) == 2.0


def both(c: Any) -> tuple[Any, Any]:
    """A value that is known, and one that is linear."""
    return anp.sin(c[0]), c[1] * c[0]


K = np.float32(0.7)
# Each gives a known value and a linear one, of which the function makes a product.
MIXING: dict[str, Callable[..., Any]] = {
    "call": lambda x: ax.jit(lambda x: both((K, x)))(x),
    "checkpoint": lambda x: ax.checkpoint(lambda x: both((K, x)))(x),
    "scan": lambda x: ax.lax.scan(lambda c, _: (both(c), None), (K, x), None, length=2)[0],
    "fori_loop": lambda x: ax.lax.fori_loop(0, 2, lambda _, c: both(c), (K, x)),
    "cond": lambda x: ax.lax.cond(anp.asarray(K) > 0, both, lambda c: c, (anp.asarray(K), x)),
}
AROUND: dict[str, Callable[..., Any]] = {
    "jit": ax.jit,
    "jit twice": lambda f: ax.jit(ax.jit(f)),
    "scan": lambda f: lambda x: ax.lax.scan(lambda c, _: (c, f(c)), x, None, length=2)[1],
    "cond": lambda f: lambda x: ax.lax.cond(anp.asarray(K) > 0, f, lambda x: x, x),
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("name", MIXING)
def test_known_values_beside_linear_ones_are_computed_in_a_transpose(
    name: str, around: str
) -> None:
    def product(x: Any) -> Any:
        known, linear = MIXING[name](x)
        return linear * known

    f = AROUND[around](product)
    ct = anp.ones_like(f(X))
    (got,), (want,) = ax.linear_transpose(f, X)(ct), ax.vjp(f, X)[1](ct)
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-6)


NOT_LINEAR: dict[str, tuple[Callable[..., Any], Any, str]] = {
    "a product": (lambda x: x * x, X, "'mul'"),
    "a contraction": (lambda x: x @ x, X, "'dot_general'"),
    "a function": (anp.sin, X, "'sin'"),
    "a quotient": (lambda x: 1 / x, X, "'div'"),
    "a comparison": (lambda x: anp.where(x > 0, x, 0), X, "'gt'"),
    "an integer": (lambda x: x, np.arange(3), "which has no cotangent"),
}


@pytest.mark.parametrize("name", NOT_LINEAR)
def test_what_is_not_linear_is_refused(name: str) -> None:
    f, x, part = NOT_LINEAR[name]
    with pytest.raises(errors.GradError) as caught:
        ax.linear_transpose(f, x)
    assert part in str(caught.value)


# ----------------------------------------------------------------- custom_vmap


def marked() -> tuple[Any, list[Any]]:
    """A function whose batches can be told from its calls, and what its rule was told."""
    told: list[Any] = []

    @ax.custom_vmap
    def f(x: Any, y: Any) -> Any:
        return {"sum": x + y, "second": y}

    @f.def_vmap
    def rule(axis_size: int, in_batched: Any, x: Any, y: Any) -> Any:
        told.append((axis_size, in_batched, x.shape, y.shape))
        return {"sum": 100 + x + y, "second": y}, {"sum": True, "second": in_batched[1]}

    return f, told


@pytest.mark.parametrize("wrap", WRAPS)
def test_a_batch_is_the_rule(wrap: str) -> None:
    f, told = marked()
    assert float(WRAPS[wrap](f)(1.0, 2.0)["sum"]) == 3.0
    got = WRAPS[wrap](ax.vmap(f, (0, None)))(X, np.float32(2))
    np.testing.assert_array_equal(np.asarray(got["sum"]), 102 + X)
    np.testing.assert_array_equal(np.asarray(got["second"]), [2, 2, 2])
    assert told == [(3, [True, False], (3,), ())]
    told.clear()
    WRAPS[wrap](ax.vmap(f, (1, 0)))(M, np.ones(3, np.float32)[:, None])
    assert told == [(3, [True, True], (3, 2), (3, 1))]


@pytest.mark.parametrize("wrap", WRAPS)
def test_derivatives_are_those_of_the_function_or_of_its_rule(wrap: str) -> None:
    f, _ = marked()
    total = lambda x: anp.sum(ax.vmap(f, (0, None))(x, 2.0)["sum"] ** 2)  # noqa: E731
    np.testing.assert_allclose(np.asarray(WRAPS[wrap](ax.grad(total))(X)), 2 * (102 + X))
    one = lambda x: f(x, x)["sum"] ** 2  # noqa: E731
    np.testing.assert_allclose(np.asarray(WRAPS[wrap](ax.vmap(ax.grad(one)))(X)), 8 * X)


@pytest.mark.parametrize("wrap", WRAPS)
def test_rules_may_close_over_traced_values(wrap: str) -> None:
    def f(w: Any) -> Any:
        g = ax.custom_vmap(lambda x: w * x)
        g.def_vmap(lambda size, batched, x: (10 * w * x, True))
        return anp.sum(ax.vmap(g)(X))

    assert float(WRAPS[wrap](ax.grad(f))(2.0)) == 30.0


@pytest.mark.parametrize("wrap", WRAPS)
def test_a_sequential_batch_runs_one_by_one(wrap: str) -> None:
    seen: list[Any] = []

    @ax.custom_batching.sequential_vmap
    def f(x: Any, y: Any) -> Any:
        ax.debug.callback(lambda x, y: seen.append((x.shape, float(y))), x, y)
        return x * y

    got = WRAPS[wrap](ax.vmap(f, (None, 0)))(X, X)
    np.testing.assert_allclose(np.asarray(got), np.outer(X, X))
    assert seen == [((3,), 0.0), ((3,), 1.0), ((3,), 2.0)]


def with_rule(rule: Any) -> Any:
    f = ax.custom_vmap(lambda x: (x, x))
    f.def_vmap(rule)
    return ax.vmap(ax.jit(f))(X)


MISTAKES: dict[str, tuple[Callable[[], Any], type, str]] = {
    "no rule": (
        lambda: ax.custom_vmap(anp.sin)(1.0),
        errors.ArgumentError,
        "sin.def_vmap(...)",
    ),
    "no pair": (lambda: with_rule(lambda n, b, x: x), errors.ArgumentError, "(result, result_b"),
    "another structure": (
        lambda: with_rule(lambda n, b, x: (x, True)),
        errors.TreeError,
        "itself returns PyTreeDef((*, *))",
    ),
    "flags of another structure": (
        lambda: with_rule(lambda n, b, x: ((x, x), (True,))),
        errors.TreeError,
        "tree of booleans",
    ),
    "flags that are none": (
        lambda: with_rule(lambda n, b, x: ((x, x), 1)),
        errors.ArgumentError,
        "by booleans",
    ),
    "a batch that is none": (
        lambda: with_rule(lambda n, b, x: ((x, 1.0), True)),
        errors.ShapeError,
        "not of length 3",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_with_batching_rules_say_what_was_expected(mistake: str) -> None:
    call, kind, part = MISTAKES[mistake]
    with pytest.raises(kind) as caught:
        call()
    assert part in str(caught.value)


# ----------------------------------------------------------------- verify


def by_jvp(slope: Callable[[Any], Any]) -> Any:
    f = ax.custom_jvp(lambda x, n: anp.sin(x) * n, nondiff_argnums=(1,), verify=True)
    f.defjvp(lambda n, p, t: (f(p[0], n), slope(p[0]) * n * t[0]))
    return lambda x: f(x, 2.0)


def by_vjp(slope: Callable[[Any], Any]) -> Any:
    f = ax.custom_vjp(anp.sin, verify=True)
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (slope(x) * ct,))
    return f


@pytest.mark.parametrize("maker", [by_jvp, by_vjp])
def test_a_rule_that_is_verified_is_compared_where_there_are_values(maker: Any) -> None:
    right, wrong = maker(anp.cos), maker(lambda x: anp.cos(x) + 1)
    for call in (lambda f: f(X), lambda f: ax.vmap(ax.grad(f))(X)):
        call(right)
    for call in (lambda f: f(0.3), lambda f: ax.grad(f)(0.3), lambda f: ax.grad(ax.grad(f))(0.3)):
        call(right)
        with pytest.raises(errors.GradError, match="verify=True, is not its derivative"):
            call(wrong)
    ax.jit(wrong)(0.3)  # there are no values
