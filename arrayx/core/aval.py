"""Abstract values: the type of an array, interned so that equal types are one object.

Apart from everything else because every floor speaks of types and none may cost to compare.
"""

from __future__ import annotations

import math
import weakref
from typing import Any

from arrayx import dtypes

Shape = tuple[int, ...]
NOWHERE: frozenset[str] = frozenset()


class Aval:
    """The type of an array: `shape`, `dtype`, `weak_type` and `varying`.

    `weak_type` marks a value that came from a Python scalar and yields to other dtypes.
    `varying` names the mesh axes over which the value may differ; it is empty outside
    shard_map.  Avals are interned: equal ones are the same object, compared by identity.

    >>> import numpy as np
    >>> Aval((2, 3), np.dtype("float32"))
    float32[2,3]
    >>> Aval((2, 3), np.dtype("float32")) is Aval((2, 3), np.dtype("float32"))
    True
    """

    __slots__ = (
        "__weakref__",
        "dtype",
        "memo",
        "ndim",
        "shape",
        "size",
        "undefined",
        "varying",
        "weak_type",
    )
    shape: Shape
    dtype: Any
    weak_type: bool
    varying: frozenset[str]
    ndim: int
    size: int
    undefined: Undefined
    memo: dict[Any, Any]

    def __new__(
        cls,
        shape: Shape,
        dtype: Any,
        weak_type: bool = False,
        varying: frozenset[str] = NOWHERE,
    ) -> Aval:
        key = (shape, dtype, weak_type, varying)
        found = _interned.get(key)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.shape = shape
        self.dtype = dtype
        self.weak_type = weak_type
        self.varying = varying
        self.ndim = len(shape)
        self.size = math.prod(shape)
        self.undefined = Undefined(self)
        self.memo = {}
        # setdefault, so that two threads that make the same aval end with one object.
        return _interned.setdefault(key, self)

    def update(self, **changes: Any) -> Aval:
        """The same type with some of its parts changed."""
        return Aval(
            changes.get("shape", self.shape),
            changes.get("dtype", self.dtype),
            changes.get("weak_type", self.weak_type),
            changes.get("varying", self.varying),
        )

    def strong(self) -> Aval:
        """The same type without the weak mark."""
        return self if not self.weak_type else self.update(weak_type=False)

    def unvarying(self) -> Aval:
        """The same type of a value that is the same everywhere."""
        return self if not self.varying else self.update(varying=NOWHERE)

    def fits(self, wanted: Aval) -> bool:
        """True where a value of this type can stand where `wanted` is taken.

        Weak marks do not count, and a value may vary over fewer mesh axes.
        """
        return (
            self.shape == wanted.shape
            and self.dtype == wanted.dtype
            and self.varying <= wanted.varying
        )

    @property
    def nbytes(self) -> int:
        """Bytes that a value of this type holds."""
        return self.size * int(self.dtype.itemsize)

    def __repr__(self) -> str:
        text = f"{self.dtype}[{','.join(map(str, self.shape))}]"
        if self.dtype == dtypes.float0:
            text = f"float0[{','.join(map(str, self.shape))}]"
        if self.weak_type:
            text += "~"
        if self.varying:
            names = sorted(map(str, self.varying))
            text += "{" + ",".join(n if n.isidentifier() else repr(n) for n in names) + "}"
        return text

    def __reduce__(self) -> tuple[Any, ...]:
        return Aval, (self.shape, self.dtype, self.weak_type, self.varying)

    def __copy__(self) -> Aval:
        return self

    def __deepcopy__(self, memo: Any) -> Aval:
        return self


class Undefined:
    """Stands for the linear input whose cotangent a transpose rule is asked for."""

    __slots__ = ("aval",)

    def __init__(self, aval: Aval) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Undefined({self.aval})"


_interned: weakref.WeakValueDictionary[Any, Aval] = weakref.WeakValueDictionary()


def tangent_aval(aval: Aval) -> Aval:
    """The type of a tangent: the value's own when inexact, float0 otherwise."""
    if dtypes.kind(aval.dtype) in ("float", "complex"):
        return aval.strong()
    return Aval(aval.shape, dtypes.float0)
