"""Rows for the general matrix product."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import ANY, INEXACT, Case, Operand
from arrayx.primitives import contraction


def contracted(x: Any, y: Any, contracting: Any, batch: Any, precision: Any) -> Any:
    """The product by its definition: a sum over a product of all pairs."""
    xs, ys = list(range(x.ndim)), list(range(x.ndim, x.ndim + y.ndim))
    for pairs in (contracting, batch):
        for i, j in zip(*pairs, strict=True):
            ys[j] = i
    out = list(batch[0])
    out += [n for n in xs if n not in (*contracting[0], *batch[0])]
    out += [n for n in ys if n >= x.ndim]
    return np.einsum(x, xs, y, ys, out)


def absorbed(x: Any, y: Any, **params: Any) -> Any:
    """The product of matrices, 0 where a row of x or a column of y is all zeros."""
    some = (x != 0).any(1)[:, None] & (y != 0).any(0)
    return np.where(some, contracted(x, y, **params), 0)


def sizes(x: Any, y: Any, **params: Any) -> Any:
    return contracted(np.abs(x), np.abs(y), **params)


PRODUCTS = (
    ("matrices", (3, 3), (3, 3), ((1,), (0,)), ((), ())),
    ("transposed", (3, 2), (4, 3), ((0,), (1,)), ((), ())),
    ("vector", (3, 4), (4,), ((1,), (0,)), ((), ())),
    ("inner", (4,), (4,), ((0,), (0,)), ((), ())),
    ("outer", (2,), (3,), ((), ()), ((), ())),
    ("batch", (2, 3, 2), (2, 2, 3), ((2,), (1,)), ((0,), (0,))),
    ("late_batch", (3, 2, 2), (3, 4, 2), ((0,), (0,)), ((2,), (2,))),
    ("two_sums", (2, 3, 4), (4, 3, 2), ((1, 2), (1, 0)), ((), ())),
    ("equal_sums", (2, 3, 3), (3, 3, 2), ((1, 2), (1, 0)), ((), ())),
    ("two_batches", (2, 3, 2), (3, 2, 2), ((2,), (2,)), ((0, 1), (1, 0))),
    ("elementwise", (2, 3), (2, 3), ((), ()), ((0, 1), (0, 1))),
    ("nothing_summed_up", (2, 0), (0, 3), ((1,), (0,)), ((), ())),
    ("scalars", (), (), ((), ()), ((), ())),
)


CASES = (
    *(
        Case(
            name,
            call,
            (x, y),
            {"contracting": summed, "batch": batch, "precision": None},
            contracted,
            known,
            scale=sizes,
            signed_zeros=False,
            special=name != "absorb_dot",
            label=label,
        )
        for name, call, known in (
            ("dot_general", contraction.dot_general, ANY),
            ("absorb_dot", contraction.absorb_dot, INEXACT),
            ("guarded_dot", contraction.guarded_dot, INEXACT),
        )
        for label, x, y, summed, batch in PRODUCTS
    ),
    Case(
        "absorb_dot",
        contraction.absorb_dot,
        (
            Operand((3, 3), values=((0, 0, 0), (1, 2, 3), (0, 1, 0))),
            Operand((3, 3), values=((np.inf, 1, 0), (np.nan, 0, 0), (1, 0, 0))),
        ),
        {"contracting": ((1,), (0,)), "batch": ((), ()), "precision": None},
        absorbed,
        ("float32", "bfloat16"),
        scale=lambda x, y, **params: 10.0,
        signed_zeros=False,
        special=False,
        label="absorbs",
    ),
)
