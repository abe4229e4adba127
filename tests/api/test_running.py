"""`disable_jit`, `ensure_compile_time_eval`, names, and graphs under JAX's name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors
from arrayx.core.interpreter import Tracer

X = np.arange(3.0, dtype=np.float32)


def test_nothing_is_staged_while_jit_is_disabled() -> None:
    seen: list[bool] = []

    @ax.jit
    def f(x: Any) -> Any:
        seen.append(isinstance(x, Tracer))
        return x * 2

    for call in (lambda: f(X), lambda: f(x=anp.ones(2)), lambda: f(1.0)):
        call()
        with ax.disable_jit():
            call()
        with ax.config(disable_jit=True), ax.disable_jit(False):
            call()
    assert seen.count(False) == 3
    seen.clear()
    with ax.disable_jit():
        f(anp.asarray(X))  # of types that a program is kept for
    assert seen == [False]


def program(x: Any) -> Any:
    values: list[float] = []

    def note(c: Any) -> Any:
        values.append(float(c))
        return c

    y = ax.lax.while_loop(lambda c: c < 3, lambda c: note(c) + 1, x)
    y, ys = ax.lax.scan(lambda c, i: (note(c) + i, 2 * i), y, np.arange(2), reverse=True)
    y = ax.lax.fori_loop(0, 2, lambda i, c: note(c) * 2, y)
    y = ax.lax.cond(y > 3, lambda c: note(c) + 1, lambda c: c, y)
    y = ax.lax.switch(np.int32(5), [lambda c: c, lambda c: note(c) * c], y)
    return y * ax.checkpoint(lambda c: note(c))(y) + anp.sum(ys), values


def test_loops_and_branches_are_python_while_jit_is_disabled() -> None:
    with pytest.raises(errors.ConcretizationError):
        program(1.0)
    with ax.disable_jit():
        value, values = program(1.0)
        gradient, more = ax.grad(program, has_aux=True)(1.0)
    assert values == more == [1.0, 2.0, 3.0, 4.0, 4.0, 8.0, 16.0, 17.0, 289.0]
    assert float(value) == 289.0**2 + 2
    assert float(gradient) == 2 * 289 * 2 * 17 * 4
    with ax.disable_jit():  # what Python cannot decide is staged as ever
        got = ax.vmap(lambda x: ax.lax.while_loop(lambda c: c < 3, lambda c: c + 1, x))(X)
        both = ax.lax.scan(lambda c, x: (c, x), 1.0, X[:0])
    assert got.tolist() == [3.0, 3.0, 3.0]
    assert both[1].shape == (0,)


def test_known_values_are_computed_at_once() -> None:
    @ax.jit
    def f(x: Any) -> Any:
        with ax.ensure_compile_time_eval():
            n = int(anp.sum(anp.arange(3)))
            assert isinstance(anp.sin(x), Tracer)
            assert not isinstance(ax.jit(anp.cos)(1.0), Tracer)
        with pytest.raises(errors.ConcretizationError):
            int(anp.sum(anp.arange(3)))
        return x * n

    np.testing.assert_array_equal(np.asarray(f(X)), 3 * X)
    np.testing.assert_array_equal(np.asarray(ax.vmap(ax.grad(f))(X)), [3, 3, 3])


def test_a_named_call_is_a_call_of_that_name() -> None:
    f = ax.named_call(lambda x, word="": anp.sin(x), name="wave")
    text = str(ax.make_graph(lambda x: f(x) + f(x, "text"))(X))
    assert text.count("name='wave'") == 1
    for wrap in (lambda f: f, ax.jit, ax.vmap):
        np.testing.assert_allclose(np.asarray(wrap(f)(X)), np.sin(X), rtol=1e-6)
    with ax.default_backend("xla"):
        assert "func.func private @wave" in ax.jit(lambda x: f(x) + 1).lower(X).as_text()
    # Elsewhere Python's control flow on values goes on as before.
    assert float(ax.grad(ax.named_call(lambda x: x if x > 0 else -x))(-2.0)) == -1.0


def test_scopes_are_blocks_and_decorators() -> None:
    @ax.named_scope("doubled")
    def f(x: Any) -> Any:
        with ax.named_scope("inner"):
            return 2 * x

    assert float(ax.jit(f)(2.0)) == 4.0
    for mistake in (lambda: ax.named_scope(3), lambda: ax.named_call(anp.sin, name=3)):
        with pytest.raises(errors.ArgumentError, match="got 3"):
            mistake()


def test_a_graph_is_made_under_the_name_of_jax_too() -> None:
    graph, shape = ax.make_jaxpr(
        lambda x, n: x * n * ax.lax.axis_size("i"),
        static_argnums=1,
        axis_env=[("i", 5)],
        return_shape=True,
    )(X, 2)
    assert shape == ax.ShapeDtypeStruct((3,), "float32")
    assert "mul" in str(graph)
