"""Functions that split, repeat and turn arrays along their axes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import errors
from arrayx.backend.concrete import ConcreteArray
from arrayx.core.array import Array
from arrayx.core.interpreter import Tracer
from arrayx.numpy.composing import composed
from arrayx.numpy.creation import as_shape, full_like
from arrayx.numpy.naming import named
from arrayx.numpy.promotion import as_array, check_axes, check_axis
from arrayx.numpy.ranges import concrete_index
from arrayx.numpy.shapes import concatenate, ravel, reshape, swapaxes, take_range, unstack
from arrayx.primitives import slicing
from arrayx.primitives.axes import broadcast_in_dim, rev


def concrete_integers(value: Any, function: str, argument: str) -> np.ndarray:
    """Integers that must be known now, as a NumPy array: a shape depends on them."""
    if isinstance(value, Tracer):
        value = value.concrete(f"the argument {argument} of {function}")
    array = value.host() if isinstance(value, ConcreteArray) else np.asarray(value)
    if array.dtype.kind not in "iu" and array.size:
        raise errors.ArgumentError(f"{function}: {argument} must be integers, got {value!r}")
    return array.astype(np.int64)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Parts of `ary` along an axis: as many as told, or cut at the given places.

    >>> import arrayx.numpy as anp
    >>> [part.tolist() for part in anp.array_split(anp.arange(5), 2)]
    [[0, 1, 2], [3, 4]]
    """
    x = as_array(ary, "array_split", "ary")
    i = check_axis(axis, x.ndim, "array_split")
    length = x.shape[i]
    places = concrete_integers(indices_or_sections, "array_split", "indices_or_sections")
    if places.ndim == 0:
        count = int(places)
        if count <= 0:
            raise errors.ArgumentError(f"array_split: {count} parts are not possible")
        each, more = divmod(length, count)
        cuts = np.cumsum([0] + [each + 1] * more + [each] * (count - more)).tolist()
    else:
        cuts = [0, *places.tolist(), length]
    parts = []
    for start, stop in itertools.pairwise(cuts):
        start, stop, _ = slice(start, stop).indices(length)
        parts.append(take_range(x, start, max(start, stop), i))
    return parts


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Parts of `ary` along an axis: as many of equal length as told, or cut at the given places.

    >>> import arrayx.numpy as anp
    >>> [part.tolist() for part in anp.split(anp.arange(4), 2)]
    [[0, 1], [2, 3]]
    """
    x = as_array(ary, "split", "ary")
    places = concrete_integers(indices_or_sections, "split", "indices_or_sections")
    i = check_axis(axis, x.ndim, "split")
    if places.ndim == 0 and (int(places) <= 0 or x.shape[i] % int(places)):
        raise errors.ShapeError(
            f"split: axis {i} of length {x.shape[i]} has no {int(places)} equal parts; see "
            "anp.array_split"
        )
    return array_split(x, places, i)


def _check_ndim(x: Array, least: int, function: str) -> None:
    if x.ndim < least:
        raise errors.ShapeError(
            f"{function}: an array of at least {least} dimensions is split, got shape {x.shape}"
        )


@named
def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """`split` along the second axis, or the only one.

    >>> import arrayx.numpy as anp
    >>> [part.shape for part in anp.hsplit(anp.ones((2, 4)), 2)]
    [(2, 2), (2, 2)]
    """
    x = as_array(ary, "hsplit", "ary")
    _check_ndim(x, 1, "hsplit")
    return split(x, indices_or_sections, 0 if x.ndim == 1 else 1)


@named
def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """`split` along the first axis.

    >>> import arrayx.numpy as anp
    >>> [part.shape for part in anp.vsplit(anp.ones((2, 4)), 2)]
    [(1, 4), (1, 4)]
    """
    x = as_array(ary, "vsplit", "ary")
    _check_ndim(x, 2, "vsplit")
    return split(x, indices_or_sections, 0)


@named
def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """`split` along the third axis.

    >>> import arrayx.numpy as anp
    >>> [part.shape for part in anp.dsplit(anp.ones((1, 1, 2)), 2)]
    [(1, 1, 1), (1, 1, 1)]
    """
    x = as_array(ary, "dsplit", "ary")
    _check_ndim(x, 3, "dsplit")
    return split(x, indices_or_sections, 2)


@composed
def tile(A: Any, reps: Any) -> Array:
    """`A` repeated as a whole, so many times along each axis.

    >>> import arrayx.numpy as anp
    >>> anp.tile(anp.arange(2), 2).tolist()
    [0, 1, 0, 1]
    """
    x = as_array(A, "tile", "A")
    listed = tuple(reps) if isinstance(reps, Sequence | np.ndarray) else (reps,)
    counts = tuple(concrete_index(n, "tile", "reps") for n in listed)
    if any(n < 0 for n in counts):
        raise errors.ArgumentError(f"tile: reps has negative numbers: {reps}")
    ndim = max(x.ndim, len(counts))
    shape = (1,) * (ndim - x.ndim) + x.shape
    counts = (1,) * (ndim - len(counts)) + counts
    wide = tuple(n for pair in zip(counts, shape, strict=True) for n in pair)
    dims = tuple(range(2 * (ndim - x.ndim) + 1, 2 * ndim, 2))
    repeated = broadcast_in_dim(x, shape=wide, dims=dims)
    return reshape(repeated, tuple(r * n for r, n in zip(counts, shape, strict=True)))


def repeat(
    a: Any, repeats: Any, axis: int | None = None, *, total_repeat_length: int | None = None
) -> Array:
    """Each element of `a` (each slice along `axis`) so many times in a row.

    `repeats` may be an array with a number for each.  It must be concrete unless
    `total_repeat_length` fixes the length of the result: what is missing then repeats the last
    element, what is too much is cut off.

    >>> import arrayx.numpy as anp
    >>> anp.repeat(anp.arange(2), 2).tolist()
    [0, 0, 1, 1]
    """
    x = as_array(a, "repeat", "a")
    if axis is None:
        x, axis = ravel(x), 0
    i = check_axis(axis, x.ndim, "repeat")
    length = x.shape[i]
    if total_repeat_length is None or not isinstance(repeats, Tracer):
        counts = concrete_integers(repeats, "repeat", "repeats")
        if counts.size == 1:
            counts = np.broadcast_to(counts.reshape(-1), (length,))
        if (counts < 0).any() or counts.shape != (length,):
            raise errors.ShapeError(
                f"repeat: {counts.shape[0] if counts.ndim else 1} repeats for {length} elements, "
                "which must be as many and not negative"
            )
        if total_repeat_length is None and length and (counts == counts[0]).all():
            shape = (*x.shape[: i + 1], int(counts[0]), *x.shape[i + 1 :])
            dims = tuple(d for d in range(x.ndim + 1) if d != i + 1)
            wide = broadcast_in_dim(x, shape=shape, dims=dims)
            return reshape(wide, (*x.shape[:i], length * int(counts[0]), *x.shape[i + 1 :]))
        places = np.repeat(np.arange(length), counts)
        if total_repeat_length is not None:
            missing = max(0, total_repeat_length - len(places))
            places = np.concatenate([places, np.full(missing, max(length - 1, 0))])
            places = places[:total_repeat_length]
        index = (slice(None),) * i + (places,)
        return x[index]
    ends = as_array(repeats).cumsum()
    numbers = np.arange(total_repeat_length, dtype=np.int32)
    passed = (ends.reshape(1, -1) <= numbers[:, None]).sum(axis=1)
    index = (slice(None),) * i + (passed.clip(0, length - 1),)
    return x[index]


@composed
def roll(a: Any, shift: Any, axis: Any = None) -> Array:
    """`a` moved along axes, what leaves at one end coming back at the other.

    `shift` may be traced.

    >>> import arrayx.numpy as anp
    >>> anp.roll(anp.arange(4), 1).tolist()
    [3, 0, 1, 2]
    """
    x = as_array(a, "roll", "a")
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    listed = axis if isinstance(axis, tuple | list) else (axis,)
    axes = [check_axis(i, x.ndim, "roll") for i in listed]  # one may be meant several times
    shifts = _shifts(shift)
    count = len(shifts) if len(axes) == 1 else len(axes)
    if len(shifts) not in (1, count):
        raise errors.ShapeError(f"roll: {len(shifts)} shifts for {len(axes)} axes")
    shifts = shifts * count if len(shifts) == 1 else shifts
    axes = axes * count if len(axes) == 1 else axes
    for by, i in zip(shifts, axes, strict=True):
        n = x.shape[i]
        if n < 2:
            continue
        if isinstance(by, Array):
            start = (n - by % n) % n
            doubled = concatenate([x, x], i)
            starts = [start if d == i else 0 for d in range(x.ndim)]
            x = slicing.dynamic_slice(doubled, *starts, sizes=x.shape)
        else:
            cut = n - concrete_index(by, "roll", "shift") % n
            if cut != n:
                x = concatenate([take_range(x, cut, n, i), take_range(x, 0, cut, i)], i)
    return x


def _shifts(shift: Any) -> list[Any]:
    if isinstance(shift, tuple | list):
        return list(shift)
    if isinstance(shift, np.ndarray):
        return shift.ravel().tolist()
    if isinstance(shift, Array) and shift.ndim:
        return list(unstack(ravel(shift)))
    return [shift]


def flip(m: Any, axis: Any = None) -> Array:
    """`m` with the order of its elements turned around along axes, all by default.

    >>> import arrayx.numpy as anp
    >>> anp.flip(anp.arange(3)).tolist()
    [2, 1, 0]
    """
    x = as_array(m, "flip", "m")
    return rev(x, axes=check_axes(axis, x.ndim, "flip"))  # type: ignore[no-any-return]


@composed
def fliplr(m: Any) -> Array:
    """`flip` along the second axis.

    >>> import arrayx.numpy as anp
    >>> anp.fliplr(anp.eye(2)).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return flip(m, 1)


