"""Tracebacks without arrayx's own frames: what is shown leads from line to line of the user's."""

from __future__ import annotations

from types import TracebackType

from arrayx.config import config
from arrayx.source import is_internal


def shorten(error: BaseException) -> None:
    """Takes arrayx's own frames out of an error's traceback, but for the first if all are.

    `config.traceback = "full"` keeps them.  Frames that the error has still to pass are added
    as it passes them, so each boundary between the user's code and arrayx does this.
    """
    if config.traceback == "full":
        return
    entries = []
    at = error.__traceback__
    while at is not None:
        entries.append(at)
        at = at.tb_next
    kept = [e for e in entries if not is_internal(e.tb_frame.f_code.co_filename)] or entries[:1]
    shown: TracebackType | None = None
    for e in reversed(kept):
        shown = TracebackType(shown, e.tb_frame, e.tb_lasti, e.tb_lineno)
    error.__traceback__ = shown
