"""Rows for exponentials, logarithms, roots and powers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from arrayx.conformance.case import (
    COMPLEX,
    FLOAT8,
    FLOATS,
    INEXACT,
    INTEGERS,
    NUMERIC,
    Case,
    Operand,
)
from arrayx.conformance.cases.trigonometric import beside_cuts
from arrayx.primitives import exponential

ONE = ((2, 3),)
TWO = ((2, 3), (2, 3))
POSITIVE = (0.1, 4.0)


def far(name: str, reference: Any, domain: tuple[float, float], **more: Any) -> Case:
    """The row of a function far from the origin."""
    call = getattr(exponential, name)
    wide = ("float32", "float64")
    return Case(name, call, ((8,),), {}, reference, wide, domain, label="far", **more)


def sigmoid(x: Any) -> Any:
    """The logistic function without overflow."""
    return 1 / (1 + np.exp(-x))


def reciprocal_root(x: Any) -> Any:
    """1 / sqrt(x)."""
    return 1 / np.sqrt(x)


def integer_power(x: Any, y: Any) -> Any:
    """Powers of integers, those with negative exponents as quotients of 1."""

    def one(a: int, b: int) -> int:
        if b >= 0:
            return int(a**b)
        return {0: -1, 1: 1, -1: -1 if b % 2 else 1}.get(a, 0)

    bits = 8 * x.dtype.itemsize
    found = [one(int(a), int(b)) % (1 << bits) for a, b in zip(x.flat, y.flat)]
    return np.array(found, f"u{bits // 8}").view(x.dtype).reshape(x.shape)


def literal_power(x: Any, *, exponent: float) -> Any:
    """`pow` with a Python number."""
    return exponential.pow(x, exponent)


def literal_power_of_numpy(x: Any, *, exponent: float) -> Any:
    """The same of NumPy."""
    return np.power(x, exponent)


def exponent_scale(x: Any, y: Any) -> Any:
    """The condition of a power: errors of the logarithm count times the exponent."""
    return np.abs(x**y) * (1 + np.abs(y * np.log(np.abs(x))))


def power(x: Any, *, exponent: int) -> Any:
    """Power with a Python integer."""
    return x**exponent if exponent >= 0 else 1 / x ** (-exponent)


def one(name: str, reference: Any, domain: tuple[float, float] = (-3, 3), **more: Any) -> Case:
    """The row of a function of one operand; its primitive is called `name`."""
    dtypes = more.pop("dtypes", INEXACT)
    return Case(name, getattr(exponential, name), ONE, {}, reference, dtypes, domain, **more)


CASES = (
    one("exp", np.exp, dtypes=INEXACT + FLOAT8),
    one("exp2", np.exp2, dtypes=FLOATS),
    one("exp2", lambda x: np.exp(x * np.log(2)), dtypes=COMPLEX, label="complex"),
    one("expm1", np.expm1, dtypes=FLOATS),
    one("expm1", np.expm1, (-1e-4, 1e-4), dtypes=FLOATS, special=False, label="small"),
    one("expm1", np.expm1, dtypes=COMPLEX, label="complex"),
    one("log", np.log, POSITIVE, dtypes=FLOATS, scale=lambda x: 1 + np.abs(np.log(x))),
    one("log", np.log, dtypes=COMPLEX, label="complex", scale=lambda x: 1 + np.abs(np.log(x))),
    one("log1p", np.log1p, (-0.9, 4), dtypes=FLOATS),
    one("log1p", np.log1p, (-1e-4, 1e-4), dtypes=FLOATS, special=False, label="small"),
    one("log1p", np.log1p, (0.2, 3), dtypes=COMPLEX, label="complex"),
    one("sqrt", np.sqrt, POSITIVE, dtypes=FLOATS),
    one("sqrt", np.sqrt, dtypes=COMPLEX, label="complex"),
    one("rsqrt", reciprocal_root, POSITIVE, dtypes=FLOATS),
    one("rsqrt", reciprocal_root, dtypes=COMPLEX, label="complex"),
    one("cbrt", np.cbrt, dtypes=FLOATS),
    one("logistic", sigmoid, (-6, 6), dtypes=FLOATS),
    one(
        "logistic", sigmoid, (-80, -60), dtypes=("float32", "float64"), special=False, label="left"
    ),
    one("logistic", sigmoid, (-1.5, 1.5), dtypes=COMPLEX, label="complex", special=False, ulps=8),
    far("exp", np.exp, (-80, 80), ulps=8),
    far("expm1", np.expm1, (-80, 80), ulps=8),
    far("log", np.log, (1e2, 1e6)),
    far("log1p", np.log1p, (1e2, 1e6)),
    far("sqrt", np.sqrt, (1e2, 1e6)),
    far("logistic", sigmoid, (-40, 40), ulps=8),
    beside_cuts("log", exponential.log, np.log, (complex(-2, 0.0), complex(-0.5, 0.0))),
    beside_cuts("sqrt", exponential.sqrt, np.sqrt, (complex(-2, 0.0), complex(-0.5, 0.0))),
    Case(
        "pow",
        exponential.pow,
        (Operand((2, 3), domain=POSITIVE), (2, 3)),
        {},
        np.power,
        FLOATS,
        scale=exponent_scale,
        literals=(0, 1),
    ),
    Case(
        "pow",
        exponential.pow,
        TWO,
        {},
        np.power,
        COMPLEX,
        scale=exponent_scale,
        ulps=16,
        label="complex",
    ),
    # Rules have a form of their own for each of these literals.
    *(
        Case(
            "pow",
            partial(literal_power, exponent=y),
            ONE,
            {},
            partial(literal_power_of_numpy, exponent=y),
            ("float32", "float64"),
            POSITIVE,
            special=False,
            label=f"literal_{y}",
        )
        for y in (0.0, 1.0, 2.0, 3.0, 0.5, -1.0)
    ),
    Case("pow", exponential.pow, TWO, {}, integer_power, INTEGERS, (-4, 4), label="int"),
    *(
        Case(
            "integer_pow",
            exponential.integer_pow,
            ONE,
            {"exponent": n},
            power,
            NUMERIC if n >= 0 else INEXACT,
            (-2, 2) if n >= 0 else (0.5, 2),
            ulps=4 + 2 * abs(n),
            special=n > 0,
            label=str(n),
        )
        for n in (0, 1, 2, 3, 7, -1, -2)
    ),
)
