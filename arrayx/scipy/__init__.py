"""SciPy's functions for arrays that can be traced."""

from typing import TYPE_CHECKING

from arrayx.lazy import lazy_attributes

if TYPE_CHECKING:
    from arrayx.scipy import (
        cluster,
        fft,
        integrate,
        interpolate,
        linalg,
        ndimage,
        optimize,
        signal,
        sparse,
        special,
        stats,
    )

__getattr__, __dir__ = lazy_attributes(
    __name__,
    {
        "": (
            "cluster fft integrate interpolate linalg ndimage optimize signal sparse special stats"
        ),
    },
)

__all__ = [
    "cluster",
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "special",
    "stats",
]
