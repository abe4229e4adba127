"""Elementwise arithmetic: sums, products, quotients, remainders, extremes, rounding.

The functions are NumPy's; what they do to dtypes is JAX's promotion.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy.composing import composed
from arrayx.numpy.functions import array_of, binary, refuse_complex, unary, with_methods
from arrayx.numpy.naming import named
from arrayx.numpy.promotion import LITERALS, Pair, as_array, inexact, operands, same
from arrayx.primitives import arithmetic, bitwise, combined, exponential, numeric
from arrayx.primitives import complex as complex_parts
from arrayx.primitives.arithmetic import eq, lt, ne, select
from arrayx.primitives.creation import fill


def _refuse_bool(name: str, instead: str) -> Any:
    def refuse(*args: Any) -> Any:
        raise errors.DtypeError(f"{name} is not defined for booleans; use {instead}")

    return refuse


add = binary(
    "add",
    arithmetic.add,
    "Sum of `x1` and `x2`; for booleans their logical or.",
    """
>>> anp.add(anp.asarray([1, 2]), 0.5).tolist()
[1.5, 2.5]""",
    by_kind={"bool": bitwise.bitwise_or},
)
subtract = binary(
    "subtract",
    arithmetic.sub,
    "Difference of `x1` and `x2`; not defined for booleans.",
    """
>>> anp.subtract(3, anp.asarray([1, 2])).tolist()
[2, 1]""",
    by_kind={"bool": _refuse_bool("subtract", "logical_xor")},
)
multiply = binary(
    "multiply",
    arithmetic.mul,
    "Product of `x1` and `x2`; for booleans their logical and.",
    """
>>> anp.multiply(anp.asarray([1, 2]), 3).tolist()
[3, 6]""",
    by_kind={"bool": bitwise.bitwise_and},
)
divide = true_divide = binary(
    "divide",
    numeric.div,
    "Quotient of `x1` and `x2`; integers are divided as floats (float64 if 64-bit).",
    """
>>> anp.divide(anp.asarray([1, 2]), 4).tolist()
[0.25, 0.5]""",
    result_of=inexact,
)


def _as_int(dtype: Any, weak: bool) -> Pair:
    if dtypes.kind(dtype) == "bool":
        return dtypes.default_int(), False
    return dtype, weak


def _floor_divide_int(x: Array, y: Array) -> Any:
    quotient = numeric.div(x, y)
    rest = numeric.rem(x, y)
    wrong = bitwise.bitwise_and(ne(rest, 0), ne(lt(rest, 0), lt(y, 0)))
    wrong = bitwise.bitwise_and(wrong, ne(y, 0))  # where the quotient is -1, all bits set
    return select(wrong, arithmetic.sub(quotient, 1), quotient)


def _floor_divide_float(x: Array, y: Array) -> Any:
    # The rest has the sign of x and is exact, so that the difference is a multiple of y; an
    # infinite y leaves all of x.
    rest = numeric.rem(x, y)
    whole = numeric.round(numeric.div(arithmetic.sub(x, rest), y))
    below = bitwise.bitwise_and(ne(rest, 0.0), ne(lt(rest, 0.0), lt(y, 0.0)))
    whole = select(below, arithmetic.sub(whole, 1.0), whole)
    quotient = numeric.div(x, y)
    # A zero has the sign of the quotient.
    unsigned = fill(x.aval.shape, x.aval.dtype, 0.0, x.aval.weak_type)
    zero = combined.copysign(unsigned, quotient)
    whole = select(eq(whole, 0.0), zero, whole)
    # With an infinity or a zero it is the floor of the quotient, as in the Array API standard.
    infinite = bitwise.bitwise_or(*(eq(numeric.abs(v), math.inf) for v in (x, y)))
    extreme = bitwise.bitwise_or(eq(y, 0.0), infinite)
    return select(extreme, numeric.floor(quotient), whole)


floor_divide = binary(
    "floor_divide",
    _floor_divide_float,
    "The largest whole number that is at most `x1 / x2`.\n\n"
    "Zeros and infinities give the floor of their quotient, as the Array API standard has it "
    "(NumPy's -1.0 // inf is -1.0).  Integers divided by 0 give -1, all bits set.",
    """
