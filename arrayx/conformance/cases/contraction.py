"""Rows for the general matrix product."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import ANY, INEXACT, Case
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
)
