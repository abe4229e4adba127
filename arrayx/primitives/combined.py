"""Elementwise functions that consist of others but have derivatives of their own.

Differentiating what they consist of would give nan at a kink, or a derivative that is right only
to first order; so each states its partials, and `expand` says what it is.
"""

from __future__ import annotations

import math
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.primitives.arithmetic import add, eq, gt, le, lt, mul, ne, neg, select, sub
from arrayx.primitives.bitwise import bitwise_and, bitwise_or, bitwise_xor, shift_right_logical
from arrayx.primitives.conversion import bitcast
from arrayx.primitives.exponential import exp, log1p, sqrt
from arrayx.primitives.families import (
    FLOAT,
    INEXACT,
    REAL,
    Differentiable,
    Elementwise,
    Linear,
    same_type,
)
from arrayx.primitives.numeric import abs as absolute
from arrayx.primitives.numeric import div, floor, max, min, rem


def signed_bits(dtype: Any) -> Any:
    """The unsigned dtype as wide as a float, and the bit that holds its sign."""
    bits = 8 * int(dtype.itemsize)
    return dtypes.as_dtype(f"uint{bits}"), 1 << (bits - 1)


def sign_bit(x: Any) -> Any:
    """True where a float carries a minus sign, -0 and nan included."""
    integer, bit = signed_bits(x.aval.dtype)
    return ne(bitwise_and(bitcast(x, dtype=integer), bit), 0)


class ReducePrecision(Linear, Elementwise):
    """`x` rounded to what a float of `exponent_bits` and `mantissa_bits` holds, in its own dtype.

    Rounded to the nearest, ties to even; too large numbers become infinite, those below the
    least normal one 0 of the same sign.  nan stays nan.
    """

    name = "reduce_precision"
    kinds = FLOAT
    cheap = True

    def type_rule(self, x: Any, *, exponent_bits: int, mantissa_bits: int) -> Aval:
        if exponent_bits < 1 or mantissa_bits < 0:
            raise errors.DtypeError(
                f"reduce_precision needs at least 1 bit of exponent and 0 of mantissa, got "
                f"{exponent_bits} and {mantissa_bits}"
            )
        return same_type(self.name, (x,), self.kinds)

    def transpose(self, ct: Any, x: Any, *, exponent_bits: int, mantissa_bits: int) -> Any:
        return (self(ct, exponent_bits=exponent_bits, mantissa_bits=mantissa_bits),)

    def expand(self, x: Any, *, exponent_bits: int, mantissa_bits: int) -> Any:
        dtype = x.aval.dtype
        mantissa = int(dtypes.finfo(dtype).nmant)
        exponent = 8 * int(dtype.itemsize) - 1 - mantissa
        integer, sign_of = signed_bits(dtype)
        bits = bitcast(x, dtype=integer)
        sign = bitwise_and(bits, sign_of)
        rest = bitwise_xor(bits, sign)
        if mantissa_bits < mantissa:
            cut = mantissa - mantissa_bits
            # Half of the last bit that stays, or just less if that bit is 0.
            last = bitwise_and(shift_right_logical(rest, cut), 1)
            rest = add(add(rest, (1 << (cut - 1)) - 1), last)
            rest = bitwise_and(rest, sign_of - (1 << cut))
        if exponent_bits < exponent:
            bias, reach = (1 << (exponent - 1)) - 1, (1 << (exponent_bits - 1)) - 1
            power = shift_right_logical(rest, mantissa)
            rest = select(gt(power, bias + reach), ((1 << exponent) - 1) << mantissa, rest)
            rest = select(le(power, bias - reach), 0, rest)
        rounded = bitcast(bitwise_or(rest, sign), dtype=dtype)
        return select(ne(x, x), x, rounded)


