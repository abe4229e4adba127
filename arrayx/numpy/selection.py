"""Choosing elements: by a condition, by index, by order."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, logic
from arrayx.numpy.composing import composed
from arrayx.numpy.creation import beside
from arrayx.numpy.index_parsing import Range, checked, parse
from arrayx.numpy.indexing import counted_from_0
from arrayx.numpy.indexing import take as take_index
from arrayx.numpy.naming import named, refuse_out
from arrayx.numpy.promotion import (
    BOOL,
    SCALARS,
    as_array,
    as_type,
    broadcast_shapes,
    broadcast_to_shape,
    check_axis,
    key_of,
    placed_like,
    plan_for,
    promoted_arrays,
    read_beside,
    scalar_array,
    settings,
)
from arrayx.numpy.ranges import concrete_index
from arrayx.numpy.scattering import check_mode, updated
from arrayx.numpy.shapes import concatenate, expand_dims, ravel, reshape
from arrayx.primitives.arithmetic import select as select_primitive
from arrayx.primitives.creation import fill, iota
from arrayx.primitives.cumulative import cumsum
from arrayx.primitives.gather import take_along

_choices: dict[Any, Any] = {}


def where(
    condition: Any,
    x: Any = None,
    y: Any = None,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Elements of `x` where `condition` is true, of `y` elsewhere; all three are broadcast.

    The branch that is not taken never poisons a gradient.  With `condition` alone it is
    `nonzero(condition)`.

    >>> import arrayx.numpy as anp
    >>> anp.where(anp.array([True, False]), 1.0, anp.array([5.0, 6.0])).tolist()
    [1.0, 6.0]
    """
    if x is None and y is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise errors.ArgumentError("where takes the condition alone, or both x and y")
    mask = getattr(condition, "aval", None)
    key = mask, key_of(x), key_of(y), settings()
    plan = _choices.get(key)
    if plan is not None:
        return plan(condition, x, y)
    which, a, b = read_beside((condition, x, y), "where", ("condition", "x", "y"))
    which = logic.truth(as_array(which))
    if type(a) in SCALARS and type(b) in SCALARS:
        pair = plan_for((a, b), "where", ("x", "y"))
        a = scalar_array(a, pair.dtype, pair.weak, (which,))
    key_a, key_b = key_of(a), key_of(b)
    pair = plan_for((a, b), "where", ("x", "y"))
    try:
        shape = broadcast_shapes(pair.shape, which.shape)
    except errors.ShapeError as error:
        raise errors.ShapeError(f"where: {error}") from None

    def choose(which: Any, a: Any, b: Any) -> Any:
        ready = pair.apply((a, b))
        ready = [broadcast_to_shape(v, shape) if isinstance(v, Array) else v for v in ready]
        return select_primitive(broadcast_to_shape(which, shape), *ready)

    if mask is not None and mask.dtype is BOOL and key[1:3] == (key_a, key_b):
        direct = (
            not any(s is not None for s in pair.steps)
            and mask.shape == shape
            and all(k in SCALARS or k.shape == shape for k in (key_a, key_b))
        )
        if len(_choices) > 4096:
            _choices.clear()
        _choices[key] = select_primitive if direct else choose
    return choose(which, a, b)


@named
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Array:
    """For each element the choice of the first condition that holds, else `default`.

    >>> import arrayx.numpy as anp
    >>> x = anp.arange(3)
    >>> anp.select([x < 1, x < 2], [x + 10, x + 20], -1).tolist()
    [10, 21, -1]
    """
    if len(condlist) != len(choicelist):
        raise errors.ArgumentError(
            f"select: {len(condlist)} conditions for {len(choicelist)} choices"
        )
    if not len(condlist):
        raise errors.ArgumentError("select: there has to be at least one condition")
    for i, condition in enumerate(condlist):
        if dtypes.kind(as_array(condition, "select", f"condlist[{i}]").dtype) != "bool":
            raise errors.DtypeError(f"select: condlist[{i}] has to be an array of booleans")
    choices = promoted_arrays(
        [*choicelist, default], "select", [f"x{i}" for i in range(len(choicelist) + 1)]
    )
    result = choices[-1]
    for condition, choice in zip(reversed(condlist), reversed(choices[:-1]), strict=True):
        result = where(condition, choice, result)
    return result


@named
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Array:
    """The function (or number) of the last condition that holds, applied to `x`.

    There may be one function more than conditions: it stands where none holds.

    >>> import arrayx.numpy as anp
    >>> x = anp.array([-1.0, 2.0])
    >>> anp.piecewise(x, [x < 0], [0.0, lambda v: v]).tolist()
    [0.0, 2.0]
    """
    x = as_array(x, "piecewise", "x")
    conditions = condlist if isinstance(condlist, list | tuple) else [condlist]
    functions = list(funclist)
    rest = functions.pop() if len(functions) == len(conditions) + 1 else 0
    if len(functions) != len(conditions):
        raise errors.ArgumentError(
            f"piecewise: {len(conditions)} conditions take as many functions or one more, got "
            f"{len(functions)}"
        )

    def value(f: Any) -> Array:
        return beside(f(x, *args, **kw) if callable(f) else f, x, "piecewise", "funclist")

    result = broadcast_to_shape(value(rest), x.shape)
    for condition, f in zip(conditions, functions, strict=True):
        result = where(condition, value(f), result)
    return result


