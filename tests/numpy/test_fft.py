"""What the case table cannot say of `arrayx.numpy.fft`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors
from arrayx.conformance.checks import put
from arrayx.primitives.fft import fft

REAL = np.random.default_rng(0).normal(size=(2, 3, 4, 2, 3))
FUNCTIONS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
MANY = ("fftn", "ifftn", "rfftn", "irfftn")


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_lengths_axes_and_norms_are_those_of_numpy(norm: Any, backend: str) -> None:
    x = put(REAL, backend)
    for name in FUNCTIONS:
        for n, axis in ((None, -1), (5, 1), (2, 2), (3, 0)):
            got = getattr(anp.fft, name)(x, n, axis, norm)
            wanted = getattr(np.fft, name)(REAL, n, axis, norm)
            np.testing.assert_allclose(got, wanted, atol=1e-12, err_msg=name)
    for name in MANY:
        for s, axes in ((None, None), ((3, 4), (1, 3)), ((2, 2, 3, 2), (3, 0, 2, 1))):
            got = getattr(anp.fft, name)(x, s, axes, norm)
            wanted = getattr(np.fft, name)(REAL, s, axes, norm)
            np.testing.assert_allclose(got, wanted, atol=1e-12, err_msg=name)


@pytest.mark.parametrize(
    ("dtype", "complex_dtype", "real_dtype"),
    [
        ("float16", "complex64", "float32"),
        ("bfloat16", "complex64", "float32"),
        ("float32", "complex64", "float32"),
        ("float64", "complex128", "float64"),
        ("int32", "complex64", "float32"),
        ("int64", "complex128", "float64"),
        ("bool", "complex64", "float32"),
    ],
)
def test_the_precision_of_the_argument_is_kept(
    dtype: str, complex_dtype: str, real_dtype: str
) -> None:
    x = anp.array([1, 0, 1, 1]).astype(dtype)
    for name in ("fft", "ifft", "rfft", "ihfft"):
        assert getattr(anp.fft, name)(x).dtype == complex_dtype
    for name in ("irfft", "hfft"):
        assert getattr(anp.fft, name)(x).dtype == real_dtype


def test_a_transform_and_its_inverse_have_the_identity_as_jacobian() -> None:
    x = anp.array(REAL[0, 0, 0, 0])
    for function in (
        lambda v: anp.fft.irfft(anp.fft.rfft(v), 3),
        lambda v: anp.fft.ifft(anp.fft.fft(v)).real,
        lambda v: anp.fft.hfft(anp.fft.ihfft(v), 3),
    ):
        for jacobian in (ax.jacfwd, ax.jacrev):
            got = host(jacobian(function)(x))
            np.testing.assert_allclose(got, np.eye(3), atol=1e-7)


def host(x: Any) -> np.ndarray:
    return np.asarray(x)


def test_the_gradient_of_the_energy_is_that_of_parseval() -> None:
    x = anp.array(REAL)
    got = ax.grad(lambda v: anp.sum(anp.abs(anp.fft.fftn(v, norm="ortho")) ** 2))(x)
    np.testing.assert_allclose(got, 2 * REAL, rtol=1e-6)


def test_frequencies_are_those_of_numpy() -> None:
    for n in (1, 2, 5, 8):
        for name in ("fftfreq", "rfftfreq"):
            got = getattr(anp.fft, name)(n, 0.5)
            assert got.dtype == anp.array(1.0).dtype
            np.testing.assert_allclose(got, getattr(np.fft, name)(n, 0.5), rtol=1e-6)
    assert anp.fft.fftfreq(3, dtype=anp.float64).dtype == np.float64
    got = ax.jit(lambda d: anp.fft.rfftfreq(4, d))(0.5)
    np.testing.assert_allclose(got, np.fft.rfftfreq(4, 0.5))
    for axes in (None, 1, (0, -1), (2,)):
        for name in ("fftshift", "ifftshift"):
            got = getattr(anp.fft, name)(REAL, axes)
            np.testing.assert_array_equal(got, getattr(np.fft, name)(REAL, axes))


def test_batches_without_elements_are_transformed() -> None:
    for backend in ("numpy", "xla"):
        x = put(np.zeros((0, 4)), backend)
        for name, shape in (("fft", (0, 4)), ("rfft", (0, 3)), ("irfft", (0, 6))):
            for function in (getattr(anp.fft, name), ax.jit(getattr(anp.fft, name))):
                assert function(x).shape == np.asarray(function(x)).shape == shape


def test_refusals_say_what_is_wrong() -> None:
    x = anp.ones((2, 4))
    with pytest.raises(errors.DtypeError, match="rfft takes real numbers, got complex64"):
        anp.fft.rfft(x.astype("complex64"))
    with pytest.raises(errors.ArgumentError, match=r"fft: norm is .* got 'unitary'"):
        anp.fft.fft(x, norm="unitary")
    with pytest.raises(errors.AxisError, match="ifft: axis 2 is out of range"):
        anp.fft.ifft(x, axis=2)
    with pytest.raises(errors.AxisError, match="fft: axis -1 is out of range"):
        anp.fft.fft(1.0)
    with pytest.raises(errors.ShapeError, match="fft: a transform of 0 elements along axis 1"):
        anp.fft.fft(x, n=0)
    with pytest.raises(errors.ShapeError, match="fftn: 1 lengths"):
        anp.fft.fftn(x, (3,), (0, 1))
    with pytest.raises(errors.AxisError, match="twice"):
        anp.fft.fft2(x, axes=(1, 1))
    with pytest.raises(errors.AxisError, match="out of range"):
        anp.fft.fft2(anp.ones(3))
    with pytest.raises(errors.ArgumentError, match="n is a positive integer"):
        anp.fft.fftfreq(0)
    with pytest.raises(errors.ShapeError, match="irfft with lengths"):
        fft(put(np.ones(4, complex), "numpy"), kind="irfft", lengths=(4,))
    with pytest.raises(errors.DtypeError, match="fft takes complex numbers"):
        fft(put(np.ones(4), "numpy"), kind="fft", lengths=(4,))
