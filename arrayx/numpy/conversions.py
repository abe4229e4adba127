"""What Python and NumPy ask of an array: numbers, texts, elements, copies."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from arrayx import dtypes, errors
from arrayx.backend.concrete import ConcreteArray
from arrayx.core.array import Array
from arrayx.core.interpreter import INDEX, Tracer, history
from arrayx.numpy import (
    arithmetic,
    contraction,
    logic,
)

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
        f"{hint}, or return the value and call NumPy outside."
    )


def _array_ufunc(self: Array, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    ours = UFUNCS.get(ufunc)
    if ours is not None and method == "__call__" and not kwargs:
        return ours(*inputs)
    if method != "__call__" and method in getattr(ours, "__dict__", ()):
        return getattr(ours, method)(*inputs, **kwargs)
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


def _hash(self: Array) -> NoReturn:
    raise errors.ArgumentError(
        "arrays cannot be hashed: == compares their elements. As a key of a dict use id(x), or "
        "x.tobytes(); as a static argument of ax.jit pass a Python number or tuple"
    )


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
    shown = np.int8 if dtypes.issubdtype(dtype, np.integer) else np.float32
    plain = host if dtype.kind in "biufc" else host.astype(shown)
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


def _item(self: Array, *args: Any) -> Any:
    """One element as a Python number."""
    return _value(self, "item()").item(*args)


def _tolist(self: Array) -> Any:
    """The elements as nested lists of Python numbers."""
    return _value(self, "tolist()").tolist()


def _tobytes(self: Array, order: str = "C") -> bytes:
    """The elements' bytes."""
    return _value(self, "tobytes()").tobytes(order)  # type: ignore[arg-type]


# From this version on DLPack can say that memory must not be written to.
_READ_ONLY_DLPACK = 1


class _Unguarded:
    """The memory of a read-only array, without the mark, for those who promise not to write."""

    def __init__(self, host: np.ndarray) -> None:
        self.host = host
        shown = host.__array_interface__
        self.__array_interface__ = {**shown, "data": (shown["data"][0], False)}


def _dlpack(
    self: Array,
    *,
    stream: Any = None,
    max_version: tuple[builtins.int, builtins.int] | None = None,
    dl_device: tuple[Any, builtins.int] | None = None,
    copy: builtins.bool | None = None,
) -> Any:
    """The elements as a DLPack capsule, in the memory of the host.

    Without a copy where the consumer can be told not to write (`max_version` from 1.0 on), or
    where `copy` is False, which promises it; else a copy.
    """
    host = _value(self, "__dlpack__()")
    if stream is not None:
        raise errors.ArgumentError(f"__dlpack__: stream={stream!r} is not taken: the host has none")
    if dl_device is not None and tuple(map(builtins.int, dl_device)) != _dlpack_device(self):
        raise BufferError(
            f"__dlpack__: the elements are given in the memory of the host, not on {dl_device}"
        )
    old = max_version is None or max_version[0] < _READ_ONLY_DLPACK
    if copy or (old and copy is None):
        host = host.copy()
    elif old:
        host = np.asarray(_Unguarded(host))
    return host.__dlpack__(max_version=max_version)


def _dlpack_device(self: Array) -> tuple[builtins.int, builtins.int]:
    """The DLPack device: the host."""
    return 1, 0
