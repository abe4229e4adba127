"""Cosine transforms, which are Fourier transforms of even signals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, padding, shapes
from arrayx.numpy.fft import transforms
from arrayx.numpy.promotion import as_array, as_type, check_axes, check_axis, host_array
from arrayx.primitives import complex as complex_parts
from arrayx.primitives.axes import rev

__all__ = ["dct", "dctn", "idct", "idctn"]


def _read(x: Any, type: int, norm: str | None, function: str) -> tuple[Array, Any]:
    """The signal in at least float32, and the dtype of the result."""
    if type != 2:
        raise errors.UnsupportedError(f"{function}: only type 2 is supported, not {type!r}")
    if norm not in (None, "backward", "ortho", "forward"):
        raise errors.ArgumentError(
            f"{function}: norm is None, 'backward', 'ortho' or 'forward', not {norm!r}"
        )
    signal = as_array(x, function, "x")
    if dtypes.is_complex(signal.dtype):
        raise errors.DtypeError(f"{function} takes real signals, not {signal.dtype}")
    dtype = dtypes.float_for(signal.dtype)
    return as_type(signal, dtypes.accumulation_dtype(dtype)), dtype


def _fitted(x: Array, n: int | None, axis: int, function: str) -> Array:
    """`x` cut off or continued by zeros, so that an axis has length `n`."""
    length = x.shape[axis] if n is None else int(n)
    if length < 1:
        raise errors.ShapeError(f"{function}: the signal must have elements, not {length}")
    if length > x.shape[axis]:
        pads = [(0, 0)] * x.ndim
        pads[axis] = (0, length - x.shape[axis])
        return padding.pad(x, pads)
    return x[(slice(None),) * axis + (slice(0, length),)]


def _turns(n: int, x: Array, sign: float) -> Any:
    """What turns the transform of the reordered signal into that of the even one."""
    angles = sign * np.pi * np.arange(n) / (2 * n)
    dtype = dtypes.complex_dtype(x.dtype)
    return as_type(host_array(np.exp(1j * angles), [x]), dtype)


def _dct(x: Array, norm: str | None) -> Array:
    """Along the last axis.  Source: Makhoul, IEEE Trans. ASSP 28 (1980) 27-34."""
    n = x.shape[-1]
    odd = rev(x[..., 1::2], axes=(x.ndim - 1,))
    spectrum = transforms.fft(shapes.concatenate([x[..., ::2], odd], x.ndim - 1))
    result = complex_parts.real(arithmetic.multiply(spectrum, _turns(n, x, -1)))
    return arithmetic.multiply(result, _scale(n, x, norm))


def _idct(y: Array, norm: str | None) -> Array:
    """The inverse of `_dct`."""
    n = y.shape[-1]
    y = arithmetic.divide(y, _scale(n, y, norm))
    turned = rev(y[..., 1:], axes=(y.ndim - 1,))
    pads = [(0, 0)] * (y.ndim - 1) + [(1, 0)]
    spectrum = complex_parts.complex(y, arithmetic.negative(padding.pad(turned, pads)))
    signal = transforms.ifft(arithmetic.multiply(spectrum, _turns(n, y, 1)))
    real = complex_parts.real(signal)
    half = (n + 1) // 2
    # Those in front were the even places, those behind the odd ones from the end.
    places = np.empty(n, np.int64)
    places[::2], places[1::2] = np.arange(half), np.arange(n - 1, half - 1, -1)
    return real[..., places]  # type: ignore[no-any-return]


def _scale(n: int, x: Array, norm: str | None) -> Any:
    """The factors of the transform's elements."""
    factors = np.full(n, 2.0)
    if norm == "forward":
        factors /= 2 * n
    elif norm == "ortho":
        factors *= np.sqrt(1 / (2 * n))
        factors[0] *= np.sqrt(1 / 2)
    return as_type(host_array(factors, [x]), x.dtype)


def _along(
    x: Any, type: int, n: int | None, axis: int, norm: str | None, name: str, transform: Any
) -> Array:
    function = f"scipy.fft.{name}"
    signal, dtype = _read(x, type, norm, function)
    i = check_axis(axis, signal.ndim, function)
    moved = shapes.moveaxis(_fitted(signal, n, i, function), i, -1)
    return as_type(shapes.moveaxis(transform(moved, norm), -1, i), dtype)


def dct(
    x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """The cosine transform: y[k] = 2 sum over j of x[j] cos(pi k (2j + 1) / 2n).

    The signal is cut off or continued by zeros to `n` samples.  With norm "ortho" the transform
    is orthogonal, with "forward" it is divided by 2n.

    Raises `UnsupportedError` for a type other than 2, `DtypeError` for complex signals.

    >>> import numpy as np
    >>> [round(v, 3) + 0.0 for v in dct(np.array([1.0, 1.0])).tolist()]
    [4.0, 0.0]
    """
    return _along(x, type, n, axis, norm, "dct", _dct)


def idct(
    x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """The inverse of `dct`.

    >>> import numpy as np
    >>> [round(v, 3) for v in idct(dct(np.array([1.0, 2.0, 4.0]))).tolist()]
    [1.0, 2.0, 4.0]
    """
    return _along(x, type, n, axis, norm, "idct", _idct)


def _over_axes(
    x: Any, type: int, s: Any, axes: Any, norm: str | None, name: str, transform: Any
) -> Array:
    function = f"scipy.fft.{name}"
    signal, dtype = _read(x, type, norm, function)
    if axes is None:
        axes = range(signal.ndim) if s is None else range(signal.ndim - len(s), signal.ndim)
    over = check_axes(tuple(axes), signal.ndim, function)
    lengths = [None] * len(over) if s is None else list(s)
    if len(lengths) != len(over):
        raise errors.ShapeError(
            f"{function}: there are {len(lengths)} lengths for {len(over)} axes"
        )
    for i, n in zip(over, lengths, strict=True):
        moved = shapes.moveaxis(_fitted(signal, n, i, function), i, -1)
        signal = shapes.moveaxis(transform(moved, norm), -1, i)
    return as_type(signal, dtype)


def dctn(
    x: Any,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """The cosine transform over several axes, by default all; `s` are their lengths.

    >>> import numpy as np
    >>> [[round(v, 3) + 0.0 for v in row] for row in dctn(np.ones((2, 2))).tolist()]
    [[16.0, 0.0], [0.0, 0.0]]
    """
    return _over_axes(x, type, s, axes, norm, "dctn", _dct)


def idctn(
    x: Any,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """The inverse of `dctn`.

    >>> import numpy as np
    >>> [[round(v, 3) + 0.0 for v in row] for row in idctn(dctn(np.eye(2))).tolist()]
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return _over_axes(x, type, s, axes, norm, "idctn", _idct)
