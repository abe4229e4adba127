"""What XLA's complaints about a program become, apart since it needs no jaxlib."""

from __future__ import annotations

import re

from arrayx.errors import BackendError

__all__ = ["ProgramError", "program_error"]


class ProgramError(BackendError):
    """XLA refused a program: its text is wrong, or it asks for something this platform lacks.

    `text` is the program; `lineno` (from 1) and `line` are where XLA saw the mistake, or None
    when it named no place. Unless you wrote the lowering, please report it: it is a bug there.
    """

    def __init__(self, reason: str, text: str, lineno: int | None = None) -> None:
        self.text = text
        self.lineno = lineno
        self.line = text.split("\n")[lineno - 1] if lineno else None
        where = "" if self.line is None else f", line {lineno}:\n    {self.line.strip()}\n  "
        super().__init__(f"XLA refused the program{where or ': '}{reason.strip()}")


def program_error(message: str, text: str) -> ProgramError:
    """The error for the program `text` that XLA refused with `message`."""
    reason = message.split("\n<unknown>:0: error: Failed to parse using StableHLO", 1)[0]
    place = re.search(r"-:(\d+):\d+: error: ", reason)
    if place is None:
        return ProgramError(reason, text)
    lineno = int(place.group(1))
    known = lineno if 1 <= lineno <= text.count("\n") + 1 else None
    return ProgramError(reason[place.end() :], text, known)
