"""The items of whole programs: each file of `arrayx/conformance/compositions/` is a section."""

from __future__ import annotations

from collections.abc import Iterator

from arrayx.conformance.checks import CHECKS, REFERENCE, RELATIVE
from arrayx.conformance.item import Item
from arrayx.conformance.sections import rows
from arrayx.conformance.table import compositions

# What the level "core" asks of a program; "full" asks everything.
_CORE = ("value", "vmap", "dot_product")


def items(backend: str) -> Iterator[Item]:
    """Every check of every program."""
    for section, case in compositions():
        for check in CHECKS:
            if check.name in RELATIVE and backend == REFERENCE:
                continue
            for i, dtype in enumerate(check.dtypes(case)):
                core = i == 0 and check.name in _CORE
                yield rows.item(case, check, dtype, backend, section=section, owed=core, core=core)
