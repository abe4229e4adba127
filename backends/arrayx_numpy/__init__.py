"""The NumPy backend: the reference, and the default."""

from __future__ import annotations

import os
from typing import Any

from arrayx import source
from arrayx.backend import hookimpl

source.hide(os.path.dirname(os.path.abspath(__file__)) + os.sep)


@hookimpl
def arrayx_make_backend(name: str) -> Any:
    """Makes the backend `numpy`."""
    if name != "numpy":
        return None
    from arrayx_numpy.backend import NumpyBackend

    return NumpyBackend()
