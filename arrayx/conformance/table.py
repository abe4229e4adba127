"""All rows of the case table, gathered from the files of `arrayx.conformance.cases`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from arrayx.conformance import cases as files
from arrayx.conformance.case import Case


def cases() -> Iterator[Case]:
    """Every row, file by file: each file there has a tuple `CASES`."""
    for module in sorted(m.name for m in pkgutil.iter_modules(files.__path__)):
        yield from importlib.import_module(f"{files.__name__}.{module}").CASES


def covered() -> set[str]:
    """The names of the functions and primitives that have a row."""
    return {name for case in cases() for name in (case.name, *case.covers)}
