"""Rows of arrays made of shapes, values and ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import ANY, FLOATS, INEXACT, NUMERIC, Operand
from arrayx.conformance.functions.shapes import FEW, STORED
from arrayx.conformance.public import each, leading, listed, public, variants

VECTOR = ((3,),)
MATRIX = ((2, 3),)
#: Without operands there is one dtype to try.
ONCE = ("float64",)


def nested(function: Any, a: Any, b: Any, c: Any, **params: Any) -> Any:
    """Calls a function with operands in nested lists."""
    return function([[a, b], (c, 1)], **params)


def arranged(function: Any, *, dtype: Any = None, **numbers: Any) -> Any:
    """Calls `arange` with its numbers by position."""
    return function(*numbers.values(), dtype=dtype)


def ends(first: Any, last: Any, **params: Any) -> Any:
    """What a number on a line between two ends, and the step, are accurate relatively to."""
    size = np.max(np.abs(first)) + np.max(np.abs(last))
    return (size, size) if "retstep" in params else size


CASES = (
    *each("zeros ones", (), {"shape": (2, 3)}, dtypes=ONCE),
    *each("zeros ones", (), {"shape": 2, "dtype": "int8"}, dtypes=ONCE, label="int8"),
    *each("zeros ones", (), {"shape": (), "dtype": "complex64"}, dtypes=ONCE, label="rank_0"),
    *each("zeros ones", (), {"shape": (0, 2), "dtype": "bool"}, dtypes=ONCE, label="nothing"),
    public("numpy.empty", (), {"shape": (2, 3)}, np.zeros, ONCE),
    public("numpy.full", VECTOR, {"shape": (2, 3)}, dtypes=STORED, form=leading),
    *variants(
        "numpy.full",
        (),
        {
            "number": {"shape": (2,), "fill_value": 1.5},
            "nested": {"shape": (2, 2), "fill_value": np.array([1, 2])},
            "dtype": {"shape": (2,), "fill_value": -1, "dtype": "int8"},
            "cut": {"shape": (2,), "fill_value": 2.7, "dtype": "int32"},
            "nan": {"shape": 2, "fill_value": np.nan},
        },
        dtypes=ONCE,
    ),
    *each("zeros_like ones_like", MATRIX, dtypes=STORED),
    public("numpy.empty_like", MATRIX, reference=np.zeros_like, dtypes=STORED),
    *each(
        "zeros_like ones_like",
        MATRIX,
        {"dtype": "int32", "shape": (2,)},
        dtypes=FEW,
        label="other",
    ),
    public("numpy.full_like", MATRIX, {"fill_value": 1}, dtypes=STORED),
    public("numpy.full_like", (MATRIX[0], VECTOR[0]), dtypes=STORED, label="array"),
    public(
        "numpy.full_like",
        MATRIX,
        {"fill_value": 2.5, "dtype": "float32", "shape": (2, 2)},
        dtypes=FEW,
        label="other",
    ),
    *each("array asarray", MATRIX, dtypes=STORED),
    *each("array asarray", MATRIX, {"dtype": "complex128"}, dtypes=ANY, label="dtype"),
    *each(
        "array asarray", (VECTOR[0], VECTOR[0], VECTOR[0]), form=listed, dtypes=ANY, label="list"
    ),
    *each("array asarray", ((), (), ()), form=nested, dtypes=NUMERIC, label="nested"),
    public("numpy.array", VECTOR, {"ndmin": 3}, dtypes=FEW, label="ndmin"),
    # The numbers of `arange` are known, so it takes no operands.
    *variants(
        "numpy.arange",
        (),
        {
            "stop": {"start": 5},
            "step": {"start": 1, "stop": 9, "step": 3},
            "back": {"start": 3, "stop": -4, "step": -2},
            "none": {"start": 3, "stop": 1},
            "floats": {"start": 0.5, "stop": 2.0, "step": 0.25},
            "down": {"start": 1.0, "stop": -1.0, "step": -0.5},
            "dtype": {"start": 1, "stop": 4, "dtype": "complex64"},
            "float16": {"start": 0, "stop": 300, "step": 2, "dtype": "float16"},
        },
        dtypes=ONCE,
        form=arranged,
    ),
    *variants(
        "numpy.linspace",
        ((), ()),
        {
            "five": {"num": 5},
            "open": {"num": 4, "endpoint": False},
            "with_step": {"num": 5, "retstep": True},
            "two": {"num": 2},
        },
        dtypes=(*INEXACT, "int32", "int8", "uint8"),
        scale=ends,
        signed_zeros=False,
    ),
    *variants(
        "numpy.linspace",
        ((2,), (3, 1)),
        {
            "front": {"num": 4},
            "last": {"num": 4, "axis": -1},
            "many": {"num": 700, "axis": 1},
            "none": {"num": 0},
            "one": {"num": 1},
        },
        dtypes=FLOATS,
        scale=ends,
        signed_zeros=False,  # NumPy adds a zero step to the first number
    ),
    public(
        "numpy.linspace",
        (),
        {"start": 0, "stop": 10, "num": 11, "dtype": "int32"},
        dtypes=ONCE,
        label="integers",
    ),
    public(
        "numpy.logspace",
        (Operand((2,), domain=(-1, 0)), Operand((2,), domain=(1, 2))),
        {"num": 5},
        dtypes=INEXACT,
        # The exponent's error, relative to the ends, is multiplied by the logarithm of the base.
        scale=lambda a, b, num: 100 * np.log(10) * 3,
    ),
    public(
        "numpy.logspace",
        (Operand((), domain=(-1, 0)), Operand((), domain=(1, 2))),
        {"num": 4, "endpoint": False, "base": 2.0, "axis": -1},
        label="base_2",
        scale=lambda a, b, **params: 4 * 3,
    ),
    public(
        "numpy.geomspace",
        (Operand((2,), domain=(1, 2)), Operand((2,), domain=(3, 9))),
        {"num": 5},
        dtypes=FLOATS,
        scale=lambda a, b, num: 27.0,
        special=False,  # NumPy refuses zeros
    ),
    public(
        "numpy.geomspace",
        (Operand((2,), domain=(-9, -3)), Operand((), domain=(-2, -1))),
        {"num": 4, "axis": -1, "endpoint": False},
        label="negative",
        scale=lambda a, b, **params: 27.0,
        special=False,
    ),
)
