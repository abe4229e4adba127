"""Linear algebra with matrices that are given by what they do to vectors."""

from arrayx.scipy.sparse import linalg

__all__ = ["linalg"]
