"""Arrays go to other libraries through dlpack and come back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import arrayx as ax
import arrayx.numpy as anp
from arrayx.backend.registry import chosen
from arrayx.conformance.item import Item
from arrayx.conformance.sections.statement import item

_DTYPES = (
    "float32",
    "float64",
    "float16",
    "int32",
    "int8",
    "int16",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "complex64",
    "complex128",
    "bool",
)


def items(backend: str) -> Iterator[Item]:
    """Out and back again, for each dtype that dlpack knows."""
    for name, statement in (("out", goes_out), ("back", comes_in)):
        for dtype in _DTYPES:
            yield item("dlpack", name, statement, dtype, backend, dtype=dtype)


def _elements(dtype: str) -> np.ndarray:
    return (np.arange(6).reshape(2, 3) % 5).astype(dtype)


def goes_out(dtype: str, backend: str) -> None:
    """NumPy reads an array of the backend, elements and shape."""
    wanted = _elements(dtype)
    got = np.from_dlpack(ax.device_put(wanted, backend))
    assert got.dtype == wanted.dtype and np.array_equal(got, wanted), f"NumPy reads {got!r}"


def comes_in(dtype: str, backend: str) -> None:
    """The backend takes an array of NumPy's and owns what it has then."""
    given = _elements(dtype)
    wanted = given.copy()
    with chosen(backend):
        x = anp.from_dlpack(given)
    assert x.backend.name == backend, f"it lies on {x.backend.name}"
    assert x.dtype == wanted.dtype and np.array_equal(np.asarray(x), wanted), np.asarray(x)
