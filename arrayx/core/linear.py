"""The known-zero tangent, told apart from every array so that work on it can be left out."""

from __future__ import annotations


class _Zero:
    """A tangent or cotangent known to be zero; its primal has the type.  One object: test `is`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Zero"

    def __reduce__(self) -> str:
        return "Zero"


Zero = _Zero()
