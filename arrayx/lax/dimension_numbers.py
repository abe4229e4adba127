"""Reads and writes at many places, with StableHLO's dimension numbers in JAX's form."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from arrayx import errors
from arrayx.core.array import Array
from arrayx.numpy.promotion import as_array, as_type, promoted_arrays
from arrayx.primitives import gather as primitives

Axes = Sequence[int]
# The contracted axes of both operands, and the batch axes of both.
DotDimensionNumbers: TypeAlias = tuple[tuple[Axes, Axes], tuple[Axes, Axes]]


class GatherScatterMode(enum.Enum):
    """What becomes of places outside: moved inside, dropped or filled, or nothing is checked."""

    CLIP = "clip"
    FILL_OR_DROP = "fill"
    PROMISE_IN_BOUNDS = "promise"

    @staticmethod
    def from_any(s: Any) -> GatherScatterMode:
        """The mode of a name; None is "fill".

        >>> GatherScatterMode.from_any("clip").name
        'CLIP'
        """
        if isinstance(s, GatherScatterMode):
            return s
        names = {
            None: GatherScatterMode.FILL_OR_DROP,
            "clip": GatherScatterMode.CLIP,
            "fill": GatherScatterMode.FILL_OR_DROP,
            "drop": GatherScatterMode.FILL_OR_DROP,
            "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS,
        }
        if s not in names:
            raise errors.ArgumentError(f"there is no mode {s!r}; there are {list(names)}")
        return names[s]


class GatherDimensionNumbers(NamedTuple):
    """How the axes of a gather's operand, indices and result belong together."""

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()


class ScatterDimensionNumbers(NamedTuple):
    """How the axes of a scatter's operand, indices and updates belong together."""

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()


def gather(
    operand: Any,
    start_indices: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> Array:
    """Windows of `operand` that start at the vectors in the last axis of `start_indices`.

    >>> import numpy as np
    >>> dims = GatherDimensionNumbers((), (0,), (0,))
    >>> gather(np.array([5, 6, 7]), np.array([[2], [0]]), dims, (1,)).tolist()
    [7, 5]
    """
    x = as_array(operand, "lax.gather", "operand")
    places = as_array(start_indices, "lax.gather", "start_indices")
    dims = primitives.GatherDims(*(tuple(d) for d in dimension_numbers))
    how = GatherScatterMode.from_any(mode).value
    fill = fill_value if how == "fill" else None
    if how == "fill" and fill is None:
        fill = primitives.default_fill(x.dtype)
    return primitives.gather(  # type: ignore[no-any-return]
        x,
        places,
        dims=dims,
        sizes=tuple(slice_sizes),
        mode=how,
        fill=fill if how == "fill" else None,
    )


def _scatter(name: str, combine: str, sentence: str) -> Any:
    def function(
        operand: Any,
        scatter_indices: Any,
        updates: Any,
        dimension_numbers: ScatterDimensionNumbers,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
    ) -> Array:
        names = ("operand", "updates")
        x, new = promoted_arrays((operand, updates), f"lax.{name}", names)
        places = as_array(scatter_indices, f"lax.{name}", "scatter_indices")
        dims = primitives.ScatterDims(*(tuple(d) for d in dimension_numbers))
        how = GatherScatterMode.from_any(mode).value
        return primitives.scatter(  # type: ignore[no-any-return]
            x,
            places,
            as_type(new, x.dtype),
            dims=dims,
            mode="drop" if how == "fill" else how,
            combine=combine,
            unique=unique_indices,
        )

    function.__name__ = function.__qualname__ = name
    function.__module__ = "arrayx.lax"
    function.__doc__ = (
        f"`operand` with windows of `updates` {sentence} at `scatter_indices`.\n\n"
        "The numbers are those of the gather that reads where this writes."
    )
    return function


scatter = _scatter("scatter", "set", "written")
scatter_add = _scatter("scatter_add", "add", "added")
scatter_mul = _scatter("scatter_mul", "mul", "multiplied in")
scatter_min = _scatter("scatter_min", "min", "where they are smaller")
scatter_max = _scatter("scatter_max", "max", "where they are larger")


def padtype_to_pads(
    in_shape: Sequence[int],
    window_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
) -> list[tuple[int, int]]:
    """How much each axis is padded before and behind for windows: "VALID", "SAME", "SAME_LOWER".

    With "SAME" there is a window for every step of a stride; what is odd goes behind, with
    "SAME_LOWER" before.

    >>> padtype_to_pads((5,), (3,), (2,), "SAME")
    [(1, 1)]
    """
    kind = str(padding).upper() if isinstance(padding, str) else padding
    if kind not in ("VALID", "SAME", "SAME_LOWER"):
        raise errors.ArgumentError(
            f"lax.padtype_to_pads: padding is 'VALID', 'SAME' or 'SAME_LOWER', not {padding!r}"
        )
    pads = []
    for n, window, stride in zip(in_shape, window_shape, window_strides, strict=True):
        total = 0 if kind == "VALID" else max((-(-n // stride) - 1) * stride + window - n, 0)
        low = total // 2 if kind == "SAME" else total - total // 2
        pads.append((low, total - low))
    return pads
