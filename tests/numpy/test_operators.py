"""Operators and methods of arrays, and what Python and NumPy may ask of one."""

from __future__ import annotations

import copy
import operator
import pickle
from typing import Any

import numpy as np
import pytest

import arrayx.numpy as anp
from arrayx import errors
from arrayx.api.autodiff import grad
from arrayx.api.compilation import jit
from arrayx.core.array import Array

X = np.array([[5.0, -2.0, 0.5], [1.0, 3.0, -4.0]], np.float32)
Y = np.array([2.0, 4.0, -1.0], np.float32)
N = np.array([6, -7, 3], np.int32)
M = np.array([2, 3, 5], np.int32)

ON_FLOATS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "eq", "ne", "lt", "le", "gt", "ge")
ON_INTEGERS = (*ON_FLOATS, "and_", "or_", "xor", "lshift", "rshift", "pow")
CASES = [(name, X, Y) for name in ON_FLOATS] + [(name, N, M) for name in ON_INTEGERS]


@pytest.mark.parametrize(("name", "x", "y"), CASES)
def test_operators_work_from_either_side_and_with_numpy_and_python(
    name: str, x: np.ndarray, y: np.ndarray
) -> None:
    apply = getattr(operator, name)
    want = apply(x, y)
    scalar = y.ravel()[0].item()
    for left, right in ((anp.asarray(x), anp.asarray(y)), (anp.asarray(x), y), (x, anp.asarray(y))):
        got = apply(left, right)
        assert isinstance(got, Array)
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)
    np.testing.assert_allclose(
        np.asarray(apply(anp.asarray(x), scalar)), apply(x, scalar), rtol=1e-6
    )
    if name not in ("lshift", "rshift"):
        want = apply(scalar, np.abs(x))
        np.testing.assert_allclose(np.asarray(apply(scalar, abs(anp.asarray(x)))), want, rtol=1e-6)


def test_a_python_number_does_not_widen_an_array() -> None:
    half = anp.ones(2, np.float16)
    assert (half * 2.5).dtype == (2.5 * half).dtype == (half + 1).dtype == np.float16
    assert (anp.ones(2, np.int8) + 1).dtype == np.int8
    assert (anp.ones(2, np.int32) * 0.5).dtype == np.float32
    assert (anp.ones(2, np.int64) * 0.5).dtype == np.float64
    assert (half * np.float32(2)).dtype == np.float32
    assert (anp.ones(2, np.int64) / 2).dtype == np.float64
    with pytest.raises(OverflowError, match="300 is out of range for uint8"):
        anp.ones(2, np.uint8) + 300


def test_other_classes_get_their_turn() -> None:
    class Friend:
        def __radd__(self, other: Any) -> str:
            return "mine"

    assert anp.ones(2) + Friend() == "mine"
    with pytest.raises(TypeError, match="unsupported operand"):
        operator.add(anp.ones(2), [1.0, 2.0])
    assert anp.add(anp.ones(2), [1.0, 2.0]).tolist() == [2.0, 3.0]


def test_in_place_operators_give_new_arrays() -> None:
    x = before = anp.ones(2)
    x += 1
    assert before.tolist() == [1.0, 1.0] and x.tolist() == [2.0, 2.0]


def test_numbers_come_out_of_arrays_of_one_element() -> None:
    assert float(anp.asarray(2.5)) == 2.5 and int(anp.asarray([3])) == 3
    assert complex(anp.asarray(1j)) == 1j and bool(anp.asarray(0)) is False
    assert [10, 20][anp.asarray(1)] == 20 and list(range(anp.asarray(2))) == [0, 1]
    assert f"{anp.asarray(2.0):.3f}" == "2.000"
    assert anp.asarray([[1, 2]]).tolist() == [[1, 2]] and anp.asarray(3).item() == 3
    with pytest.raises(errors.ArgumentError, match=r"one element.*x\.any\(\)"):
        bool(anp.ones(2))
    with pytest.raises(TypeError):
        operator.getitem([1, 2], anp.asarray(1.0))


def test_arrays_behave_like_containers() -> None:
    x = anp.asarray(X)
    assert len(x) == 2 and [row.shape for row in x] == [(3,), (3,)]
    assert 3.0 in x and 7.0 not in x
    assert copy.copy(x) is x
    np.testing.assert_array_equal(np.asarray(pickle.loads(pickle.dumps(x))), X)
    with pytest.raises(TypeError, match="rank 0"):
        len(anp.asarray(1.0))
    with pytest.raises(TypeError, match="hash"):
        _ = {x: 1}


def test_numpy_reads_arrays_and_cannot_write_them() -> None:
    x = anp.asarray(X)
    host = np.asarray(x)
    assert not host.flags.writeable
    assert type(np.sin(x)) is np.ndarray and np.mean(np.asarray(x)) == X.mean()
    assert np.from_dlpack(x).tolist() == X.tolist()
    with pytest.raises(ValueError):
        host[0] = 1.0
    given = X.copy()
    kept = anp.asarray(given)
    given[:] = 0
    np.testing.assert_array_equal(np.asarray(kept), X)


