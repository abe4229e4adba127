"""Rules that many primitives share, apart so that a file of rules states its differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx import dtypes
from arrayx_xla.emitter import Emitter, Value

F32 = np.dtype(np.float32)


def is_float8(dtype: Any) -> bool:
    """True for the floats of one byte, which few operations take."""
    return dtype.itemsize == 1 and dtypes.kind(dtype) == "float"


def same(name: str) -> Callable[..., Value]:
    """One StableHLO operation, whose operands and result are of one type."""

    def rule(e: Emitter, *operands: Value) -> Value:
        return e.op(name, *operands)

    return rule


def through_float32(function: Callable[..., Value]) -> Callable[..., Value]:
    """A rule that computes with one-byte floats by way of float32."""

    def rule(e: Emitter, *operands: Value, **params: Any) -> Value:
        dtype = operands[0].dtype
        if not is_float8(dtype):
            return function(e, *operands, **params)
        wide = [e.convert(x, F32) for x in operands]
        return e.convert(function(e, *wide, **params), dtype)

    return rule


def stable(name: str) -> Callable[..., Value]:
    """A mathematical function that is a StableHLO operation."""
    return through_float32(same(name))


def chlo(name: str) -> Callable[..., Value]:
    """A mathematical function that is an operation of CHLO, which XLA writes in StableHLO."""

    def rule(e: Emitter, *operands: Value) -> Value:
        return e.chlo(name, *operands)

    return through_float32(rule)
