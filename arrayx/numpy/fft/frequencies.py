"""The frequencies that elements of a transform stand for, and their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic
from arrayx.numpy.creation import asarray
from arrayx.numpy.promotion import as_array, as_type, check_axes, host_array
from arrayx.numpy.repetition import roll


def _frequencies(
    make: Callable[..., Any], n: Any, d: Any, dtype: Any, device: Any, function: str
) -> Array:
    if not hasattr(n, "__index__") or n.__index__() < 1:
        raise errors.ArgumentError(f"{function}: n is a positive integer, got {n!r}")
    target = dtypes.default_float() if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(d, int | float):
        return asarray(make(n.__index__(), d).astype(target), device=device)
    distance = as_array(d, function, "d")
    if dtype is None and not distance.aval.weak_type:
        target = dtypes.float_for(distance.dtype)
    whole = host_array(make(n.__index__()).astype(target), (distance,))
    return arithmetic.divide(whole, as_type(distance, target))


def fftfreq(n: int, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies of `fft` of `n` samples that are `d` apart, in the default float dtype.

    >>> fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    return _frequencies(np.fft.fftfreq, n, d, dtype, device, "fftfreq")


def rfftfreq(n: int, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies of `rfft` of `n` samples that are `d` apart, in the default float dtype.

    >>> rfftfreq(4).tolist()
    [0.0, 0.25, 0.5]
    """
    return _frequencies(np.fft.rfftfreq, n, d, dtype, device, "rfftfreq")


def fftshift(x: Any, axes: Any = None) -> Array:
    """The frequency 0 moved to the middle of the axes, of all by default.

    >>> import arrayx.numpy as anp
    >>> fftshift(anp.arange(4)).tolist()
    [2, 3, 0, 1]
    """
    a = as_array(x, "fftshift", "x")
    places = check_axes(axes, a.ndim, "fftshift")
    return roll(a, tuple(a.shape[i] // 2 for i in places), places)


def ifftshift(x: Any, axes: Any = None) -> Array:
    """The inverse of `fftshift`.

    >>> import arrayx.numpy as anp
    >>> ifftshift(fftshift(anp.arange(5))).tolist()
    [0, 1, 2, 3, 4]
    """
    a = as_array(x, "ifftshift", "x")
    places = check_axes(axes, a.ndim, "ifftshift")
    return roll(a, tuple(-(a.shape[i] // 2) for i in places), places)
