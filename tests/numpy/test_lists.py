"""Lists, tuples and objects with `__array__` where functions take arrays."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors, tree
from arrayx.conformance.table import functions

# Whose rows compute with their operands before the call, or say something else by a list.
ELSEWHERE = {
    *("numpy.block", "numpy.piecewise"),
    *(
        f"numpy.linalg.{name}"
        for name in (
            *("solve", "inv", "cholesky", "eigh", "eigvalsh", "cond", "matrix_power"),
            *("tensorsolve", "tensorinv"),
        )
    ),
}


def rows() -> Iterator[Any]:
    """The first row of each function of `arrayx.numpy` that is called with its operands alone."""
    seen = set()
    for case in functions():
        ours = case.name.startswith("numpy.") and case.name not in seen | ELSEWHERE
        if ours and case.operands and "float64" in case.dtypes:
            seen.add(case.name)
            yield case


CASES = tuple(rows())


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_list_gives_what_its_array_gives(case: Any) -> None:
    given = case.draw("float64")
    if any(a.size == 0 for a in given):
        pytest.skip("an empty list says nothing of a dtype")
    with ax.config(default_dtype_bits=64):
        arrays = [np.asarray(a.tolist(), np.asarray(a.tolist()).dtype) for a in given]
        want = case.call(*arrays, **case.params)
        got = case.call(*(a.tolist() for a in given), **case.params)
    for a, b in zip(tree.leaves(want), tree.leaves(got), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
        assert np.asarray(a).dtype == np.asarray(b).dtype


def test_lists_may_hold_traced_values_and_be_nested() -> None:
    def f(x: Any) -> Any:
        return anp.sum(anp.multiply([[x, 2.0], (3.0, x * x)], np.ones(2, np.float32)))

    assert float(ax.grad(f)(3.0)) == 7.0
    assert float(ax.jit(ax.grad(f))(3.0)) == 7.0
    assert ax.vmap(ax.grad(f))(anp.arange(3.0)).tolist() == [1.0, 3.0, 5.0]
    assert ax.jacfwd(lambda x: anp.maximum([x, 1.0], 2.0))(3.0).tolist() == [1.0, 0.0]


class Labelled:
    """An object that is an array to NumPy, and nothing more."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.arange(3.0)


class Interfaced:
    """An object that shows its memory."""

    values = np.arange(3.0)

    @property
    def __array_interface__(self) -> Any:
        return self.values.__array_interface__


@pytest.mark.parametrize("kind", [Labelled, Interfaced])
def test_objects_that_are_arrays_to_numpy_are_taken(kind: Any) -> None:
    assert anp.sum(kind()).dtype == np.float64
    assert anp.add(kind(), anp.ones(3)).tolist() == [1.0, 2.0, 3.0]
    assert ax.grad(lambda x: anp.dot(kind(), x))(anp.ones(3)).tolist() == [0.0, 1.0, 2.0]


class Wrapped:
    """Labels around an array of any library, with NumPy's protocol for elementwise functions."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any) -> Any:
        assert (method, ufunc.nin, ufunc.nout) == ("__call__", len(inputs), 1)
        return Wrapped(ufunc(*(x.data if isinstance(x, Wrapped) else x for x in inputs)))


class Shy(Wrapped):
    """One that leaves the call to others."""

    def __array_ufunc__(self, *_: Any) -> Any:
        return NotImplemented

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.data)


def test_elementwise_functions_leave_the_call_to_labels_around_an_array() -> None:
    def f(x: Any) -> Any:
        wrapped = anp.sin(Wrapped(anp.multiply(np.arange(3.0), x)))
        assert isinstance(wrapped, Wrapped)
        return anp.sum(anp.maximum(0.5, wrapped).data)

    x = 0.7
    inner = np.arange(3.0) * x
    want = np.sum(np.arange(3.0) * np.cos(inner) * (np.sin(inner) > 0.5))
    with ax.config(default_dtype_bits=64):
        assert float(ax.grad(f)(x)) == pytest.approx(want)
    assert anp.negative(Shy(np.ones(2))).tolist() == [-1.0, -1.0]


@pytest.mark.parametrize("function", [ax.lax.sin, lambda x: ax.lax.add(x, 1.0)])
@pytest.mark.parametrize("value", [[1.0], (1.0,), Labelled()])
def test_lax_takes_arrays_and_numbers_alone(function: Any, value: Any) -> None:
    with pytest.raises(errors.ArgumentError, match=r"lax\..*anp\.asarray"):
        function(value)


def test_a_list_comes_to_the_device_of_the_other_operand() -> None:
    pytest.importorskip("jaxlib")
    x = ax.device_put(np.ones(2), ax.devices("xla")[0])
    assert anp.add([1.0, 2.0], x).device == x.device
    assert anp.add(x, [1.0, anp.asarray(2.0)][:1]).device == x.device


def test_comparisons_take_lists_and_arithmetic_operators_do_not() -> None:
    x = anp.arange(3)
    assert (x == [0, 5, 2]).tolist() == (x == [0, 5, 2]).tolist() == [True, False, True]
    assert (x != (0, 5, 2)).tolist() == [False, True, False]
    assert (x < [1, 1, 1]).tolist() == [True, False, False]
    assert bool(anp.all((x,) == anp.arange(3)))
    assert (x == "none") is False  # what is no array is unequal
    with pytest.raises(TypeError, match="unsupported operand"):
        operator.add(x, [1, 2, 3])
    with pytest.raises(errors.ShapeError):
        x == [1, 2]  # noqa: B015
