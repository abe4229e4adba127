"""All orders of grad, vmap, jit and pmap over programs with collectives, against plain loops."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import arrayx as ax
from arrayx.conformance.sections.orders import ORDERS, PROGRAMS, results

BACKENDS = [
    "numpy",
    pytest.param(
        "xla",
        marks=[
            pytest.mark.slow,
            pytest.mark.skipif(
                importlib.util.find_spec("jaxlib") is None,
                reason="the xla backend needs jaxlib: pip install 'arrayx[xla]'",
            ),
        ],
    ),
]


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("depth", ["first", pytest.param("second", marks=pytest.mark.slow)])
def test_every_order_of_the_transformations_equals_the_loop(
    order: tuple[str, ...], program: str, backend: str, depth: str
) -> None:
    with ax.default_backend(backend):
        got, wanted = results(order, program, depth, "float64")
        np.testing.assert_allclose(got, wanted, rtol=1e-7, atol=1e-9)
