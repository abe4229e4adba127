"""Every form of index, in every order, against NumPy: reads, writes, their slopes and bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import arrayx.numpy as anp
from arrayx import errors
from arrayx.api.autodiff import grad
from arrayx.api.compilation import jit
from arrayx.backend.registry import chosen, registry
from arrayx.primitives.gather import default_fill


def available() -> list[Any]:
    """The first-party backends; one that is missing is skipped with its reason."""
    listed = []
    for name in ("numpy", "xla"):
        try:
            registry.get(name)
        except errors.BackendUnavailableError as error:
            listed.append(pytest.param(name, marks=pytest.mark.skip(reason=str(error))))
        else:
            listed.append(pytest.param(name))
    return listed


BACKENDS = available()


def budget(examples: int) -> Any:
    """So many examples, the same ones in every run; making a failing one smaller takes minutes."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate,),
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )


INDEX_DTYPES = (np.int32, np.int64, np.int8, np.uint8, np.uint32)


@st.composite
def indices(draw: Any, outside: bool = False) -> tuple[tuple[int, ...], Any]:
    """A shape and an index for it, which NumPy need not accept.

    With `outside` index arrays may leave the array, and there are no masks.
    """
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=int(outside), max_side=4))
    batch = draw(st.sampled_from([(), (1,), (2,), (3,), (2, 1), (1, 3), (2, 3), (0,)]))
    reach = 3 if outside else 0
    items: list[Any] = []
    axis, dots = 0, False
    while axis < len(shape):
        n = shape[axis]
        kind = draw(st.sampled_from("sssiiaaaann.mmMt:"))
        if kind == "s":
            items.append(draw(st.slices(n)))
        elif kind == "i" and n:
            number = draw(st.integers(-n, n - 1))
            items.append(draw(st.sampled_from([number, np.int16(number), np.asarray(number)])))
        elif kind == "a" and (n or 0 in batch):
            dtype = draw(st.sampled_from(INDEX_DTYPES))
            low = 0 if np.dtype(dtype).kind == "u" else -n - reach
            tail = draw(st.integers(0, len(batch)))
            own = tuple(m if draw(st.booleans()) else min(m, 1) for m in batch[tail:])
            values = st.integers(low, max(n - 1 + reach, low))
            items.append(draw(hnp.arrays(dtype, own, elements=values)))
        elif kind == "n":
            items.append(None)
            continue
        elif kind == "." and not dots:
            dots = True
            items.append(Ellipsis)
            axis += draw(st.integers(0, len(shape) - axis))
            continue
        elif kind in "mM" and not outside:
            rank = min(1 + (kind == "M"), len(shape) - axis)
            items.append(draw(hnp.arrays(np.bool_, shape[axis : axis + rank])))
            axis += rank
            continue
        elif kind == "t" and not outside:
            items.append(draw(st.sampled_from([True, False, np.bool_(True)])))
            continue
        else:
            items.append(slice(None))
        axis += 1
    while not dots and items and isinstance(items[-1], slice) and draw(st.booleans()):
        items.pop()
    return shape, tuple(items) if len(items) != 1 or draw(st.booleans()) else items[0]


