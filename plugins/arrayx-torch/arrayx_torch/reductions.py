"""Kernels that make one element of many: reductions, running ones, windows; and sorting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from arrayx.primitives.cumulative import highest, lowest
from arrayx.primitives.windows import windowed_shape
from arrayx_torch.kinds import (
    NARROW,
    SIGNED,
    in_float32,
    low,
    numpy_dtype,
    ordered,
    scalar,
    signed,
    tensors,
    wide,
)
from arrayx_torch.structural import padded


def rows_of(x: Any, axes: Any) -> Any:
    """The axes to be reduced as one, the last."""
    kept = [i for i in range(x.ndim) if i not in axes]
    n = 1
    for i in axes:
        n *= x.shape[i]
    return x.permute((*kept, *axes)).reshape([x.shape[i] for i in kept] + [n])


@signed
def reduce_sum(x: Any, *, axes: Any) -> Any:
    if not axes:
        return x + 0  # a sum of one element: 0 of -0
    return torch.sum(x, dim=axes, dtype=wide(x.dtype)).to(x.dtype)


@signed
def reduce_prod(x: Any, *, axes: Any) -> Any:
    if not axes:
        return x
    return torch.prod(rows_of(x, axes), -1, dtype=wide(x.dtype)).to(x.dtype)


def extreme(function: Callable[..., Any], unit: Callable[[Any], Any]) -> Callable[..., Any]:
    """The greatest or least element; of none the unit."""

    def kernel(x: Any, *, axes: Any) -> Any:
        if x.numel() == 0:
            shape = [n for i, n in enumerate(x.shape) if i not in axes]
            return scalar(unit(numpy_dtype(x.dtype)), x.dtype, x.device).expand(shape)
        return ordered(lambda a: function(a, axes))(x) if axes else x

    return kernel


def folded(x: Any, combine: Callable[..., Any], unit: Any) -> Any:
    """The last axis combined, half with half."""
    while x.shape[-1] > 1:
        half = x.shape[-1] // 2
        rest = x[..., 2 * half :]
        x = combine(x[..., :half], x[..., half : 2 * half])
        x = torch.cat((x, rest), -1)
    if x.shape[-1] == 0:
        return unit.expand(x.shape[:-1])
    return x[..., 0]


def logical(name: str, unit: int) -> Callable[..., Any]:
    """Bitwise and or or of elements."""
    of_bools = torch.all if name == "and" else torch.any
    of_integers = getattr(torch, f"bitwise_{name}")

    @signed
    def kernel(x: Any, *, axes: Any) -> Any:
        if not axes:
            return x
        if x.dtype is torch.bool:
            return of_bools(x, dim=axes)
        return folded(rows_of(x, axes), of_integers, scalar(unit, x.dtype, x.device))

    return kernel


# ----------------------------------------------------------------- running


def turned(x: Any, axis: int, reverse: bool) -> Any:
    return signed(lambda a: a.flip(axis))(x) if reverse else x


def running(function: Callable[..., Any]) -> Callable[..., Any]:
    """A running combination along an axis; float32 is accumulated in float64, as elsewhere."""

    def kernel(x: Any, *, axis: int, reverse: bool) -> Any:
        if x.numel() == 0:
            return x
        return turned(function(turned(x, axis, reverse), axis=axis), axis, reverse)

    return kernel


def precise(x: Any) -> Any:
    """The dtype in which sums of many terms are made."""
    if x.device.type == "mps":
        return wide(x.dtype)
    more = {torch.float32: torch.float64, torch.complex64: torch.complex128}
    return more.get(x.dtype, wide(x.dtype))


@signed
def running_sum(x: Any, *, axis: int) -> Any:
    return torch.cumsum(x, axis, dtype=precise(x)).to(x.dtype)


@signed
def running_product(x: Any, *, axis: int) -> Any:
    return torch.cumprod(x, axis, dtype=wide(x.dtype)).to(x.dtype)


# ----------------------------------------------------------------- windows


def reduce_window(combine: Callable[..., Any], unit: Callable[[Any], Any]) -> Callable[..., Any]:
    """Windows combined axis by axis: a box costs a sum of logarithms of lengths."""

    def kernel(x: Any, **params: Any) -> Any:
        counts = windowed_shape(tuple(x.shape), **params)
        start = scalar(unit(numpy_dtype(x.dtype)), x.dtype, x.device)
        if x.numel() == 0 or 0 in counts:
            return start.expand(counts)

        def over(x: Any, start: Any) -> Any:
            dtype = x.dtype
            x, start = x.to(wide(dtype)), start.to(wide(dtype))
            before, after = zip(*params["padding"], strict=True) if x.ndim else ((), ())
            x = padded(x, start, before, after, [d - 1 for d in params["base_dilation"]])
            for axis in range(x.ndim):
                size, stride, dilation = (
                    params[k][axis] for k in ("window", "strides", "window_dilation")
                )
                x = slid(x, axis, size, stride, dilation, counts[axis], combine)
            return x.to(dtype)

        ordering = combine in (torch.maximum, torch.minimum)
        return (ordered if ordering else signed)(over)(x, start)

    return kernel


def slid(x: Any, axis: int, size: int, stride: int, dilation: int, count: int, combine: Any) -> Any:
    """Windows along one axis, of pieces of 1, 2, 4, … elements."""
    length = (count - 1) * stride + 1
    out, done, piece = None, 0, 1
    while True:
        if size & piece:
            part = x.narrow(axis, done * dilation, length)
            part = part[(slice(None),) * axis + (slice(None, None, stride),)]
            out = part if out is None else combine(out, part)
            done += piece
        if done == size:
            return out
        step = piece * dilation
        rest = x.shape[axis] - step
        x = combine(x.narrow(axis, 0, rest), x.narrow(axis, step, rest))
        piece *= 2


def all_bits(dtype: Any) -> Any:
    return True if dtype.kind == "b" else -1


# ----------------------------------------------------------------- sorting


def keys_of(x: Any) -> list[Any]:
    """What is compared one after the other, the most important first: nan last, zeros equal."""
    if x.dtype in SIGNED:
        held = SIGNED[x.dtype]
        return [x.view(held) ^ low(held)]
    if x.dtype.is_complex:
        parts = [x.real, x.imag]
        flags = [p != p for p in parts]
        return [*flags, *[torch.where(f, 0.0, p) for f, p in zip(flags, parts, strict=True)]]
    return [x.float() if x.dtype in NARROW else x]


def sort(*operands: Any, axis: int, num_keys: int) -> Any:
    xs = tensors(*operands)
    keys = [k for x in xs[:num_keys] for k in keys_of(x)]
    order = None
    for key in reversed(keys):
        key = key if order is None else key.gather(axis, order)
        step = torch.sort(key, dim=axis, stable=True).indices
        order = step if order is None else order.gather(axis, step)
    return tuple(taken(x, axis, order) for x in xs)


def taken(x: Any, axis: int, order: Any) -> Any:
    return signed(lambda a: a.gather(axis, order))(x)


REDUCTIONS: dict[str, Any] = {
    "reduce_sum": reduce_sum,
    "reduce_prod": reduce_prod,
    "reduce_max": extreme(torch.amax, lowest),
    "reduce_min": extreme(torch.amin, highest),
    "reduce_and": logical("and", -1),
    "reduce_or": logical("or", 0),
    "cumsum": running(running_sum),
    "cumprod": running(running_product),
    "cummax": running(ordered(lambda x, *, axis: torch.cummax(x, axis).values)),
    "cummin": running(ordered(lambda x, *, axis: torch.cummin(x, axis).values)),
    "cumlogsumexp": running(in_float32(lambda x, *, axis: torch.logcumsumexp(x, axis))),
    "reduce_window_sum": reduce_window(torch.add, lambda dtype: 0),
    "reduce_window_prod": reduce_window(torch.mul, lambda dtype: 1),
    "reduce_window_max": reduce_window(torch.maximum, lowest),
    "reduce_window_min": reduce_window(torch.minimum, highest),
    "reduce_window_and": reduce_window(torch.bitwise_and, all_bits),
    "reduce_window_or": reduce_window(torch.bitwise_or, lambda dtype: 0),
    "sort": sort,
}
