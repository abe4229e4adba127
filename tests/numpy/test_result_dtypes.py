"""The dtypes of results: those of JAX, but for what holds 64-bit integers (see docs)."""

from __future__ import annotations

from typing import Any

import pytest

import arrayx.numpy as anp
from arrayx.config import config

SMALL = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32")
FLOATS = ("bfloat16", "float16", "float32", "float64")
DTYPES = (*SMALL, "int64", "uint64", *FLOATS, "complex64", "complex128")


# What each kind of function makes of the dtypes that it does not keep; with defaults of 32 bits.
TO_FLOAT = {**dict.fromkeys(SMALL, "float32"), "int64": "float64", "uint64": "float64"}
TO_SUM = {
    "bool": "int32",
    "int8": "int32",
    "int16": "int32",
    "uint8": "uint32",
    "uint16": "uint32",
}
NO_BOOL = {"bool": "int32"}
TO_BOOL = dict.fromkeys(DTYPES, "bool")
TO_REAL = {"complex64": "float32", "complex128": "float64"}
KINDS: list[tuple[dict[str, str], int, str]] = [
    (
        TO_FLOAT,
        1,
        "exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan sinh cosh tanh arcsin arccos arctan "
        "arcsinh arccosh arctanh sinc reciprocal rint mean average nanmean gradient trapezoid "
        "polyint poly cov corrcoef",
    ),
    (TO_FLOAT, 2, "divide float_power polydiv average"),
    ({**TO_FLOAT, **TO_REAL}, 1, "var std nanvar nanstd angle"),
    (TO_SUM, 1, "sum prod nansum nanprod cumulative_sum cumulative_prod"),
    (NO_BOOL, 1, "square cumsum cumprod nancumsum nancumprod vander"),
    (NO_BOOL, 2, "power"),
    ({}, 2, "add multiply dot inner outer vdot matmul tensordot convolve correlate"),
    ({}, 1, "positive conj diff tril triu nan_to_num"),
    (TO_REAL, 1, "abs real imag"),
    (TO_BOOL, 1, "isnan isfinite isinf iscomplex isreal logical_not all any"),
    (TO_BOOL, 2, "equal less logical_and logical_xor isclose allclose array_equal array_equiv"),
]
REAL_KINDS: list[tuple[dict[str, str], int, str]] = [
    (TO_FLOAT, 1, "cbrt deg2rad rad2deg fabs i0 spacing frexp modf unwrap"),
    (TO_FLOAT, 2, "hypot arctan2 logaddexp logaddexp2 copysign heaviside nextafter"),
    (NO_BOOL, 2, "floor_divide remainder fmod"),
    ({}, 1, "floor ceil trunc max min nanmax nanmin"),
    ({}, 2, "maximum minimum fmax fmin"),
]


def results() -> Any:
    for kinds, last in ((KINDS, 15), (REAL_KINDS, 13)):
        for changed, count, names in kinds:
            for name in names.split():
                yield pytest.param(name, count, changed, DTYPES[:last], id=f"{name}-{count}")


def first(result: Any) -> Any:
    return result[0] if isinstance(result, tuple | list) else result


@pytest.mark.parametrize(("name", "count", "changed", "dtypes"), list(results()))
def test_results_have_these_dtypes(name: str, count: int, changed: Any, dtypes: Any) -> None:
    shape = (2, 2) if name in ("tril", "triu", "tensordot") else (2,)
    got = {}
    for dtype in dtypes:
        operands = [anp.ones(shape, dtype)] * count
        if name == "average" and count == 2:
            result = anp.average(operands[0], weights=operands[1])
        else:
            result = first(getattr(anp, name)(*operands))
        got[dtype] = result.dtype.name
        assert not result.weak_type, f"{name} of {dtype} is weak"
    assert got == {dtype: changed.get(dtype, dtype) for dtype in dtypes}


@pytest.mark.parametrize("name", ["exp", "mean", "std", "divide", "hypot"])
def test_small_integers_become_the_default_float(name: str) -> None:
    with config(default_dtype_bits=64):
        x = anp.ones(2, "int8")
        result = getattr(anp, name)(*([x, x] if name in ("divide", "hypot") else [x]))
        assert result.dtype == "float64"


@pytest.mark.parametrize(
    "name", ["floor_divide", "remainder", "fmod", "maximum", "copysign", "heaviside", "hypot"]
)
def test_a_weak_float_stays_weak(name: str) -> None:
    x = anp.asarray(2.0)
    assert x.weak_type
    assert getattr(anp, name)(x, 1.5).weak_type
    assert getattr(anp, name)(anp.ones(2, "float16"), x).dtype == "float16"
