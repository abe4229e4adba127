"""What the case table cannot say of cumulative operations: zeros, ties, nan, 16 bits."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from arrayx import errors
from arrayx.conformance.checks import pulled, pushed, put
from arrayx.primitives import cumulative


def jacobian(primitive: Any, x: np.ndarray, reverse: bool = False) -> np.ndarray:
    """The Jacobian by forward mode; reverse mode must agree."""
    function = lambda a: (primitive(a, axis=0, reverse=reverse),)  # noqa: E731
    unit = np.eye(len(x))
    forward = np.stack([pushed(function, [x], [e], "numpy")[1][0] for e in unit], 1)
    back = np.stack([pulled(function, [x], (True,), [e], "numpy")[0] for e in unit])
    np.testing.assert_allclose(forward, back)
    return forward


def test_a_running_product_with_a_zero_has_the_right_derivative() -> None:
    a, b, c, d = 3.0, 0.0, 2.0, 5.0
    wanted = [
        [1, 0, 0, 0],
        [b, a, 0, 0],
        [b * c, a * c, a * b, 0],
        [b * c * d, a * c * d, a * b * d, a * b * c],
    ]
    np.testing.assert_allclose(jacobian(cumulative.cumprod, np.array([a, b, c, d])), wanted)


def test_what_reaches_a_running_maximum_shares_one_unit() -> None:
    x = np.array([1.0, 3.0, 2.0, 3.0, 3.0, 4.0])
    wanted = np.zeros((6, 6))
    wanted[0, 0] = wanted[1, 1] = wanted[2, 1] = wanted[5, 5] = 1
    wanted[3, [1, 3]] = 1 / 2
    wanted[4, [1, 3, 4]] = 1 / 3
    np.testing.assert_allclose(jacobian(cumulative.cummax, x), wanted)
    np.testing.assert_allclose(jacobian(cumulative.cummin, -x), wanted)
    np.testing.assert_allclose(
        jacobian(cumulative.cummax, x[::-1].copy(), reverse=True), wanted[::-1, ::-1]
    )


def test_nan_stays_once_it_came_and_has_the_unit() -> None:
    x = np.array([1.0, np.nan, 5.0, np.nan])
    got = cumulative.cummax(put(x, "numpy"), axis=0, reverse=False).host()
    np.testing.assert_array_equal(got, [1.0, np.nan, np.nan, np.nan])
    wanted = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0.5, 0, 0.5]]
    np.testing.assert_allclose(jacobian(cumulative.cummax, x), wanted)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_half_precision_sums_run_in_single_precision(dtype: Any) -> None:
    x = put(np.ones(1000, dtype), "numpy")
    for form in (cumulative.cumsum, cumulative.cumsum.expand):
        assert float(form(x, axis=0, reverse=True).host()[0]) == 1000


def test_a_running_logsumexp_begins_with_nothing_and_does_not_overflow() -> None:
    x = np.array([-np.inf, -np.inf, 1000.0, 1000.0])
    got = cumulative.cumlogsumexp(put(x, "numpy"), axis=0, reverse=False).host()
    np.testing.assert_allclose(got, [-np.inf, -np.inf, 1000.0, 1000.0 + np.log(2)])
    wanted = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0.5, 0.5]]
    np.testing.assert_allclose(jacobian(cumulative.cumlogsumexp, x), wanted)


def test_refusals_say_what_is_wrong() -> None:
    with pytest.raises(errors.AxisError, match="cumsum"):
        cumulative.cumsum(put(np.zeros(3), "numpy"), axis=1, reverse=False)
    with pytest.raises(errors.DtypeError, match="cumsum"):
        cumulative.cumsum(put(np.zeros(3, bool), "numpy"), axis=0, reverse=False)
    with pytest.raises(errors.DtypeError, match="cummax"):
        cumulative.cummax(put(np.zeros(3, np.complex64), "numpy"), axis=0, reverse=False)
