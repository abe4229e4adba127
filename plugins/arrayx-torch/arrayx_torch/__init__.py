"""PyTorch as a backend of arrayx: whole graphs through a table of torch functions.

arrayx finds this module by its entry point.  PyTorch is imported when the backend is made.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from arrayx.backend import hookimpl
from arrayx.errors import BackendUnavailableError

__all__ = ["arrayx_make_backend"]


@hookimpl
def arrayx_make_backend(name: str) -> Any:
    """Makes the backend `torch`."""
    if name != "torch":
        return None
    if find_spec("torch") is None:
        raise BackendUnavailableError(
            "the backend 'torch' needs PyTorch: pip install torch (on a machine without a GPU "
            "from PyTorch's index of CPU wheels)"
        )
    return import_module("arrayx_torch.backend").TorchBackend()
