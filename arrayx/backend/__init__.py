"""What a backend implements: the names that a plugin may import (floor 5, graphs on machines)."""

from typing import TYPE_CHECKING

from arrayx.backend.contract import (
    API_VERSION,
    Backend,
    CompileOptions,
    Device,
    Executable,
    constant_buffers,
)
from arrayx.backend.kernels import KernelBackend
from arrayx.backend.legalise import check_core, legalise
from arrayx.core.aval import Aval
from arrayx.core.graph import Equation, Graph, Var
from arrayx.core.primitive import Primitive
from arrayx.lazy import lazy_attributes

if TYPE_CHECKING:
    from arrayx.backend.core_primitives import Capabilities, capabilities, core_set
    from arrayx.backend.hookspecs import hookimpl
    from arrayx.transforms.fuse import Group, Policy, plan

__getattr__, __dir__ = lazy_attributes(
    __name__,
    {
        "core_primitives": "Capabilities capabilities core_set",
        "hookspecs": "hookimpl",
        "arrayx.transforms.fuse": "Group Policy plan",
    },
)

__all__ = [
    "API_VERSION",
    "Aval",
    "Backend",
    "Capabilities",
    "CompileOptions",
    "Device",
    "Equation",
    "Executable",
    "Graph",
    "Group",
    "KernelBackend",
    "Policy",
    "Primitive",
    "Var",
    "capabilities",
    "check_core",
    "constant_buffers",
    "core_set",
    "hookimpl",
    "legalise",
    "plan",
]
