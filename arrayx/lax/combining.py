"""Reductions by any associative function of scalars, over axes and over windows.

Functions that are known reduce by their own primitive; any other one is mapped over all pairs,
half of the elements against the other half, so that it differentiates like what it is made of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from arrayx import dtypes, errors, tree
from arrayx.backend.concrete import ConcreteArray
from arrayx.core.array import Array
from arrayx.core.primitive import Primitive
from arrayx.lax import elementwise
from arrayx.lax.dimension_numbers import padtype_to_pads
from arrayx.numpy import arithmetic, logic
from arrayx.numpy.creation import beside
from arrayx.numpy.promotion import as_array, as_type, check_axes
from arrayx.primitives import axes as axis_primitives
from arrayx.primitives import reduction, windows
from arrayx.primitives.axes import move_batch_dim, reshape, transpose
from arrayx.primitives.convolution import Padding, spread_length
from arrayx.primitives.creation import zero_literal
from arrayx.primitives.cumulative import highest, lowest
from arrayx.primitives.families import LOGICAL, NUMERIC, ORDERED
from arrayx.primitives.slicing import concatenate, cut
from arrayx.transforms.vmap import vmap_flat

Computation = Callable[[Any, Any], Any]


class Monoid(NamedTuple):
    """A function that has primitives of its own: its kinds of dtypes, and what changes nothing."""

    over_axes: Primitive
    over_windows: Primitive
    kinds: frozenset[str]
    unit: Callable[[Any], Any]


def _ones(dtype: Any) -> Any:
    return 1 + zero_literal(dtype)


def _bits(dtype: Any) -> Any:
    kind = dtypes.kind(dtype)
    return True if kind == "bool" else -1 if kind == "int" else int(dtypes.iinfo(dtype).max)


_SUM = Monoid(axis_primitives.reduce_sum, windows.reduce_window_sum, NUMERIC, zero_literal)
_PRODUCT = Monoid(reduction.reduce_prod, windows.reduce_window_prod, NUMERIC, _ones)
_MAX = Monoid(reduction.reduce_max, windows.reduce_window_max, ORDERED, lowest)
_MIN = Monoid(reduction.reduce_min, windows.reduce_window_min, ORDERED, highest)
_AND = Monoid(reduction.reduce_and, windows.reduce_window_and, LOGICAL, _bits)
_OR = Monoid(reduction.reduce_or, windows.reduce_window_or, LOGICAL, zero_literal)
_KNOWN: dict[Any, Monoid] = {
    elementwise.add: _SUM,
    arithmetic.add: _SUM,
    elementwise.mul: _PRODUCT,
    arithmetic.multiply: _PRODUCT,
    elementwise.max: _MAX,
    arithmetic.maximum: _MAX,
    elementwise.min: _MIN,
    arithmetic.minimum: _MIN,
    elementwise.bitwise_and: _AND,
    logic.bitwise_and: _AND,
    elementwise.bitwise_or: _OR,
    logic.bitwise_or: _OR,
}


def monoid_of(computation: Computation, dtype: Any) -> Monoid | None:
    """The known function that this is, where it is defined for a dtype."""
    try:
        found = _KNOWN.get(computation)
    except TypeError:  # a callable that cannot be hashed
        return None
    return found if found is not None and dtypes.kind(dtype) in found.kinds else None


def is_unit(value: Any, unit: Any) -> bool:
    """True where an initial value is known to change nothing."""
    if isinstance(value, ConcreteArray):
        value = np.asarray(value.host())
    if isinstance(value, np.ndarray | np.generic):
        return value.ndim == 0 and bool(value == unit)
    return isinstance(value, bool | int | float | complex) and value == unit


class Scalars:
    """A function of two (nested) scalars, applied to arrays of them."""

    def __init__(self, function: str, computation: Computation, structure: Any) -> None:
        self.function = function
        self.computation = computation
        self.structure = structure

    def flat(self, *args: Any) -> list[Any]:
        half = len(args) // 2
        result = self.computation(
            tree.unflatten(self.structure, args[:half]), tree.unflatten(self.structure, args[half:])
        )
        given, structure = tree.flatten(result)
        if structure != self.structure or any(np.ndim(r) for r in given):
            raise errors.ArgumentError(
                f"lax.{self.function}: computation must give scalars like those it takes, got "
                f"{result!r}"
            )
        return [as_type(as_array(r), a.dtype) for r, a in zip(given, args, strict=False)]

    def __call__(self, left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
        """Of arrays of one shape, element by element."""
        shape = left[0].aval.shape
        size = math.prod(shape)
        if size == 0:
            return list(left)
        args = [reshape(x, shape=(size,)) for x in (*left, *right)]
        outs, dims = vmap_flat(self.flat, size, args, [0] * len(args), word="lax.reduce")
        moved = [move_batch_dim(size, o, d, 0) for o, d in zip(outs, dims, strict=True)]
        return [reshape(o, shape=shape) for o in moved]

    def folded(self, arrays: list[Any], initial: Sequence[Any]) -> list[Any]:
        """Everything along the first axis, and the initial values."""
        while (n := arrays[0].aval.shape[0]) > 1:
            half = n // 2
            # Neighbours meet: the order of the elements is kept.
            even, odd = ([cut(x, 0, i, 2 * half, 2) for x in arrays] for i in (0, 1))
            rest = [cut(x, 0, 2 * half, n) for x in arrays]
            arrays = self(even, odd)
            if n % 2:
                arrays = [concatenate(x, r, axis=0) for x, r in zip(arrays, rest, strict=True)]
        shape = arrays[0].aval.shape[1:]
        first = [axis_primitives.broadcast_in_dim(i, shape=shape, dims=()) for i in initial]
        if not arrays[0].aval.shape[0]:
            return first
        return self(first, [reshape(x, shape=shape) for x in arrays])


def _read(function: str, operands: Any, init_values: Any) -> tuple[list[Array], list[Array], Any]:
    """The arrays, their initial values in their dtypes, and how they are nested."""
    leaves, structure = tree.flatten(operands)
    given = tree.leaves(init_values)
    if not leaves or len(given) != len(leaves):
        raise errors.ArgumentError(
            f"lax.{function} needs as many initial values as operands, got {len(given)} for "
            f"{len(leaves)}"
        )
    arrays = [as_array(x, f"lax.{function}", "operand") for x in leaves]
    initial = [
        beside(v, x, f"lax.{function}", "init_value") for v, x in zip(given, arrays, strict=True)
    ]
    if any(v.ndim for v in initial):
        raise errors.ShapeError(f"lax.{function}: initial values must be scalars")
    if any(x.shape != arrays[0].shape for x in arrays):
        raise errors.ShapeError(
            f"lax.{function} needs operands of one shape, got {[x.shape for x in arrays]}"
        )
    return arrays, initial, structure


def _begun(computation: Computation, initial: Array, result: Any) -> Any:
    """A known function of the initial value and a result."""
    shape = result.aval.shape
    return computation(axis_primitives.broadcast_in_dim(initial, shape=shape, dims=()), result)


def reduce(
    operands: Any,
    init_values: Any,
    computation: Computation,
    dimensions: Sequence[int],
    out_sharding: Any = None,
) -> Any:
    """Elements combined over axes by an associative function of two scalars.

    `operands` are an array, or arrays of one shape nested in any way, `init_values` scalars
    nested alike; `computation` takes two such nests of scalars and gives one.  The initial
    value is what no elements give.  Functions of `ax.lax` such as `add` and `max` are known and
    fast; any other one is applied to half of the elements and the other half, again and again.

    Raises `ArgumentError` where numbers or nesting do not fit, `ShapeError` for shapes that
    differ, `AxisError` for an axis that there is not.

    >>> from arrayx import lax
    >>> float(reduce(np.ones(3), 0.0, lax.add, (0,)))
    3.0
    >>> float(reduce(np.array([3.0, 4.0]), 0.0, lambda x, y: (x * x + y * y) ** 0.5, (0,)))
    5.0
    """
    arrays, initial, structure = _read("reduce", operands, init_values)
    axes = check_axes(tuple(dimensions), arrays[0].ndim, "lax.reduce")
    known = monoid_of(computation, arrays[0].dtype) if len(arrays) == 1 else None
    if known is not None:
        result = known.over_axes(arrays[0], axes=axes)
        if is_unit(tree.leaves(init_values)[0], known.unit(arrays[0].dtype)):
            return result
        return _begun(computation, initial[0], result)
    kept = tuple(i for i in range(arrays[0].ndim) if i not in axes)
    lined_up = [
        reshape(
            transpose(x, perm=(*axes, *kept)),
            shape=(math.prod(x.shape[a] for a in axes), *(x.shape[k] for k in kept)),
        )
        for x in arrays
    ]
    results = Scalars("reduce", computation, structure).folded(lined_up, initial)
    return tree.unflatten(structure, results)


def _window_params(
    function: str,
    shape: Sequence[int],
    window_dimensions: Any,
    window_strides: Any,
    padding: Any,
    base_dilation: Any,
    window_dilation: Any,
) -> dict[str, Any]:
    """What users say of a window, as the params of the primitives."""
    ndim = len(shape)
    window = tuple(int(k) for k in window_dimensions)
    strides, base, dilation = (
        (1,) * ndim if v is None else tuple(int(n) for n in v)
        for v in (window_strides, base_dilation, window_dilation)
    )
    if any(len(v) != ndim for v in (window, strides, base, dilation)):
        raise errors.ShapeError(
            f"lax.{function}: window_dimensions {window}, window_strides {strides}, base_dilation "
            f"{base} and window_dilation {dilation} must have an entry for each of {ndim} axes"
        )
    if isinstance(padding, str):
        padding = padtype_to_pads(
            shape,
            [spread_length(k, d) for k, d in zip(window, dilation, strict=True)],
            strides,
            padding,
        )
    pads: Padding = tuple((int(low), int(high)) for low, high in padding)
    return {
        "window": window,
        "strides": strides,
        "padding": pads,
        "base_dilation": base,
        "window_dilation": dilation,
    }


def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Computation,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any:
    """For each place of a window on `operand`, its elements combined by a function of two scalars.

    All sequences have an entry for each axis; `padding` has pairs, or is "VALID", "SAME" or
    "SAME_LOWER".  `init_value` should change nothing: it stands for padding.  With `lax.add`,
    `lax.max`, `lax.min`, `lax.mul`, `lax.bitwise_and` or `lax.bitwise_or` it is a primitive; any
    other associative function is applied to halves of the windows, again and again.  Operands
    may be nested as in `reduce`.  Where several elements are a window's maximum, its derivative
    is shared.

    Raises `ShapeError` where a sequence does not fit, `ArgumentError` as `reduce` does.

    >>> from arrayx import lax
    >>> x = np.array([1.0, 5.0, 2.0, 0.0])
    >>> reduce_window(x, -np.inf, lax.max, (2,), (2,)).tolist()
    [5.0, 2.0]
    >>> reduce_window(x, 0.0, lax.add, (3,), padding="SAME").tolist()
    [6.0, 8.0, 7.0, 2.0]
    """
    arrays, initial, structure = _read("reduce_window", operand, init_value)
    shape = arrays[0].shape
    params = _window_params(
        "reduce_window",
        shape,
        window_dimensions,
        window_strides,
        padding,
        base_dilation,
        window_dilation,
    )
    known = monoid_of(computation, arrays[0].dtype) if len(arrays) == 1 else None
    if known is not None:
        if is_unit(tree.leaves(init_value)[0], known.unit(arrays[0].dtype)):
            return known.over_windows(arrays[0], **params)
        return _begun(computation, initial[0], known.over_windows(arrays[0], **params))
    lined_up = []
    for x, value in zip(arrays, initial, strict=True):
        elements, axes = windows.windows_of(x, value, **params)
        counts = elements.aval.shape[::2]
        elements = transpose(elements, perm=(*axes, *(a - 1 for a in axes)))
        lined_up.append(reshape(elements, shape=(math.prod(params["window"]), *counts)))
    results = Scalars("reduce_window", computation, structure).folded(lined_up, initial)
    return tree.unflatten(structure, results)


def reduce_window_shape_tuple(
    operand_shape: Sequence[int],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None,
    padding: str | Sequence[tuple[int, int]],
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """The shape of what `reduce_window` gives.

    >>> reduce_window_shape_tuple((5, 6), (2, 3), (1, 2), "VALID")
    (4, 2)
    """
    params = _window_params(
        "reduce_window_shape_tuple",
        operand_shape,
        window_dimensions,
        window_strides,
        padding,
        base_dilation,
        window_dilation,
    )
    return windows.windowed_shape(tuple(operand_shape), **params)
