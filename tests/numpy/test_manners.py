"""What functions of numbers do with arguments they cannot take: one table of all of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors

TOPICS = "elementwise logic reductions cumulative contraction polynomials signals histograms bits"
KEY = ax.random.key(0)
TALL = (7, 5, 9)
# Of any shape: they flatten, compare shapes, or have no say in it.
ANY_SHAPE = {
    *("array_equal", "array_equiv", "ediff1d", "gradient", "outer"),
    *("polyval", "interp", "histogram", "trapezoid", "dot"),
}


def plain_rows() -> Iterator[Any]:
    """The first row of each function with each number of operands."""
    seen = set()
    files = tuple(f"arrayx.conformance.functions.{topic}" for topic in TOPICS.split())
    for module in files:
        for case in __import__(module, fromlist=["CASES"]).CASES:
            key = case.name, len(case.operands)
            if case.operands and key not in seen:
                seen.add(key)
                yield case


CASES = tuple(plain_rows())


def names_of(name: str) -> set[str]:
    """A function's name and those it also has."""
    function = getattr(anp, name)
    return {n for n in dir(anp) if getattr(anp, n) is function}


def refused(case: Any, operands: list[Any], expected: Any = errors.ArrayxError, **more: Any) -> str:
    """The text of the error, which names the function."""
    name = case.name.removeprefix("numpy.")
    with pytest.raises(expected) as caught:
        case.call(*operands, **{**case.params, **more})
    text = str(caught.value)
    start = re.match(r"\w+", text)
    assert start and start.group() in names_of(name), f"{name} is not named: {text}"
    return text


def drawn(case: Any, dtype: str | None = None) -> list[Any]:
    return [anp.asarray(a) for a in case.draw(dtype or case.main_dtype)]


def parameters(name: str) -> set[str]:
    """The names of a function's parameters; none where they have no names."""
    return set(inspect.signature(getattr(anp, name.removeprefix("numpy."))).parameters)


def having(*wanted: str) -> list[Any]:
    return [
        case
        for case in CASES
        if len(case.operands) == 1
        and set(wanted) <= parameters(case.name)
        and "apply" not in case.name
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.name}-{len(c.operands)}")
@pytest.mark.parametrize("bad", ["spam", object(), KEY], ids=["text", "object", "key"])
def test_what_is_no_number_is_refused_by_name(case: Any, bad: Any) -> None:
    for i in range(len(case.operands)):
        operands = drawn(case)
        operands[i] = bad
        refused(
            case,
            operands,
            (errors.ArgumentError, errors.DtypeError, errors.ShapeError, errors.AxisError),
        )


@pytest.mark.parametrize(
    "case",
    [c for c in CASES if len(c.operands) > 1 and c.name.removeprefix("numpy.") not in ANY_SHAPE],
    ids=lambda c: f"{c.name}-{len(c.operands)}",
)
def test_shapes_that_do_not_fit_are_refused_by_name(case: Any) -> None:
    for i in range(len(case.operands)):
        operands = drawn(case)
        operands[i] = anp.ones(TALL, operands[i].dtype)
        refused(case, operands, (errors.ShapeError, errors.AxisError))


@pytest.mark.parametrize("case", having("axis"), ids=lambda c: c.name)
@pytest.mark.parametrize("axis", [9, -9, 1.5, "rows"])
def test_axes_that_are_not_there_are_refused_by_name(case: Any, axis: Any) -> None:
    wanted = errors.AxisError if type(axis) is int else errors.ArgumentError
    assert "axis" in refused(case, drawn(case), wanted, axis=axis)


@pytest.mark.parametrize("case", having("axis", "keepdims"), ids=lambda c: c.name)
def test_an_axis_is_reduced_once(case: Any) -> None:
    text = refused(case, [anp.ones((2, 3))], errors.AxisError, axis=(0, -2))
    assert "twice" in text


@pytest.mark.parametrize("case", having("out"), ids=lambda c: c.name)
def test_results_are_not_written_into_arrays(case: Any) -> None:
    text = refused(case, drawn(case), errors.ImmutableArrayError, out=np.zeros(3))
    assert "arrays do not change, so there is no out=" in text


@pytest.mark.parametrize("case", having("dtype"), ids=lambda c: c.name)
def test_dtypes_that_there_are_not_are_refused_by_name(case: Any) -> None:
    assert "'spam'" in refused(case, drawn(case), errors.DtypeError, dtype="spam")


