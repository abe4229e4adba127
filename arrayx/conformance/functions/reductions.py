"""Rows of sums, products, extremes, means, deviations, and of those without nan."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx.conformance.case import (
    ANY,
    FLOATS,
    INEXACT,
    INTEGERS,
    NUMERIC,
    ORDERED,
    REAL,
    Case,
    Operand,
)
from arrayx.conformance.public import last_as, public, rows

MATRIX = ((3, 4),)
EMPTY = ((0, 3),)
CUBE = ((2, 3, 2),)
WHERE = Operand((3, 4), "bool", values=(1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 0))
WHERE_COLUMN = Operand((3, 1), "bool", values=(1, 0, 1))
NONE_TRUE = Operand((3, 4), "bool", values=(0,) * 12)
NANS = Operand((3, 4), values=(1, np.nan, 2, -3, 0.5, 1.5, np.nan, np.nan, -1, 2.5, -0.25, 3))
ROW_OF_NANS = Operand((2, 3), values=(np.nan, np.nan, np.nan, 1, np.nan, 2))
TIES = Operand((2, 4), values=(1, 3, 3, 2, -1, 0, -1, 5))
AXES: dict[str, dict[str, Any]] = {
    "": {},
    "axis": {"axis": 1},
    "negative": {"axis": -2},
    "axes": {"axis": (0, -1)},
    "keepdims": {"axis": 0, "keepdims": True},
    "all_keepdims": {"keepdims": True},
}
# How the elements are picked is the same for every dtype.
PICKED = {k: AXES[k] for k in ("negative", "axes", "keepdims", "all_keepdims")}
SOME = ("float64", "int8", "complex64")
# Factors whose product stays far from the limits of 8 bits.
FACTORS = (-1.3, 1.3)


def quiet(reference: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy without its warnings of means of nothing."""

    def call(*arrays: Any, **params: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return reference(*arrays, **params)

    return call


def _of_squares(x: Any, **params: Any) -> Any:
    # A distance from the mean is rounded relatively to the element, not to the distance.
    more = {k: v for k, v in params.items() if k in ("axis", "keepdims")}
    return quiet(np.nanmean)(np.abs(x) ** 2, **more) * 2


def _of_roots(x: Any, **params: Any) -> Any:
    # The same for the root: half the relative error of the variance.
    deviation = quiet(np.nanstd)(x, **params)
    return deviation + _of_squares(x, **params) / np.maximum(deviation, 1e-3)


def _column(values: Any) -> tuple[Operand, ...]:
    return (Operand((4, 3), values=values),)


CASES: tuple[Case, ...] = (
    # --------------------------------------------------------- sums and products
    *rows("numpy", "sum", MATRIX, {"": {}, "axis": {"axis": 1}}, dtypes=ANY, sums=True),
    *rows("numpy", "sum", MATRIX, PICKED, dtypes=SOME, sums=True),
    *rows(
        "numpy",
        "sum",
        MATRIX,
        {
            "no_axes": {"axis": ()},
            "initial": {"axis": 0, "initial": 2},
            "dtype": {"axis": 0, "dtype": "float32"},
        },
        dtypes=("float64", "int8", "float16"),
        sums=True,
        signed_zeros=False,
    ),
    *rows("numpy", "sum", MATRIX, {"bool_dtype": {"dtype": "bool"}}, dtypes=("int8", "bool")),
    *rows("numpy", "prod", MATRIX, {"": {}, "axis": {"axis": 1}}, dtypes=ANY, domain=FACTORS),
    *rows("numpy", "prod", MATRIX, PICKED, dtypes=SOME, domain=FACTORS),
    *rows(
        "numpy",
        "prod",
        MATRIX,
        {
            "no_axes": {"axis": ()},
            "initial": {"axis": 0, "initial": 2},
            "dtype": {"axis": 0, "dtype": "float32"},
        },
        dtypes=("float64", "int8", "float16"),
        domain=FACTORS,
    ),
    *rows(
        "numpy",
        "prod",
        (Operand((2, 3), values=(0.0, 2.0, 3.0, 0.0, 0.0, 5.0)),),
        {"zeros": {"axis": 1}},
        dtypes=FLOATS,
    ),
    *rows("numpy", "sum prod", EMPTY, {"none": {"axis": 0}}, dtypes=ANY),
    *rows("numpy", "sum prod", ((),), {"rank_0": {}, "rank_0_initial": {"initial": 3}}),
    *rows(
        "numpy",
        "sum",
        (MATRIX[0], WHERE),
        {"where": {"axis": 1}},
        sums=True,
        form=last_as("where"),
        dtypes=NUMERIC,
    ),
    *rows(
        "numpy",
        "prod",
        (MATRIX[0], WHERE),
        {"where": {"axis": 1}},
        domain=FACTORS,
        form=last_as("where"),
        dtypes=NUMERIC,
    ),
    *rows(
        "numpy",
        "sum prod",
        (MATRIX[0], WHERE_COLUMN),
        {"where_column": {"initial": 2}},
        domain=FACTORS,
        form=last_as("where"),
        dtypes=("float64", "int8"),
        sums=True,
    ),
    # --------------------------------------------------------- extremes
    *rows("numpy", "max=amax min=amin", MATRIX, {"": {}, "axis": {"axis": 1}}, dtypes=ORDERED),
    *rows("numpy", "max min", MATRIX, PICKED, dtypes=SOME[:2]),
    *rows("numpy", "max min", MATRIX, {"initial": {"axis": 0, "initial": 1}}, dtypes=REAL),
    *rows("numpy", "max min", (TIES,), {"ties": {"axis": 1}}, second_order=False, dtypes=FLOATS),
    *rows("numpy", "max min", EMPTY, {"none": {"axis": 0, "initial": 2}}, dtypes=REAL),
    *rows("numpy", "max min", ((),), {"rank_0": {}}, dtypes=REAL),
    *rows(
        "numpy",
        "max min",
        (MATRIX[0], WHERE),
        {"where": {"axis": 1, "initial": 0}},
        form=last_as("where"),
        dtypes=ORDERED,
    ),
    *rows("numpy", "ptp", MATRIX, {"": {}, "axis": {"axis": 1}}, dtypes=REAL),
    *rows("numpy", "ptp", MATRIX, PICKED, dtypes=SOME[:2]),
    # --------------------------------------------------------- means and deviations
    *rows(
        "numpy", "mean", MATRIX, {"": {}, "axis": {"axis": 1}}, dtypes=ANY, sums=True, promotes=True
    ),
    *rows("numpy", "mean", MATRIX, PICKED, dtypes=SOME, sums=True, promotes=True),
    *rows(
        "numpy", "mean", MATRIX, {"dtype": {"axis": 0, "dtype": "float32"}}, dtypes=REAL, sums=True
    ),
    *rows(
        "numpy",
        "mean",
        (MATRIX[0], WHERE),
        {"where": {"axis": 1}},
        dtypes=ANY,
        sums=True,
        form=last_as("where"),
        promotes=True,
    ),
    *(
        public(
            f"numpy.{name}",
            (MATRIX[0], NONE_TRUE),
            {"axis": 1},
            quiet(getattr(np, name)),
            form=last_as("where"),
            label="none_true",
        )
        for name in ("mean", "var", "std")
    ),
    *rows("numpy", "mean var std", ((),), {"rank_0": {}}),
    *rows(
        "numpy",
        "var",
        MATRIX,
        {"": {}, "axis": {"axis": 1}},
        dtypes=ANY,
        scale=_of_squares,
        promotes=True,
    ),
    *rows(
        "numpy",
        "std",
        MATRIX,
        {"": {}, "axis": {"axis": 1}},
        dtypes=ANY,
        scale=_of_roots,
        promotes=True,
    ),
    *rows(
        "numpy",
        "var",
        MATRIX,
        {**PICKED, "ddof": {"axis": 1, "ddof": 1.5}},
        dtypes=SOME,
        scale=_of_squares,
        promotes=True,
    ),
    *rows(
        "numpy",
        "std",
        MATRIX,
        {**PICKED, "ddof": {"axis": 1, "ddof": 1}},
        dtypes=SOME,
        scale=_of_roots,
        promotes=True,
    ),
    *rows(
        "numpy", "var", MATRIX, {"dtype": {"dtype": "float32"}}, dtypes=FLOATS, scale=_of_squares
    ),
    *rows("numpy", "var std", MATRIX, {"correction": {"axis": 1, "correction": 1}}),
    *rows(
        "numpy",
        "var std",
        (MATRIX[0], WHERE),
        {"where": {"axis": 1}},
        dtypes=ANY,
        form=last_as("where"),
        promotes=True,
    ),
    *rows("numpy", "var std", (MATRIX[0], (3, 1)), {"mean": {"axis": 1}}, form=last_as("mean")),
    *rows(
        "numpy",
        "average",
        MATRIX,
        {
            "": {},
            "axis": {"axis": 1},
            "axes": {"axis": (0, 1)},
            "keepdims": {"axis": 0, "keepdims": True},
            "returned": {"axis": 0, "returned": True},
        },
        dtypes=NUMERIC,
        sums=True,
        promotes=True,
    ),
    *rows(
        "numpy",
        "average",
        (MATRIX[0], Operand((3, 4), domain=(1.0, 3.0))),
        {
            "weights": {},
            "weights_axis": {"axis": 1},
            "weights_returned": {"axis": 0, "returned": True},
            "weights_keepdims": {"axis": 1, "keepdims": True},
        },
        form=last_as("weights"),
        dtypes=NUMERIC,
        domain=(-100.0, 100.0),  # products of which do not fit into 8 bits
        special=False,  # NumPy raises where weights add up to 0
        sums=True,
        promotes=True,
    ),
    *rows(
        "numpy",
        "average",
        (MATRIX[0], Operand((4,), domain=(1.0, 3.0))),
        {"vector": {"axis": 1}},
        form=last_as("weights"),
        dtypes=NUMERIC,
        domain=(-100.0, 100.0),  # products of which do not fit into 8 bits
        special=False,  # NumPy raises where weights add up to 0
        sums=True,
        promotes=True,
    ),
    # --------------------------------------------------------- without nan
    *rows(
        "numpy",
        "nansum",
        (NANS,),
        {"": {}, "axis": {"axis": 1}, "initial": {"initial": 2.0}},
        dtypes=INEXACT,
        sums=True,
    ),
    *rows(
        "numpy",
        "nanprod",
        (NANS,),
        {"": {}, "axis": {"axis": 1}, "initial": {"initial": 2.0}},
        dtypes=INEXACT,
    ),
    *rows(
        "numpy",
        "nanmax nanmin",
        (NANS,),
        {"": {}, "axis": {"axis": 1}, "keepdims": {"axis": 0, "keepdims": True}},
        dtypes=FLOATS,
    ),
    *rows(
        "numpy",
        "nanmean",
        (NANS,),
        {"": {}, "axis": {"axis": 1}, "keepdims": {"axis": 0, "keepdims": True}},
        dtypes=INEXACT,
        sums=True,
        reference=quiet(np.nanmean),
    ),
    *rows(
        "numpy",
        "nanvar",
        (NANS,),
        {
            "": {},
            "axis": {"axis": 1},
            "keepdims": {"axis": 0, "keepdims": True},
            "ddof": {"ddof": 1},
        },
        dtypes=INEXACT,
        scale=_of_squares,
        reference=quiet(np.nanvar),
    ),
    *rows(
        "numpy",
        "nanstd",
        (NANS,),
        {
            "": {},
            "axis": {"axis": 1},
            "keepdims": {"axis": 0, "keepdims": True},
            "ddof": {"ddof": 1},
        },
        dtypes=INEXACT,
        scale=_of_roots,
        reference=quiet(np.nanstd),
    ),
    *rows(
        "numpy",
        "nansum nanprod",
        MATRIX,
        {"exact": {"axis": 0}},
        dtypes=(*INTEGERS, "bool"),
        domain=FACTORS,
    ),
    *rows("numpy", "nanmax nanmin", MATRIX, {"exact": {"axis": 0}}, dtypes=(*INTEGERS, "bool")),
    *rows(
        "numpy",
        "nanmean nanvar nanstd",
        MATRIX,
        {"exact": {"axis": 0}},
        dtypes=(*INTEGERS, "bool"),
        promotes=True,
    ),
    *(
        public(
            f"numpy.{name}",
            (ROW_OF_NANS,),
            {"axis": 1},
            quiet(getattr(np, name)),
            INEXACT,
            label="row_of_nans",
        )
        for name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd")
    ),
    *(
        public(
            f"numpy.{name}",
            (ROW_OF_NANS,),
            {"axis": 1},
            quiet(getattr(np, name)),
            FLOATS,
            label="row_of_nans",
            signed_zeros=False,
        )
        for name in ("nanmax", "nanmin")
    ),
    *rows(
        "numpy",
        "nansum nanprod nanmean nanvar nanstd",
        (NANS, WHERE),
        {"where": {"axis": 1}},
        form=last_as("where"),
        dtypes=INEXACT,
    ),
    *rows(
        "numpy",
        "nanmax nanmin",
        (NANS, WHERE),
        {"where": {"axis": 1, "initial": 0.0}},
        form=last_as("where"),
    ),
)
