"""Rows of running sums and products, of differences and of integrals."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import ANY, FLOATS, INEXACT, INTEGERS, NUMERIC, Case, Operand
from arrayx.conformance.public import rows

MATRIX = ((3, 4),)
FACTORS = (-1.3, 1.3)
NANS = Operand((2, 3), values=(1, np.nan, 2, np.nan, 0.5, -3))
RISING = Operand((4,), values=(0.0, 0.5, 2.0, 2.5))
RISING_ROWS = Operand((3, 4), values=(0, 1, 3, 4, 1, 2, 4, 5, -1, 0, 1, 3))
AXES: dict[str, dict[str, Any]] = {"": {}, "axis": {"axis": 1}, "negative": {"axis": -2}}


def _of_differences(x: Any, n: int = 1, **params: Any) -> Any:
    # Each difference is rounded relatively to what it is a difference of.
    return np.max(np.abs(x), initial=0) * 2.0**n


def _of_slopes(x: Any, *places: Any, axis: Any = None, **params: Any) -> Any:
    # Four differences at most, over distances of at least a half.
    size = 8 * np.max(np.abs(x))
    return (size, size) if axis is None else size


def _around(function: Any, x: Any, before: Any, after: Any) -> Any:
    return function(x, prepend=before, append=after)


CASES: tuple[Case, ...] = (
    *rows("numpy", "cumsum", MATRIX, AXES, dtypes=ANY, sums=True),
    *rows("numpy", "cumprod", MATRIX, AXES, dtypes=ANY, domain=FACTORS),
    *rows("numpy", "cumsum", MATRIX, {"dtype": {"axis": 0, "dtype": "float32"}}, sums=True),
    *rows("numpy", "cumprod", MATRIX, {"dtype": {"axis": 0, "dtype": "float32"}}),
    *rows("numpy", "cumsum cumprod", ((0, 3),), {"none": {"axis": 0}}),
    *rows(
        "numpy",
        "cumprod",
        (Operand((5,), values=(2.0, 0.0, 3.0, 0.0, 5.0)),),
        {"zeros": {}},
        dtypes=FLOATS,
    ),
    *rows(
        "numpy",
        "cumulative_sum",
        MATRIX,
        {"": {"axis": 1}, "initial": {"axis": -1, "include_initial": True}},
        dtypes=NUMERIC,
        sums=True,
    ),
    *rows(
        "numpy",
        "cumulative_prod",
        MATRIX,
        {"": {"axis": 1}, "initial": {"axis": 0, "include_initial": True}},
        dtypes=NUMERIC,
        domain=FACTORS,
    ),
    *rows("numpy", "nancumsum", (NANS,), {"": {}, "axis": {"axis": 1}}, dtypes=INEXACT, sums=True),
    *rows("numpy", "nancumprod", (NANS,), {"": {}, "axis": {"axis": 1}}, dtypes=INEXACT),
    *rows(
        "numpy",
        "nancumsum nancumprod",
        MATRIX,
        {"exact": {"axis": 0}},
        dtypes=INTEGERS,
        domain=FACTORS,
    ),
    # --------------------------------------------------------- neighbours
    *rows(
        "numpy",
        "diff",
        MATRIX,
        {"": {}, "twice": {"n": 2}, "axis": {"axis": 0}, "zero": {"n": 0}, "many": {"n": 5}},
        dtypes=ANY,
        scale=_of_differences,
    ),
    *rows(
        "numpy",
        "diff",
        ((3, 4), (3, 1), (3, 2)),
        {"around": {}},
        form=_around,
        dtypes=NUMERIC,
        scale=lambda *arrays: max(np.max(np.abs(a)) for a in arrays),
    ),
    *rows("numpy", "diff", MATRIX, {"numbers": {"axis": 0, "prepend": 1, "append": 2}}),
    *rows("numpy", "ediff1d", MATRIX, dtypes=NUMERIC),
    *rows("numpy", "ediff1d", ((4,), (2,), ()), {"around": {}}, dtypes=NUMERIC),
    # --------------------------------------------------------- integrals and slopes
    *rows(
        "numpy",
        "trapezoid",
        MATRIX,
        {"": {}, "axis": {"axis": 0}, "dx": {"dx": 0.5}},
        dtypes=NUMERIC,
        sums=True,
        promotes=True,
    ),
    *rows("numpy", "trapezoid", ((3, 4), RISING), {"x": {}}, sums=True),
    *rows("numpy", "trapezoid", ((3, 4), RISING_ROWS), {"x_rows": {}}, sums=True),
    *rows("numpy", "trapezoid", ((4, 3), RISING), {"x_axis": {"axis": 0}}, sums=True),
    *rows("numpy", "gradient", ((4,),), dtypes=NUMERIC, promotes=True),
    *rows(
        "numpy",
        "gradient",
        MATRIX,
        {
            "axes": {},
            "axis": {"axis": -1},
            "two": {"axis": (1, 0)},
            "order": {"axis": 1, "edge_order": 1},
        },
    ),
    *rows("numpy", "gradient", ((3, 4), ()), {"distance": {}}, domain=(0.5, 2.0)),
    *rows("numpy", "gradient", ((3, 4), (), ()), {"distances": {}}, domain=(0.5, 2.0)),
    *rows("numpy", "gradient", ((2,), ()), {"two_points": {}}, domain=(0.5, 2.0)),
    *rows(
        "numpy",
        "gradient",
        ((3, 4), RISING),
        {"places": {"axis": 1}, "places_edges": {"axis": 1, "edge_order": 2}},
        scale=_of_slopes,
        special=False,  # nan where NumPy's form of the same sum has inf, or the other way round
    ),
    *rows(
        "numpy",
        "gradient",
        MATRIX,
        {"edges": {"edge_order": 2}},
        scale=_of_slopes,
        special=False,
    ),
)
