"""Rows for reading and writing at computed places."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import ANY, FLOAT8, NUMERIC, ORDERED, REAL, Case, Operand
from arrayx.primitives import gather as primitives
from arrayx.primitives.gather import GatherDims, along, points


def windows(shape: Any, indices: Any, dims: GatherDims, sizes: Any) -> Any:
    """Each window by the definition: its place in the batch, its start, whether it is inside."""
    for batch in np.ndindex(indices.shape[:-1]):
        start = [0] * len(shape)
        for j, d in enumerate(dims.start_index_map):
            start[d] = int(indices[(*batch, j)])
        for d, i in zip(
            dims.operand_batching_dims, dims.start_indices_batching_dims, strict=True
        ):
            start[d] = batch[i]
        last = [n - s for n, s in zip(shape, sizes, strict=True)]
        inside = all(0 <= a <= b for a, b in zip(start, last, strict=True))
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
            if inside or mode != "drop":
                out[operand] = COMBINE[combine](out[operand], updates[place])
    return out


def sizes_scattered(x: Any, indices: Any, updates: Any, **params: Any) -> Any:
    """What the rounding errors of sums and products are relative to."""
    return 1 + scattered(np.abs(x), indices, np.abs(updates), **params)


def INDICES(*shape: int, top: int = 4, dtype: str = "int32") -> Operand:  # noqa: N802
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


def reads() -> Any:
    for label, shape, indices, dims, sizes in FORMS:
        for mode in ("fill", "clip") if label in ("rows", "windows", "points") else ("fill",):
            yield Case(
                "gather",
                primitives.gather,
                (shape, indices),
                {"dims": dims, "sizes": sizes, "mode": mode, "fill": None},
                gathered,
                ANY + FLOAT8,
                label=f"{label}_{mode}",
            )
    label, shape, _, dims, sizes = FORMS[2]
    yield Case(
        "gather",
        primitives.gather,
        (shape, Operand((5, 2), dtype="uint32", domain=(0, 3))),
        {"dims": dims, "sizes": sizes, "mode": "promise", "fill": None},
        gathered,
        ANY,
        label="promise",
    )
    yield Case(
        "gather",
        primitives.gather,
        ((4, 3), INDICES(3, 1)),
        {"dims": FORMS[0][3], "sizes": FORMS[0][4], "mode": "fill", "fill": 7},
        gathered,
        REAL,
        label="fill_7",
    )


def writes() -> Any:
    kinds = {"set": ANY + FLOAT8, "add": NUMERIC, "mul": NUMERIC, "min": ORDERED, "max": ORDERED}
    for label, shape, indices, dims, sizes in FORMS:
        updates = primitives.result_shape(indices.shape, dims, sizes)
        # Every form is written in one way, and every way is tried on some forms.
        ways = ["set", "add"] if label != "points" else list(kinds)
        if label in ("rows", "windows", "along"):
            ways = list(kinds)
        for combine in ways:
            for mode in ("drop", "clip") if label in ("points", "windows") else ("drop",):
                yield Case(
                    "scatter",
                    primitives.scatter,
                    (shape, indices, updates),
                    {
                        "dims": dims.as_scatter(),
                        "mode": mode,
                        "combine": combine,
                        "unique": False,
                    },
                    scattered,
                    kinds[combine],
                    scale=sizes_scattered if combine in ("add", "mul") else None,
                    signed_zeros=combine in ("set", "mul"),
                    label=f"{combine}_{label}_{mode}",
                )
    for combine in kinds:
        yield Case(
            "scatter",
            primitives.scatter,
            ((4, 3), Operand((3, 1), dtype="int32", values=[2, 0, 3]), (3, 3)),
            {
                "dims": FORMS[0][3].as_scatter(),
                "mode": "promise",
                "combine": combine,
                "unique": True,
            },
            scattered,
            kinds[combine],
            scale=sizes_scattered if combine in ("add", "mul") else None,
            signed_zeros=combine in ("set", "mul"),
            label=f"{combine}_unique",
        )


CASES = (*reads(), *writes())