def test_texts_show_dtype_and_weakness() -> None:
    assert repr(anp.arange(3)) == "Array([0, 1, 2], dtype=int32)"
    assert repr(anp.asarray(1.5)) == "Array(1.5, dtype=float32, weak_type=True)"
    assert repr(anp.zeros((0, 2))) == "Array([], dtype=float32, shape=(0, 2))"
    assert repr(anp.ones(2, anp.bfloat16)) == "Array([1., 1.], dtype=bfloat16)"
    assert str(anp.arange(2)) == "[0 1]"


METHODS: dict[str, tuple[Any, ...]] = {
    "sum": (0,),
    "mean": (1,),
    "max": (),
    "min": (0,),
    "std": (),
    "var": (1,),
    "prod": (),
    "argmax": (1,),
    "argmin": (),
    "cumsum": (0,),
    "cumprod": (1,),
    "reshape": (3, 2),
    "transpose": (1, 0),
    "ravel": (),
    "flatten": (),
    "squeeze": (),
    "swapaxes": (0, 1),
    "clip": (-1.0, 1.0),
    "round": (),
    "argsort": (1,),
    "dot": (Y,),
    "take": (np.array([0, 2]),),
    "repeat": (2, 0),
    "any": (),
    "all": (0,),
    "astype": (np.int32,),
    "conj": (),
    "copy": (),
    "trace": (),
    "diagonal": (),
    "nonzero": (),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_the_functions_of_numpy(name: str) -> None:
    got = getattr(anp.asarray(X), name)(*METHODS[name])
    want = getattr(X, name)(*METHODS[name])
    for g, w in zip(*((v if isinstance(v, tuple) else (v,)) for v in (got, want)), strict=True):
        np.testing.assert_allclose(np.asarray(g), w, rtol=1e-6)


def test_properties_are_those_of_numpy() -> None:
    x = anp.asarray(X)
    assert x.T.shape == (3, 2) and x.mT.shape == (3, 2)
    assert x.real is x and x.imag.tolist() == np.zeros((2, 3)).tolist()
    assert (x.ndim, x.size, x.nbytes, x.itemsize) == (2, 6, 24, 4)
    assert x.block_until_ready() is x and len(x.devices()) == 1
    assert x.__array_namespace__() is anp


def test_python_and_numpy_cannot_have_the_value_of_a_traced_array() -> None:
    with pytest.raises(errors.ConcretizationError, match=r"(?s)bool.*anp\.where"):
        jit(lambda x: 1.0 if x > 0 else 2.0)(1.0)
    with pytest.raises(errors.ConcretizationError, match="float"):
        jit(lambda x: float(x))(1.0)
    with pytest.raises(errors.NumpyConversionError, match=r"anp\.sin"):
        jit(lambda x: np.sin(x))(X)
    with pytest.raises(errors.NumpyConversionError, match=r"arrayx\.numpy"):
        jit(lambda x: np.asarray(x))(X)


def test_eager_differentiation_keeps_values() -> None:
    assert float(grad(lambda x: 3 * x if x > 0 else -x)(anp.asarray(2.0))) == 3.0
    assert float(grad(lambda x: x * float(x))(anp.asarray(2.0))) == 2.0


ERRORS: list[tuple[Any, type[Exception], str]] = [
    (
        lambda: anp.ones((2, 3)) + anp.ones(2),
        errors.ShapeError,
        r"add: x1 of shape \(2, 3\) and x2",
    ),
    (lambda: anp.matmul(anp.ones((2, 3)), anp.ones((2, 3))), errors.ShapeError, "matmul: the last"),
    (lambda: anp.reshape(anp.ones(6), (4, -1)), errors.ShapeError, "6 elements do not fit"),
    (lambda: anp.sum(anp.ones(2), axis=1), errors.AxisError, "sum: axis 1 is out of range"),
    (lambda: anp.concatenate([anp.ones(2), anp.ones((2, 2))]), errors.ShapeError, r"arrays\[1\]"),
    (lambda: anp.stack([anp.ones(2), anp.ones(3)]), errors.ShapeError, r"arrays\[1\]"),
    (lambda: anp.max(anp.zeros(0)), errors.ShapeError, "there are no elements"),
    (lambda: -anp.asarray(True), errors.DtypeError, "logical_not"),
    (lambda: anp.asarray(True) - anp.asarray(True), errors.DtypeError, "logical_xor"),
    (lambda: anp.arange(3) ** -1, errors.ArgumentError, "negative power -1"),
    (lambda: anp.array([[1], [2, 3]]), errors.ShapeError, "different lengths"),
    (lambda: anp.array("text"), errors.ArgumentError, "cannot make an array"),
    (lambda: anp.array(np.array(["a"])), errors.DtypeError, "no strings"),
    (lambda: anp.einsum("ij,jk", anp.ones((2, 3)), anp.ones((2, 3))), errors.ShapeError, "'j'"),
    (lambda: anp.zeros((2, -1)), errors.ShapeError, "negative"),
    (lambda: anp.bitwise_and(anp.ones(2), anp.ones(2)), errors.DtypeError, "bitwise_and"),
    (lambda: anp.split(anp.ones(5), 2), errors.ShapeError, "array_split"),
    (lambda: anp.asarray(2**40), OverflowError, "int64"),
]


@pytest.mark.parametrize(("call", "error", "text"), ERRORS)
def test_errors_name_the_function_and_what_does_not_fit(
    call: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        call()


def test_einsum_contracts_as_numpy_does() -> None:
    rng = np.random.default_rng(0)
    a, b, c = (rng.normal(size=s).astype(np.float32) for s in ((3, 4), (4, 5), (5, 3)))
    s = rng.normal(size=(3, 3)).astype(np.float32)
    t = rng.normal(size=(2, 3, 4)).astype(np.float32)
    for spec, args in (
        ("ij,jk->ik", (a, b)),
        ("ij,jk,kl->il", (a, b, c)),
        ("ij,jk,ki", (a, b, c)),
        ("ii->i", (s,)),
        ("ii", (s,)),
        ("ij->ji", (a,)),
        ("ij->j", (a,)),
        ("...ij,jk->...ik", (t, b)),
        ("bij,bij->b", (t, t)),
        ("i,j", (a[0], b[0])),
        ("ij,ij->ij", (a, a)),
        ("iij,jk->ik", (np.stack([s, s, s]), c.T[:, :3] if c.shape[0] == 3 else c[:3])),
    ):
        got = anp.einsum(spec, *args)
        np.testing.assert_allclose(np.asarray(got), np.einsum(spec, *args), rtol=2e-4, atol=2e-5)


def test_creation_gives_default_dtypes_and_numpys_values() -> None:
    assert anp.zeros(2).dtype == np.float32 and anp.arange(3).dtype == np.int32
    assert anp.array([1, 2.5]).dtype == np.float32 and anp.array([True]).dtype == np.bool_
    assert anp.asarray(np.float64(1)).dtype == np.float64
    for got, want in (
        (anp.arange(1, 10, 3), np.arange(1, 10, 3)),
        (anp.arange(5, 0, -2), np.arange(5, 0, -2)),
        (anp.linspace(0, 1, 7), np.linspace(0, 1, 7)),
        (anp.linspace(0, 1, 4, endpoint=False), np.linspace(0, 1, 4, endpoint=False)),
        (anp.linspace(np.zeros(2), np.ones(2), 3, axis=1), np.linspace([0, 0], [1, 1], 3, axis=1)),
        (anp.logspace(0, 2, 3), np.logspace(0, 2, 3)),
        (anp.geomspace(1.0, 8.0, 4), np.geomspace(1, 8, 4)),
        (anp.eye(3, 4, 1), np.eye(3, 4, 1)),
        (anp.tri(3, k=-1), np.tri(3, k=-1)),
        (anp.full((2, 2), 7), np.full((2, 2), 7)),
        (anp.full((2, 2), np.arange(2)), np.full((2, 2), np.arange(2))),
        (anp.indices((2, 3)), np.indices((2, 3))),
        (anp.meshgrid(N, M)[0], np.meshgrid(N, M)[0]),
        (anp.block([[X, X], [X, X]]), np.block([[X, X], [X, X]])),
    ):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)
    assert anp.zeros_like(anp.ones(2, np.int8)).dtype == np.int8
    assert anp.float32(1).dtype == np.float32 and anp.float32 == np.float32


def test_joining_and_splitting_are_numpys() -> None:
    for name in ("vstack", "hstack", "dstack", "column_stack", "stack", "concatenate"):
        got = getattr(anp, name)([X, X + 1])
        np.testing.assert_array_equal(np.asarray(got), getattr(np, name)([X, X + 1]))
    for got, want in (
        (anp.split(X, 3, axis=1), np.split(X, 3, axis=1)),
        (anp.array_split(np.arange(7), 3), np.array_split(np.arange(7), 3)),
        (anp.split(np.arange(7), [2, 5]), np.split(np.arange(7), [2, 5])),
        (anp.hsplit(X, [1]), np.hsplit(X, [1])),
    ):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            np.testing.assert_array_equal(np.asarray(g), w)


def test_nonzero_can_have_a_fixed_size() -> None:
    x = np.array([[0, 1, 1], [0, 0, 1]])
    for got, want in zip(anp.nonzero(x), np.nonzero(x), strict=True):
        np.testing.assert_array_equal(np.asarray(got), want)
    rows, columns = jit(lambda x: anp.nonzero(x, size=4, fill_value=-1))(x)
    assert rows.tolist() == [0, 0, 1, -1] and columns.tolist() == [1, 2, 2, -1]
    assert jit(lambda x: anp.flatnonzero(x, size=2))(x).tolist() == [1, 2]
    with pytest.raises(errors.ConcretizationError, match="size="):
        jit(anp.nonzero)(x)
