"""Rows of functions that give arrays another shape: the elements stay, in every dtype."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes
from arrayx.conformance.case import ANY, FLOAT8, Operand
from arrayx.conformance.cases import conversion
from arrayx.conformance.public import each, positional, public, variants

#: Where elements are only moved, even the dtypes that are for storage alone will do.
STORED = (*ANY, *FLOAT8)
#: For further rows of a function that has one in all dtypes.
FEW = ("float64", "bfloat16", "complex64", "int8", "uint32", "bool")
#: For elements that are equal to others, where nothing is to be compared with differences.
NARROW = ("float32", "bfloat16", "complex64", "int8", "uint32")

VECTOR = ((3,),)
MATRIX = ((2, 3),)
CUBE = ((2, 3, 4),)


def blocks(function: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Calls `block` with two rows of blocks."""
    return function([[a, b], [c, d]])


def converted(x: Any, dtype: Any) -> Any:
    """What the row of the primitive says of a conversion."""
    return conversion.converted(x, dtype=dtypes.as_dtype(dtype), weak_type=False)


CASES = (
    *variants(
        "numpy.reshape",
        MATRIX,
        {"rows": {"shape": (3, 2)}, "open": {"shape": (-1, 1, 2)}, "vector": {"shape": 6}},
        dtypes=STORED,
    ),
    public("numpy.reshape", MATRIX, {"shape": (3, 2), "order": "F"}, dtypes=FEW, label="order"),
    public("numpy.reshape", ((),), {"shape": (1, 1)}, dtypes=FEW, label="rank_0"),
    public("numpy.reshape", ((0, 3),), {"shape": (3, 0, 2)}, dtypes=FEW, label="nothing"),
    *variants("numpy.ravel", MATRIX, {"": {}, "order": {"order": "F"}}, dtypes=STORED),
    public("numpy.ravel", ((),), dtypes=FEW, label="rank_0"),
    public("numpy.ravel", ((2, 0),), dtypes=FEW, label="nothing"),
    *each("transpose permute_dims matrix_transpose", MATRIX, dtypes=STORED),
    *each("transpose permute_dims", CUBE, {"axes": (2, 0, 1)}, dtypes=FEW, label="order"),
    *each("transpose permute_dims", CUBE, {"axes": (-1, 0, -2)}, dtypes=FEW, label="negative"),
    public("numpy.transpose", ((),), dtypes=FEW, label="rank_0"),
    public("numpy.transpose", VECTOR, dtypes=FEW, label="vector"),
    public("numpy.matrix_transpose", CUBE, dtypes=FEW, label="stack"),
    *variants(
        "numpy.swapaxes",
        CUBE,
        {
            "outer": {"axis1": 0, "axis2": 2},
            "negative": {"axis1": -1, "axis2": -2},
            "same": {"axis1": 1, "axis2": 1},
        },
        dtypes=STORED,
    ),
    *variants(
        "numpy.moveaxis",
        CUBE,
        {
            "one": {"source": 0, "destination": -1},
            "two": {"source": (0, -1), "destination": (1, 0)},
            "none": {"source": (), "destination": ()},
        },
        dtypes=FEW,
    ),
    *variants(
        "numpy.rollaxis",
        CUBE,
        {
            "front": {"axis": 2},
            "end": {"axis": 0, "start": 3},
            "negative": {"axis": -1, "start": -2},
        },
        dtypes=FEW,
    ),
    *variants(
        "numpy.expand_dims",
        MATRIX,
        {"front": {"axis": 0}, "negative": {"axis": -1}, "several": {"axis": (0, -2)}},
        dtypes=STORED,
    ),
    public("numpy.expand_dims", ((),), {"axis": (0, 1)}, dtypes=FEW, label="rank_0"),
    *variants(
        "numpy.squeeze",
        ((1, 3, 1),),
        {"all": {}, "first": {"axis": 0}, "both": {"axis": (0, -1)}, "none": {"axis": ()}},
        dtypes=STORED,
    ),
    public("numpy.squeeze", ((1, 1),), dtypes=FEW, label="to_rank_0"),
    public("numpy.broadcast_to", VECTOR, {"shape": (2, 3)}, dtypes=STORED),
    public("numpy.broadcast_to", ((),), {"shape": (2,)}, dtypes=FEW, label="rank_0"),
    public("numpy.broadcast_to", ((2, 1),), {"shape": (3, 2, 0)}, dtypes=FEW, label="nothing"),
    public("numpy.broadcast_arrays", ((2, 1), (3,), ()), dtypes=STORED),
    *each("atleast_1d atleast_2d atleast_3d", VECTOR, dtypes=STORED),
    *each("atleast_1d atleast_2d atleast_3d", ((),), dtypes=FEW, label="rank_0"),
    *each("atleast_1d atleast_2d atleast_3d", MATRIX, dtypes=FEW, label="matrix"),
    *each("atleast_1d atleast_2d atleast_3d", ((2,), (), CUBE[0]), dtypes=FEW, label="several"),
    public("numpy.append", ((2,), (2, 2)), dtypes=STORED),
    public("numpy.append", ((2, 3), (2, 1)), {"axis": -1}, dtypes=FEW, label="axis"),
    public("numpy.block", ((2, 2), (2, 1), (1, 2), (1, 1)), form=blocks, dtypes=ANY),
    public("numpy.block", ((2,), (1, 1), (1, 0), (3,)), form=blocks, dtypes=FEW, label="mixed"),
    public("numpy.unstack", MATRIX, dtypes=STORED),
    public("numpy.unstack", CUBE, {"axis": -1}, dtypes=FEW, label="last"),
    public("numpy.copy", MATRIX, dtypes=STORED),
    *variants(
        "numpy.astype",
        MATRIX,
        {name: {"dtype": name} for name in ("float32", "int16", "bool", "bfloat16")},
        dtypes=STORED,
        form=positional,
        reference=converted,
    ),
    public("numpy.astype", MATRIX, {"dtype": "complex128"}, dtypes=ANY, form=positional),
    public(
        "numpy.astype",
        (Operand((2, 3), domain=(0, 3)),),
        {"dtype": "uint8"},
        dtypes=STORED,
        form=positional,
        reference=converted,
        label="uint8",
    ),
)
