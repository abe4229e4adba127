"""Draws made from random bits without transcendental functions.

Their bits are those that JAX gives for the same key (of its partitionable Threefry), on
every backend; where `minval` and `maxval` are not 0 and 1, up to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.core.aval import Shape
from arrayx.numpy.promotion import LITERALS, as_type, scalar_array
from arrayx.primitives.arithmetic import add, gt, le, lt, mul, select, sub
from arrayx.primitives.axes import reshape
from arrayx.primitives.bitwise import (
    bitwise_and,
    bitwise_or,
    shift_right_logical,
)
from arrayx.primitives.conversion import bitcast
from arrayx.primitives.numeric import max as maximum
from arrayx.primitives.numeric import min as minimum
from arrayx.primitives.numeric import rem
from arrayx.primitives.random import UINTS, random_bits, random_split
from arrayx.primitives.slicing import cut
from arrayx.random.arguments import (
    checked_dtype,
    checked_shape,
    float_dtype,
    parameter,
    rounded,
    spread,
    value,
)
from arrayx.random.keys import one_key

INT32 = np.dtype(np.int32)


def halves(x: Any) -> tuple[Any, Any]:
    """The two rows of an array (of keys, say) whose first axis has length 2."""
    shape = x.aval.shape[1:]
    return reshape(cut(x, 0, 0, 1), shape=shape), reshape(cut(x, 0, 1, 2), shape=shape)


def split_in_two(key: Any) -> tuple[Any, Any]:
    """Two new keys."""
    return halves(random_split(key, shape=(2,)))


def bits(key: Any, shape: Any = (), dtype: Any = None) -> Array:
    """Random unsigned integers of `shape`, each bit 0 or 1 with equal probability.

    `dtype` is an unsigned integer; by default uint32, or uint64 where the default is 64 bits.

    >>> import arrayx as ax
    >>> ax.random.bits(ax.random.key(0), (2,))
    Array([4070199207, 4202968722], dtype=uint32)
    """
    one, _ = one_key("bits", key)
    default = dtypes.as_dtype(f"uint{8 * dtypes.default_int().itemsize}")
    dtype = checked_dtype("bits", dtype, ("uint",), default)
    width = 8 * dtype.itemsize
    return random_bits(one, shape=checked_shape("bits", shape), width=width)  # type: ignore[no-any-return]


def unit_interval(key: Any, shape: Shape, dtype: Any) -> Any:
    """Uniform on [0, 1): random digits behind the point of 1.0, and 1 taken away."""
    info = dtypes.finfo(dtype)
    width = int(info.bits)
    # Few digits need few random bits: bfloat16 takes 8 of them.
    drawn = 8 if info.nmant < 8 else width
    random = random_bits(key, shape=shape, width=drawn)
    if drawn != width:
        random = as_type(random, UINTS[width])
    digits = shift_right_logical(random, drawn - int(info.nmant))
    one = int(np.asarray(1, dtype).view(UINTS[width]))
    return sub(bitcast(bitwise_or(digits, one), dtype=dtype), 1.0)


def uniform_between(key: Any, shape: Shape, dtype: Any, low: Any, high: Any) -> Any:
    """Uniform on [low, high), which are Python numbers or arrays of `dtype`."""
    draws = unit_interval(key, shape, dtype)
    if isinstance(low, int | float) and isinstance(high, int | float):
        low, high = rounded(low, dtype), rounded(high, dtype)
        width = rounded(np.asarray(high, dtype) - np.asarray(low, dtype), dtype)
        draws = draws if width == 1.0 else mul(draws, width)
        # Rounding is monotonic, so only a negative or undefined width leads below `low`.
        draws = draws if low == 0.0 else add(draws, low)
        return draws if width >= 0.0 else maximum(draws, low)
    low, high = (
        scalar_array(x, dtype, False, (key,)) if isinstance(x, int | float) else x
        for x in (low, high)
    )
    low, high = spread(low, shape), spread(high, shape)
    return maximum(low, add(mul(draws, sub(high, low)), low))


def uniform(
    key: Any, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0
) -> Array:
    """Uniform random floats of `shape` in `[minval, maxval)`.

    `minval` and `maxval` are numbers or arrays that can be broadcast to `shape`; the result
    is differentiable in them.  `dtype` is floating.

    >>> import arrayx as ax
    >>> ax.random.uniform(ax.random.key(0), (3,))
    Array([0.947667  , 0.9785799 , 0.33229148], dtype=float32)
    """
    one, _ = one_key("uniform", key)
    dtype = float_dtype("uniform", dtype)
    low, high = (
        x if type(x) in (int, float) else parameter(x, "uniform", name, dtype, one)
        for name, x in (("minval", minval), ("maxval", maxval))
    )
    inner = [x.aval.shape for x in (low, high) if isinstance(x, Array)]
    return uniform_between(one, checked_shape("uniform", shape, *inner), dtype, low, high)  # type: ignore[no-any-return]


def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None) -> Array:
    """Uniform random integers of `shape` in `[minval, maxval)`.

    `minval` and `maxval` are integers or arrays of them that can be broadcast to `shape`;
    they are clipped to the range of `dtype`, and a `maxval` beyond it means all values up to
    its end.  Where `maxval <= minval` the result is `minval`.

    A number is the remainder of random bits, at least 32 of them, so small ones are favoured
    where the span is no power of two: by less than `span / 2**(2 * bits)` for a span up to
    `2**(bits / 2)`, for which twice the bits are drawn, by less than `span / 2**bits` beyond.

    >>> import arrayx as ax, numpy as np
    >>> ax.random.randint(ax.random.key(0), (3,), 0, 300, dtype=np.uint8)
    Array([101,  80, 200], dtype=uint8)
    """
    one, _ = one_key("randint", key)
    dtype = checked_dtype("randint", dtype, ("int", "uint"), dtypes.default_int())
    # Narrow integers are remainders of 32 bits all the same, so as not to favour any.
    wide = dtype if dtype.itemsize >= 4 else INT32
    info, width = dtypes.iinfo(dtype), 8 * wide.itemsize
    if isinstance(minval, int) and isinstance(maxval, int):
        shape = checked_shape("randint", shape)
        first = min(max(int(minval), int(info.min)), int(info.max))
        span: Any = max(1, min(int(maxval), int(info.max) + 1) - first)
        offset = offsets_below(one, shape, width, span % 2**width)
        return add(as_type(offset, dtype), first)  # type: ignore[no-any-return]
    low, high = (integer(x, name, one) for name, x in (("minval", minval), ("maxval", maxval)))
    shape = checked_shape("randint", shape, low.aval.shape, high.aval.shape)
    lowest, highest = int(info.min), int(info.max)
    is_beyond = None if wide is not dtype else above(high, highest)
    low = as_type(clipped(low, lowest, highest), wide)
    high = as_type(clipped(high, lowest, highest + (wide is not dtype)), wide)
    low, high = spread(low, shape), spread(high, shape)
    span = as_type(sub(high, low), UINTS[width])
    if is_beyond is not None:
        # The full range wraps to 0, and a remainder by 0 changes nothing: just right.
        span = select(spread(is_beyond, shape), add(span, 1), span)
    span = select(le(high, low), 1, span)
    offset = offsets_below(one, shape, width, span)
    return as_type(add(low, as_type(offset, wide)), dtype)


def integer(x: Any, argument: str, beside: Any) -> Any:
    """A bound of `randint` as an array of integers."""
    x = value(x, "randint", argument, beside)
    if isinstance(x, int | float):
        return scalar_array(int(x), dtypes.default_int(), False, (beside,))
    if isinstance(x, complex) or dtypes.kind(x.aval.dtype) not in ("int", "uint", "float", "bool"):
        raise errors.DtypeError(f"randint: {argument} must be an integer, got {x!r}")
    return x if dtypes.is_integer(x.aval.dtype) else as_type(x, dtypes.default_int())


def above(x: Any, limit: int) -> Any:
    """Where integers are above a limit, or None where their dtype does not allow it."""
    return gt(x, limit) if dtypes.scalar_fits(limit + 1, x.aval.dtype) else None


def clipped(x: Any, lowest: int, highest: int) -> Any:
    """Integers, the nearest in a range where they are out of it."""
    own = dtypes.iinfo(x.aval.dtype)
    x = maximum(x, lowest) if own.min < lowest else x
    return minimum(x, highest) if own.max > highest else x


def offsets_below(key: Any, shape: Shape, width: int, span: Any) -> Any:
    """Random unsigned integers of `width` bits in [0, span), of which 0 means all.

    `span` is an array, or a Python integer, for which what can be known is not computed.
    """
    first, second = split_in_two(key)
    low = random_bits(second, shape=shape, width=width)
    if isinstance(span, int):
        # 2**width modulo span, by a square that wraps where the span has more than half the bits.
        root = 2 ** (width // 2) % span if span else 0
        factor = root * root % 2**width % span if span else 0
        if span & (span - 1) == 0:
            low = bitwise_and(low, span - 1) if span else low
        else:
            low = rem(low, span)
        if factor == 0:
            return low
        high = random_bits(first, shape=shape, width=width)
        return rem(add(mul(rem(high, span), factor), low), span)
    high = random_bits(first, shape=shape, width=width)
    factor = rem(spread_like(2 ** (width // 2), span), span)
    factor = rem(mul(factor, factor), span)
    return rem(add(mul(rem(high, span), factor), rem(low, span)), span)


def spread_like(number: int, x: Any) -> Any:
    """A number repeated to the shape and dtype of `x`."""
    return spread(scalar_array(number, x.aval.dtype, False, (x,)), x.aval.shape)


def bernoulli(key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low") -> Array:
    """Booleans that are true with probability `p`.

    `shape` is that of `p` by default, and must be one to which `p` can be broadcast.  With
    `mode="high"` twice the digits are drawn, for very small `p`.

    >>> import arrayx as ax
    >>> ax.random.bernoulli(ax.random.key(0), 0.3, (3,))
    Array([False, False, False], dtype=bool)
    """
    one, _ = one_key("bernoulli", key)
    if mode not in ("low", "high"):
        raise errors.ArgumentError(f"bernoulli: mode must be 'low' or 'high', got {mode!r}")
    p = value(p, "bernoulli", "p", one)
    dtype = dtypes.default_float()
    if isinstance(p, Array) and dtypes.kind(p.aval.dtype) == "float":
        dtype = p.aval.dtype
    if type(p) not in (bool, int, float):
        p = parameter(p, "bernoulli", "p", dtype, one)
    inner = p.aval.shape if isinstance(p, Array) else ()
    shape = inner if shape is None else checked_shape("bernoulli", shape, inner)
    p = spread(p, shape) if isinstance(p, Array) else float(p)
    if mode == "low":
        return lt(unit_interval(one, shape, dtype), p)  # type: ignore[no-any-return]
    coarse, fine = halves(unit_interval(one, (2, *shape), dtype))
    fine = mul(fine, 2.0 ** -int(dtypes.finfo(dtype).nmant))
    return lt(fine, sub(p, coarse))  # type: ignore[no-any-return]


def rademacher(key: Any, shape: Any = (), dtype: Any = None) -> Array:
    """Random signs, -1 or 1 with equal probability, by default as integers.

    >>> import arrayx as ax
    >>> ax.random.rademacher(ax.random.key(0), (3,))
    Array([-1, -1,  1], dtype=int32)
    """
    kinds = ("int", "uint", "float", "complex")
    dtype = checked_dtype("rademacher", dtype, kinds, dtypes.default_int())
    signs = as_type(bernoulli(key, 0.5, checked_shape("rademacher", shape)), dtype)
    return sub(add(signs, signs), LITERALS[dtypes.kind(dtype)](1))  # type: ignore[no-any-return]
