"""Grouping of points."""

from arrayx.scipy.cluster import vq

__all__ = ["vq"]
