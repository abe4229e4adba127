"""Rows for division, order and rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import (
    COMPLEX,
    FLOAT8,
    FLOATS,
    INEXACT,
    INTEGERS,
    NUMERIC,
    ORDERED,
    REAL,
    SIGNED,
    UNSIGNED,
    Case,
    Operand,
)
from arrayx.primitives import numeric

ONE = ((2, 3),)
TWO = ((2, 3), (2, 3))
BOTH = (0, 1)


def quotient(x: Any, y: Any) -> Any:
    """Division of integers towards zero, element by element in Python's own integers."""

    def one(a: int, b: int) -> int:
        if b == 0:
            return -1
        exact = abs(a) // abs(b)
        return exact if (a < 0) == (b < 0) else -exact

    return _wrapped(one, x, y)


def remainder(x: Any, y: Any) -> Any:
    """What division towards zero leaves; all of `x` where `y` is 0."""
    return _wrapped(lambda a, b: a if b == 0 else a - b * _towards_zero(a, b), x, y)


def _towards_zero(a: int, b: int) -> int:
    exact = abs(a) // abs(b)
    return exact if (a < 0) == (b < 0) else -exact


def _wrapped(function: Any, *operands: Any) -> Any:
    """A function of Python integers, its results wrapped around in the operands' dtype."""
    bits = 8 * operands[0].dtype.itemsize
    found = [function(*(int(v) for v in row)) for row in zip(*(o.flat for o in operands))]
    raw = np.array([v % (1 << bits) for v in found], f"u{bits // 8}")
    return raw.view(operands[0].dtype).reshape(operands[0].shape)


def corners(dtype: str, seconds: tuple[int, ...]) -> tuple[Operand, Operand]:
    """Every pair of an extreme or small integer with one of `seconds`."""
    limits = np.iinfo(dtype)
    firsts = (int(limits.min), int(limits.max), 0, 1, 7, *((-7, -1) if limits.min else ()))
    pairs = [(a, b) for a in firsts for b in seconds]
    return tuple(  # type: ignore[return-value]
        Operand((len(pairs),), values=np.array(column, dtype)) for column in zip(*pairs)
    )


def signed_extremes(dtype: str) -> tuple[int, ...]:
    """Divisors that matter."""
    limits = np.iinfo(dtype)
    return (0, 1, 2, int(limits.max), *((-1, -2, int(limits.min)) if limits.min else ()))


def clamped(low: Any, x: Any, high: Any) -> Any:
    """Nan in any operand gives nan."""
    return np.minimum(np.maximum(x, low), high)


def sign_of(x: Any) -> Any:
    """The sign, where a zero keeps its own."""
    return np.where(x == 0, x, np.sign(x))


CASES = (
    Case("div", numeric.div, TWO, {}, np.divide, INEXACT + FLOAT8, literals=BOTH),
    Case("div", numeric.div, TWO, {}, quotient, INTEGERS, (-20, 20), literals=BOTH, label="int"),
    *(
        Case("div", numeric.div, corners(d, signed_extremes(d)), {}, quotient, (d,), label=d)
        for d in SIGNED + UNSIGNED
    ),
    # Each quotient of nearby numbers may be the next integer, so no multiples are drawn.
    Case(
        "rem",
        numeric.rem,
        ((2, 3), Operand((2, 3), domain=(0.7, 2.0))),
        {},
        np.fmod,
        FLOATS,
        literals=BOTH,
        ulps=1,
    ),
    Case("rem", numeric.rem, TWO, {}, remainder, INTEGERS, (-20, 20), literals=BOTH, label="int"),
    *(
        Case("rem", numeric.rem, corners(d, signed_extremes(d)), {}, remainder, (d,), label=d)
        for d in SIGNED + UNSIGNED
    ),
    Case(
        "max", numeric.max, TWO, {}, np.maximum, ORDERED + FLOAT8, literals=BOTH, signed_zeros=False
    ),
    Case(
        "min", numeric.min, TWO, {}, np.minimum, ORDERED + FLOAT8, literals=BOTH, signed_zeros=False
    ),
    Case(
        "clamp",
        numeric.clamp,
        (Operand((2, 3), domain=(-2, -1)), (2, 3), Operand((2, 3), domain=(1, 2))),
        {},
        clamped,
        REAL,
        literals=(0, 2),
        signed_zeros=False,
    ),
    Case(
        "clamp",
        numeric.clamp,
        (
            Operand((6,), domain=(-1.2, -1)),
            Operand((6,), values=(-2, -0.5, 0.25, 0.5, 2, 1.5)),
            Operand((6,), domain=(1, 1.2)),
        ),
        {},
        clamped,
        FLOATS,
        special=False,
        label="outside",
    ),
    Case("abs", numeric.abs, ONE, {}, np.abs, NUMERIC + FLOAT8),
    Case(
        "abs",
        numeric.abs,
        (Operand((2,), values=[-128, 127]),),
        {},
        np.abs,
        ("int8",),
        label="least",
    ),
    Case("sign", numeric.sign, ONE, {}, sign_of, REAL, differentiable=()),
    Case("sign", numeric.sign, ONE, {}, np.sign, COMPLEX, label="complex"),
    Case("floor", numeric.floor, ONE, {}, np.floor, FLOATS, differentiable=()),
    Case("ceil", numeric.ceil, ONE, {}, np.ceil, FLOATS, differentiable=()),
    Case("round", numeric.round, ONE, {}, np.rint, FLOATS, differentiable=()),
    Case(
        "round",
        numeric.round,
        (Operand((6,), values=[0.5, 1.5, 2.5, -0.5, -1.5, -2.5]),),
        {},
        np.rint,
        FLOATS,
        differentiable=(),
        label="ties",
    ),
    Case("is_finite", numeric.is_finite, ONE, {}, np.isfinite, FLOATS, differentiable=()),
    Case(
        "nextafter",
        numeric.nextafter,
        TWO,
        {},
        np.nextafter,
        ("float64",),
        differentiable=(),
        ulps=0.5,
    ),
    Case(
        "nextafter",
        numeric.nextafter,
        TWO,
        {},
        lambda x, y: np.nextafter(x.astype(np.float32), y.astype(np.float32)).astype(np.float64),
        ("float32",),
        differentiable=(),
        ulps=0.5,
        label="float32",
    ),
)
