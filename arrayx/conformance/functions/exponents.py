"""Rows of exponentials, logarithms and powers."""

from __future__ import annotations

from arrayx.conformance.case import INEXACT, NUMERIC
from arrayx.conformance.public import public

ONE = ((2, 3),)

CASES = (
    public("numpy.exp", ONE, dtypes=INEXACT),
    public("numpy.square", ONE, dtypes=NUMERIC),
)
