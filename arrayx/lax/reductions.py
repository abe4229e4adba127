"""The functions of `ax.lax` that reduce, accumulate and order, with arguments in JAX's form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.lax.combining import reduce
from arrayx.lax.slicing import slice_in_dim
from arrayx.numpy import logic, ordering, selection
from arrayx.numpy.promotion import as_array, check_axes, check_axis
from arrayx.primitives import axes as axis_primitives
from arrayx.primitives import cumulative, reduction, sorting


def _array(x: Any, function: str) -> Array:
    return as_array(x, f"lax.{function}", "operand")


def _reduction(name: str, primitive: Any, sentence: str) -> Any:
    def reduce_over(operand: Any, axes: Any, *, out_sharding: Any = None) -> Array:
        x = _array(operand, name)
        return primitive(x, axes=check_axes(tuple(axes), x.ndim, f"lax.{name}"))  # type: ignore[no-any-return]

    reduce_over.__name__ = reduce_over.__qualname__ = name
    reduce_over.__doc__ = sentence
    reduce_over.__module__ = "arrayx.lax"
    return reduce_over


reduce_sum = _reduction("reduce_sum", axis_primitives.reduce_sum, "The sum over axes.")
reduce_prod = _reduction("reduce_prod", reduction.reduce_prod, "The product over axes.")
reduce_max = _reduction("reduce_max", reduction.reduce_max, "The largest element over axes.")
reduce_min = _reduction("reduce_min", reduction.reduce_min, "The smallest element over axes.")
reduce_and = _reduction("reduce_and", reduction.reduce_and, "Bits set in all over axes.")
reduce_or = _reduction("reduce_or", reduction.reduce_or, "Bits set in any over axes.")


def argmax(operand: Any, axis: int, index_dtype: Any) -> Array:
    """The index of the first largest element along an axis."""
    x = _array(operand, "argmax")
    i = check_axis(axis, x.ndim, "lax.argmax")
    return reduction.argmax(x, axis=i, dtype=dtypes.as_dtype(index_dtype))  # type: ignore[no-any-return]


def argmin(operand: Any, axis: int, index_dtype: Any) -> Array:
    """The index of the first smallest element along an axis."""
    x = _array(operand, "argmin")
    i = check_axis(axis, x.ndim, "lax.argmin")
    return reduction.argmin(x, axis=i, dtype=dtypes.as_dtype(index_dtype))  # type: ignore[no-any-return]


def _running(name: str, primitive: Any, sentence: str) -> Any:
    def run(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
        x = _array(operand, name)
        i = check_axis(axis, x.ndim, f"lax.{name}")
        return primitive(x, axis=i, reverse=bool(reverse))  # type: ignore[no-any-return]

    run.__name__ = run.__qualname__ = name
    run.__doc__ = sentence
    run.__module__ = "arrayx.lax"
    return run


cumsum = _running("cumsum", cumulative.cumsum, "Sums of all up to each along an axis.")
cumprod = _running("cumprod", cumulative.cumprod, "Products of all up to each along an axis.")
cummax = _running("cummax", cumulative.cummax, "The largest up to each along an axis.")
cummin = _running("cummin", cumulative.cummin, "The smallest up to each along an axis.")
cumlogsumexp = _running(
    "cumlogsumexp", cumulative.cumlogsumexp, "log of the sum of exp up to each along an axis."
)


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """One array sorted along an axis, or several moved alike, sorted by the first `num_keys`.

    >>> import numpy as np
    >>> sort(np.array([3, 1, 2])).tolist()
    [1, 2, 3]
    """
    several = isinstance(operand, tuple | list)
    arrays = [_array(x, "sort") for x in (operand if several else [operand])]
    i = check_axis(dimension, arrays[0].ndim, "lax.sort")
    results = sorting.sort(*arrays, axis=i, num_keys=num_keys)
    return tuple(results) if several else results[0]


def sort_key_val(
    keys: Any, values: Any, dimension: int = -1, is_stable: bool = True
) -> tuple[Array, Array]:
    """`keys` sorted along an axis, and `values` moved alike."""
    return sort((keys, values), dimension)  # type: ignore[no-any-return]


def top_k(operand: Any, k: int, *, axis: int = -1) -> tuple[Array, Array]:
    """The `k` largest elements along an axis, falling, and their indices; equal ones in order.

    >>> import numpy as np
    >>> [v.tolist() for v in top_k(np.array([1, 5, 3]), 2)]
    [[5, 3], [1, 2]]
    """
    return _first_k(operand, k, axis, True, "top_k")


def _first_k(operand: Any, k: int, axis: int, descending: bool, name: str) -> tuple[Array, Array]:
    x = _array(operand, name)
    i = check_axis(axis, x.ndim, f"lax.{name}")
    if not 0 <= k <= x.shape[i]:
        raise errors.ArgumentError(f"lax.{name}: k = {k} of an axis of length {x.shape[i]}")
    order = slice_in_dim(ordering.argsort(x, i, descending=descending), 0, k, axis=i)
    return selection.take_along_axis(x, order, i), order


def reduce_xor(operand: Any, axes: Sequence[int]) -> Array:
    """The exclusive or over `axes`.

    >>> import numpy as np
    >>> int(reduce_xor(np.array([5, 3]), (0,)))
    6
    """
    x = _array(operand, "reduce_xor")
    zero = False if dtypes.kind(x.dtype) == "bool" else 0
    return reduce(x, zero, logic.bitwise_xor, axes)  # type: ignore[no-any-return]


def approx_max_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Array, Array]:
    """The `k` largest elements along an axis, falling, and their indices.

    They are exact: a recall of 1, whatever the target.

    >>> import numpy as np
    >>> [v.tolist() for v in approx_max_k(np.array([1.0, 5.0, 3.0]), 2)]
    [[5.0, 3.0], [1, 2]]
    """
    return top_k(operand, k, axis=reduction_dimension)


def approx_min_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Array, Array]:
    """The `k` smallest elements along an axis, rising, and their indices; exact ones.

    >>> import numpy as np
    >>> [v.tolist() for v in approx_min_k(np.array([1.0, 5.0, 3.0]), 2)]
    [[1.0, 3.0], [0, 2]]
    """
    return _first_k(operand, k, reduction_dimension, False, "approx_min_k")
