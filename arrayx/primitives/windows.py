"""Reductions over windows that slide over an array: sums, products, extremes, logic.

The derivative of an extreme is shared by all that reach it.  That takes a pair of sums, each the
transpose of the other: over the elements of a window that reach its extreme, and over the
windows whose extreme an element reaches.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, ClassVar

from arrayx import dtypes, errors
from arrayx.core.aval import Aval, Shape
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.arithmetic import add, select
from arrayx.primitives.axes import move_batch_dim, reduce_sum, reshape, unreduced
from arrayx.primitives.convolution import (
    Axes,
    Padding,
    spread_length,
    transposed_padding,
    window_count,
)
from arrayx.primitives.creation import fill, zero_literal
from arrayx.primitives.families import (
    FLOAT,
    LOGICAL,
    NUMERIC,
    ORDERED,
    Linear,
    NonDifferentiable,
    scaled,
)
from arrayx.primitives.gather import as_dtype, same
from arrayx.primitives.numeric import div, max
from arrayx.primitives.reduction import reduce_prod
from arrayx.primitives.slicing import concatenate, cut, pad, padded, put_in, slice


def windowed_shape(
    shape: Shape,
    *,
    window: Axes,
    strides: Axes,
    padding: Padding,
    base_dilation: Axes,
    window_dilation: Axes,
) -> Shape:
    """The number of places that the window has along each axis."""
    per_axis = zip(shape, window, strides, padding, base_dilation, window_dilation, strict=True)
    return tuple(window_count(*numbers) for numbers in per_axis)


def check_window(name: str, x: Aval, params: dict[str, Any]) -> None:
    """Raises unless there are positive numbers for each axis."""
    for word, values in params.items():
        if len(values) != x.ndim:
            raise errors.ShapeError(
                f"{name} of {x}: {word} {values} has {len(values)} entries, not {x.ndim}"
            )
        if word != "padding" and any(n < 1 for n in values):
            raise errors.ShapeError(f"{name} of {x}: {word} {values} must be positive")


class ReduceWindow(Primitive):
    """For each place of a window on `x`, its elements combined.

    `window`, `strides`, `base_dilation` and `window_dilation` have an integer for each axis,
    `padding` a pair of them.  Neighbours of `x` are put `base_dilation` apart and those of the
    window `window_dilation`; what was put around or between changes nothing.
    """

    kinds: ClassVar[frozenset[str]]

    def type_rule(self, x: Aval, **params: Any) -> Aval:
        if dtypes.kind(x.dtype) not in self.kinds:
            raise errors.DtypeError(
                f"{self.name} is not defined for {x}; it takes dtypes of kind "
                f"{', '.join(sorted(self.kinds))}"
            )
        check_window(self.name, x, params)
        return x.update(shape=windowed_shape(x.shape, **params))

    def flops(self, avals: tuple[Any, ...], results: tuple[Aval, ...], **params: Any) -> int:
        return int(results[0].size * math.prod(params["window"]))

    def vmap(self, size: int, args: Any, dims: Any, **params: Any) -> Any:
        (x,), (d,) = args, dims
        return self(x, **with_axis(params, d)), d


def with_axis(params: dict[str, Any], at: int) -> dict[str, Any]:
    """The params with one more axis, along which the window is a single element."""
    more: dict[str, Any] = {"padding": (0, 0)}
    return {k: put_in(v, at, more.get(k, 1)) for k, v in params.items()}


class ReduceWindowSum(Linear, ReduceWindow):
    """For each place of a window on `x`, the sum of its elements; 16-bit floats in float32.

    Padding counts as 0.
    """

    name = "reduce_window_sum"
    kinds = NUMERIC

    def transpose(
        self,
        ct: Any,
        x: Any,
        *,
        window: Axes,
        strides: Axes,
        padding: Padding,
        base_dilation: Axes,
        window_dilation: Axes,
    ) -> Any:
        shape = x.aval.shape
        around = transposed_padding(
            shape, window, ct.aval.shape, strides, padding, base_dilation, window_dilation
        )
        # An element is summed up in each place of the window that it is in.
        return (
            self(
                ct,
                window=window,
                strides=base_dilation,
                padding=around,
                base_dilation=strides,
                window_dilation=window_dilation,
            ),
        )


class WindowExtreme(ReduceWindow):
    """The derivative of an extreme: the mean of the tangents of all that reach it."""

    kinds = ORDERED

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        (x,), (dx,) = primals, tangents
        best = self(x, **params)
        if not (best.aval.size and x.aval.size):
            return best, Zero
        wide = dtypes.accumulation_dtype(best.aval.dtype)
        ones = fill(x.aval.shape, wide, 1.0)
        # A window that is all padding has none that reaches it.
        count = max(window_reached_sum(ones, x, best, **params), 1.0)
        total = window_reached_sum(as_dtype(dx, wide), x, best, **params)
        return best, as_dtype(scaled(total, div(1.0, count)), best.aval.dtype)


class ReduceWindowMax(WindowExtreme):
    """For each place of a window on `x`, its greatest element; nan if there is one.

    Padding counts as -inf, the least integer, or False.
    """

    name = "reduce_window_max"


class ReduceWindowMin(WindowExtreme):
    """For each place of a window on `x`, its least element; nan if there is one.

    Padding counts as inf, the greatest integer, or True.
    """

    name = "reduce_window_min"


class ReduceWindowProd(ReduceWindow):
    """For each place of a window on `x`, the product of its elements; 16-bit floats in float32.

    Padding counts as 1.  The derivative takes no quotient: it is right where elements are 0.
    """

    name = "reduce_window_prod"
    kinds = NUMERIC

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        (x,), (dx,) = primals, tangents
        result = self(x, **params)
        zero = zero_literal(x.aval.dtype)
        elements, axes = windows_of(x, 1 + zero, **params)
        moving, _ = windows_of(dx, zero, **params)
        _, tangent = reduce_prod.jvp((elements,), (moving,), axes=axes)
        return result, tangent


class ReduceWindowAnd(NonDifferentiable, ReduceWindow):
    """For each place of a window on `x`, whether all its elements are true; of integers, the bits
    that all have.  Padding counts as true.
    """

    name = "reduce_window_and"
    kinds = LOGICAL


class ReduceWindowOr(NonDifferentiable, ReduceWindow):
    """For each place of a window on `x`, whether any element is true; of integers, the bits that
    any has.  Padding counts as false.
    """

    name = "reduce_window_or"
    kinds = LOGICAL


# ----------------------------------------------------------------- what reaches an extreme


class Reaching(Primitive):
    """Sums over pairs of a place of a window and an element in it that is the window's extreme.

    Operands are what is added up, the array `x`, and the extremes `best` of its windows, in
    whose own dtype; the params are those of the reduction.  Where `best` is nan, the nans reach
    it.  Linear in the first operand, piecewise constant in the others.
    """

    # Whether what is added up has the shape of `x`, or that of `best`.
    of_elements: ClassVar[bool]

    def flops(self, avals: tuple[Any, ...], results: tuple[Aval, ...], **params: Any) -> int:
        return int(2 * avals[2].size * math.prod(params["window"]))

    def type_rule(self, moving: Aval, x: Aval, best: Aval, **params: Any) -> Aval:
        check_window(self.name, x, params)
        given, made = (x, best) if self.of_elements else (best, x)
        fits = best.shape == windowed_shape(x.shape, **params)
        if not fits or best.dtype != x.dtype or moving.shape != given.shape:
            raise errors.ShapeError(f"{self.name}: {moving}, {x} and {best} do not fit")
        if dtypes.kind(moving.dtype) not in FLOAT:
            raise errors.DtypeError(f"{self.name} adds up floats, not {moving}")
        varying = moving.varying | x.varying | best.varying
        return Aval(made.shape, moving.dtype, False, varying)

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        (moving, x, best), (tangent, *_) = primals, tangents
        result = self(moving, x, best, **params)
        return result, Zero if tangent is Zero else self(tangent, x, best, **params)

    def vmap(self, size: int, args: Any, dims: Any, **params: Any) -> Any:
        moved = [move_batch_dim(size, a, d, 0) for a, d in zip(args, dims, strict=True)]
        return self(*moved, **with_axis(params, 0)), 0


class WindowReachedSum(Reaching):
    """For each place of a window on `x`, the sum of `moving` where `x` is the extreme `best`."""

    name = "window_reached_sum"
    of_elements = True

    def transpose(self, ct: Any, moving: Any, x: Any, best: Any, **params: Any) -> Any:
        return reached_window_sum(ct, x, best, **params), None, None

    def expand(self, moving: Any, x: Any, best: Any, **params: Any) -> Any:
        # Padding is zeros of what is added up, so it does no harm to take it for an element.
        zeros = zero_literal(x.aval.dtype), 0.0
        if many_places(**params):
            (elements, axes), (summands, _) = (
                windows_of(a, zero, **params) for a, zero in zip((x, moving), zeros, strict=True)
            )
            reached = same(elements, unreduced(best, elements.aval.shape, axes))
            return reduce_sum(select(reached, summands, 0.0), axes=axes)
        x, moving = (
            surrounded(a, zero, **params) for a, zero in zip((x, moving), zeros, strict=True)
        )
        total: Any = None
        for at in places(best.aval.shape, **params):
            part = select(same(slice(x, **at), best), slice(moving, **at), 0.0)
            total = part if total is None else add(total, part)
        return total


class ReachedWindowSum(Reaching):
    """For each element of `x`, the sum of `moving` over the windows whose extreme `best` it is."""

    name = "reached_window_sum"
    of_elements = False

    def transpose(self, ct: Any, moving: Any, x: Any, best: Any, **params: Any) -> Any:
        return window_reached_sum(ct, x, best, **params), None, None

    def expand(self, moving: Any, x: Any, best: Any, **params: Any) -> Any:
        zero = zero_literal(x.aval.dtype)
        around = surrounded(x, zero, **params)
        length = around.aval.shape
        total: Any = None
        if many_places(**params):
            elements, axes = windows_of(x, zero, **params)
            shape = elements.aval.shape
            reached = same(elements, unreduced(best, shape, axes))
            total = select(reached, unreduced(moving, shape, axes), 0.0)
            for axis, n in enumerate(length):
                total = axis_of_elements(
                    total, axis, n, params["strides"][axis], params["window_dilation"][axis]
                )
        else:
            for at in places(best.aval.shape, **params):
                part = select(same(slice(around, **at), best), moving, 0.0)
                part = put_back(part, at["starts"], at["strides"], length)
                total = part if total is None else add(total, part)
        # Back from the padded array to the elements.
        low = tuple(-a for a, _ in params["padding"])
        high = tuple(-b for _, b in params["padding"])
        total = pad(total, 0.0, low=low, high=high, interior=(0,) * len(low))
        return slice(
            total,
            starts=(0,) * len(low),
            limits=total.aval.shape,
            strides=params["base_dilation"],
        )


# Windows of more elements than this are not taken apart element by element.
_MOST_PLACES = 64


def many_places(*, window: Axes, strides: Axes, window_dilation: Axes, **params: Any) -> bool:
    """True where all windows are better made at once: they lie side by side, or are large."""
    side_by_side = all(
        k == s and (k == 1 or d == 1)
        for k, s, d in zip(window, strides, window_dilation, strict=True)
    )
    return side_by_side or math.prod(window) > _MOST_PLACES


def put_back(x: Any, starts: Axes, strides: Axes, length: Shape) -> Any:
    """What a slice of an array of zeros would leave behind: its transpose."""
    high = tuple(
        n - a - spread_length(m, s)
        for n, a, m, s in zip(length, starts, x.aval.shape, strides, strict=True)
    )
    return pad(x, 0.0, low=starts, high=high, interior=tuple(s - 1 for s in strides))


def surrounded(x: Any, value: Any, *, padding: Padding, base_dilation: Axes, **params: Any) -> Any:
    """`x` padded with `value`, around and between neighbours."""
    return pad(
        x,
        value,
        low=tuple(a for a, _ in padding),
        high=tuple(b for _, b in padding),
        interior=tuple(d - 1 for d in base_dilation),
    )


def places(
    counts: Shape, *, window: Axes, strides: Axes, window_dilation: Axes, **params: Any
) -> Iterator[dict[str, Axes]]:
    """For each element of the window, the slice of the padded array that meets it."""
    for place in itertools.product(*map(range, window)):
        starts = tuple(k * d for k, d in zip(place, window_dilation, strict=True))
        limits = tuple(
            a + spread_length(m, s) for a, m, s in zip(starts, counts, strides, strict=True)
        )
        yield {"starts": starts, "limits": limits, "strides": strides}


def windows_of(x: Any, value: Any, **params: Any) -> tuple[Any, Axes]:
    """The elements of all windows: each axis of `x` becomes one of places and one of the window.

    The second result are the axes of the window.  What is around is `value`.
    """
    window, strides, dilation = (params[k] for k in ("window", "strides", "window_dilation"))
    x = surrounded(x, value, **params)
    counts = tuple(
        window_count(n, k, s, (0, 0), 1, d)
        for n, k, s, d in zip(x.aval.shape, window, strides, dilation, strict=True)
    )
    ndim = len(window)
    # From the last axis, so that those before keep their numbers.
    for axis in reversed(range(ndim)):
        x = axis_of_windows(x, axis, counts[axis], window[axis], strides[axis], dilation[axis])
    return x, tuple(2 * i + 1 for i in range(ndim))


def axis_of_windows(x: Any, axis: int, count: int, window: int, stride: int, dilation: int) -> Any:
    """`x` with one axis made into two: places of the window, and elements in it."""
    shape = x.aval.shape
    if window == stride and (window == 1 or dilation == 1):
        x = cut(x, axis, 0, count * window)
        return reshape(x, shape=(*shape[:axis], count, window, *shape[axis + 1 :]))
    parts = []
    for k in range(window):
        start = k * dilation
        part = cut(x, axis, start, start + spread_length(count, stride), stride)
        parts.append(reshape(part, shape=(*shape[:axis], count, 1, *shape[axis + 1 :])))
    return concatenate(*parts, axis=axis + 1)


def axis_of_elements(x: Any, axis: int, length: int, stride: int, dilation: int) -> Any:
    """The transpose of `axis_of_windows`: both axes made into one, overlaps added up."""
    shape = x.aval.shape
    count, window = shape[axis : axis + 2]
    before, behind = shape[:axis], shape[axis + 2 :]
    if window == stride and (window == 1 or dilation == 1):
        x = reshape(x, shape=(*before, count * window, *behind))
        return padded(x, axis, 0, length - count * window, 0.0)
    whole = (*before, length, *behind)
    steps = tuple(stride if i == axis else 1 for i in range(len(whole)))
    total: Any = None
    for k in range(window):
        part = reshape(cut(x, axis + 1, k, k + 1), shape=(*before, count, *behind))
        starts = tuple(k * dilation if i == axis else 0 for i in range(len(whole)))
        part = put_back(part, starts, steps, whole)
        total = part if total is None else add(total, part)
    return total


reduce_window_sum = ReduceWindowSum()
reduce_window_max = ReduceWindowMax()
reduce_window_min = ReduceWindowMin()
reduce_window_prod = ReduceWindowProd()
reduce_window_and = ReduceWindowAnd()
reduce_window_or = ReduceWindowOr()
window_reached_sum = WindowReachedSum()
reached_window_sum = ReachedWindowSum()
