"""Rows of comparisons, logical and bitwise functions, and questions about numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import (
    ANY,
    FLOATS,
    INTEGERS,
    LOGICAL,
    ORDERED,
    Case,
    Operand,
)
from arrayx.conformance.public import public, rows

ONE = ((2, 3),)
TWO = ((2, 3), (2, 3))
BROADCAST = ((3, 1), (4,))
MIXED = ((2, 3), Operand((3,), "int8", (0.0, 2.0)))
# Few numbers, so that some are equal; and 0, which is false.
FEW = (0.0, 2.0)
VALUES = (0.0, 1.0, 1.0 + 1e-6, -2.0, 5.0, 0.0)
NEAR = Operand((2, 3), values=VALUES)
ALIKE = Operand((2, 3), values=VALUES)
NANS = Operand((2, 3), values=(0.0, np.nan, np.inf, -np.inf, 5.0, 0.0))
SHIFTS = Operand((2, 3), values=(0, 1, 2, 3, 4, 5))
FAR = Operand((2, 3), values=(7, 8, 16, 31, 32, 64))


def shifted(left: bool) -> Any:
    """Shifts as Python's integers know them, cut to the dtype: all bits may go."""

    def reference(x: Any, places: Any) -> Any:
        out = [int(a) << int(n) if left else int(a) >> int(n) for a, n in zip(x.flat, places.flat)]
        mask = (1 << 8 * x.dtype.itemsize) - 1
        unsigned = np.array([v & mask for v in out], np.uint64)
        return unsigned.astype(x.dtype).reshape(x.shape)

    return reference


CASES: tuple[Case, ...] = (
    # --------------------------------------------------------- comparisons
    *rows("numpy", "equal not_equal", TWO, dtypes=ANY, domain=FEW, elementwise=True),
    *rows(
        "numpy",
        "less less_equal greater greater_equal",
        TWO,
        dtypes=ANY,
        domain=FEW,
        elementwise=True,
    ),
    *rows(
        "numpy",
        "equal not_equal less less_equal greater greater_equal",
        BROADCAST,
        {"broadcast": {}},
        dtypes=("float64", "int8"),
        domain=FEW,
    ),
    *rows(
        "numpy",
        "equal less logical_and logical_xor",
        MIXED,
        {"mixed": {}},
        dtypes=("float64", "bool"),
        domain=FEW,
    ),
    # --------------------------------------------------------- truth
    *rows(
        "numpy",
        "logical_and logical_or logical_xor",
        TWO,
        dtypes=ANY,
        domain=FEW,
        elementwise=True,
    ),
    *rows("numpy", "logical_not", ONE, dtypes=ANY, domain=FEW, elementwise=True),
    # --------------------------------------------------------- bits
    *rows("numpy", "invert=bitwise_not=bitwise_invert", ONE, dtypes=LOGICAL, elementwise=True),
    *rows("numpy", "bitwise_and bitwise_or bitwise_xor", TWO, dtypes=LOGICAL, elementwise=True),
    *rows(
        "numpy",
        "bitwise_and bitwise_or bitwise_xor",
        BROADCAST,
        {"broadcast": {}},
        dtypes=("int32", "bool"),
    ),
    *rows("numpy", "bitwise_count", ONE, dtypes=LOGICAL, domain=(-128, 128), elementwise=True),
    public(
        "numpy.left_shift",
        ((2, 3), SHIFTS),
        reference=shifted(True),
        dtypes=INTEGERS,
        covers=("numpy.bitwise_left_shift",),
    ),
    public(
        "numpy.left_shift", ((2, 3), FAR), reference=shifted(True), dtypes=INTEGERS, label="far"
    ),
    public(
        "numpy.right_shift",
        ((2, 3), SHIFTS),
        reference=shifted(False),
        dtypes=INTEGERS,
        domain=(-128, 128),
        covers=("numpy.bitwise_right_shift",),
    ),
    public(
        "numpy.right_shift",
        ((2, 3), FAR),
        reference=shifted(False),
        dtypes=INTEGERS,
        domain=(-128, 128),
        label="far",
    ),
    # --------------------------------------------------------- questions
    *rows("numpy", "isnan isfinite isinf", ONE, dtypes=ANY, elementwise=True),
    *rows("numpy", "isposinf isneginf signbit", ONE, dtypes=ORDERED, elementwise=True),
    *rows("numpy", "iscomplex isreal", ONE, dtypes=ANY, elementwise=True),
    *rows("numpy", "isclose", (NEAR, ALIKE), dtypes=ANY),
    *rows("numpy", "isclose", TWO, {"drawn": {}}, dtypes=FLOATS, elementwise=True),
    *rows(
        "numpy",
        "isclose allclose array_equal",
        (NANS, NANS),
        {"nan": {}, "equal_nan": {"equal_nan": True}},
        dtypes=FLOATS,
    ),
    *rows(
        "numpy",
        "isclose allclose",
        (NEAR, Operand((3,), values=(0.1, 1.1, 1.0))),
        {"tolerance": {"rtol": 0.0, "atol": 0.15}},
        dtypes=("float64", "int32"),
    ),
    *rows("numpy", "allclose array_equal array_equiv", (NEAR, ALIKE), dtypes=ANY),
    *rows("numpy", "allclose array_equal array_equiv", TWO, {"unlike": {}}, dtypes=ANY),
    *rows("numpy", "array_equal array_equiv", ((2, 3), (3,)), {"shapes": {}}, dtypes=ANY),
    *rows("numpy", "allclose array_equal array_equiv", ((0, 3), (0, 3)), {"none": {}}),
    # --------------------------------------------------------- of whole arrays
    *rows(
        "numpy",
        "all any count_nonzero",
        ((3, 4),),
        {
            "": {},
            "axis": {"axis": 1},
            "axes": {"axis": (0, -1)},
            "keepdims": {"axis": -1, "keepdims": True},
        },
        dtypes=ANY,
        domain=FEW,
    ),
    *rows("numpy", "all any", ((3, 4),), {"no_axes": {"axis": ()}}, dtypes=ANY, domain=FEW),
    *rows("numpy", "all any count_nonzero", ((0, 3),), {"none": {"axis": 0}}, dtypes=ANY),
    *rows("numpy", "all any count_nonzero", ((),), {"rank_0": {}}, dtypes=ANY),
)
