"""Rows of which `where=` leaves nothing: values as they are defined, slopes of 0."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp

NEEDS_XLA = pytest.mark.skipif(
    importlib.util.find_spec("jaxlib") is None,
    reason="the xla backend needs jaxlib: pip install 'arrayx[xla]'",
)
BACKENDS = ["numpy", pytest.param("xla", marks=NEEDS_XLA)]
X = np.array([[0.3, -1.0, 2.0], [0.5, 0.1, -0.2]])
EMPTY = np.array([[True, False, True], [False, False, False]])
VALUES = {"softmax": 0.0, "log_softmax": -np.inf, "logsumexp": -np.inf}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", VALUES)
def test_a_row_that_where_empties_has_no_slopes(name: str, backend: str) -> None:
    function = getattr(ax.nn, name)
    f = lambda x: function(x, axis=-1, where=EMPTY)  # noqa: E731
    with ax.default_backend(backend):
        value = np.asarray(f(X))
        first = np.asarray(ax.jacrev(f)(X))
        forward = np.asarray(ax.jacfwd(f)(X))
        second = np.asarray(ax.jacfwd(ax.jacrev(f))(X))
        twice = np.asarray(ax.jacrev(ax.jacrev(f))(X))
        compiled = np.asarray(ax.jit(ax.jacfwd(ax.jacrev(f)))(X))
    np.testing.assert_array_equal(value[1], np.full(value.shape[1:], VALUES[name]))
    for slopes in (first, forward, second, twice, compiled):
        np.testing.assert_array_equal(slopes[1], np.zeros(slopes.shape[1:]))
        assert np.isfinite(slopes).all() and slopes[0].any()
    # What is left of a row is as if nothing else had been there.
    chosen = X[0, EMPTY[0]]
    with ax.default_backend(backend):
        alone = np.asarray(ax.jacfwd(ax.jacrev(lambda x: function(x, axis=-1)))(chosen))
    kept = second[0][..., 0, :, 0, :]
    rows = (kept if kept.ndim == 2 else kept[EMPTY[0]])[..., EMPTY[0], :][..., EMPTY[0]]
    np.testing.assert_allclose(rows, alone, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("where", ["an argument", "batched"])
def test_the_row_may_be_empty_by_what_is_computed(where: str, backend: str) -> None:
    def loss(x: Any, mask: Any) -> Any:
        return anp.sum(anp.sin(ax.nn.softmax(x, axis=-1, where=mask) + x[..., :1]))

    with ax.default_backend(backend):
        if where == "batched":
            got = ax.vmap(ax.jit(ax.grad(loss)))(X, EMPTY)
        else:
            got = ax.jit(ax.grad(loss))(X, EMPTY)
    got = np.asarray(got)
    assert np.isfinite(got).all()
    np.testing.assert_allclose(got[1], [3 * np.cos(0.5), 0.0, 0.0], rtol=1e-12)