@pytest.mark.parametrize("case", having("where"), ids=lambda c: c.name)
def test_masks_that_do_not_fit_are_refused_by_name(case: Any) -> None:
    more = {"initial": 0} if "initial" in parameters(case.name) else {}
    refused(case, [anp.ones((2, 3))], errors.ShapeError, where=anp.ones(TALL, bool), **more)


COMPLEX, FLOAT, BOOL = (np.ones(3, d) for d in ("complex64", "float32", "bool"))
WHOLE = np.arange(3, dtype=np.int32)
REFUSED_DTYPES = {
    "of complex numbers": (
        COMPLEX,
        "floor ceil trunc fabs cbrt deg2rad rad2deg i0 spacing frexp modf isposinf "
        "isneginf signbit invert bitwise_count unwrap "
        "histogram_bin_edges histogram",
    ),
    "of two complex numbers": (
        (COMPLEX, COMPLEX),
        "floor_divide remainder fmod divmod hypot arctan2 logaddexp "
        "logaddexp2 copysign heaviside nextafter gcd lcm bitwise_and bitwise_or bitwise_xor "
        "left_shift right_shift ldexp histogram2d",
    ),
    "of two floats": (
        (FLOAT, FLOAT),
        "gcd lcm bitwise_and bitwise_or bitwise_xor left_shift right_shift ldexp",
    ),
    "of floats": (FLOAT, "invert bitwise_count packbits unpackbits bincount"),
    "of booleans": (BOOL, "negative sign ptp bincount"),
    "of two booleans": ((BOOL, BOOL), "subtract gcd lcm polysub"),
}


@pytest.mark.parametrize(
    ("operands", "name"),
    [
        pytest.param(operands, name, id=f"{name} {what}")
        for what, (operands, names) in REFUSED_DTYPES.items()
        for name in names.split()
    ],
)
def test_dtypes_without_meaning_are_refused_by_name(operands: Any, name: str) -> None:
    given = operands if isinstance(operands, tuple) else (operands,)
    with pytest.raises(errors.DtypeError) as caught:
        getattr(anp, name)(*given)
    assert any(str(caught.value).startswith(n) for n in names_of(name)), caught.value


