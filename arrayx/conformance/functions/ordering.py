"""Rows of sorting, searching and quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import ANY, FLOATS, NUMERIC, ORDERED, REAL, Case, Operand
from arrayx.conformance.functions.shapes import FEW, NARROW
from arrayx.conformance.public import each, listed, public, variants

MATRIX = ((3, 4),)
#: Elements of few values, so that there are ties.
TIES = (Operand((2, 7), values=np.array([2, 0, 1, 2, 0, 1, 2, 1, 1, 0, 2, 2, 0, 1])),)
AXES: dict[str, dict[str, Any]] = {
    "": {},
    "flat": {"axis": None},
    "first": {"axis": 0},
    "negative": {"axis": -2},
}


def stably(name: str) -> Any:
    """NumPy's function, with equal elements in their order, and the way down as well.

    Down stands what is largest first, and nan before all; equal elements keep their order.
    """
    function = getattr(np, name)

    def ordered(a: Any, axis: Any = -1, descending: bool = False, **ignored: Any) -> Any:
        if not descending:
            return function(a, axis=axis, kind="stable")
        a, axis = (np.ravel(a), 0) if axis is None else (a, axis)
        turned = np.flip(a, axis)
        order = a.shape[axis] - 1 - np.flip(np.argsort(turned, axis=axis, kind="stable"), axis)
        return order if name == "argsort" else np.take_along_axis(a, order, axis)

    return ordered


def searched(name: str) -> Any:
    """Calls `searchsorted` or `digitize` with a sorted line."""

    def search(function: Any, line: Any, wanted: Any, **params: Any) -> Any:
        return (
            function(line, wanted, **params)
            if name == "searchsorted"
            else function(wanted, line, **params)
        )

    return search


def largest(x: Any, *rest: Any, **params: Any) -> Any:
    """What a number between two elements is accurate relatively to."""
    return np.nanmax(np.abs(x))


def quantiles() -> tuple[Case, ...]:
    """The six functions that rest on quantiles."""
    rows: list[Case] = []
    for name in ("median", "nanmedian"):
        rows += variants(
            f"numpy.{name}",
            MATRIX,
            {
                "": {},
                "axis": {"axis": 1},
                "axes": {"axis": (0, -1)},
                "kept": {"axis": 0, "keepdims": True},
            },
            dtypes=(*FLOATS, "int32", "int64", "uint8"),
            scale=largest,
            signed_zeros=False,  # the mean of 0.0 and -0.0, which are equal, is either
        )
    for name, q in (("quantile", (0.0, 0.3, 1.0)), ("percentile", (0, 30.0, 100))):
        for full in (name, f"nan{name}"):
            kinds: tuple[tuple[bool, dict[str, dict[str, Any]]], ...] = (
                (
                    False,
                    {"one": {"q": q[1]}, "axes": {"q": q[1], "axis": (0, 1), "keepdims": True}},
                ),
                (
                    True,
                    {
                        "several": {"q": np.array(q), "axis": -1},
                        "first": {"q": np.array([q]), "axis": 0, "keepdims": True},
                    },
                ),
            )
            for exact, choices in kinds:
                rows += variants(
                    f"numpy.{full}",
                    MATRIX,
                    choices,
                    dtypes=(*FLOATS, "int32", "int64"),
                    # The place between two elements is a product of q and their number.
                    scale=lambda x, **params: 12 * np.nanmax(np.abs(x)),
                    # NumPy makes nan of an infinity that is itself the quantile.
                    special=not exact,
                    signed_zeros=False,
                )
            rows += variants(
                f"numpy.{full}",
                ((5,),),
                {
                    method: {"q": q[1], "method": method}
                    for method in ("lower", "higher", "midpoint", "nearest")
                },
                scale=largest,
                signed_zeros=False,  # 0.0 and -0.0 are equal, so either comes first
            )
    return tuple(rows)


CASES = (
    *variants(
        "numpy.sort",
        MATRIX,
        AXES,
        reference=stably("sort"),
        dtypes=(*ORDERED, "complex64", "complex128"),
    ),
    *variants("numpy.argsort", MATRIX, AXES, reference=stably("argsort"), dtypes=ANY),
    *(
        row
        for name in ("sort", "argsort")
        for row in variants(
            f"numpy.{name}",
            TIES,
            {
                "ties": {"stable": True},
                "down": {"descending": True},
                "down_first": {"descending": True, "axis": 0},
                "down_flat": {"descending": True, "axis": None},
            },
            reference=stably(name),
            dtypes=NARROW,
        )
    ),
    *each("sort argsort", ((2, 0),), dtypes=FEW, label="nothing"),
    *each("sort argsort", ((),), {"axis": None}, dtypes=FEW, label="rank_0"),
    *variants(
        "numpy.partition",
        MATRIX,
        {"": {"kth": 1}, "flat": {"kth": 5, "axis": None}, "several": {"kth": (0, -1), "axis": 0}},
        reference=lambda a, kth, axis=-1: np.sort(a, axis=axis, kind="stable"),
        dtypes=FEW,
    ),
    *variants(
        "numpy.argpartition",
        MATRIX,
        {"": {"kth": 1}, "flat": {"kth": 5, "axis": None}, "first": {"kth": -1, "axis": 0}},
        reference=lambda a, kth, axis=-1: np.argsort(a, axis=axis, kind="stable"),
        dtypes=FEW,
    ),
    public("numpy.sort_complex", ((2, 3),), dtypes=NUMERIC),
    public("numpy.lexsort", ((4,), (4,)), form=listed, dtypes=ORDERED),
    public(
        "numpy.lexsort",
        (Operand((2, 4), domain=(0, 2), dtype="int32"), (2, 4)),
        {"axis": 0},
        form=listed,
        dtypes=("float64", "int8"),
        label="axis",
    ),
    public("numpy.lexsort", ((3, 4),), dtypes=FEW, label="array"),
    *(
        row
        for name in ("argmax", "argmin", "nanargmax", "nanargmin")
        for row in (
            *variants(
                f"numpy.{name}",
                MATRIX,
                {
                    "": {},
                    "axis": {"axis": -1},
                    "kept": {"axis": 0, "keepdims": True},
                    "all_kept": {"keepdims": True},
                },
                dtypes=ORDERED if name.startswith("arg") else REAL,
            ),
            public(f"numpy.{name}", TIES, {"axis": 1}, dtypes=("float64", "int8"), label="ties"),
        )
    ),
    *each("argmax argmin", ((),), label="rank_0"),
    *(
        public(
            f"numpy.{name}",
            (Operand((7,), values=np.array([-2, -1, -1, 0, 0, 1, 2])), (2, 5)),
            params,
            form=searched(name),
            dtypes=("float64", "float32", "bfloat16", "float16", "int32", "int8", "int64"),
            label=label,
            differentiable=(1,),  # a line with ties would not stay sorted
            special=False,  # nor be sorted
        )
        for name, label, params in (
            ("searchsorted", "left", {"side": "left"}),
            ("searchsorted", "right", {"side": "right"}),
            ("digitize", "", {}),
            ("digitize", "right", {"right": True}),
        )
    ),
    public(
        "numpy.searchsorted",
        (
            Operand((5,), values=np.array([2, -2, 1, 0, -1])),
            (3,),
            Operand((5,), dtype="int32", values=np.array([1, 4, 3, 2, 0])),
        ),
        form=lambda f, line, wanted, order: f(line, wanted, sorter=order),
        dtypes=("float64", "int32"),
        label="sorter",
        special=False,
    ),
    *variants(
        "numpy.searchsorted",
        (
            Operand((5,), values=np.array([-np.inf, 0.0, 1.0, np.nan, np.nan])),
            Operand((5,), values=np.array([np.nan, np.inf, -np.inf, -0.0, 1.0])),
        ),
        {"nan_left": {}, "nan_right": {"side": "right"}},
        special=False,
    ),
    public("numpy.searchsorted", ((0,), (2,)), label="nothing"),
    public(
        "numpy.searchsorted",
        (Operand((4,), values=np.arange(4)), ()),
        label="rank_0",
        special=False,
    ),
    public(
        "numpy.digitize",
        ((2, 3), Operand((4,), values=np.array([2, 1, 0, -2]))),
        dtypes=("float64", "int32"),
        label="falling",
        special=False,
    ),
    *quantiles(),
    # More elements than 16 bits can number.
    public("numpy.quantile", ((600,),), {"q": 0.3}, scale=largest, label="long", special=False),
    public("numpy.median", ((301,),), scale=largest, label="long", special=False),
)
