"""Elementwise kernels: most are NumPy's own ufuncs, the others say what NumPy leaves open.

They are run without floating-point warnings.  `ELEMENTWISE` is right for every dtype; `plain`
knows the ufuncs that do the same for some.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayx import dtypes
from arrayx.core.aval import Aval
from arrayx.lazy import lazy
from arrayx_numpy.special import SPECIAL

scipy_special = lazy("scipy.special")

# Elements from which selecting by bits is quicker than `np.where`.
MANY = 2048
_BIT_TYPES = {1: np.dtype("i1"), 2: np.dtype("i2"), 4: np.dtype("i4"), 8: np.dtype("i8")}
_UNSIGNED = {1: np.dtype("u1"), 2: np.dtype("u2"), 4: np.dtype("u4"), 8: np.dtype("u8")}
_SIGNED = _BIT_TYPES


def dtype_of(*operands: Any) -> np.dtype[Any]:
    """The dtype of the operands that are no Python scalars."""
    for x in operands:
        if isinstance(x, np.ndarray | np.generic):
            return x.dtype
    raise TypeError("a kernel needs an array among its operands")


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """True for the floats of less than 32 bits, which are computed with as float32."""
    return dtype.itemsize < 4 and (dtype.kind == "f" or dtype.kind == "V")


def through_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, of narrow floats by way of float32."""

    def kernel(*operands: Any, **params: Any) -> Any:
        dtype = dtype_of(*operands)
        if not is_narrow(dtype):
            return function(*operands, **params)
        wide = [np.float32(x) if isinstance(x, float) else x.astype(np.float32) for x in operands]
        return function(*wide, **params).astype(dtype)

    return kernel


# Elements from which fewer passes are worth a slower call.
WORTH_A_METHOD = 1 << 10


# ----------------------------------------------------------------- products and choice


def absorb_mul(x: Any, y: Any) -> Any:
    """Product in which zeros absorb."""
    product = x * y
    # nan marks every place where 0 met inf or nan: no further work where there is none.
    # A sum of squares is nan wherever an element is, and BLAS finds it fastest; an infinite
    # complex one may be nan as well, which costs time and does no harm.
    if product.dtype.char in "fdFD":
        total = np.vdot(product, product)
    else:
        total = np.minimum.reduce(product, axis=None, initial=0)
    if total == total:
        return product
    # Only these elements, so that the sign of a zero does not depend on its neighbours.
    absorbed = np.isnan(product) & (np.equal(x, 0) | np.equal(y, 0))
    return np.where(absorbed, product.dtype.type(0), product)


def select(which: Any, x: Any, y: Any) -> Any:
    """Elements of `x` where `which`, else of `y`."""
    dtype = dtype_of(x, y)
    if which.size < MANY or dtype.kind == "b" or dtype.itemsize not in _BIT_TYPES:
        return np.where(which, x, y)
    # `np.where` of an irregular mask is ten times slower than arithmetic on the bits.
    bits = _BIT_TYPES[dtype.itemsize]
    mask = which.view(np.int8)
    if _is_zero(y):
        return np.multiply(x.view(bits), mask, dtype=bits).view(dtype)
    if _is_zero(x):
        return np.multiply(y.view(bits), np.logical_not(which).view(np.int8), dtype=bits).view(
            dtype
        )
    left, right = np.asarray(x, dtype).view(bits), np.asarray(y, dtype).view(bits)
    result = np.bitwise_xor(left, right)
    np.multiply(result, mask, out=result, dtype=bits)
    return np.bitwise_xor(result, right, out=result).view(dtype)


def _is_zero(x: Any) -> bool:
    """True for a literal 0 whose bits are all 0."""
    return (isinstance(x, float) and x == 0 and str(x) == "0.0") or (type(x) is int and x == 0)


# ----------------------------------------------------------------- division


def div(x: Any, y: Any) -> Any:
    """Quotient; of integers towards zero, with a value for every pair."""
    dtype = dtype_of(x, y)
    if dtype.kind not in "iu":
        return np.true_divide(x, y)
    quotient = np.floor_divide(x, y)
    if dtype.kind == "i":
        left = x - np.multiply(quotient, y)
        # Rounded down to a negative quotient that is not exact: one too low.
        quotient = quotient + ((left != 0) & (np.less(x, 0) != np.less(y, 0))).astype(dtype)
    return np.where(
        np.equal(y, 0), dtype.type(-1) if dtype.kind == "i" else ~dtype.type(0), quotient
    )


