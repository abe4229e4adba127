"""How `arrayx_xla.text` spells types, constants and places; no jaxlib needed."""

from __future__ import annotations

import math
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

from arrayx.errors import DtypeError
from arrayx_xla.text import (
    ELEMENT_TYPES,
    dense,
    donated,
    element_type,
    literal,
    location,
    mlir_type,
    quoted,
)

F32, F64, I8, U8 = (np.dtype(name) for name in ("float32", "float64", "int8", "uint8"))


@pytest.mark.parametrize(
    ("shape", "dtype", "expected"),
    [
        ((), np.bool_, "tensor<i1>"),
        ((2, 3), np.float32, "tensor<2x3xf32>"),
        ((0,), np.int64, "tensor<0xi64>"),
        ((4,), np.uint8, "tensor<4xui8>"),
        ((1,), ml_dtypes.bfloat16, "tensor<1xbf16>"),
        ((1,), ml_dtypes.float8_e4m3fn, "tensor<1xf8E4M3FN>"),
        ((1,), ml_dtypes.int4, "tensor<1xi4>"),
        ((2,), np.complex64, "tensor<2xcomplex<f32>>"),
    ],
)
def test_a_type_is_written_as_mlir_has_it(shape, dtype, expected):
    assert mlir_type(SimpleNamespace(shape=shape, dtype=np.dtype(dtype))) == expected


@pytest.mark.parametrize("dtype", ["U3", "O", "longdouble", "datetime64[s]"])
def test_a_dtype_that_xla_lacks_is_named_in_the_error(dtype):
    with pytest.raises(DtypeError, match="backend 'xla' has no dtype"):
        element_type(np.dtype(dtype))


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (1, F32, "1.0"),
        (1e-5, F64, "1.0e-05"),
        (1e300, F64, "1.0e+300"),
        (-0.0, F32, "-0.0"),
        (math.inf, F32, "0x7F800000"),
        (-math.inf, F64, "0xFFF0000000000000"),
        (math.nan, F32, "0x7FC00000"),
        (math.inf, np.dtype(np.float16), "0x7C00"),
        (math.nan, np.dtype(ml_dtypes.bfloat16), "0x7FC0"),
        (math.inf, np.dtype(ml_dtypes.float8_e5m2), "0x7C"),
        (complex(1, -0.0), np.dtype(np.complex64), "(1.0, -0.0)"),
        (complex(math.inf, 2), np.dtype(np.complex64), "(0x7F800000, 2.0)"),
        (True, np.dtype(bool), "true"),
        (0, np.dtype(bool), "false"),
        (-128, I8, "-128"),
        (255, U8, "255"),
        (-(2**63), np.dtype(np.int64), "-9223372036854775808"),
        (2**64 - 1, np.dtype(np.uint64), "18446744073709551615"),
        (-8, np.dtype(ml_dtypes.int4), "-8"),
        (np.True_, I8, "1"),
        (np.uint64(2**64 - 1), np.dtype(np.uint64), "18446744073709551615"),
    ],
)
def test_a_literal_is_written_exactly(value, dtype, expected):
    assert literal(value, dtype) == expected


@pytest.mark.parametrize(("value", "dtype"), [(128, I8), (-1, U8), (8, np.dtype(ml_dtypes.int4))])
def test_an_integer_out_of_range_raises_and_says_the_range(value, dtype):
    with pytest.raises(OverflowError, match=r"does not fit u?int\d"):
        literal(value, dtype)


@pytest.mark.parametrize("value", [1.5, math.nan, ml_dtypes.bfloat16(0.5)])
def test_a_fraction_is_refused_where_an_integer_is_wanted(value):
    with pytest.raises(TypeError, match="is not an integer"):
        literal(value, I8)


def test_a_constant_array_of_one_value_is_written_as_that_value():
    assert dense(np.full((1000, 1000), 2.5, np.float32)) == "dense<2.5>"
    assert dense(np.broadcast_to(np.int8(3), (4, 4))) == "dense<3>"
    assert dense(np.array(7)) == "dense<7>"


def test_zeros_of_both_signs_are_not_taken_for_one_value():
    assert dense(np.array([0.0, -0.0])) == "dense<[0.0, -0.0]>"


def test_a_short_constant_is_a_list_and_a_long_one_a_blob():
    assert dense(np.arange(4).reshape(2, 2)) == "dense<[[0, 1], [2, 3]]>"
    blob = dense(np.arange(17, dtype=np.uint16))
    assert blob == 'dense<"0x' + "".join(f"{i:02X}00" for i in range(17)) + '">'


def test_a_constant_is_written_in_row_order_and_little_endian_whatever_its_memory():
    rows = np.arange(20, dtype=np.int32).reshape(4, 5)
    assert dense(rows.T) == dense(rows.T.copy())
    assert dense(rows.astype(">i4")) == dense(rows)
    assert dense(rows[::-1]) == dense(rows[::-1].copy())


def test_an_empty_constant_has_no_elements():
    assert dense(np.zeros((0, 3))) == "dense<>"


def test_strings_are_quoted_for_mlir():
    assert quoted('a"b\\c\nd') == '"a\\22b\\5Cc\\0Ad"'
    assert location("a b.py", 3, 4) == 'loc("a b.py":3:4)'
    assert location("a.py", 3, name="sin") == 'loc("sin"("a.py":3:0))'


def test_a_donated_argument_names_its_result_or_leaves_it_to_xla():
    assert donated(2) == "{tf.aliasing_output = 2 : i32}"
    assert donated() == "{jax.buffer_donor = true}"


def test_no_two_dtypes_share_a_spelling():
    assert len(set(ELEMENT_TYPES.values())) == len(ELEMENT_TYPES)
