"""Traced values that are stored outside of their function, found at the end of the block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.errors import LeakedTracerError


class Holder:
    """Something with attributes."""

    value: Any = None


def test_the_value_its_line_and_its_holder_are_named() -> None:
    holder = Holder()

    def function(x: Any) -> Any:
        holder.value = x * 2
        return x

    line = function.__code__.co_firstlineno + 1
    with pytest.raises(LeakedTracerError) as caught, ax.debug.check_leaks():
        ax.jit(function)(1.0)
    text = str(caught.value)
    assert "1 traced value is held after its transformation ended" in text
    assert f"test_leaks.py:{line}" in text and "from the argument x" in text
    assert "Holder" in text


@pytest.mark.parametrize("transform", [ax.jit, ax.grad, lambda f: lambda x: ax.vmap(f)(x[None])])
def test_every_transformation_is_watched(transform: Any) -> None:
    kept: list[Any] = []

    def function(x: Any) -> Any:
        kept.append(x)
        return x * 1.0

    wanted = pytest.raises(LeakedTracerError, match="Return values from the function")
    with wanted, ax.debug.check_leaks():
        transform(function)(np.float32(1))
    assert kept


def test_functions_that_return_their_results_leak_nothing() -> None:
    step = lambda c, e: (c + e, c * e)  # noqa: E731
    loss = ax.jit(lambda x: anp.sum(ax.lax.scan(step, x[0], x)[1]))
    x = np.arange(3.0)
    with ax.debug.check_leaks():
        ax.grad(loss)(x)
        ax.jacrev(ax.jit(anp.sin))(x)
        ax.vmap(ax.grad(loss))(x[None])
        ax.hessian(loss)(x)
        ax.jvp(loss, (x,), (x,))


def test_what_leaked_before_is_not_counted() -> None:
    kept: list[Any] = []
    ax.jit(lambda x: kept.append(x) or x)(1.0)
    with ax.debug.check_leaks():
        ax.jit(lambda x: x + 1)(1.0)
    assert kept
