"""Convolution and correlation of signals of any rank, directly and by Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.lax.convolution import conv_general_dilated
from arrayx.numpy import arithmetic, padding
from arrayx.numpy.fft import transforms
from arrayx.numpy.promotion import as_type, check_axes, inexact, promoted_arrays
from arrayx.numpy.transcendental import conj
from arrayx.primitives.axes import rev

_MODES = ("full", "same", "valid")
# What SciPy calls the boundaries of a two-dimensional signal, and how `anp.pad` does.
_BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def _operands(in1: Any, in2: Any, mode: str, function: str) -> tuple[Array, Array]:
    """Both signals in one inexact dtype, and checks that all functions share."""
    if mode not in _MODES:
        raise errors.ArgumentError(f"{function}: mode is one of {_MODES}, not {mode!r}")
    x, y = promoted_arrays((in1, in2), function, ("in1", "in2"), inexact)
    if x.ndim != y.ndim:
        raise errors.ShapeError(
            f"{function} takes signals of one rank, got shapes {x.shape} and {y.shape}"
        )
    if x.size == 0 or y.size == 0:
        raise errors.ShapeError(f"{function}: there are no elements in one of the signals")
    return x, y


def _longer_first(x: Array, y: Array, mode: str, function: str) -> tuple[Array, Array]:
    """For "valid" the signal that is longer along every axis first."""
    if mode != "valid" or all(n >= m for n, m in zip(x.shape, y.shape, strict=True)):
        return x, y
    if all(n <= m for n, m in zip(x.shape, y.shape, strict=True)):
        return y, x
    raise errors.ShapeError(
        f"{function}: for mode 'valid' one signal must be at least as long as the other along "
        f"every axis, got shapes {x.shape} and {y.shape}"
    )


def _slid(x: Array, y: Array, pads: Sequence[tuple[int, int]], precision: Any) -> Array:
    """The convolution with paddings for each axis."""
    if x.ndim == 0:
        return arithmetic.multiply(x, y)
    turned = rev(y, axes=tuple(range(y.ndim)))
    result = conv_general_dilated(
        x[None, None], turned[None, None], (1,) * x.ndim, pads, precision=precision
    )
    return result[0, 0]


def _padded(y: Array, mode: str) -> list[tuple[int, int]]:
    """What is put around the first signal."""
    if mode == "full":
        return [(m - 1, m - 1) for m in y.shape]
    if mode == "same":
        return [(m // 2, m - 1 - m // 2) for m in y.shape]
    return [(0, 0)] * y.ndim


def convolve(
    in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None
) -> Array:
    """The convolution of two signals of one rank.

    `mode` is "full", "same" (of the shape of `in1`, from the middle) or "valid" (only where one
    covers the other wholly).  `method` is "direct", "fft", or "auto", which is direct.

    Raises `ShapeError` for signals of unequal rank or without elements.

    >>> import numpy as np
    >>> convolve(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0])).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    if method not in ("auto", "direct", "fft"):
        raise errors.ArgumentError(
            f"scipy.signal.convolve: method is 'auto', 'direct' or 'fft', not {method!r}"
        )
    if method == "fft":
        return fftconvolve(in1, in2, mode)
    function = "scipy.signal.convolve"
    x, y = _longer_first(*_operands(in1, in2, mode, function), mode, function)
    return _slid(x, y, _padded(y, mode), precision)


def correlate(
    in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None
) -> Array:
    """The correlation of two signals: their convolution, `in2` turned around and conjugated.

    >>> import numpy as np
    >>> correlate(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0])).tolist()
    [1.0, 2.0, 3.0, 0.0]
    """
    x, y = _operands(in1, in2, mode, "scipy.signal.correlate")
    turned = rev(conj(y), axes=tuple(range(y.ndim)))
    return convolve(x, turned, mode, method, precision)


