"""Functions whose results, sizes or arguments do not fit the table of `test_functions`."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors

RNG = np.random.default_rng(0)
A = RNG.normal(size=(3, 4)).astype(np.float32)
N = RNG.integers(-3, 4, (3, 4)).astype(np.int32)


def same(got: Any, want: Any) -> None:
    """Equal trees of arrays; dtypes are looked at elsewhere."""
    if isinstance(want, tuple | list):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
        return
    assert np.shape(got) == np.shape(want)
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5, atol=1e-6)


# ----------------------------------------------------------------- several results

SEVERAL: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("frexp", (np.float32([0, -1, 3.7, 1e-42, 1e30, np.inf, np.nan]),), {}),
    ("frexp", (np.float64([0, -1, 3.7, 5e-324, 1e300]),), {}),
    ("frexp", (np.float16([0, -1, 3.7, 6e-8, 6e4]),), {}),
    ("unravel_index", (np.array([[1, 5], [0, 11]]), (3, 4)), {}),
    ("unravel_index", (7, (3, 4)), {}),
    ("diag_indices", (3,), {}),
    ("diag_indices", (2, 3), {}),
    ("diag_indices_from", (A[:3, :3],), {}),
    *(
        (f"{half}_indices", (n,), {"k": k, "m": m})
        for half in ("tril", "triu")
        for n, k, m in ((3, 0, None), (3, 1, 4), (4, -1, 2), (0, 0, None))
    ),
    ("tril_indices_from", (A, 1), {}),
    ("triu_indices_from", (A, -1), {}),
    ("ix_", (np.array([0, 2]), np.array([True, False, True])), {}),
    ("polydiv", (np.float32([1, 5, 3, -2]), np.float32([2, 1])), {}),
    ("polydiv", (np.float32([1]), np.float32([2, 1])), {}),
    ("histogram", (A,), {}),
    ("histogram", (A, np.array([-1.0, 0.0, 0.5, 2.0])), {}),
    ("histogram", (N, 7, (-3, 3)), {}),
    ("histogram", (A, 5), {"weights": abs(A), "density": True}),
    ("histogram", (np.ones(3, np.float32), 2), {}),
    ("histogram", (np.zeros(0, np.float32), 2), {}),
    ("histogram2d", (A[0], A[1], 3), {}),
    ("histogram2d", (A[0], A[1], [2, np.array([-2.0, 0.0, 2.0])]), {"density": True}),
    ("histogramdd", (A, 2), {}),
    ("intersect1d", (N, np.array([[2, -1, 2, 9]])), {"return_indices": True}),
    *(
        ("unique", (x,), {"return_index": True, "return_inverse": True, "return_counts": True, **k})
        for x, k in (
            (N, {}),
            (N % 2, {"axis": 0}),
            (N[:, :2] % 2, {"axis": 1}),
            (np.float32([np.nan, 1, np.nan, 0]), {}),
            (np.float32([np.nan, 1, np.nan, 0]), {"equal_nan": False}),
            (np.zeros((0,), np.int32), {}),
            (np.array([1 + 2j, 1 + 1j, 1 + 2j], np.complex64), {}),
            (np.array([True, False, True]), {}),
        )
    ),
]


@pytest.mark.parametrize(("name", "args", "kwargs"), SEVERAL, ids=[s[0] for s in SEVERAL])
def test_functions_with_several_results_agree_with_numpy(name: str, args: Any, kwargs: Any) -> None:
    want = getattr(np, name)(*args, **kwargs)
    if name == "polydiv":
        # The remainder keeps its length here.
        want = want[0], np.concatenate([np.zeros(len(args[0]) - len(want[1])), want[1]])
    same(getattr(anp, name)(*args, **kwargs), want)


def test_frexp_and_ldexp_are_inverse_to_the_ends_of_the_range() -> None:
    for dtype in (np.float16, np.float32, np.float64):
        info = np.finfo(dtype)
        x = np.array([info.max, info.tiny, info.smallest_subnormal, -1.5, info.max / 3], dtype)
        fraction, exponent = anp.frexp(x)
        assert fraction.dtype == dtype and exponent.dtype == np.int32
        np.testing.assert_array_equal(np.asarray(anp.ldexp(fraction, exponent)), x)
    far = np.asarray(anp.ldexp(np.float32([1, 1, 2**-120, -3]), np.int32([999, -999, 240, 2])))
    np.testing.assert_array_equal(far, np.float32([np.inf, 0, 2.0**120, -12]))
    slope = ax.grad(lambda x: anp.ldexp(x, 3))(1.5)
    assert float(slope) == 8.0
    assert float(ax.grad(lambda x: anp.frexp(x)[0])(6.0)) == 0.125


def test_the_first_infinity_that_is_an_element_is_the_extreme_of_nan() -> None:
    nan, inf = np.nan, np.inf
    assert int(anp.nanargmax(np.float32([nan, -inf, nan]))) == 1
    assert int(anp.nanargmin(np.float32([nan, inf, inf]))) == 1
    assert anp.nanargmax(np.float32([[nan, nan], [nan, 2]]), axis=1).tolist() == [-1, 1]
    assert anp.nanargmax(np.float32([[nan, 3]]), axis=1, keepdims=True).shape == (1, 1)


def test_counts_of_16_bit_values_do_not_stand_still() -> None:
    ones = anp.ones(3000, anp.bfloat16)
    counts, _ = anp.histogram(ones, 1)
    assert counts.dtype == np.float32 and counts.tolist() == [3000]
    assert anp.histogram(ones, 1, weights=ones)[0].tolist() == [3000]
    sums = anp.bincount(np.zeros(3000, np.int32), weights=ones)
    assert sums.dtype == anp.bfloat16 and sums.tolist() == [3008]  # the nearest there is
    assert anp.bincount(np.array([0, 1, 1]), weights=np.array([1j, 2, 3])).tolist() == [1j, 5]


# ----------------------------------------------------------------- sizes

X = np.array([3, 1, 2, 1], np.int32)
SIZED: list[tuple[str, Any, Any]] = [
    # name, a function of traced arrays, what it gives
    ("unique", lambda x: anp.unique(x, size=5), [1, 2, 3, 1, 1]),
    ("unique filled", lambda x: anp.unique(x, size=5, fill_value=-7), [1, 2, 3, -7, -7]),
    ("unique cut", lambda x: anp.unique(x, size=2), [1, 2]),
    (
        "unique with all",
        lambda x: anp.unique(x, True, True, True, size=5),
        ([1, 2, 3, 1, 1], [1, 2, 0, 1, 1], [2, 0, 1, 0], [2, 1, 1, 0, 0]),
    ),
    ("unique_all", lambda x: anp.unique_all(x, size=3)[0], [1, 2, 3]),
    ("unique_counts", lambda x: anp.unique_counts(x, size=3)[1], [2, 1, 1]),
    ("unique_inverse", lambda x: anp.unique_inverse(x, size=3)[1], [2, 0, 1, 0]),
    ("unique_values", lambda x: anp.unique_values(x, size=4, fill_value=0), [1, 2, 3, 0]),
    ("union1d", lambda x: anp.union1d(x, np.array([2, 5]), size=6), [1, 2, 3, 5, 1, 1]),
    ("setdiff1d", lambda x: anp.setdiff1d(x, np.array([2]), size=4), [1, 3, 0, 0]),
    (
        "intersect1d",
        lambda x: anp.intersect1d(x, np.array([2, 1]), return_indices=True, size=4),
        ([1, 2, 1, 1], [1, 2, 4, 4], [1, 0, 2, 2]),
    ),
    ("setxor1d", lambda x: anp.setxor1d(x, np.array([2, 5]), size=4), [1, 3, 5, 1]),
    ("bincount", lambda x: anp.bincount(x, length=3), [0, 2, 1]),
    ("extract", lambda x: anp.extract(x > 1, x, size=3, fill_value=9), [3, 2, 9]),
]


@pytest.mark.parametrize(("call", "want"), [s[1:] for s in SIZED], ids=[s[0] for s in SIZED])
def test_with_a_size_they_are_compiled_and_mapped_and_fill_as_jax_does(
    call: Any, want: Any
) -> None:
    want = tuple(map(np.array, want)) if isinstance(want, tuple) else np.array(want)
    same(call(anp.asarray(X)), want)
    same(ax.jit(call)(X), want)
    mapped = ax.vmap(call)(np.stack([X, X]))
    same(ax.tree.map(lambda v: v[1], mapped), want)


@pytest.mark.parametrize(
    ("call", "way_out"),
    [
        (anp.unique, "`size=`"),
        (anp.unique_values, "`size=`"),
        (lambda x: anp.union1d(x, x), "`size=`"),
        (lambda x: anp.setdiff1d(x, x), "`size=`"),
        (lambda x: anp.intersect1d(x, x), "`size=`"),
        (lambda x: anp.setxor1d(x, x), "`size=`"),
        (anp.bincount, "`length=`"),
        (lambda x: anp.extract(x > 1, x), "`size=`"),
        (anp.trim_zeros, "a known filt"),
        (lambda x: anp.delete(X, x), "a known obj"),
        (lambda x: anp.ravel_multi_index((x,), (9,)), 'mode="clip"'),
    ],
)
def test_what_depends_on_values_says_so_under_jit(call: Any, way_out: str) -> None:
    with pytest.raises(errors.ConcretizationError) as caught:
        ax.jit(call)(X)
    assert way_out in str(caught.value)


def test_traced_numbers_of_elements_outside_are_moved_inside() -> None:
    numbers = np.array([-1, 7, -9, 4])
    same(ax.jit(lambda i: anp.unravel_index(i, (2, 3)))(numbers), ([1, 1, 0, 1], [2, 2, 0, 1]))


# ----------------------------------------------------------------- writes


def test_writes_need_inplace_false_and_leave_the_array_alone() -> None:
    x = anp.zeros((3, 4))
    for call in (
        lambda **k: anp.fill_diagonal(x, 1, **k),
        lambda **k: anp.put(x, np.array([1]), 2, **k),
        lambda **k: anp.place(x, x == 0, anp.ones(1), **k),
        lambda **k: anp.put_along_axis(x, np.array([[0]]), 2, 1, **k),
    ):
        with pytest.raises(errors.ImmutableArrayError, match="inplace=False"):
            call()
        assert call(inplace=False).sum() > 0
    assert not x.any()


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("fill_diagonal", (A, 5.0)),
        ("fill_diagonal", (A, np.float32([1, 2]))),
        ("fill_diagonal", (np.zeros((2, 2, 2), np.float32), 5.0)),
        ("put", (A, np.array([0, -1, 5]), np.float32([1, 2]))),
        ("put", (A, np.array([0, 99]), np.float32(3), "clip")),
        ("put", (A, np.array([13]), np.float32(3), "wrap")),
        ("place", (A, A > 0, np.float32([1, 2]))),
        ("put_along_axis", (A, np.array([[1], [0], [-1]]), 7, 1)),
        ("put_along_axis", (A, np.array([[1, 0, 2, 1]]), np.float32([1, 2, 3, 4]), 0)),
        ("put_along_axis", (A, np.array([1, 7]), 7, None)),
    ],
)
def test_writes_agree_with_numpy_and_are_compiled(name: str, args: Any) -> None:
    x, *rest = args
    want = x.copy()
    getattr(np, name)(want, *rest)
    same(getattr(anp, name)(x, *rest, inplace=False), want)
    same(ax.jit(lambda v: getattr(anp, name)(v, *rest, inplace=False))(x), want)


def test_numbers_beside_wide_arrays_keep_their_digits() -> None:
    x = anp.asarray(np.array([1.0, 2.0, 3.0]))
    for got in (
        anp.insert(x, 1, 0.1)[1],
        anp.put(x, 0, 0.1, inplace=False)[0],
        anp.place(x, x > 2, [0.1], inplace=False)[2],
        anp.fill_diagonal(anp.zeros((2, 2), np.float64), 0.1, inplace=False)[0, 0],
        anp.put_along_axis(x, np.array([1]), 0.1, 0, inplace=False)[1],
        anp.piecewise(x, [x > 2], [0.1])[2],
        anp.unique(x, size=4, fill_value=0.1)[3],
        anp.quantile(anp.asarray(np.array([0.0, 1.0])), 0.1),
        anp.fft.fftfreq(2, anp.asarray(np.float64(5.0)))[1] * -1,
    ):
        assert got.dtype == np.float64 and got.item() == 0.1
    assert anp.array_equal(anp.asarray(np.float64(0.1)), 0.1)


# ----------------------------------------------------------------- functions of functions


def test_vectorize_broadcasts_what_the_signature_leaves() -> None:
    matvec = anp.vectorize(anp.dot, signature="(n,m),(m)->(n)")
    x, y = RNG.normal(size=(5, 1, 2, 3)), RNG.normal(size=(4, 3))
    same(matvec(x, y), np.matmul(x, y[..., None])[..., 0])
    assert ax.jit(matvec)(x, y).shape == (5, 4, 2)
    same(
        anp.vectorize(lambda a, b: a + b)(np.ones((2, 1)), np.arange(3)),
        1 + np.ones((2, 1)) * np.arange(3),
    )
    same(anp.vectorize(lambda a, b: a * b)(np.ones((1, 1)), np.ones((1,))), np.ones((1, 1)))
    both = anp.vectorize(lambda v: (v.sum(), v * 2), signature="(n)->(),(n)")
    same(both(A), (A.sum(1), A * 2))
    same(anp.vectorize(lambda a, b: a**b)(np.float32([2, 3]), b=np.array([1, 2])), [2.0, 9.0])


def test_vectorize_passes_excluded_arguments_and_none_as_they_are() -> None:
    def f(a: Any, n: Any, flag: Any = None) -> Any:
        assert isinstance(n, int) and flag == "yes"
        return a * n

    same(anp.vectorize(f, excluded={1, "flag"})(A, 2, flag="yes"), 2 * A)
    same(anp.vectorize(lambda a, b: a if b is None else b)(A, None), A)
    slope = ax.grad(lambda x: anp.vectorize(lambda v: v * v)(x).sum())(A)
    same(slope, 2 * A)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: anp.vectorize(anp.dot, signature="n->n"), "no signature such as"),
        (lambda: anp.vectorize(anp.dot, signature="(n),(n)->()")(A), "1 arguments for the sig"),
        (lambda: anp.vectorize(anp.dot, signature="(n),(n)->()")(A[0], A[0, :2]), "length 2 in"),
        (lambda: anp.vectorize(anp.dot, signature="(n),(n)->()")(1.0, A[0]), "fewer dimensions"),
        (lambda: anp.vectorize(lambda x: x, signature="(n)->()")(A), "has 1 dimensions, its"),
        (lambda: anp.vectorize(lambda x: x, signature="(n)->(),()")(A), "returned 1 results"),
        (lambda: anp.vectorize(lambda x: x, excluded=[1.5]), "positions and names"),
        (lambda: anp.apply_over_axes(lambda a, i: a.sum(), A, [0]), "drop the axis"),
    ],
)
def test_functions_of_functions_name_what_is_wrong(call: Any, message: str) -> None:
    with pytest.raises(errors.ArrayxError, match=message):
        call()


def test_apply_along_axis_agrees_with_numpy() -> None:
    for axis in (0, 1, -1):
        same(anp.apply_along_axis(anp.sum, axis, A), A.sum(axis))
        same(anp.apply_along_axis(anp.cumsum, axis, A), A.cumsum(axis))
        outer = np.apply_along_axis(lambda v: np.outer(v, v), axis, A)
        same(anp.apply_along_axis(lambda v: anp.outer(v, v), axis, A), outer)
    same(ax.jit(lambda x: anp.apply_along_axis(anp.sum, 0, x))(A), A.sum(0))
    same(anp.fromfunction(lambda i, j: i - j, (2, 3)), np.fromfunction(lambda i, j: i - j, (2, 3)))


# ----------------------------------------------------------------- grids, files, the namespace


def test_grids_by_indexing_agree_with_numpy_in_the_default_width() -> None:
    for key in ((slice(0, 2), slice(0, 6, 2)), (slice(0, 1, 3j), slice(4))):
        same(anp.mgrid[key], np.mgrid[key])
        same(anp.ogrid[key], list(np.ogrid[key]))
    same(anp.mgrid[2:5], np.mgrid[2:5])
    assert anp.mgrid[0:2, 0:1:3j].dtype == np.float32 and anp.mgrid[0:2].dtype == np.int32
    same(anp.r_[0:3, 7, np.array([1.5])], np.r_[0:3, 7, np.array([1.5])])
    same(anp.c_[np.arange(3), np.ones(3)], np.c_[np.arange(3), np.ones(3)])
    assert anp.s_[1:2] == slice(1, 2) and anp.index_exp[0] == (0,)
    with pytest.raises(errors.ArgumentError, match="directive"):
        anp.r_["r", 0]


def test_arrays_come_back_from_files_and_buffers() -> None:
    file = io.BytesIO()
    anp.save(file, anp.asarray(A))
    file.seek(0)
    loaded = anp.load(file)
    assert isinstance(loaded, ax.Array) and loaded.dtype == np.float32
    same(loaded, A)
    file = io.BytesIO()
    anp.savez(file, anp.asarray(A), n=N)
    file.seek(0)
    with anp.load(file) as several:
        same(several["arr_0"], A)
        same(several["n"], N)
    with pytest.raises(errors.DtypeError, match="bfloat16"):
        anp.save(io.BytesIO(), anp.ones(2, anp.bfloat16))
    same(anp.frombuffer(A.tobytes(), np.float32), A.ravel())
    same(anp.from_dlpack(A), A)
    with pytest.raises(errors.ArgumentError, match="__dlpack__"):
        anp.from_dlpack([1, 2])
    with anp.printoptions(precision=2):
        assert repr(anp.asarray(1.23456)) == "Array(1.23, dtype=float32, weak_type=True)"


def test_the_namespace_tells_of_itself_as_the_standard_asks() -> None:
    info = anp.__array_namespace_info__()
    assert anp.__array_api_version__ == "2024.12"
    assert set(info.capabilities()) == {
        "boolean indexing",
        "data-dependent shapes",
        "max dimensions",
    }
    assert info.default_device() in info.devices()
    assert info.default_dtypes(device=info.default_device())["integral"] == np.int32
    assert info.dtypes(kind=("bool", "real floating")) == {
        "bool": np.dtype(bool),
        "float32": np.dtype(np.float32),
        "float64": np.dtype(np.float64),
    }
    assert len(info.dtypes()) == 13
    with pytest.raises(errors.ArgumentError, match="no kind 'text'"):
        info.dtypes(kind="text")


# ----------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: anp.bincount(A[0]), TypeError, "bincount takes integers"),
        (lambda: anp.bincount(N), ValueError, "takes a vector"),
        (lambda: anp.cov(A, aweights=np.ones(3)), ValueError, "vector of length 4"),
        (lambda: anp.convolve(A, A), ValueError, "two vectors"),
        (lambda: anp.convolve(A[0], A[0], "half"), ValueError, "mode is one of"),
        (lambda: anp.convolve(A[0], A[0, :0]), ValueError, "no elements"),
        (lambda: anp.interp(0.0, A[0], A[1, :2]), ValueError, "of one length"),
        (lambda: anp.interp(0.0, A[0], A[1], left="mirror"), ValueError, "'extrapolate'"),
        (lambda: anp.unravel_index(12, (3, 4)), IndexError, "12 is out of bounds"),
        (lambda: anp.ravel_multi_index((3, 0), (3, 4)), IndexError, "axis 0 is out of bounds"),
        (lambda: anp.ravel_multi_index((3,), (3, 4)), ValueError, "1 indices for 2"),
        (lambda: anp.delete(A, 3, axis=0), IndexError, "delete: index 3 is out of bounds"),
        (lambda: anp.insert(A, 4, 0, axis=0), IndexError, "insert: index 4"),
        (lambda: anp.polyval(2.0, A), ValueError, "must be a vector of coeff"),
        (lambda: anp.poly(A), ValueError, "takes a vector of roots"),
        (lambda: anp.packbits(A), TypeError, "takes booleans and integers"),
        (lambda: anp.unpackbits(N), TypeError, "takes uint8"),
        (lambda: anp.ldexp(A, A), TypeError, "a real number and an integer"),
        (lambda: anp.histogram(A, "auto"), ValueError, "rule 'auto'"),
        (lambda: anp.histogram(A, 0), ValueError, "at least one bin"),
        (lambda: anp.partition(A, 4), ValueError, "kth 4 is out of range"),
        (lambda: anp.diag_indices_from(A), ValueError, "must have one length"),
        (lambda: anp.matvec(A[0], A), ValueError, "x1 must be a matrix"),
        (lambda: anp.trim_zeros(A, "x"), ValueError, "trim holds"),
        (lambda: anp.isin(A, A, method="guess"), ValueError, "method is one of"),
        (lambda: anp.unique(A, axis=2), IndexError, "axis 2 is out of range"),
    ],
)
def test_mistakes_are_named(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
