"""The operators and methods of arrays, put on `core.array.Array`: concrete and traced alike.

Apart because the class stands on floor 1, below everything that its methods need.  Each is named
by its module, which is imported when the method is first looked at.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from arrayx import source
from arrayx.core.array import Array
from arrayx.core.interpreter import Tracer
from arrayx.lazy import Late

# What an operator takes for its other operand; all else may have an operator of its own.
OPERANDS = (Array, bool, int, float, complex, np.ndarray, np.generic)
# Comparisons take lists and tuples too: without, x == [1, 2] would be False in silence.
COMPARED = (*OPERANDS, list, tuple)

# The line to name in a message is the user's, not that of a function of NumPy written in Python.
source.hide(os.path.dirname(np.__file__) + os.sep)


def _operator(
    function: Callable[[Any, Any], Any], taken: tuple[type, ...] = OPERANDS
) -> Callable[[Any, Any], Any]:
    def operate(self: Any, other: Any) -> Any:
        if isinstance(other, taken):
            return function(self, other)
        return NotImplemented

    return operate


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operate(self: Any, other: Any) -> Any:
        if isinstance(other, OPERANDS):
            return function(other, self)
        return NotImplemented

    return operate


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _property(function: Callable[[Any], Any]) -> Any:
    return property(function, doc=function.__doc__)


# By the name of the method, the module under `arrayx.numpy` and the name there.
BINARY = {
    "add": "arithmetic.add",
    "sub": "arithmetic.subtract",
    "mul": "arithmetic.multiply",
    "truediv": "arithmetic.divide",
    "floordiv": "arithmetic.floor_divide",
    "mod": "arithmetic.remainder",
    "divmod": "arithmetic.divmod",
    "pow": "arithmetic.power",
    "matmul": "contraction.matmul",
    "and": "logic.bitwise_and",
    "or": "logic.bitwise_or",
    "xor": "logic.bitwise_xor",
    "lshift": "logic.left_shift",
    "rshift": "logic.right_shift",
}
COMPARISONS = {
    "eq": "logic.equal",
    "ne": "logic.not_equal",
    "lt": "logic.less",
    "le": "logic.less_equal",
    "gt": "logic.greater",
    "ge": "logic.greater_equal",
}
METHODS = {
    "__getitem__": "methods._getitem",
    "__setitem__": "methods._setitem",
    "__delitem__": "methods._delitem",
    "__len__": "methods._len",
    "__iter__": "methods._iter",
    "__contains__": "reductions.contains",
    "__hash__": "conversions._hash",
    "__bool__": "conversions._bool",
    "__int__": "conversions._int",
    "__float__": "conversions._float",
    "__complex__": "conversions._complex",
    "__index__": "conversions._index",
    "__array__": "conversions._array",
    "__array_ufunc__": "conversions._array_ufunc",
    "__repr__": "conversions._repr",
    "__str__": "conversions._str",
    "__format__": "conversions._format",
    "__neg__": "arithmetic.negative",
    "__pos__": "methods._copy",
    "__abs__": "arithmetic.abs",
    "__invert__": "logic.invert",
    "__round__": "rounding.rounded",
    "__dlpack__": "conversions._dlpack",
    "__dlpack_device__": "conversions._dlpack_device",
    "reshape": "methods._reshape",
    "transpose": "methods._transpose",
    "item": "conversions._item",
    "tolist": "conversions._tolist",
    "tobytes": "conversions._tobytes",
    "flatten": "methods._flatten",
    "copy": "methods._copy",
    "astype": "methods._astype",
    "view": "methods._view",
    "block_until_ready": "methods._block_until_ready",
    "devices": "methods._devices",
    "delete": "methods._delete",
    "is_deleted": "methods._is_deleted",
    "to_device": "methods._to_device",
    "all": "reductions.all",
    "any": "reductions.any",
    "argmax": "ordering.argmax",
    "argmin": "ordering.argmin",
    "argpartition": "ordering.argpartition",
    "argsort": "ordering.argsort",
    "choose": "selection.choose",
    "clip": "arithmetic.clip",
    "compress": "selection.compressed",
    "conj": "transcendental.conj",
    "conjugate": "transcendental.conj",
    "cumprod": "cumulative.cumprod",
    "cumsum": "cumulative.cumsum",
    "diagonal": "diagonals.diagonal",
    "dot": "contraction.dot",
    "max": "reductions.max",
    "mean": "statistics.mean",
    "min": "reductions.min",
    "nonzero": "selection.nonzero",
    "partition": "ordering.partition",
    "prod": "reductions.prod",
    "ptp": "reductions.ptp",
    "ravel": "shapes.ravel",
    "repeat": "repetition.repeat",
    "round": "rounding.round",
    "searchsorted": "ordering.searchsorted",
    "sort": "ordering.sort",
    "squeeze": "shapes.squeeze",
    "std": "statistics.std",
    "sum": "reductions.sum",
    "swapaxes": "shapes.swapaxes",
    "take": "selection.take",
    "trace": "diagonals.trace",
    "var": "statistics.var",
}
PROPERTIES = {
    "T": "methods._T",
    "mT": "shapes.matrix_transpose",
    "real": "transcendental.real",
    "imag": "transcendental.imag",
    "at": "updates.At",
}


def _install(owner: type, name: str, place: str, wrap: Callable[[Any], Any] = _method) -> None:
    module, _, attribute = place.partition(".")
    setattr(owner, name, Late(owner, name, f"arrayx.numpy.{module}", attribute, wrap))


for _name, _place in BINARY.items():
    _install(Array, f"__{_name}__", _place, _operator)
    _install(Array, f"__r{_name}__", _place, _reflected)
for _name, _place in COMPARISONS.items():
    _install(Array, f"__{_name}__", _place, partial(_operator, taken=COMPARED))
for _name, _place in METHODS.items():
    _install(Array, _name, _place)
for _name, _place in PROPERTIES.items():
    _install(Array, _name, _place, _property)
# A concrete array's class says where it lives.
_install(Tracer, "device", "methods._device", _property)
Array.__array_priority__ = 100  # type: ignore[attr-defined]
Array.__array_namespace__ = (  # type: ignore[attr-defined]
    lambda self, *, api_version=None: sys.modules["arrayx.numpy"]
)
