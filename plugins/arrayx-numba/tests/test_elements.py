"""Elements at the edges of every dtype: native code and NumPy's kernels give the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
from arrayx import lax

pytest.importorskip("numba", reason="pip install numba")
pytest.importorskip("arrayx_numba", reason="pip install ./plugins/arrayx-numba")

INTEGERS = ["int8", "uint8", "int32", "uint32", "int64", "uint64"]


def edges(dtype: str) -> np.ndarray:
    if dtype.startswith("float"):
        values = [0.0, -0.0, 1.5, -2.5, np.nan, np.inf, -np.inf, 3e9, -3e9, 300.0, -1.0, 0.5]
        return np.array(values, dtype)
    limits = np.iinfo(dtype)
    some = [limits.min, limits.max, 0, 1, 2, 3, 7, 31, 100]
    return np.array([*some, *([-1, -2, -7] if limits.min else [])], dtype)


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(edges(dtype), edges(dtype))
    return x.ravel(), y.ravel()


def integer_operations(x: Any, y: Any) -> Any:
    two = [lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min, lax.bitwise_and]
    two += [lax.bitwise_or, lax.bitwise_xor, lax.shift_left, lax.shift_right_logical]
    two += [lax.shift_right_arithmetic, lax.lt, lax.ge, lax.eq]
    one = [lax.neg, lax.abs, lax.sign, lax.bitwise_not]
    return [f(x, y) for f in two], [f(x) for f in one], lax.clamp(y, x, y)


def float_operations(x: Any, y: Any) -> Any:
    two = [lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min, lax.lt, lax.ge, lax.ne]
    one = [lax.neg, lax.abs, lax.sign, lax.floor, lax.ceil, lax.is_finite, lax.sqrt, lax.rsqrt]
    one += [lax.exp, lax.log, lax.tanh, lax.logistic, lax.expm1, lax.log1p]
    powers = [lax.pow(x, p) for p in (-0.5, 1.5, -1.5)]  # NumPy takes 0.5 for sqrt
    round_ = lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)
    return [f(x, y) for f in two], [f(x) for f in one], powers, round_


def conversions(x: Any, y: Any) -> Any:
    targets = [*INTEGERS, "float32", "float64", "bool"]
    return [lax.convert_element_type(x, t) for t in targets]


def reductions(x: Any, y: Any) -> Any:
    return [f(x) for f in (ax.numpy.sum, ax.numpy.prod, ax.numpy.max, ax.numpy.min)]


TABLE = [
    *((integer_operations, d) for d in INTEGERS),
    *((float_operations, d) for d in ("float32", "float64")),
    *((conversions, d) for d in ("int8", "uint64", "float32", "float64")),
    *((reductions, d) for d in ("int8", "uint32", "int64", "float32")),
]


@pytest.mark.parametrize(("f", "dtype"), TABLE, ids=lambda v: getattr(v, "__name__", str(v)))
def test_elements_at_the_edges_are_those_of_numpy(
    f: Any, dtype: str, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("ARRAYX_NUMBA", "compile")
    monkeypatch.setenv("ARRAYX_NUMBA_CACHE", str(tmp_path_factory.getbasetemp() / "programs"))
    x, y = pairs(dtype)
    ours = ax.tree.leaves(ax.jit(f, backend="numba")(x, y))
    theirs = ax.tree.leaves(ax.jit(f, backend="numpy")(x, y))
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype, i
        if a.dtype.kind == "f":
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-44, err_msg=str(i))
        else:
            np.testing.assert_array_equal(a, b, err_msg=str(i))
