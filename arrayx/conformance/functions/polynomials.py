"""Rows of polynomials as vectors of their coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import INEXACT, NUMERIC, Case, Operand
from arrayx.conformance.public import rows

SMALL = (-2.0, 2.0)
TWO = ((4,), (2,))
# The leading coefficient is no zero.
DIVIDEND = Operand((4,), domain=(1.0, 3.0))
DIVISOR = Operand((2,), domain=(1.0, 3.0))
FEWER = Operand((2,), values=(2.0, 1.0))
INTEGER: dict[str, Any] = {"dtypes": NUMERIC, "domain": SMALL}


def divided(u: Any, v: Any) -> tuple[Any, Any]:
    """NumPy's quotient and remainder, the remainder with its leading zeros."""
    quotient, rest = np.polydiv(u, v)
    return quotient, np.concatenate([np.zeros(len(u) - len(rest)), rest])


def _of_a_quotient(u: Any, v: Any) -> Any:
    # Each digit is made from what the digits before left over: |u| grows by (1 + |v| / |v0|).
    growth = (1 + np.max(np.abs(v)) / np.abs(v[0])) ** len(u)
    return (np.max(np.abs(u)) * growth,) * 2


CASES: tuple[Case, ...] = (
    *rows("numpy", "polyadd polysub", TWO, dtypes=NUMERIC),
    *rows("numpy", "polyadd polysub", ((2,), (4,)), {"longer": {}}, sums=True, domain=SMALL),
    # NumPy drops leading zeros, which a shape cannot depend on.
    *rows("numpy", "polymul", TWO, reference=np.convolve, sums=True, **INTEGER),
    *rows(
        "numpy",
        "polymul",
        ((2,), (4,)),
        {"longer": {}},
        reference=np.convolve,
        sums=True,
        domain=SMALL,
    ),
    *rows(
        "numpy",
        "polydiv",
        (DIVIDEND, DIVISOR),
        reference=divided,
        dtypes=INEXACT,
        scale=_of_a_quotient,
        special=False,
    ),
    *rows("numpy", "polydiv", (FEWER, DIVIDEND), {"shorter": {}}, dtypes=INEXACT, special=False),
    *rows("numpy", "polyval", ((3,), (2, 2)), sums=True, **INTEGER),
    *rows("numpy", "polyval", ((3, 2), (2,)), {"several": {}}, sums=True, domain=SMALL),
    *rows("numpy", "polyval", ((0,), (2,)), {"none": {}}),
    *rows(
        "numpy",
        "polyder",
        ((4,),),
        {"": {}, "twice": {"m": 2}, "zero": {"m": 0}, "all": {"m": 5}},
        **INTEGER,
    ),
    *rows(
        "numpy",
        "polyint",
        ((3,),),
        {
            "": {},
            "twice": {"m": 2},
            "zero": {"m": 0},
            "constants": {"m": 2, "k": (1.0, 2.0)},
            "constant": {"m": 2, "k": 3.0},
        },
        dtypes=NUMERIC,
        promotes=True,
    ),
    *rows("numpy", "poly", ((4,),), sums=True, dtypes=NUMERIC, promotes=True, domain=SMALL),
    *rows("numpy", "poly", ((0,),), {"none": {}}),
)
