"""What the elementwise kernels of the NumPy backend do beside the case table: large arrays."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from arrayx.core.aval import Aval
from arrayx_numpy.elementwise import ELEMENTWISE, plain, with_literals

_NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
DTYPES = [
    *map(np.dtype, _NAMES),
    np.dtype(ml_dtypes.bfloat16),
    np.dtype(ml_dtypes.float8_e4m3fn),
]
MANY = 5000


def _elements(dtype: Any, seed: int) -> Any:
    values = np.random.default_rng(seed).integers(0, 100, MANY)
    return (values > 50) if dtype.kind == "b" else values.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("literal", [None, 0, 1])
def test_selecting_by_bits_equals_selecting_by_branch(dtype: Any, literal: int | None) -> None:
    select = ELEMENTWISE["select"]
    which = np.random.default_rng(0).random(MANY) < 0.5
    x, y = _elements(dtype, 1), _elements(dtype, 2)
    assert np.array_equal(select(which, x, y), np.where(which, x, y))
    if literal is not None:
        python = dtype.type(literal).item() if dtype.num < 256 else float(literal)
        for operands in ((which, x, python), (which, python, y)):
            avals = [
                Aval(a.shape, a.dtype) if isinstance(a, np.ndarray) else float for a in operands
            ]
            result = with_literals(select, avals)(*operands)
            typed = [np.asarray(a, dtype) if not isinstance(a, np.ndarray) else a for a in operands]
            assert result.dtype == dtype
            assert np.array_equal(result, np.where(*typed))


def test_selecting_keeps_nan_infinities_and_the_sign_of_zeros() -> None:
    special = np.resize(np.array([np.nan, np.inf, -np.inf, -0.0, 0.0]), MANY)
    which = np.arange(MANY) % 3 == 0
    for x, y in ((special, 1.0), (special, 0.0), (special, -0.0), (0.0, special), (-0.0, special)):
        got, wanted = ELEMENTWISE["select"](which, x, y), np.where(which, x, y)
        assert np.array_equal(got.view(np.int64), wanted.view(np.int64))


def test_selecting_takes_repeated_and_reversed_views() -> None:
    which = np.arange(MANY) % 3 == 0
    rows = np.broadcast_to(np.float32(2.0), (MANY,))
    back = np.arange(MANY, dtype=np.float32)[::-1]
    got = ELEMENTWISE["select"](which, rows, back)
    assert np.array_equal(got, np.where(which, rows, back))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "float16"])
@pytest.mark.parametrize("shape", [(), (3,), (MANY,)])
def test_zeros_absorb_infinities_and_only_zeros_do(dtype: str, shape: Any) -> None:
    multiply = ELEMENTWISE["absorb_mul"]
    infinite = np.full(shape, np.inf).astype(dtype)
    zero = np.zeros(shape, dtype)
    with np.errstate(all="ignore"):
        assert np.all(multiply(zero, infinite) == 0)
        assert np.all(multiply(infinite, zero) == 0)
        assert np.all(np.isnan(multiply(np.full(shape, np.nan).astype(dtype), zero + 1)))
        assert multiply(zero, infinite).dtype == dtype


def test_a_quotient_of_floats_is_the_plain_ufunc() -> None:
    floats, integers = (Aval((3,), np.dtype(d)) for d in ("float32", "int32"))
    assert plain("div", [floats, floats]) is np.true_divide
    assert plain("div", [floats, float]) is np.true_divide
    assert plain("div", [integers, integers]) is None


def test_scipy_is_loaded_by_the_first_special_function_only() -> None:
    program = (
        "import sys, numpy as np; from arrayx_numpy.elementwise import ELEMENTWISE as table; "
        "assert 'scipy' not in sys.modules; table['erf'](np.ones(2)); "
        "assert 'scipy' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