# ----------------------------------------------------------------- by index


@named
def take(
    a: Any,
    indices: Any,
    axis: int | None = None,
    out: None = None,
    mode: Any = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Array:
    """Elements of `a` along `axis` at `indices`; None flattens first.

    `mode` is "fill", "clip" or "wrap"; without it an index outside raises if it is known now.
    Negative indices count from the end, but with "clip" they are below 0 and give the first.

    >>> import arrayx.numpy as anp
    >>> anp.take(anp.array([5, 6, 7]), anp.array([2, 0])).tolist()
    [7, 5]
    """
    refuse_out(out, "take")
    x = as_array(a, "take", "a")
    places = as_array(indices, "take", "indices") if type(indices) is not int else indices
    if axis is None:
        x, axis = ravel(x), 0
    i = check_axis(axis, x.ndim, "take")
    mode = check_mode(None if mode == "raise" else mode)
    if mode == "clip":
        # As NumPy has it: what is clipped does not count from the end.
        places = arithmetic.maximum(places, 0)
    return take_index(x, (slice(None),) * i + (places,), mode, fill_value)


@named
def take_along_axis(
    arr: Any, indices: Any, axis: int | None = -1, mode: Any = None, fill_value: Any = None
) -> Array:
    """For each line of `arr` along `axis` the elements at the indices in the same line.

    >>> import arrayx.numpy as anp
    >>> anp.take_along_axis(anp.array([[5, 6], [7, 8]]), anp.array([[1], [0]]), 1).tolist()
    [[6], [7]]
    """
    x = as_array(arr, "take_along_axis", "arr")
    places = as_array(indices, "take_along_axis", "indices")
    if not dtypes.is_integer(places.dtype):
        raise errors.ArgumentError(f"take_along_axis: indices must be integers, not {places.dtype}")
    if axis is None:
        x, places, axis = ravel(x), ravel(places), 0
    i = check_axis(axis, x.ndim, "take_along_axis")
    if places.ndim != x.ndim:
        raise errors.ShapeError(
            f"take_along_axis: {places.ndim} dimensions of indices for {x.ndim} of the array"
        )
    others = [n for d, n in enumerate(x.shape) if d != i]
    own = [n for d, n in enumerate(places.shape) if d != i]
    shape = list(broadcast_shapes(tuple(others), tuple(own)))
    length = x.shape[i]
    x = broadcast_to_shape(x, (*shape[:i], length, *shape[i:]))
    places = broadcast_to_shape(places, (*shape[:i], places.shape[i], *shape[i:]))
    name = check_mode(mode)
    known = parse((slice(None),) * i + (places,), x.shape).items[i]
    if name is None:
        checked([Range(0, 1, n) for n in x.shape[:i]] + [known], x.shape)
    if name == "wrap":
        places = arithmetic.remainder(places, length)
    else:
        places = counted_from_0(places, length)
    how = {"clip": "clip", "wrap": "promise", "promise_in_bounds": "promise"}.get(str(name), "fill")
    if name is None and isinstance(known, np.ndarray):
        how = "promise"
    result = take_along(x, places, i, how) if how != "fill" else _filled(x, places, i, fill_value)
    return result  # type: ignore[no-any-return]


def _filled(x: Array, places: Array, axis: int, fill_value: Any) -> Any:
    found = take_along(x, places, axis, "fill")
    if fill_value is None:
        return found
    inside = logic.logical_and(logic.greater_equal(places, 0), logic.less(places, x.shape[axis]))
    return where(inside, found, fill_value)


@named
def compress(
    condition: Any, a: Any, axis: int | None = None, *, size: int | None = None, fill_value: Any = 0
) -> Array:
    """The elements (slices along `axis`) for which `condition` is true.

    >>> import arrayx.numpy as anp
    >>> anp.compress(anp.array([True, False, True]), anp.array([5, 6, 7])).tolist()
    [5, 7]
    """
    x = as_array(a, "compress", "a")
    if axis is None:
        x, axis = ravel(x), 0
    i = check_axis(axis, x.ndim, "compress")
    condition = as_array(condition, "compress", "condition")
    if condition.ndim != 1:
        raise errors.ShapeError(
            f"compress: condition must be a vector, got shape {condition.shape}"
        )
    (places,) = nonzero(condition, size=size, fill_value=x.shape[i])
    if size is not None:
        return take_index(x, (slice(None),) * i + (places,), "fill", fill_value)
    return x[(slice(None),) * i + (places,)]


def compressed(a: Array, condition: Any, axis: int | None = None, **sizes: Any) -> Array:
    """The elements for which `condition` is true; see `anp.compress`."""
    return compress(condition, a, axis, **sizes)


@named
def choose(a: Any, choices: Any, out: None = None, mode: str = "raise") -> Array:
    """For each element of `a` the element of that choice at the same place.

    >>> import arrayx.numpy as anp
    >>> anp.choose(anp.array([1, 0]), [anp.array([1, 2]), anp.array([3, 4])]).tolist()
    [3, 2]
    """
    refuse_out(out, "choose")
    if not len(choices):
        raise errors.ArgumentError("choose: choices has at least one array")
    arrays = promoted_arrays(choices, "choose", [f"choices[{i}]" for i in range(len(choices))])
    index = as_array(a, "choose", "a")
    shape = broadcast_shapes(index.shape, *(x.shape for x in arrays))
    stacked = concatenate([expand_dims(broadcast_to_shape(x, shape), 0) for x in arrays])
    places = expand_dims(broadcast_to_shape(index, shape), 0)
    picked = take_along_axis(stacked, places, 0, None if mode == "raise" else mode)
    return reshape(picked, shape)


@composed
def nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> tuple[Array, ...]:
    """The indices of the elements that are not zero, one array for each axis.

    Under `jit` their number must be fixed with `size`: what is missing is `fill_value` (0), what
    is too much is left out.

    >>> import arrayx.numpy as anp
    >>> [i.tolist() for i in anp.nonzero(anp.array([0, 3, 4]))]
    [[1, 2]]
    """
    x = logic.truth(as_array(a, "nonzero", "a"))
    if x.ndim == 0:
        raise errors.ShapeError("nonzero of an array of rank 0; see anp.atleast_1d")
    dtype = dtypes.index_dtype(*x.shape)
    if size is None:
        host = concrete_array(x, "nonzero", "size")
        return tuple(as_array(i.astype(dtype)) for i in np.nonzero(host))
    size = concrete_index(size, "nonzero", "size")
    if size < 0:
        raise errors.ArgumentError(f"nonzero: size is negative: {size}")
    flat = reshape(x, (-1,)) if x.size else reshape(x, (0,))
    wide = dtypes.index_dtype(x.size)
    fills = fill_value if isinstance(fill_value, tuple) else (fill_value or 0,) * x.ndim
    if len(fills) != x.ndim:
        raise errors.ArgumentError(
            f"nonzero: fill_value has {len(fills)} numbers for {x.ndim} dimensions"
        )
    if not x.size or not size:
        with placed_like(x):
            return tuple(broadcast_to_shape(as_type(as_array(f), dtype), (size,)) for f in fills)
    counts = cumsum(as_type(flat, wide), axis=0, reverse=False)
    with placed_like(x):
        numbers = iota(shape=(x.size,), dtype=wide, axis=0)
        empty = fill((size,), wide, 0)
        found = logic.less(iota(shape=(size,), dtype=wide, axis=0), take_index(counts, -1))
    # Each nonzero element writes its number to the place that the count gives it.
    targets = select_primitive(flat, arithmetic.subtract(counts, 1), size)
    places = updated(empty, targets, numbers, "set", "drop", True)
    results = []
    stride = x.size
    for n, f in zip(x.shape, fills, strict=True):
        stride //= n
        index = arithmetic.remainder(arithmetic.floor_divide(places, stride), n)
        results.append(as_type(where(found, as_type(index, dtype), f), dtype))
    return tuple(results)


def concrete_array(x: Any, function: str, way_out: str) -> np.ndarray:
    """The elements, known now; raises, naming the argument that helps, where they are not."""
    from_tracer = getattr(x, "concrete", None)
    if from_tracer is not None:
        try:
            x = from_tracer(function)
        except errors.ConcretizationError as error:
            raise errors.ConcretizationError(
                f"{error}\nThe shape of {function}'s result depends on values: give `{way_out}=` "
                "to fix it."
            ) from None
    return x.host()  # type: ignore[no-any-return]


@composed
def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The indices of the elements of the flattened array that are not zero.

    >>> import arrayx.numpy as anp
    >>> anp.flatnonzero(anp.array([0, 3, 4])).tolist()
    [1, 2]
    """
    return nonzero(ravel(as_array(a, "flatnonzero", "a")), size=size, fill_value=fill_value)[0]


@composed
def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The indices of the elements that are not zero, a row for each.

    >>> import arrayx.numpy as anp
    >>> anp.argwhere(anp.array([0, 3, 4])).tolist()
    [[1], [2]]
    """
    found = nonzero(a, size=size, fill_value=fill_value)
    return concatenate([expand_dims(i, 1) for i in found], 1)


# ----------------------------------------------------------------- by order
