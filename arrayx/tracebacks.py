"""Tracebacks without arrayx's own frames: what is shown leads from line to line of the user's."""

from __future__ import annotations

from types import TracebackType

from arrayx.config import config
from arrayx.errors import ArrayxError
from arrayx.source import is_internal


def shorten(error: BaseException) -> None:
    """Takes arrayx's own frames out of an error's traceback, but for the first if all are.

    `config.traceback = "full"` keeps them.  Frames that the error has still to pass are added
    as it passes them, so each boundary between the user's code and arrayx does this.  An error that
    arrayx did not raise on purpose keeps its traceback.
    """
    if config.traceback == "full":
        return
    entries = []
    at = error.__traceback__
    while at is not None:
        entries.append(at)
        at = at.tb_next
    files = [e.tb_frame.f_code.co_filename for e in entries]
    if not isinstance(error, ArrayxError) and is_internal(files[-1]):
        return  # a fault of arrayx's, which is to be seen
    kept = [e for e, file in zip(entries, files, strict=True) if not is_internal(file)]
    kept = kept or entries[:1]
    shown: TracebackType | None = None
    for e in reversed(kept):
        shown = TracebackType(shown, e.tb_frame, e.tb_lasti, e.tb_lineno)
    error.__traceback__ = shown
