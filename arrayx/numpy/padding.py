"""`pad` and its modes, apart because each mode is a way to make the elements around an array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, rounding
from arrayx.numpy.mapping import apply_along_axis
from arrayx.numpy.naming import named
from arrayx.numpy.ordering import median
from arrayx.numpy.promotion import (
    LITERALS,
    SCALARS,
    as_array,
    as_type,
    broadcast_to_shape,
    check_axis,
    host_array,
)
from arrayx.numpy.reductions import max, min
from arrayx.numpy.repetition import concrete_integers
from arrayx.numpy.shapes import concatenate, take_range
from arrayx.numpy.statistics import mean
from arrayx.primitives import slicing
from arrayx.primitives.arithmetic import select

Widths = list[tuple[int, int]]

# What each mode takes besides the widths.
_OPTIONS = {
    "constant": "constant_values",
    "edge": "",
    "empty": "",
    "linear_ramp": "end_values",
    "maximum": "stat_length",
    "mean": "stat_length",
    "median": "stat_length",
    "minimum": "stat_length",
    "reflect": "reflect_type",
    "symmetric": "reflect_type",
    "wrap": "",
}
_STATISTICS: dict[str, Callable[..., Any]] = {
    "maximum": max,
    "minimum": min,
    "mean": mean,
    "median": median,
}


@named
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Array:
    """`array` with elements put around it: `pad_width` before and after along each axis.

    `pad_width` is one number, a pair, a pair for each axis, or a table from axes to those.  Modes:
    "constant" (`constant_values`, 0 by default), "linear_ramp" (from the edge to `end_values`),
    "maximum", "minimum", "mean" and "median" (of the `stat_length` elements next to the edge, of
    all by default), "edge", "wrap", "reflect" and "symmetric" (`reflect_type` "even" or "odd"),
    "empty", or a function of a vector with the places to fill, its two widths, its axis and
    `kwargs`, which gives the vector filled.

    >>> import arrayx.numpy as anp
    >>> anp.pad(anp.arange(2), 1).tolist()
    [0, 0, 1, 0]
    """
    x = as_array(array, "pad", "array")
    widths = _widths(pad_width, x.ndim)
    if callable(mode):
        return _by_function(x, widths, mode, kwargs)
    if mode not in _OPTIONS:
        raise errors.ArgumentError(
            f"pad: no mode {mode!r}; there are {', '.join(_OPTIONS)}, and functions"
        )
    for name in kwargs:
        if name != _OPTIONS[mode]:
            takes = f"{_OPTIONS[mode]}=" if _OPTIONS[mode] else "nothing more"
            raise errors.ArgumentError(f"pad: the mode {mode!r} takes {takes}, not {name}=")
    if mode in ("constant", "empty"):
        return pad_constant(x, widths, kwargs.get("constant_values", 0))
    for i, (low, high) in enumerate(widths):
        if not x.shape[i] and (low or high):
            raise errors.ShapeError(
                f"pad: axis {i} of length 0 has no element that the mode {mode!r} could use; only "
                "'constant' and 'empty' need none"
            )
    if mode in _STATISTICS:
        return _by_statistic(x, widths, mode, kwargs.get("stat_length"))
    if mode == "linear_ramp":
        return _ramped(x, widths, kwargs.get("end_values", 0))
    return _by_places(x, widths, mode, kwargs.get("reflect_type", "even"))


def _widths(pad_width: Any, ndim: int) -> Widths:
    if isinstance(pad_width, dict):
        listed = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            both = _pairs(concrete_integers(width, "pad", "pad_width"), 1, "pad_width")[0]
            listed[check_axis(axis, ndim, "pad")] = int(both[0]), int(both[1])
    else:
        given = concrete_integers(
            [list(p) if isinstance(p, Sequence) else p for p in pad_width]
            if isinstance(pad_width, Sequence)
            else pad_width,
            "pad",
            "pad_width",
        )
        listed = [(int(low), int(high)) for low, high in _pairs(given, ndim, "pad_width")]
    if any(w < 0 for pair in listed for w in pair):
        raise errors.ArgumentError(f"pad: pad_width has negative numbers: {pad_width}")
    return listed


def _pairs(given: np.ndarray, ndim: int, argument: str) -> np.ndarray:
    """One number, a pair, or a pair for each axis as a pair for each axis."""
    if not ndim and not given.size:
        return np.zeros((0, 2), given.dtype)
    try:
        return np.broadcast_to(given, (ndim, 2))
    except ValueError:
        raise errors.ShapeError(
            f"pad: {argument} of shape {given.shape} does not fit {ndim} dimensions: give one pair "
            "for each, one pair, or one number"
        ) from None


# ----------------------------------------------------------------- values from outside


def _values(values: Any, x: Array, argument: str) -> Any:
    """A number, or an array with a pair for each axis, in the dtype of `x`."""
    if not isinstance(values, Array):
        given = np.asarray(values)
        if given.size == 1:
            values = given.reshape(()).item()
    if type(values) in SCALARS:
        dtypes.check_scalar(values, x.dtype)
        return LITERALS[dtypes.kind(x.dtype)](values)
    array = values if isinstance(values, Array) else host_array(np.asarray(values), (x,))
    array = as_type(array, x.dtype)
    if array.ndim == 0:
        return array
    if array.ndim > 2 or any(
        n not in (1, m) for n, m in zip(array.shape[::-1], (2, x.ndim), strict=False)
    ):
        raise errors.ShapeError(
            f"pad: {argument} of shape {array.shape} does not fit {x.ndim} dimensions: give one "
            "pair for each, one pair, or one number"
        )
    return broadcast_to_shape(array, (x.ndim, 2))


def _one(values: Any, axis: int, side: int) -> Any:
    """The value for one side of one axis."""
    return values[axis, side] if isinstance(values, Array) and values.ndim else values


def pad_constant(x: Array, widths: Widths, values: Any) -> Array:
    """`x` with constants around it."""
    none = (0,) * x.ndim
    given = _values(values, x, "constant_values")
    if not isinstance(given, Array) or given.ndim == 0:
        low, high = tuple(w[0] for w in widths), tuple(w[1] for w in widths)
        return slicing.pad(x, given, low=low, high=high, interior=none)  # type: ignore[no-any-return]
    for i, pair in enumerate(widths):
        for side, width in enumerate(pair):
            ends = [list(none), list(none)]
            ends[side][i] = width
            x = slicing.pad(
                x, _one(given, i, side), low=tuple(ends[0]), high=tuple(ends[1]), interior=none
            )
    return x


def _ramped(x: Array, widths: Widths, values: Any) -> Array:
    given = _values(values, x, "end_values")
    kind = dtypes.kind(x.dtype)
    if kind == "bool":
        raise errors.DtypeError("pad: the mode 'linear_ramp' takes numbers, got an array of bool")
    # Wide enough for integers to be exact: a ramp of them is rounded down.
    wide: Any = dtypes.accumulation_dtype(x.dtype)
    if kind in ("int", "uint"):
        wide = dtypes.as_dtype("float32" if x.dtype.itemsize < 4 else "float64")
    for i, pair in enumerate(widths):
        parts = []
        for side, width in enumerate(pair):
            n = x.shape[i]
            edge = as_type(take_range(x, *((n - 1, n) if side else (0, 1)), i), wide)
            end = _one(given, i, side)
            end = as_type(end, wide) if isinstance(end, Array) else LITERALS[dtypes.kind(wide)](end)
            steps = np.arange(width) if not side else np.arange(width)[::-1]
            steps = steps.reshape([-1 if d == i else 1 for d in range(x.ndim)])
            rise = arithmetic.multiply(
                arithmetic.subtract(edge, end), host_array(steps.astype(wide), (x,))
            )
            ramp = arithmetic.add(arithmetic.divide(rise, float(width or 1)), end)
            if kind in ("int", "uint"):
                ramp = rounding.floor(ramp)
            parts.append(as_type(ramp, x.dtype))
        x = concatenate([parts[0], x, parts[1]], i)
    return x


# ----------------------------------------------------------------- values from inside


def _by_statistic(x: Array, widths: Widths, mode: str, stat_length: Any) -> Array:
    lengths = None
    if stat_length is not None:
        given = concrete_integers(stat_length, "pad", "stat_length")
        lengths = _pairs(given, x.ndim, "stat_length")
        if (lengths < 1).any():
            raise errors.ArgumentError(f"pad: stat_length is at least 1, got {stat_length}")
    whole = dtypes.is_integer(x.dtype)
    for i, pair in enumerate(widths):
        n, parts = x.shape[i], []
        for side, width in enumerate(pair):
            count = n if lengths is None else int(lengths[i][side].clip(1, n))
            part = take_range(x, *((n - count, n) if side else (0, count)), i)
            edge = _STATISTICS[mode](part, axis=i, keepdims=True)
            if whole:
                edge = rounding.rint(edge) if dtypes.is_inexact(edge.dtype) else edge
            shape = tuple(width if d == i else m for d, m in enumerate(x.shape))
            parts.append(broadcast_to_shape(as_type(edge, x.dtype), shape))
        x = concatenate([parts[0], x, parts[1]], i)
    return x


def _by_function(x: Array, widths: Widths, function: Any, kwargs: dict[str, Any]) -> Array:
    result = pad_constant(x, widths, 0)
    for i, pair in enumerate(widths):
        filled = apply_along_axis(function, i, result, pair, i, kwargs)
        if filled.shape != result.shape:
            raise errors.ShapeError(
                "pad: the function has to give the vector that it gets, filled, but made an array "
                f"of shape {filled.shape} from one of {result.shape}"
            )
        result = as_type(filled, x.dtype)
    return result


def _by_places(x: Array, widths: Widths, mode: str, reflect_type: Any) -> Array:
    """The modes in which what is around comes from places inside."""
    if reflect_type not in ("even", "odd"):
        raise errors.ArgumentError(f"pad: reflect_type is 'even' or 'odd', got {reflect_type!r}")
    for i, (low, high) in enumerate(widths):
        n = x.shape[i]
        if not (low or high):
            continue
        around = np.arange(-low, n + high)
        places, turned, rounds = _PLACES[mode](around, n)
        index = (slice(None),) * i
        if reflect_type == "odd" and mode in ("reflect", "symmetric"):
            x = _point_reflected(x, i, places, turned, rounds)
        else:
            x = x[(*index, places)]
    return x


def _point_reflected(
    x: Array, axis: int, places: np.ndarray, turned: np.ndarray, rounds: np.ndarray
) -> Array:
    """Elements at places, reflected at the points of the two edges where `turned`.

    Both reflections together move by a period and raise by twice the rise between the edges.
    What is below the first edge is reflected at that one, so that no other element has a part.
    """
    n = x.shape[axis]
    first, last = take_range(x, 0, 1, axis), take_range(x, n - 1, n, axis)
    line = [-1 if d == axis else 1 for d in range(x.ndim)]
    found = x[(slice(None),) * axis + (places,)]
    shape = found.shape
    below = turned & (rounds < 0)
    rounds = rounds + below

    def reflected_at(edge: Array, where: np.ndarray, values: Array) -> Array:
        mask = broadcast_to_shape(host_array(where.reshape(line), (x,)), shape)
        twice = broadcast_to_shape(arithmetic.add(edge, edge), shape)
        mirrored = arithmetic.subtract(twice, found)
        return select(mask, mirrored, values)  # type: ignore[no-any-return]

    found = reflected_at(first, below, reflected_at(last, turned & ~below, found))
    rise = arithmetic.subtract(arithmetic.add(last, last), arithmetic.add(first, first))
    if not rounds.any():
        return found  # type: ignore[no-any-return]
    steps = host_array(rounds.reshape(line).astype(x.dtype), (x,))
    # What is not moved stays as it is beside an infinite rise, too.
    moved = broadcast_to_shape(host_array(rounds.reshape(line) != 0, (x,)), shape)
    raised = arithmetic.add(found, arithmetic.multiply(rise, steps))
    return select(moved, raised, found)  # type: ignore[no-any-return]


# For places around an axis of length n: the places inside with the same elements, whether the
# elements come in turned order, and how many periods away they are.
Inside = tuple[np.ndarray, np.ndarray, np.ndarray]


def _edge(around: np.ndarray, n: int) -> Inside:
    return around.clip(0, n - 1), np.zeros(len(around), bool), around * 0


def _wrapped(around: np.ndarray, n: int) -> Inside:
    return around % n, np.zeros(len(around), bool), around // n


def _reflected(around: np.ndarray, n: int) -> Inside:
    if n == 1:
        return _edge(around, n)
    period = 2 * (n - 1)
    places = around % period
    # The edges belong to either order: the far one is the last of those reflected at the near one.
    below, above = (places == n - 1) & (around < 0), (places == 0) & (around > 0)
    turned = (places >= n) | below | above
    return np.where(places < n, places, period - places), turned, around // period - above


def _mirrored(around: np.ndarray, n: int) -> Inside:
    places = around % (2 * n)
    return np.where(places < n, places, 2 * n - 1 - places), places >= n, around // (2 * n)


_PLACES: dict[str, Callable[[np.ndarray, int], Inside]] = {
    "edge": _edge,
    "wrap": _wrapped,
    "reflect": _reflected,
    "symmetric": _mirrored,
}
