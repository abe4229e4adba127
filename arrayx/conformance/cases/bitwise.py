"""Rows for operations on bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import INTEGERS, LOGICAL, Case, Operand
from arrayx.primitives import bitwise

ONE = ((2, 3),)
TWO = ((2, 3), (2, 3))
WIDE = (-(2.0**31), 2.0**31 - 1)
COUNTS = (0, 1, 3, 7, 8, 15, 16, 31, 32, 63, 64, 100, -1)


def on_bits(function: Any) -> Any:
    """A reference from a function of Python integers: the bits, the count, and the width."""

    def reference(x: Any, y: Any = None) -> Any:
        bits = 8 * x.dtype.itemsize
        unsigned = np.dtype(f"u{bits // 8}")
        counts = np.zeros_like(x) if y is None else y
        found = [
            function(int(a) % (1 << bits), int(b) % (1 << bits), bits) % (1 << bits)
            for a, b in zip(x.flat, counts.flat)
        ]
        return np.array(found, unsigned).view(x.dtype).reshape(x.shape)

    return reference


@on_bits
def left(bits: int, count: int, width: int) -> int:
    """Shift left, nothing left from `width` on."""
    return bits << count if count < width else 0


@on_bits
def logical(bits: int, count: int, width: int) -> int:
    """Shift right, zeros coming in."""
    return bits >> count if count < width else 0


@on_bits
def arithmetic(bits: int, count: int, width: int) -> int:
    """Shift right, the highest bit coming in."""
    number = bits - (1 << width) if bits >> (width - 1) else bits
    return number >> min(count, width)


@on_bits
def set_bits(bits: int, count: int, width: int) -> int:
    """How many bits are set."""
    return bits.bit_count()


@on_bits
def leading_zeros(bits: int, count: int, width: int) -> int:
    """How many zeros come first."""
    return width - bits.bit_length()


def shifted(name: str, reference: Any) -> tuple[Case, ...]:
    """A row for each dtype with every count that matters, and one for literals."""
    call = getattr(bitwise, name)
    rows = []
    for dtype in INTEGERS:
        limits = np.iinfo(dtype)
        counts = [c for c in COUNTS if c >= limits.min]
        pairs = [(a, c) for a in (int(limits.min), int(limits.max), 1, 0) for c in counts]
        operands = tuple(
            Operand((len(pairs),), values=np.array(column, dtype)) for column in zip(*pairs)
        )
        rows.append(Case(name, call, operands, {}, reference, (dtype,), label=dtype))
    rows.append(Case(name, call, TWO, {}, reference, INTEGERS, (0, 9), literals=(0, 1)))
    return tuple(rows)


CASES = (
    Case(
        "bitwise_and", bitwise.bitwise_and, TWO, {}, np.bitwise_and, LOGICAL, WIDE, literals=(0, 1)
    ),
    Case("bitwise_or", bitwise.bitwise_or, TWO, {}, np.bitwise_or, LOGICAL, WIDE, literals=(0, 1)),
    Case(
        "bitwise_xor", bitwise.bitwise_xor, TWO, {}, np.bitwise_xor, LOGICAL, WIDE, literals=(0, 1)
    ),
    Case("bitwise_not", bitwise.bitwise_not, ONE, {}, np.invert, LOGICAL, WIDE),
    *shifted("shift_left", left),
    *shifted("shift_right_logical", logical),
    *shifted("shift_right_arithmetic", arithmetic),
    Case("population_count", bitwise.population_count, ONE, {}, set_bits, INTEGERS, WIDE),
    Case("clz", bitwise.clz, ONE, {}, leading_zeros, INTEGERS, WIDE),
    Case("clz", bitwise.clz, ((2, 3),), {}, leading_zeros, INTEGERS, (0, 3), label="small"),
)