>>> anp.floor_divide(anp.asarray([7, -7]), 2).tolist()
[3, -4]""",
    result_of=_as_int,
    by_kind={"int": _floor_divide_int, "uint": numeric.div},
    literals=False,
)
remainder = mod = binary(
    "remainder",
    combined.remainder,
    "What is left of `x1` after floor division by `x2`: it has the sign of `x2`.",
    """
>>> anp.remainder(anp.asarray([7, -7]), 3).tolist()
[1, 2]""",
    result_of=_as_int,
    literals=False,
)
fmod = binary(
    "fmod",
    numeric.rem,
    "What is left of `x1` after division by `x2`, with the sign of `x1`.",
    """
>>> anp.fmod(anp.asarray([7, -7]), 3).tolist()
[1, -1]""",
    result_of=_as_int,
)


@named
def divmod(x1: Any, x2: Any, /) -> tuple[Array, Array]:
    """`floor_divide(x1, x2)` and `remainder(x1, x2)`.

    >>> import arrayx.numpy as anp
    >>> [part.tolist() for part in anp.divmod(anp.asarray([7, -7]), 3)]
    [[2, -3], [1, 2]]
    """
    return floor_divide(x1, x2), remainder(x1, x2)


def _first_of_complex(better: Any) -> Any:
    """The choice between complex numbers: by real part, then by imaginary part; nan wins."""

    def choose(x: Array, y: Array) -> Any:
        (a, b), (c, d) = ((complex_parts.real(z), complex_parts.imag(z)) for z in (x, y))
        first = bitwise.bitwise_or(better(a, c), bitwise.bitwise_and(eq(a, c), better(b, d)))
        return select(ne(x, x), x, select(ne(y, y), y, select(first, x, y)))

    return choose


_larger_complex = _first_of_complex(arithmetic.gt)
_smaller_complex = _first_of_complex(lt)


def _with_arrays(choose: Any) -> Any:
    """A choice between complex operands, of which one may be a Python number."""

    def apply(x: Any, y: Any) -> Any:
        given = x if isinstance(x, Array) else y
        shape, dtype = given.aval.shape, given.aval.dtype
        return choose(*[v if isinstance(v, Array) else fill(shape, dtype, v) for v in (x, y)])

    return apply


maximum = binary(
    "maximum",
    numeric.max,
    "The larger of `x1` and `x2`; nan where either is nan.  At ties the slope is shared.",
    """
>>> anp.maximum(anp.asarray([1, 5]), 3).tolist()
[3, 5]""",
    by_kind={"complex": _with_arrays(_larger_complex)},
)
minimum = binary(
    "minimum",
    numeric.min,
    "The smaller of `x1` and `x2`; nan where either is nan.  At ties the slope is shared.",
    """
>>> anp.minimum(anp.asarray([1, 5]), 3).tolist()
[1, 3]""",
    by_kind={"complex": _with_arrays(_smaller_complex)},
)


def _ignoring_nan(choose: Any, of_complex: Any) -> Any:
    def apply(x: Array, y: Array) -> Any:
        if dtypes.is_complex(x.aval.dtype):
            return select(ne(x, x), y, select(ne(y, y), x, of_complex(x, y)))
        if not dtypes.is_inexact(x.aval.dtype):
            return choose(x, y)
        return select(ne(x, x), y, select(ne(y, y), x, choose(x, y)))

    return apply


fmax = binary(
    "fmax",
    _ignoring_nan(numeric.max, _larger_complex),
    "The larger of `x1` and `x2`; where one is nan, the other.",
    """
