"""Methods of arrays that are no function of `arrayx.numpy`: containers, forms, places, memory.

`operators.py` puts them on the class; they stand apart because it is imported at once and these
when first used.  Each takes the array as `self`.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any, NoReturn

from arrayx import dtypes, errors
from arrayx.api.placement import device_of, device_put
from arrayx.backend.concrete import ConcreteArray, Gone, give_away
from arrayx.core.array import Array
from arrayx.core.interpreter import Tracer
from arrayx.numpy import creation, shapes
from arrayx.numpy.indexing import first_axis_taken, take
from arrayx.primitives.conversion import bitcast


def _shown_index(index: Any) -> str:
    if type(index) is tuple:
        return ", ".join(map(_shown_index, index))
    if index is Ellipsis:
        return "..."
    if type(index) is slice:
        parts = ["" if p is None else _shown_index(p) for p in (index.start, index.stop)]
        text = ":".join(parts)
        return text if index.step is None else f"{text}:{_shown_index(index.step)}"
    if isinstance(index, int) or index is None:
        return repr(index)
    return "index"


def _setitem(self: Array, index: Any, value: Any) -> NoReturn:
    shown = _shown_index(index)
    raise errors.ImmutableArrayError(
        f"arrays do not change, so x[{shown}] = v has no meaning. Write\n"
        f"    x = x.at[{shown}].set(v)\n"
        "which gives a new array (compiled code updates in place); for x[i] += v there is "
        f"x.at[{shown}].add(v)."
    )


def _delitem(self: Array, index: Any) -> NoReturn:
    raise errors.ImmutableArrayError("arrays do not change: elements cannot be deleted from one")


# ----------------------------------------------------------------- containers


def _getitem(self: Array, index: Any) -> Any:
    return take(self, index)


def _len(self: Array) -> builtins.int:
    if not self.aval.shape:
        raise errors.ArgumentError("len() of an array of rank 0")
    return self.aval.shape[0]


def _iter(self: Array) -> Iterator[Any]:
    if not self.aval.shape:
        raise errors.ArgumentError("an array of rank 0 cannot be iterated over")
    return (first_axis_taken(self, i) for i in range(self.aval.shape[0]))


# ----------------------------------------------------------------- forms and places


def _reshape(self: Array, *args: Any, order: str = "C", copy: Any = None) -> Array:
    """The elements in another shape; see `anp.reshape`."""
    new = args[0] if len(args) == 1 else args
    return shapes.reshape(self, new, order)


def _transpose(self: Array, *args: Any) -> Array:
    """The axes in another order, reversed by default; see `anp.transpose`."""
    if not args:
        return shapes.transpose(self)
    return shapes.transpose(self, args[0] if len(args) == 1 else args)


def _flatten(self: Array, order: str = "C") -> Array:
    """The elements as a vector."""
    return shapes.ravel(self, order)


def _copy(self: Array) -> Array:
    """The array itself, which never changes."""
    return self


def _block_until_ready(self: Array) -> Array:
    """Waits until the elements are there, and gives the array."""
    if isinstance(self, ConcreteArray):
        self.backend.synchronize(self.buffer)
    return self


def _devices(self: Array) -> set[Any]:
    """The devices that hold the elements."""
    if isinstance(self, Tracer):
        raise errors.ConcretizationError(
            f"a traced array of type {self.aval} is on no device; its place is known when the "
            "program runs"
        )
    return {self.device}


def _delete(self: Array) -> None:
    """Gives the memory back now; the array cannot be used afterwards."""
    if isinstance(self, ConcreteArray) and type(self) is not Gone:
        self.backend.delete(self.buffer)
        give_away(self)


def _is_deleted(self: Array) -> builtins.bool:
    """Whether the memory was given back or away."""
    return type(self) is Gone


def _to_device(self: Array, device: Any, /, *, stream: Any = None) -> Array:
    """The array on another device: a Device, or a name such as "xla:cpu:0"."""
    if stream is not None:
        raise errors.ArgumentError(
            f"to_device: stream={stream!r} is not taken; the backends order their work themselves"
        )
    return device_put(self, device)  # type: ignore[no-any-return]


def _device(self: Array) -> Any:
    """The device that holds the elements; None where a program decides, as under `ax.jit`."""
    return device_of(self)


def _astype(self: Array, dtype: Any, copy: Any = None, device: Any = None) -> Array:
    """The array in another dtype; see `anp.astype`."""
    return creation.astype(self, dtype, device=device)


def _view(self: Array, dtype: Any = None) -> Array:
    """The bits of the elements as another dtype of the same width."""
    target = self.aval.dtype if dtype is None else dtypes.as_dtype(dtype)
    return bitcast(self, dtype=target)  # type: ignore[no-any-return]


def _T(self: Array) -> Array:
    """The array with its axes in reverse order."""
    return shapes.transpose(self)
