"""What the case table cannot say of gather and scatter: ties, order, dtypes, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from arrayx import errors
from arrayx.conformance.checks import pulled, pushed, put
from arrayx.primitives.gather import GatherDims, gather, points, scatter


def written(x: Any, places: Any, updates: Any, combine: str, mode: str = "drop") -> Any:
    """`x` with updates combined at places along its first axis."""
    dims, _ = points(x.aval.shape, (0,), 1)
    return scatter(
        x, places, updates, dims=dims.as_scatter(), mode=mode, combine=combine, unique=False
    )


def gradients(
    x: Any, places: Any, updates: Any, combine: str, mode: str = "drop"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Value, and the gradients of its sum in `x` and `updates`; forward mode must agree."""
    x, updates = np.asarray(x), np.asarray(updates)
    places = put(np.asarray(places).reshape(-1, 1), "numpy")

    def function(x: Any, updates: Any) -> tuple[Any]:
        return (written(x, places, updates, combine, mode),)

    values, _ = pushed(function, [x, updates], [np.ones_like(x), None], "numpy")
    ct = [np.ones_like(values[0])]
    by_x, by_updates = pulled(function, [x, updates], (True, True), ct, "numpy")
    for i, gradient in enumerate((by_x, by_updates)):
        for k in range(gradient.size):
            direction = np.zeros(gradient.size, x.dtype)
            direction[k] = 1
            tangents: list[Any] = [None, None]
            tangents[i] = direction.reshape(gradient.shape)
            _, (moved,) = pushed(function, [x, updates], tangents, "numpy")
            np.testing.assert_allclose(np.sum(moved), gradient.flat[k], rtol=1e-6)
    return values[0], by_x, by_updates


def test_the_last_of_repeated_writes_stays_and_alone_has_a_derivative() -> None:
    value, by_x, by_updates = gradients(
        np.zeros(3), [1, 1, 0, 1, 7], np.array([1.0, 2.0, 3.0, 4.0, 5.0]), "set"
    )
    np.testing.assert_array_equal(value, [3.0, 4.0, 0.0])
    np.testing.assert_array_equal(by_x, [0.0, 0.0, 1.0])
    np.testing.assert_array_equal(by_updates, [0.0, 0.0, 1.0, 1.0, 0.0])


def test_many_repeated_writes_keep_their_order() -> None:
    rng = np.random.default_rng(0)
    places = rng.integers(-2, 50, 20_000)
    updates = rng.standard_normal((20_000, 2)).astype(np.float32)
    wanted = np.zeros((48, 2), np.float32)
    for i, u in zip(places, updates, strict=True):
        if 0 <= i < 48:
            wanted[i] = u
    got = written(
        put(np.zeros((48, 2), np.float32), "numpy"),
        put(places.reshape(-1, 1), "numpy"),
        put(updates, "numpy"),
        "set",
    )
    np.testing.assert_array_equal(got.host(), wanted)


def test_a_factor_of_a_repeated_product_has_all_others_as_its_derivative() -> None:
    _, by_x, by_updates = gradients(
        np.array([7.0, 7.0, 7.0]), [1, 1, 9], np.array([2.0, 5.0, 4.0]), "mul"
    )
    np.testing.assert_array_equal(by_x, [1.0, 10.0, 1.0])
    np.testing.assert_array_equal(by_updates, [35.0, 14.0, 0.0])


def test_a_zero_among_factors_needs_no_division() -> None:
    _, by_x, by_updates = gradients(
        np.array([3.0, 2.0]), [0, 0, 0, 1, 1], np.array([2.0, 0.0, 5.0, 0.0, 0.0]), "mul"
    )
    np.testing.assert_array_equal(by_x, [0.0, 0.0])
    np.testing.assert_array_equal(by_updates, [0.0, 30.0, 0.0, 0.0, 0.0])


def test_all_that_reach_a_scattered_maximum_share_one_unit() -> None:
    _, by_x, by_updates = gradients(
        np.array([1.0, 5.0, 2.0]), [1, 1, 2, 2], np.array([5.0, 5.0, 1.0, 0.0]), "max"
    )
    np.testing.assert_allclose(by_x, [1.0, 1 / 3, 1.0])
    np.testing.assert_allclose(by_updates, [1 / 3, 1 / 3, 0.0, 0.0])


def test_a_clipped_place_takes_part_where_it_was_moved_to() -> None:
    _, by_x, by_updates = gradients(
        np.array([0.0, 1.0, 2.0]), [9], np.array([50.0]), "max", mode="clip"
    )
    np.testing.assert_array_equal(by_x, [1.0, 1.0, 0.0])
    np.testing.assert_array_equal(by_updates, [1.0])


