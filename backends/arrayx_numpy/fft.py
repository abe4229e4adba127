"""NumPy kernels of Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

FUNCTIONS = {
    "fft": np.fft.fftn,
    "ifft": np.fft.ifftn,
    "rfft": np.fft.rfftn,
    "irfft": np.fft.irfftn,
}


def fft(x: Any, *, kind: str, lengths: Any) -> Any:
    if not x.size:
        # NumPy refuses some transforms of nothing.
        batch = x.shape[: x.ndim - len(lengths)]
        last = lengths[-1] // 2 + 1 if kind == "rfft" else lengths[-1]
        real = kind == "irfft"
        dtype = np.empty(0, x.dtype).real.dtype if real else np.result_type(x.dtype, np.complex64)
        return np.empty((*batch, *lengths[:-1], last), dtype)
    axes = tuple(range(x.ndim - len(lengths), x.ndim))
    return FUNCTIONS[kind](x, lengths, axes)


FFT: dict[str, Any] = {"fft": fft}
