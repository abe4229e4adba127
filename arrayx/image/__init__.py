"""Images of other sizes."""

from arrayx.image.resampling import (
    ResizeMethod,
    resize,
    scale_and_translate,
)

__all__ = [
    "ResizeMethod",
    "resize",
    "scale_and_translate",
]
