"""Fourier transforms by JAX's argument form."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from arrayx.core.array import Array
from arrayx.numpy.promotion import as_array
from arrayx.primitives import fft as transforms


class FftType(enum.Enum):
    """Which transform: of complex numbers or real ones, forward or back."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


def fft(x: Any, fft_type: Any, fft_lengths: Sequence[int]) -> Array:
    """The transform "FFT", "IFFT", "RFFT" or "IRFFT" over the last `len(fft_lengths)` axes.

    >>> import arrayx.numpy as anp
    >>> fft(anp.ones(4), "RFFT", (4,)).real.tolist()
    [4.0, 0.0, 0.0]
    """
    kind = str(getattr(fft_type, "name", fft_type)).lower()
    a = as_array(x, "fft", "x")
    return transforms.fft(a, kind=kind, lengths=tuple(fft_lengths))  # type: ignore[no-any-return]
