"""How types, constants and places are spelled in StableHLO text, apart since it needs no jaxlib."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final, Protocol

import ml_dtypes
import numpy as np

from arrayx.errors import DtypeError

__all__ = [
    "ELEMENT_TYPES",
    "Shaped",
    "dense",
    "donated",
    "element_type",
    "literal",
    "location",
    "mlir_type",
    "quoted",
    "tensor_type",
]


class Shaped(Protocol):
    """What this file needs of an aval."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...


# StableHLO's signed integers are MLIR's *signless* ones: `i32`, never `si32`, which it refuses.
ELEMENT_TYPES: Final[dict[np.dtype[Any], str]] = {
    np.dtype(scalar): spelling
    for scalar, spelling in (
        (np.bool_, "i1"),
        (ml_dtypes.int2, "i2"),
        (ml_dtypes.int4, "i4"),
        (np.int8, "i8"),
        (np.int16, "i16"),
        (np.int32, "i32"),
        (np.int64, "i64"),
        (ml_dtypes.uint2, "ui2"),
        (ml_dtypes.uint4, "ui4"),
        (np.uint8, "ui8"),
        (np.uint16, "ui16"),
        (np.uint32, "ui32"),
        (np.uint64, "ui64"),
        (ml_dtypes.float4_e2m1fn, "f4E2M1FN"),
        (ml_dtypes.float8_e3m4, "f8E3M4"),
        (ml_dtypes.float8_e4m3, "f8E4M3"),
        (ml_dtypes.float8_e4m3b11fnuz, "f8E4M3B11FNUZ"),
        (ml_dtypes.float8_e4m3fn, "f8E4M3FN"),
        (ml_dtypes.float8_e4m3fnuz, "f8E4M3FNUZ"),
        (ml_dtypes.float8_e5m2, "f8E5M2"),
        (ml_dtypes.float8_e5m2fnuz, "f8E5M2FNUZ"),
        (ml_dtypes.float8_e8m0fnu, "f8E8M0FNU"),
        (ml_dtypes.bfloat16, "bf16"),
        (np.float16, "f16"),
        (np.float32, "f32"),
        (np.float64, "f64"),
        (np.complex64, "complex<f32>"),
        (np.complex128, "complex<f64>"),
    )
}

# Up to here a constant is a list that a person can read; above, a blob of bytes in hexadecimal.
_LONGEST_LIST: Final = 16


def element_type(dtype: np.dtype[Any]) -> str:
    """MLIR's name of `dtype`; `DtypeError` if XLA has none.

    >>> element_type(np.dtype("uint8")), element_type(np.dtype("complex64"))
    ('ui8', 'complex<f32>')
    """
    spelling = ELEMENT_TYPES.get(dtype)
    if spelling is None:
        raise DtypeError(f"backend 'xla' has no dtype {dtype}; it has {_known_dtypes()}")
    return spelling


def _known_dtypes() -> str:
    return ", ".join(str(dtype) for dtype in ELEMENT_TYPES)


@lru_cache(maxsize=4096)
def tensor_type(shape: tuple[int, ...], dtype: np.dtype[Any]) -> str:
    """The MLIR type of an array of this shape and dtype.

    >>> tensor_type((2, 3), np.dtype("float32")), tensor_type((), np.dtype("bool"))
    ('tensor<2x3xf32>', 'tensor<i1>')
    """
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element_type(dtype)}>"


def mlir_type(aval: Shaped) -> str:
    """The MLIR type of an aval: `tensor<2x3xf32>`."""
    return tensor_type(aval.shape, aval.dtype)


def literal(value: Any, dtype: np.dtype[Any]) -> str:
    """`value` as one element of a dense constant of `dtype`, exactly.

    Integers out of the dtype's range raise OverflowError, and numbers that are not integers raise
    TypeError where an integer is wanted. Floats are rounded to the dtype as NumPy does.

    >>> literal(1e-5, np.dtype("float64")), literal(float("-inf"), np.dtype("float32"))
    ('1.0e-05', '0xFF800000')
    >>> literal(True, np.dtype("bool")), literal(1 - 2j, np.dtype("complex64"))
    ('true', '(1.0, -2.0)')
    """
    if dtype.kind == "b":
        return "true" if value else "false"
    element = element_type(dtype)
    if dtype.kind == "c":
        number = dtype.type(value)
        return f"({_float(number.real)}, {_float(number.imag)})"
    if element[0] in "iu":
        return str(_integer(value, dtype))
    return _float(dtype.type(value))


