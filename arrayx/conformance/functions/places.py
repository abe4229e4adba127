"""Rows of indices of diagonals and triangles, flat numbers of elements, and writes at places."""

from __future__ import annotations

from typing import Any

import numpy as np

import arrayx.numpy as anp
from arrayx.conformance.case import Case, Operand
from arrayx.conformance.functions.shapes import FEW, STORED
from arrayx.conformance.public import each, public, variants

MATRIX = ((3, 4),)
#: Without operands there is one dtype to try.
ONCE = ("float64",)
FLAT = Operand((2, 3), dtype="int32", domain=(0, 11))
FROM_END = Operand((4,), dtype="int32", values=np.array([0, -1, 11, -12]))


def written(name: str) -> Any:
    """NumPy's function, applied to a copy, which is the result."""

    def write(x: Any, *rest: Any, inplace: bool, **params: Any) -> Any:
        x = x.copy()
        getattr(np, name)(x, *rest, **params)
        return x

    return write


def together(function: Any, *indices: Any, **params: Any) -> Any:
    """Calls `ravel_multi_index` with its indices in a tuple."""
    return function(indices, **params)


def masked(function: Any, *, n: int, mask_func: str, k: int, size: int) -> Any:
    """Calls `mask_indices` with a function of arrayx or NumPy."""
    if function is np.mask_indices:
        return function(n, getattr(np, mask_func), k)
    return function(n, getattr(anp, mask_func), k, size=size)


def along(function: Any, x: Any, indices: Any, values: Any, *, axis: Any, **params: Any) -> Any:
    """Calls `put_along_axis`, whose axis comes last."""
    return function(x, indices, values, axis=axis, **params)


def rows_of(names: str, operands: Any, params: dict[str, Any], **facts: Any) -> tuple[Case, ...]:
    """Rows of functions that need `inplace=False`."""
    return tuple(
        public(
            f"numpy.{name}",
            operands,
            {**params, "inplace": False},
            reference=written(name),
            **facts,
        )
        for name in names.split()
    )


CASES = (
    *variants(
        "numpy.diag_indices",
        (),
        {"": {"n": 3}, "cube": {"n": 2, "ndim": 3}, "none": {"n": 0}},
        dtypes=ONCE,
    ),
    *(
        row
        for name in ("tril_indices", "triu_indices")
        for row in variants(
            f"numpy.{name}",
            (),
            {
                "": {"n": 3},
                "above": {"n": 3, "k": 1},
                "wide": {"n": 2, "k": -1, "m": 4},
                "none": {"n": 2, "k": 9},
            },
            dtypes=ONCE,
        )
    ),
    public(
        "numpy.mask_indices",
        (),
        {"n": 3, "mask_func": "triu", "k": 1, "size": 3},
        dtypes=ONCE,
        form=masked,
    ),
    public("numpy.diag_indices_from", ((3, 3),), dtypes=FEW),
    *each("tril_indices_from triu_indices_from", MATRIX, dtypes=FEW),
    *each("tril_indices_from triu_indices_from", MATRIX, {"k": -1}, dtypes=FEW, label="below"),
    public(
        "numpy.ix_",
        (Operand((2,), dtype="int32"), Operand((3,), dtype="uint8")),
        dtypes=ONCE,
    ),
    *variants(
        "numpy.unravel_index",
        (FLAT,),
        {"": {"shape": (3, 4)}, "cube": {"shape": (2, 3, 2)}, "vector": {"shape": (12,)}},
        dtypes=ONCE,
    ),
    public(
        "numpy.unravel_index",
        (FROM_END,),
        {"shape": (3, 4)},
        reference=lambda i, shape: np.unravel_index(i % 12, shape),
        dtypes=ONCE,
        label="from_end",
    ),
    *variants(
        "numpy.ravel_multi_index",
        (
            Operand((4,), dtype="int32", values=np.array([0, 2, 5, -7])),
            Operand((4,), dtype="int32", values=np.array([3, -1, 1, 9])),
        ),
        {
            "wrap": {"dims": (3, 4), "mode": "wrap"},
            "clip": {"dims": (3, 4), "mode": "clip"},
            "columns": {"dims": (3, 4), "mode": "wrap", "order": "F"},
            "each": {"dims": (3, 4), "mode": ("wrap", "clip")},
        },
        form=together,
        dtypes=ONCE,
    ),
    *rows_of("fill_diagonal", ((3, 4), ()), {}, dtypes=STORED),
    *rows_of("fill_diagonal", ((4, 2), (2,)), {}, dtypes=FEW, label="vector"),
    *rows_of("fill_diagonal", ((2, 2, 2), (3,)), {}, dtypes=FEW, label="cube"),
    *rows_of("fill_diagonal", ((5, 2), ()), {"wrap": True}, dtypes=FEW, label="wrapped"),
    *rows_of(
        "put",
        ((2, 3), Operand((3,), dtype="int32", values=np.array([0, -1, 3])), (2,)),
        {},
        dtypes=STORED,
        special=False,
    ),
    *(
        rows_of(
            "put",
            ((2, 3), Operand((3,), dtype="int32", values=np.array([1, 8, -9])), (3,)),
            {"mode": mode},
            dtypes=FEW,
            label=mode,
        )[0]
        for mode in ("clip", "wrap")
    ),
    *rows_of(
        "place",
        ((2, 3), Operand((2, 3), dtype="bool", values=np.array([1, 0, 1, 1, 0, 1])), (3,)),
        {},
        dtypes=STORED,
    ),
    *(
        rows_of(
            "put_along_axis",
            ((3, 4), Operand(shape, dtype="int32", domain=(0, 2)), values),
            {"axis": axis},
            form=along,
            dtypes=FEW if label else STORED,
            label=label,
        )[0]
        for label, shape, values, axis in (
            ("", (1, 4), (1, 4), 0),
            ("number", (3, 1), (), -1),
            ("broadcast", (1, 1), (3, 1), 1),
            ("flat", (1,), (1,), None),
        )
    ),
)