class Remainder(Differentiable):
    """What is left of `x` after division by `y`, with the sign of `y`, also where it is 0.

    Integers divided by 0 leave 0.  Its slope in `x` is 1 and in `y` is -floor(x / y).
    """

    name = "remainder"
    kinds = REAL
    partials = (lambda x, y, out: 1.0, lambda x, y, out: neg(floor(div(x, y))))

    def expand(self, x: Any, y: Any) -> Any:
        rest = rem(x, y)
        kind = dtypes.kind(rest.aval.dtype)
        if kind != "float":
            rest = select(eq(y, 0), 0, rest)  # there is nothing else to give, as in NumPy
        if kind == "uint":
            return rest
        wrong = bitwise_and(ne(rest, zero(rest)), ne(lt(rest, zero(rest)), lt(y, zero(y))))
        result = select(wrong, add(rest, y), rest)
        if kind == "float":
            result = select(eq(result, 0.0), copysign(result, y), result)
        return result


def zero(x: Any) -> Any:
    """The zero to compare an array with, as a literal."""
    return 0.0 if dtypes.kind(x.aval.dtype) == "float" else 0


class CopySign(Differentiable):
    """`x` with the sign of `y`, which may be that of a zero."""

    name = "copysign"
    kinds = FLOAT

    def expand(self, x: Any, y: Any) -> Any:
        integer, bit = signed_bits(x.aval.dtype)
        size = bitwise_and(bitcast(x, dtype=integer), bit - 1)
        sign = bitwise_and(bitcast(y, dtype=integer), bit)
        return bitcast(bitwise_or(size, sign), dtype=x.aval.dtype)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        x, y = primals
        dx, _ = tangents
        result = self(x, y)
        if dx is Zero:
            return result, Zero
        turned = ne(sign_bit(x), sign_bit(y))
        return result, select(turned, neg(dx), dx)


class Hypot(Differentiable):
    """The length of the vector (`x`, `y`), without overflow; its slope at the origin is 0."""

    name = "hypot"
    kinds = FLOAT
    partials = (
        lambda x, y, out: select(eq(out, 0.0), 0.0, div(x, out)),
        lambda x, y, out: select(eq(out, 0.0), 0.0, div(y, out)),
    )

    def expand(self, x: Any, y: Any) -> Any:
        a, b = absolute(x), absolute(y)
        long, short = max(a, b), min(a, b)
        ratio = div(short, select(eq(long, 0.0), 1.0, long))
        length = mul(long, sqrt(add(mul(ratio, ratio), 1.0)))
        infinite = bitwise_or(eq(a, float("inf")), eq(b, float("inf")))
        return select(infinite, float("inf"), length)


class LogAddExp(Differentiable):
    """log(exp(x) + exp(y)), without overflow; -inf is its neutral element."""

    name = "logaddexp"
    kinds = INEXACT
    partials = (
        lambda x, y, out: exp(_distance(x, y, out)),
        lambda x, y, out: exp(_distance(y, x, out)),
    )

    def expand(self, x: Any, y: Any) -> Any:
        larger = max(x, y)
        distance = select(eq(x, y), 0.0, neg(absolute(sub(x, y))))
        return add(larger, log1p(exp(distance)))


class Distance(Differentiable):
    """`x` minus `y`, which is 0 where both are the same infinity."""

    name = "distance"
    kinds = FLOAT
    partials = (lambda x, y, out: 1.0, lambda x, y, out: -1.0)

    def expand(self, x: Any, y: Any) -> Any:
        return select(eq(x, y), 0.0, sub(x, y))


def _distance(x: Any, other: Any, out: Any) -> Any:
    # Equal to the result, an operand is infinite, or far above the other.
    distance = select(eq(x, out), 0.0, sub(x, out))
    # Both equal to it are a tie of infinities, or of numbers so large that log(2) is lost.
    return select(bitwise_and(eq(x, out), eq(other, out)), -math.log(2.0), distance)


class StopGradient(Elementwise):
    """`x` itself, as a constant for differentiation."""

    name = "stop_gradient"

    def expand(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        return x

    def jvp(self, primals: Any, tangents: Any) -> Any:
        return self(primals[0]), Zero


remainder = Remainder()
copysign = CopySign()
hypot = Hypot()
logaddexp = LogAddExp()
distance = Distance()
stop_gradient = StopGradient()
reduce_precision = ReducePrecision()
