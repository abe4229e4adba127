"""One table of functions of `arrayx.numpy`; every row is checked in several ways.

A row holds a function's name, its arguments, the dtype of its result, and whether it has
derivatives.  The values are NumPy's of the same name; the dtypes are those of JAX, which keep 32
bits where NumPy goes to 64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import arrayx.numpy as anp
from arrayx.api.autodiff import jvp, vjp
from arrayx.api.compilation import jit
from arrayx.api.mapping import vmap


def floats(*shape: int, low: float = -2.0, high: float = 2.0, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def ints(*shape: int, low: int = -5, high: int = 6, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(low, high, shape).astype(np.int32)


def bools(*shape: int, seed: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, shape).astype(bool)


class Row(NamedTuple):
    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    dtype: str
    smooth: bool


def row(name: str, *args: Any, dtype: str = "float32", smooth: bool = True, **kwargs: Any) -> Row:
    return Row(name, args, kwargs, dtype, smooth and dtype == "float32")


A = floats(3, 4)
B = floats(3, 4, seed=5)
P = floats(3, 4, low=0.2, seed=6)
UNIT = floats(3, 4, low=-0.9, high=0.9, seed=7)
N = ints(3, 4)
M = ints(3, 4, low=1, seed=8)
T = bools(3, 4)
C = (floats(3, 4) + 1j * floats(3, 4, seed=9)).astype(np.complex64)
SPD = floats(4, 4, seed=10)

ROWS = [
    *(row(name, A) for name in ("exp", "exp2", "expm1", "sin", "cos", "tan", "sinh", "cosh")),
    *(row(name, A) for name in ("tanh", "arctan", "arcsinh", "cbrt", "sinc", "square", "negative")),
    *(row(name, A) for name in ("abs", "absolute", "fabs", "positive", "deg2rad", "rad2deg")),
    *(row(name, P) for name in ("log", "log2", "log10", "log1p", "sqrt", "reciprocal")),
    *(row(name, UNIT) for name in ("arcsin", "arccos", "arctanh")),
    row("arccosh", P + 1),
    *(row(name, A, smooth=False) for name in ("floor", "ceil", "trunc", "rint", "sign")),
    *(row(name, N) for name in ("exp", "sin", "tanh", "fabs")),
    *(row(name, N, dtype="int32") for name in ("negative", "abs", "square", "sign", "invert")),
    *(row(name, N, dtype="int32") for name in ("floor", "ceil", "trunc", "positive")),
    *(row(name, T, dtype="bool") for name in ("logical_not", "invert", "abs")),
    row("square", T.astype(np.int32), dtype="int32"),
    *(row(name, A, dtype="bool") for name in ("isnan", "isinf", "isfinite", "signbit", "isneginf")),
    *(row(name, C, dtype="complex64") for name in ("exp", "sin", "conj", "negative", "square")),
    *(row(name, C, smooth=False) for name in ("real", "imag", "abs", "angle")),
    *(row(name, A, B) for name in ("add", "subtract", "multiply", "maximum", "minimum", "fmax")),
    *(row(name, A, B) for name in ("fmin", "hypot", "arctan2", "logaddexp", "logaddexp2")),
    row("copysign", A, B),
    *(row(name, A, P) for name in ("divide", "remainder", "fmod")),
    row("power", P, B),
    row("power", A, 3),
    row("power", A, N, smooth=False),
    row("float_power", P, B),
    row("floor_divide", A, P, smooth=False),
    row("nextafter", A, B, smooth=False),
    row("heaviside", A, B, smooth=False),
    *(row(name, N, M, dtype="int32") for name in ("add", "subtract", "multiply", "maximum")),
    *(row(name, N, M, dtype="int32") for name in ("floor_divide", "remainder", "fmod", "power")),
    *(row(name, N, M, dtype="int32") for name in ("bitwise_and", "bitwise_or", "bitwise_xor")),
    *(row(name, N, M, dtype="int32") for name in ("left_shift", "right_shift")),
    row("divide", N, M),
    *(row(name, N, M, dtype="bool") for name in ("equal", "not_equal", "less", "less_equal")),
    *(row(name, A, B, dtype="bool") for name in ("greater", "greater_equal", "logical_and")),
    *(row(name, T, T[::-1], dtype="bool") for name in ("logical_or", "logical_xor", "add")),
    row("multiply", T, T[::-1], dtype="bool"),
    row("add", A, N),
    row("add", A[:, :1], B[0]),
    row("subtract", 1, A),
    row("clip", A, -1, 1),
    row("clip", A, -1.0, None),
    row("round", A, 1, smooth=False),
    row("nan_to_num", np.array([np.nan, 1], np.float32), smooth=False),
    row("isclose", A, A + 1e-7, dtype="bool"),
    row("allclose", A, B, dtype="bool"),
    row("array_equal", A, A, dtype="bool"),
    *(row(name, A) for name in ("sum", "prod", "mean", "var", "std", "max", "min", "ptp")),
    *(row(name, A, axis=1) for name in ("sum", "prod", "mean", "var", "std", "max", "min")),
    *(row(name, A, axis=(0, 1), keepdims=True) for name in ("sum", "mean", "std", "amax", "amin")),
    *(row(name, N, dtype="int32") for name in ("sum", "prod", "max", "min")),
    *(row(name, N) for name in ("mean", "var", "std")),
    *(row(name, T, axis=0, dtype="bool") for name in ("all", "any", "max", "min")),
    row("sum", T, dtype="int32"),
    row("sum", A, where=T),
    row("mean", A, where=T),
    row("max", A, initial=-9.0, where=T),
    row("var", A, ddof=1, axis=0),
    row("average", A, weights=P, axis=1),
    row("count_nonzero", N, axis=0, dtype="int32"),
    *(row(name, A, axis=1) for name in ("nansum", "nanmean", "nanvar", "nanstd", "nanmax")),
    *(row(name, A, axis=1) for name in ("cumsum", "cumprod", "median")),
    row("cumsum", A),
    row("cumsum", N, axis=0, dtype="int32"),
    row("diff", A),
    row("diff", A, n=2, axis=0),
    row("trapezoid", A),
    row("quantile", A, 0.3),
    row("quantile", A, np.array([0.25, 0.5], np.float32), axis=1),
    row("percentile", A, 30, axis=0),
    *(row(name, A, axis=1, dtype="int32") for name in ("argmax", "argmin", "argsort")),
    row("argmax", A, dtype="int32"),
    row("sort", A),
    row("sort", A, axis=None),
    row("reshape", A, (4, -1)),
    *(row(name, A) for name in ("ravel", "transpose", "squeeze", "flip", "fliplr", "flipud")),
    row("swapaxes", A, 0, 1),
    row("moveaxis", A, 0, 1),
    row("expand_dims", A, (0, 2)),
    row("broadcast_to", A, (2, 3, 4)),
    row("tile", A, (2, 1, 2)),
    row("repeat", A, 2, axis=1),
    row("repeat", A, np.array([1, 0, 2]), axis=0),
    row("roll", A, 2),
    row("roll", A, (1, -1), axis=(0, 1)),
    *(row("rot90", A, k) for k in range(4)),
    row("pad", A, 1),
    row("pad", A, ((1, 0), (0, 2)), constant_values=3.0),
    *(row("pad", A, ((2, 1), (1, 2)), mode=mode) for mode in ("edge", "reflect", "wrap")),
    *(row("pad", A, 1, mode=mode) for mode in ("symmetric", "maximum", "mean", "minimum")),
    *(row(name, A) for name in ("atleast_1d", "atleast_2d", "atleast_3d", "tril", "triu")),
    row("dot", A, B.T),
    row("dot", A, B[0]),
    row("matmul", A, B.T),
    row("matmul", floats(2, 3, 4), B.T),
    row("matmul", A, floats(2, 4, 5)),
    row("matmul", floats(2, 1, 3, 4), floats(5, 4, 2)),
    row("vdot", A, B),
    row("vecdot", A, B),
    row("inner", A, B),
    row("outer", A[0], B[0]),
    row("tensordot", A, B),
    row("tensordot", A, B, axes=((0,), (0,))),
    row("kron", A, B),
    row("trace", SPD),
    row("diagonal", SPD, 1),
    row("diag", A[0]),
    row("diag", SPD, -1),
    row("cross", A[:, :3], B[:, :3]),
    row("where", T, A, B),
    row("where", T, A, 0.0),
    row("take", A, np.array([[0, -1], [5, 2]])),
    row("take", A, np.array([2, 0]), axis=1),
    row("take_along_axis", A, np.array([[1], [0], [3]]), axis=1),
    row("searchsorted", np.sort(A[0]), A[1], dtype="int32"),
    row("digitize", A, np.array([-1.0, 0.0, 1.0], np.float32), dtype="int32"),
    row("floor_divide", ints(3, 4), -2, dtype="int32"),
    row("vander", A[0], 3),
    # signals
    *(row("convolve", A[0], P[0, :k], m) for m in ("full", "same", "valid") for k in (1, 2, 3, 4)),
    *(row("convolve", P[0, :2], A[0], m) for m in ("full", "same", "valid")),
    *(row("correlate", A[0], P[0, :k], m) for m in ("full", "same", "valid") for k in (1, 2, 3)),
    *(row("correlate", P[0, :k], A[0], m) for m in ("full", "same", "valid") for k in (2, 3)),
    row("correlate", C[0], C[1, :3], "full", dtype="complex64"),
    row("convolve", N[0], M[0], dtype="int32"),
    row("interp", UNIT, np.sort(A[0]), B[0]),
    row("interp", UNIT, np.sort(A[0]), B[0], left=-3.0, right=4.0),
    row("interp", A, np.float32([0.1, 0.9, 0.4]), B[0, :3], period=1.3, smooth=False),
    row("unwrap", 5 * A),
    row("unwrap", 5 * A, axis=0, discont=5.0),
    row("unwrap", N, period=4, dtype="int32"),
    row("unwrap", N, period=5, dtype="int32"),
    *(row(name, 6) for name in ("bartlett", "blackman", "hamming", "hanning")),
    *(row(name, 1) for name in ("bartlett", "blackman", "hamming", "hanning")),
    row("kaiser", 6, 3.0),
    row("i0", 4 * A),
    # polynomials
    row("polyval", A[0], B),
    row("polyval", A[:, 0], 2.0),
    row("polyval", N[0], M, dtype="int32"),
    row("polyadd", A[0], B[0, :2]),
    row("polysub", A[0, :1], B[0]),
    row("polymul", A[0], B[0, :2]),
    row("polyder", A[0]),
    row("polyder", A[0], 2),
    row("polyint", A[0]),
    row("polyint", A[0], 2, [1.0, 2.0]),
    row("polyint", N[0]),
    row("poly", A[0]),
    # together
    row("cov", A),
    row("cov", A, B),
    row("cov", A[0], B[0]),
    row("cov", A[0]),
    row("cov", A, rowvar=False),
    row("cov", A, bias=True),
    row("cov", A, ddof=0, fweights=np.array([1, 2, 3, 1])),
    row("cov", A, fweights=np.array([1, 2, 3, 1]), aweights=P[0]),
    row("cov", A, aweights=P[0], ddof=0),
    row("cov", C, dtype="complex64"),
    row("corrcoef", A),
    row("corrcoef", A, rowvar=False),
    row("corrcoef", A[0], B[0]),
    row("histogram_bin_edges", A, 4),
    row("bincount", M[0], dtype="int32", minlength=9),
    row("bincount", M[0], weights=P[0]),
    # bits
    row("ldexp", A, N),
    row("ldexp", A, np.int32([-100, 100, 0, 3]), smooth=False),
    row("spacing", A, smooth=False),
    *(row(name, 6 * N, 4 * M, dtype="int32") for name in ("gcd", "lcm")),
    *(row(name, N[0], np.int32(0), dtype="int32") for name in ("gcd", "lcm")),
    row("gcd", np.int32([1836311903, 2**31 - 1]), np.int32([1134903170, 65537]), dtype="int32"),
    row("gcd", np.uint8([233, 255]), np.uint8([144, 17]), dtype="uint8"),
    row("packbits", T, dtype="uint8"),
    row("packbits", T, axis=0, bitorder="little", dtype="uint8"),
    row("unpackbits", M.astype(np.uint8), dtype="uint8"),
    row("unpackbits", M.astype(np.uint8), axis=1, count=11, bitorder="little", dtype="uint8"),
    row("unpackbits", M.astype(np.uint8), axis=0, count=-3, dtype="uint8"),
    # order and nan
    *(row(name, A, axis=1) for name in ("nancumsum", "nancumprod")),
    row("nancumsum", np.float32([[1, np.nan], [2, 3]]), smooth=False),
    row("nanpercentile", A, 30, axis=0),
    *(row(name, A, axis=1, dtype="int32") for name in ("nanargmax", "nanargmin")),
    row("nanargmin", np.float32([np.nan, np.inf, 2.0]), dtype="int32"),
    row("nanargmax", N, dtype="int32"),
    row("partition", np.sort(A, 1), 2),
    row("argpartition", np.sort(A, 1), 2, dtype="int32"),
    row("sort_complex", C[0], dtype="complex64"),
    row("matvec", floats(2, 3, 4), A[0]),
    row("vecmat", A[:, 0], floats(2, 3, 4)),
    row("vecmat", C[0], C.T, dtype="complex64"),
    # editing
    row("delete", A, 1, axis=1),
    row("delete", A, slice(0, 2)),
    row("delete", A, np.array([0, -1]), axis=0),
    row("insert", A, 1, B[0], axis=0),
    row("insert", A, 1, B[:, 0], axis=1),
    row("insert", A, [1], B[:, :1], axis=1),
    row("insert", A, np.array([0, 2, 2]), 7.0, axis=1),
    row("insert", A[0], np.array([0, 4]), B[0, :2]),
    row("insert", A, slice(1, 3), 7.0),
    row("insert", A[0], -1, B[0]),
    row("extract", T, A),
    row("trim_zeros", np.float32([0, 1, 0, 2, 0]), smooth=False),
    # places
    row("ravel_multi_index", (N[0] % 3, N[1] % 4), (3, 4), dtype="int32"),
    row("ravel_multi_index", (N[0], N[1]), (3, 4), mode="wrap", order="F", dtype="int32"),
    row("ravel_multi_index", (N[0], N[1]), (3, 4), mode="clip", dtype="int32"),
    # sets
    row("unique", np.floor(2 * A), smooth=False),
    row("unique", N, dtype="int32"),
    row("unique", N % 2, axis=0, dtype="int32"),
    row("unique", np.float32([np.nan, 1, np.nan]), smooth=False),
    row("union1d", N, M, dtype="int32"),
    row("intersect1d", N, M, dtype="int32"),
    row("setdiff1d", N, M, dtype="int32"),
    row("setxor1d", N, M, dtype="int32"),
    row("isin", N, M, dtype="bool"),
    row("isin", N, ints(50), invert=True, dtype="bool"),
    row("apply_over_axes", np.sum, A, [0, 1]),
]
# What has no value before the program runs: such rows are not compiled or mapped.
CONCRETE = frozenset(
    ["unique", "union1d", "intersect1d", "setdiff1d", "setxor1d", "extract", "trim_zeros"]
)
IDS = [f"{r.name}-{i}" for i, r in enumerate(ROWS)]


def arrays_of(r: Row) -> list[int]:
    return [i for i, a in enumerate(r.args) if isinstance(a, np.ndarray) and a.dtype.kind in "fc"]


def reference(r: Row) -> Any:
    wide = {np.dtype(np.float32): np.float64, np.dtype(np.complex64): np.complex128}
    if r.name == "nextafter":
        wide = {}
    args = [a.astype(wide.get(a.dtype, a.dtype)) if hasattr(a, "dtype") else a for a in r.args]
    with np.errstate(all="ignore"):
        return getattr(np, r.name)(*args, **r.kwargs)


def bound(r: Row) -> Any:
    """The function of the float arrays alone, the other arguments fixed."""
    places = arrays_of(r)

    def call(*arrays: Any) -> Any:
        args = list(r.args)
        for i, a in zip(places, arrays, strict=True):
            args[i] = a
        return getattr(anp, r.name)(*args, **r.kwargs)

    return call


def close(got: Any, want: Any, rtol: float = 3e-5, atol: float = 3e-6) -> None:
    got = np.asarray(got)
    assert got.shape == np.shape(want)
    np.testing.assert_allclose(got, np.asarray(want), rtol=rtol, atol=atol)


@pytest.mark.parametrize("r", ROWS, ids=IDS)
def test_values_are_those_of_numpy_and_dtypes_those_of_jax(r: Row) -> None:
    got = getattr(anp, r.name)(*r.args, **r.kwargs)
    assert str(got.dtype) == r.dtype
    assert not got.weak_type
    close(got, reference(r))


TRACED = [r for r in ROWS if r.name not in CONCRETE]


@pytest.mark.parametrize("r", TRACED, ids=lambda r: r.name)
def test_compiled_functions_agree_with_eager_ones(r: Row) -> None:
    call = bound(r)
    given = [r.args[i] for i in arrays_of(r)]
    got, want = jit(call)(*given), call(*given)
    assert got.dtype == want.dtype
    close(got, np.asarray(want))


@pytest.mark.parametrize("r", [r for r in TRACED if arrays_of(r)], ids=lambda r: r.name)
def test_mapped_functions_agree_with_a_loop(r: Row) -> None:
    call = bound(r)
    given = [r.args[i] for i in arrays_of(r)]
    batch = [np.stack([g, g[..., ::-1]]) for g in given]
    got = vmap(call)(*batch)
    want = np.stack([np.asarray(call(*(b[k] for b in batch))) for k in range(2)])
    close(got, want)


@pytest.mark.parametrize("r", [r for r in ROWS if r.smooth and arrays_of(r)], ids=lambda r: r.name)
def test_forward_and_reverse_mode_agree_with_differences(r: Row) -> None:
    call = bound(r)
    given = [anp.asarray(r.args[i]) for i in arrays_of(r)]
    rng = np.random.default_rng(3)
    tangents = [rng.normal(size=g.shape).astype(np.float32) for g in given]
    _, out_tangent = jvp(call, tuple(given), tuple(anp.asarray(t) for t in tangents))
    step = 1e-6
    plus, minus = (
        reference(shifted(r, [s * step * t.astype(np.float64) for t in tangents])) for s in (1, -1)
    )
    close(out_tangent, (plus - minus) / (2 * step), rtol=2e-3, atol=2e-3)
    out, back = vjp(call, *given)
    ct = rng.normal(size=out.shape).astype(np.float32)
    cts = back(anp.asarray(ct))
    left = np.sum(ct.astype(np.float64) * np.asarray(out_tangent))
    right = sum(np.sum(t.astype(np.float64) * np.asarray(c).real) for t, c in zip(tangents, cts))
    np.testing.assert_allclose(left, right, rtol=2e-3, atol=2e-3)


def shifted(r: Row, by: list[np.ndarray]) -> Row:
    args = list(r.args)
    for i, d in zip(arrays_of(r), by, strict=True):
        args[i] = args[i].astype(np.complex128 if args[i].dtype.kind == "c" else np.float64) + d
    return r._replace(args=tuple(args))
