"""Rows of the functions of `ax.lax` that make, move, cut, gather, reduce and order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from arrayx import lax
from arrayx.conformance.case import ANY, FLOATS, LOGICAL, NUMERIC, ORDERED, Case, Operand
from arrayx.conformance.public import leaves, listed, public, resolved
from arrayx.conformance.table import cases

X = ((2, 3),)
I32 = "int32"
FIRST: dict[str, Case] = {}
for _row in cases():
    FIRST.setdefault(_row.name, _row)


def in_place_of(name: str) -> Case:
    """The row of a primitive for the public function of the same name and arguments."""
    function = resolved(f"lax.{name}")

    def call(*arrays: Any, **params: Any) -> tuple[Any, ...]:
        return leaves(function(*arrays, **params))

    return replace(FIRST[name], name=f"lax.{name}", call=call, label="", literals=(), covers=())


def started(x: Any, *starts: Any, sizes: Any) -> Any:
    moved = [
        int(np.clip(a + n if a < 0 else a, 0, n - s))
        for a, n, s in zip(starts, x.shape, sizes, strict=True)
    ]
    return tuple(slice(a, a + s) for a, s in zip(moved, sizes, strict=True))


def updated(x: Any, new: Any, *starts: Any) -> Any:
    out = x.copy()
    out[started(x, *starts, sizes=new.shape)] = new
    return out


def at_row(x: Any, i: Any, new: Any) -> Any:
    return updated(x, np.reshape(new, (1, x.shape[1])), i, 0)


def START(high: int = 2) -> Operand:
    return Operand((), dtype=I32, domain=(0, high))


ROWS = Operand((2, 1), dtype=I32, values=[[2], [0]])
GATHERED = lax.GatherDimensionNumbers((1,), (0,), (0,))
SCATTERED = lax.ScatterDimensionNumbers((1,), (0,), (0,))


def scattered(combine: Any) -> Any:
    def reference(x: Any, places: Any, new: Any, **params: Any) -> Any:
        out = x.copy()
        for i, row in zip(places[:, 0], new, strict=True):
            out[i] = combine(out[i], row)
        return out

    return reference


SCATTERS = (
    ("scatter", lambda old, new: new, ANY),
    ("scatter_add", np.add, NUMERIC),
    ("scatter_sub", np.subtract, NUMERIC),
    ("scatter_mul", np.multiply, NUMERIC),
    ("scatter_min", np.minimum, ORDERED),
    ("scatter_max", np.maximum, ORDERED),
)


def largest(x: Any, k: int, axis: int = -1) -> Any:
    order = np.argsort(-x if x.dtype.kind == "f" else -x.astype(np.int64), -1, kind="stable")
    order = order[..., :k]
    return np.take_along_axis(x, order, -1), order.astype(np.int32)


def smallest(x: Any, k: int) -> Any:
    order = np.argsort(x, -1, kind="stable")[..., :k]
    return np.take_along_axis(x, order, -1), order.astype(np.int32)


def inner(x: Any, y: Any, **params: Any) -> Any:
    return np.einsum("bij,bjk->bik", x, y)


def groups(x: Any, y: Any, sizes: Any, **params: Any) -> Any:
    ends = np.cumsum(sizes)
    out = np.zeros((x.shape[0], y.shape[2]), x.dtype)
    for i, row in enumerate(x):
        group = int(np.searchsorted(ends, i, "right"))
        if group < len(sizes):
            out[i] = row @ y[group]
    return out


def scaled(x: Any, y: Any, a: Any, **params: Any) -> Any:
    return (x * np.repeat(a, x.shape[1] // a.shape[1], 1)) @ y


def with_scale(function: Any, x: Any, y: Any, a: Any, **params: Any) -> Any:
    if function is lax.scaled_dot:
        return function(x, y, lhs_scale=a, **params)
    return function(x, y, a)


PAIRED = (((2,), (1,)), ((0,), (0,)))
RAGGED = lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
SIZES = Operand((2,), dtype=I32, values=[1, 2])


def filled(function: Any, *operands: Any, **params: Any) -> Any:
    """For functions that make arrays: beside an operand, so that there is something to batch."""
    return [*operands, function(**params)]


def made(value: Any) -> Any:
    return lambda **params: value


CASES = (
    *(
        in_place_of(name)
        for name in [
            "reduce_sum",
            "reduce_prod",
            "reduce_max",
            "reduce_min",
            "reduce_and",
            "reduce_or",
            "cumsum",
            "cumprod",
            "cummax",
            "cummin",
            "cumlogsumexp",
        ]
    ),
    # Making and converting.
    public(
        "lax.convert_element_type",
        X,
        {"new_dtype": np.dtype("int32")},
        lambda x, new_dtype: x.astype(new_dtype),
        ("float32", "int8", "bool"),
        special=False,
    ),
    public(
        "lax.bitcast_convert_type",
        X,
        {"new_dtype": np.dtype("uint32")},
        lambda x, new_dtype: x.astype(np.float32).view(new_dtype),
        ("float32",),
        special=False,
    ),
    public(
        "lax.full",
        X,
        {"shape": (2,), "fill_value": 3, "dtype": np.dtype("int32")},
        made(np.full(2, 3)),
        form=filled,
        placed=False,
    ),
    public(
        "lax.full_like",
        X,
        {"fill_value": 2},
        lambda x, fill_value: np.full_like(x, 2),
        ANY,
        differentiable=(),
    ),
    public(
        "lax.iota",
        X,
        {"dtype": np.dtype("int32"), "size": 3},
        made(np.arange(3)),
        form=filled,
        placed=False,
    ),
    public(
        "lax.broadcasted_iota",
        X,
        {"dtype": np.dtype("int32"), "shape": (2, 2), "dimension": 1},
        made(np.array([[0, 1], [0, 1]])),
        form=filled,
        placed=False,
    ),
    public(
        "lax.empty",
        X,
        {"shape": (2,), "dtype": np.dtype("float32")},
        made(np.zeros(2)),
        form=filled,
        placed=False,
    ),
    public("lax.stage", X, None, lambda x: x, ANY),
    public("lax.stop_gradient", X, None, lambda x: x, ANY, differentiable=()),
    # Axes.
    public("lax.broadcast", X, {"sizes": (2,)}, lambda x, sizes: np.stack([x, x]), ANY),
    public(
        "lax.broadcast_in_dim",
        ((2,),),
        {"shape": (2, 3), "broadcast_dimensions": (0,)},
        lambda x, **_: np.stack([x] * 3, 1),
        ANY,
    ),
    public(
        "lax.broadcast_like",
        ((3,), (2, 3)),
        None,
        lambda x, y: np.stack([x, x]),
        ANY,
        differentiable=(0,),
    ),
    public("lax.broadcast_to_rank", X, {"rank": 3}, lambda x, rank: x[None], ANY),
    public("lax.reshape", X, {"new_sizes": (3, 2), "dimensions": (1, 0)}, lambda x, **_: x.T, ANY),
    public("lax.transpose", X, {"permutation": (1, 0)}, lambda x, permutation: x.T, ANY),
    public("lax.rev", X, {"dimensions": (1,)}, lambda x, dimensions: np.flip(x, 1), ANY),
    public("lax.squeeze", ((2, 1),), {"dimensions": (1,)}, lambda x, dimensions: x[:, 0], ANY),
    public("lax.expand_dims", X, {"dimensions": (1,)}, lambda x, dimensions: x[:, None], ANY),
    public(
        "lax.collapse", ((2, 3, 2),), {"start_dimension": 1}, lambda x, **_: x.reshape(2, 6), ANY
    ),
    public(
        "lax.concatenate",
        ((2, 3), (1, 3)),
        {"dimension": 0},
        lambda xs, dimension: np.concatenate(xs, dimension),
        ANY,
        form=listed,
    ),
    public(
        "lax.stack",
        ((2,), (2,)),
        {"axis": 1},
        lambda xs, axis: np.stack(xs, axis),
        ANY,
        form=listed,
    ),
    public("lax.unstack", X, {"axis": 1}, lambda x, axis: tuple(x.T), ANY),
    public("lax.tile", X, {"reps": (2, 1)}, lambda x, reps: np.tile(x, reps), ANY),
    public(
        "lax.pad",
        ((2, 3), ()),
        {"padding_config": ((1, 0, 1), (-1, 2, 0))},
        lambda x, v, **_: np.pad(np.insert(x, 1, v, 0)[:, 1:], ((1, 0), (0, 2)), constant_values=v),
        ANY,
    ),
    # Slices.
    public(
        "lax.slice",
        ((4, 3),),
        {"start_indices": (1, 0), "limit_indices": (4, 2), "strides": (2, 1)},
        lambda x, **_: x[1:4:2, :2],
        ANY,
    ),
    public(
        "lax.slice_in_dim",
        ((4, 3),),
        {"start_index": 1, "limit_index": -1},
        lambda x, **_: x[1:-1],
        ANY,
    ),
    public("lax.index_in_dim", X, {"index": -1, "axis": 1}, lambda x, **_: x[:, -1:], ANY),
    public("lax.split", ((4, 2),), {"sizes": (1, 3)}, lambda x, sizes: [x[:1], x[1:]], ANY),
    public(
        "lax.dynamic_slice",
        ((4, 3), START(4), START()),
        {"slice_sizes": (2, 2)},
        lambda x, i, j, slice_sizes: x[started(x, i, j, sizes=slice_sizes)],
        ANY,
        form=lambda f, x, i, j, slice_sizes: (
            f(x, (i, j), slice_sizes) if f is lax.dynamic_slice else f(x, i, j, slice_sizes)
        ),
    ),
    public(
        "lax.dynamic_slice_in_dim",
        ((4, 3), START(4)),
        {"slice_size": 2},
        lambda x, i, slice_size: x[started(x, i, 0, sizes=(2, 3))],
        ANY,
    ),
    public(
        "lax.dynamic_index_in_dim",
        ((4, 3), START(3)),
        {"keepdims": False},
        lambda x, i, keepdims: x[i],
        ANY,
    ),
    public(
        "lax.dynamic_update_slice",
        ((4, 3), (2, 2), START(4), START()),
        None,
        updated,
        ANY,
        form=lambda f, x, new, i, j: (
            f(x, new, (i, j)) if f is lax.dynamic_update_slice else f(x, new, i, j)
        ),
    ),
    public(
        "lax.dynamic_update_slice_in_dim",
        ((4, 3), (2, 3), START(4)),
        {"axis": 0},
        lambda x, new, i, axis: updated(x, new, i, 0),
        ANY,
    ),
    public(
        "lax.dynamic_update_index_in_dim",
        ((4, 3), (3,), START(3)),
        {"axis": 0},
        lambda x, new, i, axis: at_row(x, i, new),
        ANY,
    ),
    # Gathering and scattering.
    public(
        "lax.gather",
        ((3, 2), ROWS),
        {"dimension_numbers": GATHERED, "slice_sizes": (1, 2)},
        lambda x, i, **_: x[i[:, 0]],
        ANY,
    ),
    public(
        "lax.index_take",
        ((3, 2), Operand((2,), dtype=I32, domain=(0, 2))),
        {"axes": (0,)},
        lambda x, i, axes: x[i],
        ANY,
        form=lambda f, x, i, axes: f(x, (i,), axes) if f is lax.index_take else f(x, i, axes),
    ),
    *(
        public(
            f"lax.{name}",
            ((3, 2), ROWS, (2, 2)),
            {"dimension_numbers": SCATTERED},
            scattered(combine),
            kinds,
        )
        for name, combine, kinds in SCATTERS
    ),
    public(
        "lax.scatter_apply",
        ((3, 2), ROWS),
        {"dimension_numbers": SCATTERED},
        scattered(np.multiply),
        NUMERIC,
        form=lambda f, x, i, **params: (
            f(x, i, lambda v: v * v, update_shape=(2, 2), **params)
            if f is lax.scatter_apply
            else f(x, i, x[i[:, 0]], **params)
        ),
    ),
    # Products.
    public("lax.dot", ((2, 3), (3, 2)), None, np.matmul, NUMERIC, sums=True, signed_zeros=False),
    public(
        "lax.dot_general",
        ((2, 2, 3), (2, 3, 2)),
        {"dimension_numbers": PAIRED},
        inner,
        NUMERIC,
        sums=True,
        signed_zeros=False,
    ),
    public(
        "lax.batch_matmul",
        ((2, 2, 3), (2, 3, 2)),
        None,
        inner,
        NUMERIC,
        sums=True,
        signed_zeros=False,
    ),
    public(
        "lax.ragged_dot", ((4, 3), (2, 3, 2), SIZES), None, groups, FLOATS, sums=True, special=False
    ),
    public(
        "lax.ragged_dot_general",
        ((4, 3), (2, 3, 2), SIZES),
        {"ragged_dot_dimension_numbers": RAGGED},
        groups,
        FLOATS,
        sums=True,
        special=False,
    ),
    public(
        "lax.scaled_dot",
        ((2, 4), (4, 2), (2, 2)),
        {"preferred_element_type": np.dtype("float64")},
        scaled,
        ("float32", "float64"),
        form=with_scale,
        sums=True,
        special=False,
        ulps=2.0**30,
    ),
    # Order and reductions.
    public(
        "lax.argmax",
        X,
        {"axis": 1, "index_dtype": np.dtype("int32")},
        lambda x, axis, index_dtype: np.argmax(x, axis),
        ORDERED,
        differentiable=(),
    ),
    public(
        "lax.argmin",
        X,
        {"axis": 1, "index_dtype": np.dtype("int32")},
        lambda x, axis, index_dtype: np.argmin(x, axis),
        ORDERED,
        differentiable=(),
    ),
    public(
        "lax.reduce_xor", X, {"axes": (0,)}, lambda x, axes: np.bitwise_xor.reduce(x, 0), LOGICAL
    ),
    public("lax.sort", ((2, 4),), None, lambda x: np.sort(x, -1), ORDERED, signed_zeros=False),
    public(
        "lax.sort_key_val",
        (Operand((4,), dtype=I32, values=[3, 1, 2, 0]), (4,)),
        None,
        lambda k, v: (np.sort(k), v[np.argsort(k)]),
        ANY,
    ),
    public("lax.top_k", ((2, 4),), {"k": 2}, largest, FLOATS, special=False),
    public("lax.approx_max_k", ((2, 4),), {"k": 2}, largest, FLOATS, special=False),
    public("lax.approx_min_k", ((2, 4),), {"k": 2}, smallest, FLOATS, special=False),
    public(
        "lax.fft",
        ((2, 4),),
        {"fft_type": "FFT", "fft_lengths": (4,)},
        lambda x, **_: np.fft.fft(x),
        ("complex64", "complex128"),
        scale=lambda x, **_: 1 + np.sum(np.abs(x)),
        special=False,
    ),
)
