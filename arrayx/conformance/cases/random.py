"""Rows for keys and random bits.

Keys come into a row as their words and leave it as such, because references take numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from arrayx.conformance.case import Case, Operand
from arrayx.primitives import random

WORD = 0xFFFFFFFF
ANY_WORD = (0.0, float(WORD))
UINT32 = ("uint32",)
KEY = Operand((2,), values=(0x13198A2E, 0x83707344))
KEYS = Operand((3, 2), domain=ANY_WORD)
WORDS = Operand((2, 3), domain=ANY_WORD)


def enciphered(key: Any, counter: int) -> tuple[int, int]:
    """Threefry-2x32 with 20 rounds, for a key of two words and a number of 64 bits."""
    schedule = [int(key[0]), int(key[1])]
    schedule.append(schedule[0] ^ schedule[1] ^ 0x1BD11BDA)
    a, b = ((counter >> 32) + schedule[0]) & WORD, (counter + schedule[1]) & WORD
    for i, distance in enumerate((13, 15, 26, 6, 17, 29, 16, 24) * 3):
        if i == 20:
            break
        a = (a + b) & WORD
        b = (b << distance & WORD | b >> (32 - distance)) ^ a
        if i % 4 == 3:
            n = i // 4 + 1
            a = (a + schedule[n % 3]) & WORD
            b = (b + schedule[(n + 1) % 3] + n) & WORD
    return a, b


def cipher(k0: Any, k1: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    """The cipher of four arrays."""
    flat = zip(*(x.ravel().tolist() for x in (k0, k1, x0, x1)), strict=True)
    pairs = [enciphered((a, b), c << 32 | d) for a, b, c, d in flat]
    first, second = np.array(pairs, np.uint32).reshape(-1, 2).T
    return first.reshape(k0.shape), second.reshape(k0.shape)


def for_each_key(function: Any, dtype: Any = np.uint32) -> Any:
    """A reference from a function of one key's words, a place and params."""

    def reference(words: Any, *data: Any, shape: Any = (), **params: Any) -> Any:
        keys = words.reshape(-1, 2)
        numbers = data[0].ravel().tolist() if data else range(math.prod(shape))
        rows = [
            [function(key, n, **params) for n in (numbers[i : i + 1] if data else numbers)]
            for i, key in enumerate(keys)
        ]
        inner = (2,) if function is enciphered else ()
        given = np.dtype(f"u{params['width'] // 8}") if "width" in params else dtype
        return np.array(rows, given).reshape((*words.shape[:-1], *shape, *inner))

    return reference


def bits(key: Any, number: int, width: int) -> int:
    """Random bits of one element."""
    first, second = enciphered(key, number)
    return first << 32 | second if width == 64 else (first ^ second) % 2**width


def unwrapping(primitive: Any) -> Any:
    """A primitive from keys to keys, from words to words."""
    return lambda words, *data, **params: random.random_unwrap(
        primitive(random.random_wrap(words), *data, **params)
    )


CASES = (
    Case("threefry2x32", random.threefry2x32, (WORDS,) * 4, {}, cipher, UINT32),
    *(
        Case(
            "random_bits",
            lambda words, **params: random.random_bits(random.random_wrap(words), **params),
            (keys,),
            {"shape": (2, 3), "width": width},
            for_each_key(bits),
            UINT32,
            label=f"{width}-{name}",
            covers=("random_wrap",),
        )
        for width in (8, 16, 32, 64)
        for name, keys in (("key", KEY), ("keys", KEYS))
    ),
    Case(
        "random_split",
        unwrapping(random.random_split),
        (KEYS,),
        {"shape": (2, 2)},
        for_each_key(enciphered),
        UINT32,
        covers=("random_unwrap",),
    ),
    Case(
        "random_fold_in",
        unwrapping(random.random_fold_in),
        (KEYS, Operand((3,), domain=ANY_WORD)),
        {},
        for_each_key(enciphered),
        UINT32,
    ),
    Case(
        "random_seed",
        lambda seed: random.random_unwrap(random.random_seed(seed)),
        ((2, 3),),
        {},
        lambda seed: np.stack(
            [
                seed >> 32 & WORD if seed.dtype.itemsize == 8 else 0 * seed.astype(np.int64),
                seed.astype(np.int64) & WORD,
            ],
            axis=-1,
        ).astype(np.uint32),
        ("int32", "int8", "uint16", "uint32", "int64"),
        (-1e4, 2.0**31 - 1),
    ),
)
