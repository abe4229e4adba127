"""Floor 5: graphs meet machines.  The names below are what a plugin may import."""

from arrayx.backend.contract import (
    API_VERSION,
    Backend,
    CompileOptions,
    Device,
    Executable,
)
from arrayx.backend.hookspecs import hookimpl
from arrayx.backend.kernels import KernelBackend

__all__ = [
    "API_VERSION",
    "Backend",
    "CompileOptions",
    "Device",
    "Executable",
    "KernelBackend",
    "hookimpl",
]
