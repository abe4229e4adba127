"""How much a function does, counted instead of timed: the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def calls_of(function: Callable[[], Any]) -> int:
    """How many functions are called, Python's and C's, while `function` runs.

    Growth of this count is growth of the time, without the noise: a pass that walks a
    graph again for each of its equations shows at once.

    >>> calls_of(lambda: [abs(i) for i in range(1000)]) >= 1000
    True
    """
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count
