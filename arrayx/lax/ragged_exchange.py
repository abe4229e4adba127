"""The exchange of slices of different lengths between the lanes of a named axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.lax.parallel import all_gather, all_to_all, axis_size
from arrayx.numpy import arithmetic, logic
from arrayx.numpy.promotion import as_array, as_type
from arrayx.numpy.reductions import max as maximum
from arrayx.numpy.selection import where

__all__ = ["ragged_all_to_all"]

_NAMES = ("input_offsets", "send_sizes", "output_offsets", "recv_sizes")


def ragged_all_to_all(
    operand: Any,
    output: Any,
    input_offsets: Any,
    send_sizes: Any,
    output_offsets: Any,
    recv_sizes: Any,
    *,
    axis_name: Any,
    axis_index_groups: Any = None,
) -> Array:
    """Sends slices of `operand` of any lengths to the lanes, which write them into `output`.

    Of k slices per lane, the first k / lanes go to lane 0, the next ones to lane 1, and so on.

    Args:
        operand: an array of shape (n, ...), whose slices along the first axis are sent.
        output: an array of shape (m, ...) of the same dtype; the result where nothing comes in.
        input_offsets: integers of shape (k,): where the slices start in `operand`.
        send_sizes: integers of shape (k,): how many rows each has.
        output_offsets: integers of shape (k,): where the lane that gets a slice writes it.
        recv_sizes: integers of shape (k,): how many rows come in, from lane 0, 1, …: what
            `all_to_all` makes of `send_sizes`.
        axis_name: a name, or a tuple of names.
        axis_index_groups: as in `all_to_all`.

    Returns the `output` of the lane with the slices that it got.  Where two fall on one place
    the last counts.  It can be differentiated in `operand` and `output`.

    Raises:
        UnboundAxisError: no such axis is open.
        DtypeError: offsets or sizes are no integers, or `output` has another dtype.
        ShapeError: the shapes do not fit, or k is no multiple of the number of lanes.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> def lane(x, starts, sent, places, got):
    ...     empty = anp.zeros(4, x.dtype)
    ...     return ax.lax.ragged_all_to_all(x, empty, starts, sent, places, got, axis_name="i")
    >>> ax.vmap(lane, axis_name="i")(
    ...     anp.array([[1, 2, 2], [3, 4, 0]]),
    ...     anp.array([[0, 1], [0, 1]]),
    ...     anp.array([[1, 2], [1, 1]]),
    ...     anp.array([[0, 0], [1, 2]]),
    ...     anp.array([[1, 1], [2, 1]]),
    ... ).tolist()
    [[1, 3, 0, 0], [2, 2, 4, 0]]
    """
    function = "ragged_all_to_all"
    x, kept = as_array(operand, function, "operand"), as_array(output, function, "output")
    given = (input_offsets, send_sizes, output_offsets, recv_sizes)
    starts, _, places, sizes = (
        _slices(a, function, name) for a, name in zip(given, _NAMES, strict=True)
    )
    groups = axis_index_groups
    lanes = axis_size(axis_name) if groups is None else len(groups[0])
    count = starts.shape[0]
    if any(np.shape(a) != starts.shape for a in given) or count % lanes:
        raise errors.ShapeError(
            f"{function}: {', '.join(_NAMES)} have one length, a multiple of the {lanes} lanes of "
            f"{axis_name!r}, got shapes {', '.join(str(np.shape(a)) for a in given)}"
        )
    if not x.ndim or not kept.ndim or x.shape[1:] != kept.shape[1:]:
        raise errors.ShapeError(
            f"{function}: operand and output differ in the length of their first axis alone, got "
            f"shapes {x.shape} and {kept.shape}"
        )
    if x.dtype != kept.dtype:
        raise errors.DtypeError(
            f"{function}: operand and output have one dtype, got {x.dtype} and {kept.dtype}"
        )
    if not count or not x.shape[0] or not kept.shape[0]:
        return kept
    # What the others know of the slices that this lane gets.
    starts, places = (
        all_to_all(a, axis_name, 0, 0, axis_index_groups=groups, tiled=True)
        for a in (starts, places)
    )
    rows = np.arange(kept.shape[0], dtype=starts.dtype)[:, None]
    inside = logic.logical_and(
        logic.greater_equal(rows, places), logic.less(rows, arithmetic.add(places, sizes))
    )
    number = maximum(where(inside, np.arange(count, dtype=starts.dtype), -1), axis=1)
    which = arithmetic.maximum(number, 0)
    row = arithmetic.subtract(arithmetic.add(rows[:, 0], starts[which]), places[which])
    everything = all_gather(x, axis_name, axis_index_groups=groups)
    lane = arithmetic.floor_divide(which, count // lanes)
    coming = everything[lane, arithmetic.clip(row, 0, x.shape[0] - 1)]
    there = logic.greater_equal(number, 0).reshape((-1,) + (1,) * (x.ndim - 1))
    return where(there, coming, kept)  # type: ignore[no-any-return]


def _slices(a: Any, function: str, name: str) -> Array:
    """Offsets or sizes as a vector of indices."""
    array = as_array(a, function, name)
    if not dtypes.is_integer(array.dtype):
        raise errors.DtypeError(f"{function}: {name} are integers, got {array.dtype}")
    if array.ndim != 1:
        raise errors.ShapeError(f"{function}: {name} are a vector, got shape {array.shape}")
    return as_type(array, dtypes.default_int())