def filled(shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    return np.arange(1, int(np.prod(shape)) + 1).astype(dtype).reshape(shape)


def everything(x: Any, v: Any, index: Any) -> Any:
    """All that is done at a place: a read, three writes, and the slopes of a read and a write."""
    weights = anp.asarray(v)
    return (
        x[index],
        x.at[index].add(v),
        x.at[index].min(v),
        grad(lambda x: anp.sum(x[index] * weights))(x),
        *grad(lambda x, v: anp.sum(x.at[index].multiply(v)), argnums=(0, 1))(x, v),
    )


def wanted(x: np.ndarray, v: np.ndarray, index: Any) -> Any:
    """The same with NumPy."""
    add, least, slope, times = x.copy(), x.copy(), np.zeros_like(x), np.ones_like(x)
    np.add.at(add, index, v)
    np.minimum.at(least, index, v)
    np.add.at(slope, index, v)
    np.multiply.at(times, index, v)
    # An element that is meant several times is multiplied by the other values as well.
    product = x.copy()
    np.multiply.at(product, index, v)
    return x[index], add, least, slope, times, product[index] / v


def close(got: Any, want: np.ndarray) -> None:
    host = np.asarray(got)
    assert host.shape == want.shape
    np.testing.assert_allclose(host, want, rtol=1e-4)


def jit_at(index: Any) -> Any:
    """`everything`, compiled for an index."""
    compiled = jit(lambda x, v: everything(x, v, index))
    return lambda x, v, _: compiled(x, v)


def check(backend: str, shape: tuple[int, ...], index: Any) -> None:
    """Compares reads and writes at an index, eager and compiled, with NumPy."""
    x = filled(shape)
    try:
        read = x[index]
    except IndexError:
        with chosen(backend), pytest.raises(IndexError):
            anp.asarray(x)[index]
        with chosen(backend), pytest.raises(IndexError):
            anp.asarray(x).at[index].set(0.0)
        return
    values = filled(np.shape(read)) % 3 + 2
    want = wanted(x, values, index)
    once = np.zeros(shape, int)
    np.add.at(once, index, 1)
    with chosen(backend):
        array = anp.asarray(x)
        if once.max(initial=0) <= 1:
            changed = x.copy()
            changed[index] = values
            close(array.at[index].set(values), changed)
        for run in (everything, jit_at(index)):
            for g, w in zip(run(array, anp.asarray(values), index), want, strict=True):
                close(g, w)


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_index_reads_and_writes_as_in_numpy(backend: str) -> None:
    @budget(60 if backend == "numpy" else 8)
    @given(indices())
    def run(drawn: Any) -> None:
        check(backend, *drawn)

    run()


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_many_more_indices_read_and_write_as_in_numpy(backend: str) -> None:
    @budget(1500 if backend == "numpy" else 150)
    @given(indices())
    def run(drawn: Any) -> None:
        check(backend, *drawn)

    run()


# ----------------------------------------------------------------- what lies outside


def inside_of(index: Any, shape: tuple[int, ...], mode: str) -> tuple[Any, ...]:
    """An index into an array that is longer by one at the end of every axis.

    What lies outside stands there at the new element, or where `mode` moves it.
    """
    items = list(index) if isinstance(index, tuple) else [index]
    count = sum(i is not None and i is not Ellipsis for i in items)
    result: list[Any] = []
    axis = 0
    for item in items:
        if item is None:
            result.append(None)
            continue
        if item is Ellipsis:
            for n in shape[axis : axis + len(shape) - count]:
                result.append(slice(0, n))
            axis += len(shape) - count
            continue
        n = shape[axis]
        axis += 1
        if isinstance(item, slice):
            start, stop, step = item.indices(n)
            result.append(slice(start, None if stop < 0 else stop, step))
            continue
        places = np.asarray(item).astype(np.int64)
        if mode == "wrap":
            places = places % n
        else:
            places = np.where(places < 0, places + n, places)
            if mode == "clip":
                places = places.clip(0, n - 1)
            places = np.where((places < 0) | (places >= n), n, places)
        result.append(places if places.ndim else int(places))
    result += [slice(0, n) for n in shape[axis:]]
    return tuple(result)


def is_outside(index: Any, shape: tuple[int, ...]) -> bool:
    items = [i for i in (index if isinstance(index, tuple) else (index,)) if i is not None]
    lengths = iter(shape)
    for item in items:
        if item is Ellipsis:
            for _ in range(len(shape) - len(items) + 1):
                next(lengths)
            continue
        n = next(lengths)
        if not isinstance(item, slice):
            places = np.asarray(item)
            if places.size and (places.min() < -n or places.max() >= n):
                return True
    return False


def apart(index: Any) -> tuple[list[Any], Any]:
    """The arrays of an index, which are traced, and what puts them back."""
    items = list(index) if isinstance(index, tuple) else [index]
    places = [i for i, item in enumerate(items) if isinstance(item, np.ndarray)]

    def together(traced: Any) -> tuple[Any, ...]:
        whole = list(items)
        for i, item in zip(places, traced, strict=True):
            whole[i] = item
        return tuple(whole)

    return [items[i] for i in places], together


MODES = (None, "fill", "drop", "clip", "wrap")
DTYPES = (np.float32, np.int16, np.uint8, np.complex64, np.bool_)


def check_outside(backend: str, shape: tuple[int, ...], index: Any, mode: Any, dtype: Any) -> None:
    """Compares what lies outside with the policy."""
    x = filled(shape, dtype)
    longer = np.full([n + 1 for n in shape], default_fill(dtype), dtype)
    longer[tuple(slice(0, n) for n in shape)] = x
    where = inside_of(index, shape, str(mode))
    try:
        read = longer[where]
    except IndexError:  # arrays that cannot be broadcast together
        with chosen(backend), pytest.raises(IndexError):
            anp.asarray(x).at[index].get(mode=mode)
        return
    values = filled(np.shape(read), dtype)
    written = longer.copy()
    with np.errstate(invalid="ignore"):  # the element that stands for what lies outside is nan
        np.maximum.at(written, where, values)
    kept = written[tuple(slice(0, n) for n in shape)]
    traced, together = apart(index)

    def get(x: Any, *places: Any) -> Any:
        return x.at[together(places)].get(mode=mode)

    def put(x: Any, v: Any, *places: Any) -> Any:
        return x.at[together(places)].max(v, mode=mode)

    writes = dtype is not np.complex64
    with chosen(backend):
        array = anp.asarray(x)
        np.testing.assert_array_equal(np.asarray(jit(get)(array, *traced)), read)
        if writes:
            np.testing.assert_array_equal(np.asarray(jit(put)(array, values, *traced)), kept)
        if mode is None and is_outside(index, shape):
            with pytest.raises(errors.IndexOutOfBoundsError):
                get(array, *traced)
            with pytest.raises(errors.IndexOutOfBoundsError):
                put(array, values, *traced)
        else:
            np.testing.assert_array_equal(np.asarray(get(array, *traced)), read)
            if writes:
                np.testing.assert_array_equal(np.asarray(put(array, values, *traced)), kept)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_lies_outside_is_read_and_written_as_the_mode_says(backend: str) -> None:
    @budget(80 if backend == "numpy" else 10)
    @given(indices(outside=True), st.sampled_from(MODES), st.sampled_from(DTYPES))
    def run(drawn: Any, mode: Any, dtype: Any) -> None:
        check_outside(backend, *drawn, mode, dtype)

    run()


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_much_more_that_lies_outside_is_read_and_written_as_the_mode_says(backend: str) -> None:
    @budget(1500 if backend == "numpy" else 150)
    @given(indices(outside=True), st.sampled_from(MODES), st.sampled_from(DTYPES))
    def run(drawn: Any, mode: Any, dtype: Any) -> None:
        check_outside(backend, *drawn, mode, dtype)

    run()
