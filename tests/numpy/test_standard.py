"""What the Array API standard asks for beyond NumPy's habits: places, exchange, limits, masks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.errors import ArgumentError, BackendError

INF, NAN = math.inf, math.nan
MAKERS: dict[str, Any] = {
    "zeros": lambda **at: anp.zeros((2, 3), **at),
    "ones": lambda **at: anp.ones(3, int, **at),
    "empty": lambda **at: anp.empty(3, **at),
    "full": lambda **at: anp.full(3, 7, **at),
    "zeros_like": lambda **at: anp.zeros_like(anp.ones(3), **at),
    "ones_like": lambda **at: anp.ones_like(anp.ones(3), **at),
    "empty_like": lambda **at: anp.empty_like(anp.ones(3), **at),
    "full_like": lambda **at: anp.full_like(anp.ones(3), 2, **at),
    "arange": lambda **at: anp.arange(3, **at),
    "linspace": lambda **at: anp.linspace(0, 1, 3, **at),
    "eye": lambda **at: anp.eye(2, **at),
    "array": lambda **at: anp.array([1.0, 2.0], **at),
    "asarray": lambda **at: anp.asarray(np.ones(3), **at),
    "asarray of ours": lambda **at: anp.asarray(anp.ones(3), **at),
    "astype": lambda **at: anp.astype(anp.ones(3), anp.int32, **at),
    "from_dlpack": lambda **at: anp.from_dlpack(np.ones(3), **at),
    "from_dlpack of ours": lambda **at: anp.from_dlpack(anp.ones(3), **at),
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_device_is_where_the_result_is_put(name: str) -> None:
    pytest.importorskip("jaxlib")
    make = MAKERS[name]
    for device in ("xla", "xla:cpu:0", ax.devices("xla")[0]):
        made = make(device=device)
        assert str(made.device) == "xla:cpu:0"
        np.testing.assert_array_equal(np.asarray(made), np.asarray(make()))
    assert make().device is ax.devices("numpy")[0]
    inside = ax.jit(lambda: make(device="numpy"))
    np.testing.assert_array_equal(np.asarray(inside()), np.asarray(make()))


def test_a_device_that_does_not_exist_is_refused() -> None:
    with pytest.raises(BackendError, match="numpy:cpu:7"):
        anp.zeros(2, device="numpy:cpu:7")


def test_arrays_move_between_devices_and_know_theirs() -> None:
    pytest.importorskip("jaxlib")
    x = anp.arange(3)
    moved = x.to_device("xla")
    assert str(moved.device) == "xla:cpu:0" and str(x.device) == "numpy:cpu:0"
    assert x.to_device(x.device) is x
    with pytest.raises(ArgumentError, match="stream"):
        x.to_device("numpy", stream=1)


def test_the_device_of_a_traced_array_can_be_handed_on() -> None:
    def function(x: Any) -> Any:
        return anp.sum(anp.ones(3, device=x.device) * x)

    x = anp.arange(3.0)
    assert ax.jit(lambda x: x.device is None or x)(x) is not None
    for transformed in (function, ax.jit(function)):
        assert transformed(x) == 3.0
        assert ax.grad(transformed)(x).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("copy", [None, True, False])
@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (2, 0)])
@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_elements_are_handed_to_others(backend: str, version: Any, copy: Any) -> None:
    if backend == "xla":
        pytest.importorskip("jaxlib")
    x = anp.arange(3, device=backend)

    class Consumer:
        __dlpack_device__ = x.__dlpack_device__

        def __dlpack__(self, **_: Any) -> Any:
            return x.__dlpack__(max_version=version, copy=copy, dl_device=(1, 0))

    assert np.from_dlpack(Consumer()).tolist() == [0, 1, 2]
    with pytest.raises(BufferError, match="memory of the host"):
        x.__dlpack__(dl_device=(2, 0))


def test_memory_is_shared_only_where_that_is_asked_for() -> None:
    host = np.ones(3)
    copied, shared, exchanged = (
        anp.asarray(host),
        anp.asarray(host, copy=False),
        anp.from_dlpack(host, copy=False),
    )
    host[0] = 7.0
    assert copied.tolist() == [1.0, 1.0, 1.0]
    assert shared.tolist() == exchanged.tolist() == [7.0, 1.0, 1.0]
    x = anp.ones(3)
    assert anp.asarray(x, copy=False) is x


@pytest.mark.parametrize(
    ("value", "dtype", "words"),
    [
        ([1.0], None, "of type list"),
        (np.ones(2), np.float32, "its dtype is float64"),
        (anp.ones(2), np.float64, "its dtype is float32"),
        (2.0, None, "of type float"),
    ],
)
def test_what_needs_a_copy_is_refused_without_one(value: Any, dtype: Any, words: str) -> None:
    with pytest.raises(ValueError, match=f"without a copy, but .*{words}"):
        anp.asarray(value, dtype, copy=False)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64", "complex64"])
def test_limits_are_numbers_of_python(dtype: str) -> None:
    limits = anp.finfo(dtype)
    for name in ("eps", "max", "min", "smallest_normal", "tiny", "epsneg"):
        assert type(getattr(limits, name)) is float
    assert type(limits.bits) is int and limits.min == -limits.max
    assert (anp.ones(1, anp.bfloat16) + limits.eps).dtype == anp.bfloat16
    assert type(anp.iinfo("int8").max) is int


@pytest.mark.parametrize(
    ("dtype", "result"),
    [("int8", "int32"), ("uint8", "uint32"), ("bool", "int32"), ("float16", "float16")],
)
def test_running_sums_of_the_standard_are_as_wide_as_sums(dtype: str, result: str) -> None:
    x = anp.ones(3, dtype)
    for function in (anp.cumulative_sum, anp.cumulative_prod, anp.sum, anp.prod):
        assert function(x).dtype.name == result
    assert anp.cumulative_sum(x, dtype=anp.int8).dtype == anp.int8
    with pytest.raises(ValueError, match="2 dimensions needs axis="):
        anp.cumulative_sum(anp.ones((2, 2)))


MASKS: list[tuple[Any, tuple[int, ...]]] = [
    (True, ()),
    (False, ()),
    ((True, slice(None)), (2, 3)),
    ((slice(None), True, 1), (2, 3)),
    ((0, None, False), (2, 3)),
    ((Ellipsis, np.array(True)), (2, 3)),
    (np.zeros((0, 3), bool), (2, 3)),
    (np.zeros((2, 0), bool), (2, 3)),
    (((0, 1, 0), (2, 2, 1)), (2, 3)),
    ((1, (0, 2)), (2, 3)),
    (([True, False],), (2, 3)),
]


@pytest.mark.parametrize(("index", "shape"), MASKS, ids=[str(m[0]) for m in MASKS])
def test_masks_of_rank_0_and_of_length_0_select_like_those_of_numpy(index: Any, shape: Any) -> None:
    host = np.arange(math.prod(shape)).reshape(shape)
    if isinstance(index, np.ndarray) and not index.size:
        wanted = host[:0] if index.shape[0] == 0 or index.ndim == 1 else host.ravel()[:0]
        assert anp.asarray(host)[index].shape == (0,)
        assert wanted.size == 0
        return
    np.testing.assert_array_equal(np.asarray(anp.asarray(host)[index]), host[index])


def test_a_mask_that_does_not_fit_is_an_index_error() -> None:
    x = anp.ones((2, 3))
    for mask in (np.ones(3, bool), np.ones((0, 5), bool), np.ones((2, 3, 1), bool)):
        with pytest.raises(IndexError):
            x[mask]


@pytest.mark.parametrize("k", [2**40, -(2**40), 3, -2])
def test_diagonals_may_lie_far_outside(k: int) -> None:
    near = max(-5, min(5, k))  # NumPy's own tri cannot count so far
    np.testing.assert_array_equal(np.asarray(anp.eye(2, 3, k)), np.eye(2, 3, near))
    ones = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(np.asarray(anp.tril(ones, k)), np.tril(ones, near))
    np.testing.assert_array_equal(np.asarray(anp.triu(ones, k)), np.triu(ones, near))


SPECIAL: list[tuple[str, complex, complex]] = [
    ("expm1", complex(INF, 0), complex(INF, 0)),
    ("expm1", complex(-INF, INF), complex(-1, 0)),
    ("expm1", complex(-INF, NAN), complex(-1, 0)),
    ("expm1", complex(INF, INF), complex(INF, NAN)),
    ("expm1", complex(INF, NAN), complex(INF, NAN)),
    ("expm1", complex(NAN, 0), complex(NAN, 0)),
    ("expm1", complex(1, INF), complex(NAN, NAN)),
    ("expm1", complex(-0.0, 0), complex(0, 0)),
    ("tanh", complex(INF, 2), complex(1, 0)),
    ("tanh", complex(INF, NAN), complex(1, 0)),
    ("sign", complex(-0.0, -0.0), 0j),
]


@pytest.mark.parametrize(("name", "z", "result"), SPECIAL)
def test_complex_functions_at_infinity(name: str, z: complex, result: complex) -> None:
    for dtype in (np.complex64, np.complex128):
        got = np.asarray(getattr(anp, name)(anp.array([z, 1.0], dtype)))[0]
        for part, wanted in ((got.real, result.real), (got.imag, result.imag)):
            np.testing.assert_array_equal(part, wanted)
            if wanted == 0:
                assert np.signbit(part) == np.signbit(wanted)


def test_complex_numbers_are_ordered_by_their_parts() -> None:
    z = np.array([[1 + 2j, 1 + 3j], [0 - 1j, 1 - 5j], [1 + 3j, 0 - 1j]])
    x = anp.asarray(z)
    for name in ("max", "min", "ptp", "nanmax", "nanmin"):
        for axis in (None, 0, 1):
            np.testing.assert_array_equal(
                np.asarray(getattr(anp, name)(x, axis)), getattr(np, name)(z, axis)
            )
    for name in ("maximum", "minimum", "fmax", "fmin"):
        ours, theirs = getattr(anp, name), getattr(np, name)
        np.testing.assert_array_equal(np.asarray(ours(x, x[::-1])), theirs(z, z[::-1]))
        np.testing.assert_array_equal(np.asarray(ours(x, 1.0)), theirs(z, 1.0))
    np.testing.assert_array_equal(np.asarray(anp.clip(x, 0, 1)), np.clip(z, 0, 1))
    assert np.isnan(np.asarray(anp.max(anp.array([1j, complex(0, NAN)]))))
    assert ax.grad(lambda x: anp.real(anp.max(x)))(x[1]).tolist() == [0, 1]


def test_clip_knows_both_names_of_its_bounds() -> None:
    x = anp.arange(4.0)
    assert anp.clip(x, a_min=1, a_max=2).tolist() == [1.0, 1.0, 2.0, 2.0]
    assert anp.clip(x, a_max=2).tolist() == [0.0, 1.0, 2.0, 2.0]
    with pytest.raises(ArgumentError, match="not as both"):
        anp.clip(x, 1, a_max=2)
