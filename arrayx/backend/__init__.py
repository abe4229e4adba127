"""Floor 5: graphs meet machines.  The names below are what a plugin may import."""

from arrayx.backend.contract import (
    API_VERSION,
    Backend,
    CompileOptions,
    Device,
    Executable,
)
from arrayx.backend.hookspecs import hookimpl

__all__ = ["API_VERSION", "Backend", "CompileOptions", "Device", "Executable", "hookimpl"]
