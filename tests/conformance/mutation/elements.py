"""Wrong kernels of what works element by element."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx_numpy.elementwise import MANY, dtype_of
from arrayx_numpy.elementwise import _saturated as saturated
from tests.conformance.mutation.mutant import Mutant, kernel

Kernel = Callable[..., Any]


def instead(wrong: Kernel) -> Callable[[Kernel], Kernel]:
    """For a kernel that the right one is no part of."""
    return lambda right: wrong


def swapped(right: Kernel) -> Kernel:
    return lambda x, y: right(y, x)


def for_kind(kinds: str, wrong: Kernel) -> Callable[[Kernel], Kernel]:
    """Wrong for operands of these kinds of NumPy's alone."""

    def make(right: Kernel) -> Kernel:
        def chosen(*xs: Any, **params: Any) -> Any:
            return (wrong if dtype_of(*xs).kind in kinds else right)(*xs, **params)

        return chosen

    return make


def saturating_add(x: Any, y: Any) -> Any:
    dtype = dtype_of(x, y)
    if dtype.itemsize > 4:
        return np.add(x, y)
    limits = np.iinfo(dtype)
    wide = np.add(np.asarray(x, np.int64), np.asarray(y, np.int64))
    return np.clip(wide, limits.min, limits.max).astype(dtype)


def stale(right: Kernel) -> Kernel:
    """Gives the memory of its last result of the same type again."""
    held: dict[Any, Any] = {}

    def kernel(x: Any, y: Any) -> Any:
        result = np.asarray(right(x, y))
        buffer = held.setdefault((result.shape, result.dtype), result)
        np.copyto(buffer, result)
        return buffer

    return kernel


def overwriting(right: Kernel) -> Kernel:
    """Writes the result over the first operand as well."""

    def kernel(x: Any, y: Any) -> Any:
        result = right(x, y)
        if isinstance(x, np.ndarray) and x.flags.writeable and x.shape == np.shape(result):
            np.copyto(x, result)
        return result

    return kernel


def now_and_then(right: Kernel) -> Kernel:
    """Every now and then the next number instead."""
    draw = random.Random()

    def kernel(x: Any) -> Any:
        result = right(x)
        if dtype_of(x) in (np.float32, np.float64) and draw.random() < 0.2:
            return np.nextafter(result, dtype_of(x).type(np.inf))
        return result

    return kernel


def half_away(x: Any) -> Any:
    half = x.dtype.type(0.5)
    return np.copysign(np.floor(np.abs(x) + half), x)


def through_less(right: Kernel) -> Kernel:
    """In float32 what should be in float64."""

    def kernel(x: Any) -> Any:
        if dtype_of(x) == np.float64:
            return np.asarray(right(x.astype(np.float32))).astype(np.float64)
        return right(x)

    return kernel


def min_of_first(x: Any, y: Any) -> Any:
    result = np.minimum(x, y)
    return np.where(np.not_equal(y, y), x, result) if dtype_of(x, y).kind in "fV" else result


def off_for_many(right: Kernel) -> Kernel:
    """One element too late, in large arrays."""

    def kernel(which: Any, x: Any, y: Any) -> Any:
        if which.size >= MANY:
            which = np.roll(which.reshape(-1), 1).reshape(which.shape)
        return right(which, x, y)

    return kernel


def blended(which: Any, x: Any, y: Any) -> Any:
    dtype = dtype_of(x, y)
    mask = which.astype(dtype)
    return (x * mask + y * (1 - mask)).astype(dtype)


def blending(right: Kernel) -> Kernel:
    def kernel(which: Any, x: Any, y: Any) -> Any:
        return (blended if dtype_of(x, y).kind == "f" else right)(which, x, y)

    return kernel


def left_zeros(x: Any, y: Any) -> Any:
    product = np.multiply(x, y)
    return np.where(np.equal(x, 0), np.zeros_like(product), product)


def without_literal(right: Kernel) -> Kernel:
    """A literal that stands first is taken for the second operand."""
    return lambda x, y: right(y, x) if isinstance(x, float | int) else right(x, y)


def wrapped_shift(right: Kernel) -> Kernel:
    def kernel(x: Any, y: Any) -> Any:
        dtype = dtype_of(x, y)
        return right(x, np.asarray(y, dtype) % dtype.type(8 * dtype.itemsize))

    return kernel


def naive_log1p(x: Any) -> Any:
    return np.log(x + x.dtype.type(1))


def early_tanh(x: Any) -> Any:
    result = np.tanh(x)
    return np.where(np.abs(x) > 5, np.sign(x), result).astype(result.dtype)


def overflowing_logistic(x: Any) -> Any:
    grown = np.exp(x)
    return (grown / (grown + x.dtype.type(1))).astype(x.dtype)


def wrapping_convert(right: Kernel) -> Kernel:
    def kernel(x: Any, *, dtype: Any, weak_type: bool) -> Any:
        if x.dtype.kind == "f" and dtype.kind in "iu":
            return np.nan_to_num(x).astype(np.int64).astype(dtype)
        return right(x, dtype=dtype, weak_type=weak_type)

    return kernel


