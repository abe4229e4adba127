"""Rows for running sums, products and extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import FLOATS, NUMERIC, ORDERED, Case
from arrayx.primitives import cumulative


def running(ufunc: Any) -> Any:
    def reference(x: Any, axis: int, reverse: bool) -> Any:
        if reverse:
            return np.flip(reference(np.flip(x, axis), axis, False), axis)
        return ufunc.accumulate(x, axis, dtype=x.dtype)

    return reference


def sizes(ufunc: Any) -> Any:
    return lambda x, **params: 1 + running(ufunc)(np.abs(x), **params)


FORMS = (
    ("rows", (3, 3), 0, False),
    ("back", (2, 5), 1, True),
    ("vector", (6,), 0, False),
    ("middle_back", (2, 3, 2), 1, True),
    ("single", (1,), 0, False),
    ("empty", (2, 0), 1, False),
)
OPERATIONS = (
    ("cumsum", cumulative.cumsum, np.add, NUMERIC, sizes(np.add)),
    ("cumprod", cumulative.cumprod, np.multiply, NUMERIC, sizes(np.multiply)),
    ("cummax", cumulative.cummax, np.maximum, ORDERED, None),
    ("cummin", cumulative.cummin, np.minimum, ORDERED, None),
    ("cumlogsumexp", cumulative.cumlogsumexp, np.logaddexp, FLOATS, lambda x, **p: 4 + np.abs(x)),
)


def cases() -> Any:
    for name, call, ufunc, kinds, scale in OPERATIONS:
        for label, shape, axis, reverse in FORMS:
            params = {"axis": axis, "reverse": reverse}
            common: dict[str, Any] = {"scale": scale, "signed_zeros": False}
            yield Case(name, call, (shape,), params, running(ufunc), kinds, label=label, **common)
            # The expansion is what a backend without a kernel runs, and must agree.
            yield Case(
                name, call.expand, (shape,), params, running(ufunc), kinds,
                label=f"expanded_{label}", **common,
            )  # fmt: skip


CASES = (
    *cases(),
    # Exponentials of these are infinite.
    *(
        Case(
            "cumlogsumexp",
            call,
            ((2, 4),),
            {"axis": 1, "reverse": False},
            running(np.logaddexp),
            ("float32", "float64"),
            (800, 900),
            label=label,
        )
        for label, call in (
            ("far", cumulative.cumlogsumexp),
            ("expanded_far", cumulative.cumlogsumexp.expand),
        )
    ),
)
