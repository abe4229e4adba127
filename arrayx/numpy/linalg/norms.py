"""Lengths of vectors and matrices, with slopes that are finite at 0."""

from __future__ import annotations

import math
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, reductions
from arrayx.numpy.composing import composed
from arrayx.numpy.linalg.decompositions import svdvals
from arrayx.numpy.promotion import as_array, as_type, check_axes
from arrayx.numpy.shapes import expand_dims, moveaxis, ravel
from arrayx.numpy.statistics import _squared_size, root


@composed
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """The norm of vectors (one axis) or matrices (two axes): Euclidean unless `ord` says more.

    At 0 its slope is 0, a subgradient.

    >>> import numpy as np
    >>> float(norm(np.array([3.0, 4.0])))
    5.0
    """
    a = _float(x, "norm")
    if axis is None and ord is None:
        flat = vector_norm(ravel(a), keepdims=False)
        return flat.reshape((1,) * a.ndim) if keepdims else flat
    axes = check_axes(axis, a.ndim, "norm")
    if len(axes) == 1:
        return vector_norm(a, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) == 2:
        return _matrix_norm(a, "fro" if ord is None else ord, axes, keepdims)
    raise errors.AxisError(f"norm: {len(axes)} axes; it takes one for vectors, two for matrices")


def _float(x: Any, function: str) -> Array:
    a = as_array(x, function, "x")
    return as_type(a, dtypes.float_for(a.dtype))


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """The `ord`-norm over axes, all by default: 0 counts, inf is the largest, else (Σ|x|^p)^(1/p).

    >>> import numpy as np
    >>> float(vector_norm(np.array([3.0, -4.0]), ord=1))
    7.0
    """
    a = _float(x, "vector_norm")
    axes = check_axes(axis, a.ndim, "vector_norm")
    if ord is None or ord == 2:
        wide = dtypes.accumulation_dtype(a.dtype)
        total = reductions.sum(_squared_size(as_type(a, wide)), axes, keepdims=keepdims)
        return as_type(root(total), dtypes.real_dtype(a.dtype))
    if isinstance(ord, str):
        raise errors.ArgumentError(f"vector_norm: no order {ord!r} for vectors")
    size = arithmetic.abs(a)
    if ord == math.inf:
        return reductions.max(size, axes, keepdims=keepdims, initial=_least(size))
    if ord == -math.inf:
        return reductions.min(size, axes, keepdims=keepdims)
    if ord == 0:
        counted = as_type(arithmetic.sign(size), size.dtype)
        return reductions.sum(counted, axes, keepdims=keepdims)
    if ord == 1:
        return reductions.sum(size, axes, keepdims=keepdims)
    total = reductions.sum(arithmetic.power(size, ord), axes, keepdims=keepdims)
    return arithmetic.power(total, 1.0 / ord)


def _least(sizes: Array) -> float | None:
    """What the largest of no sizes is: 0; None where there are some."""
    return None if sizes.size else 0.0


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """The norm of the matrices in the last two axes: "fro", "nuc", 1, -1, 2, -2, inf, -inf.

    >>> import numpy as np
    >>> float(matrix_norm(np.eye(4)))
    2.0
    """
    a = _float(x, "matrix_norm")
    return _matrix_norm(a, ord, (a.ndim - 2, a.ndim - 1), keepdims)


def _matrix_norm(a: Array, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Array:
    if ord == "fro":
        return vector_norm(a, axis=axes, keepdims=keepdims)
    rows, columns = axes
    if ord in ("nuc", 2, -2):
        s = svdvals(moveaxis(a, axes, (-2, -1)))
        if ord == 2:
            result = reductions.max(s, -1, initial=_least(s))
        else:
            result = (reductions.sum if ord == "nuc" else reductions.min)(s, -1)
        return expand_dims(result, tuple(sorted(axes))) if keepdims else result
    if ord not in (1, -1, math.inf, -math.inf):
        raise errors.ArgumentError(
            f"norm: the order of matrices is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {ord!r}"
        )
    summed, other = (rows, columns) if ord in (1, -1) else (columns, rows)
    totals = reductions.sum(arithmetic.abs(a), summed, keepdims=True)
    choose = reductions.max if ord > 0 else reductions.min
    result = choose(totals, other, keepdims=True)
    if keepdims:
        return result
    shape = tuple(n for i, n in enumerate(a.shape) if i not in axes)
    return result.reshape(shape)  # type: ignore[no-any-return]
