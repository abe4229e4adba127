"""Division, order and rounding of real numbers: max, min, clamp, abs, sign, floor."""

from __future__ import annotations

import builtins
import cmath
from typing import Any

import numpy as np

from arrayx import dtypes
from arrayx.core.array import is_scalar
from arrayx.core.linear import Zero
from arrayx.core.primitive import Fault
from arrayx.primitives.arithmetic import eq, gt, lt, mul, neg, select, sub
from arrayx.primitives.complex import complex as from_parts
from arrayx.primitives.complex import conj, imag, real
from arrayx.primitives.creation import fill, zero_literal
from arrayx.primitives.families import (
    FLOAT,
    NUMERIC,
    ORDERED,
    REAL,
    Differentiable,
    Elementwise,
    NonDifferentiable,
    OneOperand,
    TwoOperands,
    add_tangents,
    handed,
    scaled,
    step,
)

BOOL = np.dtype(bool)


def by_zero(y: Any) -> list[Fault]:
    """The fault of a divisor that is 0."""
    if is_scalar(y):
        return []
    return [Fault("division", "division by zero", eq(y, zero_literal(y.aval.dtype)), {})]


class Div(TwoOperands, Differentiable):
    """Quotient of `x` and `y`.

    Floats follow IEEE 754.  Integers are rounded towards zero; what has no quotient has a
    value all the same: x / 0 is -1 (all bits set, for unsigned ones too), and the least
    integer / -1 is itself.
    """

    name = "div"
    kinds = NUMERIC

    def faults(self, x: Any, y: Any) -> list[Fault]:
        return by_zero(y)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x, y), (dx, dy) = primals, tangents
        result = self(x, y)
        tangent = Zero
        if dx is not Zero:
            tangent = self.by_known(dx, y)
        if dy is not Zero:
            tangent = add_tangents(tangent, scaled(dy, neg(self(result, y))))
        return result, tangent

    def by_known(self, dx: Any, y: Any) -> Any:
        """The tangent divided by `y`; a 0 stays 0 whatever `y` is."""
        if is_scalar(y):
            if y != 0 and cmath.isfinite(y):
                return self(dx, y)
            one = 1.0 + 0j if isinstance(y, complex) else 1.0
            return scaled(dx, self(fill(dx.aval.shape, dx.aval.dtype, one), y))
        return scaled(dx, reciprocal(y))

    def transpose(self, ct: Any, x: Any, y: Any) -> Any:
        return self.by_known(ct, y), None


class Rem(TwoOperands, Differentiable):
    """Remainder of `x / y` rounded towards zero: it has the sign of `x`.

    For integers x rem 0 is x, and the least integer rem -1 is 0.
    """

    name = "rem"
    kinds = REAL
    # The quotient is taken of what the remainder leaves, which is near an integer: x / y
    # could round to the next one.
    partials = (
        lambda x, y, out: 1.0,
        lambda x, y, out: neg(round(div(sub(x, out), y))),
    )

    def faults(self, x: Any, y: Any) -> list[Fault]:
        return by_zero(y)


class _Extremum(TwoOperands):
    """The larger or the smaller of two; a tie gives each half of the derivative."""

    kinds = ORDERED

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x, y), (dx, dy) = primals, tangents
        return self(x, y), self.chosen(x, y, dx, dy)

    def wins(self, x: Any, y: Any) -> Any:
        """Where `x` is chosen over `y`, ties apart."""
        raise NotImplementedError

    def chosen(self, x: Any, y: Any, dx: Any, dy: Any) -> Any:
        """The tangent of the one that is chosen.  It is selected, never multiplied by a
        mask, so that nothing of the other one gets through.
        """
        if dx is Zero and dy is Zero:
            return Zero
        if dy is Zero:
            return self.share(x, y, dx)
        if dx is Zero:
            return self.share(y, x, dy)
        half = mul(handed.add(dx, dy), 0.5)
        return select(self.wins(x, y), dx, select(self.wins(y, x), dy, half))

    def share(self, x: Any, y: Any, dx: Any) -> Any:
        """The tangent of `x` where `x` is chosen, half of it at a tie."""
        return select(self.wins(x, y), dx, select(eq(x, y), mul(dx, 0.5), 0.0))


class Max(_Extremum):
    """The larger of `x` and `y`; nan where either is nan.  True is larger than False.

    At a tie each operand has half of the derivative.
    """

    name = "max"

    def wins(self, x: Any, y: Any) -> Any:
        return gt(x, y)


class Min(_Extremum):
    """The smaller of `x` and `y`; nan where either is nan.  False is smaller than True.

    At a tie each operand has half of the derivative.
    """

    name = "min"

    def wins(self, x: Any, y: Any) -> Any:
        return lt(x, y)


class Clamp(Elementwise):
    """`x` brought into the interval from `low` to `high`: `min(max(x, low), high)`.

    Nan in any operand gives nan.  On a bound, `x` and the bound have half of the derivative
    each.
    """

    name = "clamp"
    kinds = ORDERED

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (low, x, high), (d_low, dx, d_high) = primals, tangents
        result = self(low, x, high)
        tangent = max.chosen(x, low, dx, d_low)
        return result, min.chosen(self.raised(low, x), high, tangent, d_high)

    def raised(self, low: Any, x: Any) -> Any:
        """`x` where it is not below `low`; both may be literals."""
        return builtins.max(x, low) if is_scalar(x) and is_scalar(low) else max(x, low)

    def expand(self, low: Any, x: Any, high: Any) -> Any:
        return min(self.raised(low, x), high)


class Abs(OneOperand, Differentiable):
    """Magnitude of `x`, real for complex ones.  The least integer is its own magnitude.

    The derivative at 0 is 0.
    """

    name = "abs"
    kinds = NUMERIC
    result = staticmethod(dtypes.real_dtype)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        result = self(x)
        if dtypes.kind(x.aval.dtype) == "complex":
            return result, real(scaled(dx, conj(sign(x))))
        return result, scaled(dx, sign(x))


class Sign(OneOperand):
    """-1, 0 or 1 with the sign of `x`; complex ones are divided by their magnitude.

    A zero keeps its own sign, and nan is nan.
    """

    name = "sign"
    kinds = NUMERIC

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        result = self(x)
        if dtypes.kind(x.aval.dtype) != "complex":
            return result, Zero
        # On the circle only the part of the tangent across the radius moves it.
        across = imag(scaled(dx, conj(result)))
        turned = from_parts(0.0, scaled(across, reciprocal(abs(x))))
        return result, scaled(turned, result)


class NextAfter(NonDifferentiable, TwoOperands):
    """The next number after `x` in the direction of `y` that the dtype has."""

    name = "nextafter"
    kinds = FLOAT


div = Div()
rem = Rem()
max = Max()
min = Min()
clamp = Clamp()
abs = Abs()
sign = Sign()
nextafter = NextAfter()
floor = step("floor", FLOAT, "The largest integer not above `x`, in the dtype of `x`.")
ceil = step("ceil", FLOAT, "The smallest integer not below `x`, in the dtype of `x`.")
round = step("round", FLOAT, "The integer next to `x`, the even one of two, in its dtype.")
is_finite = step("is_finite", FLOAT, "True where `x` is neither infinite nor nan.", lambda d: BOOL)


def reciprocal(x: Any) -> Any:
    """1 divided by the array `x`."""
    return div(1.0 + 0j if dtypes.kind(x.aval.dtype) == "complex" else 1.0, x)
