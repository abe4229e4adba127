"""Rows of functions that join, split and repeat arrays."""

from __future__ import annotations

from arrayx.conformance.case import ANY
from arrayx.conformance.public import listed, public

CASES = (public("numpy.concatenate", ((2, 3), (1, 3)), {"axis": 0}, dtypes=ANY, form=listed),)
