"""Looking into programs while they run."""

from arrayx.debug.checking import check
from arrayx.debug.instrumented import checked
from arrayx.debug.keys import check_keys
from arrayx.debug.leaks import check_leaks
from arrayx.debug.nans import trace_nans

__all__ = ["check", "check_keys", "check_leaks", "checked", "trace_nans"]