def _over_image(
    x: Array,
    y: Array,
    pads: Sequence[tuple[int, int]],
    boundary: str,
    fillvalue: Any,
    precision: Any,
    function: str,
) -> Array:
    """The convolution of two images, with what `boundary` says around the first."""
    if boundary not in _BOUNDARIES:
        raise errors.ArgumentError(
            f"{function}: boundary is one of {tuple(_BOUNDARIES)}, not {boundary!r}"
        )
    if x.ndim != 2:
        raise errors.ShapeError(f"{function} takes two images, got shapes {x.shape} and {y.shape}")
    plain = isinstance(fillvalue, int | float | complex) and fillvalue == 0
    if not (boundary == "fill" and plain):
        values = {"constant_values": fillvalue} if boundary == "fill" else {}
        x = padding.pad(x, pads, _BOUNDARIES[boundary], **values)
        pads = [(0, 0)] * 2
    return _slid(x, y, pads, precision)


def convolve2d(
    in1: Any,
    in2: Any,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Array:
    """The convolution of two images.

    Outside of `in1` is what `boundary` says: "fill" `fillvalue`, "wrap" the image again, "symm"
    its mirror image.  `mode` is that of `convolve`.

    >>> import numpy as np
    >>> convolve2d(np.ones((2, 2)), np.ones((2, 2))).tolist()
    [[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]
    """
    function = "scipy.signal.convolve2d"
    x, y = _longer_first(*_operands(in1, in2, mode, function), mode, function)
    return _over_image(x, y, _padded(y, mode), boundary, fillvalue, precision, function)


def correlate2d(
    in1: Any,
    in2: Any,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Array:
    """The correlation of two images: their convolution, `in2` turned around and conjugated.

    See `convolve2d` for the arguments.

    >>> import numpy as np
    >>> correlate2d(np.eye(2), np.array([[1.0, 2.0]]), "valid").tolist()
    [[1.0], [2.0]]
    """
    function = "scipy.signal.correlate2d"
    x, y = _operands(in1, in2, mode, function)
    y = rev(conj(y), axes=tuple(range(y.ndim)))
    x, y = _longer_first(x, y, mode, function)
    # The middle of a window of even length is one element later than a convolution's.
    pads = [(b, a) for a, b in _padded(y, mode)] if mode == "same" else _padded(y, mode)
    return _over_image(x, y, pads, boundary, fillvalue, precision, function)


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Sequence[int] | None = None) -> Array:
    """The convolution of two signals, as a product of Fourier transforms.

    Along `axes`, by default all; the others are broadcast.

    >>> import numpy as np
    >>> x = fftconvolve(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0]))
    >>> [round(v, 3) + 0.0 for v in x.tolist()]
    [0.0, 1.0, 2.0, 3.0]
    """
    function = "scipy.signal.fftconvolve"
    x, y = _operands(in1, in2, mode, function)
    over = sorted(check_axes(axes, x.ndim, function))
    if mode == "valid":
        lengths = [(x.shape[a], y.shape[a]) for a in over]
        if not all(n >= m for n, m in lengths):
            if not all(n <= m for n, m in lengths):
                raise errors.ShapeError(
                    f"{function}: for mode 'valid' one signal must be at least as long as the "
                    f"other along every axis, got shapes {x.shape} and {y.shape}"
                )
            x, y = y, x
    if not over:
        return arithmetic.multiply(x, y)
    sizes = [x.shape[a] + y.shape[a] - 1 for a in over]
    dtype = x.dtype
    if dtypes.is_complex(dtype):
        product = arithmetic.multiply(
            transforms.fftn(x, sizes, over), transforms.fftn(y, sizes, over)
        )
        whole = transforms.ifftn(product, sizes, over)
    else:
        wide = dtypes.accumulation_dtype(dtype)
        product = arithmetic.multiply(
            transforms.rfftn(as_type(x, wide), sizes, over),
            transforms.rfftn(as_type(y, wide), sizes, over),
        )
        whole = transforms.irfftn(product, sizes, over)
    index = [slice(None)] * whole.ndim
    for a in over:
        n, m = x.shape[a], y.shape[a]
        start = {"full": 0, "same": (m - 1) // 2, "valid": m - 1}[mode]
        length = {"full": n + m - 1, "same": n, "valid": n - m + 1}[mode]
        index[a] = slice(start, start + length)
    return as_type(whole[tuple(index)], dtype)
