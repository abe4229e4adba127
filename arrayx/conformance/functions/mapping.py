"""Rows of functions that apply a function along axes, and of arrays from other forms of data."""

from __future__ import annotations

from typing import Any

import numpy as np

import arrayx.numpy as anp
from arrayx.conformance.case import FLOATS, NUMERIC
from arrayx.conformance.public import leading, public, variants

MATRIX = ((2, 3),)
ONCE = ("float64",)


def polynomial(a: Any, b: Any) -> Any:
    """A function of two numbers."""
    return a * b + 2 * a


def vectorized(function: Any, x: Any, y: Any) -> Any:
    """`polynomial` of all pairs of elements."""
    return function(polynomial)(x, y)


def matrix_products(function: Any, x: Any, y: Any) -> Any:
    """The products of stacks of matrices with a vector."""
    dot = anp.dot if function is anp.vectorize else np.dot
    return function(dot, signature="(n,m),(m)->(n)")(x, y)


def differences(function: Any, x: Any, *, axis: int) -> Any:
    """The differences of neighbours along an axis."""
    return function(lambda v: v[1:] - v[:-1], axis, x)


def lengths(function: Any, x: Any, *, axis: int) -> Any:
    """The squared length of every vector."""
    return function(lambda v, p: (v * v).sum() + p, axis, x, 1)


def outer(function: Any, x: Any, *, axis: int) -> Any:
    """A matrix for every vector."""
    return function(lambda v: v[:, None] * v[None, :2], axis, x)


def sums(function: Any, x: Any, *, axes: Any) -> Any:
    """Sums over axes, one after the other."""
    return function(lambda v, axis: v.sum(axis), x, axes)


def grid(function: Any, *, shape: Any, dtype: Any) -> Any:
    """A function of the indices of every element."""
    return function(lambda i, j: i + 10 * j, shape, dtype=dtype)


CASES = (
    public(
        "numpy.vectorize",
        ((2, 1), (3,)),
        form=vectorized,
        dtypes=NUMERIC,
        label="numbers",
        scale=lambda x, y: np.abs(x * y) + 2 * np.abs(x),
    ),
    public(
        "numpy.vectorize",
        ((4, 2, 3), (3,)),
        form=matrix_products,
        dtypes=FLOATS,
        label="signature",
        scale=lambda x, y: np.abs(x) @ np.abs(y),
    ),
    public("numpy.vectorize", ((), ()), form=vectorized, label="rank_0"),
    public(
        "numpy.apply_along_axis", MATRIX, {"axis": -1}, form=differences, scale=lambda x, axis: 6
    ),
    public("numpy.apply_along_axis", ((2, 3, 4),), {"axis": 1}, form=lengths, label="to_numbers"),
    public("numpy.apply_along_axis", ((2, 3),), {"axis": 0}, form=outer, label="to_matrices"),
    *variants(
        "numpy.apply_over_axes",
        ((2, 3, 2),),
        {"outer": {"axes": (0, -1)}, "one": {"axes": (1,)}, "none": {"axes": ()}},
        form=sums,
        scale=lambda x, axes: np.sum(np.abs(x)),
    ),
    *variants(
        "numpy.fromfunction",
        (),
        {
            "": {"shape": (2, 3), "dtype": "float32"},
            "integers": {"shape": (2, 1), "dtype": "int32"},
        },
        form=grid,
        dtypes=ONCE,
    ),
    # Data in other forms is known, so these take no operands.
    public(
        "numpy.frombuffer",
        (),
        {"buffer": bytes(range(16)), "dtype": "int16", "count": 3, "offset": 2},
        dtypes=ONCE,
    ),
    public("numpy.fromiter", (), {"iter": (1, 2, 3), "dtype": "int16"}, dtypes=ONCE, form=leading),
    public(
        "numpy.fromstring", (), {"string": "1, 2.5", "dtype": "float32", "sep": ","}, dtypes=ONCE
    ),
    public("numpy.from_dlpack", (), {"x": np.arange(3.0)}, dtypes=ONCE, form=leading),
)
