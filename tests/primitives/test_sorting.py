"""What the case table cannot say of sorting: order of zeros and nan, ties, refusals."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from arrayx import errors
from arrayx.conformance.checks import pulled, put
from arrayx.primitives.sorting import sort


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_zeros_of_both_signs_are_equal_and_nan_comes_last(dtype: Any) -> None:
    x = np.array([0.0, np.nan, -0.0, -1.0, np.inf, -np.inf, 0.0, -0.0]).astype(dtype)
    (got,) = sort(put(x, "numpy"), axis=0, num_keys=1)
    wanted = np.array([-np.inf, -1.0, 0.0, -0.0, 0.0, -0.0, np.inf, np.nan]).astype(dtype)
    np.testing.assert_array_equal(got.host().astype(float), wanted.astype(float))
    np.testing.assert_array_equal(np.signbit(got.host()[2:6]), [False, True, False, True])


def test_equal_keys_keep_the_order_of_their_payload() -> None:
    keys = put(np.array([4, 1, 4, 1, 0]), "numpy")
    places = put(np.arange(5), "numpy")
    _, order = sort(keys, places, axis=0, num_keys=1)
    np.testing.assert_array_equal(order.host(), [4, 1, 3, 0, 2])


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    "dtype", ["float32", "float16", "int32", "uint32", "int8", "bool", "float64", "uint64"]
)
def test_long_keys_are_sorted_stably_too(dtype: str, axis: int) -> None:
    rng = np.random.default_rng(1)
    if dtype == "bool":
        keys = rng.integers(0, 2, (300, 40)).astype(bool)
    elif dtype.startswith("float"):
        keys = rng.choice([np.nan, -np.nan, 0.0, -0.0, 1.0, -2.5, np.inf, -np.inf], (300, 40))
    else:
        limits = np.iinfo(dtype)
        few = np.array([limits.min, limits.max, limits.max // 2, 3], dtype)
        keys = rng.choice(few, (300, 40))
    keys = keys.astype(dtype)
    places = np.broadcast_to(np.arange(300)[:, None] if axis == 0 else np.arange(40), (300, 40))
    _, order = sort(put(keys, "numpy"), put(places, "numpy"), axis=axis, num_keys=1)
    np.testing.assert_array_equal(order.host(), np.argsort(keys, axis, kind="stable"))


def test_weights_travel_back_along_the_permutation() -> None:
    x = np.array([3.0, -1.0, 3.0, 0.0])
    weights = np.array([1.0, 10.0, 100.0, 1000.0])
    (back,) = pulled(lambda a: sort(a, axis=0, num_keys=1), [x], (True,), [weights], "numpy")
    np.testing.assert_array_equal(back, [100.0, 1.0, 1000.0, 10.0])


def test_refusals_say_what_is_wrong() -> None:
    x = put(np.zeros((2, 3)), "numpy")
    with pytest.raises(errors.AxisError):
        sort(x, axis=2, num_keys=1)
    with pytest.raises(errors.ArgumentError):
        sort(x, axis=0, num_keys=2)
    with pytest.raises(errors.ShapeError):
        sort(x, put(np.zeros((3, 2)), "numpy"), axis=0, num_keys=1)
