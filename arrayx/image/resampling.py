"""Images of another size: each new element is a weighted mean of old ones, axis by axis."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.lax.contraction import Precision
from arrayx.numpy import arithmetic, logic, shapes
from arrayx.numpy.contraction import contracted
from arrayx.numpy.promotion import as_array, as_type, check_axes, host_array
from arrayx.numpy.rounding import floor
from arrayx.numpy.selection import where
from arrayx.numpy.transcendental import sin


class ResizeMethod(enum.Enum):
    """How old elements are weighted: by the nearest one, a triangle, a cubic, a windowed sine.

    `CUBIC` is Keys' cubic; `CUBIC_PYTORCH` is, without antialiasing, the one of PyTorch: of
    another slope, and continued by the edge; `AREA` weights by the area that is covered.
    """

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """The method of a name.

        >>> ResizeMethod.from_string("bilinear").name
        'LINEAR'
        """
        try:
            return _NAMES[s]
        except (KeyError, TypeError):
            raise errors.ArgumentError(
                f"image: there is no method {s!r}; there are {', '.join(_NAMES)}"
            ) from None


_NAMES = {
    "nearest": ResizeMethod.NEAREST,
    "linear": ResizeMethod.LINEAR,
    "bilinear": ResizeMethod.LINEAR,
    "trilinear": ResizeMethod.LINEAR,
    "triangle": ResizeMethod.LINEAR,
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    "cubic": ResizeMethod.CUBIC,
    "bicubic": ResizeMethod.CUBIC,
    "tricubic": ResizeMethod.CUBIC,
    "cubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
    "bicubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
    "area": ResizeMethod.AREA,
}


def _triangle(x: Array) -> Array:
    return arithmetic.maximum(0, arithmetic.subtract(1, x))


def _cubic(x: Array, slope: float) -> Array:
    """Source: R. Keys, IEEE Trans. ASSP 29 (1981) 1153-1160, with the slope at distance 1."""
    inner = ((slope + 2) * x - (slope + 3)) * x * x + 1
    outer = ((slope * x - 5 * slope) * x + 8 * slope) * x - 4 * slope
    return where(logic.less(x, 1), inner, where(logic.less(x, 2), outer, 0.0))  # type: ignore[no-any-return]


def _lanczos(x: Array, radius: float) -> Array:
    """A sine over its argument, under one that is `radius` times as wide."""
    product = radius * sin(math.pi * x) * sin(math.pi * x / radius)
    apart = logic.greater(x, 1e-3)
    quotient = arithmetic.divide(product, where(apart, math.pi**2 * x * x, 1.0))
    return where(logic.greater(x, radius), 0.0, where(apart, quotient, 1.0))  # type: ignore[no-any-return]


_KERNELS: dict[ResizeMethod, Callable[[Array], Array]] = {
    ResizeMethod.LINEAR: _triangle,
    ResizeMethod.LANCZOS3: lambda x: _lanczos(x, 3.0),
    ResizeMethod.LANCZOS5: lambda x: _lanczos(x, 5.0),
    ResizeMethod.CUBIC: lambda x: _cubic(x, -0.5),
}


def _weights(
    n: int, m: int, scale: Array, translation: Array, method: ResizeMethod, antialias: bool
) -> Array:
    """What each of `n` old elements gives to each of `m` new ones: (old, new)."""
    dtype = scale.dtype
    old, new = (as_type(host_array(np.arange(k), [scale]), dtype) for k in (n, m))
    step = arithmetic.divide(1, scale)
    if method is ResizeMethod.AREA:
        left = arithmetic.multiply(arithmetic.subtract(new, translation), step)
        right = arithmetic.add(left, step)
        begins = arithmetic.maximum(left[None, :], old[:, None])
        ends = arithmetic.minimum(right[None, :], arithmetic.add(old, 1)[:, None])
        return _normalised(arithmetic.maximum(arithmetic.subtract(ends, begins), 0))
    if method is ResizeMethod.CUBIC_PYTORCH and antialias:
        method = ResizeMethod.CUBIC
    place = arithmetic.add(new, 0.5) * step - translation * step - 0.5
    if method is ResizeMethod.CUBIC_PYTORCH:
        return _edge_weights(n, place)
    width = arithmetic.maximum(step, 1) if antialias else 1.0
    distance = arithmetic.divide(abs(place[None, :] - old[:, None]), width)
    weights = _normalised(_KERNELS[method](distance))
    # New elements whose centre is outside of the old image are 0.
    inside = logic.logical_and(logic.greater_equal(place, -0.5), logic.less_equal(place, n - 0.5))
    return where(inside[None, :], weights, 0.0)  # type: ignore[no-any-return]


def _edge_weights(n: int, place: Array) -> Array:
    """The cubic of slope -0.75 whose four neighbours, outside of the image, are its edge."""
    below = floor(place)
    weights: Any = None
    old = as_type(host_array(np.arange(n), [place]), place.dtype)
    for step in (-1.0, 0.0, 1.0, 2.0):
        neighbour = below + step
        weight = _cubic(abs(place - neighbour), -0.75)
        inside = arithmetic.minimum(arithmetic.maximum(neighbour, 0), n - 1)
        part = where(logic.equal(inside[None, :], old[:, None]), weight[None, :], 0.0)
        weights = part if weights is None else weights + part
    return weights  # type: ignore[no-any-return]


def _normalised(weights: Array) -> Array:
    """Weights that add up to 1 for each new element, or are 0."""
    total = weights.sum(axis=0, keepdims=True)
    there = logic.greater(abs(total), 1000 * float(np.finfo(np.float32).eps))
    return where(there, arithmetic.divide(weights, where(there, total, 1.0)), 0.0)  # type: ignore[no-any-return]


def _resampled(
    x: Array,
    shape: Sequence[int],
    axes: Sequence[int],
    scale: Any,
    translation: Any,
    method: ResizeMethod,
    antialias: bool,
    precision: Any,
) -> Array:
    """Along each axis a product with a matrix of weights."""
    for i, axis in enumerate(axes):
        weights = _weights(x.shape[axis], shape[axis], scale[i], translation[i], method, antialias)
        product = contracted(x, as_type(weights, x.dtype), ((axis,), (0,)), precision=precision)
        x = shapes.moveaxis(product, -1, axis)
    return x


def _method(method: Any) -> ResizeMethod:
    return ResizeMethod.from_string(method) if isinstance(method, str) else ResizeMethod(method)


def _real(dtype: Any) -> Any:
    """The dtype in which weights for an image are computed."""
    return dtypes.accumulation_dtype(
        dtypes.real_dtype(dtype) if dtypes.is_complex(dtype) else dtype
    )


def scale_and_translate(
    image: Any,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale: Any,
    translation: Any,
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = Precision.HIGHEST,
) -> Array:
    """`image` enlarged by `scale` and then moved by `translation` along `spatial_dims`.

    The result has `shape`; a place x of the old image goes to x * scale + translation, counted
    from the edge.  With `antialias` the weights are wide enough where the image gets smaller.
    `scale` and `translation` are vectors and have derivatives.

    Raises `ArgumentError` for the method "nearest", `ShapeError` for shapes that do not fit.

    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 2.0])
    >>> one = np.ones(1)
    >>> scale_and_translate(x, (3,), (0,), one, one, "linear").tolist()
    [0.0, 0.0, 1.0]
    """
    function = "image.scale_and_translate"
    how = _method(method)
    if how is ResizeMethod.NEAREST:
        raise errors.ArgumentError(f"{function}: the method 'nearest' is for image.resize only")
    x = as_array(image, function, "image")
    x = as_type(x, dtypes.float_for(x.dtype))
    if len(shape) != x.ndim:
        raise errors.ShapeError(
            f"{function}: shape {tuple(shape)} must have {x.ndim} entries, as the image's {x.shape}"
        )
    axes = check_axes(tuple(spatial_dims), x.ndim, function)
    if any(shape[a] != n for a, n in enumerate(x.shape) if a not in axes):
        raise errors.ShapeError(
            f"{function}: shape {tuple(shape)} differs from the image's {x.shape} in an axis that "
            "is not among spatial_dims"
        )
    factors: list[Array] = []
    for name, given in (("scale", scale), ("translation", translation)):
        vector = as_array(given, function, name)
        if vector.shape != (len(axes),):
            raise errors.ShapeError(
                f"{function}: {name} must be a vector of {len(axes)}, got shape {vector.shape}"
            )
        factors.append(as_type(vector, _real(x.dtype)))
    lengths = tuple(int(n) for n in shape)
    return _resampled(x, lengths, axes, factors[0], factors[1], how, antialias, precision)


def resize(
    image: Any,
    shape: Sequence[int],
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = Precision.HIGHEST,
) -> Array:
    """`image` with the lengths `shape` along its axes.

    `method` is "nearest", "linear", "cubic", "cubic-pytorch", "lanczos3", "lanczos5" or "area";
    "nearest" keeps the dtype, the others give floats.

    Raises `ShapeError` where `shape` has not one entry for each axis.

    >>> import numpy as np
    >>> resize(np.array([0.0, 1.0]), (4,), "linear").tolist()
    [0.0, 0.25, 0.75, 1.0]
    >>> resize(np.array([5, 7]), (3,), "nearest").tolist()
    [5, 7, 7]
    """
    function = "image.resize"
    x = as_array(image, function, "image")
    lengths = tuple(int(n) for n in shape)
    if len(lengths) != x.ndim:
        raise errors.ShapeError(
            f"{function}: shape {lengths} must have {x.ndim} entries, as the image's {x.shape}"
        )
    axes = [a for a in range(x.ndim) if lengths[a] != x.shape[a]]
    how = _method(method)
    if how is ResizeMethod.NEAREST:
        for a in axes:
            n, m = x.shape[a], lengths[a]
            places = np.floor((np.arange(m) + 0.5) * (n / m)).astype(np.int64)
            x = x[(slice(None),) * a + (np.minimum(places, n - 1),)]
        return x
    x = as_type(x, dtypes.float_for(x.dtype))
    wide = _real(x.dtype)
    factors = np.array([lengths[a] / x.shape[a] if x.shape[a] else 1.0 for a in axes])
    scale = as_type(host_array(factors, [x]), wide)
    none = as_type(host_array(np.zeros(len(axes)), [x]), wide)
    return _resampled(x, lengths, axes, scale, none, how, antialias, precision)
