"""Arrays with elements: a buffer of some backend, with its type and device."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.core.aval import Aval


class ConcreteArray(Array):
    """An array whose elements a backend holds.  Each device has its own subclass."""

    __slots__ = ("buffer",)
    backend: ClassVar[Any]
    device: ClassVar[Any]
    buffer: Any

    def __init__(self, buffer: Any, aval: Aval) -> None:
        self.buffer = buffer
        self.aval = aval

    def host(self) -> np.ndarray:
        """The elements as a read-only NumPy array; waits until they are there.

        Keys come as their words, an array of uint32 with one more axis of length 2.
        """
        array: np.ndarray = self.backend.get(self.buffer)
        shape, dtype = physical(self.aval)
        if not (
            isinstance(array, np.ndarray)
            and array.shape == shape
            and (array.dtype is dtype or array.dtype == dtype)
        ):
            refuse_buffer(self, array)
        if array.flags.writeable:
            array = array.view()
            array.flags.writeable = False
        return array

    def unwrapped(self) -> ConcreteArray:
        """Keys as the array of uint32 that holds them: the same buffer, one axis more."""
        return type(self)(self.buffer, physical_aval(self.aval))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (np.array(self.host()), self.aval, self.backend.name)

    def __deepcopy__(self, memo: Any) -> ConcreteArray:
        return self

    def __copy__(self) -> ConcreteArray:
        return self


# The classes of all devices: what eager dispatch recognises an array by.
array_types: set[type[ConcreteArray]] = set()


class Gone(ConcreteArray):
    """What an array becomes when its memory is given away: every use of it is an error.

    Changing the class costs live arrays nothing, where a flag would be looked at each time.
    Its `buffer` is the name of the function that it was donated to, or None if it was deleted.
    """

    __slots__ = ()

    def host(self) -> np.ndarray:
        refuse_gone(self)

    @property
    def device(self) -> Any:  # type: ignore[override]
        refuse_gone(self)

    @property
    def backend(self) -> Any:  # type: ignore[override]
        refuse_gone(self)

    def __reduce__(self) -> NoReturn:
        refuse_gone(self)

    def copy(self) -> NoReturn:
        refuse_gone(self)

    def __copy__(self) -> NoReturn:
        refuse_gone(self)

    def __deepcopy__(self, memo: Any) -> NoReturn:
        refuse_gone(self)


def refuse_gone(x: Gone) -> NoReturn:
    """Raises the error for an array without memory."""
    if x.buffer is None:
        raise errors.DonatedArrayError(
            f"an array of type {x.aval} was used after it had been deleted (x.delete()): its "
            "memory is gone. Delete it after its last use, or keep a copy."
        )
    raise errors.DonatedArrayError(
        f"an array of type {x.aval} was used after it had been donated to a compiled function "
        f"{x.buffer} (donate_argnums): its memory is gone. Use the function's "
        "result instead, or pass a copy."
    )


def refuse_buffer(x: ConcreteArray, array: Any) -> NoReturn:
    """Raises the error for elements of another type than the array has: its backend's fault."""
    shape, dtype = physical(x.aval)
    made = f"{getattr(array, 'dtype', type(array).__name__)}{list(np.shape(array))}"
    fault = f"it gave {made} for an array of type {dtype}{list(shape)}"
    Restore.blame(x.backend.name, fault)
    raise errors.BackendError(
        f"backend {x.backend.name!r} broke its contract: {fault}. What it computed cannot be "
        f"trusted: python -m arrayx.conformance --backend={x.backend.name} says which operations "
        "are wrong, for its authors."
    )


def give_away(x: ConcreteArray, to: str | None = None) -> None:
    """Marks an array as donated `to` a function, or deleted: its memory is gone from now on."""
    x.__class__ = Gone
    x.buffer = to


def physical(aval: Aval) -> tuple[tuple[int, ...], Any]:
    """Shape and dtype of the buffer that holds a value: keys are pairs of uint32."""
    if isinstance(aval.dtype, dtypes.KeyDtype):
        return (*aval.shape, 2), np.dtype("uint32")
    return aval.shape, aval.dtype


def physical_aval(aval: Aval) -> Aval:
    """The type that a value's elements are kept in: its own, but for keys."""
    shape, dtype = physical(aval)
    return aval if dtype is aval.dtype else Aval(shape, dtype)


class Restore:
    """How a pickled array finds its backend again, and how a fault is noted: handed over by
    the registry.
    """

    get_backend: Any
    blame: Any


def _restore(array: np.ndarray, aval: Aval, backend_name: str) -> ConcreteArray:
    backend = Restore.get_backend(backend_name)
    device = backend.devices()[0]
    return device.array_type(backend.put(array, device), aval)  # type: ignore[no-any-return]
