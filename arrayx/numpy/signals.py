"""Sequences of samples: convolution, interpolation, windows, phases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, logic
from arrayx.numpy.bessel import i0
from arrayx.numpy.composing import composed
from arrayx.numpy.contraction import contracted, precision_name, preferred_pair
from arrayx.numpy.creation import beside, ones, zeros, zeros_like
from arrayx.numpy.cumulative import cumsum, diff
from arrayx.numpy.indexing import take as take_index
from arrayx.numpy.naming import named
from arrayx.numpy.ordering import argsort, searchsorted
from arrayx.numpy.promotion import as_array, as_type, check_axis, promoted_arrays
from arrayx.numpy.ranges import arange, concrete_index
from arrayx.numpy.selection import where
from arrayx.numpy.shapes import concatenate, moveaxis
from arrayx.numpy.transcendental import conj, cos, sqrt
from arrayx.primitives.convolution import conv_general_dilated

Mode = str
_MODES = ("full", "same", "valid")


def _sliding(a: Any, v: Any, mode: Mode, precision: Any, preferred: Any, function: str) -> Array:
    """The products of a sequence with every window of another, both in their own order."""
    if mode not in _MODES:
        raise errors.ArgumentError(f"{function}: mode is one of {_MODES}, not {mode!r}")
    x, y = promoted_arrays((a, v), function, ("a", "v"))
    if x.ndim != 1 or y.ndim != 1:
        raise errors.ShapeError(f"{function} takes two vectors, got shapes {x.shape} and {y.shape}")
    if not x.shape[0] or not y.shape[0]:
        raise errors.ShapeError(f"{function}: there are no elements in one of the vectors")
    n, m = x.shape[0], y.shape[0]
    if mode == "full":
        low = high = m - 1
    elif mode == "same":
        low, high = m // 2, m - 1 - m // 2
    else:
        low = high = 0
    if dtypes.kind(x.dtype) == "bool":
        # A convolution has numbers; the product of booleans is "and", their sum "or".
        x = concatenate([zeros_like(x, shape=(low,)), x, zeros_like(x, shape=(high,))])
        places = np.arange(n + low + high - m + 1)[:, None] + np.arange(m)
        return contracted(x[places], y, ((1,), (0,)), ((), ()), precision, preferred)
    x, y, target = preferred_pair(x, y, preferred)
    result = conv_general_dilated(
        x[None, None],
        y[None, None],
        strides=(1,),
        padding=((low, high),),
        lhs_dilation=(1,),
        rhs_dilation=(1,),
        dims=((0, 1, 2),) * 3,
        feature_groups=1,
        batch_groups=1,
        precision=precision_name(precision),
    )[0, 0]
    return result if target is None else as_type(result, target)


@composed
def convolve(
    a: Any,
    v: Any,
    mode: Mode = "full",
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """The convolution of two vectors.

    `mode` is "full", "same" (as long as the longer one, from the middle) or "valid" (only where
    they overlap wholly).

    >>> import arrayx.numpy as anp
    >>> anp.convolve(anp.array([1, 2, 3]), anp.array([0, 1])).tolist()
    [0, 1, 2, 3]
    """
    x, y = as_array(a, "convolve", "a"), as_array(v, "convolve", "v")
    if x.ndim == y.ndim == 1 and x.shape[0] < y.shape[0]:
        x, y = y, x
    if y.ndim == 1:
        y = y[::-1]
    if mode == "same" and x.ndim == y.ndim == 1 and y.shape[0]:
        full = _sliding(x, y, "full", precision, preferred_element_type, "convolve")
        start = (y.shape[0] - 1) // 2
        return full[start : start + x.shape[0]]
    return _sliding(x, y, mode, precision, preferred_element_type, "convolve")


@composed
def correlate(
    a: Any,
    v: Any,
    mode: Mode = "valid",
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """The correlation of two vectors: the sums of `a[n + k] * conj(v[n])` for each shift k.

    `mode` is that of `convolve`.

    >>> import arrayx.numpy as anp
    >>> anp.correlate(anp.array([1, 2, 3]), anp.array([0, 1]), "full").tolist()
    [1, 2, 3, 0]
    """
    x, y = as_array(a, "correlate", "a"), as_array(v, "correlate", "v")
    if mode not in _MODES:
        raise errors.ArgumentError(f"correlate: mode is one of {_MODES}, not {mode!r}")
    turned = y[::-1] if y.ndim == 1 else y
    turned = conj(turned) if dtypes.is_complex(y.dtype) else turned
    result = convolve(
        x, turned, mode, precision=precision, preferred_element_type=preferred_element_type
    )
    if mode == "same" and x.shape[0] < y.shape[0]:
        # NumPy centres the result on the longer vector in its own order.
        full = convolve(x, turned, "full", precision=precision)
        start = x.shape[0] // 2
        return full[start : start + y.shape[0]]
    return result


@composed
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Array:
    """The piecewise linear function through the points (`xp`, `fp`) at `x`.

    `xp` rises.  Outside the function is `left` and `right`, by default the first and last of
    `fp`; "extrapolate" continues the outer pieces.  With `period` the points are repeated.

    >>> import arrayx.numpy as anp
    >>> float(anp.interp(1.5, anp.array([1.0, 2.0]), anp.array([10.0, 20.0])))
    15.0
    """
    for name, value in (("left", left), ("right", right)):
        if isinstance(value, str) and value != "extrapolate":
            raise errors.ArgumentError(
                f"interp: {name} is a number or 'extrapolate', not {value!r}"
            )

    def floating(dtype: Any, weak: bool) -> tuple[Any, bool]:
        return dtypes.float_for(dtype), False

    points, knots = promoted_arrays((x, xp), "interp", ("x", "xp"), floating)
    if dtypes.is_complex(points.dtype):
        raise errors.DtypeError(f"interp: x and xp must be real, got {points.dtype}")
    values = as_array(fp, "interp", "fp")
    values = as_type(values, dtypes.float_for(values.dtype))
    if knots.ndim != 1 or knots.shape != values.shape or not knots.shape[0]:
        raise errors.ShapeError(
            f"interp: xp and fp must be vectors of one length, at least 1; got shapes "
            f"{knots.shape} and {values.shape}"
        )
    if period is not None:
        width = arithmetic.abs(beside(period, knots, "interp", "period"))
        points, knots = arithmetic.remainder(points, width), arithmetic.remainder(knots, width)
        order = argsort(knots)
        knots, values = knots[order], values[order]
        knots = concatenate([knots[-1:] - width, knots, knots[:1] + width])
        values = concatenate([values[-1:], values, values[:1]])
        left = right = None
    n = knots.shape[0]
    if n == 1:
        result = arithmetic.add(values[0], arithmetic.multiply(points, 0.0))
    else:
        place = arithmetic.clip(searchsorted(knots, points, "right"), 1, n - 1)
        low, high = take_index(knots, place - 1, "clip"), take_index(knots, place, "clip")
        width = arithmetic.subtract(high, low)
        flat = logic.equal(width, 0)
        part = arithmetic.divide(arithmetic.subtract(points, low), where(flat, 1.0, width))
        base = take_index(values, place - 1, "clip")
        rise = arithmetic.subtract(take_index(values, place, "clip"), base)
        result = where(flat, base, arithmetic.add(base, arithmetic.multiply(part, rise)))
    if not isinstance(left, str):
        first = values[0] if left is None else left
        result = where(logic.less(points, knots[0]), first, result)
    if not isinstance(right, str):
        last = values[-1] if right is None else right
        result = where(logic.greater(points, knots[-1]), last, result)
    return result


@named
def unwrap(p: Any, discont: Any = None, axis: int = -1, period: Any = 2 * math.pi) -> Array:
    """`p` without jumps of more than half a `period` along `axis`.

    >>> import arrayx.numpy as anp
    >>> anp.unwrap(anp.array([0.0, 3.0, 1.0]), period=4.0).tolist()
    [0.0, -1.0, -3.0]
    """
    x = as_array(p, "unwrap", "p")
    if dtypes.is_complex(x.dtype):
        raise errors.DtypeError(f"unwrap takes real angles, got {x.dtype}")
    i = check_axis(axis, x.ndim, "unwrap")
    whole = dtypes.is_integer(x.dtype) and isinstance(period, int)
    if not whole:
        x = as_type(x, dtypes.float_for(x.dtype))
    if x.shape[i] == 0:
        return x
    half = period // 2 if whole else arithmetic.divide(period, 2)
    limit = half if discont is None else arithmetic.maximum(half, discont)
    steps = diff(x, axis=i)
    near = arithmetic.subtract(arithmetic.remainder(arithmetic.add(steps, half), period), half)
    # A step of just half a period keeps its direction.
    turned = logic.logical_and(
        logic.equal(near, arithmetic.negative(half)), logic.greater(steps, 0)
    )
    if not whole or period % 2 == 0:
        near = where(turned, half, near)
    change = arithmetic.subtract(near, steps)
    change = where(logic.less(arithmetic.abs(steps), limit), 0, change)
    moved = cumsum(change, axis=i)
    lines = moveaxis(x, i, 0)
    rest = arithmetic.add(lines[1:], moveaxis(moved, i, 0))
    return moveaxis(concatenate([lines[:1], as_type(rest, x.dtype)]), 0, i)


# ----------------------------------------------------------------- windows


def _positions(M: Any, function: str) -> tuple[Array | None, int]:
    """0, 1, … of a window as floats, or None for windows too short to have a form."""
    count = concrete_index(M, function, "M")
    dtype = dtypes.default_float()
    return (None if count <= 1 else as_type(arange(count), dtype)), max(count, 0)


def _short(count: int) -> Array:
    return ones((count,)) if count else zeros((0,))


def _cosine_window(M: Any, function: str, *weights: float) -> Array:
    n, count = _positions(M, function)
    if n is None:
        return _short(count)
    angle = arithmetic.multiply(n, 2 * math.pi / (count - 1))
    result = arithmetic.add(arithmetic.multiply(n, 0.0), weights[0])
    for k, weight in enumerate(weights[1:], 1):
        wave = cos(arithmetic.multiply(angle, float(k)))
        result = arithmetic.add(result, arithmetic.multiply(wave, weight))
    return result


def bartlett(M: int) -> Array:
    """The triangular window of length `M`.

    >>> import arrayx.numpy as anp
    >>> anp.bartlett(3).tolist()
    [0.0, 1.0, 0.0]
    """
    n, count = _positions(M, "bartlett")
    if n is None:
        return _short(count)
    slope = arithmetic.multiply(n, 2.0 / (count - 1))
    return arithmetic.subtract(1.0, arithmetic.abs(arithmetic.subtract(slope, 1.0)))


def blackman(M: int) -> Array:
    """The Blackman window of length `M`: 0.42 - 0.5·cos + 0.08·cos of the double angle.

    >>> import arrayx.numpy as anp
    >>> round(float(anp.blackman(3)[1]), 4)
    1.0
    """
    return _cosine_window(M, "blackman", 0.42, -0.5, 0.08)


def hamming(M: int) -> Array:
    """The Hamming window of length `M`: 0.54 - 0.46·cos.

    >>> import arrayx.numpy as anp
    >>> round(float(anp.hamming(3)[0]), 4)
    0.08
    """
    return _cosine_window(M, "hamming", 0.54, -0.46)


def hanning(M: int) -> Array:
    """The Hann window of length `M`: 0.5 - 0.5·cos.

    >>> import arrayx.numpy as anp
    >>> anp.hanning(3).tolist()
    [0.0, 1.0, 0.0]
    """
    return _cosine_window(M, "hanning", 0.5, -0.5)


@named
def kaiser(M: int, beta: Any) -> Array:
    """The Kaiser window of length `M`; the larger `beta`, the narrower.

    >>> import arrayx.numpy as anp
    >>> round(float(anp.kaiser(3, 14.0)[1]), 4)
    1.0
    """
    n, count = _positions(M, "kaiser")
    if n is None:
        return _short(count)
    part = arithmetic.subtract(arithmetic.multiply(n, 2.0 / (count - 1)), 1.0)
    inside = arithmetic.maximum(arithmetic.subtract(1.0, arithmetic.multiply(part, part)), 0.0)
    return arithmetic.divide(i0(arithmetic.multiply(beta, sqrt(inside))), i0(beta))
