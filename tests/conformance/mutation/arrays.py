"""Wrong kernels of what moves, gathers, reduces, sorts and contracts elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx_numpy import structural
from arrayx_numpy.structural import wide
from tests.conformance.mutation.mutant import Mutant, backend, kernel

Kernel = Callable[..., Any]


def shifted_slice(right: Kernel) -> Kernel:
    """Strided slices begin one later, where there is room."""

    def kernel(x: Any, *, starts: Any, limits: Any, strides: Any) -> Any:
        moved = [
            (a + 1, b + 1) if s > 1 and b < n else (a, b)
            for a, b, s, n in zip(starts, limits, strides, x.shape, strict=True)
        ]
        return right(x, starts=[a for a, _ in moved], limits=[b for _, b in moved], strides=strides)

    return kernel


def pad_with_zeros_inside(right: Kernel) -> Kernel:
    def kernel(x: Any, value: Any, *, low: Any, high: Any, interior: Any) -> Any:
        inner = right(x, 0, low=[0] * x.ndim, high=[0] * x.ndim, interior=interior)
        return right(inner, value, low=low, high=high, interior=[0] * x.ndim)

    return kernel


def unwritten(right: Kernel) -> Kernel:
    """The last element is whatever was in memory."""

    def kernel(*xs: Any, **params: Any) -> Any:
        result = np.array(right(*xs, **params))
        if result.size and any(params["high"]):
            raw = np.random.default_rng().bytes(result.itemsize)
            result.reshape(-1)[-1:] = np.frombuffer(raw, np.uint8)[: result.itemsize].view(
                result.dtype if result.dtype.kind != "b" else np.uint8
            )
        return result

    return kernel


def from_the_end(right: Kernel) -> Kernel:
    """Negative starts count from the end."""

    def kernel(x: Any, *starts: Any, sizes: Any) -> Any:
        starts = tuple(a + n if a < 0 else a for a, n in zip(starts, x.shape, strict=True))
        return right(x, *starts, sizes=sizes)

    return kernel


def one_less(right: Kernel) -> Kernel:
    """The last window is never reached."""

    def kernel(x: Any, *starts: Any, sizes: Any) -> Any:
        last = [max(n - s - 1, 0) for n, s in zip(x.shape, sizes, strict=True)]
        return right(x, *map(min, starts, last), sizes=sizes)

    return kernel


def in_place(right: Kernel) -> Kernel:
    def kernel(x: Any, *others: Any, **params: Any) -> Any:
        result = right(x, *others, **params)
        if isinstance(x, np.ndarray) and x.flags.writeable:
            np.copyto(x, result)
            return x
        return result

    return kernel


def gather_clips(right: Kernel) -> Kernel:
    def kernel(x: Any, indices: Any, *, mode: str, **params: Any) -> Any:
        return right(x, indices, mode="clip" if mode == "fill" else mode, **params)

    return kernel


def gather_forgets_fill(right: Kernel) -> Kernel:
    def kernel(x: Any, indices: Any, *, fill: Any, **params: Any) -> Any:
        return right(x, indices, fill=None, **params)

    return kernel


def gather_wraps(right: Kernel) -> Kernel:
    """Clipping takes negative indices for places from the end."""

    def kernel(x: Any, indices: Any, *, dims: Any, mode: str, **params: Any) -> Any:
        if mode == "clip" and indices.dtype.kind == "i":
            lengths = np.array([x.shape[d] for d in dims.start_index_map], indices.dtype)
            indices = np.where(indices < 0, indices + lengths, indices)
        return right(x, indices, dims=dims, mode=mode, **params)

    return kernel


def adds_once(right: Kernel) -> Kernel:
    """Where updates meet, one counts."""

    def kernel(x: Any, indices: Any, updates: Any, *, combine: str, **params: Any) -> Any:
        if combine == "add":
            params["unique"] = True
        return right(x, indices, updates, combine=combine, **params)

    return kernel


def scatter_clips(right: Kernel) -> Kernel:
    def kernel(x: Any, indices: Any, updates: Any, *, mode: str, **params: Any) -> Any:
        return right(x, indices, updates, mode="clip" if mode == "drop" else mode, **params)

    return kernel


def narrow_scatter(right: Kernel) -> Kernel:
    """16-bit sums one after the other in 16 bits."""

    def kernel(x: Any, indices: Any, updates: Any, *, combine: str, **params: Any) -> Any:
        if combine != "add" or wide(x.dtype) == x.dtype or np.asarray(updates).ndim != 1:
            return right(x, indices, updates, combine=combine, **params)
        for i in range(len(updates)):
            x = right(x, indices[i : i + 1], updates[i : i + 1], combine=combine, **params)
        return x

    return kernel


def first_of_many(right: Kernel) -> Kernel:
    """Of updates that meet, "set" keeps the first."""

    def kernel(x: Any, indices: Any, updates: Any, *, combine: str, **params: Any) -> Any:
        updates = np.asarray(updates)
        if combine == "set" and updates.ndim == 1 and indices.ndim == 2:
            indices, updates = indices[::-1], updates[::-1]
        return right(x, indices, updates, combine=combine, **params)

    return kernel


def narrow_sum(x: Any, *, axes: Any) -> Any:
    if wide(x.dtype) == x.dtype:
        return structural.reduce_sum(x, axes=axes)
    front = np.moveaxis(x, axes, range(len(axes)))
    front = front.reshape(-1, *front.shape[len(axes) :])
    total = np.zeros(front.shape[1:], x.dtype)
    for row in front:
        total = (total + row).astype(x.dtype)
    return total


def short_sum(right: Kernel) -> Kernel:
    """The last of 4096 or more elements is left out, in sums of rows."""

    def kernel(x: Any, *, axes: Any) -> Any:
        if axes == (x.ndim - 1,) and x.size >= structural.FEWEST and x.ndim > 1:
            x = np.array(x)
            x[..., -1] = 0
        return right(x, axes=axes)

    return kernel


def last_place(right: Kernel) -> Kernel:
    """The last of equals."""

    def kernel(x: Any, *, axis: int, dtype: Any) -> Any:
        places = right(np.flip(x, axis), axis=axis, dtype=dtype)
        return (x.shape[axis] - 1 - np.asarray(places)).astype(dtype)

    return kernel


def ignores_nan(right: Kernel) -> Kernel:
    def kernel(x: Any, *, axis: int, dtype: Any) -> Any:
        if x.dtype.kind == "f":
            x = np.where(np.isnan(x), x.dtype.type(np.inf), x)
        return right(x, axis=axis, dtype=dtype)

    return kernel


def unstable(right: Kernel) -> Kernel:
    """What is equal comes in the opposite order."""

    def kernel(*xs: Any, axis: int, num_keys: int) -> Any:
        if len(xs) == 1:
            return right(*xs, axis=axis, num_keys=num_keys)
        return right(*(np.flip(x, axis) for x in xs), axis=axis, num_keys=num_keys)

    return kernel


def unstable_when_large(right: Kernel) -> Kernel:
    wrong = unstable(right)
    return lambda *xs, **params: (wrong if xs[0].size >= 256 else right)(*xs, **params)


def nan_first(right: Kernel) -> Kernel:
    def kernel(*xs: Any, axis: int, num_keys: int) -> Any:
        results = right(*xs, axis=axis, num_keys=num_keys)
        if len(xs) > 1 or xs[0].dtype.kind != "f":
            return results
        (x,) = results
        missing = np.isnan(x)
        order = np.argsort(~missing, axis, kind="stable")
        return (np.take_along_axis(x, order, axis),)

    return kernel


def one_key(right: Kernel) -> Kernel:
    return lambda *xs, axis, num_keys: right(*xs, axis=axis, num_keys=1)


def refusing_nothing(right: Kernel) -> Kernel:
    def kernel(x: Any, **params: Any) -> Any:
        if not x.size:
            raise ValueError("zero-size array to reduction operation maximum")
        return right(x, **params)

    return kernel


def shared_put(array: Any, device: Any) -> Any:
    return array


STRUCTURE: tuple[Mutant, ...] = (
    kernel(
        "rev",
        "first-axis",
        "only the first of the axes",
        lambda k: lambda x, axes: k(x, axes=axes[:1]),
    ),
    kernel("slice", "later", "strided slices begin one later", shifted_slice),
    kernel(
        "pad",
        "swapped",
        "before and behind are swapped",
        lambda k: lambda x, v, low, high, interior: k(x, v, low=high, high=low, interior=interior),
    ),
    kernel("pad", "inside", "0 is put between elements, not the value", pad_with_zeros_inside),
    kernel("pad", "unwritten", "the last element is not written", unwritten),
    kernel(
        "concatenate",
        "turned",
        "three or more come in the opposite order",
        lambda k: lambda *xs, axis: k(*(xs[::-1] if len(xs) > 2 else xs), axis=axis),
    ),
    kernel("dynamic_slice", "from-the-end", "negative starts count from the end", from_the_end),
    kernel("dynamic_slice", "one-less", "the last window is not reached", one_less),
    kernel("dynamic_update_slice", "in-place", "the operand is written to", in_place),
    kernel("gather", "clips", 'mode "fill" clips', gather_clips),
    kernel("gather", "fill", "the value for reads out of bounds is ignored", gather_forgets_fill),
    kernel("gather", "wraps", "negative indices count from the end", gather_wraps),
    kernel("scatter", "once", "of updates that meet one is added", adds_once),
    kernel("scatter", "clips", 'mode "drop" clips', scatter_clips),
    kernel("scatter", "narrow", "16-bit sums are made in 16 bits", narrow_scatter),
    kernel("scatter", "first", "of updates that meet the first stays", first_of_many),
    kernel("scatter", "in-place", "the operand is written to", in_place),
    kernel("reduce_sum", "narrow", "16-bit sums are made in 16 bits", lambda k: narrow_sum),
    kernel("reduce_sum", "large", "the last element of large rows is left out", short_sum),
    kernel(
        "reduce_max",
        "drops-nan",
        "nan is left out",
        lambda k: lambda x, axes: np.fmax.reduce(x, axis=axes) if x.size else k(x, axes=axes),
    ),
    kernel(
        "reduce_min",
        "of-nothing",
        "of no elements it is 0",
        lambda k: (
            lambda x, axes: (
                k(x, axes=axes) * (x.size > 0)
                if x.dtype.kind in "iu"
                else k(x, axes=axes)
                if x.size
                else np.zeros_like(k(x, axes=axes))
            )
        ),
    ),
    kernel("reduce_max", "zero-size", "it fails for no elements", refusing_nothing),
    kernel(
        "reduce_and",
        "logical",
        "of integers it is 0 or 1",
        lambda k: lambda x, axes: np.logical_and.reduce(x, axis=axes).astype(x.dtype),
    ),
    kernel(
        "reduce_prod",
        "axis",
        "of two axes only the first counts, if the other is short",
        lambda k: (
            lambda x, axes: (
                k(x, axes=axes) if len(axes) < 2 else np.take(k(x, axes=axes[:1]), 0, axes[1] - 1)
            )
        ),
    ),
    kernel("argmax", "last", "the last of equals", last_place),
    kernel("argmin", "nan", "nan is left out", ignores_nan),
    kernel(
        "argmin",
        "dtype",
        "always int64",
        lambda k: lambda x, axis, dtype: k(x, axis=axis, dtype=np.int64),
    ),
    kernel(
        "cumsum",
        "forwards",
        "never from the end",
        lambda k: lambda x, axis, reverse: k(x, axis=axis, reverse=False),
    ),
    kernel(
        "cumsum",
        "exclusive",
        "without the element itself",
        lambda k: lambda x, axis, reverse: (k(x, axis=axis, reverse=reverse) - x).astype(x.dtype),
    ),
    kernel(
        "cummax",
        "drops-nan",
        "nan is left out",
        lambda k: (
            lambda x, axis, reverse: (
                np.flip(np.fmax.accumulate(np.flip(x, axis), axis), axis)
                if reverse
                else np.fmax.accumulate(x, axis)
            )
        ),
    ),
    kernel(
        "cumlogsumexp",
        "overflows",
        "the sum of exponentials is made",
        lambda k: (
            lambda x, axis, reverse: (
                k(x, axis=axis, reverse=True)
                if reverse
                else np.log(np.add.accumulate(np.exp(x.astype(wide(x.dtype))), axis)).astype(
                    x.dtype
                )
            )
        ),
    ),
    kernel("sort", "unstable", "equal keys are turned around", unstable),
    kernel(
        "sort", "unstable-large", "equal keys of long arrays are turned around", unstable_when_large
    ),
    kernel("sort", "nan-first", "nan comes first", nan_first),
    kernel("sort", "one-key", "keys after the first are ignored", one_key),
    backend("put", "arrays of the user are not copied", "put", shared_put, "devices", "dlpack"),
    backend(
        "share",
        "memory is handed out writeable and written later",
        "get",
        lambda b: b[..., ::-1] if b.ndim > 2 else np.asarray(b),
        "devices",
    ),
)
