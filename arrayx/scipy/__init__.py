"""SciPy's functions for arrays that can be traced."""

from arrayx.scipy import special, stats

__all__ = ["special", "stats"]
