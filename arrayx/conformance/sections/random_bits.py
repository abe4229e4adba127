"""Random keys and draws are the same bits on every backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import arrayx as ax
from arrayx import random
from arrayx.backend.registry import chosen
from arrayx.conformance.item import Item
from arrayx.conformance.sections.statement import item

Draw = tuple[Callable[[], Any], str, tuple[int, ...], list[Any]]

# Recorded: the expression, the dtype, the shape, the elements.  32-bit defaults.
_DRAWS: dict[str, Draw] = {
    "key": (lambda: random.key_data(random.key(42)), "uint32", (2,), [0, 42]),
    "split": (
        lambda: random.key_data(random.split(random.key(42))),
        "uint32",
        (2, 2),
        [1832780943, 270669613, 64467757, 2916123636],
    ),
    "fold_in": (
        lambda: random.key_data(random.fold_in(random.key(42), 0)),
        "uint32",
        (2,),
        [1832780943, 270669613],
    ),
    "bits": (
        lambda: random.bits(random.key(0), (5,)),
        "uint32",
        (5,),
        [4070199207, 4202968722, 1427181096, 2012915765, 2447653815],
    ),
    "bits_of_8": (
        lambda: random.bits(random.key(0), (2, 3), "uint8"),
        "uint8",
        (2, 3),
        [167, 146, 40, 53, 183, 67],
    ),
    "bits_of_16": (
        lambda: random.bits(random.key(0), (2, 3), "uint16"),
        "uint16",
        (2, 3),
        [20391, 13970, 3624, 43061, 15287, 26947],
    ),
    "uniform": (
        lambda: random.uniform(random.key(1), (6,)),
        "float32",
        (6,),
        [
            0.4386324882507324,
            0.5337529182434082,
            0.44591832160949707,
            0.4383963346481323,
            0.8973628282546997,
            0.5589460134506226,
        ],
    ),
    "randint": (
        lambda: random.randint(random.key(2), (8,), 0, 10),
        "int32",
        (8,),
        [9, 2, 3, 3, 7, 6, 2, 1],
    ),
    "permutation": (
        lambda: random.permutation(random.key(4), 7),
        "int32",
        (7,),
        [6, 4, 5, 1, 3, 0, 2],
    ),
    "bernoulli": (
        lambda: random.bernoulli(random.key(3), 0.2, (12,)),
        "bool",
        (12,),
        [True, False, False, False, False, False, True, False, False, True, False, True],
    ),
}


def items(backend: str) -> Iterator[Item]:
    """Each draw eagerly, compiled, and in lanes."""
    for name in _DRAWS:
        for way in _WAYS:
            yield item(
                "random_bits",
                name,
                check,
                name,
                way,
                backend,
                detail=way,
                owed=True,
                core=way != "in_lanes",
            )


def _in_lanes(draw: Callable[[], Any]) -> Any:
    lanes = ax.vmap(lambda _: draw())(np.zeros(2, np.float32))
    assert np.array_equal(np.asarray(lanes[0]), np.asarray(lanes[1])), "lanes draw differently"
    return lanes[1]


_WAYS: dict[str, Callable[[Callable[[], Any]], Any]] = {
    "eager": lambda draw: draw(),
    "compiled": lambda draw: ax.jit(lambda: draw())(),
    "in_lanes": _in_lanes,
}


def check(name: str, way: str, backend: str) -> None:
    """A draw is the recorded one, bit for bit."""
    draw, dtype, shape, elements = _DRAWS[name]
    with chosen(backend), ax.config(default_dtype_bits=32):
        got = np.asarray(_WAYS[way](draw))
    wanted = np.array(elements, dtype).reshape(shape)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape), (
        f"{name}, {way}: {got.dtype}{list(got.shape)}, expected {wanted.dtype}{list(wanted.shape)}"
    )
    assert np.array_equal(got, wanted), f"{name}, {way}: drew {got}, expected {wanted}"
