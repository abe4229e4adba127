"""Combining along an axis in logarithmically many steps, also within runs of equal labels.

They stand apart because cumulative operations and scattered products both need them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayx import dtypes
from arrayx.primitives.arithmetic import eq, mul, ne, select
from arrayx.primitives.axes import reshape, rev
from arrayx.primitives.creation import iota, zero_literal
from arrayx.primitives.families import handed
from arrayx.primitives.gather import as_dtype, gather, points
from arrayx.primitives.slicing import padded
from arrayx.primitives.sorting import sort


def behind(x: Any, axis: int, steps: int, value: Any) -> Any:
    """The element `steps` places before each; `value` where there is none."""
    return padded(x, axis, steps, -steps, value)


def doubling(
    xs: tuple[Any, ...],
    axis: int,
    units: tuple[Any, ...],
    combine: Callable[[tuple[Any, ...], tuple[Any, ...]], tuple[Any, ...]],
) -> tuple[Any, ...]:
    """All prefixes of an associative operation on tuples of arrays.

    `units` are the literals that stand before the beginning: the operation's unit.
    """
    n = xs[0].aval.shape[axis]
    steps = 1
    while steps < n:
        earlier = tuple(behind(x, axis, steps, u) for x, u in zip(xs, units, strict=True))
        xs = combine(earlier, xs)
        steps *= 2
    return xs


def within_runs(
    x: Any, labels: Any, axis: int, combine: Callable[[Any, Any], Any], unit: Any
) -> Any:
    """Prefixes of an operation that begin anew where `labels` changes along `axis`.

    Equal labels stand side by side; nan equals nan.
    """
    n = x.aval.shape[axis]
    steps = 1
    while steps < n:
        # Before the beginning stands the unit, so it does not matter which label does.
        earlier = behind(x, axis, steps, unit)
        before = behind(labels, axis, steps, zero_literal(labels.aval.dtype))
        joined = eq(labels, before)
        if dtypes.kind(labels.aval.dtype) == "float":
            joined = select(ne(labels, labels), ne(before, before), joined)
        x = select(joined, combine(earlier, x), x)
        steps *= 2
    return x


def product_of_others(values: Any, places: Any) -> Any:
    """For each of `values` the product of all others with the same number in `places`.

    Made of products only, so derivatives of any order are right where values are 0.
    """
    shape, dtype = values.aval.shape, values.aval.dtype
    count = values.aval.size
    flat = as_dtype(reshape(values, shape=(count,)), dtypes.accumulation_dtype(dtype))
    numbers = iota(shape=(count,), dtype=dtypes.index_dtype(count), axis=0)
    places, order = sort(reshape(places, shape=(count,)), numbers, axis=0, num_keys=1)
    _, back = sort(order, numbers, axis=0, num_keys=1)
    one = 1 + zero_literal(dtype)
    sorted_values = take(flat, order)
    before = products_before(sorted_values, places, one)
    after = products_before(turned(sorted_values), turned(places), one)
    return as_dtype(reshape(take(mul(before, turned(after)), back), shape=shape), dtype)


def turned(x: Any) -> Any:
    """A vector from its end."""
    return rev(x, axes=(0,))


def products_before(values: Any, labels: Any, one: Any) -> Any:
    """Products of the earlier values of the same run of a vector."""
    joined = eq(labels, behind(labels, 0, 1, 0))
    return within_runs(select(joined, behind(values, 0, 1, one), one), labels, 0, mul, one)


def take(x: Any, order: Any) -> Any:
    """The elements of a vector in another order."""
    dims, sizes = points(x.aval.shape, (0,), 1)
    order = reshape(order, shape=(order.aval.size, 1))
    return gather(x, order, dims=dims, sizes=sizes, mode="promise", fill=None)


handed.product_of_others = product_of_others
