"""The operators and methods of arrays, put on `core.array.Array`: concrete and traced alike.

Apart because the class stands on floor 1, below everything that its methods need.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from arrayx import dtypes, errors, source
from arrayx.api.placement import device_of, device_put
from arrayx.backend.concrete import ConcreteArray
from arrayx.core.array import Array
from arrayx.core.interpreter import Tracer
from arrayx.numpy import (
    arithmetic,
    contraction,
    creation,
    cumulative,
    diagonals,
    logic,
    ordering,
    reductions,
    repetition,
    rounding,
    selection,
    shapes,
    statistics,
    transcendental,
)
from arrayx.numpy.conversions import (
    _array,
    _array_ufunc,
    _bool,
    _complex,
    _dlpack,
    _dlpack_device,
    _float,
    _format,
    _hash,
    _index,
    _int,
    _item,
    _repr,
    _str,
    _tobytes,
    _tolist,
)
from arrayx.numpy.indexing import first_axis_taken, take
from arrayx.numpy.updates import At
from arrayx.primitives.conversion import bitcast

# What an operator takes for its other operand; all else may have an operator of its own.
OPERANDS = (Array, bool, int, float, complex, np.ndarray, np.generic)


def _operator(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operate(self: Any, other: Any) -> Any:
        if isinstance(other, OPERANDS):
            return function(self, other)
        return NotImplemented

    return operate


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operate(self: Any, other: Any) -> Any:
        if isinstance(other, OPERANDS):
            return function(other, self)
        return NotImplemented

    return operate


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": arithmetic.add,
    "sub": arithmetic.subtract,
    "mul": arithmetic.multiply,
    "truediv": arithmetic.divide,
    "floordiv": arithmetic.floor_divide,
    "mod": arithmetic.remainder,
    "divmod": arithmetic.divmod,
    "pow": arithmetic.power,
    "matmul": contraction.matmul,
    "and": logic.bitwise_and,
    "or": logic.bitwise_or,
    "xor": logic.bitwise_xor,
    "lshift": logic.left_shift,
    "rshift": logic.right_shift,
}
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": logic.equal,
    "ne": logic.not_equal,
    "lt": logic.less,
    "le": logic.less_equal,
    "gt": logic.greater,
    "ge": logic.greater_equal,
}


# ----------------------------------------------------------------- values for Python and NumPy

# The line to name in a message is the user's, not that of a function of NumPy written in Python.
source.hide(os.path.dirname(np.__file__) + os.sep)


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


def _contains(self: Array, item: Any) -> builtins.bool:
    return builtins.bool(reductions.any(logic.equal(self, item)))


# ----------------------------------------------------------------- texts


# ----------------------------------------------------------------- methods


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
    if isinstance(self, ConcreteArray) and self.buffer is not None:
        self.backend.delete(self.buffer)
        self.buffer = None


def _is_deleted(self: Array) -> builtins.bool:
    """Whether the memory was given back or away."""
    return isinstance(self, ConcreteArray) and self.buffer is None


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


def _compress(self: Array, condition: Any, axis: int | None = None, **sizes: Any) -> Array:
    """The elements for which `condition` is true; see `anp.compress`."""
    return selection.compress(condition, self, axis, **sizes)


def _T(self: Any) -> Any:
    """The array with its axes in reverse order."""
    return shapes.transpose(self)


def _real(self: Any) -> Any:
    """The real part; of a real array the array itself."""
    return transcendental.real(self)


def _imag(self: Any) -> Any:
    """The imaginary part; of a real array zeros."""
    return transcendental.imag(self)


def _mT(self: Array) -> Array:
    """The array with its last two axes exchanged."""
    return shapes.matrix_transpose(self)


METHODS: dict[str, Callable[..., Any]] = {
    "__getitem__": _getitem,
    "__setitem__": _setitem,
    "__delitem__": _delitem,
    "__len__": _len,
    "__iter__": _iter,
    "__contains__": _contains,
    "__hash__": _hash,
    "__bool__": _bool,
    "__int__": _int,
    "__float__": _float,
    "__complex__": _complex,
    "__index__": _index,
    "__array__": _array,
    "__array_ufunc__": _array_ufunc,
    "__repr__": _repr,
    "__str__": _str,
    "__format__": _format,
    "__neg__": lambda self: arithmetic.negative(self),
    "__pos__": lambda self: self,
    "__abs__": lambda self: arithmetic.abs(self),
    "__invert__": lambda self: logic.invert(self),
    "__round__": lambda self, ndigits=None: rounding.round(self, ndigits or 0),
    "__dlpack__": _dlpack,
    "__dlpack_device__": _dlpack_device,
    "reshape": _reshape,
    "transpose": _transpose,
    "item": _item,
    "tolist": _tolist,
    "tobytes": _tobytes,
    "flatten": _flatten,
    "copy": _copy,
    "astype": _astype,
    "view": _view,
    "block_until_ready": _block_until_ready,
    "devices": _devices,
    "delete": _delete,
    "is_deleted": _is_deleted,
    "to_device": _to_device,
    "all": reductions.all,
    "any": reductions.any,
    "argmax": ordering.argmax,
    "argmin": ordering.argmin,
    "argpartition": ordering.argpartition,
    "argsort": ordering.argsort,
    "choose": selection.choose,
    "clip": arithmetic.clip,
    "compress": _compress,
    "conj": transcendental.conj,
    "conjugate": transcendental.conj,
    "cumprod": cumulative.cumprod,
    "cumsum": cumulative.cumsum,
    "diagonal": diagonals.diagonal,
    "dot": contraction.dot,
    "max": reductions.max,
    "mean": statistics.mean,
    "min": reductions.min,
    "nonzero": selection.nonzero,
    "partition": ordering.partition,
    "prod": reductions.prod,
    "ptp": reductions.ptp,
    "ravel": shapes.ravel,
    "repeat": repetition.repeat,
    "round": rounding.round,
    "searchsorted": ordering.searchsorted,
    "sort": ordering.sort,
    "squeeze": shapes.squeeze,
    "std": statistics.std,
    "sum": reductions.sum,
    "swapaxes": shapes.swapaxes,
    "take": selection.take,
    "trace": diagonals.trace,
    "var": statistics.var,
}
PROPERTIES: dict[str, Callable[[Any], Any]] = {
    "T": _T,
    "mT": _mT,
    "real": _real,
    "imag": _imag,
    "at": At,
}


def install(namespace: Any) -> None:
    """Puts operators, methods and properties on `Array`; `namespace` is `arrayx.numpy`."""
    for name, function in BINARY.items():
        setattr(Array, f"__{name}__", _operator(function))
        setattr(Array, f"__r{name}__", _reflected(function))
    for name, function in COMPARISONS.items():
        setattr(Array, f"__{name}__", _operator(function))
    for name, function in METHODS.items():
        setattr(Array, name, function)
    for name, getter in PROPERTIES.items():
        setattr(Array, name, property(getter, doc=getter.__doc__))
    # A concrete array's class says where it lives.
    Tracer.device = property(_device)  # type: ignore[attr-defined]
    Array.__array_priority__ = 100  # type: ignore[attr-defined]
    Array.__array_namespace__ = lambda self, *, api_version=None: namespace  # type: ignore[attr-defined]