def rounding_convert(right: Kernel) -> Kernel:
    def kernel(x: Any, *, dtype: Any, weak_type: bool) -> Any:
        if x.dtype.kind == "f" and dtype.kind in "iu":
            return saturated(np.rint(x), dtype)
        return right(x, dtype=dtype, weak_type=weak_type)

    return kernel


def saturating_convert(right: Kernel) -> Kernel:
    def kernel(x: Any, *, dtype: Any, weak_type: bool) -> Any:
        if x.dtype.kind in "iu" and dtype.kind in "iu":
            limits = np.iinfo(dtype)
            low = max(int(limits.min), int(np.iinfo(x.dtype).min))
            high = min(int(limits.max), int(np.iinfo(x.dtype).max))
            return np.clip(x, low, high).astype(dtype)
        return right(x, dtype=dtype, weak_type=weak_type)

    return kernel


def truncating_to_bool(right: Kernel) -> Kernel:
    def kernel(x: Any, *, dtype: Any, weak_type: bool) -> Any:
        if dtype.kind == "b" and x.dtype.kind == "f":
            return np.nan_to_num(np.trunc(x)).astype(bool)
        return right(x, dtype=dtype, weak_type=weak_type)

    return kernel


def short_convert(right: Kernel) -> Kernel:
    def kernel(x: Any, *, dtype: Any, weak_type: bool) -> Any:
        if dtype == np.float64 and x.dtype.kind in "iu" and x.dtype.itemsize == 4:
            return x.astype(np.float32).astype(dtype)
        return right(x, dtype=dtype, weak_type=weak_type)

    return kernel


def big_end_first(right: Kernel) -> Kernel:
    def kernel(x: Any, *, dtype: Any) -> Any:
        result = right(x, dtype=dtype)
        return result[..., ::-1] if dtype.itemsize < x.dtype.itemsize else result

    return kernel


def of_magnitude(x: Any) -> Any:
    return np.bitwise_count(np.abs(x) if x.dtype.kind == "i" else x).astype(x.dtype)


