"""Reductions of the rows of an array by the number of the segment that each belongs to."""

from __future__ import annotations

import math
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import reductions
from arrayx.numpy.promotion import LITERALS, as_array, placed_like
from arrayx.numpy.ranges import concrete_index
from arrayx.numpy.scattering import updated
from arrayx.numpy.selection import concrete_array
from arrayx.primitives.creation import fill


def _segments(
    name: str,
    combine: str,
    unit: Any,
    data: Any,
    segment_ids: Any,
    num_segments: Any,
    unique: bool,
    mode: Any,
) -> Array:
    x = as_array(data, name, "data")
    ids = as_array(segment_ids, name, "segment_ids")
    if ids.ndim != 1 or not x.ndim or ids.shape[0] != x.shape[0]:
        raise errors.ShapeError(
            f"{name}: segment_ids of shape {ids.shape} must be a vector with a number for each of "
            f"the {x.shape[0] if x.ndim else 0} rows of data"
        )
    if num_segments is None:
        if not ids.size:
            num_segments = 0
        else:
            num_segments = int(concrete_array(reductions.max(ids), name, "num_segments")) + 1
    count = concrete_index(num_segments, name, "num_segments")
    with placed_like(x):
        start = fill((count, *x.shape[1:]), x.dtype, unit(x.dtype))
    return updated(start, ids, x, combine, "drop" if mode is None else mode, unique)


def _literal(value: int) -> Any:
    return lambda dtype: LITERALS[dtypes.kind(dtype)](value)


def _lowest(dtype: Any) -> Any:
    if dtypes.kind(dtype) == "bool":
        return False
    return -math.inf if dtypes.kind(dtype) == "float" else int(dtypes.iinfo(dtype).min)


def _highest(dtype: Any) -> Any:
    if dtypes.kind(dtype) == "bool":
        return True
    return math.inf if dtypes.kind(dtype) == "float" else int(dtypes.iinfo(dtype).max)


def segment_sum(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
) -> Array:
    """The sum of the rows of each segment; numbers that are no segment's are left out.

    Under `jit` give `num_segments`: it is the length of the result.

    >>> import numpy as np
    >>> segment_sum(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 0])).tolist()
    [5.0, 2.0]
    """
    return _segments(
        "segment_sum", "add", _literal(0), data, segment_ids, num_segments, unique_indices, mode
    )


def segment_prod(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
) -> Array:
    """The product of the rows of each segment.

    >>> import numpy as np
    >>> segment_prod(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 0])).tolist()
    [4.0, 2.0]
    """
    return _segments(
        "segment_prod", "mul", _literal(1), data, segment_ids, num_segments, unique_indices, mode
    )


def segment_max(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
) -> Array:
    """The largest row of each segment; -inf (or the least integer) for an empty one.

    >>> import numpy as np
    >>> segment_max(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 0])).tolist()
    [4.0, 2.0]
    """
    return _segments(
        "segment_max", "max", _lowest, data, segment_ids, num_segments, unique_indices, mode
    )


def segment_min(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
) -> Array:
    """The smallest row of each segment; inf (or the greatest integer) for an empty one.

    >>> import numpy as np
    >>> segment_min(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 0])).tolist()
    [1.0, 2.0]
    """
    return _segments(
        "segment_min", "min", _highest, data, segment_ids, num_segments, unique_indices, mode
    )
