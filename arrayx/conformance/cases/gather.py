"""Rows for reading and writing at computed places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from arrayx.conformance.case import (
    ANY,
    FLOAT8,
    HALF,
    LOGICAL,
    NUMERIC,
    ORDERED,
    Case,
    Operand,
)
from arrayx.primitives import gather as primitives
from arrayx.primitives.gather import GatherDims, along, points


def windows(shape: Any, indices: Any, dims: GatherDims, sizes: Any) -> Any:
    """Each window by the definition: its place in the batch, its start, whether it is inside."""
    for batch in np.ndindex(indices.shape[:-1]):
        start = [0] * len(shape)
        for j, d in enumerate(dims.start_index_map):
            start[d] = int(indices[(*batch, j)])
        for d, i in zip(dims.operand_batching_dims, dims.start_indices_batching_dims, strict=True):
            start[d] = batch[i]
        last = [n - s for n, s in zip(shape, sizes, strict=True)]
        inside = 0 not in shape and all(0 <= a <= b for a, b in zip(start, last, strict=True))
        yield batch, [min(max(a, 0), b) for a, b in zip(start, last, strict=True)], inside


def elements(batch: Any, start: Any, dims: GatherDims, sizes: Any) -> Any:
    """For each element of a window its place in the result and in the operand."""
    kept = dims.window_dims(len(sizes))
    ndim = len(batch) + len(kept)
    for offset in np.ndindex(tuple(sizes[d] for d in kept)):
        coming, window = iter(batch), iter(offset)
        result = tuple(next(window if i in dims.offset_dims else coming) for i in range(ndim))
        operand = list(start)
        for d, o in zip(kept, offset, strict=True):
            operand[d] += o
        yield result, tuple(operand)


def gathered(x: Any, indices: Any, dims: Any, sizes: Any, mode: str, fill: Any) -> Any:
    out = np.empty(primitives.result_shape(indices.shape, dims, sizes), x.dtype)
    value = primitives.default_fill(x.dtype) if fill is None else fill
    for batch, start, inside in windows(x.shape, indices, dims, sizes):
        for result, operand in elements(batch, start, dims, sizes):
            out[result] = x[operand] if inside or mode != "fill" else value
    return out


COMBINE: dict[str, Any] = {
    "set": lambda old, new: new,
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}


def scattered(
    x: Any, indices: Any, updates: Any, dims: Any, mode: str, combine: str, unique: bool
) -> Any:
    out = x.copy()
    as_gather = dims.as_gather()
    sizes = dims.window_sizes(x.ndim, updates.shape)
    for batch, start, inside in windows(x.shape, indices, as_gather, sizes):
        for place, operand in elements(batch, start, as_gather, sizes):
            if inside or mode not in ("drop", "within"):
                out[operand] = COMBINE[combine](out[operand], updates[place])
    return out


def sizes_scattered(x: Any, indices: Any, updates: Any, **params: Any) -> Any:
    """What the rounding errors of sums and products are relative to."""
    return 1 + scattered(np.abs(x), indices, np.abs(updates), **params)


def INDICES(*shape: int, top: int = 4, dtype: str = "int32") -> Operand:
    """Places up to `top`, some of them out of bounds."""
    return Operand(shape, dtype=dtype, domain=(0 if dtype[0] == "u" else -1, top))


# Forms that users meet, by the shape of the operand, the indices, and where axes go.
FORMS = (
    ("rows", (4, 3), INDICES(3, 1), *points((4, 3), (0,), 1)),
    ("columns", (3, 4), INDICES(2, 2, 1), *points((3, 4), (1,), 2, 1)),
    ("points", (4, 4), INDICES(5, 2), *points((4, 4), (0, 1), 1)),
    ("apart", (4, 2, 4), INDICES(3, 2), *points((4, 2, 4), (0, 2), 1)),
    ("crossed", (2, 4, 4), INDICES(3, 2), *points((2, 4, 4), (2, 1), 1, 1)),
    ("along", (3, 4), INDICES(3, 2, 1), *along((3, 4), 1)),
    ("along_late", (4, 3), INDICES(2, 3, 1), *along((4, 3), 0)),
    ("windows", (5, 4), INDICES(3, 2), GatherDims((1, 2), (), (0, 1)), (2, 3)),
    ("strips", (5, 3), INDICES(2, 1, dtype="uint8"), GatherDims((0, 2), (), (0,)), (3, 2)),
    ("one", (4, 3), INDICES(1, dtype="int64"), GatherDims((0,), (0,), (0,)), (1, 3)),
    ("all", (2, 3), INDICES(2, 0), GatherDims((1, 2), (), ()), (2, 3)),
    ("whole_axis", (3, 2), INDICES(2, 1, top=0), GatherDims((1, 2), (), (0,)), (3, 2)),
    (
        "batching",
        (3, 4, 3),
        INDICES(2, 3, 3, 1),
        GatherDims((), (1,), (1,), (0, 2), (2, 1)),
        (1, 1, 1),
    ),
    ("nothing", (4, 3), INDICES(0, 1), *points((4, 3), (0,), 1)),
)


# The dtypes of rows that differ from others in their form alone.
SOME = ("float32", "float64", "complex128", "int32", "bool")
EVERY_MODE = ("rows", "points", "windows")


def read(label: str, form: Any, mode: str, fill: Any, kinds: Any, call: Any = None) -> Case:
    _, shape, indices, dims, sizes = form
    return Case(
        "gather",
        call or primitives.gather,
        (shape, indices),
        {"dims": dims, "sizes": sizes, "mode": mode, "fill": fill},
        gathered,
        kinds,
        label=label,
    )


def reads() -> Iterator[Case]:
    for form in FORMS:
        label, usual = form[0], form[0] in EVERY_MODE
        # A finite fill, because differences of nan are none.
        yield read(f"{label}_fill", form, "fill", 1, ANY + FLOAT8 if usual else SOME)
        if usual:
            yield read(f"{label}_clip", form, "clip", None, SOME)
            expand = primitives.gather.expand
            yield read(f"{label}_expanded", form, "fill", 1, SOME, expand)
    points_inside = (*FORMS[2][:2], Operand((5, 2), dtype="uint32", domain=(0, 3)), *FORMS[2][3:])
    yield read("promise", points_inside, "promise", None, SOME)
    narrow = ("float32", *HALF, "complex64", *LOGICAL)
    yield read("default_fill", FORMS[0], "fill", None, narrow)
    empty = ("", (0, 3), INDICES(2, 1), *points((0, 3), (0,), 1))
    yield read("of_nothing", empty, "fill", 1, SOME)


KINDS = {"set": ANY + FLOAT8, "add": NUMERIC, "mul": NUMERIC, "min": ORDERED, "max": ORDERED}


def write(
    label: str,
    form: Any,
    mode: str,
    combine: str,
    few: bool,
    call: Any = None,
    unique: bool = False,
) -> Case:
    _, shape, indices, dims, sizes = form
    kinds = KINDS[combine]
    return Case(
        "scatter",
        call or primitives.scatter,
        (shape, indices, primitives.result_shape(indices.shape, dims, sizes)),
        {"dims": dims.as_scatter(), "mode": mode, "combine": combine, "unique": unique},
        scattered,
        tuple(d for d in kinds if d in SOME) if few else kinds,
        scale=sizes_scattered if combine in ("add", "mul") else None,
        signed_zeros=combine in ("set", "mul"),
        label=f"{combine}_{label}",
    )


def writes() -> Iterator[Case]:
    expand = primitives.scatter.expand
    for form in FORMS:
        label, usual = form[0], form[0] in EVERY_MODE
        for combine in KINDS if usual or label == "along" else ("set", "add"):
            yield write(label, form, "drop", combine, few=label != "rows")
            if label in ("points", "windows"):
                yield write(f"{label}_clip", form, "clip", combine, few=True)
        if usual:
            yield write(f"{label}_within", form, "within", "add", True)
            yield write(f"{label}_expanded", form, "drop", "set", True, expand)
            yield write(f"{label}_clip_expanded", form, "clip", "add", True, expand)
    places = Operand((3, 1), dtype="int32", values=[2, 0, 3])
    inside = (*FORMS[0][:2], places, *FORMS[0][3:])
    for combine in KINDS:
        yield write("unique", inside, "promise", combine, few=True, unique=True)


CASES = (*reads(), *writes())
