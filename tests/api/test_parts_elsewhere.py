"""A part of a compiled program that asks for another place than the program runs on."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors

pytest.importorskip("jaxlib")

X = np.array([0.5, 0.25], np.float32)


def inner_jit(x: Any) -> Any:
    return ax.jit(anp.sin, device="xla")(x)


def inner_backend(x: Any) -> Any:
    return ax.jit(anp.sin, backend="xla")(x)


def moved(x: Any) -> Any:
    return anp.sin(ax.device_put(x, "xla"))


def in_a_loop(x: Any) -> Any:
    return ax.lax.scan(lambda c, _: (moved(c), None), x, None, length=2)[0]


PARTS = [inner_jit, inner_backend, moved, in_a_loop]


@pytest.mark.parametrize("part", PARTS)
def test_it_is_refused_with_both_names(part: Any) -> None:
    for wrap in (lambda f: f, ax.vmap, lambda f: ax.grad(lambda x: anp.sum(f(x)))):
        with pytest.raises(errors.MixedBackendsError) as caught:
            ax.jit(wrap(part))(X)
        for words in ("'numpy'", "'xla'", "ax.jit with device=", "outermost"):
            assert words in str(caught.value)


@pytest.mark.parametrize("part", PARTS)
def test_on_that_backend_it_changes_nothing(part: Any) -> None:
    result = ax.jit(part, backend="xla")(X)
    assert result.device.backend.name == "xla"
    assert ax.jit(part)(ax.device_put(X, "xla")).device.backend.name == "xla"


@pytest.mark.parametrize("part", [inner_jit, inner_backend, moved])
def test_called_alone_it_moves_its_argument(part: Any) -> None:
    assert part(X).device.backend.name == "xla"
    np.testing.assert_allclose(part(X), np.sin(X), rtol=1e-6)


OTHER = "xla:cpu:1"
ON_THE_OTHER = [
    lambda x: ax.jit(anp.sin, device=OTHER)(x),
    lambda x: anp.sin(ax.device_put(x, OTHER)),
    lambda x: ax.lax.scan(lambda c, _: (ax.device_put(c, OTHER), None), x, None, length=2)[0],
]


@pytest.mark.parametrize("part", ON_THE_OTHER)
def test_another_device_of_the_same_backend_is_refused_too(part: Any) -> None:
    first, second = ax.devices("xla")[:2]
    assert str(second) == OTHER
    for wrap in (lambda f: f, ax.vmap, lambda f: ax.grad(lambda x: anp.sum(f(x)))):
        with pytest.raises(errors.MixedBackendsError) as caught:
            ax.jit(wrap(part), device=first)(X)
        for words in (repr(str(first)), repr(OTHER), "ax.jit with device=", "one device"):
            assert words in str(caught.value)
        on_device = ax.jit(wrap(part), device=second)(X)
        assert on_device.device is second
        by_argument = ax.jit(wrap(part))(ax.device_put(X, second))
        assert by_argument.device is second


def test_a_constant_from_another_device_is_put_where_the_program_runs() -> None:
    first, second = ax.devices("xla")[:2]
    here = ax.device_put(X, first)

    @partial(ax.jit, device=second)
    def f(x: Any) -> Any:
        return x + ax.grad(lambda y: anp.sum(ax.jit(anp.sin, device=second)(y)))(here)

    result = f(X)
    assert result.device is second
    np.testing.assert_allclose(result, X + np.cos(X), rtol=1e-6)