>>> anp.fmax(anp.asarray([1.0, float("nan")]), 0.5).tolist()
[1.0, 0.5]""",
    literals=False,
)
fmin = binary(
    "fmin",
    _ignoring_nan(numeric.min, _smaller_complex),
    "The smaller of `x1` and `x2`; where one is nan, the other.",
    """
>>> anp.fmin(anp.asarray([1.0, float("nan")]), 0.5).tolist()
[0.5, 0.5]""",
    literals=False,
)
negative = unary(
    "negative",
    arithmetic.neg,
    "`x` with its sign turned; not defined for booleans.",
    """
>>> anp.negative(anp.asarray([1, -2])).tolist()
[-1, 2]""",
    by_kind={"bool": _refuse_bool("negative", "logical_not")},
)
positive = unary(
    "positive",
    lambda x: x,
    "`x` itself.",
    """
>>> anp.positive(anp.asarray([1, -2])).tolist()
[1, -2]""",
)
abs = absolute = unary(
    "abs",
    numeric.abs,
    "The size of `x`: without sign, or the length of a complex number.",
    """
>>> anp.abs(anp.asarray([1, -2])).tolist()
[1, 2]""",
    by_kind={"bool": lambda x: x, "uint": lambda x: x},
)


fabs = unary(
    "fabs",
    numeric.abs,
    "The size of a real `x` as a float.",
    """
>>> anp.fabs(anp.asarray([1, -2])).tolist()
[1.0, 2.0]""",
    result_of=inexact,
    by_kind={"complex": refuse_complex("fabs")},
)


def _complex_sign(x: Array) -> Any:
    length = numeric.abs(x)
    safe = select(eq(length, 0.0), 1.0, length)
    zero = eq(length, 0.0)
    parts = [numeric.div(part(x), safe) for part in (complex_parts.real, complex_parts.imag)]
    return complex_parts.complex(*[select(zero, 0.0, part) for part in parts])


def _sign(x: Array) -> Any:
    # The primitive leaves a zero its sign.
    return select(eq(x, 0.0), 0.0, numeric.sign(x))


sign = unary(
    "sign",
    _sign,
    "-1, 0 or 1 by the sign of `x`, 0 for -0.0 too; for complex numbers `x / abs(x)`.",
    """
>>> anp.sign(anp.asarray([5.0, -2.0])).tolist()
[1.0, -1.0]""",
    by_kind={"complex": _complex_sign, "int": numeric.sign, "uint": numeric.sign},
)


def _square(x: Array) -> Any:
    return arithmetic.mul(x, x)


square = unary(
    "square",
    _square,
    "`x` times itself.",
    """
>>> anp.square(anp.asarray([2, -3])).tolist()
[4, 9]""",
    result_of=_as_int,
)
reciprocal = unary(
    "reciprocal",
    lambda x: numeric.div(LITERALS[dtypes.kind(x.aval.dtype)](1), x),
    "One divided by `x`.",
    """
>>> anp.reciprocal(anp.asarray([2.0, 4.0])).tolist()
[0.5, 0.25]""",
    result_of=inexact,
)
copysign = binary(
    "copysign",
    combined.copysign,
    "The size of `x1` with the sign of `x2`, which may be that of a zero.",
    """
>>> anp.copysign(anp.asarray([1.0, 2.0]), -0.0).tolist()
[-1.0, -2.0]""",
    result_of=inexact,
    literals=False,
)
nextafter = binary(
    "nextafter",
    numeric.nextafter,
    "The next number after `x1` that the dtype holds, towards `x2`.",
    """
>>> (anp.nextafter(anp.asarray(1.0), 2.0) > 1.0).item()
True""",
    result_of=inexact,
    literals=False,
)


def _heaviside(x: Array, at_zero: Array) -> Any:
    zero = fill(x.aval.shape, x.aval.dtype, 0.0, x.aval.weak_type)
    step = select(lt(x, 0.0), zero, select(eq(x, 0.0), at_zero, 1.0))
    return select(ne(x, x), x, step)


heaviside = binary(
    "heaviside",
    _heaviside,
    "0 below zero, 1 above it, and `x2` at zero.",
    """
