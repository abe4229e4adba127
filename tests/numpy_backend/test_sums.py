"""Sums of rows by BLAS: their error, and what is left to NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from arrayx_numpy.structural import STRUCTURAL, are_rows

reduce_sum = STRUCTURAL["reduce_sum"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", [2, 7, 100, 1024, 1 << 16])
def test_sums_of_rows_are_as_exact_as_their_elements(dtype, length):
    # The published tolerance is relative to the sum of magnitudes.
    x = np.random.default_rng(0).random((max(2, 8192 // length), length)).astype(dtype)
    assert are_rows(x, (1,))
    exact = np.add.reduce(x, 1, dtype=np.longdouble)
    error = np.abs(reduce_sum(x, axes=(1,)) - exact) / exact
    assert error.max() < 16 * np.finfo(dtype).eps


def test_sums_of_rows_keep_nan_and_infinities():
    x = np.ones((8, 1024), np.float32)
    x[1, 5], x[2, 6], x[3, 7] = np.nan, np.inf, -np.inf
    x[4, 8], x[4, 9] = np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        got, wanted = reduce_sum(x, axes=(1,)), np.add.reduce(x, 1)
    np.testing.assert_array_equal(got, wanted)


def test_the_shape_is_that_of_the_rows():
    x = np.ones((4, 5, 6, 70), np.float32)
    assert reduce_sum(x, axes=(3,)).shape == (4, 5, 6)
    assert np.all(reduce_sum(x, axes=(3,)) == 70)


@pytest.mark.parametrize(
    "x",
    [
        np.ones((4, 4)),
        np.ones((64, 128)).T,
        np.ones((64, 128), np.int32),
        np.ones((64, 128), np.float16),
        np.ones(8192),
    ],
    ids=["small", "not contiguous", "integers", "16 bits", "no rows"],
)
def test_other_sums_are_left_to_numpy(x):
    axis = x.ndim - 1
    assert not are_rows(x, (axis,))
    np.testing.assert_array_equal(reduce_sum(x, axes=(axis,)), np.full(x.shape[:-1], x.shape[-1]))
