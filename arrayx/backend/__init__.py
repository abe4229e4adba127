"""What a backend implements: the names that a plugin may import (floor 5, graphs on machines)."""

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
