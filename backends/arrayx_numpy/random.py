"""Threefry on NumPy: the cipher in blocks that stay in the cache, apart for its loop."""

from __future__ import annotations

from typing import Any

import numpy as np

# Elements of a block: its three buffers fit the second-level cache, and a call of a ufunc
# costs several times its overhead.
BLOCK = 1 << 16
WORD = 0xFFFFFFFF
PARITY = np.uint32(0x1BD11BDA)
# Distances left and right of the four rotations of a group; the groups alternate.
DISTANCES = tuple(
    tuple((r, 32 - r) for r in group) for group in ((13, 15, 26, 6), (17, 29, 16, 24))
)
# As arrays of rank 0, which a ufunc takes faster than scalars.
TURNS = tuple(
    tuple((np.array(left, np.uint32), np.array(right, np.uint32)) for left, right in group)
    for group in DISTANCES
)
STEPS = tuple(np.array(i, np.uint32) for i in range(6))
# So many elements are enciphered faster in Python's own integers than by ufunc calls.
FEW = 4


def threefry2x32(k0: Any, k1: Any, x0: Any, x1: Any) -> Any:
    """The words enciphered under the keys, all uint32 of one shape."""
    shape = np.shape(x0)
    if np.size(x0) <= FEW:
        return few(shape, k0, k1, x0, x1)
    first, second = np.empty(shape, np.uint32), np.empty(shape, np.uint32)
    flat0, flat1 = first.reshape(-1), second.reshape(-1)
    operands = [flat(x) for x in (k0, k1, x0, x1)]
    spare = np.empty(min(BLOCK, flat0.size), np.uint32)
    for start in range(0, flat0.size, BLOCK):
        stop = min(start + BLOCK, flat0.size)
        given = [x[start:stop] if x.ndim else x for x in operands]
        encipher(*given, flat0[start:stop], flat1[start:stop], spare[: stop - start])
    return first, second


def few(shape: Any, *words: Any) -> tuple[Any, Any]:
    """The cipher of an array of few elements."""
    rows = [np.ravel(w).tolist() for w in words]
    pairs = np.array([enciphered(*row) for row in zip(*rows, strict=True)], np.uint32)
    first, second = pairs.reshape(-1, 2).T
    return first.reshape(shape)[()], second.reshape(shape)[()]


def enciphered(k0: int, k1: int, a: int, b: int) -> tuple[int, int]:
    """The cipher of one pair of words."""
    schedule = k0, k1, k0 ^ k1 ^ 0x1BD11BDA
    a, b = (a + k0) & WORD, (b + k1) & WORD
    for group in range(5):
        for left, right in DISTANCES[group % 2]:
            a = (a + b) & WORD
            b = (b << left & WORD | b >> right) ^ a
        a = (a + schedule[(group + 1) % 3]) & WORD
        b = (b + schedule[(group + 2) % 3] + group + 1) & WORD
    return a, b


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
