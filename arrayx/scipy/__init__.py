"""SciPy's functions for arrays that can be traced."""

from arrayx.scipy import special

__all__ = ["special"]
