"""SciPy's functions for arrays that can be traced."""

from arrayx.scipy import linalg, special, stats

__all__ = ["linalg", "special", "stats"]
