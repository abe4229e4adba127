"""Fourier transforms over any axes, of any length, with any of the three norms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy.promotion import as_array, as_type, check_axes, check_axis
from arrayx.numpy.ranges import concrete_index
from arrayx.numpy.shapes import moveaxis
from arrayx.primitives.arithmetic import mul
from arrayx.primitives.creation import zero_literal
from arrayx.primitives.fft import fft as primitive
from arrayx.primitives.matrices import conjugate
from arrayx.primitives.slicing import cut, padded

# The primitive transforms so many axes at once.
_MOST_AXES = 3
_SWAPPED = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _norm(norm: str | None, function: str) -> str:
    if norm not in (None, *_SWAPPED):
        raise errors.ArgumentError(
            f"{function}: norm is 'backward', 'ortho' or 'forward', got {norm!r}"
        )
    return norm or "backward"


def _operand(a: Any, kind: str, function: str) -> Array:
    """The argument in a dtype that can be transformed: at least 32 bits, complex if need be."""
    x = as_array(a, function, "a")
    dtype = dtypes.accumulation_dtype(dtypes.float_for(x.dtype))
    if kind != "rfft":
        return as_type(x, dtypes.complex_dtype(dtype))
    if dtypes.is_complex(dtype):
        raise errors.DtypeError(f"{function} takes real numbers, got {dtype}: take anp.fft.fft")
    return as_type(x, dtype)


def _lengths(x: Array, kind: str, s: Any, axes: Sequence[int], function: str) -> list[int]:
    """The length of the transform along each axis, where none is given that of the array."""
    word = "s" if len(axes) != 1 or function.endswith("n") else "n"
    given = (
        [None] * len(axes)
        if s is None
        else [None if n is None else concrete_index(n, function, word) for n in s]
    )
    if len(given) != len(axes):
        raise errors.ShapeError(
            f"{function}: {len(given)} lengths {tuple(given)} for the axes {tuple(axes)}"
        )
    lengths = []
    for i, (n, axis) in enumerate(zip(given, axes, strict=True)):
        own = x.shape[axis]
        if kind == "irfft" and i == len(axes) - 1:
            own = 2 * (own - 1)
        length = own if n is None or n == -1 else n
        if length < 1:
            raise errors.ShapeError(
                f"{function}: a transform of {length} elements along axis {axis} of shape {x.shape}"
            )
        lengths.append(length)
    return lengths


def _resized(x: Array, axis: int, length: int) -> Array:
    """`x` cut off, or continued with zeros, along one axis."""
    own = x.shape[axis]
    if length <= own:
        return cut(x, axis, 0, length)  # type: ignore[no-any-return]
    return padded(x, axis, 0, length - own, zero_literal(x.dtype))  # type: ignore[no-any-return]


def _transform(a: Any, kind: str, s: Any, axes: Any, norm: str | None, function: str) -> Array:
    word = _norm(norm, function)
    x = _operand(a, kind, function)
    if axes is None:
        axes = tuple(range(x.ndim)) if s is None else tuple(range(-len(s), 0))
    places = check_axes(axes, x.ndim, function)
    if not places:
        if kind in ("rfft", "irfft"):
            raise errors.AxisError(f"{function} needs at least one axis")
        return x
    lengths = _lengths(x, kind, s, places, function)
    for axis, n in zip(places, lengths, strict=True):
        half = kind == "irfft" and axis == places[-1]
        x = _resized(x, axis, n // 2 + 1 if half else n)
    behind = tuple(range(x.ndim - len(places), x.ndim))
    x = moveaxis(x, places, behind)
    last = tuple(lengths[-_MOST_AXES:])
    groups = [
        range(max(0, end - _MOST_AXES), end)
        for end in range(len(lengths) - _MOST_AXES, 0, -_MOST_AXES)
    ]
    complex_kind = {"rfft": "fft", "irfft": "ifft"}.get(kind, kind)
    if kind == "irfft":
        for group in groups:
            x = _over_group(x, complex_kind, lengths, group)
    x = primitive(x, kind=kind, lengths=last)
    if kind != "irfft":
        for group in groups:
            x = _over_group(x, complex_kind, lengths, group)
    size, inverse = math.prod(lengths), kind in ("ifft", "irfft")
    if word != "backward":
        power = 0.5 if word == "ortho" else 1.0
        factor = size ** (power if inverse else -power)
        x = mul(x, type(zero_literal(x.dtype))(factor))
    return moveaxis(x, behind, places)


def _over_group(x: Array, kind: str, lengths: Sequence[int], group: range) -> Array:
    """A complex transform over some of the axes behind, counted from the first of those."""
    first = x.ndim - len(lengths)
    places = [first + i for i in group]
    end = tuple(range(x.ndim - len(places), x.ndim))
    moved = moveaxis(x, places, end)
    result = primitive(moved, kind=kind, lengths=tuple(lengths[i] for i in group))
    return moveaxis(result, end, places)


def _along(a: Any, kind: str, n: Any, axis: int, norm: str | None, function: str) -> Array:
    """A transform along one axis."""
    x = as_array(a, function, "a")
    place = check_axis(axis, x.ndim, function)
    return _transform(x, kind, None if n is None else (n,), (place,), norm, function)


def fft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The discrete Fourier transform along one axis, cut or continued with zeros to length `n`.

    `norm` says who divides by n: "backward" (None; the inverse), "forward", or "ortho" (both, by
    its root).  The result is complex, of the precision of `a`.

    >>> import arrayx.numpy as anp
    >>> anp.fft.fft(anp.array([1.0, 0.0])).real.tolist()
    [1.0, 1.0]
    """
    return _along(a, "fft", n, axis, norm, "fft")


