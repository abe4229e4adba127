"""Gather and scatter: windows addressed by one number each, as the reference backend plans them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import torch

from arrayx.primitives.gather import default_fill, result_shape
from arrayx_numpy.structural import Plan, plan
from arrayx_torch.kinds import SIGNED, numpy_dtype, scalar, signed, wide


def as_places(indices: Any) -> Any:
    """Indices as int64; what is too large for that stays out of bounds."""
    held = SIGNED.get(indices.dtype)
    if held is None:
        return indices.to(torch.int64)
    bits = indices.view(held).to(torch.int64)
    if held is torch.int64:
        return torch.where(bits < 0, torch.full_like(bits, 2**62), bits)
    return bits & ((1 << (8 * held.itemsize)) - 1)


@lru_cache(maxsize=1024)
def offsets_of(p: Any, device: Any) -> Any:
    return torch.from_numpy(np.ascontiguousarray(p.array)).to(device)


class Key:
    """An array of a plan by identity; plans are kept."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __hash__(self) -> int:
        return id(self.array)

    def __eq__(self, other: Any) -> bool:
        return self.array is other.array


def places_of(indices: Any, p: Plan) -> tuple[Any, Any]:
    """The place of every element of the windows, moved inside; which windows were inside."""
    indices = as_places(indices)
    batch_shape = p.places_shape[: p.batch_ndim]
    places = torch.zeros(batch_shape, dtype=torch.int64, device=indices.device)
    inside = torch.ones(batch_shape, dtype=torch.bool, device=indices.device)
    for j, (last, unit) in enumerate(p.components):
        part = indices[..., j]
        kept = part.clamp(0, last)
        inside = inside & (kept == part)
        places = places + kept * unit
    ones = (1,) * (len(p.places_shape) - p.batch_ndim)
    places = places.reshape(batch_shape + ones)
    if p.offsets is not None:
        places = places + offsets_of(Key(p.offsets), indices.device)
    return places.expand(p.places_shape), inside


def gather(x: Any, indices: Any, *, dims: Any, sizes: Any, mode: str, fill: Any) -> Any:
    fill = default_fill(numpy_dtype(x.dtype)) if fill is None else fill
    fill = scalar(fill, x.dtype, x.device)
    shape = result_shape(tuple(indices.shape), dims, sizes)
    if x.numel() == 0 or 0 in shape:
        return fill.expand(shape)

    @signed
    def read(fill: Any, x: Any) -> Any:
        p = plan(tuple(x.shape), tuple(indices.shape), dims, tuple(sizes))
        places, inside = places_of(indices, p)
        rows = x.permute(p.indexed + p.whole)
        rows = rows.reshape(p.count, *[x.shape[d] for d in p.whole])
        out = rows[places].permute(p.perm)
        if mode == "fill":
            out = torch.where(inside.reshape(p.mask_shape), out, fill)
        return out

    return read(fill, x)


def scatter(
    x: Any, indices: Any, updates: Any, *, dims: Any, mode: str, combine: str, unique: bool
) -> Any:
    if updates.numel() == 0 or x.numel() == 0:
        return x
    sizes = dims.window_sizes(x.ndim, tuple(updates.shape))
    p = plan(tuple(x.shape), tuple(indices.shape), dims.as_gather(), tuple(sizes))
    places, inside = places_of(indices, p)
    if mode in ("drop", "within"):
        extra = (1,) * (places.ndim - inside.ndim)
        # What is dropped falls on one row more.
        places = torch.where(inside.reshape(inside.shape + extra), places, p.count)
    order = p.indexed + p.whole
    lengths = [x.shape[d] for d in order]
    flip = combine in ("min", "max") and x.dtype in SIGNED

    @signed
    def write(updates: Any, x: Any) -> Any:
        dtype = x.dtype if combine == "set" else wide(x.dtype)
        if flip:
            mask = -(1 << (8 * dtype.itemsize - 1))
            updates, x = updates ^ mask, x ^ mask
        rows = x.permute(order).reshape(p.count, -1).to(dtype)
        spare = torch.zeros((1, rows.shape[1]), dtype=dtype, device=x.device)
        written = updates.permute([int(i) for i in np.argsort(p.perm)]).to(dtype)
        written = written.reshape(places.numel(), -1)
        rows = torch.cat((rows, spare))
        rows = COMBINE[combine](rows, places.reshape(-1), written)[:-1]
        out = rows.reshape(lengths).permute([int(i) for i in np.argsort(order)]).to(x.dtype)
        return out ^ mask if flip else out

    return write(updates, x)


def set_last(rows: Any, places: Any, written: Any) -> Any:
    """Writes rows; of several for one place the last stays, whatever the device does first."""
    last = torch.full((rows.shape[0],), -1, dtype=torch.int64, device=rows.device)
    turns = torch.arange(places.shape[0], device=rows.device)
    last = last.scatter_reduce(0, places, turns, "amax")
    return torch.where((last >= 0)[:, None], written[last.clamp(min=0)], rows)


def add_all(rows: Any, places: Any, written: Any) -> Any:
    return rows.index_add(0, places, written)


def reduce_all(rows: Any, places: Any, written: Any, how: str) -> Any:
    return rows.scatter_reduce(0, places[:, None].expand(written.shape), written, how)


def mul_all(rows: Any, places: Any, written: Any) -> Any:
    """Products, of complex numbers too, which torch's own has not: one turn after the other."""
    if not rows.dtype.is_complex:
        return reduce_all(rows, places, written, "prod")
    order = torch.argsort(places, stable=True)
    sorted_ = places[order]
    starts = torch.searchsorted(sorted_, sorted_)
    turn = torch.arange(places.shape[0], device=rows.device) - starts
    for i in range(int(turn.max()) + 1):
        chosen = order[turn == i]
        at = places[chosen]
        rows = rows.index_copy(0, at, rows[at] * written[chosen])
    return rows


COMBINE: dict[str, Any] = {
    "set": set_last,
    "add": add_all,
    "mul": mul_all,
    "min": lambda rows, places, written: reduce_all(rows, places, written, "amin"),
    "max": lambda rows, places, written: reduce_all(rows, places, written, "amax"),
}
INDEXING: dict[str, Any] = {"gather": gather, "scatter": scatter}
