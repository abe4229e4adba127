"""Functions that are given on a grid, between its points."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, logic, shapes
from arrayx.numpy.ordering import searchsorted
from arrayx.numpy.promotion import as_array, as_type, broadcast_shapes, broadcast_to_shape
from arrayx.numpy.selection import where

__all__ = ["RegularGridInterpolator"]
_METHODS = ("linear", "nearest")


class RegularGridInterpolator:
    """The function that has `values` at the points of a grid, and is linear between them.

    `points` are vectors that rise, one for each axis of the grid; `values` has these axes, and
    any others behind.  `method` is "linear" or "nearest".  Outside of the grid the function is
    `fill_value`; with None it continues as it is at the border.

    Raises `ShapeError` where points and values do not fit, `UnsupportedError` for `bounds_error`,
    which traced values cannot raise.

    >>> import numpy as np
    >>> f = RegularGridInterpolator((np.array([0.0, 1.0, 3.0]),), np.array([0.0, 10.0, 20.0]))
    >>> f(np.array([[0.5], [2.0], [4.0]])).tolist()
    [5.0, 15.0, nan]
    """

    def __init__(
        self,
        points: Sequence[Any],
        values: Any,
        method: str = "linear",
        bounds_error: bool = False,
        fill_value: Any = np.nan,
    ) -> None:
        function = "scipy.interpolate.RegularGridInterpolator"
        _check_method(method)
        if bounds_error:
            raise errors.UnsupportedError(f"{function}: bounds_error=True is not supported")
        self.method = method
        self.bounds_error = bounds_error
        self.fill_value = fill_value
        self.grid = tuple(as_array(p, function, f"points[{i}]") for i, p in enumerate(points))
        given = as_array(values, function, "values")
        self.values = as_type(given, dtypes.float_for(given.dtype))
        if len(self.grid) > self.values.ndim:
            raise errors.ShapeError(
                f"{function}: {len(self.grid)} vectors of points for values of shape "
                f"{self.values.shape}"
            )
        for i, p in enumerate(self.grid):
            if p.ndim != 1 or p.shape[0] != self.values.shape[i] or p.shape[0] < 2:
                raise errors.ShapeError(
                    f"{function}: points[{i}] of shape {p.shape} must be a vector of at least 2, "
                    f"as long as axis {i} of values of shape {self.values.shape}"
                )

    def __call__(self, xi: Any, method: str | None = None) -> Array:
        """The function at `xi`, an array whose last axis holds coordinates, or a tuple of them."""
        how = self.method if method is None else method
        _check_method(how)
        function = "RegularGridInterpolator"
        if isinstance(xi, tuple | list):
            parts = [as_array(c, function, f"xi[{i}]") for i, c in enumerate(xi)]
            shape = broadcast_shapes(*(p.shape for p in parts))
            coordinates = [broadcast_to_shape(p, shape) for p in parts]
        else:
            whole = as_array(xi, function, "xi")
            if whole.ndim == 0 or whole.shape[-1] != len(self.grid):
                raise errors.ShapeError(
                    f"{function}: the last axis of xi of shape {whole.shape} must hold "
                    f"{len(self.grid)} coordinates"
                )
            coordinates = list(shapes.unstack(whole, axis=-1))
        if len(coordinates) != len(self.grid):
            raise errors.ShapeError(
                f"{function}: {len(coordinates)} coordinates for a grid of {len(self.grid)} axes"
            )
        found = [_place(c, p) for c, p in zip(coordinates, self.grid, strict=True)]
        if how == "linear":
            result = self._linear([i for i, _, _ in found], [s for _, s, _ in found])
        else:
            nearest = [
                where(logic.less_equal(s, 0.5), i, arithmetic.add(i, 1)) for i, s, _ in found
            ]
            result = self.values[tuple(nearest)]
        if self.fill_value is None:
            return result
        outside = found[0][2]
        for _, _, also in found[1:]:
            outside = logic.logical_or(outside, also)
        outside = shapes.reshape(outside, outside.shape + (1,) * (result.ndim - outside.ndim))
        fill = as_type(as_array(self.fill_value, function, "fill_value"), result.dtype)
        return where(outside, fill, result)  # type: ignore[no-any-return]

    def _linear(self, indices: list[Array], shares: list[Array]) -> Array:
        """The sum over the corners of the cell, weighted."""
        total: Any = None
        more = self.values.ndim - len(indices)
        for corner in itertools.product((0, 1), repeat=len(indices)):
            value = self.values[
                tuple(
                    arithmetic.add(i, c) if c else i for i, c in zip(indices, corner, strict=True)
                )
            ]
            for c, share in zip(corner, shares, strict=True):
                weight = share if c else arithmetic.subtract(1, share)
                weight = shapes.reshape(weight, weight.shape + (1,) * more)
                value = arithmetic.multiply(value, weight)
            total = value if total is None else arithmetic.add(total, value)
        return total  # type: ignore[no-any-return]


def _check_method(method: str) -> None:
    if method not in _METHODS:
        raise errors.ArgumentError(
            f"RegularGridInterpolator: method is one of {_METHODS}, not {method!r}"
        )


def _place(x: Array, points: Array) -> tuple[Array, Array, Array]:
    """The cell that a coordinate is in, how far along it, and whether it is outside the grid."""
    n = points.shape[0]
    index = arithmetic.subtract(searchsorted(points, x), 1)
    index = arithmetic.minimum(arithmetic.maximum(index, 0), n - 2)
    low, high = points[index], points[arithmetic.add(index, 1)]
    share = arithmetic.divide(arithmetic.subtract(x, low), arithmetic.subtract(high, low))
    outside = logic.logical_or(logic.less(x, points[0]), logic.greater(x, points[n - 1]))
    return index, share, outside
