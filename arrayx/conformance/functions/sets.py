"""Rows of arrays as sets, with the sizes that compiled code needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import ANY, Operand
from arrayx.conformance.functions.selection import sized
from arrayx.conformance.functions.shapes import FEW, NARROW
from arrayx.conformance.public import each, public, variants

#: Elements of few values, in each dtype but bool.
X = Operand((2, 3), values=np.array([3, 1, 2, 1, 3, 3]))
Y = Operand((4,), values=np.array([2, 5, 1, 5]))
TABLE = Operand((4, 2), values=np.array([2, 1, 0, 1, 2, 1, 2, 0]))
WITH_NAN = Operand((6,), values=np.array([np.nan, 1, np.nan, np.inf, 1, -np.inf]))
FLOATING = ("float32", "bfloat16", "float16")


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    size: int,
    fill_value: Any = None,
) -> Any:
    """`np.unique` of fixed size: what is missing is the smallest, or `fill_value`."""
    values, index, inverse, counts = np.unique(ar, True, True, True, axis=axis, equal_nan=equal_nan)
    lines = values if axis is None else np.moveaxis(values, axis, 0)
    lines = sized(lines, size, lines[0] if fill_value is None else fill_value)
    values = lines if axis is None else np.moveaxis(lines, 0, axis)
    others = sized(index, size, index[0]), inverse, sized(counts, size, 0)
    wanted = (return_index, return_inverse, return_counts)
    return (values, *(o for o, w in zip(others, wanted, strict=True) if w))


def everything(x: Any, *, size: int, fill_value: Any = None) -> Any:
    """What `unique_all` gives; each nan is an element of its own."""
    return unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value)


def only(*which: int) -> Any:
    """Some of what `unique_all` gives."""
    return lambda x, **params: tuple(everything(x, **params)[i] for i in which)


def of_size(name: str, smallest: bool = False) -> Any:
    """NumPy's function of two sets, of fixed size."""

    def function(x: Any, y: Any, *, size: int, fill_value: Any = None) -> Any:
        found = getattr(np, name)(x, y)
        filler = found[0] if smallest and len(found) else 0
        return sized(found, size, filler if fill_value is None else fill_value)

    return function


def shared(x: Any, y: Any, *, return_indices: bool, size: int) -> Any:
    """`np.intersect1d` with indices, of fixed size."""
    values, first, second = np.intersect1d(x, y, return_indices=True)
    return (
        sized(values, size, values[0]),
        sized(first, size, np.size(x)),
        sized(second, size, np.size(y)),
    )


SIZES: dict[str, dict[str, Any]] = {
    "exact": {"size": 3},
    "less": {"size": 1},
    "more": {"size": 5},
    "filled": {"size": 5, "fill_value": 7},
}
#: Without those in which derivatives are compared with differences: equal elements have several.
NUMBERS = tuple(d for d in ANY if d not in ("bool", "float64", "complex128"))
WIDE = ("float64", "complex128")

CASES = (
    *variants("numpy.unique", (X,), SIZES, reference=unique, dtypes=NUMBERS, special=False),
    *variants(
        "numpy.unique",
        (X,),
        {
            "all": {
                "return_index": True,
                "return_inverse": True,
                "return_counts": True,
                "size": 4,
            },
            "counts": {"return_counts": True, "size": 2, "fill_value": 9},
        },
        reference=unique,
        dtypes=NARROW,
        special=False,
    ),
    *variants(
        "numpy.unique",
        (TABLE,),
        {
            "rows": {"axis": 0, "size": 3, "return_index": True, "return_inverse": True},
            "columns": {"axis": -1, "size": 2, "return_counts": True},
            "more_rows": {"axis": 0, "size": 5, "fill_value": 3},
        },
        reference=unique,
        dtypes=("float32", "int8"),
        special=False,
    ),
    *variants(
        "numpy.unique",
        (WITH_NAN,),
        {
            "nan": {"size": 4, "return_inverse": True, "return_counts": True},
            "each_nan": {"size": 5, "equal_nan": False, "return_counts": True},
        },
        reference=unique,
        dtypes=FLOATING,
        special=False,
    ),
    public("numpy.unique", ((2, 3),), {"size": 7}, unique, WIDE, label="distinct"),
    public(
        "numpy.unique",
        ((3, 2),),
        {"size": 4, "axis": 0, "return_counts": True},
        unique,
        ("float64",),
        label="distinct_rows",
        special=False,
    ),
    public(
        "numpy.unique_values", ((5,),), {"size": 4}, only(0), WIDE, label="distinct", special=False
    ),
    *(
        public(
            f"numpy.{name}",
            ((2, 3), (4,)),
            {"size": size},
            of_size(name, smallest),
            WIDE,
            label="distinct",
            special=False,
        )
        for name, size, smallest in (
            ("union1d", 10, True),
            ("setdiff1d", 6, False),
            ("setxor1d", 10, True),
        )
    ),
    public("numpy.unique", (X,), {"size": 2}, reference=unique, dtypes=("bool",), label="bool"),
    public("numpy.unique_all", (X,), {"size": 4}, everything, dtypes=NUMBERS, special=False),
    public("numpy.unique_counts", (X,), {"size": 4}, only(0, 3), dtypes=NARROW, special=False),
    public("numpy.unique_inverse", (X,), {"size": 3}, only(0, 2), dtypes=NARROW, special=False),
    public("numpy.unique_values", (X,), {"size": 2}, only(0), dtypes=NARROW, special=False),
    public(
        "numpy.unique_counts",
        (WITH_NAN,),
        {"size": 5},
        only(0, 3),
        dtypes=FLOATING,
        label="nan",
        special=False,
    ),
    *variants(
        "numpy.isin",
        (X, Y),
        {
            "": {},
            "not": {"invert": True},
            "unique": {"assume_unique": True},
        },
        reference=lambda x, y, **params: np.isin(x, y, **{**params, "assume_unique": False}),
        dtypes=ANY,
    ),
    *variants(
        "numpy.isin",
        (X, Y),
        {m: {"method": m} for m in ("compare_all", "binary_search", "sort")},
        reference=lambda x, y, method: np.isin(x, y),
        dtypes=FEW,
    ),
    public("numpy.isin", (X, Operand((0,))), dtypes=FEW, label="nothing"),
    public("numpy.isin", ((2, 3), (40,)), dtypes=FEW, label="many"),
    *(
        row
        for name, smallest in (
            ("union1d", True),
            ("setdiff1d", False),
            ("setxor1d", True),
            ("intersect1d", True),
        )
        for row in variants(
            f"numpy.{name}",
            (X, Y),
            SIZES,
            reference=of_size(name, smallest),
            dtypes=NUMBERS if name == "union1d" else NARROW,
            special=False,
        )
    ),
    *each(
        "union1d setxor1d",
        (X, Operand((0,))),
        {"size": 3},
        dtypes=NARROW,
        label="nothing",
        reference=lambda x, y, size: np.unique(x),
        special=False,
    ),
    *(
        public(
            f"numpy.{name}",
            (WITH_NAN, Operand((3,), values=np.array([np.nan, 0, np.inf]))),
            {"size": size},
            reference=of_size(name, smallest),
            dtypes=FLOATING,
            label="nan",
            special=False,
        )
        for name, size, smallest in (
            ("union1d", 6, True),
            ("setdiff1d", 4, False),
            ("setxor1d", 5, True),
            ("intersect1d", 1, True),
        )
    ),
    public(
        "numpy.intersect1d",
        (X, Y),
        {"return_indices": True, "size": 3},
        reference=shared,
        dtypes=NARROW,
        label="indices",
        special=False,
    ),
)
