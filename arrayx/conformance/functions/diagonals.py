"""Rows of what is made of diagonals, and of products of single elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import ANY, NUMERIC
from arrayx.conformance.functions.shapes import FEW
from arrayx.conformance.public import each, public, variants

MATRIX = ((3, 4),)


def in_the_plane(x: Any, y: Any) -> Any:
    """The third component of the product of vectors in the plane."""
    return x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]


def mixed(x: Any, y: Any) -> Any:
    """The product of vectors of which the first lie in the plane."""
    return np.cross(np.concatenate([x, np.zeros_like(x[..., :1])], -1), y)


def on_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The matrices whose diagonals are given, element by element."""
    n = D.shape[-1] + abs(offset)
    result = np.zeros((*D.shape[:-1], n, n), D.dtype)
    for k in range(D.shape[-1]):
        result[..., k + max(-offset, 0), k + max(offset, 0)] = D[..., k]
    return np.moveaxis(result, (-2, -1), (axis1, axis2))


CASES = (
    *variants(
        "numpy.make_diagonal",
        ((2, 3),),
        {
            "first": {},
            "above": {"offset": 1, "axis1": -2, "axis2": -1},
            "below": {"offset": -2, "axis1": -1, "axis2": 0},
        },
        reference=on_diagonal,
        dtypes=ANY,
    ),
    public("numpy.diag", ((3,),), dtypes=ANY),
    public("numpy.diag", MATRIX, dtypes=ANY, label="matrix"),
    *variants("numpy.diag", ((2,),), {"above": {"k": 2}, "below": {"k": -1}}, dtypes=FEW),
    *variants("numpy.diag", MATRIX, {"row": {"k": 2}, "column": {"k": -3}}, dtypes=FEW),
    *variants("numpy.diag", MATRIX, {"past": {"k": 5}}, dtypes=FEW),
    public("numpy.diag", ((0,),), {"k": 1}, dtypes=FEW, label="nothing"),
    public("numpy.diagflat", ((2, 2),), dtypes=ANY),
    public("numpy.diagflat", ((),), {"k": -1}, dtypes=FEW, label="rank_0"),
    *each("diagonal trace", MATRIX, dtypes=NUMERIC, sums=True),
    public("numpy.diagonal", ((2, 2),), dtypes=("bool",), label="bool"),
    public("numpy.trace", ((2, 2),), dtypes=("bool",), label="bool"),
    *each("diagonal trace", ((3, 2, 4),), {"offset": 1, "axis1": -1, "axis2": 0}, label="axes"),
    *each("diagonal trace", ((3, 2, 4),), {"offset": -2}, label="below", sums=True),
    *each("diagonal trace", MATRIX, {"offset": 9}, label="past"),
    *variants(
        "numpy.trace",
        MATRIX,
        {"wide": {"dtype": "complex128"}},
        dtypes=("float32", "int8", "complex64"),
        sums=True,
    ),
    public("numpy.kron", ((2, 3), (3, 2)), dtypes=NUMERIC),
    public("numpy.kron", ((2,), (2, 1, 2)), dtypes=FEW[:-1], label="mixed"),
    public("numpy.kron", ((), (3,)), label="rank_0"),
    public("numpy.cross", ((2, 3), (3,)), dtypes=NUMERIC, sums=False, scale=lambda x, y: 18.0),
    public(
        "numpy.cross", ((2, 3), (2, 3)), {"axis": -1}, label="axis", scale=lambda x, y, axis: 18.0
    ),
    public(
        "numpy.cross",
        ((3, 2), (2, 3)),
        {"axisa": 0, "axisb": 1, "axisc": 0},
        label="axes",
        scale=lambda x, y, **axes: 18.0,
    ),
    public(
        "numpy.cross",
        ((3, 2), (2,)),
        reference=in_the_plane,
        label="plane",
        scale=lambda x, y: 18.0,
    ),
    public("numpy.cross", ((2,), (3,)), reference=mixed, label="mixed", scale=lambda x, y: 18.0),
)
