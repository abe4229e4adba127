"""Loops over slices of NumPy arrays: what NumPy runs itself instead of an expansion."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.backend.contract import Device
from arrayx.backend.control import program_of
from arrayx.core.graph import Graph


def scan(
    device: Device,
    *operands: Any,
    body: Graph,
    length: int,
    reverse: bool,
    unroll: int,
    n_consts: int,
    n_carry: int,
) -> Any:
    """The compiled body for each slice; results go into arrays made at the start."""
    n = n_consts + n_carry
    consts, xs = operands[:n_consts], operands[n:]
    carry: Any = operands[n_consts:n]
    ys = [np.empty((length, *a.shape), a.dtype) for a in body.out_avals[n_carry:]]
    places = range(length - 1, -1, -1) if reverse else range(length)
    with program_of(device, body).stepping() as step:
        for i in places:
            results = step([*consts, *carry, *[x[i] for x in xs]])
            carry = results[:n_carry]
            for y, made in zip(ys, results[n_carry:]):
                y[i] = made
    return (*carry, *ys)
