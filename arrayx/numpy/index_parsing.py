"""An index as it was written, spelled out axis by axis and checked."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from arrayx import dtypes, errors
from arrayx.backend.concrete import ConcreteArray
from arrayx.core.array import Array
from arrayx.core.aval import Shape
from arrayx.core.interpreter import Tracer

MODES = ("fill", "clip", "drop", "promise_in_bounds", "wrap")


class Range(NamedTuple):
    """A slice of known length: `start`, `start + step`, … on an axis."""

    start: int
    step: int
    length: int


class Parsed(NamedTuple):
    """An index, one item for each axis of the array.

    An item is an int, a `Range`, an integer array (of NumPy where it is known now), or a `Truth`,
    which stands at no axis (see `without_truths`).  `new_axes` are the places of new axes among
    the items: before item i of the axes.
    """

    items: tuple[Any, ...]
    new_axes: tuple[int, ...]
    # An ellipsis that stands for no axis keeps index arrays on its two sides apart.
    apart: bool = False


def refuse_index(item: Any) -> None:
    """Raises the error for what cannot be an index."""
    raise errors.ArgumentError(
        f"an index must be an integer, slice, ellipsis, None or an array of integers or booleans; "
        f"got {item!r} of type {type(item).__name__}"
    )


def _mask(mask: Any, shape: Shape, axis: int) -> list[np.ndarray]:
    """The integer arrays that a boolean array stands for."""
    if isinstance(mask, Array):
        if isinstance(mask, Tracer):
            try:
                mask = mask.concrete("a boolean index")
            except errors.ConcretizationError:
                raise errors.DynamicIndexError(
                    f"a traced boolean array of type {mask.aval} cannot be an index: how many "
                    "elements it selects, and so the shape of the result, must be static, but "
                    "depends on values that are not concrete here. Use anp.where(mask, x, "
                    "replacement), which keeps the shape, or anp.nonzero(mask, size=...), which "
                    "fixes it."
                ) from None
        mask = mask.host()
    covered = shape[axis : axis + mask.ndim]
    # An axis of length 0 fits everything: nothing is selected.
    if any(n not in (m, 0) for n, m in zip(mask.shape, covered, strict=True)):
        raise errors.IndexOutOfBoundsError(
            f"a boolean index of shape {mask.shape} does not fit the shape {covered} of the axes "
            f"it stands at ({axis} to {axis + mask.ndim - 1} of an array of shape {shape})"
        )
    return list(np.nonzero(mask)) if mask.ndim else []


def _listed(item: Any) -> Any:
    """A sequence among the items of an index as the array it stands for."""
    if not item:
        return np.array([], np.int64)
    try:
        return np.array(item)
    except (TypeError, ValueError, errors.ArrayxError):
        refuse_index(item)


def parse(index: Any, shape: Shape) -> Parsed:
    """An index for an array of this shape, spelled out; raises where it has too many items."""
    given = list(index) if type(index) is tuple else [index]
    taken = 0
    for i, item in enumerate(given):
        if isinstance(item, list | tuple):
            given[i] = item = _listed(item)
        elif type(item) is bool or isinstance(item, np.bool_):
            given[i] = item = np.asarray(item)
        if item is None or item is Ellipsis:
            continue
        taken += item.ndim if _is_mask(item) else 1
    dots = [i for i, item in enumerate(given) if item is Ellipsis]
    if len(dots) > 1:
        raise errors.IndexOutOfBoundsError("an index can have only one ellipsis (...)")
    if taken > len(shape):
        raise errors.IndexOutOfBoundsError(
            f"too many indices: {taken} for an array of {len(shape)} dimensions (shape {shape})"
        )
    apart = False
    if dots:
        sides = given[: dots[0]], given[dots[0] + 1 :]
        apart = taken == len(shape) and all(
            any(item is not None and type(item) is not slice for item in side) for side in sides
        )
        given[dots[0] : dots[0] + 1] = [slice(None)] * (len(shape) - taken)
    else:
        given += [slice(None)] * (len(shape) - taken)
    items: list[Any] = []
    new_axes: list[int] = []
    axis = 0
    for item in given:
        if item is None:
            new_axes.append(len(items))
        elif type(item) is slice:
            items.append(_range(item, shape[axis]))
            axis += 1
        elif _is_mask(item):
            if item.ndim == 0:
                items.append(Truth(bool(_mask(item, (), 0) is not None and item)))
                continue
            items.extend(_mask(item, shape, axis))
            axis += item.ndim
        else:
            items.append(_integer(item, shape[axis], axis))
            axis += 1
    return Parsed(tuple(items), tuple(new_axes), apart)


class Truth(NamedTuple):
    """A single truth value in an index."""

    value: bool


def without_truths(parsed: Parsed, shape: Shape) -> tuple[Parsed, Shape]:
    """An index in which truth values are index arrays, and the shape of the array it is for.

    Such a value is the mask of one more axis of length 1, which that shape has.
    """
    if not any(type(item) is Truth for item in parsed.items):
        return parsed, shape
    lengths = iter(shape)
    wider = tuple(1 if type(item) is Truth else next(lengths) for item in parsed.items)
    items = tuple(
        np.zeros(int(item.value), np.int64) if type(item) is Truth else item
        for item in parsed.items
    )
    return parsed._replace(items=items), wider


def _is_mask(item: Any) -> bool:
    dtype = getattr(item, "dtype", None)
    return dtype is not None and dtype == np.bool_


def _range(item: slice, length: int) -> Range:
    parts = []
    for name in ("start", "stop", "step"):
        part = getattr(item, name)
        if isinstance(part, Tracer):
            try:
                part = part.concrete("a slice").host()
            except errors.ConcretizationError:
                raise errors.DynamicIndexError(
                    f"the {name} of a slice is a traced array of type {part.aval}, but the shape "
                    "of the result must be static. Use ax.lax.dynamic_slice(x, starts, sizes) "
                    "for a slice of fixed size at a computed place, or anp.where with a mask."
                ) from None
        if part is not None:
            part = operator.index(part)
        parts.append(part)
    start, stop, step = slice(*parts).indices(length)
    count = len(range(start, stop, step))
    return Range(start if count else 0, step, count)


def out_of_bounds(index: int, length: int, axis: int) -> errors.IndexOutOfBoundsError:
    """The error for an index outside its axis."""
    return errors.IndexOutOfBoundsError(
        f"index {index} is out of bounds for axis {axis} of length {length}; to say what such an "
        'index means: x.at[index].get(mode="fill" or "clip")'
    )


def _integer(item: Any, length: int, axis: int) -> Any:
    """An integer index: a Python int, a NumPy array (known now), or a traced array."""
    if type(item) is int:
        return item
    if isinstance(item, np.ndarray | np.generic):
        array: Any = np.asarray(item)
    elif isinstance(item, ConcreteArray):
        array = item.host()
    elif isinstance(item, Tracer):
        inner = item
        while isinstance(inner, Tracer) and hasattr(inner, "primal"):
            inner = inner.primal
        array = inner.host() if isinstance(inner, ConcreteArray) else item
    elif hasattr(item, "__index__"):
        return operator.index(item)
    else:
        refuse_index(item)
    if not dtypes.is_integer(array.dtype):
        raise errors.ArgumentError(
            f"an index array must be of integers or booleans, not of {array.dtype}; convert it "
            "with .astype(int)"
        )
    if array.ndim == 0 and not isinstance(array, Array):
        return int(array)
    return array


def checked(items: Sequence[Any], shape: Shape) -> list[Any]:
    """The items with what is known now counted from 0; raises where it is out of bounds."""
    result = []
    for axis, (item, n) in enumerate(zip(items, shape, strict=False)):
        if type(item) is int:
            if not -n <= item < n:
                raise out_of_bounds(item, n, axis)
            item = item + n if item < 0 else item
        elif isinstance(item, np.ndarray) and item.size:
            for extreme in (int(item.min()), int(item.max())):
                if not -n <= extreme < n:
                    raise out_of_bounds(extreme, n, axis)
            item = np.where(item < 0, item.astype(np.int64) + n, item)
        elif isinstance(item, Tracer):
            item.interpreter.asked = True  # concrete ones would be checked
        result.append(item)
    return result
