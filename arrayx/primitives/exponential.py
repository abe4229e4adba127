"""Exponentials, logarithms, roots and powers."""

from __future__ import annotations

import math
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import is_scalar
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.primitives.arithmetic import absorb_mul, add, eq, ge, mul, neg, select, sub
from arrayx.primitives.bitwise import bitwise_and
from arrayx.primitives.creation import fill
from arrayx.primitives.families import (
    FLOAT,
    INEXACT,
    NUMERIC,
    Differentiable,
    TwoOperands,
    Unary,
    add_tangents,
    scaled,
    transcendental,
    unary,
)
from arrayx.primitives.numeric import div, reciprocal

exp = transcendental("exp", INEXACT, lambda x, out: out, doc="e to the power of `x`.")
expm1 = transcendental(
    "expm1",
    INEXACT,
    # Not out + 1, which is 0 far left of the origin.
    lambda x, out: exp(x),
    doc="e to the power of `x`, less 1: accurate where `x` is close to 0.",
)
log = transcendental("log", INEXACT, lambda x, out: reciprocal(x), doc="Natural logarithm of `x`.")
log1p = transcendental(
    "log1p",
    INEXACT,
    lambda x, out: reciprocal(add(x, 1.0)),
    doc="Natural logarithm of 1 + `x`: accurate where `x` is close to 0.",
)
sqrt = unary("sqrt", INEXACT, lambda x, out: div(0.5, out), doc="Square root of `x`.")
rsqrt = unary(
    "rsqrt",
    INEXACT,
    lambda x, out: mul(div(out, x), -0.5),
    doc="1 divided by the square root of `x`: inf at 0, with the sign of the zero.",
)
type(rsqrt).expand = lambda self, x: reciprocal(sqrt(x))
cbrt = transcendental(
    "cbrt",
    FLOAT,
    lambda x, out: reciprocal(mul(mul(out, out), 3.0)),
    doc="Real cube root of `x`, with the sign of `x`.",
)
logistic = transcendental(
    "logistic",
    INEXACT,
    # Not out * (1 - out), which is 0 far right of the origin.
    lambda x, out: mul(out, logistic(neg(x))),
    doc="1 / (1 + exp(-`x`)), without overflow.",
)
type(logistic).expand = lambda self, x: reciprocal(add(exp(neg(x)), 1.0))


class Exp2(Unary):
    """2 to the power of `x`."""

    name = "exp2"
    kinds = INEXACT
    partials = (lambda x, out: mul(out, math.log(2.0)),)

    def expand(self, x: Any) -> Any:
        if dtypes.kind(x.aval.dtype) == "complex":
            return exp(mul(x, math.log(2.0)))
        return pow(2.0, x)


class Pow(TwoOperands, Differentiable):
    """`x` to the power of `y`.

    Floats follow C's pow: x**0 and 1**y are 1 for every x and y, nan included.  An integer to
    a negative integer is the quotient of 1 and the positive power, rounded towards zero.

    | at | derivative by x | derivative by y |
    |---|---|---|
    | y = 0, any x | 0, also at x = 0 | log(x) |
    | x = 0, y > 0 | y * 0**(y - 1): 1 for y = 1 | 0 |
    | x = 0, y = 0 | 0 | 0 |
    | x = 0, y < 0 | -inf | -inf |
    | x < 0 | y * x**(y - 1) | nan |
    """

    name = "pow"
    costly = True
    kinds = NUMERIC

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x, y), (dx, dy) = primals, tangents
        result = self(x, y)
        tangent = Zero if dx is Zero else self.by_base(dx, x, y)
        if dy is not Zero:
            tangent = add_tangents(tangent, scaled(dy, absorb_mul(self.log_of(x, y), result)))
        return result, tangent

    def by_base(self, dx: Any, x: Any, y: Any) -> Any:
        """The tangent by the base; a product in which zeros absorb, so that it is 0 for the
        exponent 0 and still has the right derivative by the exponent there.
        """
        if not is_scalar(y):
            return scaled(dx, absorb_mul(y, self(x, sub(y, 1.0))))
        if y == 0:
            return Zero
        if y == 1:
            return dx
        if y == 2:
            return scaled(dx, mul(x, 2.0))
        return scaled(dx, mul(self(x, y - 1.0), y))

    def log_of(self, x: Any, y: Any) -> Any:
        """The logarithm of the base, 0 where the power of 0 is taken as flat."""
        aval = (y if is_scalar(x) else x).aval
        if is_scalar(x):
            x = fill(aval.shape, aval.dtype, x)
        if dtypes.kind(aval.dtype) == "complex":
            flat = eq(x, 0.0)
        elif is_scalar(y):
            return log(x) if y < 0 else log(select(eq(x, 0.0), 1.0, x))
        else:
            flat = bitwise_and(eq(x, 0.0), ge(y, 0.0))
        return log(select(flat, 1.0, x))


class IntegerPow(Differentiable):
    """`x` to the power of the Python integer `exponent`, by repeated squaring.

    x**0 is 1 and its derivative is 0, for every x.  A negative exponent needs an inexact
    dtype.
    """

    name = "integer_pow"
    kinds = NUMERIC

    def type_rule(self, x: Any, *, exponent: int) -> Aval:
        aval = super().type_rule(x)
        if exponent < 0 and not dtypes.is_inexact(aval.dtype):
            raise errors.DtypeError(
                f"integer_pow of {aval} needs an exponent of at least 0, got {exponent}: "
                "convert the base to a float dtype first"
            )
        return aval

    def jvp(self, primals: Any, tangents: Any, *, exponent: int) -> Any:
        (x,), (dx,) = primals, tangents
        result = self(x, exponent=exponent)
        if exponent == 0:
            return result, Zero
        if exponent == 1:
            return result, dx
        below = x if exponent == 2 else self(x, exponent=exponent - 1)
        return result, scaled(dx, mul(below, float(exponent)))

    def expand(self, x: Any, *, exponent: int) -> Any:
        if exponent == 0:
            return fill(x.aval.shape, x.aval.dtype, one_literal(x.aval.dtype), x.aval.weak_type)
        power, bits, square = None, abs(exponent), x
        while True:
            if bits & 1:
                power = square if power is None else mul(power, square)
            bits >>= 1
            if not bits:
                break
            square = mul(square, square)
        return power if exponent > 0 else reciprocal(power)


def one_literal(dtype: Any) -> Any:
    """The Python scalar that is one in the kind of `dtype`."""
    return {"float": 1.0, "complex": 1.0 + 0j}.get(dtypes.kind(dtype), 1)


exp2 = Exp2()
pow = Pow()
integer_pow = IntegerPow()
