"""Functions that move, join, split and repeat axes; the elements stay what they are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.core.aval import Shape
from arrayx.numpy.composing import composed
from arrayx.numpy.naming import named, refuse_out
from arrayx.numpy.promotion import (
    as_array,
    as_type,
    broadcast_shapes,
    broadcast_to_shape,
    check_axes,
    check_axis,
    promoted_arrays,
)
from arrayx.primitives import axes as axis_primitives
from arrayx.primitives import slicing


def whole_shape(shape: Any, size: int, function: str) -> Shape:
    """A new shape for `size` elements, in which one length may be -1."""
    listed = tuple(shape) if isinstance(shape, Sequence | np.ndarray) else (shape,)
    try:
        lengths = [n.__index__() for n in listed]
    except (AttributeError, TypeError):
        raise errors.ArgumentError(
            f"{function}: a shape is made of integers, got {shape!r}"
        ) from None
    if lengths.count(-1) == 1:
        known = -math.prod(lengths)
        if known > 0 and size % known == 0:
            lengths[lengths.index(-1)] = size // known
    if math.prod(lengths) != size or any(n < 0 for n in lengths):
        shown = tuple(lengths)
        if lengths.count(-1) > 1:
            reason = "; only one length can be left open with -1"
        elif any(n < 0 for n in lengths):
            rest = -math.prod(lengths)
            reason = f", whose other lengths make {rest}; {size} has to be a multiple of that"
        else:
            reason = f", which has {math.prod(lengths)}; -1 for one length works it out"
        raise errors.ShapeError(
            f"{function}: {size} elements do not fit into the shape {shown}{reason}"
        )
    return tuple(lengths)


def reshape(a: Any, shape: Any, order: str = "C", *, copy: bool | None = None) -> Array:
    """The elements of `a` in the same order in another shape; one length may be -1.

    `order="F"` reads and writes the first axis fastest.

    >>> import arrayx.numpy as anp
    >>> anp.reshape(anp.arange(4), (2, -1)).tolist()
    [[0, 1], [2, 3]]
    """
    return _reshaped(as_array(a, "reshape", "a"), shape, order, "reshape")


def _reshaped(x: Array, shape: Any, order: str, function: str) -> Array:
    new = whole_shape(shape, x.size, function)
    if order == "F":
        turned = transpose(x)
        return transpose(reshape(turned, new[::-1]))
    if order not in ("C", "A", "K"):
        raise errors.ArgumentError(f"{function}: order is 'C' or 'F', not {order!r}")
    return x if new == x.shape else axis_primitives.reshape(x, shape=new)


def ravel(a: Any, order: str = "C") -> Array:
    """The elements of `a` as a vector.

    >>> import arrayx.numpy as anp
    >>> anp.ravel(anp.eye(2)).tolist()
    [1.0, 0.0, 0.0, 1.0]
    """
    x = as_array(a, "ravel", "a")
    return _reshaped(x, (x.size,), order, "ravel")


def transpose(a: Any, axes: Any = None) -> Array:
    """`a` with its axes in another order, reversed by default.

    >>> import arrayx.numpy as anp
    >>> anp.transpose(anp.ones((2, 3))).shape
    (3, 2)
    """
    x = as_array(a, "transpose", "a")
    perm = tuple(reversed(range(x.ndim))) if axes is None else check_axes(axes, x.ndim, "transpose")
    if len(perm) != x.ndim:
        raise errors.AxisError(f"transpose: {perm} are not all {x.ndim} axes")
    if perm == tuple(range(x.ndim)):
        return x
    return axis_primitives.transpose(x, perm=perm)  # type: ignore[no-any-return]


permute_dims = transpose


def matrix_transpose(x: Any, /) -> Array:
    """`x` with its last two axes exchanged.

    >>> import arrayx.numpy as anp
    >>> anp.matrix_transpose(anp.ones((4, 2, 3))).shape
    (4, 3, 2)
    """
    array = as_array(x, "matrix_transpose", "x")
    if array.ndim < 2:
        raise errors.ShapeError(
            f"matrix_transpose needs at least 2 dimensions, got shape {array.shape}"
        )
    return swapaxes(array, -1, -2)


def swapaxes(a: Any, axis1: int, axis2: int) -> Array:
    """`a` with two axes exchanged.

    >>> import arrayx.numpy as anp
    >>> anp.swapaxes(anp.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    x = as_array(a, "swapaxes", "a")
    i, j = check_axis(axis1, x.ndim, "swapaxes"), check_axis(axis2, x.ndim, "swapaxes")
    perm = list(range(x.ndim))
    perm[i], perm[j] = j, i
    return transpose(x, perm)


def moveaxis(a: Any, source: Any, destination: Any) -> Array:
    """`a` with axes moved to other places; the others keep their order.

    >>> import arrayx.numpy as anp
    >>> anp.moveaxis(anp.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    x = as_array(a, "moveaxis", "a")
    src = check_axes(source, x.ndim, "moveaxis")
    dst = check_axes(destination, x.ndim, "moveaxis")
    if len(src) != len(dst):
        raise errors.AxisError(f"moveaxis: {len(src)} axes cannot go to {len(dst)} places")
    perm = [i for i in range(x.ndim) if i not in src]
    for to, of in sorted(zip(dst, src, strict=True)):
        perm.insert(to, of)
    return transpose(x, perm)


@composed
def rollaxis(a: Any, axis: int, start: int = 0) -> Array:
    """`a` with one axis moved before another.

    >>> import arrayx.numpy as anp
    >>> anp.rollaxis(anp.ones((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    x = as_array(a, "rollaxis", "a")
    i = check_axis(axis, x.ndim, "rollaxis")
    start = start + x.ndim if start < 0 else start
    return moveaxis(x, i, start - 1 if i < start else start)


def expand_dims(a: Any, axis: Any) -> Array:
    """`a` with new axes of length 1 at these places of the result.

    >>> import arrayx.numpy as anp
    >>> anp.expand_dims(anp.ones(3), (0, 2)).shape
    (1, 3, 1)
    """
    x = as_array(a, "expand_dims", "a")
    count = len(axis) if isinstance(axis, tuple | list) else 1
    new = check_axes(axis, x.ndim + count, "expand_dims")
    lengths = iter(x.shape)
    shape = tuple(1 if i in new else next(lengths) for i in range(x.ndim + count))
    return reshape(x, shape)


def squeeze(a: Any, axis: Any = None) -> Array:
    """`a` without its axes of length 1, or without these of them.

    >>> import arrayx.numpy as anp
    >>> anp.squeeze(anp.ones((1, 3, 1))).shape
    (3,)
    """
    x = as_array(a, "squeeze", "a")
    if axis is None:
        gone = tuple(i for i, n in enumerate(x.shape) if n == 1)
    else:
        gone = check_axes(axis, x.ndim, "squeeze")
        for i in gone:
            if x.shape[i] != 1:
                raise errors.ShapeError(
                    f"squeeze: axis {i} of shape {x.shape} has length {x.shape[i]}, not 1"
                )
    return reshape(x, tuple(n for i, n in enumerate(x.shape) if i not in gone))


def broadcast_to(array: Any, shape: Any, *, out_sharding: Any = None) -> Array:
    """`array` repeated to a shape, its axes lined up with the last ones.

    >>> import arrayx.numpy as anp
    >>> anp.broadcast_to(anp.arange(2), (3, 2)).shape
    (3, 2)
    """
    x = as_array(array, "broadcast_to", "array")
    new = tuple(shape) if isinstance(shape, Sequence | np.ndarray) else (shape,)
    if not all(hasattr(n, "__index__") for n in new):
        raise errors.ArgumentError(f"broadcast_to: a shape is made of integers, got {shape!r}")
    new = tuple(int(n.__index__()) for n in new)
    fits = len(new) >= x.ndim and all(
        n in (1, m) for n, m in zip(reversed(x.shape), reversed(new), strict=False)
    )
    if not fits:
        raise errors.ShapeError(f"broadcast_to: the shape {x.shape} cannot be broadcast to {new}")
    return broadcast_to_shape(x, new)


@named
def broadcast_arrays(*args: Any) -> list[Array]:
    """Arrays repeated to their common shape.

    >>> import arrayx.numpy as anp
    >>> [x.shape for x in anp.broadcast_arrays(anp.ones((2, 1)), anp.ones(3))]
    [(2, 3), (2, 3)]
    """
    arrays = [as_array(a, "broadcast_arrays", f"args[{i}]") for i, a in enumerate(args)]
    shape = broadcast_shapes(*(a.shape for a in arrays))
    return [broadcast_to_shape(a, shape) for a in arrays]


# ----------------------------------------------------------------- joining


def _listed(arrays: Any, function: str) -> Sequence[Any]:
    if isinstance(arrays, Array | np.ndarray):
        x = as_array(arrays, function, "arrays")
        if x.ndim == 0:
            raise errors.ShapeError(f"{function} needs a sequence of arrays, got one of rank 0")
        return unstack(x)
    if not isinstance(arrays, Iterable):
        raise errors.ArgumentError(
            f"{function}: arrays is a sequence of arrays, got one of type {type(arrays).__name__}"
        )
    listed = list(arrays)
    if not listed:
        raise errors.ArgumentError(f"{function} needs at least one array")
    return listed


def _joinable(arrays: Any, function: str, dtype: Any = None) -> list[Array]:
    listed = _listed(arrays, function)
    names = [f"arrays[{i}]" for i in range(len(listed))]
    joined = promoted_arrays(listed, function, names)
    return joined if dtype is None else [as_type(x, dtypes.as_dtype(dtype)) for x in joined]


def concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Array:
    """Arrays one after the other along an axis they have; None flattens them first.

    >>> import arrayx.numpy as anp
    >>> anp.concatenate([anp.ones(1), anp.zeros(2)]).tolist()
    [1.0, 0.0, 0.0]
    """
    joined = _joinable(arrays, "concatenate", dtype)
    if axis is None:
        joined, axis = [ravel(x) for x in joined], 0
    first = joined[0]
    if first.ndim == 0:
        raise errors.ShapeError(
            "concatenate: arrays of rank 0 have no axis to be joined along; see anp.stack"
        )
    i = check_axis(axis, first.ndim, "concatenate")
    for n, x in enumerate(joined):
        if x.ndim != first.ndim or any(
            a != b for d, (a, b) in enumerate(zip(x.shape, first.shape, strict=True)) if d != i
        ):
            reason = (
                f"they may differ along axis {i} only"
                if x.ndim == first.ndim
                else "they need the same number of axes; see anp.expand_dims and anp.stack"
            )
            raise errors.ShapeError(
                f"concatenate: arrays[{n}] of shape {x.shape} does not fit arrays[0] of shape "
                f"{first.shape}: {reason}"
            )
    return first if len(joined) == 1 else slicing.concatenate(*joined, axis=i)


concat = concatenate


@composed
def stack(arrays: Any, axis: int = 0, out: None = None, dtype: Any = None) -> Array:
    """Arrays of one shape joined along a new axis.

    >>> import arrayx.numpy as anp
    >>> anp.stack([anp.ones(2), anp.zeros(2)]).shape
    (2, 2)
    """
    refuse_out(out, "stack")
    joined = _joinable(arrays, "stack", dtype)
    shape = joined[0].shape
    for n, x in enumerate(joined):
        if x.shape != shape:
            raise errors.ShapeError(
                f"stack: all arrays need one shape, but arrays[{n}] has {x.shape} and arrays[0] "
                f"{shape}"
            )
    i = check_axis(axis, len(shape) + 1, "stack")
    return concatenate([expand_dims(x, i) for x in joined], i)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The slices of `x` along an axis, which they lose.

    >>> import arrayx.numpy as anp
    >>> [part.tolist() for part in anp.unstack(anp.eye(2))]
    [[1.0, 0.0], [0.0, 1.0]]
    """
    array = as_array(x, "unstack", "x")
    i = check_axis(axis, array.ndim, "unstack")
    return tuple(squeeze(take_range(array, k, k + 1, i), i) for k in range(array.shape[i]))


def take_range(x: Array, start: int, stop: int, axis: int) -> Array:
    """`x` from `start` to `stop` along an axis, both in range."""
    if start == 0 and stop == x.shape[axis]:
        return x
    starts, limits = [0] * x.ndim, list(x.shape)
    starts[axis], limits[axis] = start, stop
    return slicing.slice(  # type: ignore[no-any-return]
        x, starts=tuple(starts), limits=tuple(limits), strides=(1,) * x.ndim
    )


def atleast_1d(*arys: Any) -> Any:
    """Arrays with at least one axis.

    >>> import arrayx.numpy as anp
    >>> anp.atleast_1d(2.0).shape
    (1,)
    """
    return _atleast(arys, 1, "atleast_1d")


def atleast_2d(*arys: Any) -> Any:
    """Arrays with at least two axes; a vector becomes a row.

    >>> import arrayx.numpy as anp
    >>> anp.atleast_2d(anp.ones(3)).shape
    (1, 3)
    """
    return _atleast(arys, 2, "atleast_2d")


def atleast_3d(*arys: Any) -> Any:
    """Arrays with at least three axes; a matrix gets its new one at the end.

    >>> import arrayx.numpy as anp
    >>> anp.atleast_3d(anp.ones(3)).shape
    (1, 3, 1)
    """
    return _atleast(arys, 3, "atleast_3d")


_NEW_AXES: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((0,),),
    2: ((0, 1), (0,)),
    3: ((0, 1, 2), (0, 2), (2,)),
}


def _atleast(arrays: Sequence[Any], ndim: int, function: str) -> Any:
    made = []
    for i, a in enumerate(arrays):
        x = as_array(a, function, f"arys[{i}]")
        made.append(x if x.ndim >= ndim else expand_dims(x, _NEW_AXES[ndim][x.ndim]))
    return made[0] if len(made) == 1 else made


@composed
def vstack(tup: Any, dtype: Any = None) -> Array:
    """Arrays one below the other: along the first axis, vectors as rows.

    >>> import arrayx.numpy as anp
    >>> anp.vstack([anp.ones(2), anp.zeros(2)]).shape
    (2, 2)
    """
    return concatenate([atleast_2d(x) for x in _listed(tup, "vstack")], 0, dtype)


row_stack = vstack  # NumPy's name for it before version 2


@composed
def hstack(tup: Any, dtype: Any = None) -> Array:
    """Arrays side by side: along the second axis, vectors along their only one.

    >>> import arrayx.numpy as anp
    >>> anp.hstack([anp.ones(2), anp.zeros(1)]).shape
    (3,)
    """
    arrays = [atleast_1d(x) for x in _listed(tup, "hstack")]
    return concatenate(arrays, 0 if arrays[0].ndim == 1 else 1, dtype)


@composed
def dstack(tup: Any, dtype: Any = None) -> Array:
    """Arrays one behind the other: along the third axis.

    >>> import arrayx.numpy as anp
    >>> anp.dstack([anp.ones(2), anp.zeros(2)]).shape
    (1, 2, 2)
    """
    return concatenate([atleast_3d(x) for x in _listed(tup, "dstack")], 2, dtype)


@composed
def column_stack(tup: Any) -> Array:
    """Vectors as the columns of a matrix; matrices side by side.

    >>> import arrayx.numpy as anp
    >>> anp.column_stack([anp.ones(3), anp.zeros(3)]).shape
    (3, 2)
    """
    arrays = [as_array(x, "column_stack", "tup") for x in _listed(tup, "column_stack")]
    return concatenate([expand_dims(atleast_1d(x), 1) if x.ndim < 2 else x for x in arrays], 1)


@composed
def append(arr: Any, values: Any, axis: int | None = None) -> Array:
    """`values` joined to the end of `arr`; both are flattened if `axis` is None.

    >>> import arrayx.numpy as anp
    >>> anp.append(anp.ones(2), 3.0).tolist()
    [1.0, 1.0, 3.0]
    """
    return concatenate([arr, values], axis)


@composed
def block(arrays: Any) -> Array:
    """An array put together from nested lists of blocks, the innermost along the last axis.

    >>> import arrayx.numpy as anp
    >>> anp.block([[anp.ones((1, 1)), anp.zeros((1, 2))]]).shape
    (1, 3)
    """

    def depth_of(part: Any) -> int:
        if not isinstance(part, list):
            return 0
        if not part:
            raise errors.ArgumentError("block: a list of blocks is empty")
        depths = {depth_of(item) for item in part}
        if len(depths) > 1:
            raise errors.ArgumentError(
                f"block: lists are nested equally deep everywhere, not {sorted(depths)} levels"
            )
        return 1 + depths.pop()

    depth = depth_of(arrays)

    def leaves(part: Any) -> Any:
        if isinstance(part, list):
            for item in part:
                yield from leaves(item)
        else:
            yield as_array(part, "block", "arrays")

    ndim = max(depth, max(x.ndim for x in leaves(arrays)))

    def build(part: Any, level: int) -> Array:
        if isinstance(part, list):
            return concatenate([build(p, level - 1) for p in part], -level)
        x = as_array(part, "block", "arrays")
        return reshape(x, (1,) * (ndim - x.ndim) + x.shape)

    return build(arrays, depth)
