"""Element types: their names, which can be called like `float32(1.5)`, and questions about them."""

from __future__ import annotations

import builtins
import math
from typing import Any

import ml_dtypes
import numpy as np

from arrayx import dtypes as known
from arrayx.core.array import Array
from arrayx.dtypes import as_dtype as dtype
from arrayx.dtypes import can_cast, finfo, iinfo, isdtype, issubdtype
from arrayx.numpy.creation import array
from arrayx.promotion import promote_types, result_type

__all__ = [
    "can_cast",
    "dtype",
    "finfo",
    "iinfo",
    "isdtype",
    "issubdtype",
    "promote_types",
    "result_type",
]


class ScalarType(type):
    """The class of `anp.float32` and its kin: calling one makes an array of that dtype.

    It equals NumPy's scalar type and the dtype, and stands for it wherever a dtype is taken.
    """

    dtype: Any

    def __call__(cls, x: Any = 0) -> Array:
        return array(x, cls.dtype)

    def __eq__(cls, other: object) -> builtins.bool:
        return (
            cls is other
            or cls.dtype.type == other
            or (isinstance(other, np.dtype) and cls.dtype == other)
        )

    def __ne__(cls, other: object) -> builtins.bool:
        return not cls == other

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __repr__(cls) -> str:
        return f"<class 'arrayx.numpy.{cls.__name__}'>"

    def __instancecheck__(cls, instance: Any) -> builtins.bool:
        return isinstance(instance, cls.dtype.type)


def _scalar_type(name: str, of: Any) -> Any:
    found = known.as_dtype(of)
    members = {
        "dtype": found,
        "__module__": "arrayx.numpy",
        "__doc__": f"The dtype {name}; called, an array of it.",
    }
    return ScalarType(name, (), members)


bool_ = bool = _scalar_type("bool_", np.bool_)
int8 = _scalar_type("int8", np.int8)
int16 = _scalar_type("int16", np.int16)
int32 = _scalar_type("int32", np.int32)
int64 = _scalar_type("int64", np.int64)
uint8 = _scalar_type("uint8", np.uint8)
uint16 = _scalar_type("uint16", np.uint16)
uint32 = _scalar_type("uint32", np.uint32)
uint64 = _scalar_type("uint64", np.uint64)
float16 = _scalar_type("float16", np.float16)
bfloat16 = _scalar_type("bfloat16", ml_dtypes.bfloat16)
float32 = _scalar_type("float32", np.float32)
float64 = double = _scalar_type("float64", np.float64)
single = float32
complex64 = csingle = _scalar_type("complex64", np.complex64)
complex128 = cdouble = _scalar_type("complex128", np.complex128)
float8_e3m4 = _scalar_type("float8_e3m4", ml_dtypes.float8_e3m4)
float8_e4m3 = _scalar_type("float8_e4m3", ml_dtypes.float8_e4m3)
float8_e4m3b11fnuz = _scalar_type("float8_e4m3b11fnuz", ml_dtypes.float8_e4m3b11fnuz)
float8_e4m3fn = _scalar_type("float8_e4m3fn", ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz = _scalar_type("float8_e4m3fnuz", ml_dtypes.float8_e4m3fnuz)
float8_e5m2 = _scalar_type("float8_e5m2", ml_dtypes.float8_e5m2)
float8_e5m2fnuz = _scalar_type("float8_e5m2fnuz", ml_dtypes.float8_e5m2fnuz)
float8_e8m0fnu = _scalar_type("float8_e8m0fnu", ml_dtypes.float8_e8m0fnu)
int2 = _scalar_type("int2", ml_dtypes.int2)
int4 = _scalar_type("int4", ml_dtypes.int4)
uint2 = _scalar_type("uint2", ml_dtypes.uint2)
uint4 = _scalar_type("uint4", ml_dtypes.uint4)
float4_e2m1fn = _scalar_type("float4_e2m1fn", ml_dtypes.float4_e2m1fn)
float6_e2m3fn = _scalar_type("float6_e2m3fn", ml_dtypes.float6_e2m3fn)
float6_e3m2fn = _scalar_type("float6_e3m2fn", ml_dtypes.float6_e3m2fn)

# The abstract types, for `issubdtype`.
generic = np.generic
number = np.number
integer = np.integer
signedinteger = np.signedinteger
unsignedinteger = np.unsignedinteger
inexact = np.inexact
floating = np.floating
complexfloating = np.complexfloating
character = np.character
flexible = np.flexible
object_ = np.object_

# What is called so depends on the default width.
int_, uint, float_, complex_ = int32, uint32, float32, complex64

pi = math.pi
e = math.e
inf = math.inf
nan = math.nan
euler_gamma = float(np.euler_gamma)
newaxis = None


def iscomplexobj(x: Any) -> Any:
    """Whether the dtype of `x` is complex.

    >>> import arrayx.numpy as anp
    >>> anp.iscomplexobj(1j)
    True
    """
    return known.is_complex(result_type(x))


def isrealobj(x: Any) -> Any:
    """Whether the dtype of `x` is not complex.

    >>> import arrayx.numpy as anp
    >>> anp.isrealobj(1j)
    False
    """
    return not iscomplexobj(x)
