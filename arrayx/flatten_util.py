"""Trees of arrays as one vector, and back."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy.creation import asarray, zeros
from arrayx.numpy.promotion import as_array, as_type
from arrayx.numpy.shapes import concatenate, ravel
from arrayx.primitives.axes import reshape
from arrayx.primitives.complex import real
from arrayx.primitives.slicing import cut
from arrayx.promotion import lattice_result
from arrayx.treedef import flatten, unflatten

__all__ = ["ravel_pytree"]


def ravel_pytree(pytree: Any) -> tuple[Array, Callable[[Any], Any]]:
    """The elements of all leaves as one vector, and the function that makes the tree again.

    The vector has the dtype to which the leaves' dtypes are promoted; the function gives every
    leaf its own shape and dtype back.  It takes a vector of that length, of any dtype if all
    leaves had one dtype.

    >>> import arrayx.numpy as anp
    >>> flat, back = ravel_pytree({"a": anp.arange(2.0), "b": 3.0})
    >>> flat.tolist(), back(flat + 1)["a"].tolist()
    ([0.0, 1.0, 3.0], [1.0, 2.0])
    """
    leaves, tree = flatten(pytree)
    if not leaves:
        return zeros((0,)), lambda vector: unflatten(tree, [])
    arrays = [as_array(leaf, "ravel_pytree", "a leaf") for leaf in leaves]
    shapes = [a.shape for a in arrays]
    given = [a.dtype for a in arrays]
    wide, weak = lattice_result([(a.dtype, a.weak_type) for a in arrays])
    weak = weak and all(a.weak_type for a in arrays)
    flat = concatenate([ravel(as_type(a, wide, weak)) for a in arrays])
    total = flat.size
    alike = all(dtype is wide for dtype in given)

    def back(vector: Any) -> Any:
        x = asarray(vector)
        if x.shape != (total,):
            raise errors.ShapeError(
                f"the inverse of ravel_pytree takes a vector of length {total}, got an array of "
                f"shape {x.shape}"
            )
        if not alike and x.dtype is not wide:
            raise errors.DtypeError(
                f"the inverse of ravel_pytree takes a vector of {dtypes.dtype_name(wide)}, since "
                f"the leaves had different dtypes; got {dtypes.dtype_name(x.dtype)}"
            )
        parts, start = [], 0
        for shape, dtype in zip(shapes, given, strict=True):
            stop = start + math.prod(shape)
            part = reshape(cut(x, 0, start, stop), shape=shape)
            parts.append(part if alike else _narrowed(part, dtype))
            start = stop
        return unflatten(tree, parts)

    return flat, back


def _narrowed(x: Array, dtype: Any) -> Array:
    if dtypes.is_complex(x.dtype) and not dtypes.is_complex(dtype):
        warnings.warn(
            "the inverse of ravel_pytree drops the imaginary part of a leaf that was real",
            np.exceptions.ComplexWarning,
            stacklevel=3,
        )
        x = real(x)
    return as_type(x, dtype)
