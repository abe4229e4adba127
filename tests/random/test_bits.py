"""Draws against what JAX gave for the same keys, and the cipher against its published vectors."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arrayx as ax
from arrayx import random
from arrayx.primitives.random import threefry2x32

HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("arrayx_random_record", HERE / "record.py")
assert _spec is not None and _spec.loader is not None
record = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(record)

RECORDED = json.loads((HERE / "recorded.json").read_text())
NAMES = {name: getattr(random, name) for name in random.__all__}


def evaluated(text: str, bits: int) -> Any:
    with ax.config(default_dtype_bits=bits):
        return record.plain(eval(text, {**NAMES, "np": np}))


def allowed(elements: np.ndarray, dtype: str, ulps: int) -> np.ndarray:
    """By how much elements may differ."""
    eps = float(ax.dtypes.finfo(dtype).eps)
    return ulps * eps * np.maximum(np.abs(elements), eps)


RECORDS = [(bits, *case) for bits in (32, 64) for case in record.cases(bits).items()]


def test_every_record_is_compared() -> None:
    assert {f"{bits}: {text}" for bits, text, _ in RECORDS} == RECORDED.keys()


@pytest.mark.parametrize(("bits", "text", "ulps"), RECORDS)
def test_draws_are_those_of_jax(bits: int, text: str, ulps: int) -> None:
    got, want = evaluated(text, bits), RECORDED[f"{bits}: {text}"]
    assert (got["dtype"], got["shape"]) == (want["dtype"], want["shape"])
    if ulps == 0:
        assert got["elements"] == want["elements"]
    else:
        expected = np.asarray(want["elements"])
        difference = np.abs(np.asarray(got["elements"]) - expected)
        assert (difference <= allowed(expected, want["dtype"], ulps)).all()


# Key, counter and result of 20 rounds, from the known-answer tests of the paper's authors
# (Random123, kat_vectors).
VECTORS = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize(("key", "counter", "expected"), VECTORS)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (70_000,)])
def test_the_cipher_gives_the_published_vectors(
    key: Any, counter: Any, expected: Any, shape: Any
) -> None:
    words = [np.full(shape, w, np.uint32) for w in (*key, *counter)]
    for results in (threefry2x32(*words), ax.jit(threefry2x32.expand)(*words)):
        for result, word in zip(results, expected, strict=True):
            assert result.dtype == np.uint32 and result.shape == shape
            assert (np.asarray(result) == word).all()


def test_the_kernel_and_the_expansion_agree_on_mixed_layouts() -> None:
    generator = np.random.default_rng(0)
    flat = generator.integers(0, 2**32, (4, 6, 5), np.uint32)
    words = flat[0], np.broadcast_to(flat[1, 0], (6, 5)), flat[2].T.copy().T, flat[3][::-1]
    kernel, expansion = threefry2x32(*words), ax.jit(threefry2x32.expand)(*words)
    for a, b in zip(kernel, expansion, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_draw_does_not_depend_on_how_many_are_made() -> None:
    key = random.key(11)
    many = np.asarray(random.bits(key, (200_000,)))
    np.testing.assert_array_equal(many[:7], random.bits(key, (7,)))
    np.testing.assert_array_equal(many.reshape(400, 500), random.bits(key, (400, 500)))


def test_split_and_fold_in_count_the_same_way() -> None:
    key = random.key(11)
    for i in range(3):
        assert bool(random.split(key, 5)[i] == random.fold_in(key, i))


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_bits_under_vmap_and_jit_are_those_of_a_loop(width: int) -> None:
    keys = random.split(random.key(3), 4)
    dtype = np.dtype(f"uint{width}")

    def draw(key: Any) -> Any:
        return random.bits(key, (3, 2), dtype)

    want = np.stack([np.asarray(draw(k)) for k in keys])
    for f in (ax.vmap(draw), ax.jit(ax.vmap(draw)), ax.vmap(ax.jit(draw))):
        got = f(keys)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(ax.vmap(draw, out_axes=1)(keys), np.moveaxis(want, 0, 1))
    square = np.asarray(random.key_data(keys)).reshape(2, 2, 2)
    by_columns = ax.vmap(ax.vmap(draw), in_axes=1)(random.wrap_key_data(square))
    np.testing.assert_array_equal(by_columns, want.reshape(2, 2, 3, 2).swapaxes(0, 1))


def test_every_bit_is_set_half_of_the_time() -> None:
    for width in (8, 32, 64):
        drawn = np.asarray(random.bits(random.key(0), (4000,), np.dtype(f"uint{width}")))
        for bit in range(width):
            share = float(((drawn >> drawn.dtype.type(bit)) & drawn.dtype.type(1)).mean())
            assert abs(share - 0.5) < 0.04
