"""The XLA backend: StableHLO text, compiled and run by jaxlib's PJRT client, without jax."""

from __future__ import annotations

import os
from typing import Any

from arrayx import source
from arrayx.backend import hookimpl

source.hide(os.path.dirname(os.path.abspath(__file__)) + os.sep)


@hookimpl
def arrayx_make_backend(name: str) -> Any:
    """Makes the backend `xla`; raises `BackendUnavailableError` where there is no jaxlib for it."""
    if name != "xla":
        return None
    # This imports jaxlib, which takes a tenth of a second and may not be there.
    from arrayx_xla.backend import XlaBackend

    return XlaBackend()