MATRIX = np.ones((2, 3), np.float32)
V = np.arange(4, dtype=np.float32)
#: A call, and words that the error holds besides the function's name.
OUT_OF_RANGE: list[tuple[str, str, Callable[[], Any]]] = [
    ("max", "no elements", lambda: anp.max(np.ones((0, 2)), axis=0)),
    ("min", "no elements", lambda: anp.min(np.ones(0))),
    ("max", "initial", lambda: anp.max(V, where=V > 1)),
    ("average", "weights of shape", lambda: anp.average(MATRIX, weights=V)),
    ("average", "weights of shape", lambda: anp.average(MATRIX, axis=1, weights=V)),
    ("power", "negative power", lambda: anp.power(WHOLE, -1)),
    ("gradient", "edge_order", lambda: anp.gradient(V, edge_order=3)),
    ("gradient", "at least 2", lambda: anp.gradient(V[:1])),
    ("gradient", "at least 3", lambda: anp.gradient(V[:2], edge_order=2)),
    ("gradient", "length 4", lambda: anp.gradient(V, V[:3])),
    ("gradient", "3 distances for 2 axes", lambda: anp.gradient(MATRIX, 1.0, 1.0, 1.0)),
    ("dot", "differ in length", lambda: anp.dot(MATRIX, MATRIX)),
    ("matmul", "differ in length", lambda: anp.matmul(MATRIX, MATRIX)),
    ("matmul", "rank 0", lambda: anp.matmul(MATRIX, 2.0)),
    ("matvec", "must be a matrix", lambda: anp.matvec(V, V)),
    ("tensordot", "axes", lambda: anp.tensordot(V, V, 2)),
    ("tensordot", "pairs", lambda: anp.tensordot(MATRIX, MATRIX, ((0, 1), (0,)))),
    ("einsum", "lengths", lambda: anp.einsum("ij,jk", MATRIX, MATRIX)),
    ("einsum", "does not fit", lambda: anp.einsum("ijk->i", MATRIX)),
    ("einsum", "there is no out=", lambda: anp.einsum("i->i", V, out=V)),
    ("convolve", "mode", lambda: anp.convolve(V, V, "half")),
    ("correlate", "mode", lambda: anp.correlate(V, V, "half")),
    ("convolve", "no elements", lambda: anp.convolve(V, V[:0])),
    ("interp", "one length", lambda: anp.interp(V, V, V[:2])),
    ("interp", "extrapolate", lambda: anp.interp(V, V, V, left="flat")),
    ("polyder", "negative", lambda: anp.polyder(V, -1)),
    ("polyint", "negative", lambda: anp.polyint(V, -1)),
    ("polyint", "constant", lambda: anp.polyint(V, 2, [1.0, 2.0, 3.0])),
    ("polyval", "vector", lambda: anp.polyval(np.float32(2), V)),
    ("polyadd", "vector", lambda: anp.polyadd(MATRIX, V)),
    ("packbits", "bitorder", lambda: anp.packbits(BOOL, bitorder="middle")),
    ("bincount", "vector", lambda: anp.bincount(np.ones((2, 2), int))),
    ("bincount", "weights of shape", lambda: anp.bincount(WHOLE, weights=V)),
    ("histogram", "at least one bin", lambda: anp.histogram(V, 0)),
    ("histogram", "weights of shape", lambda: anp.histogram(V, weights=V[:2])),
    ("histogram", "auto", lambda: anp.histogram(V, "auto")),
    ("histogram2d", "equally long", lambda: anp.histogram2d(V, V[:2])),
    ("histogramdd", "2 ranges|1 ranges", lambda: anp.histogramdd(MATRIX, 2, [(0, 1)])),
    ("cov", "matrices", lambda: anp.cov(np.ones((2, 2, 2)))),
    ("cov", "length 3", lambda: anp.cov(MATRIX, aweights=V)),
    ("cov", "whole numbers", lambda: anp.cov(MATRIX, fweights=V[:3])),
    ("eye", "negative", lambda: anp.eye(-1)),
    ("eye", "integer", lambda: anp.eye(2.5)),
    ("tri", "negative", lambda: anp.tri(-1)),
    ("tri", "integer", lambda: anp.tri(2.5)),
    ("vander", "vector", lambda: anp.vander(MATRIX)),
    ("vander", "negative", lambda: anp.vander(V, -1)),
    ("tril", "2 dimensions", lambda: anp.tril(V)),
    ("meshgrid", "indexing", lambda: anp.meshgrid(V, indexing="yx")),
    ("indices", "negative", lambda: anp.indices((2, -1))),
    ("hamming", "integer", lambda: anp.hamming(2.5)),
    ("vectorize", "signature", lambda: anp.vectorize(anp.dot, signature="n->")),
    ("vectorize", "length", lambda: anp.vectorize(anp.dot, signature="(n),(n)->()")(V, V[:2])),
    ("vectorize", "broadcast", lambda: anp.vectorize(anp.add)(V, V[:3])),
    ("apply_along_axis", "axis 2", lambda: anp.apply_along_axis(anp.sum, 2, MATRIX)),
    ("apply_over_axes", "axis 2", lambda: anp.apply_over_axes(anp.sum, MATRIX, [2])),
    ("round", "integer", lambda: anp.round(V, 1.5)),
]


@pytest.mark.parametrize(
    ("name", "words", "call"),
    [pytest.param(*row, id=f"{i}-{row[0]}") for i, row in enumerate(OUT_OF_RANGE)],
)
def test_values_out_of_range_are_refused_by_name(name: str, words: str, call: Any) -> None:
    with pytest.raises(errors.ArrayxError, match=words) as caught:
        call()
    assert str(caught.value).startswith(name), caught.value


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: anp.bincount(x), "length"),
        (lambda x: anp.polymul(x, x, trim_leading_zeros=True), "trim_leading_zeros=False"),
        (lambda x: anp.histogram(x, x[0])[0], "bins"),
        (lambda x: anp.eye(x[0]), "the argument N of eye"),
        (lambda x: anp.polyder(x, x[0]), "the argument m of polyder"),
    ],
)
def test_shapes_that_elements_decide_explain_themselves_under_jit(call: Any, words: str) -> None:
    with pytest.raises(errors.ConcretizationError, match=words):
        ax.jit(call)(WHOLE)


def test_bincount_of_a_fixed_length_can_be_traced() -> None:
    counted = ax.jit(lambda x: anp.bincount(x, length=4))(np.array([0, 2, 2, 9]))
    assert counted.tolist() == [1, 0, 2, 0]
