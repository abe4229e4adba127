"""Taking out of a signal its mean or its straight lines."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, shapes
from arrayx.numpy.contraction import matmul
from arrayx.numpy.promotion import as_array, as_type, check_axis, host_array
from arrayx.numpy.statistics import mean


def detrend(
    data: Any,
    axis: int = -1,
    type: str = "linear",
    bp: int | Sequence[int] | np.ndarray = 0,
    overwrite_data: None = None,
) -> Array:
    """`data` without its mean ("constant"), or without its best straight line ("linear").

    Between the break points `bp` each piece has a line of its own.

    Raises `ArgumentError` for another type, or for break points that are not inside.

    >>> import numpy as np
    >>> [round(v, 6) + 0.0 for v in detrend(np.array([1.0, 2.0, 4.0]), type="constant").tolist()]
    [-1.333333, -0.333333, 1.666667]
    >>> abs(detrend(np.array([1.0, 2.0, 3.0]))).max().item() < 1e-9
    True
    """
    function = "scipy.signal.detrend"
    x = as_array(data, function, "data")
    x = as_type(x, dtypes.float_for(x.dtype))
    if type not in ("linear", "constant"):
        raise errors.ArgumentError(f"{function}: type is 'linear' or 'constant', not {type!r}")
    i = check_axis(axis, x.ndim, function)
    if type == "constant":
        return arithmetic.subtract(x, mean(x, axis=i, keepdims=True))
    n = x.shape[i]
    points = sorted({0, *(int(b) for b in np.ravel(bp)), n})
    if points[0] < 0 or points[-1] > n:
        raise errors.ArgumentError(
            f"{function}: break points {bp} are not inside of an axis of length {n}"
        )
    moved = shapes.moveaxis(x, i, 0)
    pieces = []
    for start, end in itertools.pairwise(points):
        piece = moved[start:end]
        shape = piece.shape
        flat = shapes.reshape(piece, (shape[0], -1))
        # An orthonormal basis of constants and lines: known now, so no solve is needed.
        count = np.arange(1, shape[0] + 1)
        lines = np.stack([count / shape[0], np.ones(shape[0])], axis=1)
        basis = np.linalg.qr(lines)[0]
        q = as_type(host_array(basis, [x]), x.dtype)
        line = matmul(q, matmul(shapes.transpose(q), flat))
        pieces.append(shapes.reshape(arithmetic.subtract(flat, line), shape))
    return shapes.moveaxis(shapes.concatenate(pieces, 0), 0, i)
