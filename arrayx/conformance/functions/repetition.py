"""Rows of functions that repeat, turn and pad."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import NUMERIC, ORDERED, REAL, Case, Operand
from arrayx.conformance.functions.shapes import FEW, STORED
from arrayx.conformance.public import each, public, variants

VECTOR = ((4,),)
MATRIX = ((2, 3),)


def padded(function: Any, *operands: Any, **params: Any) -> Any:
    """Calls `pad`, whose constants may be a second operand."""
    array, *rest = operands
    return function(array, **params, **({"constant_values": rest[0]} if rest else {}))


def repeated(x: Any, repeats: Any, axis: Any = None, *, total_repeat_length: int) -> Any:
    """NumPy's repetition, cut off or continued with the last element of `x`."""
    line = np.repeat(x, repeats, axis)
    last = np.take(np.ravel(x) if axis is None else x, [-1], axis or 0)
    more = np.repeat(last, total_repeat_length, axis or 0)
    whole = np.concatenate([line, more], axis or 0)
    return np.take(whole, np.arange(total_repeat_length), axis or 0)


def outside_added(vector: Any, width: Any, axis: Any, options: Any) -> Any:
    """What `pad` applies to every vector: the sum of its ends before and behind it."""
    low, high = width
    inner = vector[low : len(vector) - high] if high else vector[low:]
    ends = inner[0] + inner[-1]
    if isinstance(vector, np.ndarray):
        vector[:low], vector[len(vector) - high :] = ends, ends
        return vector
    return vector.at[:low].set(ends).at[len(vector) - high :].set(ends)


WIDTHS: dict[str, Any] = {
    "each": {"pad_width": ((1, 2), (0, 4))},
    "far": {"pad_width": ((0, 5), (9, 0))},
}
#: What a mode takes besides its name.
OPTIONS: dict[str, dict[str, Any]] = {
    "edge": {},
    "reflect": {},
    "symmetric": {},
    "wrap": {},
    "maximum": {},
    "minimum": {},
    "mean": {},
    "median": {},
    "linear_ramp": {"end_values": 2},
}
MORE: dict[str, dict[str, Any]] = {
    "reflect_odd": {"mode": "reflect", "reflect_type": "odd"},
    "reflect_odd_far": {"mode": "reflect", "reflect_type": "odd", "pad_width": ((7, 9), (5, 4))},
    "symmetric_odd_far": {
        "mode": "symmetric",
        "reflect_type": "odd",
        "pad_width": ((7, 9), (5, 4)),
    },
    "symmetric_odd": {"mode": "symmetric", "reflect_type": "odd"},
    "maximum_of_2": {"mode": "maximum", "stat_length": 2},
    "minimum_of_each": {"mode": "minimum", "stat_length": ((1, 2), (2, 9))},
    "mean_of_pair": {"mode": "mean", "stat_length": (1, 2)},
    "median_of_2": {"mode": "median", "stat_length": 2},
    "linear_ramp_of_each": {"mode": "linear_ramp", "end_values": ((1, 2), (3, -2))},
    "constant_of_pair": {"mode": "constant", "constant_values": (1, 2)},
    "constant_of_each": {"mode": "constant", "constant_values": ((1, 2), (3, 4))},
}


def paddings() -> tuple[Case, ...]:
    """Every mode of `pad`, in the dtypes that it has a meaning for."""
    rows: list[Case] = []
    for mode, options in OPTIONS.items():
        computed = mode in ("mean", "median", "linear_ramp")
        dtypes: tuple[str, ...] = STORED if mode == "edge" else NUMERIC if computed else ORDERED
        if mode in ("reflect", "symmetric", "wrap"):
            dtypes = FEW
        if mode == "median":
            dtypes = REAL
        if mode == "linear_ramp":
            dtypes = ("float32", "float64", "bfloat16", "complex64", "int32", "int8")
        for name, widths in WIDTHS.items():
            first = name == "each" or (mode == "edge" and name == "far")
            rows.append(
                public(
                    "numpy.pad",
                    MATRIX,
                    {**widths, "mode": mode, **options},
                    dtypes=dtypes if first else ("float64", "int32"),
                    label=f"{mode}_{name}",
                    scale=largest,
                    ulps=8.0,
                    signed_zeros=mode != "median",  # half of 0.0 and -0.0 is either
                )
            )
    for label, options in MORE.items():
        rows.append(
            public(
                "numpy.pad",
                MATRIX,
                {"pad_width": ((1, 2), (3, 1)), **options},
                dtypes=("float64", "bfloat16", "int32"),
                label=label,
                scale=largest,
                ulps=8.0,
                # Farther out than the axis is long NumPy goes around one period at a time, arrayx
                # all at once: beside an infinite rise they subtract infinities in other orders.
                special=label not in ("reflect_odd", "reflect_odd_far", "symmetric_odd_far"),
            )
        )
    return tuple(rows)


