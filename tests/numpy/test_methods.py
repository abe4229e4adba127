"""Every operator, method and property of arrays against NumPy's, eager and compiled."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arrayx.numpy as anp
from arrayx import errors, tree
from arrayx.api.autodiff import grad
from arrayx.api.compilation import jit
from arrayx.backend.registry import chosen, registry
from arrayx.core.array import Array
from arrayx.core.interpreter import Tracer
from arrayx.numpy.operators import BINARY, COMPARISONS, METHODS, PROPERTIES

X = np.array([[5.0, -2.0, 0.5], [1.0, 3.0, -4.0]])
Y = np.array([2.0, 4.0, -1.5])
N = np.array([[6, -7, 3], [1, 0, -5]])
M = np.array([2, 3, 5])
B = np.array([[True, False, True], [False, False, True]])
C = np.array([True, False, False])


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


def same(got: Any, want: Any) -> None:
    """Compares results, nested ones leaf by leaf."""
    leaves, wanted = tree.leaves(got), tree.leaves(want)
    assert len(leaves) == len(wanted)
    for g, w in zip(leaves, wanted, strict=True):
        host = np.asarray(g)
        assert host.shape == np.shape(w)
        np.testing.assert_allclose(host, w, rtol=2e-6, atol=1e-6)


# ----------------------------------------------------------------- operators

FLOATS = ("float32", "float64", "complex64", "bfloat16")
INTEGERS = ("int32", "int8", "int64")
#: For each operator the dtypes it takes, and two operands.
OPERATORS: dict[str, tuple[tuple[str, ...], np.ndarray, np.ndarray]] = {
    **dict.fromkeys(("add", "sub", "mul", "truediv"), (FLOATS, X, Y)),
    **dict.fromkeys(("floordiv", "mod", "divmod"), (FLOATS[:2], X, Y)),
    **dict.fromkeys(("lt", "le", "gt", "ge"), (FLOATS[:2], X, Y)),
    **dict.fromkeys(("eq", "ne"), (FLOATS, X, Y)),
    "pow": (FLOATS[:3], np.abs(X), Y),
    "matmul": (FLOATS[:3], X, Y),
    **dict.fromkeys(("and", "or", "xor"), (("bool", *INTEGERS), N, M)),
    **dict.fromkeys(("lshift", "rshift"), (INTEGERS, N, M)),
}
ON_INTEGERS = dict.fromkeys(
    ("add", "sub", "mul", "floordiv", "mod", "divmod", "pow", "matmul", "eq", "lt"),
    (INTEGERS, N, M),
)


def applied(name: str) -> Callable[[Any, Any], Any]:
    """The operator as a function."""
    if name == "divmod":
        return divmod
    return getattr(operator, f"{name}_" if name in ("and", "or") else name)  # type: ignore[no-any-return]


CASES = [
    (name, dtype, x, y)
    for table in (OPERATORS, ON_INTEGERS)
    for name, (dtypes, x, y) in table.items()
    for dtype in dtypes
]


def test_every_operator_is_in_the_table() -> None:
    assert set(OPERATORS) == {*BINARY, *COMPARISONS}


def on_backends() -> list[Any]:
    """Every case on every backend; what compiles much for another dtype is slow."""
    rows = []
    for backend in BACKENDS:
        for name, dtype, x, y in CASES:
            main = backend.values[0] == "numpy" or dtype in ("float32", "int32", "bool")
            marks = (*backend.marks, *(() if main else (pytest.mark.slow,)))
            label = f"{backend.values[0]}-{name}-{dtype}"
            rows.append(pytest.param(name, dtype, x, y, *backend.values, marks=marks, id=label))
    return rows


@pytest.mark.parametrize(("name", "dtype", "x", "y", "backend"), on_backends())
def test_operators_are_those_of_numpy_from_both_sides_and_compiled(
    name: str, dtype: str, x: np.ndarray, y: np.ndarray, backend: str
) -> None:
    apply = applied(name)
    x, y = x.astype(anp.dtype(dtype)), y.astype(anp.dtype(dtype))
    wide = {"bfloat16": np.float32}.get(dtype, x.dtype)
    want = apply(x.astype(wide), y.astype(wide))
    tolerance = 2e-2 if dtype == "bfloat16" else 2e-6  # its eps is 2**-8
    with chosen(backend):
        a, b = anp.asarray(x), anp.asarray(y)
        forms = [apply(a, b), jit(apply)(a, b)]
        if dtype != "bfloat16":  # whose NumPy arrays have operators of their own
            forms += [apply(a, y), apply(x, b)]
        for form in forms:
            for g, w in zip(tree.leaves(form), tree.leaves(want), strict=True):
                assert isinstance(g, Array)
                np.testing.assert_allclose(np.asarray(g).astype(w.dtype), w, rtol=tolerance)
        if name == "matmul":
            return
        number = y.astype(wide).ravel()[0].item()
        same_number = np.asarray(number, wide)
        for form, w in (
            (apply(a, number), apply(x.astype(wide), same_number)),
            (jit(lambda a: apply(a, number))(a), apply(x.astype(wide), same_number)),
            (apply(number, abs(b)), apply(same_number, abs(y).astype(wide))),
        ):
            for g, v in zip(tree.leaves(form), tree.leaves(w), strict=True):
                np.testing.assert_allclose(np.asarray(g).astype(v.dtype), v, rtol=tolerance)


IN_PLACE = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
]


@pytest.mark.parametrize("name", IN_PLACE)
def test_operators_in_place_give_a_new_array(name: str) -> None:
    x, y = (N, M) if name in ("and", "or", "xor", "lshift", "rshift") else (abs(X), Y)
    before = anp.asarray(x)
    after = getattr(operator, f"i{name}")(before, anp.asarray(y))
    assert after is not before
    same(before, x)
    same(after, applied(name)(x, y))


@pytest.mark.parametrize("name", ["neg", "pos", "abs", "invert"])
def test_operators_of_one_array_are_those_of_numpy(name: str) -> None:
    for x in (N, B) if name == "invert" else (X, N):
        for f in (getattr(operator, name), jit(getattr(operator, name))):
            same(f(anp.asarray(x)), getattr(operator, name)(x))
    assert round(anp.asarray(2.55), 1).item() == pytest.approx(2.6, abs=0.06)
    same(round(anp.asarray(X)), np.round(X))


# ----------------------------------------------------------------- methods and properties

#: What each method is called with, on a matrix of floats unless another array is named.
CALLS: dict[str, list[tuple[np.ndarray, tuple[Any, ...], dict[str, Any]]]] = {
    name: [(X, (), {}), (X, (), {"axis": 1}), (X, (), {"axis": -2, "keepdims": True})]
    for name in ("sum", "prod", "max", "min", "mean", "std", "var", "argmax", "argmin")
}
CALLS |= {
    name: [(B, (), {}), (B, (), {"axis": 0}), (X, (), {"axis": -1, "keepdims": True})]
    for name in ("all", "any")
}
CALLS |= {
    "argpartition": [(X, (1,), {}), (X, (0,), {"axis": 0})],
    "argsort": [(X, (), {}), (X, (), {"axis": 0}), (X, (), {"axis": None})],
    "astype": [(X, (np.int32,), {}), (N, (np.float64,), {})],
    "choose": [(np.array([1, 0, 1]), ([M, 2 * M],), {})],
    "clip": [(X, (-1.0, 1.0), {}), (X, (), {"max": 0.0})],
    "compress": [(X, (C,), {"axis": 1}), (Y, (C,), {})],
    "conj": [(X * 1j, (), {})],
    "conjugate": [(X * 1j, (), {})],
    "copy": [(X, (), {})],
    "cumprod": [(X, (), {}), (X, (), {"axis": 0})],
    "cumsum": [(X, (), {}), (X, (), {"axis": -1})],
    "diagonal": [(X, (), {}), (X, (), {"offset": 1})],
    "dot": [(X, (Y,), {})],
    "flatten": [(X, (), {}), (X, ("F",), {})],
    "nonzero": [(N, (), {})],
    "partition": [],
    "ptp": [],
    "ravel": [(X, (), {}), (X, ("F",), {})],
    "repeat": [(X, (2,), {}), (X, (2,), {"axis": 0})],
    "reshape": [(X, (3, 2), {}), (X, ((-1,),), {}), (X, (3, 2), {"order": "F"})],
    "round": [(X / 3, (), {}), (X / 3, (1,), {})],
    "searchsorted": [(M, (N,), {}), (M, (N,), {"side": "right"})],
    "sort": [],
    "squeeze": [(X[None], (), {}), (X[None], (0,), {})],
    "swapaxes": [(X, (0, 1), {})],
    "take": [(X, (np.array([0, 2]),), {"axis": 1}), (X, (M % 6,), {})],
    "trace": [(X, (), {}), (X, (), {"offset": 1})],
    "transpose": [(X, (), {}), (X, (1, 0), {}), (X, ((1, 0),), {})],
    "view": [(X, (np.int64,), {}), (N.astype(np.int32), (np.uint32,), {})],
    "item": [(Y[:1], (), {}), (np.asarray(2.5), (), {})],
    "tolist": [(X, (), {}), (np.asarray(3), (), {})],
    "tobytes": [(X, (), {})],
}
#: Not of NumPy, or tested with what they belong to.
ELSEWHERE = {"block_until_ready", "delete", "devices", "is_deleted", "to_device"}
#: Their results are no arrays, or their shapes depend on values.
EAGER = {"item", "tolist", "tobytes", "nonzero", "compress"}


def test_every_method_is_in_the_table() -> None:
    named = {name for name in METHODS if not name.startswith("__")}
    assert named == set(CALLS) | ELSEWHERE


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", [name for name, calls in CALLS.items() if calls])
def test_methods_are_those_of_numpy_and_are_compiled(name: str, backend: str) -> None:
    for x, args, kwargs in CALLS[name]:
        want = getattr(x, name)(*args, **kwargs)

        def call(x: Any, args: Any = args, kwargs: Any = kwargs) -> Any:
            return getattr(x, name)(*args, **kwargs)

        with chosen(backend):
            if name == "argpartition":  # which only fixes one place
                same(call(anp.asarray(x)), np.argsort(x, kwargs.get("axis", -1)))
                continue
            got = call(anp.asarray(x))
            if name in ("tolist", "tobytes", "item"):
                assert got == want
                continue
            same(got, want)
            if name not in EAGER:
                same(jit(call)(anp.asarray(x)), want)


def test_sorting_methods_give_a_new_array() -> None:
    x = anp.asarray(X)
    same(x.sort(), np.sort(X))
    same(x.sort(axis=0), np.sort(X, 0))
    same(x.sort(descending=True), -np.sort(-X))
    same(x.partition(1), np.sort(X))
    same(x.ptp(axis=1), np.ptp(X, axis=1))
    same(x, X)


def test_methods_with_shapes_that_depend_on_values_take_a_size() -> None:
    rows, columns = jit(lambda x: x.nonzero(size=7, fill_value=9))(N)
    same(np.stack((rows, columns)), np.array([[0, 0, 0, 1, 1, 9, 9], [0, 1, 2, 0, 2, 9, 9]]))
    same(jit(lambda x, c: x.compress(c, axis=1, size=2))(X, C), np.stack([X[:, 0], 0 * Y[:2]], 1))


def test_every_property_is_that_of_numpy() -> None:
    for name in PROPERTIES:
        if name == "at":
            continue
        for x in (X, X * (1 + 2j), N):
            want = getattr(x, name)
            get = operator.attrgetter(name)
            for f in (get, jit(lambda x, get=get: get(x))):
                same(f(anp.asarray(x)), want)
    x = anp.asarray(X)
    for name in ("shape", "ndim", "size", "dtype", "itemsize", "nbytes"):
        assert getattr(x, name) == getattr(X, name)


# ----------------------------------------------------------------- x.at

PLACES: dict[str, Any] = {
    "element": (1, 2),
    "row": -1,
    "slice": (slice(None), slice(0, 3, 2)),
    "backwards": slice(None, None, -1),
    "rows": np.array([1, 0]),
    "points": (np.array([0, 1]), np.array([2, 2])),
    "mask": X > 0,
    "grid": (np.array([[0], [1]]), np.array([0, 2])),
}
FUNCTIONS: dict[str, Any] = {
    "set": lambda x, v: v + 0 * x,
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "power": np.power,
    "min": np.minimum,
    "max": np.maximum,
}
HINTS = ({}, {"unique_indices": True}, {"indices_are_sorted": True}, {"mode": "drop"})


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("place", PLACES)
def test_writes_at_a_place_are_those_of_numpy(place: str, backend: str) -> None:
    index, x = PLACES[place], np.abs(X)
    value = np.linspace(1.0, 2.0, np.size(x[index])).reshape(np.shape(x[index]))
    with chosen(backend):
        for name, function in FUNCTIONS.items():
            want = x.copy()
            want[index] = function(want[index], value)
            for hints in HINTS if backend == "numpy" else HINTS[:1]:

                def write(x: Any, v: Any, name: str = name, hints: Any = hints) -> Any:
                    return getattr(x.at[index], name)(v, **hints)

                same(write(anp.asarray(x), value), want)
                if name in ("set", "divide") or not hints:
                    same(jit(write)(anp.asarray(x), anp.asarray(value)), want)
        want = x.copy()
        want[index] = np.sqrt(want[index])
        same(anp.asarray(x).at[index].apply(anp.sqrt), want)
        same(anp.asarray(x).at[index].get(), x[index])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_writes_have_the_slopes_of_their_elements(name: str) -> None:
    index, step = PLACES["points"], 1e-6
    x, v = np.abs(X) + 0.3, np.array([1.7, 0.8])

    def total(x: Any, v: Any) -> Any:
        return anp.sum(getattr(x.at[index], name)(v) * anp.asarray(weights))

    weights = np.linspace(1.0, 2.0, 6).reshape(2, 3)
    for argument, slope in enumerate(grad(total, argnums=(0, 1))(anp.asarray(x), anp.asarray(v))):
        given = (x, v)[argument]
        want = np.zeros_like(given)
        for place in np.ndindex(given.shape):
            ends = []
            for sign in (1, -1):
                moved = [x.copy(), v.copy()]
                moved[argument][place] += sign * step
                ends.append(float(total(*map(anp.asarray, moved))))
            want[place] = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(np.asarray(slope), want, rtol=1e-5, atol=1e-7)


def test_no_tracer_hides_a_method_behind_an_attribute_of_its_own() -> None:
    names = {name for name in {*METHODS, *PROPERTIES} if not name.startswith("__")}
    kinds = [Tracer]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
        assert not names & set(vars(kind)), kind
