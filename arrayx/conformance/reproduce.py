"""What the programs that the suite prints beside a failure are made of.

from arrayx.conformance import reproduce
row = reproduce.row("reduce_sum-last")
operands = row.draw("float32")
print(reproduce.got(row, operands, "numpy"), reproduce.expected(row, operands))
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from arrayx.backend.registry import chosen
from arrayx.conformance import checks
from arrayx.conformance.case import Case
from arrayx.conformance.table import every_row


@cache
def _by_id() -> dict[str, Case]:
    return dict(every_row())


def row(id: str) -> Case:
    """The row of the table with this name, as a report calls it.

    >>> row("sin").name
    'sin'
    """
    return _by_id()[id]


def got(case: Case, operands: Sequence[np.ndarray], backend: str) -> list[np.ndarray]:
    """What the backend makes of the operands.

    >>> got(row("neg"), [np.ones(2, "float32")], "numpy")
    [array([-1., -1.], dtype=float32)]
    """
    with chosen(backend):
        return checks.run(case, operands, backend)


def expected(case: Case, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The truth about the operands: floats in float64.

    >>> expected(row("neg"), [np.ones(2, "float32")])
    [array([-1., -1.])]
    """
    return checks.expected(case, operands)


def check(name: str, id: str, dtype: str, backend: str) -> None:
    """Runs one check of one row; raises an `AssertionError` that says what differs.

    >>> check("second_order", "sin", "float64", "numpy")
    """
    {c.name: c for c in checks.CHECKS}[name].function(row(id), dtype, backend)