def _integer(value: Any, dtype: np.dtype[Any]) -> int:
    try:
        number = int(value)
    except ValueError:  # NaN
        number = None
    if number is None or number != value:
        raise TypeError(f"{value!r} is not an integer, which {dtype} wants")
    info = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
    if not info.min <= number <= info.max:
        raise OverflowError(f"{number} does not fit {dtype} ({info.min} to {info.max})")
    return number


def _float(value: Any) -> str:
    """A real NumPy scalar; the shortest decimal of the double it equals rounds back to it."""
    number = float(value)
    if not math.isfinite(number):
        # MLIR has no words for these: the bits, in as many digits as the type is wide.
        bits = np.asarray(value).view(f"u{value.dtype.itemsize}")
        return f"0x{int(bits):0{2 * value.dtype.itemsize}X}"
    digits = repr(number)
    if "e" in digits and "." not in digits:
        # MLIR refuses an exponent without a point.
        digits = digits.replace("e", ".0e")
    return digits


def dense(array: Any, dtype: np.dtype[Any] | None = None) -> str:
    """The `dense<...>` attribute of a whole array: one value, a list, or a blob in hexadecimal.

    An array whose elements are all the same bits is written as the one value, so zeros of any
    size cost nothing. The type is not included: write `dense(x) + " : " + mlir_type(x)`.

    >>> dense(np.arange(3)), dense(np.zeros((5, 5), np.float32))
    ('dense<[0, 1, 2]>', 'dense<0.0>')
    """
    array = np.asarray(array, dtype=dtype)
    dtype = array.dtype.newbyteorder("=")
    element_type(dtype)
    if array.size == 0:
        return "dense<>"
    flat = np.ascontiguousarray(array, dtype=dtype.newbyteorder("<")).reshape(-1)
    raw = flat.view(np.uint8).reshape(flat.size, -1)
    if array.size == 1 or bool((raw == raw[0]).all()):
        return f"dense<{literal(flat[0], dtype)}>"
    if array.size <= _LONGEST_LIST:
        return f"dense<{_listed(array, dtype)}>"
    return f'dense<"0x{raw.tobytes().hex().upper()}">'


def _listed(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> str:
    if array.ndim == 0:
        return literal(array[()], dtype)
    return f"[{', '.join(_listed(part, dtype) for part in array)}]"


def quoted(string: str) -> str:
    """`string` as an MLIR string literal, quotes included."""
    return '"' + "".join(_escaped(character) for character in string) + '"'


def _escaped(character: str) -> str:
    if character in '"\\' or not character.isprintable():
        return "".join(f"\\{byte:02X}" for byte in character.encode("utf-8", "surrogateescape"))
    return character


def location(file: str, line: int, column: int = 0, name: str | None = None) -> str:
    """The `loc(...)` that, after an operation, carries the user's line into XLA's messages.

    >>> location("model.py", 12)
    'loc("model.py":12:0)'
    >>> location("model.py", 12, 4, name="dot")
    'loc("dot"("model.py":12:4))'
    """
    place = f"{quoted(file)}:{line}:{column}"
    return f"loc({place})" if name is None else f"loc({quoted(name)}({place}))"


def donated(output: int | None = None) -> str:
    """The attributes of an argument of `@main` whose memory the program may take.

    With `output` the argument and that result share memory: their byte sizes must be equal. With
    None, XLA pairs it with a result that fits, if there is one, and else leaves it alone.

    >>> donated(0), donated()
    ('{tf.aliasing_output = 0 : i32}', '{jax.buffer_donor = true}')
    """
    if output is None:
        return "{jax.buffer_donor = true}"
    return f"{{tf.aliasing_output = {output} : i32}}"
