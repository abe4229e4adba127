"""Rows of functions that join and split arrays."""

from __future__ import annotations

from arrayx.conformance.functions.shapes import FEW, STORED
from arrayx.conformance.public import each, listed, public, rows, variants

CUBE = ((2, 4, 6),)

CASES = (
    public("numpy.concatenate", ((2, 3), (1, 3)), {"axis": 0}, dtypes=STORED, form=listed),
    public("numpy.concat", ((2, 3), (2, 1)), {"axis": -1}, dtypes=STORED, form=listed),
    *each(
        "concatenate concat",
        ((2, 1), (2,), ()),
        {"axis": None},
        dtypes=FEW,
        form=listed,
        label="flat",
    ),
    public("numpy.concatenate", ((2, 3),), dtypes=FEW, form=listed, label="one"),
    public("numpy.concatenate", ((2, 0), (2, 0)), {"axis": 1}, form=listed, label="nothing"),
    public("numpy.concatenate", ((0,), (3,)), dtypes=FEW, form=listed, label="nothing_before"),
    public("numpy.concatenate", ((2,), (1,)), {"dtype": "complex128"}, form=listed, label="dtype"),
    *variants(
        "numpy.stack",
        ((2, 3), (2, 3)),
        {"first": {}, "middle": {"axis": 1}, "last": {"axis": -1}},
        dtypes=STORED,
        form=listed,
    ),
    public("numpy.stack", ((), ()), dtypes=FEW, form=listed, label="rank_0"),
    *each("vstack hstack dstack column_stack", ((3,), (3,)), dtypes=STORED, form=listed),
    *rows("numpy", "vstack=row_stack", ((2, 3), (1, 3)), {"old_name": {}}, dtypes=FEW, form=listed),
    *each("vstack hstack dstack", ((), ()), dtypes=FEW, form=listed, label="rank_0"),
    *each("hstack dstack column_stack", ((2, 3), (2, 3)), dtypes=FEW, form=listed, label="matrix"),
    public("numpy.vstack", ((2, 3), (3,)), dtypes=FEW, form=listed, label="mixed"),
    public("numpy.column_stack", ((2, 2), (2,)), dtypes=FEW, form=listed, label="mixed"),
    public("numpy.hstack", ((2, 1, 2), (2, 3, 2)), dtypes=FEW, form=listed, label="cube"),
    *each("split vsplit hsplit dsplit", CUBE, {"indices_or_sections": 2}, dtypes=STORED),
    *each(
        "split vsplit hsplit dsplit array_split",
        CUBE,
        {"indices_or_sections": (1, -1)},
        dtypes=FEW,
        label="places",
    ),
    *variants(
        "numpy.array_split",
        ((2, 5),),
        {
            "uneven": {"indices_or_sections": 2, "axis": 1},
            "more_than_there_are": {"indices_or_sections": 3},
            "past_the_end": {"indices_or_sections": (1, 1, 9), "axis": -1},
            "falling": {"indices_or_sections": (3, 1), "axis": -1},
        },
        dtypes=FEW,
    ),
    public("numpy.split", ((2, 6),), {"indices_or_sections": 3, "axis": -1}, label="last"),
    public("numpy.hsplit", ((4,),), {"indices_or_sections": 2}, label="vector"),
)
