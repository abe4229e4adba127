"""Spectra of signals, from the Fourier transforms of segments that overlap.

Arguments and results are SciPy's.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.lazy import lazy
from arrayx.numpy import arithmetic, padding, repetition, shapes
from arrayx.numpy.fft import transforms
from arrayx.numpy.naming import at_home
from arrayx.numpy.ordering import median
from arrayx.numpy.promotion import as_array, as_type, check_axis, host_array, promoted_arrays
from arrayx.numpy.selection import where
from arrayx.numpy.statistics import mean
from arrayx.numpy.transcendental import conj, sqrt
from arrayx.primitives import complex as complex_parts
from arrayx.primitives.axes import rev
from arrayx.scipy.signal.detrending import detrend as without_trend

scipy_signal = lazy("scipy.signal")


class Segments(NamedTuple):
    """How a signal is cut: lengths of segments, of what they share, and of transforms."""

    window: Any
    length: int
    overlap: int
    transform: int

    @property
    def step(self) -> int:
        """How far the next segment is."""
        return self.length - self.overlap


def _segments(
    window: Any, nperseg: Any, noverlap: Any, nfft: Any, longest: int | None, function: str
) -> Segments:
    """Lengths that are told, or the usual ones; raises where they do not fit."""
    if isinstance(window, str | tuple):
        length = 256 if nperseg is None else int(nperseg)
        if length < 1:
            raise errors.ArgumentError(f"{function}: nperseg must be positive, got {nperseg}")
        length = length if longest is None else min(length, longest)
        shape: Any = scipy_signal.get_window(window, length)
    else:
        shape = window
        given = np.shape(window)
        if len(given) != 1 or (longest is not None and given[0] > longest):
            raise errors.ShapeError(
                f"{function}: the window must be a vector no longer than the signal, got shape "
                f"{given}"
            )
        length = given[0]
        if nperseg is not None and int(nperseg) != length:
            raise errors.ArgumentError(
                f"{function}: nperseg {nperseg} is not the window's length {length}"
            )
    transform = length if nfft is None else int(nfft)
    overlap = length // 2 if noverlap is None else int(noverlap)
    if transform < length or not 0 <= overlap < length:
        raise errors.ArgumentError(
            f"{function}: segments of {length} need nfft of at least that and noverlap less, got "
            f"{transform} and {overlap}"
        )
    return Segments(shape, length, overlap, transform)


def _extended(x: Array, boundary: str | None, reach: int, function: str) -> Array:
    """`x` with more elements at both ends of its last axis."""
    if boundary is None or reach == 0:
        return x
    pads = [(0, 0)] * (x.ndim - 1) + [(reach, reach)]
    if boundary == "zeros":
        return padding.pad(x, pads)
    if boundary == "constant":
        return padding.pad(x, pads, "edge")
    if boundary == "even":
        return padding.pad(x, pads, "reflect")
    if boundary == "odd":
        first, last = x[..., :1], x[..., -1:]
        turned = rev(x, axes=(x.ndim - 1,))
        n = x.shape[-1]
        before = arithmetic.subtract(arithmetic.multiply(first, 2), turned[..., n - 1 - reach : -1])
        behind = arithmetic.subtract(arithmetic.multiply(last, 2), turned[..., 1 : reach + 1])
        return shapes.concatenate([before, x, behind], x.ndim - 1)
    raise errors.ArgumentError(
        f"{function}: boundary is 'zeros', 'constant', 'even', 'odd' or None, not {boundary!r}"
    )


def _transformed(x: Array, cut: Segments, window: Array, trend: Any, onesided: bool) -> Array:
    """The transforms of the segments along the last axis: (…, segments, frequencies)."""
    count = (x.shape[-1] - cut.overlap) // cut.step
    places = np.arange(count)[:, None] * cut.step + np.arange(cut.length)
    parts = x[..., places]
    if callable(trend):
        parts = trend(parts)
    elif trend:
        parts = without_trend(parts, type=trend)
    parts = arithmetic.multiply(parts, window)
    if onesided:
        return transforms.rfft(parts, cut.transform)
    return transforms.fft(parts, cut.transform)


def _spectra(
    x: Any,
    y: Any,
    fs: Any,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    trend: Any,
    onesided: bool,
    scaling: str,
    axis: int,
    function: str,
    boundary: str | None = None,
    padded: bool = False,
    density: bool = True,
) -> tuple[Array, Any, Array]:
    """Frequencies, times, and spectra with their frequencies at `axis` and times last."""
    if scaling not in ("density", "spectrum"):
        raise errors.ArgumentError(
            f"{function}: scaling is 'density' or 'spectrum', not {scaling!r}"
        )
    given = (x,) if y is None or y is x else (x, y)
    signals = promoted_arrays(given, function, ("x", "y")[: len(given)])
    wide = dtypes.float_for(signals[0].dtype)
    signals = [as_type(s, wide) for s in signals]
    i = check_axis(axis, signals[0].ndim, function)
    signals = [shapes.moveaxis(s, i, -1) for s in signals]
    longest = max(s.shape[-1] for s in signals)
    if any(s.size == 0 for s in signals):
        raise errors.ShapeError(f"{function}: there are no elements in a signal")
    # A shorter signal is continued by zeros.
    signals = [
        padding.pad(s, [(0, 0)] * (s.ndim - 1) + [(0, longest - s.shape[-1])])
        if s.shape[-1] < longest
        else s
        for s in signals
    ]
    cut = _segments(window, nperseg, noverlap, nfft, longest, function)
    signals = [_extended(s, boundary, cut.length // 2, function) for s in signals]
    if padded:
        more = -(signals[0].shape[-1] - cut.length) % cut.step % cut.length
        signals = [padding.pad(s, [(0, 0)] * (s.ndim - 1) + [(0, more)]) for s in signals]
    real = dtypes.real_dtype(wide) if dtypes.is_complex(wide) else wide
    weights = _as_real(cut.window, real, signals[0])
    rate = as_type(as_array(fs, function, "fs"), real)
    if scaling == "density":
        scale = arithmetic.divide(
            1, arithmetic.multiply(rate, arithmetic.multiply(weights, weights).sum())
        )
    else:
        total = weights.sum()
        scale = arithmetic.divide(1, arithmetic.multiply(total, total))
    onesided = onesided and not dtypes.is_complex(wide)
    made = [_transformed(s, cut, weights, trend, onesided) for s in signals]
    if density:
        spectra = arithmetic.multiply(conj(made[0]), made[-1])
        spectra = arithmetic.multiply(spectra, scale)
        if onesided:
            # All frequencies but 0, and the last of an even number, stand for two.
            twice = np.full(spectra.shape[-1], 2.0)
            twice[0] = 1
            if cut.transform % 2 == 0:
                twice[-1] = 1
            spectra = arithmetic.multiply(spectra, _as_real(twice, real, signals[0]))
        if len(made) == 1:
            spectra = complex_parts.real(spectra)
    else:
        spectra = arithmetic.multiply(made[0], sqrt(scale))
    n = cut.transform
    frequencies = np.fft.rfftfreq(n) if onesided else np.fft.fftfreq(n)
    first = cut.length / 2
    times = np.arange(first, signals[0].shape[-1] - first + 1, cut.step)
    if boundary is not None:
        times = times - first
    return (
        arithmetic.multiply(_as_real(frequencies, real, signals[0]), rate),
        arithmetic.divide(_as_real(times, real, signals[0]), rate),
        shapes.moveaxis(spectra, -1, i),
    )


def _as_real(x: Any, dtype: Any, beside: Array) -> Array:
    """A constant in the dtype of the signal's parts."""
    x = host_array(x, [beside]) if isinstance(x, np.ndarray) else as_array(x)
    return as_type(x, dtype)