ELEMENTS: tuple[Mutant, ...] = (
    kernel("sub", "swapped", "operands are swapped", swapped),
    kernel("sub", "literal-first", "a literal on the left is taken for the right", without_literal),
    kernel("add", "saturates", "integers saturate, no wrap-around", for_kind("iu", saturating_add)),
    kernel("add", "stale", "the memory of the last result is used again", stale),
    kernel("mul", "overwrites", "the result is written over the first operand", overwriting),
    kernel(
        "mul",
        "through-float",
        "64-bit integers are multiplied as floats",
        for_kind("iu", lambda x, y: np.multiply(x, y, dtype=float).astype(dtype_of(x, y))),
    ),
    kernel("neg", "from-zero", "0 - x: zeros lose their sign", instead(lambda x: 0 - x)),
    kernel(
        "abs",
        "of-zero",
        "-0.0 keeps its sign",
        for_kind("f", lambda x: np.where(x < 0, -x, x)),
    ),
    kernel("sign", "of-zero", "-0.0 loses its sign", instead(np.sign)),
    kernel(
        "sign",
        "of-nan",
        "nan has the sign 0",
        lambda k: lambda x: np.where(x != x, x * 0 == 1, k(x)).astype(x.dtype),
    ),
    kernel("floor", "truncates", "towards zero", instead(np.trunc)),
    kernel(
        "ceil", "off-by-one", "1 above the floor", instead(lambda x: np.floor(x) + x.dtype.type(1))
    ),
    kernel("round", "half-away", "ties go away from zero", instead(half_away)),
    kernel("round", "truncates", "truncation instead of rounding", instead(np.trunc)),
    kernel("div", "floors", "integers are rounded down", for_kind("i", np.floor_divide)),
    kernel(
        "div",
        "by-zero",
        "an integer by 0 is 0",
        lambda k: for_kind(
            "iu", lambda x, y: np.where(np.equal(y, 0), 0, k(x, y)).astype(dtype_of(x, y))
        )(k),
    ),
    kernel("rem", "of-divisor", "it has the sign of the divisor", for_kind("fi", np.remainder)),
    kernel("rem", "by-zero", "an integer rem 0 is 0", for_kind("iu", np.fmod)),
    kernel("max", "drops-nan", "nan is left out", instead(np.fmax)),
    kernel("min", "drops-nan", "nan of the second operand is left out", instead(min_of_first)),
    kernel(
        "clamp", "no-low", "the lower bound is ignored", instead(lambda a, x, b: np.minimum(x, b))
    ),
    kernel(
        "clamp",
        "order",
        "the lower bound wins where bounds cross",
        instead(lambda a, x, b: np.maximum(np.minimum(x, b), a)),
    ),
    kernel("is_finite", "nan", "nan counts as finite", instead(lambda x: ~np.isinf(x))),
    kernel("nextafter", "swapped", "from y towards x", swapped),
    kernel(
        "eq",
        "nan",
        "nan equals nan",
        lambda k: lambda x, y: k(x, y) | (np.not_equal(x, x) & np.not_equal(y, y)),
    ),
    kernel("lt", "le", "true for equals", instead(np.less_equal)),
    kernel("ge", "not-lt", "true where there is nan", instead(lambda x, y: ~np.less(x, y))),
    kernel("exp", "narrow", "float64 by way of float32", through_less),
    kernel("exp", "random", "one unit off now and then", now_and_then, "determinism"),
    kernel("expm1", "cancels", "exp(x) - 1", instead(lambda x: np.exp(x) - x.dtype.type(1))),
    kernel("log1p", "cancels", "log(1 + x)", instead(naive_log1p)),
    kernel(
        "log",
        "below-the-cut",
        "-0.0 of the imaginary part is lost",
        for_kind("c", lambda x: np.log(x + 0)),
    ),
    kernel(
        "sqrt",
        "below-the-cut",
        "-0.0 of the imaginary part is lost",
        for_kind("c", lambda x: np.sqrt(x + 0)),
    ),
    kernel("tanh", "clamps", "1 from 5 on", for_kind("f", early_tanh)),
    kernel("logistic", "overflows", "exp(x) / (1 + exp(x))", instead(overflowing_logistic)),
    kernel(
        "cbrt",
        "negative",
        "a power of 1/3: nan of negative ones",
        instead(lambda x: np.power(x, x.dtype.type(1 / 3))),
    ),
    kernel(
        "atan2",
        "half",
        "atan(y / x): half of the circle",
        instead(lambda y, x: np.arctan(np.true_divide(y, x))),
    ),
    kernel(
        "atan2",
        "zeros",
        "signs of zeros are lost",
        instead(lambda y, x: np.arctan2(y + 0.0 * 1, x + 0.0).astype(dtype_of(y, x))),
    ),
    kernel(
        "pow",
        "zero-to-zero",
        "0 to the power of 0 is 0",
        lambda k: for_kind(
            "f",
            lambda x, y: np.where(np.equal(x, 0) & np.equal(y, 0), np.zeros_like(k(x, y)), k(x, y)),
        )(k),
    ),
    kernel(
        "pow",
        "negative",
        "an integer to a negative power is 0",
        lambda k: for_kind(
            "i", lambda x, y: np.where(np.less(y, 0), 0, k(x, y)).astype(dtype_of(x, y))
        )(k),
    ),
    kernel(
        "integer_pow",
        "sign",
        "the exponent loses its sign",
        lambda k: lambda x, exponent: k(x, exponent=abs(exponent)),
    ),
    kernel("shift_left", "wraps", "counts are taken modulo the width", wrapped_shift),
    kernel(
        "shift_right_arithmetic",
        "logical",
        "the sign is not repeated",
        lambda k: (
            lambda x, y: np.right_shift(
                np.asarray(x, dtype_of(x, y)).view(f"u{dtype_of(x, y).itemsize}"),
                np.asarray(y, dtype_of(x, y)).view(f"u{dtype_of(x, y).itemsize}"),
            ).view(dtype_of(x, y))
        ),
    ),
    kernel("shift_right_logical", "arithmetic", "the sign is repeated", instead(np.right_shift)),
    kernel("population_count", "magnitude", "bits of the magnitude", instead(of_magnitude)),
    kernel(
        "clz", "of-zero", "one too few for 0", lambda k: lambda x: (k(x) - (x == 0)).astype(x.dtype)
    ),
    kernel("convert", "wraps", "floats out of range wrap around", wrapping_convert),
    kernel("convert", "rounds", "floats are rounded to integers", rounding_convert),
    kernel("convert", "saturates", "integers saturate, no wrap-around", saturating_convert),
    kernel("convert", "small-is-false", "0.5 is False", truncating_to_bool),
    kernel("convert", "narrow", "32-bit integers to float64 by way of float32", short_convert),
    kernel("bitcast", "big-end-first", "pieces in the opposite order", big_end_first),
    kernel("conj", "nothing", "the operand itself", instead(lambda x: x)),
    kernel("complex", "swapped", "parts are swapped", swapped),
    kernel(
        "erfc",
        "cancels",
        "1 - erf(x)",
        lambda k: (
            lambda x: (1 - np.asarray(1 - np.asarray(k(x), np.float64), x.dtype)).astype(x.dtype)
        ),
    ),
    kernel(
        "igamma",
        "complement",
        "the other of the pair",
        lambda k: lambda a, x: (1 - np.asarray(k(a, x), np.float64)).astype(dtype_of(a, x)),
    ),
    kernel("erf_inv", "of-zero", "-0.0 loses its sign", lambda k: lambda x: k(x) + x.dtype.type(0)),
    kernel("absorb_mul", "plain", "zeros do not absorb", instead(np.multiply)),
    kernel("absorb_mul", "left", "only zeros of the left operand absorb", instead(left_zeros)),
    kernel("select", "large", "off by one in large arrays", off_for_many),
    kernel("select", "blends", "sums of products with 0 and 1", blending),
)
