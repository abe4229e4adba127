"""Looking into programs while they run."""

from arrayx.debug.breakpoints import breakpoint
from arrayx.debug.printing import callback, log, print

__all__ = ["breakpoint", "callback", "log", "print"]
