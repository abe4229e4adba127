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
from arrayx.backend.concrete import ConcreteArray
from arrayx.core.array import Array
from arrayx.core.interpreter import INDEX, Tracer, history
from arrayx.numpy import (
    arithmetic,
    contraction,
    creation,
    cumulative,
    logic,
    reductions,
    repetition,
    selection,
    shapes,
    transcendental,
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
UFUNCS: dict[Any, Callable[..., Any]] = {
    np.add: arithmetic.add,
    np.subtract: arithmetic.subtract,
    np.multiply: arithmetic.multiply,
    np.true_divide: arithmetic.divide,
    np.floor_divide: arithmetic.floor_divide,
    np.remainder: arithmetic.remainder,
    np.divmod: arithmetic.divmod,
    np.power: arithmetic.power,
    np.matmul: contraction.matmul,
    np.bitwise_and: logic.bitwise_and,
    np.bitwise_or: logic.bitwise_or,
    np.bitwise_xor: logic.bitwise_xor,
    np.left_shift: logic.left_shift,
    np.right_shift: logic.right_shift,
    np.equal: logic.equal,
    np.not_equal: logic.not_equal,
    np.less: logic.less,
    np.less_equal: logic.less_equal,
    np.greater: logic.greater,
    np.greater_equal: logic.greater_equal,
}


# ----------------------------------------------------------------- values for Python and NumPy

# The line to name in a message is the user's, not that of a function of NumPy written in Python.
source.hide(os.path.dirname(np.__file__) + os.sep)


def _value(self: Array, what: str) -> np.ndarray:
    """The elements, for Python's `what`; raises where they are not known."""
    if isinstance(self.aval.dtype, dtypes.KeyDtype) and what not in ("repr()", "str()"):
        raise errors.DtypeError(
            f"{what} was given random keys, which are no numbers; their words are "
            "ax.random.key_data(keys)"
        )
    concrete: Any = self
    if isinstance(self, Tracer):
        concrete = self.concrete(what)
    if isinstance(concrete, np.ndarray):
        return concrete
    return concrete.host()  # type: ignore[no-any-return]


def _single(self: Array, what: str) -> Any:
    if self.aval.size != 1:
        raise errors.ArgumentError(
            f"{what} needs an array of one element, got shape {self.aval.shape}"
            + ("; use x.any() or x.all()" if what == "bool()" else "")
        )
    return _value(self, what).reshape(())[()]


def _bool(self: Array) -> builtins.bool:
    return builtins.bool(_single(self, "bool()"))


def _int(self: Array) -> builtins.int:
    return int(_single(self, "int()"))


def _float(self: Array) -> builtins.float:
    return float(_single(self, "float()"))


def _complex(self: Array) -> builtins.complex:
    return complex(_single(self, "complex()"))


def _index(self: Array) -> builtins.int:
    if self.aval.ndim or not dtypes.is_integer(self.aval.dtype):
        raise errors.ArgumentError(
            f"only an integer array of rank 0 can be an index of Python's, got {self.aval}"
        )
    return int(_single(self, INDEX))


def _array(self: Array, dtype: Any = None, copy: Any = None) -> np.ndarray:
    if isinstance(self, Tracer):
        _refuse_numpy(self, "np.asarray", None)
    host = _value(self, "np.asarray()")
    if dtype is not None and np.dtype(dtype) != host.dtype:
        return host.astype(dtype)
    return host.copy() if copy else host


def _refuse_numpy(tracer: Tracer, call: str, instead: str | None) -> NoReturn:
    hint = (
        f"Use anp.{instead} (import arrayx.numpy as anp), which can be traced"
        if instead is not None
        else "Use the function of the same name in arrayx.numpy, which can be traced"
    )
    raise errors.NumpyConversionError(
        f"{call} was given a traced array of type {tracer.aval}, which has no elements under "
        f"{tracer.interpreter.word}: NumPy cannot work on it.\n"
        f"{history('asked', tracer)}"
        f"{hint}, or ax.pure_callback to call NumPy when the program runs."
    )


def _array_ufunc(self: Array, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    ours = UFUNCS.get(ufunc)
    if ours is not None and method == "__call__" and not kwargs:
        return ours(*inputs)
    for x in inputs:
        if isinstance(x, Tracer):
            name = ufunc.__name__
            _refuse_numpy(x, f"np.{name}", name)
    if any(isinstance(x, Array) for x in kwargs.get("out", ())):
        _refuse_assignment("an in-place operation of NumPy")
    hosts = [x.host() if isinstance(x, ConcreteArray) else x for x in inputs]
    return getattr(ufunc, method)(*hosts, **kwargs)


def _refuse_assignment(what: str) -> NoReturn:
    raise errors.ImmutableArrayError(
        f"arrays do not change: {what} cannot write into one. Use the result instead"
    )


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


def _hash(self: Array) -> NoReturn:
    raise errors.ArgumentError(
        "arrays cannot be hashed: == compares their elements. As a key of a dict use id(x), or "
        "x.tobytes(); as a static argument of ax.jit pass a Python number or tuple"
    )


# ----------------------------------------------------------------- texts


def _repr(self: Array) -> str:
    if isinstance(self, Tracer):
        return Tracer.__repr__(self)
    host = _value(self, "repr()")
    dtype = self.aval.dtype
    weak = ", weak_type=True" if self.aval.weak_type else ""
    if isinstance(dtype, dtypes.KeyDtype):
        return f"Array({self.aval.shape}, dtype={dtype}) of keys with data:\n{host}"
    name = dtypes.dtype_name(dtype)
    if not host.size:
        return f"Array([], dtype={name}, shape={self.aval.shape}{weak})"
    prefix = "Array("
    plain = host if dtype.kind in "biufc" else host.astype(np.float32)
    body = np.array2string(plain, separator=", ", prefix=prefix, suffix=",")
    return f"{prefix}{body}, dtype={name}{weak})"


def _str(self: Array) -> str:
    if isinstance(self, Tracer):
        return repr(self)
    return str(_value(self, "str()"))


def _format(self: Array, spec: str) -> str:
    if isinstance(self, Tracer):
        return format(repr(self), spec)
    if not self.aval.shape:
        return format(_value(self, "format()")[()], spec)
    return format(str(self), spec)


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


def _item(self: Array, *args: Any) -> Any:
    """One element as a Python number."""
    return _value(self, "item()").item(*args)


def _tolist(self: Array) -> Any:
    """The elements as nested lists of Python numbers."""
    return _value(self, "tolist()").tolist()


def _tobytes(self: Array, order: str = "C") -> bytes:
    """The elements' bytes."""
    return _value(self, "tobytes()").tobytes(order)  # type: ignore[arg-type]


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
    return {self.device}  # type: ignore[attr-defined]


def _delete(self: Array) -> None:
    """Gives the memory back now; the array cannot be used afterwards."""
    if isinstance(self, ConcreteArray) and self.buffer is not None:
        self.backend.delete(self.buffer)
        self.buffer = None


def _is_deleted(self: Array) -> builtins.bool:
    """Whether the memory was given back or away."""
    return isinstance(self, ConcreteArray) and self.buffer is None


def _to_device(self: Array, device: Any, /, *, stream: Any = None) -> Array:
    """The array on another device."""
    raise errors.ArgumentError("use ax.device_put(x, device)")


def _dlpack(self: Array, **kwargs: Any) -> Any:
    """The elements as a DLPack capsule, without a copy where the backend allows it."""
    host = _value(self, "__dlpack__()")
    if not host.flags.writeable and kwargs.get("max_version") is None:
        host = host.copy()
    return host.__dlpack__(**kwargs)


def _dlpack_device(self: Array) -> tuple[builtins.int, builtins.int]:
    """The DLPack device: the host."""
    return 1, 0


def _astype(self: Array, dtype: Any, copy: Any = None, device: Any = None) -> Array:
    """The array in another dtype; see `anp.astype`."""
    return creation.astype(self, dtype)


def _view(self: Array, dtype: Any = None) -> Array:
    """The bits of the elements as another dtype of the same width."""
    target = self.aval.dtype if dtype is None else dtypes.as_dtype(dtype)
    return bitcast(self, dtype=target)  # type: ignore[no-any-return]


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
    "__round__": lambda self, ndigits=None: arithmetic.round(self, ndigits or 0),
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
    "argmax": selection.argmax,
    "argmin": selection.argmin,
    "argsort": selection.argsort,
    "choose": selection.choose,
    "clip": arithmetic.clip,
    "compress": lambda self, condition, axis=None: selection.compress(condition, self, axis),
    "conj": transcendental.conj,
    "conjugate": transcendental.conj,
    "cumprod": cumulative.cumprod,
    "cumsum": cumulative.cumsum,
    "diagonal": contraction.diagonal,
    "dot": contraction.dot,
    "max": reductions.max,
    "mean": reductions.mean,
    "min": reductions.min,
    "nonzero": selection.nonzero,
    "prod": reductions.prod,
    "ptp": reductions.ptp,
    "ravel": shapes.ravel,
    "repeat": repetition.repeat,
    "round": arithmetic.round,
    "searchsorted": selection.searchsorted,
    "sort": selection.sort,
    "squeeze": shapes.squeeze,
    "std": reductions.std,
    "sum": reductions.sum,
    "swapaxes": shapes.swapaxes,
    "take": selection.take,
    "trace": contraction.trace,
    "var": reductions.var,
}
PROPERTIES: dict[str, Callable[[Any], Any]] = {
    "T": lambda self: shapes.transpose(self),
    "mT": _mT,
    "real": lambda self: transcendental.real(self),
    "imag": lambda self: transcendental.imag(self),
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
    Array.__array_priority__ = 100  # type: ignore[attr-defined]
    Array.__array_namespace__ = lambda self, *, api_version=None: namespace  # type: ignore[attr-defined]
