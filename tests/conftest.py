"""Settings of the test run: graphs are checked after every transformation."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

# A developer's environment must not decide; settings are read from it when arrayx is imported.
for variable in [name for name in os.environ if name.startswith("ARRAYX_")]:
    if not variable.startswith("ARRAYX_TEST_"):
        del os.environ[variable]

# Tests of several devices need two, and the first test that uses XLA in this process decides.
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=2")

from arrayx.config import config  # noqa: E402


@pytest.fixture(autouse=True)
def graphs_are_checked(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every graph that a test makes is checked; tests of the settings see the defaults."""
    if "ground" in request.path.parts:
        yield
        return
    with config(check_graphs=True):
        yield
