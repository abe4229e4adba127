"""Rows of counts, covariances and correlations."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import FLOATS, INEXACT, INTEGERS, NUMERIC, REAL, Case, Operand
from arrayx.conformance.public import last_as, rows

NUMBERS = Operand((6,), values=(0, 2, 2, 5, 1, 2))
# Exact in 16 bits; none on an edge, where counts jump, but for the least and the largest, which
# are the outer edges.
VALUES = Operand((8,), values=(0.0, 0.5, 0.875, 1.5, 1.875, 2.25, 4.0, 1.25))
OTHERS = Operand((8,), values=(0.875, 0.625, 0.0, 2.0, 1.625, 0.25, 0.75, 1.875))
EDGES = Operand((4,), values=(-0.5, 1.0, 2.0, 4.5))
POINTS = Operand((4, 2), values=(0.0, 1.125, 0.625, 2.0, 1.125, 0.0, 2.0, 1.875))
WHOLE = Operand((8,), values=(0, 1, 2, 3, 4, 1, 5, 0))
WHOLE_EDGES = Operand((4,), values=(0, 1, 2, 4))
WEIGHTS = Operand((8,), domain=(0.5, 2.0))
MATRIX = ((2, 5),)
COUNTS = Operand((5,), "int32", values=(1, 2, 1, 3, 1))
AMOUNTS = Operand((5,), domain=(0.5, 2.0))
COUNTED: dict[str, Any] = {"special": False}  # nan has no place


def fixed(function: Any, *operands: Any, **params: Any) -> Any:
    """A form of call: the length is fixed, so that bincount can be traced."""
    length = "minlength" if function is np.bincount else "length"
    return function(*operands, **{length: 6}, **params)


def _of_products(*arrays: Any, **params: Any) -> Any:
    # Products of distances from the mean, each rounded relatively to the element.
    return 8 * max(np.max(np.abs(a)) for a in arrays) ** 2


def weighted(function: Any, m: Any, counts: Any, amounts: Any, **params: Any) -> Any:
    """A form of call: both weights of cov."""
    return function(m, fweights=counts, aweights=amounts, **params)


CASES: tuple[Case, ...] = (
    *rows("numpy", "bincount", (NUMBERS,), form=fixed, dtypes=INTEGERS),
    *rows(
        "numpy",
        "bincount",
        (Operand((6,), "int32", values=NUMBERS.values), (6,)),
        {"weights": {}},
        form=fixed,
        sums=True,
    ),
    # --------------------------------------------------------- histograms
    *rows(
        "numpy",
        "histogram_bin_edges",
        (VALUES,),
        {"": {}, "range": {"bins": 4, "range": (0.25, 3.25)}},
        dtypes=REAL,
        promotes=True,
        special=False,
    ),
    *rows(
        "numpy",
        "histogram",
        (VALUES,),
        {
            "": {"bins": 4},
            "range": {"bins": 4, "range": (0.25, 3.25)},
            "density": {"bins": 4, "density": True},
        },
        dtypes=FLOATS,
        **COUNTED,
    ),
    *rows("numpy", "histogram", (VALUES, EDGES), {"edges": {}}, dtypes=FLOATS, **COUNTED),
    *rows(
        "numpy",
        "histogram",
        (WHOLE, WHOLE_EDGES),
        {"on_edges": {}, "on_edges_density": {"density": True}},
        dtypes=INTEGERS,
        promotes=True,
    ),
    *rows(
        "numpy",
        "histogram",
        (VALUES, WEIGHTS),
        {"weights": {"bins": 4, "range": (-1, 7)}},
        form=last_as("weights"),
        sums=True,
        special=False,
    ),
    *rows(
        "numpy",
        "histogram2d",
        (VALUES, OTHERS),
        {
            "": {"bins": 2},
            "two": {"bins": (2, 4)},
            "range": {"bins": 2, "range": ((-1, 5), (-1, 3))},
            "density": {"bins": 2, "density": True},
        },
        **COUNTED,
    ),
    *rows(
        "numpy",
        "histogram2d",
        (VALUES, OTHERS, WEIGHTS),
        {"weights": {"bins": 2, "range": ((-1, 5), (-1, 3))}},
        form=last_as("weights"),
        sums=True,
        special=False,
    ),
    *rows(
        "numpy",
        "histogramdd",
        (POINTS,),
        {"": {"bins": 2}, "density": {"bins": (2, 4), "density": True}},
        **COUNTED,
    ),
    # --------------------------------------------------------- together
    *rows(
        "numpy",
        "cov",
        MATRIX,
        {"": {}, "bias": {"bias": True}, "ddof": {"ddof": 2}, "columns": {"rowvar": False}},
        dtypes=INEXACT,
        scale=_of_products,
    ),
    *rows(
        "numpy", "cov", MATRIX, {"exact": {}}, dtypes=INTEGERS, promotes=True, scale=_of_products
    ),
    *rows("numpy", "cov", ((5,), (5,)), {"two": {}}, dtypes=INEXACT, scale=_of_products),
    *rows("numpy", "cov", ((5,),), {"vector": {}}, dtypes=INEXACT, scale=_of_products),
    *rows(
        "numpy",
        "cov",
        (MATRIX[0], AMOUNTS),
        {"aweights": {}},
        form=last_as("aweights"),
        scale=_of_products,
        special=False,
    ),
    *rows(
        "numpy",
        "cov",
        (MATRIX[0], COUNTS),
        {"fweights": {}},
        form=last_as("fweights"),
        scale=_of_products,
    ),
    *rows(
        "numpy",
        "cov",
        (MATRIX[0], COUNTS, AMOUNTS),
        {"weights": {}},
        form=weighted,
        scale=_of_products,
        special=False,
    ),
    *rows("numpy", "corrcoef", MATRIX, dtypes=NUMERIC, promotes=True, scale=lambda x: 8.0),
    *rows("numpy", "corrcoef", ((5,), (5,)), {"two": {}}, dtypes=INEXACT, scale=lambda x, y: 8.0),
)
