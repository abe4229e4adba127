"""Reads and writes at many places, with StableHLO's dimension numbers in JAX's form."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from arrayx import errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, shapes
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
            mode=("within" if mode is None else "drop") if how == "fill" else how,
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


def scatter_sub(
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """`operand` with windows of `updates` subtracted at `scatter_indices`.

    >>> import numpy as np
    >>> dims = ScatterDimensionNumbers((), (0,), (0,))
    >>> scatter_sub(np.array([5, 6]), np.array([[1]]), np.array([2]), dims).tolist()
    [5, 4]
    """
    new = arithmetic.negative(as_array(updates, "lax.scatter_sub", "updates"))
    return scatter_add(  # type: ignore[no-any-return]
        operand,
        scatter_indices,
        new,
        dimension_numbers,
        unique_indices=unique_indices,
        mode=mode,
    )


def scatter_apply(
    operand: Any,
    scatter_indices: Any,
    func: Callable[[Array], Any],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Sequence[int] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """`operand` with `func` of the windows at `scatter_indices`, once however often one is meant.

    `update_shape` is the shape that an array of updates would have.

    >>> import numpy as np
    >>> dims = ScatterDimensionNumbers((), (0,), (0,))
    >>> places = np.array([[1]])
    >>> scatter_apply(np.array([5, 6]), places, np.square, dims, update_shape=(1,)).tolist()
    [5, 36]
    """
    x = as_array(operand, "lax.scatter_apply", "operand")
    dims = primitives.ScatterDims(*(tuple(d) for d in dimension_numbers))
    shape = tuple(int(n) for n in update_shape)
    sizes = list(dims.window_sizes(x.ndim, shape))
    how = GatherScatterMode.from_any(mode)
    numbers = dims.as_gather()
    read = GatherDimensionNumbers(
        numbers.offset_dims,
        numbers.collapsed_slice_dims,
        numbers.start_index_map,
        numbers.operand_batching_dims,
        numbers.start_indices_batching_dims,
    )
    old = gather(x, scatter_indices, read, sizes, mode=how)
    return scatter(  # type: ignore[no-any-return]
        x,
        scatter_indices,
        func(old),
        dimension_numbers,
        unique_indices=unique_indices,
        mode=how,
    )


def index_take(src: Any, idxs: Sequence[Any], axes: Sequence[int]) -> Array:
    """The slices of `src` at vectors of indices along `axes`, the vectors counted first.

    Indices out of bounds read nan, or the least integer.

    >>> import numpy as np
    >>> index_take(np.eye(3), (np.array([0, 2]), np.array([0, 1])), (0, 1)).tolist()
    [1.0, 0.0]
    """
    x = as_array(src, "lax.index_take", "src")
    columns = [as_array(i, "lax.index_take", "idxs") for i in idxs]
    places = shapes.stack(columns, axis=-1)
    kept = x.ndim - len(columns)
    first = places.ndim - 1
    numbers = GatherDimensionNumbers(tuple(range(first, first + kept)), tuple(axes), tuple(axes))
    sizes = [1 if a in axes else n for a, n in enumerate(x.shape)]
    return gather(x, places, numbers, sizes)


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
