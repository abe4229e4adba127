"""Polynomials from points and points from polynomials: least squares and roots."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, transcendental
from arrayx.numpy.creation import asarray, full_like, zeros_like
from arrayx.numpy.diagonals import diag
from arrayx.numpy.linalg.decompositions import eigvals
from arrayx.numpy.linalg.rank import lstsq
from arrayx.numpy.linalg.reading import narrowing, working_dtype
from arrayx.numpy.linalg.systems import inv
from arrayx.numpy.matrices import vander
from arrayx.numpy.promotion import as_array, as_type, promoted_arrays
from arrayx.numpy.ranges import concrete_index
from arrayx.numpy.reductions import sum
from arrayx.numpy.selection import concrete_array
from arrayx.numpy.shapes import concatenate, expand_dims
from arrayx.promotion import promote_types


def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
    cov: bool | str = False,
) -> Any:
    """The polynomial of degree `deg` that comes closest to the points (`x`, `y`).

    The sum of the squared distances in `y` is least.

    Args:
        x: M numbers.
        y: M numbers, or an array of shape (M, K): K polynomials for the same `x`.
        deg: the degree.
        rcond: singular values smaller than this, relative to the largest, count as 0; M times
            the precision of the dtype by default.
        full: give also the sums of squares, the rank, the singular values, and `rcond`.
        w: M weights of the distances (not of their squares).
        cov: give also the covariance of the coefficients, scaled by the mean square of what
            is left; `"unscaled"` leaves that factor out.

    Returns:
        The coefficients, highest power first, of shape (deg + 1,) or (deg + 1, K); a tuple with
        `full` or `cov`.

    Raises:
        ArgumentError: there are too few points for the covariance, or `deg` is negative.
        ShapeError: the shapes do not fit.

    >>> import arrayx.numpy as anp
    >>> x = anp.array([0.0, 1.0, 2.0])
    >>> [round(c, 3) + 0.0 for c in anp.polyfit(x, 2 * x + 1, 1).tolist()]
    [2.0, 1.0]
    """
    order = concrete_index(deg, "polyfit", "deg") + 1
    if order < 1:
        raise errors.ArgumentError(f"polyfit: the degree is negative: {deg}")
    points, values = promoted_arrays((asarray(x), asarray(y)), "polyfit", ("x", "y"))
    back = narrowing(points, "polyfit")
    dtype = working_dtype(points.dtype)
    points, values = as_type(points, dtype), as_type(values, dtype)
    if points.ndim != 1 or values.ndim not in (1, 2) or not points.shape[0]:
        raise errors.ShapeError(
            f"polyfit: x must be a vector with elements and y a vector or a matrix; got shapes "
            f"{points.shape} and {values.shape}"
        )
    count = points.shape[0]
    if values.shape[0] != count:
        raise errors.ShapeError(
            f"polyfit: x has {count} points, y of shape {values.shape} has {values.shape[0]}"
        )
    if rcond is None:
        rcond = count * dtypes.finfo(dtype).eps
    left = vander(points, order)
    if w is not None:
        weights = as_type(as_array(asarray(w), "polyfit", "w"), dtype)
        if weights.shape != (count,):
            raise errors.ShapeError(
                f"polyfit: w must have one weight for each of {count} points, got shape "
                f"{weights.shape}"
            )
        left = arithmetic.multiply(left, expand_dims(weights, 1))
        across = weights if values.ndim == 1 else expand_dims(weights, 1)
        values = arithmetic.multiply(values, across)
    # Columns of like size make the singular values tell what is small.
    scale = transcendental.sqrt(sum(arithmetic.multiply(left, left), 0))
    left = arithmetic.divide(left, scale)
    coefficients, rest, rank, singular = lstsq(left, values, rcond)
    columns = scale if values.ndim == 1 else expand_dims(scale, 1)
    coefficients = arithmetic.divide(coefficients, columns)
    if full:
        return back(coefficients), back(rest), rank, back(singular), asarray(rcond)
    if not cov:
        return back(coefficients)
    spread: Any = inv(left.T @ left)  # type: ignore[attr-defined]
    spread = arithmetic.divide(spread, arithmetic.multiply(expand_dims(scale, 1), scale))
    if values.ndim == 2:
        spread = expand_dims(spread, 2)
    if cov == "unscaled":
        return back(coefficients), back(spread)
    if count <= order:
        raise errors.ArgumentError(
            f"polyfit: the covariance needs more than {order} points for degree {order - 1}, got "
            f"{count}; cov='unscaled' leaves its scale out"
        )
    spread = arithmetic.multiply(spread, arithmetic.divide(rest, float(count - order)))
    return back(coefficients), back(spread)


def roots(p: Any, *, strip_zeros: bool = True) -> Array:
    """The zeros of the polynomial with coefficients `p`, highest power first; complex.

    They are the eigenvalues of its companion matrix.  Leading zeros lower the degree and
    trailing ones are roots at 0: both change what is computed, so with `strip_zeros` the
    coefficients must be known now.  Without it `p[0]` must not be 0.

    Raises:
        ShapeError: `p` is not a vector.
        ConcretizationError: `p` is traced and `strip_zeros` was not turned off.

    >>> import arrayx.numpy as anp
    >>> sorted(round(float(r), 3) for r in anp.roots(anp.array([1.0, -3.0, 2.0])).real)
    [1.0, 2.0]
    """
    (coefficients,) = promoted_arrays((asarray(p),), "roots", ("p",))
    if coefficients.ndim != 1:
        raise errors.ShapeError(f"roots: p must be a vector, got shape {coefficients.shape}")
    coefficients = as_type(coefficients, working_dtype(coefficients.dtype))
    result_dtype = promote_types(coefficients.dtype, np.complex64)
    at_zero = 0
    if strip_zeros:
        known = concrete_array(coefficients, "roots", "strip_zeros")
        there = np.flatnonzero(np.asarray(known))
        if not there.size:
            return zeros_like(coefficients, dtype=result_dtype, shape=(0,))
        at_zero = coefficients.shape[0] - 1 - int(there[-1])
        coefficients = coefficients[int(there[0]) : int(there[-1]) + 1]
    n = coefficients.shape[0]
    parts = []
    if n > 1:
        below = diag(full_like(coefficients, 1, shape=(n - 2,)), k=-1)
        first = arithmetic.negative(arithmetic.divide(coefficients[1:], coefficients[:1]))
        companion = concatenate([expand_dims(first, 0), below[1:]])
        parts.append(as_type(eigvals(companion), result_dtype))
    parts.append(zeros_like(coefficients, dtype=result_dtype, shape=(at_zero,)))
    return concatenate(parts)
