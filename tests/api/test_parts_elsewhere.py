"""A part of a compiled program that asks for another backend than the program runs on."""

from __future__ import annotations

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
