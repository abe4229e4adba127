"""One thing that the suite says of a backend: an item; and how its check can end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

CORE, FULL = "core", "full"
LEVELS = (CORE, FULL)

PASSED, FAILED, REFUSED, NOT_YET, GAP = "passed", "failed", "refused", "not yet", "gap"
OUTCOMES = (PASSED, FAILED, REFUSED, NOT_YET, GAP)

#: The dtypes that no backend may lack.
OWED_DTYPES = frozenset({"bool", "int32", "float32"})


class NotYet(Exception):
    """Raised by a check whose capability arrayx itself does not have yet."""


@dataclass(frozen=True, eq=False)
class Item:
    """A sentence about a backend, and the function that checks it.

    - `section`: one of `arrayx.conformance.sections.SECTIONS`.
    - `subject`: what it is about: a primitive, a public function, a program.
    - `detail`: what tells items of one subject apart.
    - `dtype`: the name of the dtype it is about; empty where none is.
    - `check`: returns None, or raises an `AssertionError` that says what differs, an
      `UnsupportedError` where the backend refuses, or `NotYet`.
    - `program`: a few lines that show the same failure outside the suite.
    - `owed`: True where a refusal is a failure.
    - `core`: True where it belongs to the level "core" as well as to "full".
    """

    section: str
    subject: str
    check: Callable[[], None]
    program: Callable[[], str]
    detail: str = ""
    dtype: str = ""
    owed: bool = False
    core: bool = False

    @property
    def id(self) -> str:
        """The name of the item: what a gaps file and a report call it."""
        parts = (self.section, self.subject, self.detail, self.dtype)
        return "/".join(part for part in parts if part)
