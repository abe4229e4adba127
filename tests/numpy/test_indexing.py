"""`x[index]` and `x.at[index]` against NumPy, on drawn shapes and indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import arrayx.numpy as anp
from arrayx import errors
from arrayx.api.autodiff import grad
from arrayx.api.compilation import jit
from arrayx.api.mapping import vmap

SETTINGS = settings(max_examples=100, deadline=None, derandomize=True)


@st.composite
def shapes_and_indices(draw: Any, smallest: int = 0) -> tuple[tuple[int, ...], Any]:
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=smallest, max_side=4))
    items: list[Any] = []
    batch = draw(st.sampled_from([(), (2,), (3,), (2, 1), (1, 3)]))
    axis = 0
    dots = False
    while axis < len(shape):
        n = shape[axis]
        choice = draw(st.integers(0, 9))
        if choice <= 2:
            items.append(draw(st.slices(n)))
        elif choice == 3 and n:
            items.append(draw(st.integers(-n, n - 1)))
        elif choice in (4, 5) and n:
            values = st.integers(-n, n - 1)
            wide = draw(st.sampled_from([batch, tuple(1 for _ in batch)]))
            items.append(draw(hnp.arrays(np.int32, wide, elements=values)))
        elif choice == 6:
            items.append(None)
            continue
        elif choice == 7 and not dots:
            dots = True
            items.append(Ellipsis)
            axis += draw(st.integers(0, len(shape) - axis))
            continue
        elif choice == 8 and not any(isinstance(i, np.ndarray) and i.ndim for i in items):
            items.append(draw(hnp.arrays(np.bool_, (n,))))
            axis += 1
            items.extend([slice(None)] * (len(shape) - axis))
            break
        else:
            items.append(slice(None))
        axis += 1
    while not dots and items and draw(st.booleans()) and isinstance(items[-1], slice):
        items.pop()
    return shape, tuple(items) if len(items) != 1 or draw(st.booleans()) else items[0]


def filled(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(1, int(np.prod(shape)) + 1, dtype=np.float32).reshape(shape)


@SETTINGS
@given(shapes_and_indices())
def test_reads_are_those_of_numpy(drawn: Any) -> None:
    shape, index = drawn
    x = filled(shape)
    np.testing.assert_array_equal(np.asarray(anp.asarray(x)[index]), x[index])


@SETTINGS
@given(shapes_and_indices())
def test_writes_are_those_of_numpy(drawn: Any) -> None:
    shape, index = drawn
    x = filled(shape)
    values = -filled(np.shape(x[index]))
    want = x.copy()
    want[index] = values
    np.testing.assert_array_equal(np.asarray(anp.asarray(x).at[index].set(values)), want)


OPERATIONS = {
    "add": np.add,
    "multiply": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "subtract": np.subtract,
    "divide": np.divide,
}


@SETTINGS
@given(shapes_and_indices(), st.sampled_from(sorted(OPERATIONS)))
def test_combining_writes_count_every_element_meant_twice(drawn: Any, name: str) -> None:
    shape, index = drawn
    x = filled(shape)
    values = filled(np.shape(x[index])) % 5 + 1
    want = x.astype(np.float64)
    OPERATIONS[name].at(want, index, values)
    got = getattr(anp.asarray(x).at[index], name)(values)
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5)


@settings(SETTINGS, max_examples=40)
@given(shapes_and_indices())
def test_traced_arrays_and_indices_read_and_write_the_same(drawn: Any) -> None:
    shape, index = drawn
    x = filled(shape)
    items = index if type(index) is tuple else (index,)
    places = [
        i
        for i, v in enumerate(items)
        if isinstance(v, np.ndarray | int) and np.asarray(v).dtype != bool
    ]

    def rebuilt(traced: Any) -> Any:
        new = list(items)
        for i, v in zip(places, traced, strict=True):
            new[i] = v
        return tuple(new)

    def read(x: Any, *traced: Any) -> Any:
        return x[rebuilt(traced)]

    def write(x: Any, values: Any, *traced: Any) -> Any:
        return x.at[rebuilt(traced)].add(values)

    traced = [np.asarray(items[i], np.int32) for i in places]
    values = filled(np.shape(x[index]))
    want = x.copy()
    np.add.at(want, index, values)
    np.testing.assert_array_equal(np.asarray(jit(read)(x, *traced)), x[index])
    np.testing.assert_allclose(np.asarray(jit(write)(x, values, *traced)), want)
    # The slope of a sum of reads counts how often each element was read.
    count = np.zeros(shape, np.float32)
    np.add.at(count, index, 1.0)
    slope = grad(lambda x: anp.sum(read(x, *traced)))(anp.asarray(x))
    np.testing.assert_array_equal(np.asarray(slope), count)


def test_an_index_known_to_be_outside_raises() -> None:
    x = anp.arange(6.0).reshape(2, 3)
    for index in (2, -3, (0, 3), np.array([0, 2]), (slice(None), np.array([3])), [0, 5]):
        with pytest.raises(errors.IndexOutOfBoundsError):
            x[index]
        with pytest.raises(errors.IndexOutOfBoundsError):
            x.at[index].set(0.0)
        with pytest.raises(errors.IndexOutOfBoundsError):
            x.at[index].get()


def test_a_traced_index_outside_reads_nan_and_writes_nothing() -> None:
    x = anp.arange(3.0)
    at = jit(lambda x, i: x[i])
    assert np.isnan(float(at(x, 3))) and np.isnan(float(at(x, -4)))
    assert float(at(x, -1)) == 2.0
    assert np.isnan(np.asarray(at(x, np.array([0, 7])))).tolist() == [False, True]
    assert int(jit(lambda x, i: x[i])(anp.arange(3), 5)) == np.iinfo(np.int32).min
    put = jit(lambda x, i: x.at[i].set(9.0))
    np.testing.assert_array_equal(np.asarray(put(x, 3)), [0, 1, 2])
    np.testing.assert_array_equal(np.asarray(put(x, np.array([-1, 8]))), [0, 1, 9])


@pytest.mark.parametrize("compiled", [False, True])
def test_modes_say_what_an_index_outside_means(compiled: bool) -> None:
    x = anp.arange(3.0)
    run = jit if compiled else (lambda f: f)
    index = np.array([5, -1, -9])

    def read(mode: str, **options: Any) -> Any:
        return np.asarray(run(lambda x, i: x.at[i].get(mode=mode, **options))(x, index)).tolist()

    assert read("clip") == [2.0, 2.0, 0.0]
    assert read("wrap") == [2.0, 2.0, 0.0]
    assert read("fill", fill_value=-1.0) == [-1.0, 2.0, -1.0]

    def write(mode: str) -> Any:
        return np.asarray(run(lambda x, i: x.at[i].add(10.0, mode=mode))(x, index)).tolist()

    assert write("clip") == [10.0, 1.0, 22.0]
    assert write("drop") == [0.0, 1.0, 12.0]
    assert write("wrap") == [10.0, 1.0, 22.0]
    with pytest.raises(errors.ArgumentError, match="no mode 'nearest'"):
        x.at[0].set(1.0, mode="nearest")


def test_a_mask_has_to_be_known() -> None:
    with pytest.raises(IndexError, match=r"static.*\n?.*anp\.where|anp\.where"):
        jit(lambda x: x[x > 1])(anp.arange(3.0))
    with pytest.raises(errors.DynamicIndexError, match="dynamic_slice"):
        jit(lambda x, n: x[:n])(anp.arange(3.0), 2)


def test_assignment_names_the_line_to_write() -> None:
    x = anp.zeros((3, 3))
    with pytest.raises(errors.ImmutableArrayError, match=r"x = x\.at\[1, :2\]\.set\(v\)"):
        x[1, :2] = 5.0
    with pytest.raises(TypeError, match=r"x\.at\[0\]\.add\(v\)"):
        x[0] += 1.0


def test_values_that_an_array_cannot_hold_are_refused() -> None:
    with pytest.raises(errors.DtypeError, match="would lose"):
        anp.zeros(3, int).at[0].set(1.5)
    with pytest.raises(OverflowError):
        anp.zeros(3, np.uint8).at[0].set(300)
    with pytest.raises(errors.ShapeError, match=r"shape \(2,\).*shape \(3,\)"):
        anp.zeros((2, 3)).at[0].set(np.ones(2))
    assert anp.zeros(3, np.float16).at[0].set(np.float64(1.5)).dtype == np.float16


def test_too_many_indices_are_refused() -> None:
    with pytest.raises(errors.IndexOutOfBoundsError, match="too many indices: 2 for an array of 1"):
        anp.zeros(3)[0, 0]
    with pytest.raises(errors.ArgumentError, match="integers or booleans"):
        anp.zeros(3)[np.array([0.5])]
    with pytest.raises(errors.ArgumentError, match="an index must be"):
        anp.zeros(3)["a"]


@pytest.mark.parametrize("name", ["set", "add", "multiply", "min", "max"])
def test_mapped_writes_are_a_loop_of_writes(name: str) -> None:
    x = filled((4, 3, 2))
    index = np.array([[0, 2], [1, 1], [2, 0], [0, 0]])
    values = filled((4, 2, 2)) - 7
    got = vmap(lambda x, i, v: getattr(x.at[i], name)(v))(x, index, values)
    want = [np.asarray(getattr(anp.asarray(a).at[i], name)(v)) for a, i, v in zip(x, index, values)]
    np.testing.assert_array_equal(np.asarray(got), np.stack(want))


def test_apply_and_power_change_only_their_place() -> None:
    x = anp.asarray([1.0, 2.0, 3.0])
    assert x.at[1:].apply(anp.square).tolist() == [1.0, 4.0, 9.0]
    assert x.at[np.array([0, 2])].power(2.0).tolist() == [1.0, 2.0, 9.0]


@pytest.mark.parametrize(("mode", "expected"), [("fill", np.nan), ("clip", 2.0)])
def test_one_element_out_of_bounds_is_read_as_the_mode_says(mode: str, expected: float) -> None:
    x = anp.arange(3.0)
    np.testing.assert_equal(float(x.at[7].get(mode=mode)), expected)
    np.testing.assert_equal(float(x.at[anp.asarray(7)].get(mode=mode)), expected)
