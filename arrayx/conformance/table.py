"""All rows of the case table: of primitives, of public functions, and of whole programs."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from arrayx.conformance import cases as primitives
from arrayx.conformance import compositions as composed
from arrayx.conformance import functions as public
from arrayx.conformance.case import Case


def cases() -> Iterator[Case]:
    """Every row of a primitive, file by file: each file of `cases/` has a tuple `CASES`."""
    return _rows(primitives)


def functions() -> Iterator[Case]:
    """Every row of a public function: each file of `functions/` has a tuple `CASES`."""
    return _rows(public)


def compositions() -> Iterator[tuple[str, Case]]:
    """Every row of a whole program, with the name of its file in `compositions/`."""
    for module in _modules(composed):
        yield from ((module.__name__.rpartition(".")[2], case) for case in module.CASES)


def every_row() -> Iterator[tuple[str, Case]]:
    """All rows there are, by the names that reports call them."""
    yield from ((case.id, case) for case in cases())
    yield from ((case.id, case) for case in functions())
    yield from ((f"{section}/{case.id}", case) for section, case in compositions())


def _rows(package: ModuleType) -> Iterator[Case]:
    for module in _modules(package):
        yield from module.CASES


def _modules(package: ModuleType) -> Iterator[Any]:
    for name in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
        yield importlib.import_module(f"{package.__name__}.{name}")


def covered() -> set[str]:
    """The names of the primitives that have a row."""
    return {name for case in cases() for name in (case.name, *case.covers)}


def covered_functions() -> set[str]:
    """The dotted names of the public functions that have a row."""
    return {name for case in functions() for name in (case.name, *case.covers)}
