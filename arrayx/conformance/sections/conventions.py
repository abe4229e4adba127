"""Derivatives at kinks, ties and poles are those of the table in docs/gradients.md."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

import arrayx as ax
from arrayx.backend.registry import chosen
from arrayx.conformance.conventions import TABLE, Row, agree
from arrayx.conformance.item import Item


def items(backend: str) -> Iterator[Item]:
    """Each row of the table, eagerly in both modes."""
    for number, row in enumerate(TABLE):
        yield Item(
            "derivatives",
            "conventions",
            partial(check, row, backend),
            partial(program, number, backend),
            row.name.replace(" ", "_"),
            owed=True,
            core=True,
        )


def program(number: int, backend: str) -> str:
    """The lines that check one row."""
    return (
        "from arrayx.conformance.conventions import TABLE\n"
        "from arrayx.conformance.sections import conventions\n"
        f"conventions.check(TABLE[{number}], {backend!r})"
    )


def check(row: Row, backend: str) -> None:
    """Forward and reverse mode give the derivatives that the table says."""
    with chosen(backend):
        point = [ax.device_put(np.asarray(x, np.float32), backend) for x in row.point]
        for how, jacobian in (("forward", ax.jacfwd), ("reverse", ax.jacrev)):
            found = jacobian(row.callable(), row.numbers())(*point)
            for got, expected in zip(found, row.derivatives, strict=True):
                assert agree(got, expected), (
                    f"{row.name}, {how}: {np.asarray(got).tolist()}, expected {expected}"
                )
