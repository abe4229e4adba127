"""Discrete Fourier transforms of arrays."""

from typing import TYPE_CHECKING

from arrayx.lazy import lazy_attributes

if TYPE_CHECKING:
    from arrayx.numpy.fft.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
    from arrayx.numpy.fft.transforms import (
        fft,
        fft2,
        fftn,
        hfft,
        ifft,
        ifft2,
        ifftn,
        ihfft,
        irfft,
        irfft2,
        irfftn,
        rfft,
        rfft2,
        rfftn,
    )

__getattr__, __dir__ = lazy_attributes(
    __name__,
    {
        "frequencies": "fftfreq fftshift ifftshift rfftfreq",
        "transforms": (
            "fft fft2 fftn hfft ifft ifft2 ifftn ihfft irfft irfft2 irfftn rfft rfft2 rfftn"
        ),
    },
)

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]
