"""The hooks of a plugin: what a module named by an entry point may define."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pluggy

hookspec = pluggy.HookspecMarker("arrayx")
hookimpl = pluggy.HookimplMarker("arrayx")


@hookspec(firstresult=True)
def arrayx_make_backend(name: str) -> Any:
    """The backend called `name` (an `arrayx.backend.Backend`), or None if not this plugin's.

    Import heavy libraries here, not at the top of the module; raise
    `BackendUnavailableError` with what to install where one is missing.
    """


@hookspec
def arrayx_kernels(backend: str) -> Mapping[str, Callable[..., Any]] | None:
    """Kernels to add to another's `KernelBackend` called `backend`, by primitive name.

    The module is found through an entry point of the group `arrayx.kernels` that has the
    backend's name; it is loaded when that backend first meets a primitive that its own table
    lacks.  A kernel that the backend has itself is not replaced.
    """
