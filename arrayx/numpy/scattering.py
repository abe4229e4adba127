"""Writing into places: windows by `dynamic_update_slice`, all else by `scatter`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.core.aval import Shape
from arrayx.numpy.index_parsing import MODES, Parsed, Range, checked, parse, without_truths
from arrayx.numpy.indexing import (
    dynamic_starts,
    guarded,
    index_vectors,
    laid_out,
    result_shape,
    take_ranges,
    with_new_axes,
)
from arrayx.numpy.promotion import (
    as_type,
    broadcast_to_shape,
    read_beside,
    scalar_array,
)
from arrayx.primitives import numeric, slicing
from arrayx.primitives.arithmetic import add, mul
from arrayx.primitives.axes import reshape, rev
from arrayx.primitives.bitwise import bitwise_and, bitwise_or
from arrayx.primitives.gather import points, scatter
from arrayx.promotion import promote_types

COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "set": lambda old, new: new,
    "add": add,
    "mul": mul,
    "min": numeric.min,
    "max": numeric.max,
}


ON_BOOL: dict[str, Callable[[Any, Any], Any]] = {
    "set": lambda old, new: new,
    "add": bitwise_or,
    "mul": bitwise_and,
    "min": bitwise_and,
    "max": bitwise_or,
}


def check_mode(mode: Any) -> str | None:
    """A mode by its name; raises for one there is not."""
    if mode is None:
        return None
    name = str(getattr(mode, "name", mode)).lower()
    name = {"fill_or_drop": "fill", "one_hot": "fill"}.get(name, name)
    if name not in MODES:
        raise errors.ArgumentError(f"no mode {mode!r} of indexing; there are {', '.join(MODES)}")
    return name


def fitted_values(x: Array, values: Any) -> Array:
    """`values` in the dtype of `x`; what would lose more than precision raises."""
    (values,) = read_beside((values,), ".at[...]", ("values",))
    dtype = x.aval.dtype
    if not isinstance(values, Array):
        kind, target = type(values), dtypes.kind(dtype)
        lossy = (kind is complex and target != "complex") or (
            kind is float and target not in ("float", "complex")
        )
        if lossy:
            refuse_values(kind.__name__, dtype)
        return scalar_array(values, dtype, False, (x,))
    given = values.aval.dtype
    if given is dtype:
        return values
    wide = promote_types(given, dtype)
    order = ("bool", "uint", "int", "float", "complex")
    rank = order.index(dtypes.kind(given)), order.index(dtypes.kind(dtype))
    if wide is not dtype and rank[0] > rank[1] and order[rank[0]] in ("float", "complex"):
        refuse_values(str(given), dtype)
    return as_type(values, dtype)


def refuse_values(given: str, dtype: Any) -> None:
    """Raises the error for values that an array of this dtype cannot hold."""
    raise errors.DtypeError(
        f".at[...]: values of type {given} would lose what an array of {dtype} cannot hold; "
        "convert the array, x.astype(...), or the values"
    )


def updated(
    x: Array, index: Any, values: Any, combine: str, mode: Any = None, unique: bool = False
) -> Array:
    """`x` with `values` combined into the place that `index` names."""
    mode = check_mode(mode)
    parsed, shape = without_truths(parse(index, x.aval.shape), x.aval.shape)
    if shape != x.aval.shape:
        wider = reshape(x, shape=shape)
        return reshape(  # type: ignore[no-any-return]
            _updated(wider, parsed, fitted_values(x, values), combine, mode, unique),
            shape=x.aval.shape,
        )
    return _updated(x, parsed, fitted_values(x, values), combine, mode, unique)


def _updated(
    x: Array, parsed: Parsed, new: Array, combine: str, mode: str | None, unique: bool
) -> Array:
    items: list[Any] = list(parsed.items)
    plain = all(
        type(i) in (int, Range) or (isinstance(i, Array) and not i.aval.shape) for i in items
    )
    if plain and mode in (None, "fill", "drop", "promise_in_bounds"):
        if mode is None:
            items = checked(items, x.aval.shape)
        else:
            items = [
                i + n if type(i) is int and -n <= i < 0 else i
                for i, n in zip(items, x.aval.shape, strict=True)
            ]
        inside = all(
            type(i) is not int or 0 <= i < n for i, n in zip(items, x.aval.shape, strict=True)
        )
        unit = all(type(i) is not Range or i.step in (1, -1) or i.length <= 1 for i in items)
        if inside and unit and x.aval.size:
            return window_updated(x, parsed._replace(items=tuple(items)), new, combine)
    return scattered(x, parsed, new, combine, mode, unique)


def fitted(new: Array, shape: Shape) -> Array:
    """Values broadcast to the shape of the place; leading axes of length 1 are dropped."""
    while new.ndim > len(shape) and new.shape[0] == 1:
        new = reshape(new, shape=new.shape[1:])
    fits = new.ndim <= len(shape) and all(
        n in (1, m) for n, m in zip(reversed(new.shape), reversed(shape), strict=False)
    )
    if not fits:
        raise errors.ShapeError(
            f".at[...]: values of shape {new.shape} cannot be broadcast to the shape {shape} of "
            "the place they go to"
        )
    return broadcast_to_shape(new, shape)


def window_updated(x: Array, parsed: Parsed, new: Array, combine: str) -> Array:
    """A place that is a window: integers, also traced ones, and slices of step 1 or -1."""
    items = parsed.items
    kept = [i.length if type(i) is Range else None for i in items]
    new = fitted(new, with_new_axes(kept, items, parsed.new_axes))
    if not new.size:
        return x
    sizes = tuple(1 if n is None else n for n in kept)
    new = reshape(new, shape=sizes) if new.shape != sizes else new
    turned = tuple(i for i, item in enumerate(items) if type(item) is Range and item.step < 0)
    if turned:
        new = rev(new, axes=turned)
    starts, inside = dynamic_starts(items, x.aval.shape)
    for i, item in enumerate(items):
        if type(item) is int:
            starts[i] = item
        elif type(item) is Range:
            starts[i] = item.start if item.step > 0 else item.start - item.length + 1
    if combine != "set" or inside is not None:
        if all(type(s) is int for s in starts):
            old = take_ranges(x, [Range(s, 1, n) for s, n in zip(starts, sizes, strict=True)])
        else:
            old = slicing.dynamic_slice(x, *starts, sizes=sizes)
        table = ON_BOOL if dtypes.kind(x.aval.dtype) == "bool" else COMBINE
        new = guarded(table[combine](old, new), inside, old)
    return slicing.dynamic_update_slice(x, new, *starts)  # type: ignore[no-any-return]


def scattered(
    x: Array, parsed: Parsed, new: Array, combine: str, mode: str | None, unique: bool
) -> Array:
    """A place with index arrays, strides or a mode."""
    shape = x.aval.shape
    given = checked(parsed.items, shape) if mode is None else list(parsed.items)
    # The place's own shape and layout, with slices as they are.
    advanced = any(isinstance(i, np.ndarray | Array) for i in given)
    place = parsed._replace(items=tuple(given))
    if advanced or any(type(i) is int for i in given):
        items = place
        if not advanced:
            kept = [i.length if type(i) is Range else None for i in given]
            new = fitted(new, with_new_axes(kept, given, parsed.new_axes))
            new = reshape(new, shape=tuple(n for n in kept if n is not None))
            items = Parsed(tuple(given), ())
        layout = laid_out(shape, items)
        if advanced:
            new = fitted(new, result_shape(layout))
        window = [n for i, n in enumerate(layout.shape) if i not in layout.axes]
        batch_first = _batch_first(new, layout.position if advanced else 0, len(layout.batch))
        # New axes have length 1 and no place in the array.
        ranges = [i for i in given if type(i) is Range]
        window = [r.length for r in ranges]
        new = reshape(batch_first, shape=(*layout.batch, *window))
        arrays = list(layout.arrays)
        batch = layout.batch
    else:
        kept = [i.length for i in given]
        new = fitted(new, with_new_axes(kept, given, parsed.new_axes))
        ranges = list(given)
        new = reshape(new, shape=tuple(kept))
        arrays, batch = [], ()
    return _scatter(x, given, ranges, arrays, batch, new, combine, mode, unique)


def _batch_first(new: Array, position: int, ndim: int) -> Array:
    if position == 0 or ndim == 0:
        return new
    others = [d for d in range(new.ndim) if not position <= d < position + ndim]
    perm = (*range(position, position + ndim), *others)
    return new.transpose(perm)  # type: ignore[no-any-return]


def _scatter(
    x: Array,
    given: Any,
    ranges: Any,
    arrays: Any,
    batch: Shape,
    new: Array,
    combine: str,
    mode: str | None,
    unique: bool,
) -> Array:
    """Writes `new`, whose axes are those of the index arrays, then one for each slice.

    Slices that do not take their whole axis become index arrays of their own.
    """
    shape = x.aval.shape
    cut = [
        j
        for j, (r, n) in enumerate(zip(ranges, _lengths(given, shape), strict=True))
        if r != Range(0, 1, n)
    ]
    whole = [j for j in range(len(ranges)) if j not in cut]
    nb = len(batch)
    perm = (*range(nb), *(nb + j for j in cut), *(nb + j for j in whole))
    if perm != tuple(range(new.ndim)):
        new = new.transpose(perm)
    n_cut = len(cut)
    columns: list[Any] = []
    axes: list[int] = []
    array_iterator, number = iter(arrays), 0
    for axis, item in enumerate(given):
        if type(item) is not Range:
            a = next(array_iterator)
            columns.append(_spread(a, n_cut))
            axes.append(axis)
            continue
        if number in cut:
            r = ranges[number]
            places = r.start + r.step * np.arange(r.length)
            at = cut.index(number)
            columns.append(places.reshape([-1 if k == at else 1 for k in range(n_cut)]))
            axes.append(axis)
        number += 1
    full_batch = (*batch, *(ranges[j].length for j in cut))
    lengths = [shape[a] for a in axes]
    if not axes:
        columns, axes, lengths = [np.zeros(1, np.int64)], [0], [1]
        # Everything is meant: one window, the whole array with a new first axis.
        x_wide = reshape(x, shape=(1, *shape))
        new = reshape(new, shape=(1, *shape))
        result = _apply(x_wide, columns, axes, lengths, (1,), new, combine, mode, True)
        return reshape(result, shape=shape)  # type: ignore[no-any-return]
    distinct = unique or not arrays
    return _apply(x, columns, axes, lengths, full_batch, new, combine, mode, distinct)


def _lengths(given: Any, shape: Shape) -> list[int]:
    return [n for item, n in zip(given, shape, strict=True) if type(item) is Range]


def _spread(a: Any, count: int) -> Any:
    """An index array with `count` more axes of length 1 at its end."""
    shape = np.shape(a) if not isinstance(a, Array) else a.aval.shape
    if not isinstance(a, Array):
        return np.asarray(a).reshape((*shape, *(1,) * count))
    return reshape(a, shape=(*shape, *(1,) * count)) if count else a


def _apply(
    x: Array,
    columns: Any,
    axes: Any,
    lengths: Any,
    batch: Shape,
    new: Array,
    combine: str,
    mode: str | None,
    unique: bool,
) -> Array:
    if not new.size or not all(lengths):
        return x
    indices, inside = index_vectors(columns, batch, lengths, mode, (x,))
    if mode == "clip":
        how = "clip"
    elif inside or mode in ("promise_in_bounds", "wrap"):
        how = "promise"
    else:
        # Said, and so meant: without it `ax.checked` takes it for a mistake.
        how = "within" if mode is None else "drop"
    dims, _ = points(x.aval.shape, tuple(axes), len(batch), 0)
    is_bool = dtypes.kind(x.aval.dtype) == "bool"
    if is_bool and combine != "set":
        combine = {"add": "max", "mul": "min"}.get(combine, combine)
    return scatter(  # type: ignore[no-any-return]
        x,
        indices,
        new,
        dims=dims.as_scatter(),
        mode=how,
        combine=combine,
        unique=unique,
    )
