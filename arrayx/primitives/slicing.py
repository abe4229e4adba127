"""Cutting arrays and putting them together: at fixed places and at computed ones.

`slice` and `pad` are each other's transposes, as are `dynamic_slice` and
`dynamic_update_slice` with zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.config import config
from arrayx.core.array import is_scalar, typeof
from arrayx.core.aval import Aval, Shape
from arrayx.core.linear import Zero
from arrayx.core.primitive import Fault, Primitive
from arrayx.primitives.arithmetic import gt, lt, select
from arrayx.primitives.axes import (
    broadcast_in_dim,
    move_batch_dim,
    reduce_sum,
    reshape,
)
from arrayx.primitives.conversion import convert
from arrayx.primitives.creation import fill, instantiate, zero_literal, zeros
from arrayx.primitives.families import Linear, handed, is_linear
from arrayx.primitives.gather import GatherDims, aval_of, gather, scatter

Axes = tuple[int, ...]
BOOL = np.dtype(bool)


class Slice(Linear):
    """Every `strides[i]`-th element of `x` from `starts[i]` up to, not including, `limits[i]`.

    Along each axis `0 <= start <= limit <= length` and `stride >= 1`; all three params are
    tuples with an integer for each axis.  The length becomes
    `ceil((limit - start) / stride)`.
    """

    name = "slice"
    moves = True
    cheap = True

    def type_rule(self, x: Aval, *, starts: Axes, limits: Axes, strides: Axes) -> Aval:
        fits = len(starts) == len(limits) == len(strides) == x.ndim and all(
            0 <= a <= b <= n and s >= 1
            for a, b, s, n in zip(starts, limits, strides, x.shape, strict=True)
        )
        if not fits:
            raise errors.ShapeError(
                f"slice cannot cut {x} from {starts} to {limits} in steps {strides}"
            )
        shape = tuple(-((a - b) // s) for a, b, s in zip(starts, limits, strides, strict=True))
        return x.update(shape=shape)

    def transpose(self, ct: Any, x: Any, *, starts: Axes, limits: Axes, strides: Axes) -> Any:
        # The elements that were cut off behind: what the spread-out cotangent leaves.
        high = tuple(
            n - a - spread(m, s - 1)
            for n, a, m, s in zip(x.aval.shape, starts, ct.aval.shape, strides, strict=True)
        )
        interior = tuple(s - 1 for s in strides)
        zero = zero_literal(ct.aval.dtype)
        return (pad(ct, zero, low=starts, high=high, interior=interior),)

    def vmap(
        self, size: int, args: Any, dims: Any, *, starts: Axes, limits: Axes, strides: Axes
    ) -> Any:
        (x,), (d,) = args, dims
        starts, limits, strides = (
            put_in(starts, d, 0),
            put_in(limits, d, size),
            put_in(strides, d, 1),
        )
        return self(x, starts=starts, limits=limits, strides=strides), d


def spread(length: int, interior: int) -> int:
    """The length of an axis with `interior` elements put between neighbours."""
    return length + max(length - 1, 0) * interior


def put_in(values: Axes, at: int, value: int) -> Axes:
    """A tuple with one more value at position `at`."""
    return (*values[:at], value, *values[at:])


class Pad(Primitive):
    """`x` with `value` put around it and between its elements.

    Along axis i, `interior[i]` copies of `value` are put between neighbours, then `low[i]`
    copies before and `high[i]` behind; negative `low` and `high` cut off instead, the interior
    included.  All three are tuples with an integer for each axis.  `value` is a literal or an
    array of rank 0 and of the dtype of `x`.
    """

    name = "pad"
    moves = True
    cheap = True

    def type_rule(self, x: Aval, value: Any, *, low: Axes, high: Axes, interior: Axes) -> Aval:
        fits = len(low) == len(high) == len(interior) == x.ndim and all(i >= 0 for i in interior)
        shape = tuple(a + spread(n, i) + b for n, a, b, i in zip(x.shape, low, high, interior))
        if not fits or any(n < 0 for n in shape):
            raise errors.ShapeError(f"pad cannot put {low}, {high} around and {interior} into {x}")
        if type(value) is not Aval:
            return x.update(shape=shape)
        if value.shape or value.dtype != x.dtype:
            raise errors.ShapeError(
                f"pad needs a value of rank 0 and of the operand's dtype, got {value} for {x}"
            )
        weak = x.weak_type and value.weak_type
        return x.update(shape=shape, weak_type=weak)

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        (x, value), (dx, dv) = primals, tangents
        result = self(x, value, **params)
        if dx is Zero and dv is Zero:
            return result, Zero
        aval = typeof(x).strong()
        zero = zero_literal(aval.dtype)
        return result, self(instantiate(dx, aval), zero if dv is Zero else dv, **params)

    def transpose(
        self, ct: Any, x: Any, value: Any, *, low: Axes, high: Axes, interior: Axes
    ) -> Any:
        zero = zero_literal(ct.aval.dtype)
        by_x = by_value = None
        shape = aval_of(x).shape
        if is_linear(x):
            none = (0,) * len(shape)
            whole = self(
                ct, zero, low=tuple(-a for a in low), high=tuple(-b for b in high), interior=none
            )
            by_x = slice(
                whole, starts=none, limits=whole.aval.shape, strides=tuple(i + 1 for i in interior)
            )
        if is_linear(value):
            held = self(fill(shape, BOOL, True), False, low=low, high=high, interior=interior)
            by_value = reduce_sum(select(held, zero, ct), axes=tuple(range(len(shape))))
        return by_x, by_value

    def vmap(
        self, size: int, args: Any, dims: Any, *, low: Axes, high: Axes, interior: Axes
    ) -> Any:
        (x, value), (d, v) = args, dims
        if v is None:
            low, high, interior = (put_in(p, d, 0) for p in (low, high, interior))
            return self(x, value, low=low, high=high, interior=interior), d
        x = move_batch_dim(size, x, d, 0)
        aval = x.aval
        params = {"low": (0, *low), "high": (0, *high), "interior": (0, *interior)}
        held = self(fill(aval.shape, BOOL, True), False, **params)
        padded = self(x, zero_literal(aval.dtype), **params)
        return select(held, padded, broadcast_in_dim(value, shape=padded.aval.shape, dims=(0,))), 0


class Concatenate(Primitive):
    """The operands one after the other along `axis`; their other axes are of equal length."""

    name = "concatenate"
    moves = True
    cheap = True

    def type_rule(self, *xs: Aval, axis: int) -> Aval:
        if not xs:
            raise errors.ShapeError("concatenate needs at least one operand")
        first = xs[0]
        if not 0 <= axis < first.ndim:
            raise errors.AxisError(f"concatenate: {first} has no axis {axis}")
        for x in xs:
            if x.dtype != first.dtype:
                raise errors.DtypeError(
                    f"concatenate needs operands of equal dtype, got {', '.join(map(str, xs))}"
                )
            if x.ndim != first.ndim or any(
                n != m for i, (n, m) in enumerate(zip(x.shape, first.shape)) if i != axis
            ):
                raise errors.ShapeError(
                    f"concatenate along axis {axis} needs operands that agree in all others, got "
                    + ", ".join(map(str, xs))
                )
        shape = list(first.shape)
        shape[axis] = sum(x.shape[axis] for x in xs)
        return Aval(tuple(shape), first.dtype, all(x.weak_type for x in xs))

    def jvp(self, primals: Any, tangents: Any, *, axis: int) -> Any:
        result = self(*primals, axis=axis)
        if all(t is Zero for t in tangents):
            return result, Zero
        moving = [
            instantiate(t, typeof(x).strong()) for t, x in zip(tangents, primals, strict=True)
        ]
        return result, self(*moving, axis=axis)

    def transpose(self, ct: Any, *xs: Any, axis: int) -> Any:
        answers: list[Any] = []
        start = 0
        for x in xs:
            end = start + aval_of(x).shape[axis]
            answers.append(cut(ct, axis, start, end) if is_linear(x) else None)
            start = end
        return answers

    def vmap(self, size: int, args: Any, dims: Any, *, axis: int) -> Any:
        d = next(d for d in dims if d is not None)
        moved = [move_batch_dim(size, x, i, d) for x, i in zip(args, dims, strict=True)]
        return self(*moved, axis=axis + (axis >= d)), d


def cut(x: Any, axis: int, start: int, end: int, stride: int = 1) -> Any:
    """`x` from `start` up to `end` along one axis, whole along the others."""
    shape = x.aval.shape
    if start == 0 and end == shape[axis] and stride == 1:
        return x
    none = (0,) * len(shape)
    ones = (1,) * len(shape)
    return slice(
        x,
        starts=(*none[:axis], start, *none[axis + 1 :]),
        limits=(*shape[:axis], end, *shape[axis + 1 :]),
        strides=(*ones[:axis], stride, *ones[axis + 1 :]),
    )


def padded(x: Any, axis: int, low: int, high: int, value: Any) -> Any:
    """`x` with `value` put before and behind along one axis."""
    none = (0,) * x.aval.ndim
    return pad(
        x,
        value,
        low=(*none[:axis], low, *none[axis + 1 :]),
        high=(*none[:axis], high, *none[axis + 1 :]),
        interior=none,
    )


def check_starts(name: str, x: Aval, starts: tuple[Any, ...]) -> None:
    """Raises unless there is a start for each axis: an int, or an integer array of rank 0."""
    if len(starts) != x.ndim:
        raise errors.ShapeError(f"{name} of {x} needs {x.ndim} starts, got {len(starts)}")
    for a in starts:
        if a is int:
            continue
        if type(a) is not Aval or a.shape or dtypes.kind(a.dtype) not in ("int", "uint"):
            raise errors.DtypeError(
                f"{name} needs starts that are ints or integer arrays of rank 0, got {a}"
            )
    arrays = {a.dtype for a in starts if a is not int}
    if len(arrays) > 1:
        raise errors.DtypeError(
            f"{name} needs starts of one dtype, got {', '.join(sorted(map(str, arrays)))}"
        )


def window_dims(ndim: int) -> GatherDims:
    """The dimension numbers of one whole window of an operand, collapsing nothing."""
    every = tuple(range(ndim))
    return GatherDims(every, (), every)


def start_vector(starts: Any, lengths: Shape, sizes: Shape, size: int, dims: Any) -> Any:
    """Starts, some of them with a batch axis, as the index vectors of a gather."""
    arrays = [a for a in starts if not is_scalar(a)]
    dtype = arrays[0].aval.dtype
    if int(dtypes.iinfo(dtype).max) < max(lengths):
        dtype = dtypes.index_dtype(*lengths)
    columns = []
    for a, d, n, s in zip(starts, dims, lengths, sizes, strict=True):
        if is_scalar(a):
            columns.append(fill((size, 1), dtype, min(max(a, 0), n - s)))
            continue
        if a.aval.dtype != dtype:
            a = convert(a, dtype=dtype, weak_type=False)
        columns.append(reshape(move_batch_dim(size, a, d, 0), shape=(size, 1)))
    return concatenate(*columns, axis=1)


class DynamicSlice(Primitive):
    """A window of `x` of lengths `sizes` that begins at `starts`.

    `starts` has for each axis an int literal or an integer array of rank 0 (all arrays of one
    dtype).  A start is moved into `[0, length - size]`, so that the window is always inside.
    """

    name = "dynamic_slice"
    moves = True
    cheap = True

    def type_rule(self, x: Aval, *starts: Any, sizes: Shape) -> Aval:
        check_starts(self.name, x, starts)
        if len(sizes) != x.ndim or not all(0 <= s <= n for s, n in zip(sizes, x.shape)):
            raise errors.ShapeError(f"dynamic_slice: there is no window {sizes} in {x}")
        return x.update(shape=sizes)

    def jvp(self, primals: Any, tangents: Any, *, sizes: Shape) -> Any:
        x, *starts = primals
        result = self(x, *starts, sizes=sizes)
        return result, Zero if tangents[0] is Zero else self(tangents[0], *starts, sizes=sizes)

    def faults(self, x: Any, *starts: Any, sizes: Shape) -> list[Fault]:
        return moved_starts(x.aval.shape, sizes, starts)

    def transpose(self, ct: Any, x: Any, *starts: Any, sizes: Shape) -> Any:
        back = dynamic_update_slice(zeros(x.aval.strong()), ct, *starts)
        return (back, *(None for _ in starts))

    def vmap(self, size: int, args: Any, dims: Any, *, sizes: Shape) -> Any:
        (x, *starts), (d, *start_dims) = args, dims
        if all(i is None for i in start_dims):
            return self(x, *put_in(tuple(starts), d, 0), sizes=put_in(sizes, d, size)), d
        lengths = x.aval.shape if d is None else x.aval.shape[:d] + x.aval.shape[d + 1 :]
        if config.checks:
            handed.report(moved_starts(lengths, sizes, starts))
        indices = start_vector(starts, lengths, sizes, size, start_dims)
        return gather.vmap(
            size,
            (x, indices),
            (d, 0),
            dims=window_dims(len(sizes)),
            sizes=sizes,
            mode="clip",
            fill=None,
        )


def moved_starts(shape: Shape, sizes: Shape, starts: Sequence[Any]) -> list[Fault]:
    """The faults of starts whose window is not inside, so that it is moved."""
    found = []
    for axis, start in enumerate(starts):
        if is_scalar(start):
            continue
        last = shape[axis] - sizes[axis]
        failed = gt(start, last)
        if dtypes.kind(start.aval.dtype) == "int":
            failed = select(lt(start, 0), True, failed)
        words = f"index {{start}} is out of bounds for axis {axis} of length {shape[axis]}"
        if sizes[axis] != 1:
            words = (
                f"a window of length {sizes[axis]} that begins at {{start}} is not inside axis "
                f"{axis}, of length {shape[axis]}"
            )
        found.append(Fault("index", words, failed, {"start": start}))
    return found


class DynamicUpdateSlice(Primitive):
    """`x` with `update` in place of the window that begins at `starts`.

    `update` is of the dtype and rank of `x` and along no axis longer.  `starts` has for each
    axis an int literal or an integer array of rank 0 (all arrays of one dtype).  A start is
    moved into `[0, length - size]`, so that the window is always inside.
    """

    name = "dynamic_update_slice"
    moves = True
    cheap = True

    def type_rule(self, x: Aval, update: Aval, *starts: Any) -> Aval:
        check_starts(self.name, x, starts)
        if update.dtype != x.dtype:
            raise errors.DtypeError(
                f"dynamic_update_slice needs operands of equal dtype, got {x} and {update}"
            )
        if update.ndim != x.ndim or any(s > n for s, n in zip(update.shape, x.shape)):
            raise errors.ShapeError(f"dynamic_update_slice: {update} does not fit into {x}")
        return x.update(weak_type=x.weak_type and update.weak_type)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x, update, *starts), (dx, du, *_) = primals, tangents
        result = self(x, update, *starts)
        if dx is Zero and du is Zero:
            return result, Zero
        dx = instantiate(dx, typeof(x).strong())
        du = instantiate(du, typeof(update).strong())
        return result, self(dx, du, *starts)

    def faults(self, x: Any, update: Any, *starts: Any) -> list[Fault]:
        return moved_starts(x.aval.shape, update.aval.shape, starts)

    def transpose(self, ct: Any, x: Any, update: Any, *starts: Any) -> Any:
        aval = aval_of(update).strong()
        return (
            self(ct, zeros(aval), *starts) if is_linear(x) else None,
            dynamic_slice(ct, *starts, sizes=aval.shape) if is_linear(update) else None,
            *(None for _ in starts),
        )

    def vmap(self, size: int, args: Any, dims: Any) -> Any:
        (x, update, *starts), (i, j, *start_dims) = args, dims
        x = move_batch_dim(size, x, i, 0)
        update = move_batch_dim(size, update, j, 0)
        if all(d is None for d in start_dims):
            return self(x, update, 0, *starts), 0
        lengths, sizes = x.aval.shape[1:], update.aval.shape[1:]
        if config.checks:
            handed.report(moved_starts(lengths, sizes, starts))
        indices = start_vector(starts, lengths, sizes, size, start_dims)
        return scatter.vmap(
            size,
            (x, indices, update),
            (0, 0, 0),
            dims=window_dims(len(sizes)).as_scatter(),
            mode="clip",
            combine="set",
            unique=True,
        )


slice = Slice()
pad = Pad()
concatenate = Concatenate()
dynamic_slice = DynamicSlice()
dynamic_update_slice = DynamicUpdateSlice()
