"""Convolution and correlation of signals of any rank, directly and by Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.lax.convolution import conv_general_dilated
from arrayx.numpy import arithmetic, contraction, padding, shapes
from arrayx.numpy.fft import transforms
from arrayx.numpy.promotion import as_type, check_axes, inexact, promoted_arrays
from arrayx.numpy.transcendental import conj
from arrayx.primitives.axes import rev

_MODES = ("full", "same", "valid")
# What SciPy calls the boundaries of a two-dimensional signal, and how `anp.pad` does.
_BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def _operands(
    in1: Any, in2: Any, mode: str, function: str, equal_ranks: bool = True
) -> tuple[Array, Array]:
    """Both signals in one inexact dtype, and checks that all functions share."""
    if mode not in _MODES:
        raise errors.ArgumentError(f"{function}: mode is one of {_MODES}, not {mode!r}")
    x, y = promoted_arrays((in1, in2), function, ("in1", "in2"), inexact)
    if equal_ranks and x.ndim != y.ndim:
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


def _padded(lengths: Sequence[int], mode: str) -> list[tuple[int, int]]:
    """What is put around the first signal."""
    if mode == "full":
        return [(m - 1, m - 1) for m in lengths]
    if mode == "same":
        return [(m // 2, m - 1 - m // 2) for m in lengths]
    return [(0, 0)] * len(lengths)


def convolve(
    in1: Any,
    in2: Any,
    mode: str = "full",
    method: str = "auto",
    precision: Any = None,
    *,
    axes: Sequence[Sequence[int]] | None = None,
    dot_axes: Sequence[Sequence[int]] | None = None,
) -> Array:
    """The convolution of two signals of one rank.

    `mode` is "full", "same" (of the shape of `in1`, from the middle) or "valid" (only where one
    covers the other wholly).  `method` is "direct", "fft", or "auto", which is direct.

    With `axes`, a list of axes of `in1` and one of `in2`, the signals are convolved along those
    alone, as autograd has it; they may be of different ranks then.  Along `dot_axes`, given alike,
    products are summed.  The result has the axes of `in1` that are in neither, then those of `in2`,
    then the convolved ones in the order of `axes`.

    Raises `ShapeError` for signals of unequal rank or without elements.

    >>> import numpy as np
    >>> convolve(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0])).tolist()
    [0.0, 1.0, 2.0, 3.0]
    >>> convolve(np.ones((2, 3)), np.ones((4, 2)), axes=([1], [1])).shape
    (2, 4, 4)
    """
    function = "scipy.signal.convolve"
    if method not in ("auto", "direct", "fft"):
        raise errors.ArgumentError(
            f"{function}: method is 'auto', 'direct' or 'fft', not {method!r}"
        )
    if axes is not None or dot_axes is not None:
        if method == "fft":
            raise errors.ArgumentError(f"{function}: axes and dot_axes need method 'direct'")
        return _along(in1, in2, mode, axes, dot_axes, precision, function)
    if method == "fft":
        return fftconvolve(in1, in2, mode)
    x, y = _longer_first(*_operands(in1, in2, mode, function), mode, function)
    return _slid(x, y, _padded(y.shape, mode), precision)


def _along(
    in1: Any, in2: Any, mode: str, axes: Any, dot_axes: Any, precision: Any, function: str
) -> Array:
    """The convolution along pairs of axes, with sums over others: `convolve` with `axes`."""
    x, y = _operands(in1, in2, mode, function, equal_ranks=axes is None)
    summed = _pairs((x, y), dot_axes if dot_axes is not None else ((), ()), "dot_axes", function)
    if axes is None:
        axes = [
            [i for i in range(v.ndim) if i not in s] for v, s in zip((x, y), summed, strict=True)
        ]
    slid = _pairs((x, y), axes, "axes", function)
    if any(set(s) & set(t) for s, t in zip(slid, summed, strict=True)):
        raise errors.AxisError(f"{function}: an axis is in axes and in dot_axes")
    for i, j in zip(*summed, strict=True):
        if x.shape[i] != y.shape[j]:
            raise errors.ShapeError(
                f"{function}: axis {i} of in1 and axis {j} of in2 are summed over together, but "
                f"their lengths are {x.shape[i]} and {y.shape[j]}"
            )
    parts = [_parts(v, s, t) for v, s, t in zip((x, y), slid, summed, strict=True)]
    (first, rest), (second, others) = parts
    if not slid[0]:
        return contraction.matmul(first, second.T).reshape((*rest, *others))  # type: ignore[no-any-return]
    lengths = first.shape[2:], second.shape[2:]
    swapped = mode == "valid" and any(n < m for n, m in zip(*lengths, strict=True))
    if swapped:
        if any(n > m for n, m in zip(*lengths, strict=True)):
            raise errors.ShapeError(
                f"{function}: for mode 'valid' one signal must be at least as long as the other "
                f"along every axis, got the lengths {lengths[0]} and {lengths[1]}"
            )
        first, second = second, first
    turned = rev(second, axes=tuple(range(2, second.ndim)))
    pads = _padded(second.shape[2:], mode)
    result = conv_general_dilated(first, turned, (1,) * len(pads), pads, precision=precision)
    if swapped:
        result = shapes.swapaxes(result, 0, 1)
    return result.reshape((*rest, *others, *result.shape[2:]))  # type: ignore[no-any-return]


def _pairs(
    arrays: tuple[Array, Array], axes: Any, argument: str, function: str
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A list of axes for each of two arrays, as many of either."""
    if not isinstance(axes, tuple | list) or len(axes) != 2:
        raise errors.ArgumentError(
            f"{function}: {argument} is a list of axes of in1 and one of in2, not {axes!r}"
        )
    first, second = (check_axes(a, x.ndim, function) for a, x in zip(axes, arrays, strict=True))
    if len(first) != len(second):
        raise errors.ArgumentError(
            f"{function}: {argument} names {len(first)} axes of in1 and {len(second)} of in2"
        )
    return first, second


def _parts(x: Array, slid: Sequence[int], summed: Sequence[int]) -> tuple[Array, tuple[int, ...]]:
    """An array as other axes, summed axes, convolved axes; and the lengths of the others."""
    others = [i for i in range(x.ndim) if i not in (*slid, *summed)]
    turned = shapes.transpose(x, (*others, *summed, *slid))
    count = len(others)
    last = turned.shape[count + len(summed) :]
    ends = math.prod(turned.shape[:count]), math.prod(turned.shape[count : count + len(summed)])
    return turned.reshape((*ends, *last)), turned.shape[:count]


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
    return _over_image(x, y, _padded(y.shape, mode), boundary, fillvalue, precision, function)


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
    pads = [(b, a) for a, b in _padded(y.shape, mode)] if mode == "same" else _padded(y.shape, mode)
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
