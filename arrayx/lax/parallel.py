"""Questions about the named axes that `vmap` opens."""

from __future__ import annotations

from arrayx.transforms.vmap import axis_size

__all__ = ["axis_size"]
