"""The first-party backends pass the sections of the suite that are not rows of functions.

Rows are walked by test_cases.py; the core level of both backends is run by the continuous
integration script through the command line, as a third party runs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from arrayx import errors
from arrayx.backend.registry import registry
from arrayx.conformance.item import FULL, Item, NotYet
from arrayx.conformance.sections.table import SECTIONS, items

BACKENDS = ("numpy", "xla")
OF_ROWS = {"values", "types", "edges", "derivatives", "vmap", "compiled"}
# Quick on NumPy, where nothing is compiled for long.
PLAIN = {"dtypes", "indexing", "random_bits", "effects", "dlpack", "serialization", "mistakes"}
# What arrayx has no capability for yet: a section that is built leaves this list.
NOT_YET = {
    "serialization/executables_are_serialised",
    "parallel/pmap_runs_on_several_devices",
    "parallel/arrays_are_sharded_over_a_mesh",
}


def chosen() -> Iterator[Any]:
    for backend in BACKENDS:
        try:
            registry.get(backend)
        except errors.BackendUnavailableError as error:
            yield pytest.param(None, backend, id=backend, marks=pytest.mark.skip(str(error)))
            continue
        for item in items(backend, FULL):
            if item.section in OF_ROWS:
                continue
            quick = backend == "numpy" and (item.core or item.section in PLAIN)
            marks = () if quick else (pytest.mark.slow,)
            yield pytest.param(item, backend, id=f"{backend}-{item.id}", marks=marks)


@pytest.mark.parametrize(("item", "backend"), list(chosen()))
def test_a_first_party_backend_passes_every_section(item: Item, backend: str) -> None:
    if item.id in NOT_YET:
        with pytest.raises(NotYet):
            item.check()
        return
    try:
        item.check()
    except errors.UnsupportedError as refusal:
        pytest.skip(str(refusal))


def test_every_section_says_what_it_is_about() -> None:
    assert all(SECTIONS.values())
