"""What a backend implements: the names that a plugin may import (floor 5, graphs on machines)."""

from typing import TYPE_CHECKING

from arrayx.backend.contract import (
    API_VERSION,
    Backend,
    CompileOptions,
    Device,
    Executable,
)
from arrayx.backend.kernels import KernelBackend
from arrayx.lazy import lazy_attributes

if TYPE_CHECKING:
    from arrayx.backend.hookspecs import hookimpl

__getattr__, __dir__ = lazy_attributes(__name__, {"hookspecs": "hookimpl"})

__all__ = [
    "API_VERSION",
    "Backend",
    "CompileOptions",
    "Device",
    "Executable",
    "KernelBackend",
    "hookimpl",
]
