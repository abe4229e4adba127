"""Dtypes of 8 bits and less: numbers are kept, converted and moved about, on both backends."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import dtypes
from arrayx.errors import DtypeError, UnsupportedError

ON_XLA = [d for d in (*dtypes.NARROW, *dtypes.FLOAT8S) if not str(d).startswith("float6")]
WAYS = [("numpy", "host"), ("xla", "host"), ("xla", "compile")]
stored = pytest.mark.parametrize("dtype", (*dtypes.NARROW, *dtypes.FLOAT8S), ids=str)
MOVES: dict[str, Any] = {
    "reshape": lambda x: x.reshape(3, 2),
    "transpose": lambda x: x.T,
    "row": lambda x: x[1],
    "columns": lambda x: x[:, np.array([0, 2])],
    "traced row": lambda x: ax.jit(lambda x, i: x[i])(x, 1),
    "concatenate": lambda x: anp.concatenate([x, x]),
    "stack": lambda x: anp.stack([x, x], 1),
    "pad": lambda x: anp.pad(x, 1, constant_values=1),
    "broadcast": lambda x: anp.broadcast_to(x, (2, 2, 3)),
    "where": lambda x: anp.where(np.array([True, False, True]), x, x[::-1]),
    "update": lambda x: x.at[0, 0].set(1),
    "roll": lambda x: anp.roll(x, 1, 1),
    "flip": lambda x: x[::-1],
    "vmap": lambda x: ax.vmap(lambda row: row[::-1])(x),
    "jit": lambda x: ax.jit(lambda x: anp.concatenate([x.T, x.T]))(x),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "to the host and back": lambda x: anp.asarray(np.asarray(x)),
    "ones": lambda x: anp.ones_like(x),
}


@pytest.mark.parametrize(("backend", "eager"), WAYS)
@stored
def test_elements_are_moved_about(dtype: Any, backend: str, eager: str) -> None:
    if backend == "xla":
        pytest.importorskip("jaxlib")
        if dtype not in ON_XLA:
            with ax.default_backend("xla"):
                for make in (anp.zeros, anp.ones):
                    with pytest.raises(UnsupportedError, match=f"xla.*{dtype}"):
                        make(3, dtype).block_until_ready()
            return
    plain = np.array([[1, 0, 1], [0, 0, 1]])
    if str(dtype) == "float8_e8m0fnu":
        plain = plain + 1  # powers of 2, without 0
    with ax.default_backend(backend), ax.config(eager_xla=eager):
        x = anp.asarray(plain).astype(dtype)
        for name, move in MOVES.items():
            got = move(x)
            wanted = np.asarray(move(anp.asarray(plain)))
            assert got.dtype == dtype
            np.testing.assert_array_equal(np.asarray(got).astype(np.float32), wanted, name)
        assert (x == x).all()


NUMBERS = np.array(
    [-300, -9, -8.6, -8, -7.5, -2.5, -0.3, 0, 0.25, 0.75, 1.5, 3.5, 7.6, 8, 15, 17, 300, np.inf],
    np.float32,
)


@pytest.mark.parametrize("dtype", (*dtypes.NARROW_INTS, *dtypes.NARROW_UINTS), ids=str)
@pytest.mark.parametrize(("backend", "eager"), WAYS)
def test_floats_are_cut_and_saturate_and_integers_wrap(
    dtype: Any, backend: str, eager: str
) -> None:
    if backend == "xla":
        pytest.importorskip("jaxlib")
    limits = dtypes.iinfo(dtype)
    whole = np.arange(-300, 300, 7, dtype=np.int32)
    with ax.default_backend(backend), ax.config(eager_xla=eager):
        cut = np.asarray(anp.asarray(NUMBERS).astype(dtype).astype(np.int32))
        assert int(anp.asarray(np.float32(np.nan)).astype(dtype).astype(np.int32)) == 0
        wrapped = np.asarray(anp.asarray(whole).astype(dtype).astype(np.int32))
    np.testing.assert_array_equal(cut, np.clip(np.trunc(NUMBERS), limits.min, limits.max))
    size = 2**limits.bits
    np.testing.assert_array_equal(wrapped, (whole - limits.min) % size + limits.min)


@pytest.mark.parametrize("dtype", dtypes.NARROW, ids=str)
def test_they_are_not_computed_with(dtype: Any) -> None:
    x = anp.ones(3, dtype)
    for compute in (lambda: x + x, lambda: x * 1, lambda: anp.sum(x), lambda: anp.dot(x, x)):
        with pytest.raises(DtypeError):
            compute()
    with pytest.raises(DtypeError, match="8 bits keep numbers"):
        x + anp.ones(3, "float32")
    assert anp.sum(x.astype("float32")) == 3.0


def test_numbers_out_of_range_are_refused() -> None:
    for make in (lambda: anp.array([9], anp.int4), lambda: anp.full(2, -1, anp.uint2)):
        with pytest.raises(OverflowError, match="out of range"):
            make()


def test_they_are_known_by_kind_and_limits() -> None:
    assert anp.isdtype(anp.int4, "signed integer") and anp.isdtype(anp.uint2, "integral")
    assert anp.issubdtype(anp.float4_e2m1fn, anp.floating)
    assert (anp.iinfo(anp.int4).min, anp.iinfo(anp.uint4).max) == (-8, 15)
    assert anp.finfo(anp.float4_e2m1fn).max == 6.0
    assert dtypes.itemsize_bits("int2") == 2 and dtypes.itemsize_bits("float6_e2m3fn") == 6
    assert repr(anp.array([1, -2], anp.int4)) == "Array([ 1, -2], dtype=int4)"
    assert dtypes.scalar_type_of(anp.array(1, anp.uint4)) is int
