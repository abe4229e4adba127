"""All rows of the case table: those of primitives, and those of public functions."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

from arrayx.conformance import cases as primitives
from arrayx.conformance import functions as public
from arrayx.conformance.case import Case


def cases() -> Iterator[Case]:
    """Every row of a primitive, file by file: each file of `cases/` has a tuple `CASES`."""
    return _rows(primitives)


def functions() -> Iterator[Case]:
    """Every row of a public function: each file of `functions/` has a tuple `CASES`."""
    return _rows(public)


def _rows(package: ModuleType) -> Iterator[Case]:
    for module in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
        yield from importlib.import_module(f"{package.__name__}.{module}").CASES


def covered() -> set[str]:
    """The names of the primitives that have a row."""
    return {name for case in cases() for name in (case.name, *case.covers)}


def covered_functions() -> set[str]:
    """The dotted names of the public functions that have a row."""
    return {name for case in functions() for name in (case.name, *case.covers)}
