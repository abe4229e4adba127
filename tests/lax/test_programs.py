"""Barriers, platforms, random bits and bits of products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
from arrayx import errors, lax


def test_a_barrier_keeps_equal_work_apart() -> None:
    def f(x: Any) -> Any:
        return ax.numpy.sin(x) + ax.numpy.sin(lax.optimization_barrier(x))

    text = ax.jit(f).lower(1.0).as_text()
    assert text.count("sin(") == 2, text


@pytest.mark.parametrize("backend", ("numpy", "xla"))
def test_a_barrier_is_the_identity_to_every_transformation(backend: str) -> None:
    with ax.default_backend(backend):
        f = lambda x: lax.optimization_barrier((x**3, 2 * x))[0].sum()  # noqa: E731
        x = ax.numpy.array([1.0, 2.0])
        assert np.asarray(ax.jit(ax.grad(f))(x)).tolist() == [3.0, 12.0]
        assert np.asarray(ax.hessian(f)(x)).tolist() == [[6.0, 0.0], [0.0, 12.0]]
        assert ax.vmap(lax.optimization_barrier)(x).tolist() == [1.0, 2.0]


def test_the_platform_of_the_device_is_chosen() -> None:
    double, same = (lambda x: 2 * x), (lambda x: x)
    assert lax.platform_dependent(3, cpu=double, default=same) == 6
    assert lax.platform_dependent(3, tpu=double, default=same) == 3
    with pytest.raises(errors.ArgumentError, match="no function for platform 'cpu'"):
        lax.platform_dependent(3, tpu=double)


def test_random_bits_go_on_where_they_ended() -> None:
    state = np.array([1, 2, 3, 2**32 - 1], np.uint32)
    state_64 = state.view(np.uint64)
    first, bits = lax.rng_bit_generator(state, (4,))
    second, more = lax.rng_bit_generator(first, (4,))
    _, all_of_them = lax.rng_bit_generator(state, (8,))
    assert bits.tolist() + more.tolist() == all_of_them.tolist()
    moved, same = lax.rng_bit_generator(state_64, (4,))
    assert same.tolist() == bits.tolist()
    assert np.asarray(moved).view(np.uint32).tolist() == first.tolist()
    assert second.tolist() == [1, 2, 7, 2**32 - 1]


def test_random_bits_that_are_not_there_are_refused() -> None:
    state = np.zeros(4, np.uint32)
    with pytest.raises(errors.UnsupportedError, match="RNG_PHILOX"):
        lax.rng_bit_generator(state, (2,), algorithm=lax.RandomAlgorithm.RNG_PHILOX)
    with pytest.raises(errors.ArgumentError, match="four uint32"):
        lax.rng_bit_generator(state[:3], (2,))


def test_bits_of_every_width_are_drawn() -> None:
    state = np.array([1, 2, 3, 4], np.uint32)
    words = lax.rng_bit_generator(state, (6,))[1].tolist()
    bytes_ = lax.rng_bit_generator(state, (6,), np.uint8)[1]
    wide = lax.rng_bit_generator(state, (3,), np.uint64)[1].tolist()
    assert bytes_.dtype == np.uint8 and bytes_.tolist() == [w & 0xFF for w in words]
    assert wide == [words[2 * i] | words[2 * i + 1] << 32 for i in range(3)]


def test_groups_of_the_paired_axis_give_the_product() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(4, 2, 3)), rng.normal(size=(4, 3, 2))
    numbers = lax.RaggedDotDimensionNumbers((((2,), (1,)), ((0,), (0,))), (0,), ())
    got = lax.ragged_dot_general(x, y, np.array([1, 2]), numbers)
    np.testing.assert_allclose(np.asarray(got)[:3], (x @ y)[:3])
    assert np.asarray(got)[3].tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_elementwise_functions_take_their_arguments_by_name() -> None:
    assert float(lax.sub(y=1.0, x=3.0)) == 2.0
    assert float(lax.clamp(max=2.0, x=3.0, min=1.0)) == 2.0
    assert float(lax.exp(0.0, accuracy=lax.AccuracyMode.HIGHEST)) == 1.0
    with pytest.raises(errors.ArgumentError, match=r"lax.sub\(x, y\): missing a required argument"):
        lax.sub(1.0)
    with pytest.raises(errors.ArgumentError, match="unexpected keyword argument 'accuracy'"):
        lax.add(1.0, 2.0, accuracy=None)
