"""Rows of choosing elements, by a condition or by index, and of writing them at places."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import ANY, Operand
from arrayx.conformance.functions.shapes import FEW, STORED
from arrayx.conformance.public import public, variants

MATRIX = ((3, 4),)
BOOLS = Operand((2, 3), dtype="bool")
#: Zeros among other elements.
SPARSE = Operand((2, 3), values=np.array([0, 2, 0, 1, 3, 0]))
COUNTS = Operand((2, 3), dtype="int32", domain=(0, 1))
INSIDE = Operand((2, 2), dtype="int32", domain=(-3, 2))
OUTSIDE = Operand((2, 3), dtype="int32", values=np.array([0, 5, -1, -9, 2, 3]))


def chosen(function: Any, c: Any, d: Any, x: Any, y: Any, **params: Any) -> Any:
    """Calls `select` with two conditions and two choices."""
    return function([c, d], [x, y], **params)


def pieces(function: Any, x: Any) -> Any:
    """Calls `piecewise` with two conditions and three pieces."""
    return function(x, [x < -1, x > 1], [lambda v: v * v, 2.0, lambda v: -v])


def many(function: Any, which: Any, *choices: Any, **params: Any) -> Any:
    """Calls `choose` with its choices in a list."""
    return function(which, list(choices), **params)


def inserted(function: Any, x: Any, values: Any, *, obj: Any, axis: Any = None) -> Any:
    """Calls `insert` with its operands first and third."""
    return function(x, obj, values, axis)


def filling(value: Any) -> Any:
    """What NumPy takes of indices, with `value` (None: nan) for those outside."""

    def take(x: Any, indices: Any, axis: Any = None, **ignored: Any) -> Any:
        x, axis = (np.ravel(x), 0) if axis is None else (x, axis)
        n = x.shape[axis]
        outside = (indices < -n) | (indices >= n)
        found = np.take(x, np.where(outside, 0, indices), axis)
        axis %= x.ndim
        shape = (1,) * axis + outside.shape + (1,) * (x.ndim - axis - 1)
        return np.where(outside.reshape(shape), np.nan if value is None else value, found)

    return take


def found(x: Any, size: int, fill_value: Any = None) -> tuple[np.ndarray, ...]:
    """The indices that `np.nonzero` gives, cut off or continued to `size`."""
    indices = np.nonzero(x)
    fills = fill_value if isinstance(fill_value, tuple) else (fill_value or 0,) * len(indices)
    return tuple(sized(i, size, f) for i, f in zip(indices, fills, strict=True))


def sized(line: Any, size: int, fill_value: Any) -> Any:
    """The first `size` rows; what is missing is `fill_value`."""
    more = np.full((max(0, size - len(line)), *line.shape[1:]), fill_value, line.dtype)
    return np.concatenate([line, more])[:size]


def compressed(condition: Any, a: Any, axis: Any = None, *, size: int, fill_value: Any = 0) -> Any:
    """`np.compress` of fixed size."""
    axis, a = (0, np.ravel(a)) if axis is None else (axis, a)
    lines = np.moveaxis(np.compress(condition, a, axis), axis, 0)
    return np.moveaxis(sized(lines, size, fill_value), 0, axis)


SIZES: dict[str, dict[str, Any]] = {
    "less": {"size": 2},
    "more": {"size": 5},
    "none": {"size": 0},
    "filled": {"size": 5, "fill_value": 7},
}

CASES = (
    public("numpy.where", (BOOLS, (2, 3), (2, 3)), dtypes=STORED),
    public("numpy.where", (BOOLS, (3,), (2, 1)), dtypes=FEW, label="broadcast"),
    public("numpy.where", (BOOLS, (), ()), dtypes=FEW, label="rank_0"),
    public("numpy.where", (COUNTS, (2, 3), (2, 3)), dtypes=FEW, label="numbers"),
    *variants("numpy.where", (SPARSE,), SIZES, reference=found, dtypes=FEW, special=False),
    *variants("numpy.nonzero", (SPARSE,), SIZES, reference=found, dtypes=STORED, special=False),
    *variants(
        "numpy.nonzero",
        (SPARSE,),
        {"filled_each": {"size": 5, "fill_value": (4, 9)}},
        reference=found,
        dtypes=FEW,
        special=False,
    ),
    *variants(
        "numpy.flatnonzero",
        (SPARSE,),
        SIZES,
        reference=lambda x, **params: found(np.ravel(x), **params),
        dtypes=FEW,
        special=False,
    ),
    *variants(
        "numpy.argwhere",
        (SPARSE,),
        SIZES,
        reference=lambda x, **params: np.stack(found(x, **params), 1),
        dtypes=FEW,
        special=False,
    ),
    public(
        "numpy.nonzero",
        ((0, 2),),
        {"size": 1, "fill_value": 3},
        reference=found,
        dtypes=FEW,
        label="nothing",
    ),
    public("numpy.select", (BOOLS, BOOLS, (2, 3), (2, 3)), form=chosen, dtypes=ANY),
    public(
        "numpy.select",
        (BOOLS, Operand((3,), dtype="bool"), (2, 1), (3,)),
        {"default": 2},
        form=chosen,
        dtypes=("float64", "int32"),
        label="default",
    ),
    public("numpy.piecewise", ((2, 3),), form=pieces, dtypes=("float64", "float32", "int32")),
    *variants(
        "numpy.take",
        (MATRIX[0], INSIDE),
        {"flat": {}, "first": {"axis": 0}, "last": {"axis": -1}},
        dtypes=STORED,
    ),
    public("numpy.take", MATRIX, {"indices": -1, "axis": 1}, dtypes=FEW, label="one"),
    public("numpy.take", ((4,), Operand((0,), dtype="int32")), dtypes=FEW, label="nothing"),
    *variants(
        "numpy.take",
        (MATRIX[0], OUTSIDE),
        {
            "clip": {"axis": 1, "mode": "clip"},
            "wrap": {"axis": 1, "mode": "wrap"},
            "wrap_flat": {"mode": "wrap"},
        },
        dtypes=FEW,
    ),
    *variants(
        "numpy.take",
        (MATRIX[0], OUTSIDE),
        {"fill": {"axis": 1, "mode": "fill"}, "fill_flat": {"mode": "fill"}},
        reference=filling(None),
        dtypes=("float64", "float32", "bfloat16"),
    ),
    *variants(
        "numpy.take",
        (MATRIX[0], OUTSIDE),
        {"fill_value": {"axis": 0, "mode": "fill", "fill_value": 9}},
        reference=filling(9),
        dtypes=FEW[:-1],
    ),
    *variants(
        "numpy.take_along_axis",
        (MATRIX[0], Operand((3, 2), dtype="int32", domain=(-4, 3))),
        {"last": {"axis": 1}, "negative": {"axis": -1}},
        dtypes=STORED,
    ),
    public(
        "numpy.take_along_axis",
        (MATRIX[0], Operand((2, 1), dtype="uint8", domain=(0, 2))),
        {"axis": 0},
        dtypes=FEW,
        label="broadcast",
    ),
    public(
        "numpy.take_along_axis",
        (MATRIX[0], Operand((5,), dtype="int64", domain=(-12, 11))),
        {"axis": None},
        dtypes=FEW,
        label="flat",
    ),
    *variants(
        "numpy.compress",
        (Operand((3,), values=np.array([1, 0, 1]), dtype="bool"), MATRIX[0]),
        {
            "rows": {"size": 2, "axis": 0},
            "more": {"size": 3, "axis": 0, "fill_value": 7},
            "flat": {"size": 1},
        },
        reference=compressed,
        dtypes=FEW[:-1],
    ),
    *variants(
        "numpy.extract",
        (BOOLS, (2, 3)),
        {"": {"size": 3}, "filled": {"size": 5, "fill_value": 7}},
        reference=lambda c, x, size, fill_value=0: sized(x[c], size, fill_value),
        dtypes=FEW[:-1],
    ),
    public(
        "numpy.choose",
        (Operand((2, 3), dtype="int32", domain=(0, 2)), (2, 3), (3,), ()),
        {"mode": "clip"},
        form=many,
        dtypes=ANY,
    ),
    *variants(
        "numpy.choose",
        (Operand((3,), dtype="int32", domain=(0, 2)), (3,), (3,), (3,)),
        {"raise": {}, "wrap": {"mode": "wrap"}},
        form=many,
        dtypes=FEW,
    ),
    public(
        "numpy.choose",
        (Operand((4,), dtype="int32", values=np.array([-5, 7, 1, 2])), (4,), (4,)),
        {"mode": "wrap"},
        form=many,
        dtypes=FEW,
        label="outside",
    ),
    public(
        "numpy.delete",
        MATRIX,
        {"obj": 1},
        dtypes=STORED,
    ),
    *variants(
        "numpy.delete",
        MATRIX,
        {
            "last": {"obj": -1, "axis": 1},
            "slice": {"obj": slice(None, None, 2), "axis": 0},
            "several": {"obj": (0, -1, 0), "axis": 1},
            "mask": {"obj": np.array([True, False, True]), "axis": 0},
            "none": {"obj": np.zeros(0, int), "axis": 0},
        },
        dtypes=FEW,
    ),
    public("numpy.insert", ((2, 3), ()), dtypes=STORED, form=inserted, params={"obj": 1}),
    *variants(
        "numpy.insert",
        ((2, 3), (2,)),
        {
            "column": {"obj": 1, "axis": 1},
            "columns": {"obj": (0, 3), "axis": -1},
            "flat": {"obj": (2, 2)},
            "slice": {"obj": slice(0, 2)},
        },
        form=inserted,
        dtypes=FEW,
    ),
    public(
        "numpy.insert",
        ((2, 3), (2, 3)),
        {"obj": (1,), "axis": 0},
        form=inserted,
        dtypes=FEW,
        label="rows",
    ),
)
