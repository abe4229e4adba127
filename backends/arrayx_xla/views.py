"""NumPy arrays on the memory in a DLPack capsule, apart since it needs no jaxlib."""

from __future__ import annotations

import ctypes
from typing import Any, Final

import numpy as np

__all__ = ["look"]

# NumPy numbers its own dtypes below this; those of ml_dtypes come after.
_FIRST_FOREIGN_DTYPE: Final = 256


def look(capsule: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A read-only view of the contiguous CPU memory in `capsule`, which it keeps.

    The capsule must not have been consumed; of dtypes that NumPy's DLPack lacks (bfloat16, float8)
    `shape` and `dtype` are believed.
    """
    if dtype.num < _FIRST_FOREIGN_DTYPE:
        return np.from_dlpack(_Exporter(capsule))
    return np.asarray(_Memory(capsule, shape, dtype.itemsize)).view(dtype)


class _Exporter:
    """Hands one capsule to `np.from_dlpack`."""

    __slots__ = ("_capsule",)

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # the CPU


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class _Memory:
    """Shows the memory in a capsule to NumPy as integers, for dtypes that its DLPack lacks."""

    __slots__ = ("__array_interface__", "_capsule")

    def __init__(self, capsule: Any, shape: tuple[int, ...], itemsize: int) -> None:
        # The first field of a DLManagedTensor is the address of the data.
        address = ctypes.c_void_p.from_address(_capsule_pointer(capsule, b"dltensor")).value
        self.__array_interface__ = {
            "shape": shape,
            "typestr": f"<u{itemsize}",
            "data": (address or 0, True),
            "version": 3,
        }
        # While this lives XLA leaves the memory alone, see `dlpack_capsule`.
        self._capsule = capsule
