"""What StableHLO leaves open, where compiled programs must give what NumPy's kernels give.

Denormal floats are apart: XLA:CPU takes them for zeros.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="the xla backend needs jaxlib: pip install 'arrayx[xla]'")

import arrayx as ax
from arrayx import dtypes
from arrayx.primitives import (
    bitwise,
    conversion,
    exponential,
    numeric,
    reduction,
    sorting,
    trigonometric,
)

INT32 = np.dtype(np.int32)
FLOATS = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 2.5, -2.5, 1e4, -1e4)
BOUNDS = (
    1e10,
    -1e10,
    127.6,
    -128.9,
    255.5,
    256.0,
    32767.5,
    65504.0,
    2.0**31,
    -(2.0**31) - 1,
    2.0**32,
    2.0**63,
)
ALL = (*dtypes.BOOLS, *dtypes.INTEGERS, *dtypes.FLOATS)


def both(function, *arrays):
    """The results of a function of several results, compiled by XLA and from NumPy's kernels."""
    compiled = ax.jit(function)(*(ax.device_put(a, "xla") for a in arrays))
    eager = function(*(ax.device_put(a, "numpy") for a in arrays))
    return [np.asarray(r) for r in compiled], [np.asarray(r) for r in eager]


def assert_same(compiled, eager):
    """Raises unless elements are equal; nan equals nan."""
    for got, wanted in zip(compiled, eager, strict=True):
        assert got.dtype == wanted.dtype
        if dtypes.kind(got.dtype) == "float":
            got, wanted = got.astype(np.float64), wanted.astype(np.float64)
        np.testing.assert_array_equal(got, wanted)


def converted(x):
    return tuple(conversion.convert(x, dtype=d, weak_type=False) for d in ALL)


@pytest.mark.parametrize("dtype", [str(d) for d in (*dtypes.INTS, *dtypes.UINTS)])
def test_integers_at_their_limits(dtype):
    limits = np.iinfo(dtype)
    values = {limits.min, limits.max, 0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65}
    values |= {-1, -2, -7} if limits.min else set()
    x, y = np.array(list(itertools.product(sorted(values), repeat=2)), dtype).T.copy()

    def function(x, y):
        binary = (
            numeric.div,
            numeric.rem,
            numeric.max,
            numeric.min,
            exponential.pow,
            bitwise.shift_left,
            bitwise.shift_right_logical,
            bitwise.shift_right_arithmetic,
        )
        unary = (numeric.abs, numeric.sign, bitwise.population_count, bitwise.clz)
        return (*(f(x, y) for f in binary), *(f(x) for f in unary))

    assert_same(*both(function, x, y))
    assert_same(*both(converted, x))


@pytest.mark.parametrize("dtype", [str(d) for d in dtypes.FLOATS])
def test_floats_that_are_special(dtype):
    dtype = dtypes.as_dtype(dtype)
    x, y = np.array(list(itertools.product(FLOATS, repeat=2))).T.astype(dtype)

    def function(x, y):
        binary = (numeric.div, numeric.rem, numeric.max, numeric.min)
        unary = (numeric.sign, numeric.round, numeric.floor, numeric.ceil, numeric.is_finite)
        return (*(f(x, y) for f in binary), *(f(x) for f in unary))

    compiled, eager = both(function, x, y)
    assert_same(compiled, eager)
    for i in (4, 5):  # sign and round keep the sign of a zero
        numbers = ~np.isnan(eager[i].astype(np.float64))
        signs = [np.signbit(r.astype(np.float64))[numbers] for r in (compiled[i], eager[i])]
        np.testing.assert_array_equal(*signs)
    with np.errstate(all="ignore"):
        bounds = np.array((*FLOATS, *BOUNDS)).astype(dtype)
    assert_same(*both(converted, bounds))


@pytest.mark.parametrize("dtype", [str(d) for d in dtypes.FLOATS])
def test_order_with_nan_and_zeros_of_both_signs(dtype):
    rng = np.random.default_rng(0)
    x = rng.choice(np.array(FLOATS), (7, 6)).astype(dtypes.as_dtype(dtype))
    places = np.broadcast_to(np.arange(6, dtype=np.int32), x.shape).copy()

    def function(x, places):
        return (
            *sorting.sort(x, places, axis=1, num_keys=1),
            *sorting.sort(numeric.sign(x), x, places, axis=0, num_keys=2),
            reduction.argmax(x, axis=1, dtype=INT32),
            reduction.argmin(x, axis=0, dtype=INT32),
            reduction.reduce_max(x, axes=(0,)),
            reduction.reduce_min(x, axes=(1,)),
        )

    assert_same(*both(function, x, places))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_next_number_is_found_among_denormals_too(dtype):
    tiny = np.finfo(dtype).smallest_subnormal
    values = np.array([0.0, -0.0, tiny, -tiny, 1.0, -1.0, np.inf, np.nan], dtype)
    x, y = (np.array(v, dtype) for v in zip(*itertools.product(values, repeat=2), strict=True))
    compiled, eager = both(lambda x, y: (numeric.nextafter(x, y),), x, y)
    assert_same(compiled, eager)


def test_complex_numbers_are_sorted_by_parts():
    parts = np.array([0.0, 1.0, -1.0, np.nan, 2.0, -0.0])
    z = (parts[:, None] + 1j * parts).astype(np.complex64)
    both_ways = both(lambda z: sorting.sort(z, axis=0, num_keys=1), z)
    assert_same(*both_ways)


PARTS = (0.0, -0.0, 1.0, -2.0, 0.5, 30.0, np.inf, -np.inf, np.nan)
COMPLEX_FUNCTIONS = {
    "exp": exponential.exp,
    "expm1": exponential.expm1,
    "log": exponential.log,
    "log1p": exponential.log1p,
    "sqrt": exponential.sqrt,
    **{name: getattr(trigonometric, name) for name in ("sin", "cos", "tan", "sinh", "cosh")},
    **{name: getattr(trigonometric, name) for name in ("tanh", "asin", "acos", "atan")},
    **{name: getattr(trigonometric, name) for name in ("asinh", "acosh", "atanh")},
    "abs": numeric.abs,
}


@pytest.mark.parametrize("name", COMPLEX_FUNCTIONS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_functions_keep_infinities_and_their_side_of_a_cut(name, dtype):
    z = np.array([complex(a, b) for a in PARTS for b in PARTS]).astype(dtype)
    (got,), (wanted,) = both(lambda z: (COMPLEX_FUNCTIONS[name](z),), z)
    assert got.dtype == wanted.dtype
    rtol = 64 * np.finfo(got.dtype).eps
    for part in (np.real, np.imag):
        a, b = part(got), part(wanted)
        # C99 leaves the sign of an infinity open where the angle has no value.
        open_ended = np.isinf(a) & np.isinf(b) & (np.isnan(got) | np.isnan(wanted))
        a, b = np.where(open_ended, abs(a), a), np.where(open_ended, abs(b), b)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)
