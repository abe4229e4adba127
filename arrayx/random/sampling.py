"""Draws from sets: shuffles, choices, and indices by their log-probabilities."""

from __future__ import annotations

import math
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.core.aval import Shape
from arrayx.numpy.promotion import as_type, check_axis, placed_like
from arrayx.primitives.arithmetic import add, lt, mul, neg, select, sub
from arrayx.primitives.axes import broadcast_in_dim, reshape, transpose
from arrayx.primitives.creation import fill, iota
from arrayx.primitives.cumulative import cumsum
from arrayx.primitives.exponential import log
from arrayx.primitives.gather import gather, points
from arrayx.primitives.random import random_bits
from arrayx.primitives.reduction import argmax
from arrayx.primitives.slicing import cut
from arrayx.primitives.sorting import sort
from arrayx.random.arguments import checked_shape, spread, value
from arrayx.random.continuous import gumbel_draws
from arrayx.random.keys import one_key
from arrayx.random.uniform import randint, split_in_two, unit_interval


def counted(length: int, dtype: Any, beside: Any) -> Any:
    """0, 1, 2, … on the device of `beside`."""
    with placed_like(beside):
        return iota(shape=(length,), dtype=dtype, axis=0)


def taken(x: Any, indices: Any, axis: int) -> Any:
    """Elements of `x` along an axis, at indices that are known to be in bounds."""
    ndim = indices.aval.ndim
    dims, sizes = points(x.aval.shape, (axis,), ndim, position=axis)
    vectors = reshape(indices, shape=(*indices.aval.shape, 1))
    return gather(x, vectors, dims=dims, sizes=sizes, mode="promise", fill=None)


def shuffled(key: Any, x: Any, axis: int) -> Any:
    """`x` in random order along an axis, each row of it in an order of its own.

    Sorting by 32 random bits leaves the order of equal ones as it was; the sort is repeated
    until so many bits were drawn that no two elements are likely to agree in all.
    """
    rounds = math.ceil(3 * math.log(max(1, x.aval.size)) / math.log(0xFFFFFFFF))
    for _ in range(rounds):
        key, draw = split_in_two(key)
        order = random_bits(draw, shape=x.aval.shape, width=32)
        _, x = sort(order, x, axis=axis, num_keys=1)
    return x


def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False) -> Array:
    """`x` in random order along `axis`; the integers below `x`, if it is one.

    With `independent=True` every row along the axis is shuffled in its own way.

    >>> import arrayx as ax
    >>> ax.random.permutation(ax.random.key(0), 5)
    Array([0, 1, 4, 3, 2], dtype=int32)
    """
    one, _ = one_key("permutation", key)
    population, length = population_of("permutation", x, one)
    if population is None:
        return shuffled(one, counted(length, dtypes.default_int(), one), 0)  # type: ignore[no-any-return]
    axis = check_axis(axis, population.aval.ndim, "permutation")
    if independent:
        return shuffled(one, population, axis)  # type: ignore[no-any-return]
    length = population.aval.shape[axis]
    order = shuffled(one, counted(length, dtypes.index_dtype(length), one), 0)
    return taken(population, order, axis)  # type: ignore[no-any-return]


def population_of(function: str, x: Any, beside: Any) -> tuple[Array | None, int]:
    """What is drawn from: an array, or None and the number of integers."""
    x = value(x, function, "x", beside)
    if isinstance(x, Array) and x.aval.ndim > 0:
        return x, 0
    if isinstance(x, Array):
        if not dtypes.is_integer(x.aval.dtype):
            raise errors.ArgumentError(f"{function}: got a scalar that is no integer, {x!r}")
        return None, int(x)
    if not isinstance(x, int) or isinstance(x, bool):
        raise errors.ArgumentError(f"{function}: takes an array or an integer, got {x!r}")
    return None, x


def choice(
    key: Any,
    a: Any,
    shape: Any = (),
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    mode: str | None = None,
) -> Array:
    """Random elements of `a` along `axis`, or integers below `a` if it is one.

    `p` holds the probabilities of the elements, equal by default; they need not sum to 1 if
    `replace` is true.  Without replacement no element is drawn twice.  The result has `shape`
    in place of the axis.  `mode` is that of `gumbel`.

    >>> import arrayx as ax
    >>> ax.random.choice(ax.random.key(0), 5, (3,))
    Array([4, 0, 2], dtype=int32)
    """
    one, _ = one_key("choice", key)
    shape = checked_shape("choice", shape)
    population, length = population_of("choice", a, one)
    if population is not None:
        axis = check_axis(axis, population.aval.ndim, "choice")
        length = population.aval.shape[axis]
    draws = math.prod(shape)
    if draws and length <= 0:
        raise errors.ArgumentError("choice: there is nothing to draw from")
    if draws > length and not replace:
        raise errors.ArgumentError(
            f"choice: {draws} elements cannot be drawn without replacement from {length}"
        )
    if draws == 0:
        with placed_like(one):
            indices = fill(shape, dtypes.default_int(), 0)
    elif p is not None:
        indices = weighted(one, probabilities(p, length, one), shape, replace, mode)
    elif replace:
        indices = randint(one, shape, 0, length)
    else:
        order = shuffled(one, counted(length, dtypes.default_int(), one), 0)
        indices = reshape(cut(order, 0, 0, draws), shape=shape)
    return indices if population is None else taken(population, indices, axis)  # type: ignore[no-any-return]


