"""Signals, interpolation, minima and iterative solvers, where the case table says too little."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.signal

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors
from arrayx.scipy import fft, interpolate, ndimage, optimize, signal
from arrayx.scipy.sparse import linalg


@pytest.mark.parametrize("boundary", ("zeros", "even", "odd", "constant", None))
def test_segments_are_those_of_scipy(boundary: Any) -> None:
    x = np.random.default_rng(0).normal(size=(2, 40))
    params = {"nperseg": 8, "noverlap": 3, "nfft": 12, "boundary": boundary}
    got, wanted = signal.stft(x, **params), scipy.signal.stft(x, **params)
    for g, w in zip(got, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(g), w, rtol=1e-9, atol=1e-12)


SPECTRA: tuple[dict[str, Any], ...] = (
    {"average": "median"},
    {"scaling": "spectrum", "window": "hamming"},
    {"return_onesided": False, "detrend": "linear"},
    {"nfft": 13, "noverlap": 2, "detrend": False, "fs": 10.0},
)


@pytest.mark.parametrize("options", SPECTRA, ids=str)
def test_spectra_are_those_of_scipy(options: Any) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 40)), rng.normal(size=(2, 40))
    got, wanted = (s.csd(x, y, nperseg=8, **options) for s in (signal, scipy.signal))
    for g, w in zip(got, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(g), w, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore:NOLA")
@pytest.mark.parametrize("axes", ((1, 0), (0, 1), (2, 0), (0, 2), (1, 2)))
def test_times_and_frequencies_may_be_any_axes(axes: Any) -> None:
    rng = np.random.default_rng(2)
    z = rng.normal(size=(3, 5, 2)) + 1j * rng.normal(size=(3, 5, 2))
    given = {"time_axis": axes[0], "freq_axis": axes[1]}
    wanted = scipy.signal.istft(z, **given)[1]
    got = signal.istft(z, **given)[1]
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-9, atol=1e-12)


def test_a_signal_comes_back_from_its_segments_with_its_gradient() -> None:
    x = anp.asarray(np.random.default_rng(3).normal(size=16))

    def back(x: Any) -> Any:
        return signal.istft(signal.stft(x, nperseg=4)[2], nperseg=4)[1]

    np.testing.assert_allclose(np.asarray(back(x)), np.asarray(x), atol=1e-12)
    np.testing.assert_allclose(np.asarray(ax.jacrev(back)(x)), np.eye(16), atol=1e-12)


def test_a_grid_says_what_is_outside() -> None:
    points = (np.array([0.0, 1.0, 3.0]),)
    values = np.array([0.0, 10.0, 20.0])
    places = np.array([[-1.0], [0.4], [0.6], [4.0]])
    read = interpolate.RegularGridInterpolator
    assert read(points, values, "nearest", fill_value=7.0)(places).tolist() == [7, 0, 10, 7]
    assert read(points, values, fill_value=None)(places).tolist() == [-10, 4, 6, 25]


def rosenbrock(x: Any) -> Any:
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


@pytest.mark.parametrize("backend", ("numpy", "xla"))
def test_a_curved_valley_is_followed_to_its_end(backend: str) -> None:
    with ax.default_backend(backend):
        start = anp.asarray(np.array([-1.2, 1.0]))
        found = ax.jit(lambda x: optimize.minimize(rosenbrock, x, method="BFGS"))(start)
    assert bool(found.success) and int(found.status) == 0
    np.testing.assert_allclose(np.asarray(found.x), [1.0, 1.0], atol=1e-5)
    assert int(found.nit) < 60 and int(found.nfev) < 120


def test_too_few_steps_are_no_success() -> None:
    found = optimize.minimize(
        rosenbrock, np.array([-1.2, 1.0]), method="BFGS", options={"maxiter": 3}
    )
    assert not bool(found.success) and int(found.status) == 1 and int(found.nit) == 3


@pytest.mark.parametrize("solve", (linalg.cg, linalg.bicgstab, linalg.gmres))
def test_systems_of_trees_are_solved_with_gradients(solve: Any) -> None:
    rng = np.random.default_rng(4)
    root = rng.normal(size=(4, 4))
    matrix = root @ root.T + 4 * np.eye(4)

    def loss(b: Any) -> Any:
        x, info = solve(lambda v: {"v": anp.matmul(matrix, v["v"])}, {"v": b}, tol=1e-12)
        assert info is None
        return (x["v"] * np.arange(4)).sum()

    gradient = ax.grad(loss)(anp.asarray(rng.normal(size=4)))
    wanted = np.linalg.solve(matrix.T, np.arange(4.0))
    np.testing.assert_allclose(np.asarray(gradient), wanted, rtol=1e-8, atol=1e-10)


def test_complex_systems_are_solved() -> None:
    rng = np.random.default_rng(5)
    matrix = rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4)) + 5 * np.eye(4)
    b = rng.normal(size=4) + 1j * rng.normal(size=4)
    for solve in (linalg.bicgstab, linalg.gmres):
        x, _ = solve(matrix, b, tol=1e-10)
        np.testing.assert_allclose(matrix @ np.asarray(x), b, atol=1e-8)


X, Y = np.ones(4), np.ones((2, 2))
REFUSED: tuple[tuple[Any, str], ...] = (
    (lambda: signal.convolve(X, Y), "signals of one rank"),
    (lambda: signal.convolve(X, X, "some"), "mode is one of"),
    (lambda: signal.convolve2d(Y, np.ones((3, 1)), "valid"), "at least as long as the other"),
    (lambda: signal.convolve2d(Y, Y, boundary="none"), "boundary is one of"),
    (lambda: signal.detrend(X, type="quadratic"), "'linear' or 'constant'"),
    (lambda: signal.welch(X, nperseg=4, noverlap=4), "need nfft of at least that"),
    (lambda: signal.stft(X, boundary="mirror"), "boundary is 'zeros'"),
    (lambda: ndimage.map_coordinates(Y, [X], 1), "coordinates for 1 axes"),
    (lambda: ndimage.map_coordinates(X, [X], 3), "order is 0 or 1"),
    (lambda: fft.dct(X, type=3), "only type 2"),
    (lambda: optimize.minimize(rosenbrock, X, method="CG"), "the method is 'BFGS'"),
    (lambda: optimize.minimize(rosenbrock, Y, method="BFGS"), "must be a vector"),
    (lambda: linalg.cg(Y, X), "no square matrix for 4 unknowns"),
    (lambda: interpolate.RegularGridInterpolator((X,), Y), "as long as axis 0"),
    (lambda: ax.image.resize(Y, (3,), "linear"), "must have 2 entries"),
    (lambda: ax.image.resize(Y, (3, 3), "fancy"), "no method 'fancy'"),
)


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[m for _, m in REFUSED])
def test_what_cannot_be_done_is_said(call: Any, message: str) -> None:
    with pytest.raises(errors.ArrayxError, match=message):
        call()


CONVOLUTION_MISTAKES = {
    "no pair of lists": ({"axes": (1,)}, "a list of axes of in1 and one of in2"),
    "lists of unequal length": ({"axes": ((0, 1), (0,))}, "2 axes of in1 and 1 of in2"),
    "an axis in both": ({"axes": ((1,), (1,)), "dot_axes": ((1,), (0,))}, "in axes and in dot"),
    "unequal lengths": ({"axes": ((0,), (0,)), "dot_axes": ((1,), (1,))}, "lengths are 3 and 2"),
    "by transforms": ({"axes": ((1,), (1,)), "method": "fft"}, "need method 'direct'"),
}


@pytest.mark.parametrize(
    ("more", "words"), CONVOLUTION_MISTAKES.values(), ids=CONVOLUTION_MISTAKES.keys()
)
def test_mistakes_in_axes_of_a_convolution_are_named(more: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        signal.convolve(np.ones((2, 3)), np.ones((2, 2)), **more)


def test_convolution_along_no_axis_is_a_product_with_sums() -> None:
    x, y = np.arange(6.0).reshape(2, 3), np.arange(8.0).reshape(2, 4)
    got = signal.convolve(x, y, axes=((), ()), dot_axes=((0,), (0,)))
    np.testing.assert_allclose(np.asarray(got), np.tensordot(x, y, ((0,), (0,))))
    valid = signal.convolve(y[:, :2], y, "valid", axes=((1,), (1,)))
    want = [[np.convolve(a, b, "valid") for b in y] for a in y[:, :2]]
    np.testing.assert_allclose(np.asarray(valid), want)
