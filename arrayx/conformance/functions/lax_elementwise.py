"""Rows of the elementwise functions of `ax.lax`, which are primitives with arguments checked.

So each row is that of the primitive, with the public function in its place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from arrayx.conformance.case import INEXACT, INTEGERS, NUMERIC, Case, Operand
from arrayx.conformance.public import leaves, public, resolved
from arrayx.conformance.table import cases

NAMES = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bessel_i0e",
    "bessel_i1e",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "clamp",
    "clz",
    "complex",
    "conj",
    "cos",
    "cosh",
    "digamma",
    "div",
    "eq",
    "erf",
    "erf_inv",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "ge",
    "gt",
    "imag",
    "is_finite",
    "le",
    "lgamma",
    "log",
    "log1p",
    "logistic",
    "lt",
    "max",
    "min",
    "mul",
    "ne",
    "neg",
    "nextafter",
    "population_count",
    "pow",
    "real",
    "rem",
    "rsqrt",
    "select",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "sub",
    "tan",
    "tanh",
]

ROWS: dict[str, Case] = {}
for _row in cases():
    if getattr(_row.call, "elementwise", False) and not _row.params:
        ROWS.setdefault(_row.name, _row)


def in_place_of(name: str) -> Case:
    """The row of a primitive for the public function of the same name."""
    function = resolved(f"lax.{name}")

    def call(*arrays: Any) -> tuple[Any, ...]:
        return leaves(function(*arrays))

    return replace(ROWS[name], name=f"lax.{name}", call=call, label="", literals=(), covers=())


def high_half(x: Any, y: Any) -> Any:
    width = 8 * x.dtype.itemsize
    products = [int(a) * int(b) >> width for a, b in zip(x.ravel(), y.ravel(), strict=True)]
    return np.array(products, x.dtype).reshape(x.shape)


def away_from_zero(x: Any) -> Any:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def chosen(which: Any, *given: Any) -> Any:
    return np.choose(np.clip(which, 0, len(given) - 1), given)


def halves(x: Any, exponent_bits: int, mantissa_bits: int) -> Any:
    return x.astype(np.float16).astype(np.float64)


CASES = (
    *(in_place_of(name) for name in NAMES),
    public("lax.square", ((2, 3),), reference=np.square, dtypes=NUMERIC),
    public("lax.reciprocal", ((2, 3),), reference=lambda x: 1 / x, domain=(0.5, 3), dtypes=INEXACT),
    public("lax.round", ((2, 3),), reference=away_from_zero),
    public("lax.integer_pow", ((2, 3),), {"y": 3}, lambda x, y: x**y, NUMERIC, (-2, 2), ulps=8),
    public("lax.mulhi", ((2, 3), (2, 3)), None, high_half, INTEGERS, (-(2**62), 2**62)),
    public(
        "lax.select_n",
        (Operand((2, 3), dtype="int32", domain=(0, 2)), (2, 3), (2, 3), (2, 3)),
        reference=chosen,
        dtypes=NUMERIC,
    ),
    public(
        "lax.reduce_precision",
        ((2, 3),),
        {"exponent_bits": 5, "mantissa_bits": 10},
        halves,
        ("float32",),
    ),
)
