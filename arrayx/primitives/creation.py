"""Arrays out of nothing but params: constants of one value, counters."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes
from arrayx.core.array import typeof
from arrayx.core.aval import Aval, Shape
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.families import handed


class Full(Primitive):
    """An array of `shape` and `dtype` whose elements all are the scalar `value`."""

    name = "full"
    moves = True
    cheap = True

    def type_rule(self, *, shape: Shape, dtype: Any, value: Any, weak_type: bool) -> Aval:
        return Aval(shape, dtype, weak_type)

    def key(self, params: dict[str, Any]) -> tuple[Any, ...]:
        # 0.0 and -0.0 are equal and nan is not: by its digits, a value is itself alone.
        return (params["shape"], params["dtype"], repr(params["value"]), params["weak_type"])

    def on_keys(self, avals: Any, *, shape: Shape, dtype: Any, value: Any, weak_type: bool) -> Any:
        # The number stands in both words.
        return fill((*shape, *dtype.physical_shape), dtype.physical_dtype, value)


class Iota(Primitive):
    """Counts 0, 1, 2, … along `axis` of an array of `shape` and `dtype`."""

    name = "iota"
    moves = True
    cheap = True

    def type_rule(self, *, shape: Shape, dtype: Any, axis: int) -> Aval:
        return Aval(shape, dtype)


full = Full()
iota = Iota()


def fill(shape: Shape, dtype: Any, value: Any, weak_type: bool = False) -> Any:
    """An array of one Python scalar; `value` is given in the kind of `dtype`."""
    return full(shape=shape, dtype=dtype, value=value, weak_type=weak_type)


def scalar(value: Any) -> Any:
    """A Python scalar as a weakly typed array of rank 0."""
    aval = typeof(value)
    dtypes.check_scalar(value, aval.dtype)
    return full(shape=(), dtype=aval.dtype, value=value, weak_type=aval.weak_type)


_ZEROS = {
    "bool": False,
    "int": 0,
    "uint": 0,
    "float": 0.0,
    "complex": 0j,
    "narrow int": 0,
    "narrow uint": 0,
    "narrow float": 0.0,
}


def zero_literal(dtype: Any) -> Any:
    """The Python scalar that is zero in the kind of `dtype`."""
    return _ZEROS[dtypes.kind(dtype)]


def zeros(aval: Aval) -> Any:
    """Zeros of a type, the mesh axes that it varies over included."""
    made = full(shape=aval.shape, dtype=aval.dtype, value=zero_literal(aval.dtype), weak_type=False)
    return handed.varied(made, aval.varying) if aval.varying else made


def instantiate(tangent: Any, aval: Aval) -> Any:
    """A tangent as an array of this type, zeros where it is `Zero`."""
    if tangent is Zero:
        return zeros(aval)
    if aval.varying and tangent.aval.varying != aval.varying:
        return handed.varied(tangent, aval.varying)
    return tangent
