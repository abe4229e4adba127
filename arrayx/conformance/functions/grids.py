"""Rows of matrices and grids made from their shape, and of triangles of given ones."""

from __future__ import annotations

from typing import Any

from arrayx.conformance.case import ANY, NUMERIC, Case
from arrayx.conformance.public import rows

NONE: dict[str, Any] = {"dtypes": ("float32",)}
BATCH = ((2, 3, 4),)
DIAGONALS: dict[str, dict[str, Any]] = {"": {}, "above": {"k": 1}, "below": {"k": -2}}


CASES: tuple[Case, ...] = (
    *rows(
        "numpy",
        "eye tri",
        (),
        {
            "": {"N": 3},
            "wide": {"N": 2, "M": 4, "k": 1},
            "tall": {"N": 4, "M": 2, "k": -1},
            "dtype": {"N": 2, "dtype": "int8"},
            "complex": {"N": 2, "dtype": "complex64"},
            "none": {"N": 0},
        },
        **NONE,
    ),
    *rows("numpy", "identity", (), {"": {"n": 3}, "dtype": {"n": 2, "dtype": "bool"}}, **NONE),
    *rows(
        "numpy",
        "indices",
        (),
        {
            "": {"dimensions": (2, 3)},
            "sparse": {"dimensions": (2, 3), "sparse": True},
            "dtype": {"dimensions": (2,), "dtype": "float32"},
        },
        **NONE,
    ),
    *rows("numpy", "tril triu", BATCH, DIAGONALS, dtypes=ANY),
    *rows("numpy", "tril triu", ((0, 3),), {"none": {}}),
    *rows(
        "numpy",
        "meshgrid",
        ((2,), (3,)),
        {"": {}, "ij": {"indexing": "ij"}, "sparse": {"sparse": True}},
        dtypes=ANY,
    ),
    *rows("numpy", "meshgrid", ((2,), (), (3,)), {"three": {}}),
    *rows("numpy", "meshgrid", ((2,),), {"one": {}}),
    *rows(
        "numpy",
        "vander",
        ((3,),),
        {"": {}, "increasing": {"increasing": True}, "wide": {"N": 5}, "none": {"N": 0}},
        dtypes=NUMERIC,
        domain=(-2.0, 2.0),
    ),
)
