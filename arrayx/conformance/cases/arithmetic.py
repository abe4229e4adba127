"""Rows for the ring operations, comparisons and select."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import (
    ANY,
    FLOAT8,
    INEXACT,
    INTEGERS,
    NUMERIC,
    ORDERED,
    Case,
    Operand,
)
from arrayx.primitives import arithmetic

ONE = ((2, 3),)
TWO = ((2, 3), (2, 3))
BOTH = (0, 1)
# The integers of 64 bits; of a narrower dtype those that it has.
WHOLE = (-(2.0**63), 2.0**64)


def absorbing(x: Any, y: Any) -> Any:
    """Product in which zeros absorb."""
    return np.where((x == 0) | (y == 0), 0, x * y)


def _sizes(x: Any, y: Any) -> Any:
    return np.abs(x) + np.abs(y)


def _product(x: Any, y: Any) -> Any:
    return np.abs(x) * np.abs(y)


CASES = (
    Case("add", arithmetic.add, TWO, {}, np.add, NUMERIC + FLOAT8, scale=_sizes, literals=BOTH),
    Case(
        "sub", arithmetic.sub, TWO, {}, np.subtract, NUMERIC + FLOAT8, scale=_sizes, literals=BOTH
    ),
    Case("neg", arithmetic.neg, ONE, {}, np.negative, NUMERIC + FLOAT8),
    Case(
        "mul", arithmetic.mul, TWO, {}, np.multiply, NUMERIC + FLOAT8, scale=_product, literals=BOTH
    ),
    # Of the whole range, so that all bits count and results wrap around.
    *(
        Case(name, getattr(arithmetic, name), TWO, {}, reference, INTEGERS, WHOLE, label="wide")
        for name, reference in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply))
    ),
    Case(
        "absorb_mul",
        arithmetic.absorb_mul,
        TWO,
        {},
        absorbing,
        INEXACT,
        scale=_product,
        signed_zeros=False,
    ),
    Case(
        "select",
        arithmetic.select,
        (Operand((2, 3), dtype="bool"), (2, 3), (2, 3)),
        {},
        np.where,
        ANY + FLOAT8,
        literals=(1, 2),
    ),
    Case("eq", arithmetic.eq, TWO, {}, np.equal, ANY, differentiable=(), literals=BOTH),
    Case("ne", arithmetic.ne, TWO, {}, np.not_equal, ANY, differentiable=(), literals=BOTH),
    Case("lt", arithmetic.lt, TWO, {}, np.less, ORDERED, differentiable=(), literals=BOTH),
    Case("le", arithmetic.le, TWO, {}, np.less_equal, ORDERED, differentiable=(), literals=BOTH),
    Case("gt", arithmetic.gt, TWO, {}, np.greater, ORDERED, differentiable=(), literals=BOTH),
    Case("ge", arithmetic.ge, TWO, {}, np.greater_equal, ORDERED, differentiable=(), literals=BOTH),
)
