"""The one test of the suite, run by pytest for every item: see `arrayx.conformance.plugin`."""

from __future__ import annotations

import pytest

from arrayx import errors
from arrayx.backend.registry import registry
from arrayx.config import config
from arrayx.conformance.item import OWED_DTYPES, REFUSED, Item, NotYet
from arrayx.conformance.plugin import items_of


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "item" in metafunc.fixturenames:
        metafunc.parametrize("item", [pytest.param(i, id=i.id) for i in items_of(metafunc.config)])


def test(item: Item, pytestconfig: pytest.Config) -> None:
    """Checks one item; a refusal of what is owed is a failure."""
    name = pytestconfig.getoption("--backend")
    lacking = registry.get(name).dtypes
    if item.dtype and lacking is not None and item.dtype not in lacking:
        told = f"backend {name!r} does not declare the dtype {item.dtype}"
        if item.owed and item.dtype in OWED_DTYPES:
            raise AssertionError(f"{told}, which every backend owes")
        pytest.skip(f"{REFUSED}: {told}")
    try:
        with config(check_graphs=True):
            item.check()
    except errors.UnsupportedError as refusal:
        if item.owed and not isinstance(refusal, errors.UnsupportedDtypeError):
            raise AssertionError(f"refuses what every backend owes: {refusal}") from refusal
        pytest.skip(f"{REFUSED}: {refusal}")
    except NotYet as reason:
        pytest.skip(f"not yet: {reason}")
