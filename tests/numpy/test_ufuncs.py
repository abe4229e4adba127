"""Methods of elementwise functions, against NumPy's of the same names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.errors import ArgumentError, ImmutableArrayError

FLOATS = np.array([[1.5, 2.0, 0.5], [3.0, 1.0, 2.5]])
INTS = np.array([[6, 3, 5], [12, 1, 2]])
TRUTH = np.array([[True, False, True], [True, True, False]])
NAMES: dict[str, np.ndarray] = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "maximum", "minimum"), FLOATS),
    **dict.fromkeys(("logaddexp", "logaddexp2", "hypot", "fmax", "fmin", "power"), FLOATS),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm"), INTS),
    **dict.fromkeys(("floor_divide", "remainder", "left_shift"), INTS),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor", "equal"), TRUTH),
}
names = pytest.mark.parametrize("name", NAMES)


def both(name: str) -> tuple[Any, Any]:
    return getattr(anp, name), getattr(np, name)


def same(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-12)


@pytest.fixture(autouse=True)
def wide() -> Any:
    with ax.config(default_dtype_bits=64):
        yield


@names
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reduce_combines_from_left_to_right(name: str, axis: int, keepdims: bool) -> None:
    ours, theirs = both(name)
    x = NAMES[name]
    wanted = theirs.reduce(x, axis, keepdims=keepdims)
    same(ours.reduce(anp.asarray(x), axis, keepdims=keepdims), wanted)
    same(ax.jit(lambda x: ours.reduce(x, axis, keepdims=keepdims))(x), wanted)


@names
def test_running_results_are_those_of_longer_and_longer_slices(name: str) -> None:
    ours, theirs = both(name)
    x = NAMES[name]
    for axis in (0, 1):
        same(ours.accumulate(anp.asarray(x), axis), theirs.accumulate(x, axis))


@names
def test_slices_are_reduced_with_known_and_with_traced_indices(name: str) -> None:
    ours, theirs = both(name)
    x, at = NAMES[name], np.array([0, 2, 1])
    wanted = theirs.reduceat(x, at, axis=1)
    same(ours.reduceat(anp.asarray(x), anp.asarray(at), axis=1), wanted)
    same(ax.jit(lambda x, at: ours.reduceat(x, at, axis=1))(x, at), wanted)


@names
def test_outer_takes_every_pair(name: str) -> None:
    ours, theirs = both(name)
    x = NAMES[name]
    same(ours.outer(anp.asarray(x), anp.asarray(x[0])), theirs.outer(x, x[0]))


@names
def test_an_element_that_occurs_twice_is_changed_twice(name: str) -> None:
    ours, theirs = both(name)
    x = NAMES[name][0]
    changed, at, by = x.copy(), np.array([0, 0, 2]), NAMES[name][1]
    theirs.at(changed, at, by)
    same(ours.at(anp.asarray(x), anp.asarray(at), anp.asarray(by), inplace=False), changed)
    with pytest.raises(ImmutableArrayError, match="inplace=False"):
        ours.at(anp.asarray(x), anp.asarray(at), anp.asarray(by))


@pytest.mark.parametrize("name", ["add", "multiply", "subtract", "maximum", "logical_or"])
def test_reduce_starts_from_a_value_and_leaves_elements_out(name: str) -> None:
    ours, theirs = both(name)
    x, where = NAMES[name], np.array([[True, False, True], [False, False, True]])
    initial = x.dtype.type(1)
    for axis in (0, 1):
        wanted = theirs.reduce(x, axis, initial=initial, where=where)
        got = ours.reduce(anp.asarray(x), axis, initial=initial, where=anp.asarray(where))
        same(got, wanted)


def test_several_axes_are_one_for_functions_in_any_order() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    same(anp.add.reduce(anp.asarray(x), (0, 2)), np.add.reduce(x, (0, 2)))
    same(anp.logaddexp.reduce(anp.asarray(x), None), np.logaddexp.reduce(x, None))


@pytest.mark.parametrize("name", ["maximum", "subtract", "divide", "power"])
def test_nothing_to_combine_needs_an_initial_value(name: str) -> None:
    ours, _ = both(name)
    with pytest.raises(ArgumentError, match=f"{name}.reduce of no elements"):
        ours.reduce(anp.zeros((0, 2)))
    assert ours.reduce(anp.zeros((0, 2)), initial=3.0).tolist() == [3.0, 3.0]


@pytest.mark.parametrize("name", ["add", "multiply", "logical_and", "bitwise_xor", "logaddexp"])
def test_nothing_combined_is_the_identity(name: str) -> None:
    ours, theirs = both(name)
    x = NAMES[name][:0]
    same(ours.reduce(anp.asarray(x)), theirs.reduce(x))
    assert ours.identity == theirs.identity


def test_bits_of_unsigned_numbers_have_an_identity_too() -> None:
    assert anp.bitwise_and.reduce(anp.zeros((0,), anp.uint8)) == 255


def test_methods_can_be_differentiated() -> None:
    x = anp.array([8.0, 2.0, 4.0])
    assert ax.grad(anp.subtract.reduce)(x).tolist() == [1.0, -1.0, -1.0]
    assert ax.grad(anp.multiply.reduce)(x).tolist() == [8.0, 32.0, 16.0]
    assert ax.grad(lambda x: anp.divide.accumulate(x)[-1])(x).tolist() == [0.125, -0.5, -0.25]
    same(ax.vmap(anp.hypot.reduce)(anp.ones((2, 4))), [2.0, 2.0])


def test_numpys_own_methods_lead_here() -> None:
    x = anp.arange(4.0)
    assert isinstance(np.add.reduce(x), ax.Array)
    assert np.multiply.outer(x, x).shape == (4, 4)
    assert ax.jit(np.add.accumulate)(x).tolist() == [0.0, 1.0, 3.0, 6.0]
    with pytest.raises(ImmutableArrayError):
        np.add.at(x, 0, 1.0)


def test_functions_with_methods_count_as_ufuncs() -> None:
    assert isinstance(anp.add, anp.ufunc) and isinstance(anp.negative, anp.ufunc)
    assert not isinstance(anp.sum, anp.ufunc) and not isinstance([], anp.ufunc)
    assert (anp.add.nin, anp.add.nout, anp.add.nargs) == (2, 1, 3)
    assert anp.negative.at(anp.ones(2), 0, inplace=False).tolist() == [-1.0, 1.0]


def test_a_function_of_numbers_becomes_one_of_arrays() -> None:
    def clipped_sum(x: Any, y: Any) -> Any:
        return anp.minimum(x + y, 10)

    made = anp.frompyfunc(clipped_sum, 2, 1, identity=0)
    assert isinstance(made, anp.ufunc) and "clipped_sum" in repr(made)
    x = anp.arange(4)
    assert made(x, 8).tolist() == [8, 9, 10, 10]
    assert made.outer(x, x[:2]).tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert made.accumulate(x * 3).tolist() == [0, 3, 9, 10]
    assert made.reduce(x[:0]).tolist() == 0
    two = anp.frompyfunc(lambda x: (x, x + 1), 1, 2)
    assert [part.tolist() for part in two(x)] == [[0, 1, 2, 3], [1, 2, 3, 4]]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: anp.frompyfunc(anp.sin, 0, 1), "nin is a positive integer"),
        (lambda x: anp.frompyfunc(lambda x: (x, x), 1, 1)(x), "returned 2 results, nout is 1"),
        (lambda x: anp.frompyfunc(anp.sin, 1, 1).reduce(x), "two operands"),
        (lambda x: anp.frompyfunc(anp.sin, 1, 1)(x, x), "takes 1 arguments, got 2"),
        (lambda x: anp.add.reduceat(x, anp.array([0.5])), "vector of integers"),
        (lambda x: anp.add.reduceat(x, anp.array([9])), "out of bounds"),
        (lambda x: anp.negative.at(x, 0, 1.0, inplace=False), "takes 1 operands"),
    ],
)
def test_misuse_is_named(call: Any, words: str) -> None:
    with pytest.raises((ArgumentError, IndexError), match=words):
        call(anp.arange(3.0))
