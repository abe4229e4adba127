"""Walks the case table on the first-party backends."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import pytest

from arrayx import control, errors, primitives
from arrayx.backend.registry import registry
from arrayx.conformance.checks import CHECKS
from arrayx.conformance.table import cases, covered
from arrayx.core.primitive import Primitive

BACKENDS = ("numpy", "xla")
ROWS = tuple(cases())


def _reason(backend: str) -> str:
    """Why a backend cannot be tested here; empty where it can."""
    try:
        registry.get(backend)
    except errors.BackendUnavailableError as error:
        return str(error)
    return ""


REASONS = {backend: _reason(backend) for backend in BACKENDS}


def combinations() -> list[Any]:
    """Every check of every row on every backend; a backend that is missing is one skip."""
    found = []
    for backend in BACKENDS:
        if REASONS[backend]:
            mark = pytest.mark.skip(reason=REASONS[backend])
            found.append(pytest.param(None, None, backend, id=backend, marks=mark))
            continue
        for case in ROWS:
            for check in CHECKS:
                if check.dtypes(case):
                    name = f"{backend}-{case.id}-{check.name}"
                    # What compiles for each row takes minutes.
                    marks = () if backend == "numpy" else (pytest.mark.slow,)
                    found.append(pytest.param(case, check, backend, id=name, marks=marks))
    return found


@pytest.mark.parametrize(("case", "check", "backend"), combinations())
def test_every_row_passes_every_check(case: Any, check: Any, backend: str) -> None:
    refusals = []
    for dtype in check.dtypes(case):
        try:
            check.function(case, dtype, backend)
        except errors.UnsupportedError as refusal:
            refusals.append(str(refusal))
    if len(refusals) == len(check.dtypes(case)):
        pytest.skip(refusals[0])


def core_primitives() -> list[str]:
    """The names of the primitives that every backend owes, control flow apart."""
    for module in pkgutil.iter_modules(primitives.__path__):
        importlib.import_module(f"{primitives.__name__}.{module.name}")
    return sorted(
        name
        for name, primitive in Primitive.named.items()
        if primitive.expand is None
        and type(primitive).__module__.startswith(f"{primitives.__name__}.")
        and not type(primitive).__module__.startswith(f"{control.__name__}.")
    )


def test_every_core_primitive_has_a_row() -> None:
    missing = [name for name in core_primitives() if name not in covered()]
    assert not missing, f"no row in arrayx/conformance/cases/ for: {', '.join(missing)}"


def test_rows_have_distinct_names() -> None:
    names = [case.id for case in ROWS]
    assert len(names) == len(set(names)), sorted(n for n in names if names.count(n) > 1)
