"""Elements put in and taken out, at places that are known before the program runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import errors
from arrayx.core.array import Array
from arrayx.numpy import logic
from arrayx.numpy.creation import asarray, beside
from arrayx.numpy.naming import named
from arrayx.numpy.promotion import as_array, broadcast_to_shape, check_axes, check_axis
from arrayx.numpy.selection import compress, concrete_array
from arrayx.numpy.shapes import concatenate, moveaxis, ravel, reshape


def _places(obj: Any, length: int, function: str) -> np.ndarray:
    """The places that an index, a slice, or an array of indices or booleans means."""
    if isinstance(obj, slice):
        return np.arange(length)[obj]
    known = concrete_array(obj, function, "a known obj") if isinstance(obj, Array) else obj
    places = np.asarray(known)
    if places.dtype == bool:
        if places.shape != (length,):
            raise errors.ShapeError(
                f"{function}: a mask of shape {places.shape} for an axis of length {length}"
            )
        return np.flatnonzero(places)
    if places.dtype.kind not in "iu" and places.size:
        raise errors.DtypeError(f"{function}: obj must be integers, not {places.dtype}")
    return places.astype(np.int64)


def _checked(places: np.ndarray, length: int, most: int, function: str) -> np.ndarray:
    outside = (places < -length) | (places > most)
    if outside.any():
        raise errors.IndexOutOfBoundsError(
            f"{function}: index {places[outside].flat[0]} is out of bounds for an axis of length "
            f"{length}"
        )
    return np.where(places < 0, places + length, places)


@named
def delete(
    arr: Any, obj: Any, axis: int | None = None, *, assume_unique_indices: bool = False
) -> Array:
    """`arr` without the elements (slices along `axis`) at `obj`: an index, a slice, several.

    >>> import arrayx.numpy as anp
    >>> anp.delete(anp.array([5, 6, 7]), 1).tolist()
    [5, 7]
    """
    x = as_array(arr, "delete", "arr")
    if axis is None:
        x, axis = ravel(x), 0
    i = check_axis(axis, x.ndim, "delete")
    n = x.shape[i]
    gone = _checked(_places(obj, n, "delete"), n, n - 1, "delete")
    left = np.setdiff1d(np.arange(n), gone)
    return x[(slice(None),) * i + (left,)]


@named
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Array:
    """`arr` with `values` before the elements (slices along `axis`) at `obj`.

    >>> import arrayx.numpy as anp
    >>> anp.insert(anp.array([5, 6]), 1, 9).tolist()
    [5, 9, 6]
    """
    x = as_array(arr, "insert", "arr")
    new = beside(values, x, "insert", "values")
    if axis is None:
        x, axis = ravel(x), 0
    i = check_axis(axis, x.ndim, "insert")
    n = x.shape[i]
    found = _places(obj, n, "insert")
    places = np.atleast_1d(_checked(found, n, n, "insert"))
    lines = moveaxis(x, i, 0)
    new = _with_axes(new, x.ndim)
    if found.ndim:
        new = moveaxis(new, i, 0)
    if found.size == 1:
        # One place takes as many slices as there are values.
        places = np.repeat(places, new.shape[0])
    shape = (len(places), *lines.shape[1:])
    if any(m not in (1, n) for m, n in zip(new.shape, shape, strict=True)):
        raise errors.ShapeError(
            f"insert: values of shape {new.shape} do not fit the shape {shape} of {len(places)} "
            f"slices along axis {i}"
        )
    new = broadcast_to_shape(new, shape)
    order = np.argsort(places, kind="stable")
    targets = np.empty(len(places), np.int64)
    targets[order] = places[order] + np.arange(len(places))
    source = np.empty(n + len(places), np.int64)
    mask = np.ones(n + len(places), bool)
    mask[targets] = False
    source[mask] = np.arange(n)
    source[targets] = n + np.arange(len(places))
    return moveaxis(concatenate([lines, new])[source], 0, i)


def _with_axes(new: Array, ndim: int) -> Array:
    """Values with as many axes as the array that they go into, new ones in front."""
    if new.ndim > ndim:
        raise errors.ShapeError(
            f"insert: values of shape {new.shape} have more dimensions than the array's {ndim}"
        )
    return reshape(new, (1,) * (ndim - new.ndim) + new.shape)


@named
def extract(condition: Any, arr: Any, *, size: int | None = None, fill_value: Any = 0) -> Array:
    """The elements of the flattened array where `condition` is true.

    Under `jit` their number must be fixed with `size`; what is missing is `fill_value`.

    >>> import arrayx.numpy as anp
    >>> anp.extract(anp.array([True, False]), anp.array([5, 6])).tolist()
    [5]
    """
    mask = ravel(as_array(condition, "extract", "condition"))
    return compress(mask, ravel(as_array(arr, "extract", "arr")), size=size, fill_value=fill_value)


@named
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Array:
    """An array without the zeros at the front ("f") and back ("b") of its axes.

    The elements have to be known, since the shape depends on them.

    >>> import arrayx.numpy as anp
    >>> anp.trim_zeros(anp.array([0, 1, 0])).tolist()
    [1]
    """
    x = as_array(asarray(filt), "trim_zeros", "filt")
    if not trim or set(trim.lower()) - {"f", "b"}:
        raise errors.ArgumentError(f"trim_zeros: trim holds 'f' and 'b', got {trim!r}")
    host = np.asarray(concrete_array(logic.not_equal(x, 0), "trim_zeros", "a known filt"))
    slices: list[slice] = [slice(None)] * x.ndim
    for i in check_axes(axis, x.ndim, "trim_zeros"):
        others = tuple(d for d in range(x.ndim) if d != i)
        found = np.flatnonzero(host.any(axis=others))
        if not found.size:
            slices[i] = slice(0, 0)
            continue
        start = int(found[0]) if "f" in trim.lower() else 0
        stop = int(found[-1]) + 1 if "b" in trim.lower() else host.shape[i]
        slices[i] = slice(start, stop)
    return x[tuple(slices)]
