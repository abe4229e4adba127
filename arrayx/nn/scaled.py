"""Products of matrices whose elements are small floats with a scale for each block."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic
from arrayx.numpy.promotion import as_array, as_type
from arrayx.numpy.repetition import repeat
from arrayx.numpy.summation import einsum


def scaled_matmul(
    lhs: Any,
    rhs: Any,
    lhs_scales: Any,
    rhs_scales: Any,
    preferred_element_type: Any = np.float32,
) -> Array:
    """Products of stacks of matrices in blocks with scales, such as MXFP8 (OCP, 2023).

    Args:
        lhs: an array of shape (batch, rows, k), of any float dtype, 8 bits too.
        rhs: an array of shape (batch, columns, k).
        lhs_scales, rhs_scales: of shapes (batch, rows, k / block) and (batch, columns, k / block):
            each scale belongs to so many elements in a row.
        preferred_element_type: the dtype of the result.

    Returns:
        An array of shape (batch, rows, columns); the products are summed up in float32.

    Raises:
        ShapeError: the shapes do not belong together.

    >>> import arrayx.numpy as anp
    >>> scaled_matmul(anp.ones((1, 2, 4)), anp.ones((1, 3, 4)), 2 * anp.ones((1, 2, 2)),
    ...     anp.ones((1, 3, 1)))[0, 0].tolist()
    [8.0, 8.0, 8.0]
    """
    name = "scaled_matmul"
    parts = []
    for operand, scales, what in ((lhs, lhs_scales, "lhs"), (rhs, rhs_scales, "rhs")):
        x = as_array(operand, name, what)
        s = as_array(scales, name, f"{what}_scales")
        fits = x.ndim == s.ndim == 3 and x.shape[:2] == s.shape[:2]
        if not fits or s.shape[2] == 0 or x.shape[2] % s.shape[2]:
            raise errors.ShapeError(
                f"{name}: {what} of shape (batch, n, k) needs scales of shape (batch, n, blocks), "
                f"where blocks divides k; got {x.shape} and {s.shape}"
            )
        wide = dtypes.accumulation_dtype(np.dtype(np.float32))
        full = repeat(as_type(s, wide), x.shape[2] // s.shape[2], axis=2)
        parts.append(arithmetic.multiply(as_type(x, wide), full))
    left, right = parts
    if left.shape[0] != right.shape[0] or left.shape[2] != right.shape[2]:
        raise errors.ShapeError(
            f"{name}: lhs and rhs must have one batch size and one k, got {left.shape} and "
            f"{right.shape}"
        )
    result = einsum("bmk,bnk->bmn", left, right)
    return as_type(result, dtypes.as_dtype(preferred_element_type))