def rem(x: Any, y: Any) -> Any:
    """Remainder with the sign of `x`; of integers by 0, `x`."""
    dtype = dtype_of(x, y)
    if dtype.kind not in "iu":
        return np.fmod(x, y)
    return np.where(np.equal(y, 0), np.asarray(x, dtype), np.fmod(x, y))


# ----------------------------------------------------------------- order and rounding


def clamp(low: Any, x: Any, high: Any) -> Any:
    if x.size > WORTH_A_METHOD and x.dtype.char in "fd":
        return x.clip(low, high)  # one pass, and several times as fast as a ufunc with a scalar
    return np.minimum(np.maximum(x, low), high)


def sign(x: Any) -> Any:
    dtype = x.dtype
    if dtype.kind in "iuc":
        return np.sign(x)
    if x.size > WORTH_A_METHOD:
        result = np.sign(x)
        zero = x == 0
        if zero.any():
            np.copyto(result, x, where=zero)
        return result
    return np.copysign(np.sign(x), x)  # NumPy's gives 0.0 for -0.0


# ----------------------------------------------------------------- exponentials and powers


@through_float32
def logistic(x: Any) -> Any:
    return np.reciprocal(np.exp(np.negative(x)) + x.dtype.type(1))


@through_float32
def rsqrt(x: Any) -> Any:
    return np.reciprocal(np.sqrt(x))


def exp2(x: Any) -> Any:
    return np.exp2(x)


def expm1(x: Any) -> Any:
    """exp(x) - 1; of complex infinities what C99 says of exp, which NumPy's does not keep."""
    result = np.expm1(x)
    if x.dtype.kind != "c":
        return result
    if np.isfinite(x).all():
        return complex_(result.real + 0.0, result.imag)  # 0 of -0, as the array API has it
    real_, imag_ = x.real, x.imag
    growth = np.expm1(real_)
    # exp(-inf) is 0 whatever the angle is, and exp(inf) has no angle where that is not finite.
    turns = np.isfinite(imag_)
    vanishes = real_ == -np.inf
    along = np.where(turns & ~vanishes, result.real, np.where(np.isinf(real_), growth, np.nan))
    across = np.where(turns, result.imag, np.where(vanishes, 0.0, np.nan))
    flat = imag_ == 0
    along = np.where(flat, growth, along) + real_.dtype.type(0)
    return complex_(along, np.where(flat, imag_, across))


def tanh(x: Any) -> Any:
    """Hyperbolic tangent; at an infinite real part ±1 with the zero of the sign of the angle."""
    result = np.tanh(x)
    if x.dtype.kind != "c" or not np.isinf(x.real).any():
        return result
    across = np.where(np.isinf(x.real), np.copysign(0.0, x.imag), result.imag)
    return complex_(result.real, across.astype(result.imag.dtype))


def power(x: Any, y: Any) -> Any:
    """Power; of an integer to a negative one the quotient of 1 and the positive power."""
    dtype = dtype_of(x, y)
    if dtype.kind != "i":
        return np.power(x, y)
    result = np.power(x, np.maximum(y, 0))
    if not np.less(y, 0).any():
        return result
    ones = np.where(np.equal(x, -1), 1 - 2 * np.bitwise_and(y, 1), np.equal(x, 1))
    # 1 / 0 is -1, as in `div`.
    tiny = np.where(np.equal(x, 0), -1, ones).astype(dtype)
    return np.where(np.less(y, 0), tiny, result)


def integer_pow(x: Any, *, exponent: int) -> Any:
    """Power by repeated squaring."""
    if exponent == 2:
        return np.square(x)
    if exponent == 0:
        return np.ones_like(x)
    power, bits, square = None, abs(exponent), x
    while True:
        if bits & 1:
            power = square if power is None else power * square
        bits >>= 1
        if not bits:
            break
        square = np.square(square)
    return power if exponent > 0 else np.true_divide(x.dtype.type(1), power)


# ----------------------------------------------------------------- bits


