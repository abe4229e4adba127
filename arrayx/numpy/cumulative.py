"""Functions of neighbours and of all that came before: running sums, differences, trapezoids."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, logic
from arrayx.numpy.composing import composed
from arrayx.numpy.naming import refuse_out
from arrayx.numpy.promotion import (
    as_array,
    as_numbers,
    as_type,
    asked_dtype,
    broadcast_to_shape,
    check_axes,
    check_axis,
)
from arrayx.numpy.reductions import sum, sum_dtype
from arrayx.numpy.shapes import concatenate, moveaxis, ravel, take_range
from arrayx.primitives import cumulative
from arrayx.primitives.creation import fill


def _running(primitive: Any, a: Any, axis: Any, dtype: Any, out: Any, function: str) -> Array:
    refuse_out(out, function)
    x = as_numbers(a, function, "a")
    if axis is None:
        x, axis = ravel(x), 0
    i = check_axis(axis, x.ndim, function)
    if dtype is not None:
        target = asked_dtype(dtype, function)
    else:
        target = dtypes.default_int() if dtypes.kind(x.dtype) == "bool" else x.dtype
    x = as_type(x, target)
    return primitive(x, axis=i, reverse=False)  # type: ignore[no-any-return]


def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Array:
    """The sums of all elements up to each, along `axis`; None flattens first.

    >>> import arrayx.numpy as anp
    >>> anp.cumsum(anp.array([1, 2, 3])).tolist()
    [1, 3, 6]
    """
    return _running(cumulative.cumsum, a, axis, dtype, out, "cumsum")


def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Array:
    """The products of all elements up to each, along `axis`; None flattens first.

    >>> import arrayx.numpy as anp
    >>> anp.cumprod(anp.array([1, 2, 3])).tolist()
    [1, 2, 6]
    """
    return _running(cumulative.cumprod, a, axis, dtype, out, "cumprod")


@composed
def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """The sums of all elements up to each, along `axis`, with a 0 in front if `include_initial`.

    `axis` may be left out for a vector only.  As in `sum`, small integers are added up as the
    default integer; `cumsum` leaves them their dtype.

    >>> import arrayx.numpy as anp
    >>> anp.cumulative_sum(anp.array([1, 2]), include_initial=True).tolist()
    [0, 1, 3]
    """
    result = cumsum(x, *_axis_and_dtype(x, axis, dtype, "cumulative_sum"))
    return _with_unit(result, 0, axis) if include_initial else result


@composed
def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """The products of all elements up to each, along `axis`, with a 1 in front if asked for.

    `include_initial` asks for it.  `axis` may be left out for a vector only.  As in `prod`, small
    integers are multiplied as the default integer; `cumprod` leaves them their dtype.

    >>> import arrayx.numpy as anp
    >>> anp.cumulative_prod(anp.array([2, 3]), include_initial=True).tolist()
    [1, 2, 6]
    """
    result = cumprod(x, *_axis_and_dtype(x, axis, dtype, "cumulative_prod"))
    return _with_unit(result, 1, axis) if include_initial else result


def _axis_and_dtype(x: Any, axis: Any, dtype: Any, function: str) -> tuple[int, Any]:
    array = as_array(x, function, "x")
    if axis is None:
        if array.ndim != 1:
            raise errors.ArgumentError(
                f"{function}: an array of {array.ndim} dimensions needs axis=, since only a "
                "vector has one order of its elements"
            )
        axis = 0
    return axis, sum_dtype(array.dtype) if dtype is None else dtype


def _with_unit(result: Array, unit: int, axis: Any) -> Array:
    i = 0 if axis is None else check_axis(axis, result.ndim, "cumulative")
    shape = tuple(1 if d == i else n for d, n in enumerate(result.shape))
    value = {"float": float, "complex": complex}.get(dtypes.kind(result.dtype), int)(unit)
    return concatenate([fill(shape, result.dtype, value), result], i)


@composed
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """The differences of neighbours along `axis`, taken `n` times.

    >>> import arrayx.numpy as anp
    >>> anp.diff(anp.array([1, 4, 9])).tolist()
    [3, 5]
    """
    x = as_array(a, "diff", "a")
    i = check_axis(axis, x.ndim, "diff")
    parts = []
    for name, part in (("prepend", prepend), ("a", x), ("append", append)):
        if part is None:
            continue
        part = as_array(part, "diff", name)
        if part.ndim == 0:
            shape = tuple(1 if d == i else m for d, m in enumerate(x.shape))
            part = broadcast_to_shape(part, shape)
        parts.append(part)
    if len(parts) > 1:
        x = concatenate(parts, i)
    for _ in range(n):
        length = x.shape[i]
        later, earlier = (
            take_range(x, min(1, length), length, i),
            take_range(x, 0, max(0, length - 1), i),
        )
        if dtypes.kind(x.dtype) == "bool":
            x = logic.not_equal(later, earlier)
        else:
            x = arithmetic.subtract(later, earlier)
    return x


@composed
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Array:
    """The differences of neighbours of the flattened array, with something around them.

    >>> import arrayx.numpy as anp
    >>> anp.ediff1d(anp.array([1, 4, 9])).tolist()
    [3, 5]
    """
    steps = diff(ravel(as_array(ary, "ediff1d", "ary")))
    parts = [
        ravel(as_array(p, "ediff1d", name))
        for name, p in (("to_begin", to_begin), ("", steps), ("to_end", to_end))
        if p is not None
    ]
    return concatenate(parts)


@composed
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """The integral of `y` along `axis` by the trapezoidal rule.

    >>> import arrayx.numpy as anp
    >>> float(anp.trapezoid(anp.array([0.0, 1.0, 2.0])))
    2.0
    """
    values = as_array(y, "trapezoid", "y")
    i = check_axis(axis, values.ndim, "trapezoid")
    values = moveaxis(values, i, -1)
    n = values.shape[-1]
    pairs = arithmetic.add(
        take_range(values, min(1, n), n, values.ndim - 1),
        take_range(values, 0, max(n - 1, 0), values.ndim - 1),
    )
    if x is not None:
        points = as_array(x, "trapezoid", "x")
        dx = diff(points if points.ndim == 1 else moveaxis(points, i, -1))
    return arithmetic.multiply(0.5, sum(arithmetic.multiply(pairs, dx), -1))


@composed
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int | None = None) -> Any:
    """Central differences along axes, one-sided at the ends.

    `varargs` holds one distance for all axes, or for each axis its distance or a vector of its
    places.  The ends are exact for polynomials of degree `edge_order`, 1 or 2.  Integers become
    floats.

    >>> import arrayx.numpy as anp
    >>> anp.gradient(anp.array([0.0, 1.0, 4.0])).tolist()
    [1.0, 2.0, 3.0]
    """
    values = as_array(f, "gradient", "f")
    values = as_type(values, dtypes.float_for(values.dtype))
    axes = check_axes(axis, values.ndim, "gradient")
    order = 1 if edge_order is None else edge_order
    if order not in (1, 2):
        raise errors.ArgumentError(f"gradient: edge_order is 1 or 2, not {edge_order!r}")
    steps = [as_array(h, "gradient", f"varargs[{i}]") for i, h in enumerate(varargs)]
    if not steps:
        steps = [as_array(1.0)]
    if len(steps) == 1 and steps[0].ndim == 0:
        steps = steps * len(axes)
    if len(steps) != len(axes):
        raise errors.ArgumentError(
            f"gradient: {len(varargs)} distances for {len(axes)} axes; give one for all, or one "
            "distance or vector of places for each"
        )
    results = [_slope(values, i, h, order) for i, h in zip(axes, steps, strict=True)]
    return results[0] if len(results) == 1 else results


def _slope(values: Array, i: int, step: Array, order: int) -> Array:
    """The differences along one axis, for a distance of rank 0 or a vector of places."""
    n = values.shape[i]
    if n < order + 1:
        raise errors.ShapeError(
            f"gradient: axis {i} of shape {values.shape} needs at least {order + 1} elements"
        )
    if step.ndim > 1 or (step.ndim == 1 and step.shape[0] != n):
        raise errors.ShapeError(
            f"gradient: the places along axis {i} of shape {values.shape} must be a vector of "
            f"length {n}, got shape {step.shape}"
        )
    lines = moveaxis(values, i, -1)

    def part(start: int, stop: int) -> Array:
        return take_range(lines, start, stop, lines.ndim - 1)

    if step.ndim == 0:
        start = end = step, step
        twice = arithmetic.multiply(step, 2.0)
        middle = arithmetic.divide(arithmetic.subtract(part(2, n), part(0, n - 2)), twice)
    else:
        gaps = diff(as_type(step, dtypes.float_for(step.dtype)))
        before, after = take_range(gaps, 0, n - 2, 0), take_range(gaps, 1, n - 1, 0)
        width = arithmetic.add(before, after)
        rising = arithmetic.divide(arithmetic.subtract(part(2, n), part(1, n - 1)), after)
        falling = arithmetic.divide(arithmetic.subtract(part(1, n - 1), part(0, n - 2)), before)
        weighted = arithmetic.add(
            arithmetic.multiply(rising, before), arithmetic.multiply(falling, after)
        )
        middle = arithmetic.divide(weighted, width)
        start = gaps[0], gaps[order - 1]
        end = gaps[n - 2], gaps[n - 1 - order]
    first = _end(*start, [part(j, j + 1) for j in range(order + 1)])
    last = _end(*end, [part(n - 1 - j, n - j) for j in range(order + 1)])
    result = concatenate([first, middle, arithmetic.negative(last)], lines.ndim - 1)
    return moveaxis(result, -1, i)


def _end(near: Array, far: Array, values: list[Array]) -> Array:
    """The slope at the first of two or three values, `near` and `far` from one another."""
    slope = arithmetic.divide(arithmetic.subtract(values[1], values[0]), near)
    if len(values) == 2:
        return slope
    # The slope of the parabola through all three.
    next_slope = arithmetic.divide(arithmetic.subtract(values[2], values[1]), far)
    bend = arithmetic.divide(arithmetic.subtract(next_slope, slope), arithmetic.add(near, far))
    return arithmetic.subtract(slope, arithmetic.multiply(bend, near))