def ifft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of `fft`.

    >>> import arrayx.numpy as anp
    >>> anp.fft.ifft(anp.array([1.0, 1.0])).real.tolist()
    [1.0, 0.0]
    """
    return _along(a, "ifft", n, axis, norm, "ifft")


def rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The first n // 2 + 1 frequencies of `fft`, of real numbers; the others are conjugates.

    >>> import arrayx.numpy as anp
    >>> anp.fft.rfft(anp.ones(4)).real.tolist()
    [4.0, 0.0, 0.0]
    """
    return _along(a, "rfft", n, axis, norm, "rfft")


def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of `rfft`: `n` real numbers, by default 2 (m - 1) for m frequencies.

    >>> import arrayx.numpy as anp
    >>> anp.fft.irfft(anp.array([4.0, 0.0, 0.0])).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return _along(a, "irfft", n, axis, norm, "irfft")


def hfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The real transform of a signal that is the conjugate of its own reverse, from its half.

    >>> import arrayx.numpy as anp
    >>> anp.fft.hfft(anp.array([1.0, 0.0])).tolist()
    [1.0, 1.0]
    """
    x = conjugate(as_array(a, "hfft", "a"))
    return _along(x, "irfft", n, axis, _SWAPPED[_norm(norm, "hfft")], "hfft")


def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of `hfft`.

    >>> import arrayx.numpy as anp
    >>> anp.fft.ihfft(anp.array([1.0, 1.0])).real.tolist()
    [1.0, 0.0]
    """
    result = _along(a, "rfft", n, axis, _SWAPPED[_norm(norm, "ihfft")], "ihfft")
    return conjugate(result)  # type: ignore[no-any-return]


def fftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """`fft` over several axes, all by default, cut or continued to the lengths `s`.

    >>> import arrayx.numpy as anp
    >>> float(anp.fft.fftn(anp.ones((2, 2)))[0, 0].real)
    4.0
    """
    return _transform(a, "fft", s, axes, norm, "fftn")


def ifftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """The inverse of `fftn`.

    >>> import arrayx.numpy as anp
    >>> float(anp.fft.ifftn(anp.ones((2, 2)))[0, 0].real)
    1.0
    """
    return _transform(a, "ifft", s, axes, norm, "ifftn")


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """`rfft` along the last axis, then `fft` over the others.

    >>> import arrayx.numpy as anp
    >>> anp.fft.rfftn(anp.ones((2, 4))).shape
    (2, 3)
    """
    return _transform(a, "rfft", s, axes, norm, "rfftn")


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """The inverse of `rfftn`.

    >>> import arrayx.numpy as anp
    >>> anp.fft.irfftn(anp.ones((2, 3))).shape
    (2, 4)
    """
    return _transform(a, "irfft", s, axes, norm, "irfftn")


def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Array:
    """`fft` over two axes.

    >>> import arrayx.numpy as anp
    >>> anp.fft.fft2(anp.ones((3, 2, 4))).shape
    (3, 2, 4)
    """
    return _transform(a, "fft", s, axes, norm, "fft2")


def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Array:
    """The inverse of `fft2`.

    >>> import arrayx.numpy as anp
    >>> anp.fft.ifft2(anp.ones((3, 2, 4))).shape
    (3, 2, 4)
    """
    return _transform(a, "ifft", s, axes, norm, "ifft2")


def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Array:
    """`rfft` along the last of two axes, then `fft` along the first.

    >>> import arrayx.numpy as anp
    >>> anp.fft.rfft2(anp.ones((2, 4))).shape
    (2, 3)
    """
    return _transform(a, "rfft", s, axes, norm, "rfft2")


def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Array:
    """The inverse of `rfft2`.

    >>> import arrayx.numpy as anp
    >>> anp.fft.irfft2(anp.ones((2, 3))).shape
    (2, 4)
    """
    return _transform(a, "irfft", s, axes, norm, "irfft2")
