"""The items of rows: every check of every row, sorted into sections and levels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from arrayx.conformance.case import Case
from arrayx.conformance.checks import CHECKS, REFERENCE, RELATIVE, Check
from arrayx.conformance.item import Item
from arrayx.conformance.table import cases, functions
from arrayx.core.primitive import Primitive

#: The section that each check counts for.
SECTION = {
    "value": "values",
    "type": "types",
    "literals": "types",
    "special_values": "edges",
    "zero_size": "edges",
    "layouts": "edges",
    "vmap": "vmap",
    "jit_equals_eager": "compiled",
    "agreement": "compiled",
    "placement": "devices",
    "jvp": "derivatives",
    "dot_product": "derivatives",
    "transpose": "derivatives",
    "second_order": "derivatives",
    "zeros_absorb": "derivatives",
}
# Of a core primitive, at the level "core": in all dtypes, in the main one, or for the first row
# alone.  What is not listed waits for the level "full".
_CORE_ALL = ("value",)
_CORE_MAIN = ("type", "special_values", "jit_equals_eager", "zero_size", "layouts")
_CORE_FIRST = ("vmap", "jvp", "dot_product")
# Of a public function, whose primitives have every check of their own: the checks in all dtypes,
# in the main one, and for its first row alone.
_PUBLIC_ALL = ("value",)
_PUBLIC_MAIN = ("type", "agreement", "placement", "dot_product", "special_values", "vmap")
_PUBLIC_FIRST = ("jit_equals_eager", "second_order", "zero_size")


def primitive_items(backend: str) -> Iterator[Item]:
    """The items of the rows of primitives."""
    seen: set[str] = set()
    for case in cases():
        first = case.name not in seen
        seen.add(case.name)
        owed = case.name in Primitive.named and Primitive.named[case.name].owed
        for check in CHECKS:
            # Rules make constants where their caller says.
            if check.name == "placement" or _pointless(check, backend):
                continue
            for i, dtype in enumerate(check.dtypes(case)):
                core = owed and (
                    check.name in _CORE_ALL
                    or (i == 0 and check.name in _CORE_MAIN)
                    or (i == 0 and first and check.name in _CORE_FIRST)
                )
                yield item(case, check, dtype, backend, owed=owed, core=core)


def function_items(backend: str, whole: bool = False) -> Iterator[Item]:
    """The items of the rows of public functions; with `whole` every check in every dtype."""
    seen: set[str] = set()
    for case in functions():
        first = case.name not in seen
        seen.add(case.name)
        for check in CHECKS:
            if _pointless(check, backend):
                continue
            names = check.dtypes(case)
            if not whole and check.name not in _PUBLIC_ALL:
                wanted = check.name in _PUBLIC_MAIN or (first and check.name in _PUBLIC_FIRST)
                names = names[:1] if wanted else ()
            for dtype in names:
                yield item(case, check, dtype, backend)


def _pointless(check: Check, backend: str) -> bool:
    return check.name in RELATIVE and backend == REFERENCE


def item(
    case: Case,
    check: Check,
    dtype: str,
    backend: str,
    *,
    section: str = "",
    owed: bool = False,
    core: bool = False,
) -> Item:
    """One check of one row in one dtype."""
    detail = "-".join(part for part in (case.label, check.name) if part)
    row = f"{section}/{case.id}" if section else case.id
    return Item(
        section or SECTION[check.name],
        case.name,
        partial(check.function, case, dtype, backend),
        partial(program, row, check.name, dtype, backend),
        "" if detail == "value" and not section else detail,
        dtype,
        owed,
        core,
    )


def program(row: str, check: str, dtype: str, backend: str) -> str:
    """The lines that show a failed check of a row outside the suite."""
    begin = "from arrayx.conformance import reproduce\n"
    if check != "value":
        return begin + f"reproduce.check({check!r}, {row!r}, {dtype!r}, {backend!r})"
    return begin + (
        f"row = reproduce.row({row!r})\n"
        f"operands = row.draw({dtype!r})\n"
        f'print("got", reproduce.got(row, operands, {backend!r}))\n'
        'print("expected", reproduce.expected(row, operands))'
    )
