"""Threefry on NumPy: the cipher in blocks that stay in the cache, apart for its loop."""

from __future__ import annotations

from typing import Any

import numpy as np

# Elements of a block: its three buffers fit the second-level cache, and a call of a ufunc
# costs several times its overhead.
BLOCK = 1 << 16
PARITY = np.uint32(0x1BD11BDA)
# Distances left and right of the four rotations of a group; the groups alternate.  Arrays of
# rank 0, because a ufunc takes them faster than scalars.
TURNS = tuple(
    tuple((np.array(r, np.uint32), np.array(32 - r, np.uint32)) for r in group)
    for group in ((13, 15, 26, 6), (17, 29, 16, 24))
)
STEPS = tuple(np.array(i, np.uint32) for i in range(6))


def threefry2x32(k0: Any, k1: Any, x0: Any, x1: Any) -> Any:
    """The words enciphered under the keys, all uint32 of one shape."""
    shape = np.shape(x0)
    first, second = np.empty(shape, np.uint32), np.empty(shape, np.uint32)
    flat0, flat1 = first.reshape(-1), second.reshape(-1)
    operands = [flat(x) for x in (k0, k1, x0, x1)]
    spare = np.empty(min(BLOCK, flat0.size), np.uint32)
    for start in range(0, flat0.size, BLOCK):
        stop = min(start + BLOCK, flat0.size)
        given = [x[start:stop] if x.ndim else x for x in operands]
        encipher(*given, flat0[start:stop], flat1[start:stop], spare[: stop - start])
    return (first, second) if shape else (first[()], second[()])


def flat(x: Any) -> np.ndarray:
    """The elements in one row; one alone where all are the same by having no strides."""
    x = np.asarray(x)
    if x.size and not any(x.strides):
        return x[(0,) * x.ndim + (...,)]
    return x.reshape(-1)


def encipher(
    k0: np.ndarray,
    k1: np.ndarray,
    x0: np.ndarray,
    x1: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    spare: np.ndarray,
) -> None:
    """20 rounds over one block, from `x0, x1` into `a, b`."""
    add, xor, either = np.add, np.bitwise_xor, np.bitwise_or
    to_left, to_right = np.left_shift, np.right_shift
    schedule = k0, k1, np.asarray(k0 ^ k1 ^ PARITY)
    add(x0, k0, a)
    add(x1, k1, b)
    for group in range(5):
        for left, right in TURNS[group % 2]:
            add(a, b, a)
            to_left(b, left, spare)
            to_right(b, right, b)
            either(b, spare, b)
            xor(b, a, b)
        add(a, schedule[(group + 1) % 3], a)
        add(b, schedule[(group + 2) % 3], b)
        add(b, STEPS[group + 1], b)


RANDOM: dict[str, Any] = {"threefry2x32": threefry2x32}
