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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--slice",
        metavar="K/N",
        help="run only every N-th test, beginning with number K (from 0): for heavy sweeps",
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves one slice of the tests that were selected."""
    text = config.getoption("--slice")
    if text is None:
        return
    number, of = (int(part) for part in text.split("/"))
    kept = items[number % of :: of]
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept
