"""Where in the user's program something happened: cheap to note, spelled out only when shown.

A position is the pair (code object, offset of the last instruction) of the innermost frame
outside arrayx.  Noting one costs a walk over a few frames; the file and line are computed
when somebody looks, because nearly nobody does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType
from typing import NamedTuple

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
# Files that are ours but not below the package: backends register theirs here.
_internal_prefixes: list[str] = [_PACKAGE]
# One answer per file name; a string keeps its hash, so a look-up costs 20 ns.
_is_internal: dict[str, bool] = {}


class Source(NamedTuple):
    """A position in the user's program; `backward` where it was differentiated in reverse."""

    code: CodeType
    offset: int
    backward: bool = False

    @property
    def file(self) -> str:
        """The file's name as Python knows it."""
        return self.code.co_filename

    @property
    def line(self) -> int:
        """The line number of the instruction."""
        for start, end, line in self.code.co_lines():
            if start <= self.offset < end and line is not None:
                return line
        return self.code.co_firstlineno

    @property
    def function(self) -> str:
        """The qualified name of the function."""
        return self.code.co_qualname

    def __str__(self) -> str:
        where = f"{self.file}:{self.line} ({self.function})"
        return f"{where}, backward pass" if self.backward else where


def hide(prefix: str) -> None:
    """Counts every file whose name begins with `prefix` as arrayx's own from now on."""
    _internal_prefixes.append(prefix)
    _is_internal.clear()


def is_internal(file: str) -> bool:
    """True for the files of arrayx itself."""
    known = _is_internal.get(file)
    return _classify(file) if known is None else known


def _classify(file: str) -> bool:
    internal = file.startswith((*_internal_prefixes, "<arrayx"))
    _is_internal[file] = internal
    return internal


# Set while a graph is run again: its equations keep the positions they had.  A cell, so
# that moving on to the next equation is one store.
_replayed: ContextVar[list[Source | None] | None] = ContextVar("arrayx_source", default=None)


@contextmanager
def replaying() -> Iterator[list[Source | None]]:
    """Inside the block `current()` is what the caller puts into the cell it is given."""
    cell: list[Source | None] = [None]
    token = _replayed.set(cell)
    try:
        yield cell
    finally:
        _replayed.reset(token)


_new_source = tuple.__new__


def in_backward(source: Source | None) -> Source | None:
    """The position as that of the backward pass of what stands there."""
    return None if source is None else _new_source(Source, (source.code, source.offset, True))


def current(skip: int = 1) -> Source | None:
    """The innermost position outside arrayx, or None when there is none.

    `skip` counts the callers that are known to be arrayx's own: looking at a frame makes an
    object of it, which is most of the cost.
    """
    cell = _replayed.get()
    if cell is not None and cell[0] is not None:
        return cell[0]
    frame = sys._getframe(skip)
    known = _is_internal
    while frame is not None:
        file = frame.f_code.co_filename
        internal = known.get(file)
        if internal is None:
            internal = _classify(file)
        if not internal:
            # The class's own constructor takes twice the time.
            return _new_source(Source, (frame.f_code, frame.f_lasti, False))
        frame = frame.f_back  # type: ignore[assignment]
    return None
