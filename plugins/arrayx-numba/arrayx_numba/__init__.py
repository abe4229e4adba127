"""The Numba backend: whole programs as native loops, the rest by NumPy's kernels."""

from __future__ import annotations

from typing import Any

from arrayx.backend import hookimpl


@hookimpl
def arrayx_make_backend(name: str) -> Any:
    """Makes the backend `numba`."""
    if name != "numba":
        return None
    from arrayx_numba.backend import NumbaBackend

    return NumbaBackend()