>>> anp.heaviside(anp.asarray([-1.0, 0.0, 2.0]), 0.5).tolist()
[0.0, 0.5, 1.0]""",
    result_of=inexact,
    by_kind={"complex": refuse_complex("heaviside")},
    literals=False,
)


@composed
def clip(
    arr: Any, /, min: Any = None, max: Any = None, *, a_min: Any = None, a_max: Any = None
) -> Array:
    """`arr` with what is below `min` raised to it and what is above `max` lowered to it.

    Either bound may be None.  The slope is 1 inside and 0 outside the bounds.  `a_min` and
    `a_max` are NumPy's older names of the bounds.

    >>> import arrayx.numpy as anp
    >>> anp.clip(anp.asarray([-2.0, 0.5, 3.0]), -1, 1).tolist()
    [-1.0, 0.5, 1.0]
    """
    if a_min is not None or a_max is not None:
        if min is not None or max is not None:
            raise errors.ArgumentError(
                "clip: the bounds are given as min and max, or as a_min and a_max, not as both"
            )
        min, max = a_min, a_max
    if min is None and max is None:
        return array_of(arr, "clip")
    if min is None:
        return minimum(arr, max)
    if max is None:
        return maximum(arr, min)
    low, x, high = operands((min, arr, max), "clip", ("min", "arr", "max"), same)
    if not isinstance(x, Array) or dtypes.is_complex(x.aval.dtype):
        return minimum(maximum(x, low), high)
    if isinstance(low, Array) or isinstance(high, Array):
        # Where the bounds cross the upper one wins, as in NumPy.
        return numeric.min(numeric.max(x, low), high)  # type: ignore[no-any-return]
    return numeric.clamp(low, x, high)  # type: ignore[no-any-return]


_power = binary("power", exponential.pow, "", "", result_of=_as_int)


def power(x1: Any, x2: Any, /) -> Array:
    """`x1` to the power `x2`; a whole Python number as exponent gives repeated products.

    Integers to a negative whole number raise; to an array of them give 0 except at 1 and -1.

    >>> import arrayx.numpy as anp
    >>> anp.power(anp.asarray([2.0, 3.0]), 2).tolist()
    [4.0, 9.0]
    """
    if type(x2) is int and isinstance(x1, np.ndarray | np.generic):
        x1 = as_array(x1, "power", "x1")
    if type(x2) is int and (aval := getattr(x1, "aval", None)) is not None:
        which = dtypes.kind(aval.dtype)
        if which in ("float", "complex"):
            return x1 if x2 == 1 else exponential.integer_pow(x1, exponent=x2)  # type: ignore[no-any-return]
        if which in ("int", "uint"):
            if x2 < 0:
                raise errors.ArgumentError(
                    f"power: integers cannot be raised to the negative power {x2}; convert the "
                    "base to a float first"
                )
            return exponential.integer_pow(x1, exponent=x2)  # type: ignore[no-any-return]
    return _power(x1, x2)


pow = power


def float_power(x1: Any, x2: Any, /) -> Array:
    """`x1` to the power `x2`, integers as floats.

    >>> import arrayx.numpy as anp
    >>> anp.float_power(anp.asarray([2, 4]), -1).tolist()
    [0.5, 0.25]
    """
    return _float_power(x1, x2)


_float_power = binary("float_power", exponential.pow, "", "", result_of=inexact)

with_methods(add, identity=0, associative=True)
with_methods(multiply, identity=1, associative=True)
with_methods(maximum, minimum, fmax, fmin, associative=True)
with_methods(subtract, divide, floor_divide, remainder, fmod, power, float_power)
with_methods(copysign, heaviside, nextafter)
with_methods(negative, operands=1)
