"""Items made of functions: the check, and the lines that call it outside the suite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from arrayx.conformance.item import Item

Statement = Callable[[str], None]


def item(
    section: str,
    subject: str,
    check: Callable[..., None],
    *arguments: Any,
    detail: str = "",
    dtype: str = "",
    owed: bool = False,
    core: bool = False,
) -> Item:
    """An item whose check is `check(*arguments)`, and whose program is that call.

    The function stands in a module, and the arguments are what their `repr` says.
    """
    call = partial(check, *arguments)
    return Item(
        section, subject, call, partial(program, check, *arguments), detail, dtype, owed, core
    )


def program(check: Callable[..., None], *arguments: Any) -> str:
    """The lines that call a function of a module."""
    package, _, module = check.__module__.rpartition(".")
    told = ", ".join(map(repr, arguments))
    return f"from {package} import {module}\n{module}.{check.__name__}({told})"


def statements(
    section: str, core: tuple[Statement, ...] = (), full: tuple[Statement, ...] = ()
) -> Callable[[str], Iterator[Item]]:
    """The items of a section made of functions of a backend's name.

    Each states one thing and asserts it; those of `core` are owed.
    """

    def items(backend: str) -> Iterator[Item]:
        for statement in (*core, *full):
            owed = statement in core
            yield item(section, statement.__name__, statement, backend, owed=owed, core=owed)

    return items
