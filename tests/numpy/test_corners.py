"""What NumPy and StableHLO leave open, for public functions: one answer on every backend."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp

INF, NAN = math.inf, math.nan
I32, I8, U8 = np.int32, np.int8, np.uint8
F32 = np.float32
LOW, HIGH = -(2**31), 2**31 - 1


def on(backend: str, compiled: bool, function: Any, *operands: Any) -> Any:
    """What a function gives on a backend, called eagerly or compiled, as NumPy arrays."""
    if backend == "xla":
        pytest.importorskip("jaxlib", reason="needs jaxlib: pip install 'arrayx[xla]'")
    with ax.default_backend(backend):
        arrays = [ax.device_put(np.asarray(x), backend) for x in operands]
        call = ax.jit(function) if compiled else function
        return ax.tree.map(np.asarray, call(*arrays))


WAYS = list(itertools.product(("numpy", "xla"), (False, True)))
ways = pytest.mark.parametrize(("backend", "compiled"), WAYS)


class Corner(NamedTuple):
    """A function, its operands, and its result; a zero of the result has its sign."""

    what: str
    function: Any
    operands: tuple[Any, ...]
    result: Any


def ints(dtype: Any, *columns: Any) -> tuple[Any, ...]:
    return tuple(np.array(c, dtype) for c in columns)


def floats(*columns: Any, dtype: Any = F32) -> tuple[Any, ...]:
    return tuple(np.array(c, dtype) for c in columns)


def as_dtype(dtype: Any) -> Any:
    return lambda x: x.astype(dtype)


ORDER = floats([2.0, NAN, -0.0, INF, 0.0, -INF, NAN])
BY_ZERO = ints(I32, [7, -7, 0, LOW, 7], [0, 0, 0, -1, -1])
CORNERS = [
    # Division of integers: x / 0 has all bits set, x % 0 is 0, the least number / -1 is itself.
    Corner("floor_divide by 0", anp.floor_divide, BY_ZERO, ints(I32, [-1, -1, -1, LOW, -7])[0]),
    Corner("remainder by 0", anp.remainder, BY_ZERO, ints(I32, [0, 0, 0, 0, 0])[0]),
    Corner("fmod by 0", anp.fmod, BY_ZERO, ints(I32, [7, -7, 0, 0, 0])[0]),
    Corner("lax.div by 0", ax.lax.div, BY_ZERO, ints(I32, [-1, -1, -1, LOW, -7])[0]),
    Corner("lax.rem by 0", ax.lax.rem, BY_ZERO, ints(I32, [7, -7, 0, 0, 0])[0]),
    Corner(
        "divmod by 0",
        anp.divmod,
        BY_ZERO,
        (ints(I32, [-1, -1, -1, LOW, -7])[0], ints(I32, [0] * 5)[0]),
    ),
    Corner("unsigned by 0", anp.floor_divide, ints(U8, [7, 0], [0, 0]), ints(U8, [255, 255])[0]),
    Corner("unsigned % 0", anp.remainder, ints(U8, [7, 0], [0, 0]), ints(U8, [0, 0])[0]),
    Corner(
        "true division by 0",
        anp.divide,
        ints(I32, [1, -1, 0], [0] * 3),
        floats([INF, -INF, NAN])[0],
    ),
    Corner(
        "the size of the least number", anp.abs, ints(I8, [-128, 127]), ints(I8, [-128, 127])[0]
    ),
    Corner("minus the least number", anp.negative, ints(I8, [-128]), ints(I8, [-128])[0]),
    Corner(
        "a negative power",
        anp.power,
        ints(I32, [2, 1, -1, -1, 0], [-1, -5, -3, -2, -1]),
        ints(I32, [0, 1, -1, 1, -1])[0],
    ),
    # Shifts by the width or more, and by less than 0.
    Corner(
        "left shift",
        anp.left_shift,
        ints(I32, [1, 1, 3, -1], [31, 32, 40, -1]),
        ints(I32, [LOW, 0, 0, 0])[0],
    ),
    Corner(
        "right shift",
        anp.right_shift,
        ints(I32, [8, -8, -8, 8], [40, 40, 2, -1]),
        ints(I32, [0, -1, -2, 0])[0],
    ),
    Corner(
        "logical shift",
        ax.lax.shift_right_logical,
        ints(I32, [-1, -1], [31, 32]),
        ints(I32, [1, 0])[0],
    ),
    # Floats to integers: cut towards 0, the nearest number where out of range, nan is 0.
    Corner(
        "to int32",
        as_dtype(I32),
        floats([NAN, INF, -INF, 3e9, -3e9, -1.9]),
        ints(I32, [0, HIGH, LOW, HIGH, LOW, -1])[0],
    ),
    Corner(
        "to uint8",
        as_dtype(U8),
        floats([NAN, INF, -3.0, 300.0, 255.9]),
        ints(U8, [0, 255, 0, 255, 255])[0],
    ),
    Corner(
        "to bool",
        as_dtype(bool),
        floats([NAN, 0.0, -0.0, 0.1]),
        np.array([True, False, False, True]),
    ),
    Corner("int32 to int8", as_dtype(I8), ints(I32, [300, -129]), ints(I8, [44, 127])[0]),
    # Nan in extremes; its place in an order.
    Corner(
        "maximum", anp.maximum, floats([NAN, 1.0, INF], [1.0, NAN, 2.0]), floats([NAN, NAN, INF])[0]
    ),
    Corner(
        "minimum", anp.minimum, floats([NAN, 1.0, INF], [1.0, NAN, 2.0]), floats([NAN, NAN, 2.0])[0]
    ),
    Corner("fmax", anp.fmax, floats([NAN, 1.0, NAN], [1.0, NAN, NAN]), floats([1.0, 1.0, NAN])[0]),
    Corner("fmin", anp.fmin, floats([NAN, 1.0, NAN], [1.0, NAN, NAN]), floats([1.0, 1.0, NAN])[0]),
    Corner("max", anp.max, ORDER, floats(NAN)[0]),
    Corner("min", anp.min, ORDER, floats(NAN)[0]),
    Corner("nanmax", anp.nanmax, ORDER, floats(INF)[0]),
    Corner("argmax takes the first nan", anp.argmax, ORDER, I32(1)),
    Corner("argmin takes the first nan", anp.argmin, ORDER, I32(1)),
    Corner("argmax of a tie", anp.argmax, floats([1.0, 3.0, 3.0]), I32(1)),
    Corner("argmax of zeros", anp.argmax, floats([-0.0, 0.0]), I32(0)),
    Corner("sort", anp.sort, ORDER, floats([-INF, -0.0, 0.0, 2.0, INF, NAN, NAN])[0]),
    Corner("argsort is stable", anp.argsort, ORDER, ints(I32, [5, 2, 4, 0, 3, 1, 6])[0]),
    Corner(
        "running maximum",
        anp.maximum.accumulate,
        floats([1.0, NAN, 2.0]),
        floats([1.0, NAN, NAN])[0],
    ),
    Corner(
        "clip",
        lambda x: anp.clip(x, 0.0, 1.0),
        floats([NAN, 2.0, -1.0]),
        floats([NAN, 1.0, 0.0])[0],
    ),
    # The sign of zeros.
    Corner("sign", anp.sign, floats([-0.0, 0.0, NAN, -3.0]), floats([0.0, 0.0, NAN, -1.0])[0]),
    Corner("lax.sign", ax.lax.sign, floats([-0.0, 0.0, -3.0]), floats([-0.0, 0.0, -1.0])[0]),
    Corner(
        "round",
        anp.round,
        floats([-0.4, 0.5, 1.5, 2.5, -0.0]),
        floats([-0.0, 0.0, 2.0, 2.0, -0.0])[0],
    ),
    Corner("trunc", anp.trunc, floats([-0.4, 0.4, -0.0]), floats([-0.0, 0.0, -0.0])[0]),
    Corner("ceil", anp.ceil, floats([-0.4]), floats([-0.0])[0]),
    Corner("negative", anp.negative, floats([0.0, -0.0]), floats([-0.0, 0.0])[0]),
    Corner("abs of -0", anp.abs, floats([-0.0]), floats([0.0])[0]),
    Corner("sqrt of -0", anp.sqrt, floats([-0.0, -1.0]), floats([-0.0, NAN])[0]),
    Corner(
        "floor_divide of zeros and infinities",
        anp.floor_divide,
        floats(
            [-0.0, -0.0, INF, -1.0, -1.0, 1.0, 1.0, 0.0],
            [2.0, -2.0, 2.0, INF, -INF, -INF, 0.0, 0.0],
        ),
        floats([-0.0, 0.0, INF, -0.0, 0.0, -0.0, INF, NAN])[0],
    ),
    Corner(
        "remainder of zeros and infinities",
        anp.remainder,
        floats([-0.0, 1.0, -1.0, INF], [2.0, INF, INF, 2.0]),
        floats([0.0, 1.0, INF, NAN])[0],
    ),
    Corner(
        "power",
        anp.power,
        floats([0.0, -0.0, 1.0, NAN, -8.0], [0.0, -1.0, NAN, 0.0, 1 / 3]),
        floats([1.0, -INF, 1.0, 1.0, NAN])[0],
    ),
    # Elements that are written twice.
    Corner(
        "the last write stays",
        lambda x: x.at[np.array([0, 0, 0])].set(np.array([1, 2, 3], F32)),
        floats([9.0, 9.0]),
        floats([3.0, 9.0])[0],
    ),
    Corner(
        "every addition counts",
        lambda x: x.at[np.array([0, 0])].add(np.array([1, 2], F32)),
        floats([9.0, 9.0]),
        floats([12.0, 9.0])[0],
    ),
    Corner(
        "the largest write stays",
        lambda x: x.at[np.array([0, 0])].max(np.array([10, 2], F32)),
        floats([9.0, 9.0]),
        floats([10.0, 9.0])[0],
    ),
    # The next number, among denormals too.
    Corner(
        "nextafter 0", anp.nextafter, floats([0.0, -0.0], [1.0, -1.0]), floats([1e-45, -1e-45])[0]
    ),
    # Nothing to reduce.
    Corner(
        "sum of nothing", lambda x: anp.sum(x, 0), floats(np.zeros((0, 2))), floats([0.0, 0.0])[0]
    ),
    Corner("prod of nothing", anp.prod, floats([]), F32(1)),
    Corner("any of nothing", anp.any, floats([]), np.False_),
    Corner("all of nothing", anp.all, floats([]), np.True_),
    Corner("mean of nothing", anp.mean, floats([]), F32(NAN)),
    Corner("var of nothing", anp.var, floats([]), F32(NAN)),
    Corner("cumsum of nothing", anp.cumsum, floats([]), floats([])[0]),
    Corner("sort of nothing", anp.sort, floats([]), floats([])[0]),
    Corner("norm of nothing", anp.linalg.norm, floats([]), F32(0)),
    Corner(
        "product with nothing",
        anp.matmul,
        floats(np.zeros((2, 0)), np.zeros((0, 1))),
        floats([[0.0], [0.0]])[0],
    ),
    Corner("max of nothing and 3", lambda x: anp.max(x, initial=3.0), floats([]), F32(3)),
    Corner("logsumexp of nothing", ax.nn.logsumexp, floats([]), F32(-INF)),
]


@ways
@pytest.mark.parametrize("corner", CORNERS, ids=[c.what for c in CORNERS])
def test_a_corner_has_one_answer_everywhere(corner: Corner, backend: str, compiled: bool) -> None:
    got = on(backend, compiled, corner.function, *corner.operands)
    results = got if isinstance(got, tuple) else (got,)
    wanted = corner.result if isinstance(corner.result, tuple) else (corner.result,)
    for result, want in zip(results, wanted, strict=True):
        assert result.dtype == want.dtype
        np.testing.assert_array_equal(result, want)
        if result.dtype.kind == "f":
            zeros = np.asarray(want) == 0
            np.testing.assert_array_equal(np.signbit(result)[zeros], np.signbit(want)[zeros])


@ways
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_an_extreme_of_nothing_is_refused(name: str, backend: str, compiled: bool) -> None:
    with pytest.raises(ValueError, match=name):
        on(backend, compiled, getattr(anp, name), np.zeros((0,), F32))


@ways
def test_xla_takes_denormals_for_zeros_and_numpy_does_not(backend: str, compiled: bool) -> None:
    # Which of the two XLA does depends on the operation: it is never further away than that.
    tiny = np.array([1e-40, -1e-40], F32)
    got = on(backend, compiled, lambda x: x * 2.0, tiny)
    if backend == "numpy":
        np.testing.assert_array_equal(got, tiny * 2)
    else:
        np.testing.assert_allclose(got, tiny * 2, rtol=0, atol=1.2e-38)


# ----------------------------------------------------------------- 16 bits

LONG = 3000
SUMS: list[tuple[str, Any, tuple[int, ...], int]] = [
    ("sum", anp.sum, (LONG,), 1),
    ("sum over an axis", lambda x: anp.sum(x, 0), (LONG, 2), 1),
    ("nansum", anp.nansum, (LONG,), 1),
    ("mean", anp.mean, (LONG,), 1),
    ("average", anp.average, (LONG,), 1),
    ("std", anp.std, (LONG,), 1),
    ("add.reduce", anp.add.reduce, (LONG,), 1),
    ("cumsum", lambda x: anp.cumsum(x)[-1], (LONG,), 1),
    ("cumulative_sum", lambda x: anp.cumulative_sum(x)[-1], (LONG,), 1),
    ("trapezoid", anp.trapezoid, (LONG,), 1),
    ("trace", anp.trace, (LONG // 10, LONG // 10), 1),
    ("dot", anp.dot, (LONG,), 2),
    ("vdot", anp.vdot, (LONG,), 2),
    ("inner", anp.inner, (LONG,), 2),
    ("matmul", anp.matmul, (LONG,), 2),
    ("einsum", lambda x, y: anp.einsum("i,i", x, y), (LONG,), 2),
    ("tensordot", lambda x, y: anp.tensordot(x, y, 1), (LONG,), 2),
    ("convolve", lambda x, y: anp.convolve(x, y, "valid"), (LONG,), 2),
    ("norm", anp.linalg.norm, (LONG,), 1),
    ("logsumexp", ax.nn.logsumexp, (LONG,), 1),
    ("quantile", lambda x: anp.quantile(x, 0.37), (LONG,), 1),
    ("percentile", lambda x: anp.percentile(x, 37), (LONG,), 1),
    ("median", anp.median, (LONG + 300,), 1),
]


@ways
@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16], ids=["bfloat16", "float16"])
@pytest.mark.parametrize(
    ("function", "shape", "count"), [s[1:] for s in SUMS], ids=[s[0] for s in SUMS]
)
def test_sums_of_16_bits_are_kept_in_32(
    function: Any, shape: tuple[int, ...], count: int, dtype: Any, backend: str, compiled: bool
) -> None:
    random = np.random.default_rng(0)
    operands = [random.uniform(0.5, 1.0, shape).astype(dtype) for _ in range(count)]
    got = on(backend, compiled, function, *operands)
    assert got.dtype == dtype
    exact = on("numpy", False, function, *[x.astype(np.float64) for x in operands])
    # One rounding at the end, or a few: kept in 16 bits, a sum would stop growing at 256.
    eps = float(ml_dtypes.finfo(dtype).eps)
    np.testing.assert_allclose(got.astype(np.float64), exact, rtol=2 * eps)
