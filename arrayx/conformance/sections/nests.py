"""Random programs of nested control flow, under every transformation, against plain Python."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from arrayx import errors
from arrayx.conformance.item import Item
from arrayx.conformance.sections.search import Failure, search, strategies
from arrayx.conformance.sections.statement import item
from arrayx.lazy import lazy

programs = lazy("arrayx.conformance.nests")
checks = lazy("arrayx.conformance.nest_checks")

_ITEMS = 16
_EXAMPLES = 4
# How many compositions of transformations each program is checked under.
_COMPOSITIONS = 3


def items(backend: str) -> Iterator[Item]:
    """Several searches, each with draws of its own."""
    for number in range(_ITEMS):
        yield item(
            "control_flow",
            "nested_programs",
            check,
            number,
            backend,
            detail=str(number),
            dtype="float64",
        )


def check(number: int, backend: str) -> None:
    """Draws nests of loops, choices and rules; each equals the loop in plain Python."""

    def attempt(data: Any) -> None:
        nest = data.draw(programs.nests())
        names = strategies.sampled_from(checks.possible(nest))
        several = strategies.lists(
            names, min_size=_COMPOSITIONS, max_size=_COMPOSITIONS, unique=True
        )
        truths = checks.Truths(nest)
        for name in data.draw(several):
            try:
                checks.verify(nest, name, backend, truths)
            except AssertionError as error:
                text = str(nest)
                raise Failure(len(text), f"{error}\n{text}") from None

    with warnings.catch_warnings():
        # The plain loops are traced here and there.
        warnings.simplefilter("ignore", errors.UnrolledLoopWarning)
        search(attempt, f"nests/{number}", _EXAMPLES)
