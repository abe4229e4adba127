"""How NumPy runs graphs."""

from __future__ import annotations

from arrayx.backend.kernels import KernelBackend
from arrayx_numpy.kernels import KERNELS


class NumpyBackend(KernelBackend):
    """NumPy on the host."""

    name = "numpy"
    quiet = True
    kernels = KERNELS
