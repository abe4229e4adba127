"""The plugin as arrayx finds it: installed, known by its entry point alone."""

from __future__ import annotations

import arrayx_flops
import numpy as np

import arrayx as ax
import arrayx.numpy as anp


def test_the_backend_is_known_and_counts() -> None:
    assert "flops" in ax.backends.names()
    with ax.default_backend("flops"):
        x = anp.ones((8, 8))
        f = ax.jit(lambda v: anp.sum(v @ v))
        f(x)
        arrayx_flops.count.clear()
        np.testing.assert_allclose(f(x), 512.0)
    assert arrayx_flops.count == {"dot_general": 2 * 8**3, "reduce_sum": 64}


def test_gradients_run_on_it() -> None:
    with ax.default_backend("flops"):
        gradient = ax.grad(ax.jit(lambda v: anp.sum(anp.sin(v))))(anp.zeros(3))
        assert str(gradient.device) == "flops:cpu:0"
        np.testing.assert_allclose(gradient, [1.0, 1.0, 1.0])
