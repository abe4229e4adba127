"""Kernels of what makes arrays, moves elements, cuts and joins."""

from __future__ import annotations

from typing import Any

import torch

from arrayx_torch.elementwise import to_dtype
from arrayx_torch.kinds import host_integer, scalar, signed, torch_dtype


def full(*, shape: Any, dtype: Any, value: Any, weak_type: bool, device: Any) -> Any:
    return scalar(value, torch_dtype(dtype), device).expand(shape)


def iota(*, shape: Any, dtype: Any, axis: int, device: Any) -> Any:
    counts = to_dtype(torch.arange(shape[axis], device=device), torch_dtype(dtype))
    return counts.view([-1 if i == axis else 1 for i in range(len(shape))]).expand(shape)


@signed
def broadcast_in_dim(x: Any, *, shape: Any, dims: Any) -> Any:
    inner = [1] * len(shape)
    for n, d in zip(x.shape, dims, strict=True):
        inner[d] = n
    return x.reshape(inner).expand(shape)


@signed
def reshape(x: Any, *, shape: Any) -> Any:
    return x.reshape(shape)


def transpose(x: Any, *, perm: Any) -> Any:
    return x.permute(perm)


@signed
def rev(x: Any, *, axes: Any) -> Any:
    return x.flip(axes)


def slice_(x: Any, *, starts: Any, limits: Any, strides: Any) -> Any:
    return x[tuple(map(slice, starts, limits, strides))]


@signed
def pad(x: Any, value: Any, *, low: Any, high: Any, interior: Any) -> Any:
    return padded(x, value, low, high, interior)


def padded(x: Any, value: Any, low: Any, high: Any, interior: Any) -> Any:
    """The array with `value` (a number or of rank 0) around and between; negative cuts off."""
    if not (any(low) or any(high) or any(interior)):
        return x
    to, of, shape = [], [], []
    for n, before, after, i in zip(x.shape, low, high, interior, strict=True):
        step = i + 1
        length = before + n + max(n - 1, 0) * i + after
        first = max(0, -(before // step))  # the first element that is not cut off
        end = max(first, min(n, (length - 1 - before) // step + 1))
        shape.append(length)
        of.append(slice(first, end))
        begin = before + first * step
        to.append(slice(begin, begin + (end - first - 1) * step + 1, step))
        if end == first:
            to[-1] = slice(0, 0)
    value = value if isinstance(value, torch.Tensor) else scalar(value, x.dtype, x.device)
    out = value.expand(shape).clone(memory_format=torch.contiguous_format)
    out[tuple(to)] = x[tuple(of)]
    return out


@signed
def concatenate(*xs: Any, axis: int) -> Any:
    return torch.cat(xs, axis)


def window(shape: Any, starts: Any, sizes: Any) -> tuple[slice, ...]:
    """The window that begins at `starts`, moved inside."""
    moved = [max(0, min(host_integer(a), n - s)) for a, n, s in zip(starts, shape, sizes)]
    return tuple(slice(a, a + s) for a, s in zip(moved, sizes))


def dynamic_slice(x: Any, *starts: Any, sizes: Any) -> Any:
    return x[window(x.shape, starts, sizes)]


def dynamic_update_slice(x: Any, update: Any, *starts: Any) -> Any:
    @signed
    def write(x: Any, update: Any) -> Any:
        out = x.clone(memory_format=torch.contiguous_format)
        out[window(x.shape, starts, update.shape)] = update
        return out

    return write(x, update)


WITHOUT_OPERANDS = frozenset(("full", "iota"))
STRUCTURAL: dict[str, Any] = {
    "full": full,
    "iota": iota,
    "broadcast_in_dim": broadcast_in_dim,
    "reshape": reshape,
    "transpose": transpose,
    "rev": rev,
    "slice": slice_,
    "pad": pad,
    "concatenate": concatenate,
    "dynamic_slice": dynamic_slice,
    "dynamic_update_slice": dynamic_update_slice,
}
