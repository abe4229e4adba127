"""Attention: values averaged by how well their keys match queries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.nn.functions import softmax
from arrayx.numpy import arithmetic, logic
from arrayx.numpy.promotion import (
    as_array,
    as_type,
    broadcast_to_shape,
    placed_like,
    promoted_arrays,
)
from arrayx.numpy.repetition import repeat
from arrayx.numpy.selection import where
from arrayx.numpy.shapes import expand_dims, reshape
from arrayx.numpy.summation import einsum
from arrayx.primitives.creation import iota

INT32 = np.dtype(np.int32)


def _positions(length: int, beside: Array) -> Array:
    with placed_like(beside):
        return iota(shape=(length,), dtype=INT32, axis=0)  # type: ignore[no-any-return]


def _window(size: Any) -> tuple[int, int]:
    left, right = (size, size) if isinstance(size, int) else size
    if left < 0 or right < 0:
        raise errors.ArgumentError(
            f"dot_product_attention: local_window_size is not negative, got {size!r}"
        )
    return left, right


def _allowed(
    q: Array,
    k: Array,
    causal: bool,
    query_lengths: Any,
    key_lengths: Any,
    local_window_size: Any,
) -> Any:
    """Which keys each query may look at, of shape (batch or 1, 1, queries, keys), or None."""
    rows = expand_dims(_positions(q.shape[1], q), 1)
    columns = expand_dims(_positions(k.shape[1], q), 0)
    masks = []
    if causal:
        masks.append(logic.less_equal(columns, rows)[None, None])
    if local_window_size is not None:
        left, right = _window(local_window_size)
        near = logic.logical_and(
            logic.less_equal(arithmetic.subtract(rows, left), columns),
            logic.less_equal(columns, arithmetic.add(rows, right)),
        )
        masks.append(near[None, None])
    for name, lengths, places in (
        ("query_seq_lengths", query_lengths, rows),
        ("key_value_seq_lengths", key_lengths, columns),
    ):
        if lengths is not None:
            count = as_array(lengths, "dot_product_attention", name)
            if count.shape != (q.shape[0],):
                raise errors.ShapeError(
                    f"dot_product_attention: {name} must have shape {(q.shape[0],)}, one length "
                    f"for each sequence; got {count.shape}"
                )
            masks.append(logic.less(places[None, None], reshape(count, (-1, 1, 1, 1))))
    result: Any = None
    for mask in masks:
        result = mask if result is None else logic.logical_and(result, mask)
    return result


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    local_window_size: Any = None,
    implementation: str | None = None,
) -> Array:
    """softmax(query · key * scale + bias) · value, for several heads (Vaswani et al. 2017).

    Args:
        query: an array of shape (batch, queries, heads, width), without batch for one sequence.
        key, value: arrays of shape (batch, keys, groups, width); each of the groups, whose number
            divides that of the heads, serves as many heads.
        bias: added to the products; broadcast to (batch, heads, queries, keys).
        mask: true where a query may look at a key; broadcast to the same shape.
        scale: 1 / sqrt(width) by default.
        is_causal: whether a query sees only keys up to its own place.
        query_seq_lengths, key_value_seq_lengths: for each sequence how many places count; the
            results for queries beyond are 0.
        local_window_size: how far to both sides, or to the left and right, a query sees.
        implementation: None or "xla"; which changes nothing.

    Returns:
        An array of the shape and dtype of `query`.  Products are summed up, and the softmax is
        taken, in at least float32.

    Raises:
        ShapeError: the shapes do not belong together.

    >>> import arrayx.numpy as anp
    >>> x = anp.ones((5, 2, 4))
    >>> dot_product_attention(x, x, x).shape
    (5, 2, 4)
    """
    name = "dot_product_attention"
    if implementation not in (None, "xla"):
        raise errors.ArgumentError(
            f"{name}: implementation is None or 'xla', got {implementation!r}; a backend chooses "
            "its own"
        )
    q, k, v = promoted_arrays((query, key, value), name, ("query", "key", "value"))
    shape = q.shape
    if q.ndim not in (3, 4) or k.ndim != q.ndim or v.ndim != q.ndim:
        raise errors.ShapeError(
            f"{name}: query, key and value must have 3 or 4 dimensions, got shapes {q.shape}, "
            f"{k.shape} and {v.shape}"
        )
    if q.ndim == 3:
        q, k, v = (expand_dims(x, 0) for x in (q, k, v))
    batch, _, heads, width = q.shape
    groups = k.shape[2]
    if k.shape != v.shape or k.shape[0] != batch or k.shape[3] != width or heads % max(groups, 1):
        raise errors.ShapeError(
            f"{name}: key and value of shapes {k.shape} and {v.shape} do not fit a query of shape "
            f"{q.shape} (batch, queries, heads, width)"
        )
    if groups != heads:
        k, v = (repeat(x, heads // groups, axis=2) for x in (k, v))
    wide = dtypes.accumulation_dtype(q.dtype)
    full = (batch, heads, q.shape[1], k.shape[1])
    scores = einsum("bqhd,bkhd->bhqk", as_type(q, wide), as_type(k, wide))
    scores = arithmetic.multiply(scores, 1 / math.sqrt(width) if scale is None else scale)
    if bias is not None:
        scores = arithmetic.add(scores, as_type(_fitted(bias, full, "bias"), wide))
    allowed = _allowed(q, k, is_causal, query_seq_lengths, key_value_seq_lengths, local_window_size)
    if mask is not None:
        given = logic.truth(_fitted(mask, full, "mask"))
        allowed = given if allowed is None else logic.logical_and(allowed, given)
    if allowed is not None:
        allowed = broadcast_to_shape(allowed, full)
        lowest = -0.7 * float(dtypes.finfo(wide).max)
        scores = where(allowed, scores, lowest)
    weights = softmax(scores, -1)
    result = einsum("bhqk,bkhd->bqhd", as_type(weights, q.dtype), v)
    if query_seq_lengths is not None:
        count = as_array(query_seq_lengths, name, "query_seq_lengths")
        places = reshape(_positions(q.shape[1], q), (1, -1, 1, 1))
        result = where(logic.less(places, reshape(count, (-1, 1, 1, 1))), result, 0)
    return reshape(result, shape)


def _fitted(x: Any, shape: tuple[int, ...], argument: str) -> Array:
    given = as_array(x, "dot_product_attention", argument)
    if given.ndim == 3 and shape[0] == 1:
        given = expand_dims(given, 0)
    if given.ndim != 4 or any(n not in (1, m) for n, m in zip(given.shape, shape, strict=True)):
        raise errors.ShapeError(
            f"dot_product_attention: the {argument} of shape {given.shape} cannot be broadcast to "
            f"{shape} (batch, heads, queries, keys)"
        )
    return broadcast_to_shape(given, shape)
