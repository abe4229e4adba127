"""Products in groups of rows of different lengths, with arguments in JAX's form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, logic, shapes
from arrayx.numpy.contraction import contracted
from arrayx.numpy.creation import zeros_like
from arrayx.numpy.cumulative import cumsum
from arrayx.numpy.promotion import as_array, promoted_arrays
from arrayx.numpy.selection import where
from arrayx.primitives.reduction import reduce_or


class RaggedDotDimensionNumbers:
    """What the axes of a ragged product are: those of `dot_general`, the ragged one of `lhs`, and
    the one of `rhs` that counts groups, if there is one.
    """

    def __init__(
        self,
        dot_dimension_numbers: Any,
        lhs_ragged_dimensions: Sequence[int],
        rhs_group_dimensions: Sequence[int],
    ) -> None:
        self.dot_dimension_numbers = dot_dimension_numbers
        self.lhs_ragged_dimensions = tuple(lhs_ragged_dimensions)
        self.rhs_group_dimensions = tuple(rhs_group_dimensions)

    def _key(self) -> Any:
        (a, b), (c, d) = self.dot_dimension_numbers
        axes = tuple(tuple(map(int, s)) for s in (a, b, c, d))
        return axes, self.lhs_ragged_dimensions, self.rhs_group_dimensions

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RaggedDotDimensionNumbers) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return (
            f"RaggedDotDimensionNumbers({self.dot_dimension_numbers}, "
            f"{self.lhs_ragged_dimensions}, {self.rhs_group_dimensions})"
        )


def ragged_dot(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Rows of `lhs` times a matrix for each group of rows.

    `lhs` is (m, k), `rhs` (groups, k, n); the first `group_sizes[0]` rows meet `rhs[0]`, the next
    `group_sizes[1]` ones `rhs[1]`, and so on.  Rows behind all groups give 0.

    >>> x, w = np.ones((3, 2)), np.stack([np.eye(2), 5 * np.eye(2)])
    >>> ragged_dot(x, w, np.array([1, 2])).tolist()
    [[1.0, 1.0], [5.0, 5.0], [5.0, 5.0]]
    """
    numbers = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
    return ragged_dot_general(
        lhs, rhs, group_sizes, numbers, precision, preferred_element_type, group_offset
    )


def ragged_dot_general(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
    out_sharding: Any = None,
) -> Array:
    """`dot_general` in groups along one axis of `lhs`, the ragged one.

    Where that axis is free, each group of it meets its own part of `rhs`, along the axis that
    counts groups.  Where it is contracted, each group gives a product of its own, and the
    result has a first axis that counts groups.  Where it is paired, the product is that of
    `dot_general`.  What is behind all groups gives 0.  `group_sizes` holds the lengths of the
    groups in its last axis; axes before it are the paired axes of `lhs`, and those of the
    ragged axis' kind that come before that one.

    >>> numbers = RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), (0,), ())
    >>> x = np.ones((3, 1))
    >>> ragged_dot_general(x, x, np.array([1, 2]), numbers).tolist()
    [[[1.0]], [[2.0]]]
    """
    function = "lax.ragged_dot_general"
    if group_offset is not None:
        raise errors.UnsupportedError(f"{function}: group_offset is not supported")
    x, y = promoted_arrays((lhs, rhs), function, ("lhs", "rhs"))
    sizes = as_array(group_sizes, function, "group_sizes")
    numbers = ragged_dot_dimension_numbers
    (cx, cy), (bx, by) = (
        tuple(tuple(int(a) for a in axes) for axes in pair)
        for pair in numbers.dot_dimension_numbers
    )
    if len(numbers.lhs_ragged_dimensions) != 1 or len(numbers.rhs_group_dimensions) > 1:
        raise errors.ArgumentError(
            f"{function}: one axis of lhs is ragged and at most one of rhs counts groups, got "
            f"{numbers}"
        )
    (ragged,) = numbers.lhs_ragged_dimensions
    free = ragged not in cx and ragged not in bx
    if free != (len(numbers.rhs_group_dimensions) == 1):
        raise errors.ArgumentError(
            f"{function}: an axis of rhs counts groups if, and only if, the ragged axis of lhs is "
            f"free; got {numbers}"
        )
    inside = _groups(x, sizes, ragged, cx, bx, free)
    if ragged in bx:
        seen = reduce_or(inside, axes=(0,))
        return contracted(
            where(seen, x, zeros_like(x)), y, (cx, cy), (bx, by), precision, preferred_element_type
        )
    # A copy of lhs for each group, zero outside of it.
    copies = where(inside, x, zeros_like(x))
    cx, bx = (tuple(a + 1 for a in axes) for axes in (cx, bx))
    if free:
        cx, cy = (0, *cx), (*numbers.rhs_group_dimensions, *cy)
    result = contracted(copies, y, (cx, cy), (bx, by), precision, preferred_element_type)
    return result if free else shapes.moveaxis(result, len(bx), 0)


def _groups(x: Array, sizes: Array, ragged: int, cx: Any, bx: Any, free: bool) -> Array:
    """Whether an element of `x` is in a group, with the groups as first axis."""
    kinds = (
        [a for a in range(x.ndim) if a not in cx and a not in bx]
        if free
        else list(cx if ragged in cx else bx)
    )
    outer = kinds[: kinds.index(ragged)]
    axes = [*outer] if ragged in bx else [*bx, *outer]
    given = sizes.ndim - 1
    if given not in (0, len(axes)) or any(
        n != x.shape[a] for n, a in zip(sizes.shape[:-1], axes if given else (), strict=True)
    ):
        raise errors.ShapeError(
            f"lax.ragged_dot_general: group_sizes of shape {sizes.shape} do not fit lhs of shape "
            f"{x.shape}: axes before the last one are {axes} of lhs, or none"
        )
    ends = cumsum(sizes, axis=-1)
    # (groups, axes of lhs): each of the given axes where it is in lhs.
    shape = [1] * (x.ndim + 1)
    shape[0] = sizes.shape[-1]
    order = sorted(range(given), key=lambda i: axes[i])
    for i in order:
        shape[axes[i] + 1] = sizes.shape[i]
    ends, starts = (
        shapes.reshape(shapes.transpose(e, (given, *order)), tuple(shape))
        for e in (ends, arithmetic.subtract(ends, sizes))
    )
    along = [1] * (x.ndim + 1)
    along[ragged + 1] = x.shape[ragged]
    places = np.arange(x.shape[ragged]).reshape(along).astype(sizes.dtype)
    begun, open_ = logic.greater_equal(places, starts), logic.less(places, ends)
    return logic.logical_and(begun, open_)  # type: ignore[no-any-return]
