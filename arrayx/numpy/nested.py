"""Arrays from nested lists and tuples, and from objects that say what array they are.

Apart because every function takes such operands, through `promotion.read`, while making an array
of traced elements needs functions that read their operands themselves: it is handed up from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.backend.concrete import ConcreteArray
from arrayx.core.array import Array, typeof
from arrayx.core.interpreter import Tracer
from arrayx.numpy.promotion import (
    SCALARS,
    as_array,
    as_type,
    handed,
    host_array,
    plain_number,
)
from arrayx.numpy.shapes import stack
from arrayx.promotion import lattice_result


def from_any(value: Any, wanted: Any = None, others: Sequence[Any] = ()) -> Array:
    """An array of the elements of `value`, of dtype `wanted` where that is known.

    What comes from the host lies beside the arrays in `others`.  Raises `ArgumentError` where
    `value` is no array.
    """
    if isinstance(value, Array):
        return value
    if type(value) in SCALARS:
        default = dtypes.default_dtype(type(value))
        target = default if wanted is None else wanted
        if dtypes.kind(target) in ("key", "float0"):
            raise errors.DtypeError(f"array: numbers cannot be of dtype {target}")
        return host_array(_numbers(value, target), others)
    if isinstance(value, np.ndarray | np.generic):
        return host_array(value, others)
    if isinstance(value, list | tuple):
        return _from_sequence(value, wanted, others)
    convertible = getattr(value, "__arrayx_array__", None)
    if convertible is not None:
        return convertible()  # type: ignore[no-any-return]
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return host_array(np.asarray(value), others)
    if hasattr(value, "__dlpack__"):
        return host_array(np.from_dlpack(value), others)
    if isinstance(value, memoryview | bytearray) or hasattr(value, "__buffer__"):
        return host_array(np.array(value), others)
    if isinstance(value, int | float | complex):
        return from_any(plain_number(value), wanted, others)
    raise errors.ArgumentError(
        f"array: cannot make an array of {value!r} of type {type(value).__name__}; it takes "
        "numbers, arrays, and nested lists or tuples of those"
    )


def _leaves(value: Any) -> Any:
    for item in value:
        if isinstance(item, list | tuple):
            yield from _leaves(item)
        else:
            yield item


def _from_sequence(value: Any, wanted: Any, others: Sequence[Any]) -> Array:
    leaves = list(_leaves(value))
    beside = [*leaves, *others]
    plain = all(
        type(leaf) in SCALARS or isinstance(leaf, np.ndarray | np.generic) for leaf in leaves
    )
    if not plain and any(isinstance(leaf, Tracer) for leaf in leaves):
        return _stacked(value, wanted)
    hosts = [leaf.host() if isinstance(leaf, ConcreteArray) else leaf for leaf in leaves]
    kinds = {type(leaf) for leaf in hosts}
    if wanted is None:
        if not leaves:
            wanted = dtypes.default_float()
        else:
            wanted, _ = lattice_result(
                {(typeof(h).dtype, typeof(h).weak_type) for h in map(_number, hosts)}
            )
    if kinds <= SCALARS:
        return host_array(_numbers(value, wanted), beside)
    try:
        return host_array(np.array(_hosted(value)).astype(wanted), beside)
    except ValueError as error:
        raise errors.ShapeError(f"array: {error}") from None


def _number(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic) or type(value) in SCALARS:
        return value
    if isinstance(value, int | float | complex):
        return plain_number(value)
    if hasattr(value, "__array__"):
        return np.asarray(value)
    raise errors.ArgumentError(
        f"array: {value!r} of type {type(value).__name__} is not a number or an array"
    )


def _hosted(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_hosted(item) for item in value]
    return value.host() if isinstance(value, ConcreteArray) else value


def _numbers(value: Any, dtype: Any) -> np.ndarray:
    """Python numbers as a NumPy array of a dtype; integers out of its range raise."""
    try:
        raw = np.array(value)
    except ValueError as error:
        raise errors.ShapeError(
            f"array: the nested sequences have different lengths ({error})"
        ) from None
    if raw.dtype.kind in "iuO" and raw.size and dtypes.issubdtype(dtype, np.integer):
        if raw.dtype.kind == "O":
            for item in raw.ravel():
                dtypes.check_scalar(item, dtype)
        else:
            dtypes.check_scalar(int(raw.min()), dtype)
            dtypes.check_scalar(int(raw.max()), dtype)
    with np.errstate(all="ignore"):
        return np.asarray(raw.astype(dtype))


def _stacked(value: Any, wanted: Any) -> Array:
    if isinstance(value, list | tuple):
        return stack([_stacked(item, wanted) for item in value])
    made = from_any(value, wanted)
    if wanted is not None:
        return as_type(made, wanted)
    return as_array(value) if type(value) in SCALARS else made


handed.from_any = from_any