@at_home
def csd(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Frequencies, and the cross spectral density of two signals by Welch's method.

    Segments of `nperseg` samples that share `noverlap` are detrended, windowed and transformed;
    what they give is averaged ("mean" or "median").  With y None it is the density of `x`.

    Raises `ArgumentError` and `ShapeError` for lengths that do not fit.

    Source: P. Welch, IEEE Trans. Audio Electroacoust. 15 (1967) 70-73.

    >>> import numpy as np
    >>> frequencies, density = csd(np.ones(8), np.ones(8), nperseg=4)
    >>> frequencies.tolist(), density.shape
    ([0.0, 0.25, 0.5], (3,))
    """
    return _averaged(
        "csd",
        average,
        x=x,
        y=y,
        fs=fs,
        window=window,
        nperseg=nperseg,
        noverlap=noverlap,
        nfft=nfft,
        trend=detrend,
        onesided=return_onesided,
        scaling=scaling,
        axis=axis,
    )


def _averaged(name: str, average: str, **given: Any) -> tuple[Array, Array]:
    function = f"scipy.signal.{name}"
    if average not in ("mean", "median"):
        raise errors.ArgumentError(f"{function}: average is 'mean' or 'median', not {average!r}")
    frequencies, _, spectra = _spectra(**given, function=function)
    if average == "mean":
        return frequencies, mean(spectra, axis=-1)
    n = spectra.shape[-1]
    even = 2.0 * np.arange(1, (n - 1) // 2 + 1)
    # How far the median of so many exponentials is from their mean.
    bias = float(1 + np.sum(1 / (even + 1) - 1 / even))
    if dtypes.is_complex(spectra.dtype):
        middle = complex_parts.complex(
            median(complex_parts.real(spectra), axis=-1),
            median(complex_parts.imag(spectra), axis=-1),
        )
    else:
        middle = median(spectra, axis=-1)
    return frequencies, arithmetic.divide(middle, bias)


@at_home
def welch(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Frequencies, and the power spectral density of a signal by Welch's method; see `csd`.

    >>> import numpy as np
    >>> frequencies, density = welch(np.cos(np.arange(32.0)), nperseg=8)
    >>> density.shape
    (5,)
    """
    return _averaged(
        "welch",
        average,
        x=x,
        y=None,
        fs=fs,
        window=window,
        nperseg=nperseg,
        noverlap=noverlap,
        nfft=nfft,
        trend=detrend,
        onesided=return_onesided,
        scaling=scaling,
        axis=axis,
    )


@at_home
def stft(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
) -> tuple[Array, Array, Array]:
    """Frequencies, times, and the transforms of the segments of a signal.

    The signal is extended at both ends by half a segment ("zeros", "constant", "even", "odd" or
    None), and by zeros until segments fit (`padded`).  Times are the last axis.

    >>> import numpy as np
    >>> _, times, transforms = stft(np.ones(8), nperseg=4)
    >>> times.tolist(), transforms.shape
    ([0.0, 2.0, 4.0, 6.0, 8.0], (3, 5))
    """
    return _spectra(
        x,
        None,
        fs,
        window,
        nperseg,
        noverlap,
        nfft,
        detrend,
        return_onesided,
        "spectrum",
        axis,
        "scipy.signal.stft",
        boundary,
        padded,
        density=False,
    )


@at_home
def istft(
    Zxx: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
) -> tuple[Array, Array]:
    """Times, and the signal whose `stft` is `Zxx`: segments added up, divided by their windows.

    >>> import numpy as np
    >>> _, _, transforms = stft(np.arange(8.0), nperseg=4)
    >>> _, x = istft(transforms, nperseg=4)
    >>> [round(v, 3) + 0.0 for v in x.tolist()]
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    """
    function = "scipy.signal.istft"
    z = as_array(Zxx, function, "Zxx")
    t, f = check_axis(time_axis, z.ndim, function), check_axis(freq_axis, z.ndim, function)
    if t == f or z.ndim < 2:
        raise errors.AxisError(f"{function}: times and frequencies must be two axes of {z.aval}")
    others = [a for a in range(z.ndim) if a not in (t, f)]
    z = shapes.transpose(z, (*others, t, f))
    if not dtypes.is_complex(z.dtype):
        z = as_type(z, dtypes.complex_dtype(dtypes.float_for(z.dtype)))
    n = 2 * (z.shape[-1] - 1) if input_onesided else z.shape[-1]
    length = n if nperseg is None else int(nperseg)
    transform = (n + 1 if input_onesided and length == n + 1 else n) if nfft is None else int(nfft)
    cut = _segments(window, length, noverlap, transform, None, function)
    inverse = transforms.irfft if input_onesided else transforms.ifft
    parts = inverse(z, cut.transform)[..., : cut.length]
    real = dtypes.real_dtype(z.dtype)
    weights = _as_real(cut.window, real, z)
    parts = arithmetic.multiply(arithmetic.multiply(parts, weights), weights.sum())
    count = z.shape[-2]
    places = np.arange(count)[:, None] * cut.step + np.arange(cut.length)
    whole = cut.length + (count - 1) * cut.step
    # Where segments overlap they are added up; what their windows did is divided out.
    empty = as_type(host_array(np.zeros((*parts.shape[:-2], whole)), [z]), parts.dtype)
    signal = empty.at[..., places].add(parts)
    squares = arithmetic.multiply(weights, weights)
    norm = as_type(host_array(np.zeros(whole), [z]), real)
    norm = norm.at[places].add(repetition.tile(squares, (count, 1)))
    if boundary:
        inside = slice(cut.length // 2, whole - cut.length // 2)
        signal, norm = signal[..., inside], norm[inside]
    signal = arithmetic.divide(signal, where(norm > 1e-10, norm, 1.0))
    rate = as_type(as_array(fs, function, "fs"), real)
    times = arithmetic.divide(_as_real(np.arange(signal.shape[-1]), real, z), rate)
    if others:
        signal = shapes.moveaxis(signal, -1, t - (f < t))
    return times, signal
