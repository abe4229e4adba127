"""The ring operations and those that derivatives are made of: add, mul, absorb_mul, select."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.config import config
from arrayx.core.array import is_scalar
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.families import (
    ANY,
    EVERYTHING,
    NUMERIC,
    Differentiable,
    Elementwise,
    Step,
    TwoOperands,
    Unary,
    add_tangents,
    array_avals,
    handed,
    is_linear,
    same_type,
    scaled,
    step,
)

BOOL = np.dtype(bool)


class Add(TwoOperands):
    """Sum of `x` and `y`."""

    name = "add"
    kinds = NUMERIC

    def jvp(self, primals: Any, tangents: Any) -> Any:
        return self(*primals), add_tangents(*tangents)

    def transpose(self, ct: Any, x: Any, y: Any) -> Any:
        return (ct if is_linear(x) else None, ct if is_linear(y) else None)


class Sub(TwoOperands):
    """Difference of `x` and `y`."""

    name = "sub"
    kinds = NUMERIC

    def jvp(self, primals: Any, tangents: Any) -> Any:
        dx, dy = tangents
        result = self(*primals)
        if dy is Zero:
            return result, dx
        return result, (neg(dy) if dx is Zero else self(dx, dy))

    def transpose(self, ct: Any, x: Any, y: Any) -> Any:
        return (ct if is_linear(x) else None, neg(ct) if is_linear(y) else None)


class Neg(Unary):
    """`x` with its sign turned."""

    name = "neg"
    kinds = NUMERIC

    def jvp(self, primals: Any, tangents: Any) -> Any:
        return self(primals[0]), self(tangents[0])

    def linearize(self, tape: Any, primals: Any, tangents: Any) -> Any:
        result = self(primals[0])
        return result, tape.record(self, (tangents[0],), {}, result.aval.strong())

    def transpose(self, ct: Any, x: Any) -> Any:
        return (self(ct),)


class _Product(TwoOperands, Differentiable):
    """Bilinear: linear in each operand while the other is known."""

    partials = (lambda x, y, out: y, lambda x, y, out: x)
    kinds = NUMERIC

    def linearize(self, tape: Any, primals: Any, tangents: Any) -> Any:
        (x, y), (dx, dy) = primals, tangents
        result = self(x, y)
        aval = result.aval.strong()
        terms = [
            tape.product(mul if is_scalar(factor) else _product(), d, factor)
            for d, factor in ((dx, y), (dy, x))
            if d is not Zero
        ]
        if len(terms) == 1:
            return result, terms[0]
        return result, tape.record(add, tuple(terms), {}, aval)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x, y), (dx, dy) = primals, tangents
        result = self(x, y)
        by_x = Zero if dx is Zero else _times(dx, y)
        by_y = Zero if dy is Zero else _times(dy, x)
        return result, add_tangents(by_x, by_y)

    def transpose(self, ct: Any, x: Any, y: Any) -> Any:
        if is_linear(x):
            return self(ct, y), None
        return None, self(ct, x)


def _times(tangent: Any, factor: Any) -> Any:
    """`tangent * factor`; any literal is allowed here, because the user wrote it."""
    return mul(tangent, factor) if is_scalar(factor) else scaled(tangent, factor)


def _product() -> Primitive:
    return absorb_mul if config.snapshot().zeros_absorb else mul


class Mul(_Product):
    """Product of `x` and `y`."""

    name = "mul"


class AbsorbMul(_Product):
    """Product of `x` and `y` in which zeros absorb: 0 wherever either factor is exactly 0.

    It is what derivatives are made of, so that a branch that was not taken (whose
    cotangent is 0) cannot poison a gradient with inf or nan.  It is closed under
    differentiation, so both modes agree to every order.
    """

    name = "absorb_mul"
    kinds = frozenset({"float", "complex"})


class Select(Elementwise):
    """Elements of `x` where `which` is true, of `y` elsewhere.

    `which` is boolean and of the same shape as `x` and `y`; one of those may be a literal.
    """

    name = "select"
    kinds = EVERYTHING

    def type_rule(self, which: Any, x: Any, y: Any) -> Aval:
        aval = same_type(self.name, (x, y), self.kinds)
        if type(which) is not Aval or which.dtype != BOOL or which.shape != aval.shape:
            raise errors.ShapeError(
                f"select needs a boolean condition of shape {aval.shape}, got {which}"
            )
        weak = all(a.weak_type for a in array_avals((x, y)))
        return aval.update(weak_type=weak)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        which, x, y = primals
        _, dx, dy = tangents
        result = self(which, x, y)
        zero = 0j if dtypes.kind(result.aval.dtype) == "complex" else 0.0
        if dx is Zero and dy is Zero:
            return result, Zero
        return result, self(which, zero if dx is Zero else dx, zero if dy is Zero else dy)

    def transpose(self, ct: Any, which: Any, x: Any, y: Any) -> Any:
        zero = 0j if dtypes.kind(ct.aval.dtype) == "complex" else 0.0
        return (
            None,
            self(which, ct, zero) if is_linear(x) else None,
            self(which, zero, ct) if is_linear(y) else None,
        )


class Eq(TwoOperands, Step):
    """True where `x` equals `y`; nan equals nothing."""

    name = "eq"
    kinds = EVERYTHING
    result = staticmethod(lambda dtype: BOOL)

    def on_keys(self, avals: Any, x: Any, y: Any) -> Any:
        first, second = handed.words_of(self(x, y))
        return select(first, second, False)


class Ne(TwoOperands, Step):
    """True where `x` differs from `y`; nan differs from all."""

    name = "ne"
    kinds = EVERYTHING
    result = staticmethod(lambda dtype: BOOL)

    def on_keys(self, avals: Any, x: Any, y: Any) -> Any:
        first, second = handed.words_of(self(x, y))
        return select(first, True, second)


def _bool(dtype: Any) -> Any:
    return BOOL


add = Add()
sub = Sub()
neg = Neg()
mul = Mul()
absorb_mul = AbsorbMul()
select = Select()
eq = Eq()
ne = Ne()
lt = step("lt", ANY, "True where `x` is less than `y`.", _bool)
le = step("le", ANY, "True where `x` is at most `y`.", _bool)
gt = step("gt", ANY, "True where `x` is greater than `y`.", _bool)
ge = step("ge", ANY, "True where `x` is at least `y`.", _bool)

handed.add = add
handed.mul = mul
handed.absorb_mul = absorb_mul
