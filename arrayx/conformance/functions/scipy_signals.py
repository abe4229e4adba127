"""Rows of signals and images: filtering, spectra, interpolation, resizing, iterative solutions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import fft as scipy_fft
from scipy import integrate as scipy_integrate
from scipy import interpolate as scipy_interpolate
from scipy import ndimage as scipy_ndimage
from scipy import signal as scipy_signal

from arrayx import image
from arrayx.conformance.case import INEXACT, Case, Operand
from arrayx.conformance.public import public
from arrayx.lax import stop_gradient

WIDE = ("float32", "float64")


def near(name: str, operands: Any, params: Any = None, reference: Any = None, **facts: Any) -> Case:
    """A row whose errors are those of a sum over the first operand."""
    facts = {"ulps": 256.0, "special": False, "signed_zeros": False, **facts}
    return public(name, operands, params, reference, facts.pop("dtypes", WIDE), **facts)


def total(x: Any, *others: Any, **params: Any) -> Any:
    size = 1.0 + np.sum(np.abs(x))
    for other in others:
        size = size * (1.0 + np.sum(np.abs(other)))
    return size


def sized(reference: Any) -> Any:
    """The scale of each result: what sums of all elements may be off by."""
    return lambda *xs, **params: tuple(
        total(*xs) + 0 * np.abs(r) for r in _several(reference(*xs, **params))
    )


def _several(result: Any) -> Any:
    return result if isinstance(result, tuple) else (result,)


def read(x: Any, rows: Any, columns: Any, order: int, mode: str) -> Any:
    words = {"constant": "grid-constant", "wrap": "grid-wrap"}
    return scipy_ndimage.map_coordinates(
        x, [rows, columns], order=order, mode=words.get(mode, mode), cval=2.0
    )


def reading(function: Any, x: Any, rows: Any, columns: Any, order: int, mode: str) -> Any:
    if function is read:
        return read(x, rows, columns, order, mode)
    return function(x, [rows, columns], order, mode, 2.0)


POINTS = (np.array([0.0, 1.0, 3.0]), np.array([-1.0, 0.0]))


def interpolated(values: Any, places: Any) -> Any:
    f = scipy_interpolate.RegularGridInterpolator(
        POINTS, values, bounds_error=False, fill_value=None
    )
    return f(places)


def on_grid(function: Any, values: Any, places: Any) -> Any:
    if function is interpolated:
        return interpolated(values, places)
    return function(POINTS, values, fill_value=None)(places)


def kernel(method: str, distance: float) -> float:
    """The weight of an element at a distance, by the formulas of the literature."""
    x = abs(distance)
    if method == "linear":
        return max(0.0, 1 - x)
    if method == "cubic":
        if x < 1:
            return 1.5 * x**3 - 2.5 * x**2 + 1
        return -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2 if x < 2 else 0.0
    return float(np.sinc(x) * np.sinc(x / 3)) if x < 3 else 0.0


def resampled(x: Any, n: int, scale: float, shift: float, method: str) -> Any:
    """Along the first axis, one new element after the other."""
    out = np.zeros((n, *x.shape[1:]), x.dtype)
    width = max(1.0, 1 / scale)
    for i in range(n):
        place = (i + 0.5 - shift) / scale - 0.5
        weights = np.array([kernel(method, (place - j) / width) for j in range(len(x))])
        if -0.5 <= place <= len(x) - 0.5:
            out[i] = np.tensordot(weights / weights.sum(), x, 1)
    return out


def resized(x: Any, shape: Any, method: str) -> Any:
    for axis, n in enumerate(shape):
        moved = np.moveaxis(x, axis, 0)
        if method == "nearest":
            places = np.floor((np.arange(n) + 0.5) * len(moved) / n).astype(int)
            moved = moved[places]
        elif n != len(moved):
            moved = resampled(moved, n, n / len(moved), 0.0, method)
        x = np.moveaxis(moved, 0, axis)
    return x


def translated(x: Any, scale: Any, translation: Any, **params: Any) -> Any:
    return resampled(x, 4, float(scale[0]), float(translation[0]), "linear")


def translating(function: Any, x: Any, scale: Any, translation: Any, **params: Any) -> Any:
    if function is translated:
        return translated(x, scale, translation)
    return image.scale_and_translate(x, (4, 2), (0,), scale, translation, "linear")


def solved(b: Any, **params: Any) -> Any:
    return np.linalg.solve(MATRIX, b)


def solving(function: Any, b: Any) -> Any:
    if function is solved:
        return solved(b)
    return function(MATRIX.astype(np.float64), b, tol=1e-12)[0]


MATRIX = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]])


def lowest(x: Any) -> Any:
    return x


def minimizing(function: Any, x: Any) -> Any:
    if function is lowest:
        return lowest(x)
    # The minimum of a bowl is at its centre; its derivative is that of the search, not checked.
    found = function(lambda v: ((v - x) ** 2 * np.array([1.0, 3.0])).sum(), x * 0, method="BFGS")
    return stop_gradient(found.x)


VECTORS = ((5,), (3,))
IMAGES = ((3, 4), (2, 2))
PLACES = (Operand((4,), domain=(-0.7, 2.6)), Operand((4,), domain=(-0.7, 3.6)))


def nearest_entries(obs: Any, code_book: Any) -> Any:
    """The places and distances of the nearest entries, from all distances."""
    points, book = (x.reshape(len(x), -1) for x in (obs, code_book))
    distances = np.sqrt(((points[:, None] - book[None]) ** 2).sum(-1))
    return distances.argmin(-1).astype(np.int32), distances.min(-1)


def along_axes(x: Any, y: Any, mode: str, axes: Any, dot_axes: Any) -> Any:
    """The convolution of rows of `x` with columns of `y`, summed over pairs of them."""
    return np.array(
        [
            sum(scipy_signal.convolve(x[i], y[:, j, i], mode) for i in range(len(x)))
            for j in range(y.shape[1])
        ]
    )


def decays(function: Any, y: Any, t: Any, rate: Any) -> Any:
    """Solves an equation whose slope depends on the state, the time and an argument."""
    return function(lambda y, t, rate: t - rate[0] * y * y[::-1], y, t, (rate,))


def integrated(func: Any, y: Any, t: Any, args: Any) -> Any:
    return scipy_integrate.odeint(func, y, t, args, rtol=1e-12, atol=1e-12)


CASES = (
    *(
        near(
            "scipy.integrate.odeint",
            (
                Operand((2,), domain=(0.5, 2)),
                Operand((3,), values=[0.0, 0.3, 1.0]),
                Operand((1,), domain=(0.5, 1)),
            ),
            form=decays,
            reference=integrated,
            dtypes=(dtype,),
            ulps=ulps,
            scale=lambda y, t, rate: 1.0,
            second_order=False,  # for its time: tests/scipy/test_integrate.py has them
            label=dtype,
        )
        # The tolerance is 1.4e-8 for a step, and in float32 that of its rounding.
        for dtype, ulps in (("float64", 2.0**30), ("float32", 256.0))
    ),
    *(
        near(
            f"scipy.signal.{name}",
            operands,
            {"mode": mode},
            dtypes=INEXACT,
            scale=total,
            label=f"{mode}_{len(operands[0])}",
        )
        for name in ("convolve", "correlate", "fftconvolve")
        for operands, mode in ((VECTORS, "full"), (VECTORS, "same"), (IMAGES, "valid"))
    ),
    *(
        near(
            "scipy.signal.convolve",
            ((3, 5), (4, 2, 3)),
            {"mode": mode, "axes": ((1,), (0,)), "dot_axes": ((0,), (2,))},
            along_axes,
            dtypes=INEXACT,
            scale=total,
            label=f"axes_{mode}",
        )
        for mode in ("full", "same", "valid")
    ),
    near(
        "scipy.signal.convolve",
        ((2, 3), (2, 4)),
        {"axes": ((1,), (1,))},
        lambda x, y, axes: np.array([[np.convolve(a, b) for b in y] for a in x]),
        scale=total,
        label="axes_apart",
    ),
    *(
        near(
            f"scipy.signal.{name}",
            IMAGES,
            {"mode": mode, "boundary": boundary},
            dtypes=INEXACT,
            scale=total,
            label=f"{mode}_{boundary}",
        )
        for name in ("convolve2d", "correlate2d")
        for mode, boundary in (("full", "fill"), ("same", "wrap"), ("same", "symm"))
    ),
    near("scipy.signal.detrend", ((2, 5),), {"type": "linear", "bp": 2}, scale=total),
    near(
        "scipy.signal.welch",
        ((16,),),
        {"nperseg": 8},
        ulps=2048.0,
        scale=lambda x, **_: (1.0, total(x) ** 2),
    ),
    near(
        "scipy.signal.csd",
        ((16,), (16,)),
        {"nperseg": 8},
        ulps=2048.0,
        scale=lambda x, y, **_: (1.0, total(x, y)),
    ),
    near("scipy.signal.stft", ((12,),), {"nperseg": 4}, scale=lambda x, **_: (1.0, 16.0, total(x))),
    near(
        "scipy.signal.istft",
        (Operand((3, 7), dtype="complex128"),),
        {"nperseg": 4},
        dtypes=("complex128",),
        scale=lambda x, **_: (16.0, total(x)),
    ),
    *(
        near(
            "scipy.ndimage.map_coordinates",
            ((3, 4), *PLACES),
            {"order": 1, "mode": mode},
            read,
            dtypes=("float64",),
            form=reading,
            scale=total,
            label=mode,
        )
        for mode in ("constant", "nearest", "wrap", "mirror", "reflect")
    ),
    near(
        "scipy.ndimage.map_coordinates",
        ((3, 4), *PLACES),
        {"order": 0, "mode": "nearest"},
        read,
        form=reading,
        differentiable=(0,),
        label="order_0",
    ),
    *(
        near(
            f"scipy.fft.{name}",
            ((2, 5),),
            {"norm": norm},
            getattr(scipy_fft, name),
            scale=total,
            label=str(norm),
        )
        for name in ("dct", "idct")
        for norm in (None, "ortho")
    ),
    near("scipy.fft.dctn", ((2, 4),), {"s": (3, 3)}, scipy_fft.dctn, scale=total),
    near("scipy.fft.idctn", ((2, 4),), {"axes": (0,)}, scipy_fft.idctn, scale=total),
    *(
        near(
            "scipy.cluster.vq.vq",
            shapes,
            None,
            nearest_entries,
            scale=sized(nearest_entries),
            label=f"{len(shapes[0])}-axes",
        )
        for shapes in (((5, 3), (4, 3)), ((5,), (4,)))
    ),
    near(
        "scipy.integrate.trapezoid",
        ((2, 4), (4,)),
        None,
        lambda y, x: np.trapezoid(y, x),
        scale=total,
    ),
    near(
        "scipy.interpolate.RegularGridInterpolator",
        ((3, 2), Operand((4, 2), domain=(-0.9, 2.9))),
        None,
        interpolated,
        dtypes=("float64",),
        form=on_grid,
        scale=total,
        placed=False,  # its points are made into arrays before it is called
    ),
    *(
        near(
            "image.resize",
            ((4, 3),),
            {"shape": shape, "method": method},
            resized,
            scale=total,
            label=f"{method}_{shape[0]}",
        )
        for method, shape in (
            ("nearest", (3, 5)),
            ("linear", (7, 2)),
            ("cubic", (3, 5)),
            ("lanczos3", (6, 3)),
        )
    ),
    near(
        "image.scale_and_translate",
        ((3, 2), Operand((1,), domain=(1.1, 1.4)), Operand((1,), domain=(0.1, 0.2))),
        None,
        translated,
        dtypes=("float64",),
        form=translating,
        scale=total,
    ),
    *(
        near(
            f"scipy.sparse.linalg.{name}",
            ((3,),),
            None,
            solved,
            dtypes=("float64",),
            form=solving,
            ulps=2.0**16,
            scale=total,
        )
        for name in ("cg", "bicgstab", "gmres")
    ),
    near(
        "scipy.optimize.minimize",
        ((2,),),
        None,
        lowest,
        dtypes=("float64",),
        form=minimizing,
        ulps=2.0**36,
        scale=total,
        differentiable=(),
        second_order=False,
    ),
)
