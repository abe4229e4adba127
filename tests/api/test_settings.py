"""Settings under JAX's names: each holds inside its block, and not after it."""

from __future__ import annotations

import logging
from typing import Any

import pytest

import arrayx as ax


def test_checks_of_graphs_are_on_inside() -> None:
    before = ax.config.check_graphs
    for value in (True, False):
        with ax.enable_checks(value):
            assert ax.config.check_graphs is value
    assert ax.config.check_graphs is before


@pytest.mark.parametrize("setting", [ax.log_compiles, ax.explain_cache_misses, ax.log_recompiles])
def test_traces_are_logged_inside(setting: Any, caplog: pytest.LogCaptureFixture) -> None:
    double = ax.jit(lambda x: 2 * x)
    with caplog.at_level(logging.WARNING, "arrayx"):
        with setting():
            double(1.0)
        assert ["trace 1" in r.getMessage() for r in caplog.records] == [True]
        with setting(False):
            double(1)
        double(True)
    assert len(caplog.records) == 1
