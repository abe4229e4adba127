"""`numpy_dtype_promotion` and `numpy_rank_promotion`: what is promoted, and who may say no."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.errors import ShapeError, TypePromotionError

F, I = np.ones(2, np.float32), np.ones(2, np.int32)
ADAPTS: list[Any] = [
    lambda: anp.asarray(F) + 1,
    lambda: anp.asarray(F) + 1.5,
    lambda: anp.asarray(F) * anp.asarray(2),
    lambda: anp.asarray(I) / 2,
    lambda: anp.asarray(I, anp.uint8) + 1,
    lambda: anp.sqrt(anp.asarray(I)),
    lambda: anp.mean(anp.asarray(I)),
    lambda: anp.std(anp.asarray(F)),
    lambda: anp.asarray(F).at[0].set(1),
    lambda: anp.where(anp.asarray(F) > 0, anp.asarray(F), 0),
    lambda: anp.array([1, 2.5]),
    lambda: anp.linspace(0, 1, 3),
    lambda: anp.percentile(anp.asarray(F), 50),
    lambda: anp.average(anp.asarray(F), weights=anp.asarray(F)),
    lambda: anp.interp(0.5, anp.asarray(F), anp.asarray(F)),
    lambda: ax.grad(lambda x: anp.sum(anp.sin(x) ** 2))(anp.asarray(F)),
]
REFUSED: list[Any] = [
    lambda: anp.asarray(F) + anp.asarray(I),
    lambda: anp.asarray(I) + 1.5,
    lambda: anp.asarray(I) + True,
    lambda: anp.asarray(F) + 1j,
    lambda: anp.asarray(F) * np.float64(2),
    lambda: anp.concatenate([anp.asarray(F), anp.asarray(I)]),
    lambda: anp.where(True, anp.asarray(I), 2.0),
    lambda: anp.promote_types("int8", "int16"),
    lambda: anp.result_type(np.int32, np.float32),
]


@pytest.mark.parametrize("call", ADAPTS)
def test_strict_promotion_lets_numbers_of_python_adapt(call: Any) -> None:
    wanted = call()
    with ax.numpy_dtype_promotion("strict"):
        got = call()
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(np.asarray(got), np.asarray(wanted))


@pytest.mark.parametrize("call", REFUSED)
def test_strict_promotion_refuses_all_else_before_and_after_it_was_done(call: Any) -> None:
    for _ in range(2):
        with ax.numpy_dtype_promotion("strict"), pytest.raises(TypePromotionError, match="strict"):
            call()
        call()
        with ax.numpy_dtype_promotion("standard"):
            call()


def test_a_compiled_function_is_traced_again_under_other_settings() -> None:
    add = ax.jit(lambda x, y: x + y)
    add(F, I)
    with ax.numpy_dtype_promotion("strict"), pytest.raises(TypePromotionError, match="add"):
        add(F, I)


ROWS, ROW = np.ones((2, 3), np.float32), np.ones(3, np.float32)
MIXED: dict[str, Any] = {
    "add": lambda: anp.asarray(ROWS) + ROW,
    "maximum": lambda: anp.maximum(ROW, anp.asarray(ROWS)),
    "clip": lambda: anp.clip(anp.asarray(ROWS), ROW, 2.0),
}


@pytest.mark.parametrize("name", MIXED)
def test_ranks_that_differ_are_broadcast_warned_of_or_refused(name: str) -> None:
    call = MIXED[name]
    for _ in range(2):
        assert call().shape == (2, 3)
        with (
            ax.numpy_rank_promotion("raise"),
            pytest.raises(ShapeError, match=f"{name}: .*1 and 2"),
        ):
            call()
        with ax.numpy_rank_promotion("warn"), warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            call()
        assert [w.filename for w in said] == [__file__]


def test_scalars_and_equal_ranks_are_free() -> None:
    with ax.numpy_rank_promotion("raise"):
        assert (anp.asarray(ROWS) + 1).shape == (2, 3)
        assert (anp.asarray(ROWS) * np.float32(2)).shape == (2, 3)
        assert (anp.asarray(ROWS) + ROW[None]).shape == (2, 3)
        assert anp.where(anp.asarray(ROWS) > 0, anp.asarray(ROW), 0).shape == (2, 3)
        assert anp.matmul(anp.asarray(ROWS), ROW).shape == (2,)


def test_64_bits_are_a_block_too() -> None:
    with ax.enable_x64():
        assert anp.zeros(1).dtype == "float64"
        with ax.enable_x64(False):
            assert anp.zeros(1).dtype == "float32"
