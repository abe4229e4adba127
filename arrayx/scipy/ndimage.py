"""Reading images between their elements."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, logic, rounding
from arrayx.numpy.naming import at_home
from arrayx.numpy.promotion import (
    as_array,
    as_type,
    broadcast_shapes,
    broadcast_to_shape,
    promoted_arrays,
)
from arrayx.numpy.selection import where

__all__ = ["map_coordinates"]


def _nearest(index: Array, size: int) -> Array:
    return arithmetic.minimum(arithmetic.maximum(index, 0), size - 1)


def _wrap(index: Array, size: int) -> Array:
    return arithmetic.remainder(index, size)


def _mirror(index: Array, size: int) -> Array:
    """Turned around at the centres of the first and last element."""
    last = size - 1
    if last == 0:
        return arithmetic.multiply(index, 0)
    folded = arithmetic.remainder(arithmetic.add(index, last), 2 * last)
    return abs(arithmetic.subtract(folded, last))  # type: ignore[no-any-return]


def _reflect(index: Array, size: int) -> Array:
    """Turned around at the outer edges of the first and last element."""
    folded = arithmetic.remainder(index, 2 * size)
    return arithmetic.minimum(folded, arithmetic.subtract(2 * size - 1, folded))


_INSIDE: dict[str, Callable[[Array, int], Array]] = {
    "constant": _nearest,
    "nearest": _nearest,
    "wrap": _wrap,
    "mirror": _mirror,
    "reflect": _reflect,
}


@at_home
def map_coordinates(
    input: Any,
    coordinates: Sequence[Any],
    order: int,
    mode: str = "constant",
    cval: Any = 0.0,
) -> Array:
    """`input` read at `coordinates`, one array of places for each of its axes.

    `order` is 0 for the nearest element or 1 for linear interpolation.  Outside are the elements
    that `mode` says: "constant" `cval`, "nearest" the last element, "wrap" the array again,
    "mirror" the array turned around at the centre of its last element, "reflect" at that one's
    edge.  "constant" and "wrap" are what SciPy calls "grid-constant" and "grid-wrap".
    Results of integer arrays are rounded.  Coordinates have a derivative with order 1.

    Raises `ArgumentError` for other orders or modes, `ShapeError` where the number of coordinates
    is not that of axes.

    >>> import numpy as np
    >>> x = np.array([0.0, 10.0, 20.0])
    >>> map_coordinates(x, [np.array([0.5, 1.0, 3.0])], order=1).tolist()
    [5.0, 10.0, 0.0]
    """
    function = "scipy.ndimage.map_coordinates"
    x = as_array(input, function, "input")
    if mode not in _INSIDE:
        raise errors.ArgumentError(f"{function}: mode is one of {list(_INSIDE)}, not {mode!r}")
    if order not in (0, 1):
        raise errors.ArgumentError(f"{function}: order is 0 or 1, not {order!r}")
    places = [as_array(c, function, f"coordinates[{i}]") for i, c in enumerate(coordinates)]
    if len(places) != x.ndim:
        raise errors.ShapeError(
            f"{function}: there are coordinates for {len(places)} axes of an array of {x.ndim}"
        )
    if not places:
        return x
    shape = broadcast_shapes(*(p.shape for p in places))
    places = [
        broadcast_to_shape(p, shape) for p in promoted_arrays(places, function, ["c"] * x.ndim)
    ]
    # For each axis the neighbours: their index, whether it is inside, and their weight.
    neighbours = [
        [_neighbour(index, n, mode, weight) for index, weight in _around(p, order)]
        for p, n in zip(places, x.shape, strict=True)
    ]
    total: Any = None
    outside = as_type(as_array(cval, function, "cval"), x.dtype)
    for corner in itertools.product(*neighbours):
        value = x[tuple(index for index, _, _ in corner)]
        if mode == "constant":
            inside = corner[0][1]
            for _, also, _ in corner[1:]:
                inside = logic.logical_and(inside, also)
            value = where(inside, value, outside)
        for _, _, weight in corner:
            if weight is not None:
                value = arithmetic.multiply(value, weight)
        total = value if total is None else arithmetic.add(total, value)
    if dtypes.is_integer(x.dtype):
        total = rounding.round(total)
    return as_type(total, x.dtype)


def _around(place: Array, order: int) -> list[tuple[Array, Array | None]]:
    """The whole numbers next to a place, and their weights."""
    if order == 0 or not dtypes.is_inexact(place.dtype):
        if not dtypes.is_inexact(place.dtype):
            return [(place, None)]
        return [(rounding.round(place), None)]
    below = rounding.floor(place)
    share = arithmetic.subtract(place, below)
    return [(below, arithmetic.subtract(1, share)), (arithmetic.add(below, 1), share)]


def _neighbour(
    index: Array, size: int, mode: str, weight: Array | None
) -> tuple[Array, Array | None, Array | None]:
    """An index moved inside, whether it was there, and its weight."""
    if not dtypes.is_integer(index.dtype):
        index = as_type(index, dtypes.index_dtype(size))
    inside = None
    if mode == "constant":
        inside = logic.logical_and(logic.greater_equal(index, 0), logic.less(index, size))
    return _INSIDE[mode](index, size), inside, weight
