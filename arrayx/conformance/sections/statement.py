"""Items that are functions of a backend's name: each states one thing and asserts it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from arrayx.conformance.item import Item

Statement = Callable[[str], None]


def statements(
    section: str, core: tuple[Statement, ...] = (), full: tuple[Statement, ...] = ()
) -> Callable[[str], Iterator[Item]]:
    """The items of a section made of statements; those of `core` are owed."""

    def items(backend: str) -> Iterator[Item]:
        for statement in (*core, *full):
            yield Item(
                section,
                statement.__name__,
                partial(statement, backend),
                partial(program, statement, backend),
                owed=statement in core,
                core=statement in core,
            )

    return items


def program(statement: Statement, backend: str) -> str:
    """The lines that check a statement outside the suite."""
    name = statement.__name__
    return f"from {statement.__module__} import {name}\n{name}({backend!r})"
