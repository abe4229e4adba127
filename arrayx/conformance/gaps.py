"""The gaps of a backend: items that are known to fail, each with a reason, one a line.

    derivatives/eigh/second_order/float64: its kernel gives single precision
    edges/pow/*: signed zeros are not kept

A star stands for any text.  A gap is strict: an item that passes although it is listed fails,
and so does a line that fits no item, so that the file says what is true.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Gap:
    """One line of a gaps file."""

    pattern: str
    reason: str
    line: int

    def fits(self, id: str) -> bool:
        """Whether it is about the item of this name.

        >>> Gap("edges/*", "no nan here", 1).fits("edges/pow/float32")
        True
        """
        return fnmatch.fnmatchcase(id, self.pattern)


def parse_gaps(text: str) -> tuple[Gap, ...]:
    """The gaps that a text lists; blank lines and lines after # are left out.

    Raises:
        ValueError: a line has no reason.

    >>> parse_gaps("# known\\nedges/pow: no signed zeros")[0].reason
    'no signed zeros'
    """
    gaps = []
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        pattern, colon, reason = stripped.partition(": ")
        if not colon or not reason.strip():
            raise ValueError(
                f"line {number} of the gaps has no reason; write 'item: why it fails', "
                f"got {stripped!r}"
            )
        gaps.append(Gap(pattern.strip(), reason.strip(), number))
    return tuple(gaps)


def read_gaps(path: str) -> tuple[Gap, ...]:
    """The gaps listed in a file."""
    return parse_gaps(Path(path).read_text(encoding="utf-8"))


def gap_for(gaps: Iterable[Gap], id: str) -> Gap | None:
    """The first gap that is about the item of this name."""
    return next((gap for gap in gaps if gap.fits(id)), None)
