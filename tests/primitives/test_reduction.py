"""What the case table cannot say of reductions: ties, zeros, empty ones, refusals."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from arrayx import errors
from arrayx.conformance.checks import pulled, pushed, put
from arrayx.primitives import reduction
from arrayx.primitives.axes import reduce_sum

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def gradient(primitive: Any, x: np.ndarray, axes: tuple[int, ...] = (0,)) -> np.ndarray:
    """The gradient of a reduction, whose cotangent is 1."""
    function = lambda a: (primitive(a, axes=axes),)  # noqa: E731
    (value,), _ = pushed(function, [x], [x], "numpy")
    (back,) = pulled(function, [x], (True,), [np.ones_like(value)], "numpy")
    return back


@pytest.mark.parametrize("primitive", [reduction.reduce_max, reduction.reduce_min])
def test_ties_share_one_unit(primitive: Any) -> None:
    sign = 1.0 if primitive is reduction.reduce_max else -1.0
    x = sign * np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0], [-0.0, 0.0, -1.0]])
    wanted = [[0, 0.5, 0.5], [1 / 3] * 3, [0.5, 0.5, 0]]
    np.testing.assert_allclose(gradient(primitive, x, (1,)), wanted)


@pytest.mark.parametrize("dtype", [np.dtype(np.float16), BFLOAT16])
def test_seventy_thousand_ties_are_counted_in_single_precision(dtype: Any) -> None:
    x = np.ones(70_000, dtype)
    back = gradient(reduction.reduce_max, x)
    np.testing.assert_array_equal(back, np.full(70_000, np.float32(1 / 70_000)).astype(dtype))
    function = lambda a: (reduction.reduce_max(a, axes=(0,)),)  # noqa: E731
    _, (moved,) = pushed(function, [x], [x], "numpy")
    assert float(moved) == 1.0


def test_nan_is_the_extreme_and_has_the_unit() -> None:
    x = np.array([1.0, np.nan, 3.0, np.nan])
    assert np.isnan(reduction.reduce_max(put(x, "numpy"), axes=(0,)).host())
    np.testing.assert_array_equal(gradient(reduction.reduce_max, x), [0, 0.5, 0, 0.5])


@pytest.mark.parametrize(
    ("dtype", "least", "greatest"),
    [
        ("float32", -np.inf, np.inf),
        (BFLOAT16, -np.inf, np.inf),
        ("int8", -128, 127),
        ("uint16", 0, 65535),
        ("bool", False, True),
    ],
)
def test_extremes_of_nothing_are_the_units(dtype: Any, least: Any, greatest: Any) -> None:
    x = put(np.zeros((2, 0), dtype), "numpy")
    low, high = (p(x, axes=(1,)).host() for p in (reduction.reduce_max, reduction.reduce_min))
    np.testing.assert_array_equal(low, np.full(2, least, dtype))
    np.testing.assert_array_equal(high, np.full(2, greatest, dtype))
    assert low.dtype == high.dtype == dtype


@pytest.mark.parametrize(
    ("x", "wanted"),
    [
        ([4.0, 0.0, 7.0], [0.0, 28.0, 0.0]),
        ([4.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        ([2.0, 3.0, 5.0, 7.0, 11.0], [1155.0, 770.0, 462.0, 330.0, 210.0]),
        ([0.0], [1.0]),
    ],
)
def test_a_product_needs_no_division_for_its_derivative(x: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(gradient(reduction.reduce_prod, np.array(x)), wanted)


def test_second_derivatives_of_a_product_with_zeros_are_right() -> None:
    x = np.array([4.0, 0.0, 0.0, 3.0])
    plain = lambda a: (reduction.reduce_prod(a, axes=(0,)),)  # noqa: E731
    hessian = np.zeros((4, 4))
    for i in range(4):
        for j in range(4):
            e, f = np.eye(4)[i], np.eye(4)[j]
            steps = [
                pulled(plain, [x + s * e], (True,), [np.array(1.0)], "numpy")[0] @ f
                for s in (0.5, -0.5)
            ]
            hessian[i, j] = steps[0] - steps[1]
    # Only the pair of zeros has others that are not 0; the derivative is linear in each, so
    # the differences are exact.
    wanted = np.zeros((4, 4))
    wanted[1, 2] = wanted[2, 1] = 12.0
    np.testing.assert_allclose(hessian, wanted)


def test_half_precision_sums_are_made_in_single_precision() -> None:
    for dtype in (np.dtype(np.float16), BFLOAT16):
        x = put(np.ones(1000, dtype), "numpy")
        assert float(reduce_sum(x, axes=(0,)).host()) == 1000


@pytest.mark.parametrize("dtype", ["float32", BFLOAT16])
def test_the_place_of_an_extreme_is_that_of_the_first_nan(dtype: Any) -> None:
    x = np.array([[1, np.nan, 9, np.nan], [2, 5, 5, -1], [-1, 2, -1, 2]]).astype(dtype)
    for primitive, wanted in ((reduction.argmax, [1, 1, 1]), (reduction.argmin, [1, 3, 0])):
        for form in (primitive, primitive.expand):
            got = form(put(x, "numpy"), axis=1, dtype=np.dtype(np.int32))
            np.testing.assert_array_equal(got.host(), wanted)


def test_refusals_say_what_is_wrong() -> None:
    x = put(np.zeros((2, 0)), "numpy")
    with pytest.raises(errors.AxisError):
        reduction.reduce_max(x, axes=(2,))
    with pytest.raises(errors.DtypeError, match="reduce_and"):
        reduction.reduce_and(x, axes=(0,))
    with pytest.raises(errors.ShapeError, match="no elements"):
        reduction.argmax(x, axis=1, dtype=np.dtype(np.int32))
    with pytest.raises(errors.DtypeError, match="cannot count"):
        reduction.argmax(put(np.zeros(300), "numpy"), axis=0, dtype=np.dtype(np.int8))
    with pytest.raises(errors.DtypeError):
        reduction.reduce_max(put(np.zeros(2, np.complex64), "numpy"), axes=(0,))
