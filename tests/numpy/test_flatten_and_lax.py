"""Trees as vectors, and the functions of `ax.lax` that JAX's users reach for by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors, lax
from arrayx.flatten_util import ravel_pytree
from arrayx.typing import ArrayLike, DTypeLike


def test_a_tree_becomes_a_vector_and_comes_back() -> None:
    tree = {"a": anp.arange(3.0), "b": (np.ones((2, 2), np.float32), 2.0)}
    flat, back = ravel_pytree(tree)
    assert flat.dtype == np.float32 and flat.shape == (8,)
    again = back(flat * 2)
    np.testing.assert_array_equal(np.asarray(again["b"][0]), 2 * np.ones((2, 2)))
    assert again["b"][1].shape == ()
    with pytest.raises(errors.ShapeError, match="length 8"):
        back(flat[:-1])
    empty, back = ravel_pytree({})
    assert empty.shape == (0,) and back(empty) == {}


def test_leaves_of_different_dtypes_get_theirs_back() -> None:
    flat, back = ravel_pytree([anp.arange(2), np.float32([0.5])])
    assert flat.dtype == np.float32
    ints, floats = back(flat)
    assert ints.dtype == np.int32 and floats.dtype == np.float32
    with pytest.raises(errors.DtypeError, match="float32"):
        back(flat.astype(np.float64))
    flat, back = ravel_pytree([np.complex64([1j]), np.float32([2])])
    with pytest.warns(np.exceptions.ComplexWarning):
        assert back(flat)[1].tolist() == [2.0]


def test_a_raveled_function_is_differentiated_and_compiled() -> None:
    flat, back = ravel_pytree({"w": np.float32([[1, 2]]), "b": np.float32(3)})
    slope = ax.jit(ax.grad(lambda v: back(v)["w"].sum() * back(v)["b"]))(flat)
    np.testing.assert_allclose(np.asarray(slope), [3.0, 3.0, 3.0])
    assert ax.vmap(lambda x: ravel_pytree({"x": x})[0])(np.ones((4, 2, 3))).shape == (4, 6)


def test_arrays_and_dtypes_are_what_the_types_say() -> None:
    assert isinstance(anp.ones(2), ArrayLike) and isinstance(2.5, ArrayLike)
    assert not isinstance([1], ArrayLike)
    assert DTypeLike is not None


def test_select_n_takes_the_numbered_case() -> None:
    cases = [np.float32([i, i + 10]) for i in range(3)]
    assert lax.select_n(np.array([2, 0]), *cases).tolist() == [2, 10]
    assert lax.select_n(np.array(1), *cases).tolist() == [1, 11]
    assert lax.select_n(np.array([True, False]), *cases[:2]).tolist() == [1, 10]
    assert ax.jit(lambda w: lax.select_n(w, *cases))(np.array([9, -9])).tolist() == [2, 10]
    slope = ax.grad(lambda x: lax.select_n(np.array([0, 1]), x, x * 5).sum())(cases[0])
    assert slope.tolist() == [1, 5]
    with pytest.raises(errors.DtypeError, match="booleans for two cases"):
        lax.select_n(np.array([True, False]), *cases)
    with pytest.raises(errors.ShapeError, match="rank 0 or the shape"):
        lax.select_n(np.array([1, 0, 1]), *cases)


GATHER = lax.GatherDimensionNumbers((1,), (0,), (0,))
SCATTER = lax.ScatterDimensionNumbers((1,), (0,), (0,))


def test_gather_and_scatter_take_jax_dimension_numbers() -> None:
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    places = np.array([[2], [0], [9]])
    got = lax.gather(x, places, GATHER, (1, 3))
    np.testing.assert_array_equal(np.asarray(got)[:2], x[[2, 0]])
    assert np.isnan(np.asarray(got)[2]).all()
    clipped = lax.gather(x, places, GATHER, (1, 3), mode="clip")
    np.testing.assert_array_equal(np.asarray(clipped)[2], x[3])
    filled = lax.gather(x, places, GATHER, (1, 3), mode="fill", fill_value=-1.0)
    assert (np.asarray(filled)[2] == -1).all()
    new = np.ones((3, 3), np.float32)
    for function, apply in (
        (lax.scatter, lambda a: 1.0),
        (lax.scatter_add, lambda a: a + 1),
        (lax.scatter_mul, lambda a: a),
        (lax.scatter_min, lambda a: np.minimum(a, 1)),
        (lax.scatter_max, lambda a: np.maximum(a, 1)),
    ):
        want = x.copy()
        want[[2, 0]] = apply(want[[2, 0]])
        got = ax.jit(lambda v, f=function: f(v, places, new, SCATTER))(x)
        np.testing.assert_array_equal(np.asarray(got), want)
    with pytest.raises(errors.ArgumentError, match="no mode 'wrap'"):
        lax.gather(x, places, GATHER, (1, 3), mode="wrap")


@pytest.mark.parametrize(
    ("padding", "want"),
    [("VALID", [(0, 0), (0, 0)]), ("SAME", [(1, 1), (0, 1)]), ("same_lower", [(1, 1), (1, 0)])],
)
def test_paddings_by_name(padding: str, want: Any) -> None:
    assert lax.padtype_to_pads((5, 6), (3, 3), (2, 2), padding) == want
    with pytest.raises(errors.ArgumentError, match="padding is"):
        lax.padtype_to_pads((5,), (3,), (2,), "FULL")


def test_small_structural_functions() -> None:
    x = np.arange(4, dtype=np.int32).reshape(2, 2)
    assert lax.tile(x, (2, 1)).shape == (4, 2)
    assert lax.stack([x, x], 2).shape == (2, 2, 2)
    assert [v.tolist() for v in lax.unstack(x, 1)] == [[0, 2], [1, 3]]
    assert lax.empty((2,), np.int8).dtype == np.int8
    assert lax.dtype(1) == np.int32
    assert lax.reduce_xor(np.array([[5, 3], [1, 1]]), (1,)).tolist() == [6, 0]
    with pytest.raises(errors.ShapeError, match="3 numbers for 2"):
        lax.tile(x, (1, 1, 1))


def test_jax_names_reach_ours() -> None:
    with pytest.raises(errors.ConcretizationTypeError):
        ax.jit(lambda x: float(x))(1.0)
    with pytest.raises(errors.TracerArrayConversionError):
        ax.jit(lambda x: np.asarray(x))(1.0)
    assert ax.process_index() == 0 and ax.process_count() == 1
    assert isinstance(ax.core.Tracer, type)
    assert ".".join(map(str, ax.__version_info__)) == ax.__version__
    assert ax.dtypes.canonicalize_dtype("float64") is np.dtype(np.float64)
    assert ax.dtypes.bfloat16 == anp.bfloat16
    with pytest.raises(errors.DtypeError, match="dtype of keys"):
        ax.dtypes.canonicalize_dtype(ax.random.key(0).dtype)
