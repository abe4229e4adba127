"""Derivatives at kinks, ties and poles are those of the table in docs/gradients.md."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import arrayx as ax
from arrayx.backend.registry import chosen
from arrayx.conformance.conventions import TABLE, agree
from arrayx.conformance.item import Item
from arrayx.conformance.sections.statement import item


def items(backend: str) -> Iterator[Item]:
    """Each row of the table, eagerly in both modes."""
    for number, row in enumerate(TABLE):
        yield item(
            "derivatives",
            "conventions",
            check,
            number,
            backend,
            detail=row.name.replace(" ", "_"),
            owed=True,
            core=True,
        )


def check(number: int, backend: str) -> None:
    """Forward and reverse mode give the derivatives that a row of the table says."""
    row = TABLE[number]
    with chosen(backend):
        point = [ax.device_put(np.asarray(x, np.float32), backend) for x in row.point]
        for how, jacobian in (("forward", ax.jacfwd), ("reverse", ax.jacrev)):
            found = jacobian(row.callable(), row.numbers())(*point)
            for got, expected in zip(found, row.derivatives, strict=True):
                assert agree(got, expected), (
                    f"{row.name}, {how}: {np.asarray(got).tolist()}, expected {expected}"
                )
