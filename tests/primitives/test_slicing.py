"""What the case table cannot say of slicing: refusals, and what overwriting does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from arrayx import errors
from arrayx.conformance.checks import pulled, put
from arrayx.primitives import slicing
from arrayx.primitives.exponential import sqrt


def test_an_overwritten_value_sends_nothing_back() -> None:
    def function(t: Any) -> tuple[Any]:
        first = slicing.dynamic_update_slice(put(np.zeros(2), "numpy"), sqrt(t), 0)
        return (slicing.dynamic_update_slice(first, t, 0),)

    (back,) = pulled(function, [np.zeros(1)], (True,), [np.ones(2)], "numpy")
    np.testing.assert_array_equal(back, [1.0])


def test_a_value_of_infinite_cotangents_is_summed_without_subtraction() -> None:
    def function(value: Any) -> tuple[Any]:
        return (pad(put(np.zeros(2), "numpy"), value, low=(1,), high=(1,), interior=(0,)),)

    ct = np.array([1.0, np.inf, np.nan, 2.0])
    (back,) = pulled(function, [np.array(5.0)], (True,), [ct], "numpy")
    assert back == 3.0


X = np.zeros((4, 3))
slice_, pad = slicing.slice, slicing.pad


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: slice_(x, starts=(0,), limits=(4,), strides=(1,)), errors.ShapeError),
        (lambda x: slice_(x, starts=(0, 2), limits=(5, 3), strides=(1, 1)), errors.ShapeError),
        (lambda x: slice_(x, starts=(0, 0), limits=(4, 3), strides=(0, 1)), errors.ShapeError),
        (lambda x: pad(x, 0.0, low=(-3, 0), high=(-2, 0), interior=(0, 0)), errors.ShapeError),
        (lambda x: pad(x, x, low=(0, 0), high=(0, 0), interior=(0, 0)), errors.ShapeError),
        (lambda x: slicing.concatenate(x, x, axis=2), errors.AxisError),
        (
            lambda x: slicing.concatenate(x, put(np.zeros((3, 4)), "numpy"), axis=0),
            errors.ShapeError,
        ),
        (lambda x: slicing.dynamic_slice(x, 0, sizes=(1, 1)), errors.ShapeError),
        (lambda x: slicing.dynamic_slice(x, 0, 1.0, sizes=(1, 1)), errors.DtypeError),
        (lambda x: slicing.dynamic_slice(x, 0, 0, sizes=(5, 1)), errors.ShapeError),
        (lambda x: slicing.dynamic_update_slice(x, x, 0), errors.ShapeError),
    ],
)  # fmt: skip
def test_refusals_say_what_is_wrong(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call(put(X, "numpy"))
