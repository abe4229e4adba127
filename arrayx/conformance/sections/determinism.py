"""The same operands give the same bits: three runs of each row, at random among others."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator
from functools import cache
from typing import Any

from arrayx import errors
from arrayx.backend.registry import chosen, registry
from arrayx.conformance.case import Case
from arrayx.conformance.checks import flat, jitted, put_all
from arrayx.conformance.item import Item
from arrayx.conformance.sections.statement import item
from arrayx.conformance.table import cases
from arrayx.core.primitive import Primitive

_RUNS = 3
_OTHERS = 3
_MOST = 6


def items(backend: str) -> Iterator[Item]:
    """One item for each primitive that has rows."""
    for name in _rows():
        owed = name in Primitive.named and Primitive.named[name].owed
        yield item("determinism", name, check, name, backend, owed=owed, core=owed)


@cache
def _rows() -> dict[str, list[tuple[Case, str]]]:
    """The rows of each primitive, in every dtype."""
    rows: dict[str, list[tuple[Case, str]]] = {}
    for case in cases():
        rows.setdefault(case.name, []).extend((case, dtype) for dtype in case.dtypes)
    return rows


def check(name: str, backend: str) -> None:
    """Runs rows of one primitive and some of others three times in random order.

    The order follows from the name alone, so that a failure comes again.  Eagerly and compiled:
    what a kernel leaves behind in a buffer that it shares with the next one shows here.  At the
    end all operands and results are what they were.
    """
    draw = random.Random(zlib.crc32(name.encode()))
    pairs = _rows()[name]
    every = [pair for several in _rows().values() for pair in several]
    own = draw.sample(pairs, min(_MOST, len(pairs)))
    schedule = _RUNS * (own + draw.sample(every, _OTHERS))
    draw.shuffle(schedule)
    first: dict[tuple[str, str], list[tuple[str, bytes]]] = {}
    kept: list[tuple[str, str, Any, bytes]] = []
    refusal: errors.UnsupportedError | None = None
    for case, dtype in schedule:
        try:
            given, results = _run(case, dtype, backend)
        except errors.UnsupportedError as error:
            refusal = error if (case, dtype) in own else refusal
            continue
        bits = [(str(r.aval), r.host().tobytes()) for r in results]
        before = first.setdefault((case.id, dtype), bits)
        assert bits == before, (
            f"{case.id} in {dtype} gives other bits than it did a moment ago, for equal operands"
        )
        kept += [("an operand", case.id, x, x.host().tobytes()) for x in given]
        kept += [("a result", case.id, r, b) for r, (_, b) in zip(results, bits, strict=True)]
        for x, array in zip(given, case.draw(dtype), strict=True):
            assert x.host().tobytes() == array.tobytes(), f"{case.id} writes to its operands"
    for what, id, x, then in kept:
        assert x.host().tobytes() == then, f"{what} of {id} was written to later"
    if refusal is not None and not any((case.id, dtype) in first for case, dtype in own):
        raise refusal


def _run(case: Case, dtype: str, backend: str) -> tuple[list[Any], list[Any]]:
    """The operands and the results of a row, eagerly and compiled."""
    lacking = registry.get(backend).dtypes
    if lacking is not None and dtype not in lacking:
        raise errors.UnsupportedDtypeError(f"backend {backend!r} does not declare {dtype}")
    with chosen(backend):
        operands = put_all(case.draw(dtype), backend)
        return operands, [*flat(case)(*operands), *jitted(case, operands)]