def _unsigned(x: Any, like: np.dtype[Any]) -> Any:
    """The bits of an integer as an unsigned one; a scalar in the dtype of the other operand."""
    return np.asarray(x, like).view(_UNSIGNED[like.itemsize])


def shift_left(x: Any, y: Any) -> Any:
    dtype = dtype_of(x, y)
    return np.left_shift(_unsigned(x, dtype), _unsigned(y, dtype)).view(dtype)


def shift_right_logical(x: Any, y: Any) -> Any:
    dtype = dtype_of(x, y)
    return np.right_shift(_unsigned(x, dtype), _unsigned(y, dtype)).view(dtype)


def shift_right_arithmetic(x: Any, y: Any) -> Any:
    dtype = dtype_of(x, y)
    counts = np.minimum(_unsigned(y, dtype), 8 * dtype.itemsize - 1)
    signed = np.asarray(x, dtype).view(_SIGNED[dtype.itemsize])
    return np.right_shift(signed, counts.astype(signed.dtype)).view(dtype)


def population_count(x: Any) -> Any:
    return np.bitwise_count(_unsigned(x, x.dtype)).astype(x.dtype)


def clz(x: Any) -> Any:
    smeared = np.array(_unsigned(x, x.dtype))
    width = 8 * x.dtype.itemsize
    distance = 1
    while distance < width:
        smeared |= smeared >> smeared.dtype.type(distance)
        distance *= 2
    return (width - np.bitwise_count(smeared)).astype(x.dtype)


# ----------------------------------------------------------------- complex numbers


def real(x: Any) -> Any:
    return np.real(x)


def imag(x: Any) -> Any:
    return np.imag(x)


def complex_(re: Any, im: Any) -> Any:
    dtype = dtypes.complex_dtype(dtype_of(re, im))
    result = np.empty(np.shape(re) or np.shape(im), dtype)
    result.real = re
    result.imag = im
    return result


# ----------------------------------------------------------------- special functions


def _special(name: str) -> Callable[..., Any]:
    """A function of scipy's, looked up at its first use."""

    def kernel(x: Any) -> Any:
        return getattr(scipy_special, name)(x)

    kernel.__name__ = name
    return through_float32(kernel)


@through_float32
def erf_inv(x: Any) -> Any:
    return np.copysign(scipy_special.erfinv(x), x)  # scipy's gives 0.0 for -0.0


@through_float32
def digamma(x: Any) -> Any:
    # Where the function has a pole from both sides with different signs, scipy has nan or
    # an infinity by version: nan at negative integers, and at 0 the sign of the zero.
    return scipy_special.psi(x)


@through_float32
def lgamma(x: Any) -> Any:
    return np.where(np.isinf(x), np.abs(x), scipy_special.gammaln(x))


@through_float32
def polygamma(x: Any, *, order: int) -> Any:
    sign_ = 1.0 if order % 2 else -1.0
    factor = sign_ * scipy_special.gamma(order + 1.0)
    return (factor * scipy_special.zeta(np.float64(order + 1), np.asarray(x, np.float64))).astype(
        x.dtype
    )


# ----------------------------------------------------------------- conversion


def convert(x: Any, *, dtype: np.dtype[Any], weak_type: bool) -> Any:
    """Elements in another dtype: integers wrap, floats saturate."""
    have = x.dtype
    if have is dtype:
        return x
    if dtype.kind == "b":
        return np.not_equal(x, 0)
    if have.kind == "c" and dtype.kind != "c":
        x = np.real(x)
        have = x.dtype
    if dtypes.kind(have) == "float":
        if dtype.kind in "iu":
            return _saturated(x, dtype)
        if dtype in _NARROW_INTEGERS:
            limits = dtypes.iinfo(dtype)
            return np.clip(_saturated(x, np.dtype(np.int8)), limits.min, limits.max).astype(dtype)
    if dtype.kind == "V" and dtypes.is_integer(have):
        x = x.astype(np.float64)  # exactly, where it matters: ml_dtypes takes no wide ones
    return x.astype(dtype)


_NARROW_INTEGERS = frozenset((*dtypes.NARROW_INTS, *dtypes.NARROW_UINTS))