def largest(x: Any, **params: Any) -> Any:
    """The largest magnitude in and around an array, which sums and ramps of it are made of."""
    ends = np.max(np.abs(params.get("end_values", 0)))
    # Every odd reflection raises what it gives by up to twice the largest.
    return np.max(np.abs(x)) * (40 if "reflect_type" in params else 3) + ends


COUNTS: dict[str, Any] = {
    "numpy.repeat": {
        "all": {"repeats": 2},
        "rows": {"repeats": 3, "axis": 0},
        "each": {"repeats": (2, 0, 1), "axis": -1},
        "none": {"repeats": 0, "axis": 1},
    },
    "numpy.tile": {
        "columns": {"reps": 2},
        "both": {"reps": (2, 3)},
        "front": {"reps": (2, 1, 1)},
        "none": {"reps": (0, 2)},
    },
    "numpy.roll": {
        "flat": {"shift": 2},
        "back": {"shift": -1, "axis": 1},
        "far": {"shift": 8, "axis": -1},
        "both": {"shift": (1, -2), "axis": (0, 1)},
        "one_shift": {"shift": 1, "axis": (0, 1)},
        "twice": {"shift": (1, 1), "axis": 1},
    },
    "numpy.flip": {"all": {}, "one": {"axis": -1}, "both": {"axis": (1, 0)}},
    "numpy.rot90": {
        "once": {},
        "twice": {"k": 2},
        "back": {"k": -1, "axes": (1, 0)},
        "far": {"k": 7},
        "not": {"k": 4},
    },
    "numpy.resize": {
        "more": {"new_shape": (2, 5)},
        "less": {"new_shape": 4},
        "none": {"new_shape": (0, 2)},
        "rank_0": {"new_shape": ()},
    },
}

CASES = (
    *(
        row
        for name, params in COUNTS.items()
        for i, (label, more) in enumerate(params.items())
        for row in variants(name, MATRIX, {label: more}, dtypes=FEW if i else STORED)
    ),
    *each("fliplr flipud", MATRIX, dtypes=STORED),
    public("numpy.flip", ((),), dtypes=FEW, label="rank_0"),
    public("numpy.roll", ((),), {"shift": 1}, dtypes=FEW, label="rank_0"),
    public("numpy.roll", ((0, 2),), {"shift": 1, "axis": 0}, dtypes=FEW, label="nothing"),
    public("numpy.roll", ((4,), Operand((), dtype="int32")), dtypes=FEW, label="traced_shift"),
    public(
        "numpy.roll",
        ((2, 3), Operand((2,), dtype="int32")),
        {"axis": (0, 1)},
        dtypes=FEW,
        label="traced_shifts",
    ),
    public("numpy.tile", ((),), {"reps": 2}, dtypes=FEW, label="rank_0"),
    public("numpy.tile", MATRIX, {"reps": ()}, dtypes=FEW, label="once"),
    public("numpy.repeat", ((),), {"repeats": 3}, dtypes=FEW, label="rank_0"),
    public("numpy.repeat", ((2, 0),), {"repeats": 3, "axis": 1}, dtypes=FEW, label="nothing"),
    *(
        public(
            "numpy.repeat",
            ((2, 3), Operand((3,), dtype="int32", domain=(0, 2))),
            {"axis": 1, "total_repeat_length": n},
            reference=repeated,
            dtypes=FEW,
            label=f"to_{n}",
        )
        for n in (2, 9)
    ),
    public("numpy.resize", ((0,),), {"new_shape": (2, 1)}, dtypes=FEW, label="nothing"),
    public("numpy.pad", MATRIX, {"pad_width": ((1, 0), (0, 2))}, dtypes=STORED),
    public("numpy.pad", VECTOR, {"pad_width": {-1: (1, 2)}}, label="by_axis", dtypes=FEW),
    public("numpy.pad", ((0, 2),), {"pad_width": 1}, dtypes=FEW, label="nothing"),
    public("numpy.pad", ((),), {"pad_width": 1}, dtypes=FEW, label="rank_0"),
    public(
        "numpy.pad",
        VECTOR,
        {"pad_width": 2, "mode": "empty"},
        dtypes=FEW,
        label="empty",
        compare=False,
    ),
    public("numpy.pad", ((2, 3), ()), {"pad_width": 1}, form=padded, label="traced_constant"),
    public("numpy.pad", ((2, 3), (2, 2)), {"pad_width": 1}, form=padded, label="traced_constants"),
    public(
        "numpy.pad",
        ((1, 1),),
        {"pad_width": 2, "mode": "reflect"},
        dtypes=FEW,
        label="reflect_of_1",
    ),
    *variants(
        "numpy.pad",
        MATRIX,
        {"by_function": {"pad_width": ((1, 2), (0, 1)), "mode": outside_added}},
        dtypes=("float64", "float32", "int32"),
    ),
    *paddings(),
)
