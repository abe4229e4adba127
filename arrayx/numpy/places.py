"""Indices of diagonals and triangles, flat numbers of places, and writes at places."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, logic
from arrayx.numpy.creation import asarray, beside, ones
from arrayx.numpy.naming import named
from arrayx.numpy.promotion import (
    as_array,
    as_type,
    broadcast_shapes,
    broadcast_to_shape,
    check_axis,
    known_values,
    placed_like,
)
from arrayx.numpy.ranges import concrete_index
from arrayx.numpy.repetition import resize
from arrayx.numpy.scattering import check_mode, updated
from arrayx.numpy.selection import nonzero, where
from arrayx.numpy.shapes import concatenate, expand_dims, ravel, reshape
from arrayx.primitives.cumulative import cumsum

Indices = tuple[Array, ...]


def _known(*indices: np.ndarray) -> Indices:
    dtype = dtypes.default_int()
    return tuple(asarray(i.astype(dtype)) for i in indices)


def _square_size(arr: Any, function: str) -> Array:
    x = as_array(arr, function, "arr")
    if x.ndim != 2:
        raise errors.ShapeError(f"{function} takes a matrix, got an array of shape {x.shape}")
    return x


def diag_indices(n: int, ndim: int = 2) -> Indices:
    """The indices of the main diagonal of an array of `ndim` axes of length `n`.

    >>> import arrayx.numpy as anp
    >>> [i.tolist() for i in anp.diag_indices(2)]
    [[0, 1], [0, 1]]
    """
    n, ndim = concrete_index(n, "diag_indices", "n"), concrete_index(ndim, "diag_indices", "ndim")
    if n < 0 or ndim < 0:
        raise errors.ArgumentError(f"diag_indices: n and ndim are not negative, got {n}, {ndim}")
    return _known(*[np.arange(n)] * ndim)


def diag_indices_from(arr: Any) -> Indices:
    """`diag_indices` for the shape of an array whose axes have one length.

    >>> import arrayx.numpy as anp
    >>> [i.tolist() for i in anp.diag_indices_from(anp.ones((2, 2)))]
    [[0, 1], [0, 1]]
    """
    x = as_array(arr, "diag_indices_from", "arr")
    if x.ndim < 2 or len(set(x.shape)) > 1:
        raise errors.ShapeError(
            f"diag_indices_from: all axes, at least 2, must have one length, got shape {x.shape}"
        )
    with placed_like(x):
        return diag_indices(x.shape[0], x.ndim)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> Indices:
    """The indices of the lower triangle, up to the diagonal number `k`, of an `n` by `m` matrix.

    >>> import arrayx.numpy as anp
    >>> [i.tolist() for i in anp.tril_indices(2)]
    [[0, 1, 1], [0, 0, 1]]
    """
    n, k = concrete_index(n, "tril_indices", "n"), concrete_index(k, "tril_indices", "k")
    return _known(*np.tril_indices(n, k, m))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> Indices:
    """The indices of the upper triangle, from the diagonal number `k` on, of an `n` by `m` matrix.

    >>> import arrayx.numpy as anp
    >>> [i.tolist() for i in anp.triu_indices(2)]
    [[0, 0, 1], [0, 1, 1]]
    """
    n, k = concrete_index(n, "triu_indices", "n"), concrete_index(k, "triu_indices", "k")
    return _known(*np.triu_indices(n, k, m))


def tril_indices_from(arr: Any, k: int = 0) -> Indices:
    """`tril_indices` for the shape of a matrix.

    >>> import arrayx.numpy as anp
    >>> [i.tolist() for i in anp.tril_indices_from(anp.ones((2, 2)), -1)]
    [[1], [0]]
    """
    x = _square_size(arr, "tril_indices_from")
    with placed_like(x):
        return tril_indices(x.shape[0], k, x.shape[1])


def triu_indices_from(arr: Any, k: int = 0) -> Indices:
    """`triu_indices` for the shape of a matrix.

    >>> import arrayx.numpy as anp
    >>> [i.tolist() for i in anp.triu_indices_from(anp.ones((2, 2)), 1)]
    [[0], [1]]
    """
    x = _square_size(arr, "triu_indices_from")
    with placed_like(x):
        return triu_indices(x.shape[0], k, x.shape[1])


@named
def mask_indices(
    n: int, mask_func: Callable[[Any, Any], Any], k: Any = 0, *, size: int | None = None
) -> Indices:
    """The indices where `mask_func(ones, k)` of an `n` by `n` matrix is not zero.

    >>> import arrayx.numpy as anp
    >>> [i.tolist() for i in anp.mask_indices(2, anp.triu)]
    [[0, 0, 1], [0, 1, 1]]
    """
    return nonzero(mask_func(ones((n, n)), k), size=size)


@named
def ix_(*args: Any) -> Indices:
    """Vectors as index arrays of an open grid; booleans stand for the places where they are true.

    >>> import arrayx.numpy as anp
    >>> [i.shape for i in anp.ix_(anp.arange(2), anp.arange(3))]
    [(2, 1), (1, 3)]
    """
    result = []
    for i, a in enumerate(args):
        x = asarray(a)
        if x.ndim != 1:
            raise errors.ShapeError(f"ix_: argument {i} must be a vector, got shape {x.shape}")
        if dtypes.kind(x.dtype) == "bool":
            (x,) = nonzero(x)
        shape = tuple(x.shape[0] if j == i else 1 for j in range(len(args)))
        result.append(reshape(x, shape))
    return tuple(result)


# ----------------------------------------------------------------- flat numbers


@named
def unravel_index(indices: Any, shape: Any) -> Indices:
    """Numbers of elements in an array of `shape`, counted row by row, as one index for each axis.

    Negative numbers count from the end.  A number outside raises if it is known now, and is
    moved to the nearest one inside otherwise.

    >>> import arrayx.numpy as anp
    >>> [i.tolist() for i in anp.unravel_index(anp.array([1, 5]), (2, 3))]
    [[0, 1], [1, 2]]
    """
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    lengths = tuple(concrete_index(n, "unravel_index", "shape") for n in lengths)
    places = asarray(indices)
    if not dtypes.is_integer(places.dtype):
        raise errors.DtypeError(f"unravel_index: indices must be integers, not {places.dtype}")
    total = math.prod(lengths)
    host = known_values(indices)
    if host is not None and host.size and not (-total <= host.min() and host.max() < total):
        bad = host[(host < -total) | (host >= total)].flat[0]
        raise errors.IndexOutOfBoundsError(
            f"unravel_index: {bad} is out of bounds for an array of shape {lengths}"
        )
    if dtypes.kind(places.dtype) == "int":
        places = where(logic.less(places, 0), arithmetic.add(places, total), places)
    places = arithmetic.clip(places, 0, max(total - 1, 0))
    result, stride = [], total
    for n in lengths:
        stride //= max(n, 1)
        result.append(arithmetic.remainder(arithmetic.floor_divide(places, max(stride, 1)), n or 1))
    return tuple(result)


@named
def ravel_multi_index(
    multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C", *, dtype: Any = None
) -> Array:
    """One index for each axis as the number of the element, counted row by row.

    `mode` says what becomes of an index outside: "raise" (which needs indices that are known
    now), "wrap" or "clip"; one mode, or one for each axis.  `order="F"` counts by columns.

    >>> import arrayx.numpy as anp
    >>> anp.ravel_multi_index((anp.array([0, 1]), anp.array([1, 2])), (2, 3)).tolist()
    [1, 5]
    """
    lengths = (dims,) if isinstance(dims, int) else tuple(dims)
    if len(multi_index) != len(lengths):
        raise errors.ShapeError(
            f"ravel_multi_index: {len(multi_index)} indices for {len(lengths)} dimensions"
        )
    if order not in ("C", "F"):
        raise errors.ArgumentError(f"ravel_multi_index: order is 'C' or 'F', not {order!r}")
    modes = (mode,) * len(lengths) if isinstance(mode, str) else tuple(mode)
    target = dtypes.index_dtype(math.prod(lengths)) if dtype is None else dtypes.as_dtype(dtype)
    columns = []
    for i, (given, n, how) in enumerate(zip(multi_index, lengths, modes, strict=True)):
        x = asarray(given)
        if not dtypes.is_integer(x.dtype):
            raise errors.DtypeError(f"ravel_multi_index: indices must be integers, not {x.dtype}")
        if how == "raise":
            host = known_values(given)
            if host is None:
                raise errors.ConcretizationError(
                    "ravel_multi_index checks indices against the dimensions, so they must be "
                    'known now; for traced ones give mode="clip" or mode="wrap"'
                )
            if host.size and not (host.min() >= 0 and host.max() < n):
                raise errors.IndexOutOfBoundsError(
                    f"ravel_multi_index: an index for axis {i} is out of bounds for length {n}"
                )
        elif how == "clip":
            x = arithmetic.clip(x, 0, n - 1)
        elif how == "wrap":
            x = arithmetic.remainder(x, n)
        else:
            raise errors.ArgumentError(
                f"ravel_multi_index: mode is 'raise', 'wrap' or 'clip', not {how!r}"
            )
        columns.append(as_type(x, target))
    numbered = list(zip(columns, lengths, strict=True))
    result = None
    for x, n in numbered if order == "C" else reversed(numbered):
        result = x if result is None else arithmetic.add(arithmetic.multiply(result, n), x)
    return asarray(0, target) if result is None else result


# ----------------------------------------------------------------- writes


def _refuse_in_place(function: str, inplace: bool) -> None:
    if inplace:
        raise errors.ImmutableArrayError(
            f"{function}: arrays do not change. Give inplace=False and use the result"
        )


@named
def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = True) -> Array:
    """A copy of `a` with `val` on its main diagonal; needs `inplace=False`.

    `val` is a number, or a vector that is repeated along the diagonal.  With `wrap` the diagonal
    of a tall matrix begins again below its end, after a row that is left out.

    >>> import arrayx.numpy as anp
    >>> anp.fill_diagonal(anp.zeros((2, 2)), 5, inplace=False).tolist()
    [[5.0, 0.0], [0.0, 5.0]]
    """
    _refuse_in_place("fill_diagonal", inplace)
    x = as_array(a, "fill_diagonal", "a")
    if x.ndim < 2 or (x.ndim > 2 and len(set(x.shape)) > 1):
        raise errors.ShapeError(
            f"fill_diagonal takes a matrix, or axes of one length; got shape {x.shape}"
        )
    step = 1 + sum(math.prod(x.shape[i + 1 :]) for i in range(x.ndim - 1))
    end = x.size if wrap or x.ndim > 2 else min(x.size, x.shape[1] ** 2)
    places = np.arange(0, end, step)
    count = len(places)
    values = beside(val, x, "fill_diagonal", "val")
    if values.ndim:
        values = resize(ravel(values), (count,))
    index = np.unravel_index(places, x.shape) if x.size else (places,) * x.ndim
    return updated(x, index, values, "set", None, True)


@named
def put(a: Any, ind: Any, v: Any, mode: str | None = None, *, inplace: bool = True) -> Array:
    """A copy of `a` with elements of `v` at the flat indices `ind`; needs `inplace=False`.

    `v` is repeated if it is shorter.  `mode` is "clip", "wrap", or None, which raises for known
    indices outside and drops traced ones.

    >>> import arrayx.numpy as anp
    >>> anp.put(anp.zeros(3), anp.array([0, 2]), anp.array([5.0, 6.0]), inplace=False).tolist()
    [5.0, 0.0, 6.0]
    """
    _refuse_in_place("put", inplace)
    x = as_array(a, "put", "a")
    with placed_like(x):
        places = ravel(asarray(ind))
    values = ravel(beside(v, x, "put", "v"))
    if not places.size or not values.size:
        return x
    values = resize(values, places.shape)
    how = check_mode(None if mode == "raise" else mode)
    flat = updated(ravel(x), places, values, "set", how, False)
    return reshape(flat, x.shape)


@named
def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = True) -> Array:
    """A copy of `arr` with elements of `vals`, in turn, where `mask` is true.

    Needs `inplace=False`.  `vals` is repeated if it is shorter.

    >>> import arrayx.numpy as anp
    >>> x = anp.arange(3)
    >>> anp.place(x, x > 0, anp.array([7]), inplace=False).tolist()
    [0, 7, 7]
    """
    _refuse_in_place("place", inplace)
    x = as_array(arr, "place", "arr")
    with placed_like(x):
        which = logic.truth(asarray(mask))
    values = ravel(beside(vals, x, "place", "vals"))
    if which.size != x.size:
        raise errors.ShapeError(
            f"place: the mask of shape {which.shape} does not fit the shape {x.shape}"
        )
    if not x.size:
        return x
    if not values.size:
        raise errors.ArgumentError("place: there are no values to place")
    flat = ravel(which)
    number = cumsum(as_type(flat, dtypes.index_dtype(x.size)), axis=0, reverse=False)
    turn = arithmetic.remainder(arithmetic.subtract(number, 1), values.shape[0])
    picked = values[turn]
    return reshape(where(flat, picked, ravel(x)), x.shape)


@named
def put_along_axis(
    arr: Any,
    indices: Any,
    values: Any,
    axis: int | None,
    inplace: bool = True,
    *,
    mode: str | None = None,
) -> Array:
    """A copy of `arr` with `values` at the indices in the same line along `axis`.

    Needs `inplace=False`.

    >>> import arrayx.numpy as anp
    >>> places = anp.array([[1], [0]])
    >>> anp.put_along_axis(anp.zeros((2, 2)), places, 9, 1, inplace=False).tolist()
    [[0.0, 9.0], [9.0, 0.0]]
    """
    _refuse_in_place("put_along_axis", inplace)
    x = as_array(arr, "put_along_axis", "arr")
    places = as_array(indices, "put_along_axis", "indices")
    if not dtypes.is_integer(places.dtype):
        raise errors.DtypeError(f"put_along_axis: indices must be integers, not {places.dtype}")
    if axis is None:
        flat = put_along_axis(ravel(x), ravel(places), values, 0, False, mode=mode)
        return reshape(flat, x.shape)
    i = check_axis(axis, x.ndim, "put_along_axis")
    if places.ndim != x.ndim:
        raise errors.ShapeError(
            f"put_along_axis: {places.ndim} dimensions of indices for {x.ndim} of the array"
        )
    given = beside(values, x, "put_along_axis", "values")
    grid = [n if d != i else places.shape[i] for d, n in enumerate(x.shape)]
    shape = broadcast_shapes(tuple(grid), places.shape)
    if given.ndim > x.ndim or any(
        n not in (1, m) for n, m in zip(given.shape[::-1], shape[::-1], strict=False)
    ):
        raise errors.ShapeError(
            f"put_along_axis: values of shape {given.shape} cannot be broadcast to the shape "
            f"{shape} of the places"
        )
    index: list[Any] = [
        np.arange(n).reshape(tuple(n if e == d else 1 for e in range(x.ndim)))
        for d, n in enumerate(x.shape)
    ]
    index[i] = broadcast_to_shape(places, shape)
    return updated(
        x, tuple(index), broadcast_to_shape(given, shape), "set", check_mode(mode), False
    )


# ----------------------------------------------------------------- grids by indexing


def _line(s: slice) -> np.ndarray:
    """The numbers of a slice such as 0:3, or 0:1:5j for five of them, both ends included."""
    start = 0 if s.start is None else s.start
    if isinstance(s.step, complex):
        line = np.linspace(start, s.stop, int(abs(s.step)))
    else:
        line = np.arange(start, s.stop, 1 if s.step is None else s.step)
    return line.astype(dtypes.default_dtype(float if line.dtype.kind == "f" else int))


class _Grid:
    """Grids of numbers from slices: `anp.mgrid[0:2, 0:3]`."""

    def __init__(self, name: str, sparse: bool) -> None:
        self.name, self.sparse = name, sparse

    def __getitem__(self, key: Any) -> Any:
        slices = key if isinstance(key, tuple) else (key,)
        if any(not isinstance(s, slice) or s.stop is None for s in slices):
            raise errors.ArgumentError(f"{self.name} takes slices with an end, got {key!r}")
        lines = [_line(s) for s in slices]
        if not isinstance(key, tuple):
            return asarray(lines[0])
        dtype = np.result_type(*lines).type if lines else dtypes.default_float()
        if dtype is np.float64 and dtypes.default_float() is not np.dtype(np.float64):
            dtype = np.float32
        grids = np.meshgrid(*lines, indexing="ij", sparse=self.sparse)
        if self.sparse:
            return [asarray(g.astype(dtype)) for g in grids]
        return asarray(np.stack(grids).astype(dtype) if grids else np.zeros((0,), dtype))

    def __repr__(self) -> str:
        return f"arrayx.numpy.{self.name}"


mgrid = _Grid("mgrid", False)
ogrid = _Grid("ogrid", True)
s_ = np.s_
index_exp = np.index_exp


class _Joined:
    """Slices, numbers and arrays joined along an axis: `anp.r_[0:3, 7]`."""

    def __init__(self, name: str, columns: bool) -> None:
        self.name, self.columns = name, columns

    def __getitem__(self, key: Any) -> Array:
        parts = []
        for item in key if isinstance(key, tuple) else (key,):
            if isinstance(item, str):
                raise errors.ArgumentError(
                    f"{self.name}: the directive {item!r} is not offered; use anp.concatenate"
                )
            x = asarray(_line(item)) if isinstance(item, slice) else asarray(item)
            x = reshape(x, (1,)) if x.ndim == 0 else x
            parts.append(expand_dims(x, 1) if self.columns and x.ndim == 1 else x)
        return concatenate(parts, -1 if self.columns else 0)

    def __repr__(self) -> str:
        return f"arrayx.numpy.{self.name}"


r_ = _Joined("r_", False)
c_ = _Joined("c_", True)