def test_nan_reaches_a_scattered_minimum_and_has_the_unit() -> None:
    value, by_x, by_updates = gradients(
        np.array([1.0, np.nan]), [0, 0], np.array([np.nan, 0.5]), "min"
    )
    assert np.isnan(value).all()
    np.testing.assert_array_equal(by_x, [0.0, 1.0])
    np.testing.assert_array_equal(by_updates, [1.0, 0.0])


def test_half_precision_updates_are_added_in_single_precision() -> None:
    x = put(np.zeros(1, np.float16), "numpy")
    places = put(np.zeros((4096, 1), np.int32), "numpy")
    updates = put(np.ones(4096, np.float16), "numpy")
    assert written(x, places, updates, "add").host()[0] == 4096


def test_the_greatest_unsigned_indices_are_out_of_bounds() -> None:
    x = put(np.array([1.0, 2.0, 3.0]), "numpy")
    places = put(np.array([[2**64 - 1], [2**63], [2]], np.uint64), "numpy")
    dims, sizes = points((3,), (0,), 1)
    clipped = gather(x, places, dims=dims, sizes=sizes, mode="clip", fill=None)
    filled = gather(x, places, dims=dims, sizes=sizes, mode="fill", fill=None)
    np.testing.assert_array_equal(clipped.host(), [3.0, 3.0, 3.0])
    np.testing.assert_array_equal(filled.host(), [np.nan, np.nan, 3.0])


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("int8", -128), ("uint16", 65535), ("bool", True), ("float16", np.nan)],
)
def test_a_read_out_of_bounds_gives_the_documented_value(dtype: str, value: Any) -> None:
    x = put(np.zeros(2, dtype), "numpy")
    dims, sizes = points((2,), (0,), 1)
    places = put(np.array([[2], [-1]], np.int32), "numpy")
    got = gather(x, places, dims=dims, sizes=sizes, mode="fill", fill=None)
    np.testing.assert_array_equal(got.host(), np.array([value, value], dtype))


ROWS, ROW = points((4, 3), (0,), 1)


@pytest.mark.parametrize(
    ("dims", "sizes", "mode", "fill", "error"),
    [
        (ROWS, (2, 3), "clip", None, errors.ShapeError),  # a collapsed axis is 1 long
        (ROWS, (1, 4), "clip", None, errors.ShapeError),  # a window longer than the axis
        (GatherDims((1,), (0,), (0, 1)), ROW, "clip", None, errors.ShapeError),
        (GatherDims((2,), (0,), (0,)), ROW, "clip", None, errors.ShapeError),
        (GatherDims((1,), (0,), (2,)), ROW, "clip", None, errors.ShapeError),
        (ROWS, ROW, "wrap", None, errors.ArgumentError),
        (ROWS, ROW, "clip", 0.0, errors.ArgumentError),
    ],
)
def test_gather_refuses_numbers_that_do_not_fit(
    dims: Any, sizes: Any, mode: str, fill: Any, error: type[Exception]
) -> None:
    x = put(np.zeros((4, 3)), "numpy")
    places = put(np.zeros((2, 1), np.int32), "numpy")
    with pytest.raises(error):
        gather(x, places, dims=dims, sizes=sizes, mode=mode, fill=fill)


def test_indices_must_be_integers() -> None:
    x = put(np.zeros((4, 3)), "numpy")
    with pytest.raises(errors.DtypeError, match="integer"):
        gather(x, put(np.zeros((2, 1)), "numpy"), dims=ROWS, sizes=ROW, mode="clip", fill=None)


def test_scatter_refuses_updates_of_another_shape_or_dtype() -> None:
    x = put(np.zeros((4, 3)), "numpy")
    places = put(np.zeros((2, 1), np.int32), "numpy")
    with pytest.raises(errors.ShapeError):
        written(x, places, put(np.zeros((3, 3)), "numpy"), "add")
    with pytest.raises(errors.DtypeError):
        written(x, places, put(np.zeros((2, 3), np.float32), "numpy"), "add")
    with pytest.raises(errors.DtypeError):
        written(put(np.zeros(3, bool), "numpy"), places, put(np.zeros(2, bool), "numpy"), "mul")


def test_nothing_is_read_from_an_array_without_elements() -> None:
    x = put(np.zeros((0, 3)), "numpy")
    dims, sizes = points((0, 3), (0,), 1)
    places = put(np.zeros((2, 1), np.int32), "numpy")
    got = gather(x, places, dims=dims, sizes=sizes, mode="fill", fill=5)
    np.testing.assert_array_equal(got.host(), np.full((2, 3), 5.0))
    with pytest.raises(errors.ShapeError, match="no elements"):
        gather(x, places, dims=dims, sizes=sizes, mode="clip", fill=None)