@composed
def flipud(m: Any) -> Array:
    """`flip` along the first axis.

    >>> import arrayx.numpy as anp
    >>> anp.flipud(anp.arange(2)).tolist()
    [1, 0]
    """
    return flip(m, 0)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Array:
    """`m` turned by `k` quarters in the plane of two axes, from the first to the second.

    >>> import arrayx.numpy as anp
    >>> anp.rot90(anp.arange(4).reshape(2, 2)).tolist()
    [[1, 3], [0, 2]]
    """
    x = as_array(m, "rot90", "m")
    plane = check_axes(axes, x.ndim, "rot90")
    if len(plane) != 2:
        raise errors.AxisError(f"rot90: axes are two, got {axes!r}")
    first, second = plane
    k = concrete_index(k, "rot90", "k") % 4
    if k == 0:
        return x
    if k == 2:
        return flip(x, (first, second))
    if k == 1:
        return swapaxes(flip(x, second), first, second)
    return flip(swapaxes(x, first, second), second)


@composed
def resize(a: Any, new_shape: Any) -> Array:
    """The elements of `a` in another shape, begun again where they do not suffice.

    >>> import arrayx.numpy as anp
    >>> anp.resize(anp.arange(2), (3,)).tolist()
    [0, 1, 0]
    """
    x = ravel(as_array(a, "resize", "a"))
    shape = as_shape(new_shape, "resize")
    size = int(np.prod(shape))
    if not x.size:
        return full_like(x, 0, shape=shape)
    return reshape(take_range(tile(x, -(-size // x.size)), 0, size, 0), shape)
