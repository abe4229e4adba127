"""The parts of floating-point numbers, and bits packed into bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, logic
from arrayx.numpy.functions import array_of
from arrayx.numpy.naming import named
from arrayx.numpy.promotion import (
    as_array,
    as_type,
    broadcast_shapes,
    broadcast_to_shape,
    check_axis,
    inexact,
    read_beside,
)
from arrayx.numpy.reductions import sum
from arrayx.numpy.selection import where
from arrayx.numpy.shapes import concatenate, moveaxis, ravel, reshape
from arrayx.primitives.arithmetic import add, mul, select, sub
from arrayx.primitives.bitwise import bitwise_and, shift_left, shift_right_logical
from arrayx.primitives.combined import stop_gradient
from arrayx.primitives.conversion import bitcast
from arrayx.primitives.creation import fill
from arrayx.primitives.numeric import clamp

SIGNED = {
    8: np.dtype(np.int8),
    16: np.dtype(np.int16),
    32: np.dtype(np.int32),
    64: np.dtype(np.int64),
}


def _layout(dtype: Any) -> tuple[Any, int, int]:
    """The integer dtype of a float's width, the number of digits, and the exponent's bias."""
    info = dtypes.finfo(dtype)
    return SIGNED[8 * dtype.itemsize], int(info.nmant), 1 - int(info.minexp)


def _power_of_two(exponent: Array, dtype: Any) -> Array:
    """2 to an integer power that gives a normal number of `dtype`, exactly."""
    _, digits, bias = _layout(dtype)
    return bitcast(shift_left(add(exponent, bias), digits), dtype=dtype)  # type: ignore[no-any-return]


@named
def ldexp(x1: Any, x2: Any, /) -> Array:
    """`x1` times 2 to the power of the integer `x2`, without overflow on the way.

    >>> import arrayx.numpy as anp
    >>> float(anp.ldexp(0.75, 4))
    12.0
    """
    given, power = read_beside((x1, x2), "ldexp", ("x1", "x2"))
    x, exponent = array_of(given, "ldexp", inexact), as_array(power)
    if dtypes.is_complex(x.dtype) or not (
        dtypes.is_integer(exponent.dtype) or dtypes.kind(exponent.dtype) == "bool"
    ):
        raise errors.DtypeError(
            f"ldexp takes a real number and an integer, got {x.dtype} and {exponent.dtype}"
        )
    integer, _, bias = _layout(x.dtype)
    shape = broadcast_shapes(x.shape, exponent.shape)
    x = broadcast_to_shape(x, shape)
    # In three steps, each a normal number: from the largest to the smallest is below 3 biases.
    far = 3 * (bias - 2)
    wide = exponent if exponent.dtype.itemsize >= integer.itemsize else as_type(exponent, integer)
    limit = 127 if wide.dtype.itemsize == 1 else far
    power = as_type(arithmetic.clip(wide, -limit, limit), integer)
    power = broadcast_to_shape(power, shape)
    for _ in range(3):
        part = clamp(-(bias - 2), power, bias - 2)
        x = mul(x, _power_of_two(part, x.dtype))
        power = sub(power, part)
    return x


@named
def frexp(x: Any, /) -> tuple[Array, Array]:
    """`x` as a fraction in [0.5, 1) and an integer exponent: x = fraction · 2**exponent.

    Zeros, infinities and nan are their own fraction, with exponent 0.

    >>> import arrayx.numpy as anp
    >>> [v.tolist() for v in anp.frexp(anp.array([12.0, 0.0]))]
    [[0.75, 0.0], [4, 0]]
    """
    number = array_of(x, "frexp", inexact)
    if dtypes.is_complex(number.dtype):
        raise errors.DtypeError(f"frexp takes real numbers, got {number.dtype}")
    integer, digits, bias = _layout(number.dtype)
    # Subnormal numbers are scaled up first.
    tiny = float(dtypes.finfo(number.dtype).tiny)
    small = logic.less(arithmetic.abs(number), tiny)
    scaled = select(small, mul(number, 2.0 ** (digits + 1)), number)
    mask = (1 << (8 * integer.itemsize - 1 - digits)) - 1
    stored = bitwise_and(
        shift_right_logical(bitcast(scaled, dtype=integer), digits),
        broadcast_to_shape(fill((), integer, mask), number.shape),
    )
    exponent = sub(stored, bias - 1)
    exponent = select(small, sub(exponent, digits + 1), exponent)
    plain = logic.logical_or(logic.equal(number, 0), logic.logical_not(logic.isfinite(number)))
    exponent = select(plain, 0, exponent)
    fraction = ldexp(number, arithmetic.negative(exponent))
    return where(plain, number, fraction), as_type(exponent, np.dtype(np.int32))


@named
def spacing(x: Any, /) -> Array:
    """The distance from `x` to the next number away from 0, with the sign of `x`.

    >>> import arrayx.numpy as anp
    >>> float(anp.spacing(1.0)) == 2**-23
    True
    """
    number = array_of(x, "spacing", inexact)
    if dtypes.is_complex(number.dtype):
        raise errors.DtypeError(f"spacing takes real numbers, got {number.dtype}")
    number = stop_gradient(number)
    size = arithmetic.abs(number)
    above = arithmetic.nextafter(size, float("inf"))
    below = arithmetic.nextafter(size, 0.0)
    last = logic.isinf(above)
    step = where(last, arithmetic.subtract(size, below), arithmetic.subtract(above, size))
    step = where(logic.isfinite(number), step, float("nan"))
    return arithmetic.copysign(step, number)


# ----------------------------------------------------------------- packed

BYTE = np.dtype(np.uint8)
_ORDERS = ("big", "little")


def _weights(bitorder: str, function: str) -> np.ndarray:
    if bitorder not in _ORDERS:
        raise errors.ArgumentError(f"{function}: bitorder is one of {_ORDERS}, not {bitorder!r}")
    places = np.arange(8, dtype=np.uint8)
    return places[::-1].copy() if bitorder == "big" else places


@named
def packbits(a: Any, axis: int | None = None, bitorder: str = "big") -> Array:
    """Booleans as bits of bytes, eight by eight along `axis` (None flattens), zeros at the end.

    >>> import arrayx.numpy as anp
    >>> anp.packbits(anp.array([1, 0, 1])).tolist()
    [160]
    """
    x = as_array(a, "packbits", "a")
    places = _weights(bitorder, "packbits")
    if dtypes.kind(x.dtype) not in ("bool", "int", "uint"):
        raise errors.DtypeError(f"packbits takes booleans and integers, got {x.dtype}")
    if axis is None:
        x, axis = ravel(x), 0
    i = check_axis(axis, x.ndim, "packbits")
    bits = moveaxis(as_type(logic.not_equal(x, 0), BYTE), i, -1)
    missing = -bits.shape[-1] % 8
    if missing:
        rest = fill((*bits.shape[:-1], missing), BYTE, 0)
        bits = concatenate([bits, rest], -1)
    groups = reshape(bits, (*bits.shape[:-1], bits.shape[-1] // 8, 8))
    moved = logic.left_shift(groups, places)
    return moveaxis(sum(moved, -1, BYTE), -1, i)


@named
def unpackbits(
    a: Any, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Array:
    """Bytes as their bits along `axis` (None flattens), the first `count` of them.

    A negative `count` leaves so many out at the end; a larger one adds zeros.

    >>> import arrayx.numpy as anp
    >>> anp.unpackbits(anp.array([5], anp.uint8)).tolist()
    [0, 0, 0, 0, 0, 1, 0, 1]
    """
    x = as_array(a, "unpackbits", "a")
    places = _weights(bitorder, "unpackbits")
    if x.dtype is not BYTE:
        raise errors.DtypeError(f"unpackbits takes uint8, got {x.dtype}")
    if axis is None:
        x, axis = ravel(x), 0
    i = check_axis(axis, x.ndim, "unpackbits")
    lines = moveaxis(x, i, -1)
    bits = logic.bitwise_and(logic.right_shift(reshape(lines, (*lines.shape, 1)), places), 1)
    bits = reshape(bits, (*lines.shape[:-1], lines.shape[-1] * 8))
    length = bits.shape[-1]
    if count is not None:
        if count > length:
            bits = concatenate([bits, fill((*bits.shape[:-1], count - length), BYTE, 0)], -1)
        else:
            bits = bits[..., :count]
    return moveaxis(bits, -1, i)
