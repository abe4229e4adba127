"""The sections by name, what each says, and where its items come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from arrayx.conformance.item import CORE, Item
from arrayx.conformance.sections import (
    compositions,
    conventions,
    derived,
    determinism,
    devices,
    dlpack,
    dtypes,
    effects,
    graphs,
    lanes,
    large,
    mistakes,
    nests,
    orders,
    parallel,
    random_bits,
    rewritings,
    rows,
    serialization,
)

#: What each section says, in the order of the report.
SECTIONS = {
    "values": "every row against its reference, in every dtype",
    "types": "what comes out is of the type that was announced",
    "dtypes": "which dtypes are there, and how they are converted and promoted",
    "edges": "zero sizes, rank 0, nan, infinities, signed zeros, odd memory layouts",
    "derivatives": "forward, reverse and second derivatives against differences and each other",
    "vmap": "batching equals a loop, over every axis of every operand",
    "compiled": "compiled equals eager, and equals the reference backend",
    "determinism": "three runs at random moments give the same bits",
    "graphs": "whole programs, most at random: values, derivatives, batching, shortened, in groups",
    "large": "many elements: long rows, blocks, tiles, memory that is used again",
    "control_flow": "cond, switch, loops and scans, against plain Python",
    "custom_rules": "custom derivatives and batching rules",
    "indexing": "reads and writes, inside and out of bounds",
    "random_bits": "keys and draws, bit for bit",
    "effects": "prints and callbacks, in order",
    "collectives": "what lanes tell each other",
    "orders": "all 24 orders of grad, vmap, jit and pmap",
    "devices": "where arrays lie, and when their elements are there",
    "dlpack": "arrays go to other libraries and come back",
    "serialization": "arrays and graphs are written down and read back",
    "mistakes": "wrong operands are refused in words",
    "parallel": "several real devices at once",
}

# Those with items of the level core, and those without: their rows need not be made for it.
_CORE: tuple[Callable[[str], Iterator[Item]], ...] = (
    rows.primitive_items,
    conventions.items,
    dtypes.items,
    graphs.items,
    rewritings.items,
    large.items,
    lanes.items,
    derived.items,
    derived.effects,
    compositions.items,
    nests.items,
    random_bits.items,
    effects.items,
    orders.items,
    devices.items,
    dlpack.items,
    serialization.items,
    mistakes.items,
    parallel.items,
    determinism.items,
)
_FULL: tuple[Callable[[str], Iterator[Item]], ...] = (rows.function_items,)


def items(backend: str, level: str) -> list[Item]:
    """All items of a level for a backend, section by section."""
    wanted = [item for source in _CORE for item in source(backend) if item.core or level != CORE]
    if level != CORE:
        wanted.extend(item for source in _FULL for item in source(backend))
    place = {name: i for i, name in enumerate(SECTIONS)}
    return sorted(wanted, key=lambda item: place[item.section])
