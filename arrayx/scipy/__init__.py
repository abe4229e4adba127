"""SciPy's functions for arrays that can be traced."""

from arrayx.scipy import linalg, special

__all__ = ["linalg", "special"]