def _saturated(x: Any, dtype: np.dtype[Any]) -> Any:
    limits = np.iinfo(dtype)
    if is_narrow(x.dtype):
        x = x.astype(np.float32)
    low, high = x.dtype.type(limits.min), x.dtype.type(limits.max)
    # Mostly all are inside, which is soon known; nan is not.
    if x.size and x.min() > low and x.max() < high:
        return x.astype(dtype)
    # The largest integer may round up to one out of range, so "at least" means the largest.
    inside = (x > low) & (x < high)
    result = np.where(inside, x, x.dtype.type(0)).astype(dtype)
    result = np.where(x >= high, dtype.type(limits.max), result)
    return np.where(x <= low, dtype.type(limits.min), result)


def bitcast(x: Any, *, dtype: np.dtype[Any]) -> Any:
    x = np.asarray(x)
    have, want = x.dtype.itemsize, dtype.itemsize
    if have == want:
        return x.view(dtype)
    x = np.ascontiguousarray(x)
    if have > want:
        return x.reshape(*x.shape, 1).view(dtype)
    return x.view(dtype).reshape(x.shape[:-1])


ELEMENTWISE: dict[str, Callable[..., Any]] = {
    # arithmetic
    "add": np.add,
    "sub": np.subtract,
    "neg": np.negative,
    "mul": np.multiply,
    "absorb_mul": absorb_mul,
    "select": select,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    # numeric
    "div": div,
    "rem": rem,
    "max": np.maximum,
    "min": np.minimum,
    "clamp": clamp,
    "abs": np.absolute,
    "sign": sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "is_finite": np.isfinite,
    "nextafter": np.nextafter,
    # exponential
    "exp": np.exp,
    "exp2": exp2,
    "expm1": expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": rsqrt,
    "cbrt": np.cbrt,
    "logistic": logistic,
    "pow": power,
    "integer_pow": integer_pow,
    # trigonometric
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    # bits
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "bitwise_not": np.invert,
    "shift_left": shift_left,
    "shift_right_arithmetic": shift_right_arithmetic,
    "shift_right_logical": shift_right_logical,
    "population_count": population_count,
    "clz": clz,
    # complex
    "real": real,
    "imag": imag,
    "complex": complex_,
    "conj": np.conjugate,
    # special
    "erf": _special("erf"),
    "erfc": _special("erfc"),
    "erf_inv": erf_inv,
    "lgamma": lgamma,
    "digamma": digamma,
    "polygamma": polygamma,
    "bessel_i0e": _special("i0e"),
    "bessel_i1e": _special("i1e"),
    **SPECIAL,
    # conversion
    "convert": convert,
    "bitcast": bitcast,
}

# Ufuncs that are enough where operands are not integers and not narrow.
PLAIN: dict[str, Callable[..., Any]] = {"div": np.true_divide, "rem": np.fmod, "pow": np.power}
# The same, but only of real numbers.
PLAIN_REAL: dict[str, Callable[..., Any]] = {"expm1": np.expm1, "tanh": np.tanh}


def plain(name: str, avals: Sequence[Any]) -> Callable[..., Any] | None:
    """The ufunc that is enough for operands of these types, where there is one."""
    ufunc = PLAIN.get(name)
    if ufunc is not None:
        return ufunc if all(a.dtype.char in "fdFD" for a in avals if type(a) is Aval) else None
    ufunc = PLAIN_REAL.get(name)
    if ufunc is None:
        return None
    return ufunc if all(a.dtype.kind == "f" for a in avals if type(a) is Aval) else None


def is_foreign(dtype: Any) -> bool:
    """True for the dtypes of ml_dtypes, beside which NumPy widens Python's scalars."""
    return isinstance(dtype, np.dtype) and dtype.num >= 256


def with_literals(kernel: Callable[..., Any], avals: Sequence[Any]) -> Callable[..., Any]:
    """The kernel for operands of these types, its literals given the dtype of the arrays."""
    arrays = [a for a in avals if type(a) is Aval]
    if len(arrays) == len(avals) or not arrays or not is_foreign(arrays[-1].dtype):
        return kernel
    make = arrays[-1].dtype.type
    return lambda *operands, **params: kernel(
        *[x if type(a) is Aval else make(x) for x, a in zip(operands, avals, strict=True)],
        **params,
    )