def probabilities(p: Any, length: int, beside: Any) -> Any:
    """The argument `p` of `choice`, checked."""
    p = value(p, "choice", "p", beside)
    if not isinstance(p, Array) or p.aval.shape != (length,):
        raise errors.ShapeError(
            f"choice: p must be an array of shape {(length,)}, one probability for each element; "
            f"got {p.aval if isinstance(p, Array) else p!r}"
        )
    return as_type(p, dtypes.float_for(p.aval.dtype))


def weighted(key: Any, p: Any, shape: Shape, replace: bool, mode: str | None) -> Any:
    """Indices of `shape`, drawn with probabilities `p`."""
    index = dtypes.default_int()
    (length,) = p.aval.shape
    if replace:
        sums = cumsum(p, axis=0, reverse=False)
        draws = sub(1.0, unit_interval(key, shape, p.aval.dtype))
        total = reshape(cut(sums, 0, length - 1, length), shape=())
        return first_at_least(sums, mul(spread(total, shape), draws), index)
    # The largest of log-probabilities with Gumbel noise are a sample without replacement.
    noisy = add(gumbel_draws(key, (length,), p.aval.dtype, mode), log(p))
    return reshape(largest(noisy, math.prod(shape), index, key), shape=shape)


def largest(x: Any, count: int, dtype: Any, beside: Any) -> Any:
    """Indices of the `count` largest along the last axis, in falling order."""
    shape = x.aval.shape
    axis = len(shape) - 1
    with placed_like(beside):
        indices = iota(shape=shape, dtype=dtype, axis=axis)
    _, order = sort(neg(x), indices, axis=axis, num_keys=1)
    return cut(order, axis, 0, count)


def first_at_least(rising: Any, x: Any, dtype: Any) -> Any:
    """For each element of `x` the place of the first in `rising` that is not below it.

    A binary search for all at once: `low` and the answer are never more than `step` apart.
    """
    (length,) = rising.aval.shape
    shape = x.aval.shape
    low = broadcast_in_dim(fill_like(0, dtype, x), shape=shape, dims=())
    step = 1 << max(length - 1, 0).bit_length()
    while step > 1:
        step //= 2
        # Whether the answer lies behind the `step` elements from `low` on.
        probe = add(low, step - 1)
        inside = select(lt(probe, length), probe, length - 1)
        is_below = lt(taken(rising, inside, 0), x)
        low = select(is_below, select(lt(probe, length), add(probe, 1), low), low)
    return select(lt(low, length), low, length - 1)


def fill_like(number: Any, dtype: Any, beside: Any) -> Any:
    """A number as an array on the device of `beside`."""
    with placed_like(beside):
        return fill((), dtype, number)


def categorical(
    key: Any,
    logits: Any,
    axis: int = -1,
    shape: Any = None,
    replace: bool = True,
    mode: str | None = None,
) -> Array:
    """Random indices along `axis`, drawn with probabilities `softmax(logits, axis)`.

    `shape` is that of `logits` without the axis by default, and may have more axes in front:
    that many draws are made for each row.  Without replacement the draws of a row are
    different.  `mode` is that of `gumbel`.

    >>> import arrayx as ax, numpy as np
    >>> ax.random.categorical(ax.random.key(0), np.log([0.1, 0.2, 0.7]), shape=(4,)).shape
    (4,)
    """
    one, _ = one_key("categorical", key)
    logits = value(logits, "categorical", "logits", one)
    if not isinstance(logits, Array) or logits.aval.ndim == 0:
        raise errors.ShapeError(f"categorical: logits must have an axis, got {logits!r}")
    logits = as_type(logits, dtypes.float_for(logits.aval.dtype))
    given = logits.aval.shape
    axis = check_axis(axis, len(given), "categorical")
    batch = given[:axis] + given[axis + 1 :]
    shape = batch if shape is None else checked_shape("categorical", shape, batch)
    prefix, rest = shape[: len(shape) - len(batch)], shape[len(shape) - len(batch) :]
    index = dtypes.index_dtype(given[axis])
    if replace:
        whole = (*prefix, *rest[:axis], given[axis], *rest[axis:])
        noise = gumbel_draws(one, whole, logits.aval.dtype, mode)
        return argmax(add(noise, spread(logits, whole)), axis=len(prefix) + axis, dtype=index)  # type: ignore[no-any-return]
    count = math.prod(prefix)
    if count > given[axis]:
        raise errors.ArgumentError(
            f"categorical: {count} draws without replacement from {given[axis]} categories"
        )
    noisy = add(gumbel_draws(one, given, logits.aval.dtype, mode), logits)
    last = len(given) - 1
    noisy = transpose(noisy, perm=(*(i for i in range(last + 1) if i != axis), axis))
    order = largest(noisy, count, index, one)
    return reshape(transpose(order, perm=(last, *range(last))), shape=shape)  # type: ignore[no-any-return]
