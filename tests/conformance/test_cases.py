"""Walks the case table on the first-party backends."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest

from arrayx import control, errors, primitives
from arrayx.backend.registry import registry
from arrayx.conformance.checks import CHECKS, REFERENCE
from arrayx.conformance.public import WITHOUT_ROW, public_names, resolved
from arrayx.conformance.table import cases, covered, covered_functions, functions
from arrayx.core.primitive import Primitive

BACKENDS = ("numpy", "xla")
ROWS = tuple(cases())
FUNCTIONS = tuple(functions())
PUBLIC = set(FUNCTIONS)


def _reason(backend: str) -> str:
    """Why a backend cannot be tested here; empty where it can."""
    try:
        registry.get(backend)
    except errors.BackendUnavailableError as error:
        return str(error)
    return ""


REASONS = {backend: _reason(backend) for backend in BACKENDS}


# What the plain run checks of a public function, in one dtype: the primitives below it have had
# every check.  The slow sweep does them all in all dtypes.
PLAIN = {
    ("numpy", "value"),
    ("numpy", "dot_product"),
    ("xla", "agreement"),
    ("xla", "placement"),
}
# The first row of each public function: what compiles does so for these alone in the plain run.
FIRST = {id(case) for case in {case.name: case for case in reversed(FUNCTIONS)}.values()}
# What compares a backend with the reference.
RELATIVE = ("agreement", "placement")


def combinations() -> Iterator[Any]:
    """Every check of every row on every backend; a backend that is missing is one skip."""
    for backend in BACKENDS:
        if REASONS[backend]:
            mark = pytest.mark.skip(reason=REASONS[backend])
            yield pytest.param(None, None, (), backend, id=backend, marks=mark)
            continue
        for case in (*ROWS, *FUNCTIONS):
            for check in CHECKS:
                wanted = check.dtypes(case)
                if not wanted or (check.name in RELATIVE and backend == REFERENCE):
                    continue
                name = f"{backend}-{case.id}-{check.name}"
                function = case in PUBLIC
                if check.name == "placement" and not function:
                    continue  # rules make constants where their caller says
                # What compiles for each row takes minutes.
                slow = function or backend != "numpy"
                plain = (backend, check.name) in PLAIN
                if function and plain and (backend == "numpy" or id(case) in FIRST):
                    one = (case.main_dtype,)
                    yield pytest.param(case, check, one, backend, id=f"{name}-{one[0]}")
                    wanted = tuple(d for d in wanted if d not in one)
                if wanted:
                    marks = (pytest.mark.slow,) if slow else ()
                    yield pytest.param(case, check, wanted, backend, id=name, marks=marks)


@pytest.mark.parametrize(("case", "check", "dtypes", "backend"), list(combinations()))
def test_every_row_passes_every_check(
    case: Any, check: Any, dtypes: tuple[str, ...], backend: str
) -> None:
    refusals = []
    for dtype in dtypes:
        try:
            check.function(case, dtype, backend)
        except errors.UnsupportedError as refusal:
            refusals.append(str(refusal))
    if len(refusals) == len(dtypes):
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


def test_every_public_function_has_a_row() -> None:
    missing = [name for name in public_names() if name not in covered_functions()]
    assert not missing, f"no row in arrayx/conformance/functions/ for: {', '.join(missing)}"


def test_what_has_no_row_is_a_public_function() -> None:
    for name, reason in WITHOUT_ROW.items():
        assert callable(resolved(name)) and reason, name
        assert name not in covered_functions(), f"{name} has a row"


def test_rows_have_distinct_names() -> None:
    names = [case.id for case in (*ROWS, *FUNCTIONS)]
    assert len(names) == len(set(names)), sorted(n for n in names if names.count(n) > 1)
