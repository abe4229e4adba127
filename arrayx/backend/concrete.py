"""Arrays with elements: a buffer of some backend, with its type and device."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.core.aval import Aval


class ConcreteArray(Array):
    """An array whose elements a backend holds.  Each backend has its own subclass."""

    __slots__ = ("buffer", "device")
    backend: ClassVar[Any]
    buffer: Any
    device: Any

    def __init__(self, buffer: Any, aval: Aval, device: Any) -> None:
        self.buffer = buffer
        self.aval = aval
        self.device = device

    def host(self) -> np.ndarray:
        """The elements as a read-only NumPy array; waits until they are there."""
        if self.buffer is None:
            raise errors.DonatedArrayError(
                f"this array of type {self.aval} was donated to a compiled function "
                "(donate_argnums) or deleted; its memory is gone. Use the function's result, "
                "or pass a copy."
            )
        array = self.backend.get(self.buffer)
        if array.flags.writeable:
            array = array.view()
            array.flags.writeable = False
        return array

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (np.array(self.host()), self.aval, self.backend.name)

    def __deepcopy__(self, memo: Any) -> ConcreteArray:
        return self

    def __copy__(self) -> ConcreteArray:
        return self


def physical(aval: Aval) -> tuple[tuple[int, ...], Any]:
    """Shape and dtype of the buffer that holds a value: keys are pairs of uint32."""
    if isinstance(aval.dtype, dtypes.KeyDtype):
        return (*aval.shape, 2), np.dtype("uint32")
    return aval.shape, aval.dtype


class Restore:
    """How a pickled array finds its backend again: handed over by the registry."""

    get_backend: Any


def _restore(array: np.ndarray, aval: Aval, backend_name: str) -> ConcreteArray:
    backend = Restore.get_backend(backend_name)
    device = backend.devices()[0]
    return backend.array_type(backend.put(array, device), aval, device)  # type: ignore[no-any-return]
