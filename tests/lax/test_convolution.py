"""Arguments of convolutions: layouts, paddings, shapes, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from arrayx import errors, lax

LAYOUT = ("NHWC", "HWIO", "NHWC")


def test_layouts_are_read_from_letters() -> None:
    numbers = lax.conv_dimension_numbers((1, 8, 8, 3), (3, 3, 3, 4), LAYOUT)
    assert numbers == ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    assert lax.conv_dimension_numbers((1, 8, 8, 3), (3, 3, 3, 4), numbers) is numbers


SHAPES = (
    ("SAME", (2, 1), (1, 4, 8, 4)),
    ("VALID", (1, 1), (1, 6, 6, 4)),
    (((0, 1), (-1, 0)), (1, 2), (1, 7, 3, 4)),
)


@pytest.mark.parametrize(("padding", "strides", "shape"), SHAPES)
def test_shapes_are_those_of_results(padding: Any, strides: Any, shape: Any) -> None:
    x, y = np.ones((1, 8, 8, 3)), np.ones((3, 3, 3, 4))
    assert lax.conv_general_shape_tuple(x.shape, y.shape, strides, padding, LAYOUT) == shape
    result = lax.conv_general_dilated(x, y, strides, padding, dimension_numbers=LAYOUT)
    assert result.shape == shape


@pytest.mark.parametrize("padding", ("SAME", "VALID", ((1, 0), (2, 2))))
@pytest.mark.parametrize("stride", (1, 2, 4))
def test_shapes_of_transposed_convolutions_too(padding: Any, stride: int) -> None:
    x, y = np.ones((1, 5, 4, 3)), np.ones((3, 2, 3, 4))
    strides = (stride, 1)
    result = lax.conv_transpose(x, y, strides, padding, dimension_numbers=LAYOUT)
    assert result.shape == lax.conv_transpose_shape_tuple(
        x.shape, y.shape, strides, padding, LAYOUT
    )


def test_patches_copy_infinities() -> None:
    x = np.array([[[np.inf, 1.0, np.nan]]])
    patches = lax.conv_general_dilated_patches(x, (2,), (1,), "VALID")
    np.testing.assert_array_equal(np.asarray(patches), [[[np.inf, 1.0], [1.0, np.nan]]])


def test_a_preferred_dtype_is_that_of_the_sum() -> None:
    x = np.full((1, 1, 4), 100, np.int8)
    result = lax.conv(x, x, (1,), "VALID", preferred_element_type=np.int32)
    assert result.dtype == np.int32 and result.item() == 40000


REFUSED: tuple[tuple[Any, str], ...] = (
    ({"padding": "SAME", "lhs_dilation": (2,)}, "is not defined with lhs_dilation"),
    ({"padding": "FULL"}, "'VALID', 'SAME' or 'SAME_LOWER'"),
    ({"padding": [(0, 0), (0, 0)]}, "must be 1 pairs"),
    ({"window_strides": (1, 1)}, "must be 1 positive integers"),
    ({"dimension_numbers": ("NCH", "OIH", "NCW")}, "must name N, C and the spatial axes"),
    ({"dimension_numbers": ("NC", "OI", "NC")}, "do not name 3 axes"),
)


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=[m for _, m in REFUSED])
def test_what_does_not_fit_is_said(changes: Any, message: str) -> None:
    x = np.ones((1, 2, 5))
    params = {"window_strides": (1,), "padding": "VALID", **changes}
    with pytest.raises(errors.ArrayxError, match=message):
        lax.conv_general_dilated(x, np.ones((3, 2, 2)), **params)
