"""Looking into programs while they run."""

from arrayx.debug.breakpoints import breakpoint
from arrayx.debug.checking import check
from arrayx.debug.instrumented import checked
from arrayx.debug.keys import check_keys
from arrayx.debug.leaks import check_leaks
from arrayx.debug.nans import trace_nans
from arrayx.debug.printing import callback, log, print

__all__ = [
    "breakpoint",
    "callback",
    "check",
    "check_keys",
    "check_leaks",
    "checked",
    "log",
    "print",
    "trace_nans",
]
