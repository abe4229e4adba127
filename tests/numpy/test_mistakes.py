"""What functions that make, shape, choose and order arrays say to arguments they do not take."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import arrayx.numpy as anp
from arrayx import errors
from arrayx.api.compilation import jit

#: A call of `arrayx.numpy`, and what its error says behind the name of the function.
MISTAKES = [
    ("reshape(X, (4, 2))", "6 elements do not fit into the shape (4, 2)"),
    ("reshape(X, (-1, -1))", "6 elements do not fit into the shape (-1, -1"),
    ("reshape(X, 1.5)", "a shape is made of integers, got 1.5"),
    ('reshape(X, 6, order="Z")', "order is 'C' or 'F', not 'Z'"),
    ('ravel(X, order="Z")', "order is 'C' or 'F', not 'Z'"),
    ("matrix_transpose(V)", "matrix_transpose needs at least 2 dimensions"),
    ("squeeze(X, 0)", "axis 0 of shape (2, 3) has length 2, not 1"),
    ("broadcast_to(X, (3, 2))", "the shape (2, 3) cannot be broadcast to (3"),
    ("broadcast_to(X, (-1, 3))", "the shape (2, 3) cannot be broadcast to (-1"),
    ("broadcast_to(X, 1.5)", "a shape is made of integers, got 1.5"),
    ("broadcast_arrays(X, ones(2))", "shapes (2, 3), (2,) cannot be broadcast toge"),
    ("expand_dims(X, (0, 0))", "an axis is given twice in (0, 0)"),
    ("split(X, 4, 1)", "axis 1 of length 3 has no 4 equal parts"),
    ("split(X, 0)", "axis 0 of length 2 has no 0 equal parts"),
    ("array_split(X, 0)", "0 parts are not possible"),
    ("split(X, 1.5)", "indices_or_sections must be integers, got 1."),
    ("hsplit(asarray(1.0), 1)", "an array of at least 1 dimensions is split"),
    ("vsplit(V, 1)", "an array of at least 2 dimensions is split"),
    ("dsplit(X, 1)", "an array of at least 3 dimensions is split"),
    ("tile(X, -1)", "reps has negative numbers"),
    ("tile(X, 1.5)", "reps must be an integer, got 1.5"),
    ("repeat(X, -1)", "6 repeats for 6 elements, which must be as m"),
    ("repeat(X, [1, 2], axis=1)", "2 repeats for 3 elements, which must be as m"),
    ("repeat(X, 1.5)", "repeats must be integers, got 1.5"),
    ("roll(X, 1.5)", "shift must be an integer, got 1.5"),
    ("roll(X, (1, 2, 3), (0, 1))", "3 shifts for 2 axes"),
    ("flip(X, (0, 0))", "an axis is given twice in (0, 0)"),
    ("fliplr(V)", "axis 1 is out of range for an array of 1 dim"),
    ("flipud(asarray(1.0))", "axis 0 is out of range for an array of 0 dim"),
    ("rot90(V)", "axis 1 is out of range for an array of 1 dim"),
    ("rot90(X, 1, (0, 0))", "an axis is given twice in (0, 0)"),
    ("rot90(X, 1.5)", "k must be an integer, got 1.5"),
    ("rot90(X, 1, (0, ))", "axes are two, got (0,)"),
    ("pad(X, -1)", "pad_width has negative numbers"),
    ("pad(X, 1.5)", "pad_width must be integers, got 1.5"),
    ("pad(X, ((1, 2), (3, 4), (5, 6)))", "pad_width of shape (3, 2) does not fit 2 dim"),
    ('pad(X, 1, "nope")', "no mode 'nope'"),
    ("pad(X, 1, constant_value=3)", "the mode 'constant' takes constant_values="),
    ('pad(X, 1, "edge", constant_values=3)', "the mode 'edge' takes nothing more, not cons"),
    ('pad(zeros((0, 2)), 1, "edge")', "axis 0 of length 0 has no element that the m"),
    ('pad(X, 1, "reflect", reflect_type="weird")', "reflect_type is 'even' or 'odd', got 'weird'"),
    ('pad(X, 1, "mean", stat_length=0)', "stat_length is at least 1, got 0"),
    ("pad(X, {7:1})", "axis 7 is out of range for an array of 2 dim"),
    ("pad(I, 1, constant_values=2**40)", "Python integer 1099511627776 is out of range"),
    ("pad(X, 1, constant_values=((1, 2, 3), ))", "constant_values of shape (1, 3) does not fit"),
    ("resize(X, -1)", "a length is negative in the shape (-1,)"),
    ("resize(X, 1.5)", "a shape is an integer or a sequence of integ"),
    ("diag(asarray(1.0))", "diag takes a vector or a matrix, got shape"),
    ("diag(zeros((1, 1, 1)))", "diag takes a vector or a matrix, got shape"),
    ("diag(V, 1.5)", "k must be an integer, got 1.5"),
    ("diagonal(V)", "diagonal needs at least 2 dimensions, got sh"),
    ("diagonal(X, 0, 0, 0)", "the two axes are the same"),
    ("diagonal(X, 0, 0, 5)", "axis 5 is out of range for an array of 2 dim"),
    ("trace(V)", "diagonal needs at least 2 dimensions, got sh"),
    ("cross(ones(4), ones(4))", "vectors of length 2 or 3 are taken, got (4"),
    ("cross(ones((2, 3)), ones((4, 3)))", "x1 of shape (2,) and x2 of shape (4,) cannot"),
    ("where(X, 1)", "where takes the condition alone, or both x a"),
    ("where(X, ones(2), 1)", "shapes (2,), (2, 3) cannot be broadcast toge"),
    ("select([X>0], [X, X])", "1 conditions for 2 choices"),
    ("select([], [])", "there has to be at least one condition"),
    ("select([ones(7)>0], [X])", "shapes (2, 3), (7,) cannot be broadcast toge"),
    ("select([X], [X])", "condlist[0] has to be an array of booleans"),
    ("piecewise(X, [X>0], [1, 2, 3])", "1 conditions take as many functions or one m"),
    ("piecewise(X, [X>0, X<0], [1])", "2 conditions take as many functions or one m"),
    ("take(X, 7)", "index 7 is out of bounds for axis 0 of lengt"),
    ("take(X, I+7)", "index 7 is out of bounds for axis 0 of lengt"),
    ("take(X, V)", "an index array must be of integers or boolea"),
    ('take(X, 0, mode="weird")', "no mode 'weird' of indexing"),
    ("take(X, I*0, out=X)", "arrays do not change, so there is no out="),
    ("take_along_axis(X, V, 0)", "indices must be integers, not float32"),
    ("take_along_axis(X, I, 0)", "1 dimensions of indices for 2 of the array"),
    ("take_along_axis(X, full((2, 1), 5), 1)", "index 5 is out of bounds for axis 1 of lengt"),
    ("take_along_axis(X, zeros((3, 3), int), 1)", "shapes (2,), (3,) cannot be broadcast togeth"),
    ('compress(["a"], X)', "no array can be made of the argument condition,"),
    ("compress(X>0, X)", "condition must be a vector, got shape (2, 3)"),
    ("compress(ones(9)>0, X, axis=0)", "index 8 is out of bounds for axis 0 of lengt"),
    ("choose(asarray([3]), [I, I])", "index 3 is out of bounds for axis 0 of lengt"),
    ("choose(V, [I, I])", "indices must be integers, not float32"),
    ("choose(I, [])", "choices has at least one array"),
    ('choose(I, [I, I, I], mode="weird")', "no mode 'weird' of indexing"),
    ("choose(I, [I, arange(2)])", "shapes (3,), (3,), (2,) cannot be broadcast"),
    ("nonzero(asarray(1.0))", "nonzero of an array of rank 0"),
    ("nonzero(X, size=-1)", "size is negative"),
    ("nonzero(X, size=1.5)", "size must be an integer, got 1.5"),
    ("nonzero(X, size=3, fill_value=(1, 2, 3))", "fill_value has 3 numbers for 2 dimensions"),
    ("argwhere(X, size=-2)", "size is negative"),
    ("flatnonzero(X, size=-2)", "size is negative"),
    ("argwhere(asarray(1.0))", "nonzero of an array of rank 0"),
    ("sort(asarray(1.0))", "axis -1 is out of range for an array of 0 di"),
    ("argsort(asarray(1.0))", "axis -1 is out of range for an array of 0 di"),
    ("lexsort(())", "keys is a sequence of at least one array, go"),
    ("lexsort((V, ones(2)))", "keys[1] has shape (2,) and keys[0] (3,)"),
    ("lexsort(3)", "keys is a sequence of at least one array, go"),
    ("argmax(zeros(0))", "argmax of an array of shape (0,)"),
    ("argmin(zeros((2, 0)), axis=1)", "argmin of an array of shape (2, 0)"),
    ("argmax(C)", "argmax of complex64[6] as int32 is not defin"),
    ("argmax(X, out=X)", "arrays do not change, so there is no out="),
    ('sort(X, kind="weird")', "kind is one of ('stable', 'quicksort', 'merg"),
    ('sort(X, order="f")', "order= is for arrays with named fields, whic"),
    ("searchsorted(X, 1.0)", "a must be a vector, got shape (2, 3)"),
    ('searchsorted(V, 1.0, side="mid")', "side is 'left' or 'right', not 'mid'"),
    ('searchsorted(V, 1.0, method="weird")', "method is one of ('scan', 'scan_unrolled', '"),
    ("searchsorted(V, 1.0, sorter=arange(2))", "sorter of shape (2,) for a of shape (3,)"),
    ("searchsorted(V, 1.0, sorter=V)", "an index array must be of integers or boolea"),
    ("digitize(V, X)", "bins must be a vector, got shape (2, 3)"),
    ("digitize(V, asarray([1.0, 3., 2.]))", "bins must rise or fall all along"),
    ("digitize(C, V)", "complex numbers have no bins"),
    ("digitize(V, asarray(1.0))", "bins must be a vector, got shape ()"),
    ("quantile(X, 1.5)", "q lies between 0 and 1, got 1.5"),
    ("quantile(C, .5)", "complex numbers of dtype complex64 have no o"),
    ('quantile(X, .5, method="weird")', "no method 'weird'"),
    ("percentile(X, 101)", "q lies between 0 and 100, got 101"),
    ("percentile(X, -1.0)", "q lies between 0 and 100, got -1.0"),
    ("median(C)", "complex numbers of dtype complex64 have no o"),
    ("nanquantile(X, asarray([.5, 2]))", "q lies between 0 and 1, got Array([0.5, 2. ]"),
    ("partition(X, 9)", "kth 9 is out of range for length 3"),
    ("partition(X, 1.5)", "kth must be an integer, got 1.5"),
    ("argpartition(X, -9)", "kth -9 is out of range for length 3"),
    ("nanargmax(C)", "argmax of complex64[6] as int32 is not defin"),
    ("delete(X, 9)", "index 9 is out of bounds for an axis of leng"),
    ("delete(X, 1.5)", "obj must be integers, not float64"),
    ("delete(X, ones(2)>0, axis=1)", "a mask of shape (2,) for an axis of length 3"),
    ("insert(X, 9, 1.0, axis=0)", "index 9 is out of bounds for an axis of leng"),
    ("insert(X, 1.5, 1.0)", "obj must be integers, not float64"),
    ("insert(X, 0, ones((7, )), axis=0)", "values of shape (1, 7) do not fit the shape"),
    ("insert(V, (0, 1), ones(3))", "values of shape (3,) do not fit the shape (2"),
    ('insert(I, 0, "a")', "the argument values is 'a' of type str, whic"),
    ("insert(asarray([1], np.uint8), 0, 300)", "Python integer 300 is out of range for uint8"),
    ("extract(ones(9)>0, X)", "index 8 is out of bounds for axis 0 of lengt"),
    ('trim_zeros(X, "q")', "trim holds 'f' and 'b', got 'q'"),
    ("fill_diagonal(V, 1, inplace=False)", "fill_diagonal takes a matrix, or axes of one"),
    (
        "fill_diagonal(ones((1, 2, 3)), 1, inplace=False)",
        "fill_diagonal takes a matrix, or axes of one",
    ),
    ("fill_diagonal(X, 1)", "arrays do not change. Give inplace=False and"),
    ("put(X, 9, 1.0, inplace=False)", "index 9 is out of bounds for axis 0 of lengt"),
    ("put(X, 0.5, 1.0, inplace=False)", "an index array must be of integers or boolea"),
    ('put(X, 0, 1.0, mode="weird", inplace=False)', "no mode 'weird' of indexing"),
    ("put(X, 0, 1.0)", "arrays do not change. Give inplace=False and"),
    ("place(X, ones(2)>0, V, inplace=False)", "the mask of shape (2,) does not fit the shap"),
    ("place(X, X>0, zeros(0), inplace=False)", "there are no values to place"),
    ("place(X, X>0, V)", "arrays do not change. Give inplace=False and"),
    ("put_along_axis(X, I, 1.0, 0, inplace=False)", "1 dimensions of indices for 2 of the array"),
    ("put_along_axis(X, X, 1.0, 0, inplace=False)", "indices must be integers, not float32"),
    (
        "put_along_axis(X, zeros((2, 1), int), ones(7), 1, inplace=False)",
        "values of shape (7,) cannot be broadcast to",
    ),
    (
        "put_along_axis(X, full((2, 1), 8), 1.0, 1, inplace=False)",
        "index 8 is out of bounds for axis 1 of lengt",
    ),
    (
        "put_along_axis(X, zeros((2, 1), int), 1.0, 9, inplace=False)",
        "axis 9 is out of range for an array of 2 dim",
    ),
    ("diag_indices(-1)", "n and ndim are not negative, got -1, 2"),
    ("diag_indices(1.5)", "n must be an integer, got 1.5"),
    ("tril_indices(1.5)", "n must be an integer, got 1.5"),
    ("tril_indices_from(V)", "tril_indices_from takes a matrix, got an arr"),
    ("triu_indices_from(V)", "triu_indices_from takes a matrix, got an arr"),
    ("diag_indices_from(X)", "all axes, at least 2, must have one length"),
    ("ix_(X)", "argument 0 must be a vector, got shape (2, 3"),
    ("unravel_index(9, (2, 3))", "9 is out of bounds for an array of shape (2"),
    ("unravel_index(1.5, (2, 3))", "indices must be integers, not float32"),
    ("ravel_multi_index((1, ), (2, 3))", "1 indices for 2 dimensions"),
    ("ravel_multi_index((1, 9), (2, 3))", "an index for axis 1 is out of bounds for len"),
    ("ravel_multi_index((1, 1.5), (2, 3))", "indices must be integers, not float32"),
    (
        'ravel_multi_index((1, 1), (2, 3), mode="weird")',
        "mode is 'raise', 'wrap' or 'clip', not 'weir",
    ),
    ('ravel_multi_index((1, 1), (2, 3), order="Z")', "order is 'C' or 'F', not 'Z'"),
    ("mask_indices(1.5, triu)", "a shape is an integer or a sequence of integ"),
    ("zeros(-1)", "a length is negative in the shape (-1,)"),
    ("zeros(1.5)", "a shape is an integer or a sequence of integ"),
    ('zeros("ab")', "a shape is an integer or a sequence of integ"),
    ("ones((2, -3))", "a length is negative in the shape (2, -3)"),
    ("full((2, ), ones(3))", "the shape (3,) cannot be broadcast to (2,)"),
    ("full(2, 300, np.uint8)", "Python integer 300 is out of range for uint8"),
    ('full(2, "a")', "the argument fill_value is 'a' of type str"),
    ("empty(-1)", "a length is negative in the shape (-1,)"),
    ("full_like(I, 2**40)", "Python integer 1099511627776 is out of range"),
    ("zeros_like(X, shape=-1)", "a length is negative in the shape (-1,)"),
    ("arange(0, 1, 0)", "the step is 0"),
    ('arange("a")', "'a' is not a number"),
    ("arange(300, dtype=np.uint8)", "Python integer 299 is out of range for uint8"),
    ("arange(V)", "a real number is taken, got array([0., 1., 2"),
    ("arange(1j)", "a real number is taken, got 1j"),
    ('arange(float("inf"))', "there is no range with inf"),
    ('arange(float("nan"))', "there is no range with nan"),
    ("linspace(0, 1, -1)", "the number of samples is negative"),
    ("linspace(0, 1, 1.5)", "num must be an integer, got 1.5"),
    ('linspace(0, "a")', "the argument stop is 'a' of type str, which"),
    ("linspace(ones(2), ones(3))", "x1 of shape (2,) and x2 of shape (3,) cannot"),
    ("logspace(0, 1, -1)", "the number of samples is negative"),
    ("geomspace(1, 2, -1)", "the number of samples is negative"),
    ("geomspace(0, 2)", "start and stop cannot be 0"),
    ('geomspace(1, "a")', "the argument stop is 'a' of type str, which"),
    ("logspace(0, 1, 1.5)", "num must be an integer, got 1.5"),
    ("geomspace(1, 2, 1.5)", "num must be an integer, got 1.5"),
    ("array([[1], [1, 2]])", "the nested sequences have different lengths"),
    ("array(S)", "cannot make an array of 'text' of type str"),
    ("array([X, V])", "setting an array element with a sequence. Th"),
    ("fft.fft(X, 0)", "a transform of 0 elements along axis 1 of sh"),
    ("fft.fft(X, -3)", "a transform of -3 elements along axis 1 of s"),
    ("fft.fft(X, 1.5)", "n must be an integer, got 1.5"),
    ('fft.fft(X, norm="weird")', "norm is 'backward', 'ortho' or 'forward', go"),
    ("fft.fft(asarray(1.0))", "axis -1 is out of range for an array of 0 di"),
    ("fft.rfft(C)", "rfft takes real numbers, got complex64"),
    ("fft.irfft(ones(1))", "a transform of 0 elements along axis 0 of sh"),
    ("fft.fftn(X, (2, 3, 4))", "axis -3 is out of range for an array of 2 di"),
    ("fft.fftn(X, (2, ), (0, 1))", "1 lengths (2,) for the axes (0, 1)"),
    ("fft.rfftn(X, axes=())", "rfftn needs at least one axis"),
    ("fft.fft2(V)", "axis -2 is out of range for an array of 1 di"),
    ("fft.fftfreq(0)", "n is a positive integer, got 0"),
    ("fft.fftfreq(1.5)", "n is a positive integer, got 1.5"),
    ("fft.rfftfreq(-1)", "n is a positive integer, got -1"),
    ("fft.fft(zeros((2, 0)))", "a transform of 0 elements along axis 1 of sh"),
    ('fft.fftfreq(4, "a")', "the argument d is 'a' of type str, which is"),
    ("fft.ihfft(C)", "ihfft takes real numbers, got complex64"),
    ("unique(X, size=-1)", "size is negative"),
    ("unique(X, size=1.5)", "size must be an integer, got 1.5"),
    ('isin(X, X, method="weird")', "method is one of ('auto', 'compare_all', 'bi"),
    ("setdiff1d(X, X, size=-1)", "size is negative"),
    ("union1d(X, X, size=-1)", "size is negative"),
    ("intersect1d(X, X, size=-1)", "size is negative"),
    ("setxor1d(X, X, size=-1)", "size is negative"),
    ('unique(X, size=9, fill_value="a")', "the argument fill_value is 'a' of type str"),
    ("from_dlpack(3)", "int does not offer __dlpack__"),
    ("fromfunction(lambda i:i, -1)", "a length is negative in the shape (-1,)"),
    ("apply_along_axis(sum, 5, X)", "axis 5 is out of range for an array of 2 dim"),
    ("apply_over_axes(sum, X, [5])", "axis 5 is out of range for an array of 2 dim"),
    ("apply_along_axis(sum, 0, asarray(1.0))", "axis 0 is out of range for an array of 0 dim"),
    ("append(X, V, axis=0)", "arrays[1] of shape (3,) does not fit arrays["),
    ("block([X, [X]])", "lists are nested equally deep everywhere, no"),
    ("unstack(asarray(1.0))", "axis 0 is out of range for an array of 0 dim"),
]


def names_of(module: Any) -> dict[str, Any]:
    """What the calls refer to, made of the arrays of a module."""
    x = module.arange(6.0).reshape(2, 3)
    return {
        **{name: getattr(module, name) for name in module.__all__},
        "I": module.arange(3),
        "V": module.arange(3.0),
        "X": x,
        "C": x * 1j,
        "S": "text",
        "np": np,
        "float": float,
        "int": int,
    }


OURS, NUMPYS = names_of(anp), names_of(np)
#: NumPy calls a wrong dtype or shape of indices an IndexError, and has out=.
OTHERWISE = (
    "take_along_axis(X, V, 0)",
    "take_along_axis(X, zeros((3, 3), int), 1)",
    "delete(X, 1.5)",
    "take(X, I*0, out=X)",
    "argmax(X, out=X)",
)
BUILTIN = (IndexError, TypeError, ValueError, OverflowError)


@pytest.mark.parametrize(("call", "text"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_mistakes_are_named_and_are_caught_like_those_of_numpy(call: str, text: str) -> None:
    function = re.split(r"\(", call)[0].split(".")[-1]
    with pytest.raises((errors.ArrayxError, OverflowError)) as caught:
        eval(call, dict(OURS))
    assert re.search(rf"\b{function}\b", str(caught.value)) and text in str(caught.value)
    if "inplace" in call or "size=" in call:
        return
    try:
        eval(call, dict(NUMPYS))
    except BUILTIN as error:
        if call in OTHERWISE:
            return
        kinds = tuple(kind for kind in BUILTIN if isinstance(error, kind))
        assert isinstance(caught.value, kinds), f"NumPy raises {type(error).__name__}"
    except Exception:  # an accident of NumPy's, such as a division by zero
        return


#: Functions with an axis, and what they are called with before it.
WITH_AXIS: dict[str, tuple[str, ...]] = {
    "X": [
        "sort",
        "argsort",
        "argmax",
        "argmin",
        "nanargmax",
        "nanargmin",
        "median",
        "nanmedian",
        "flip",
        "squeeze",
        "expand_dims",
        "unstack",
        "unique",
        "trim_zeros",
        "fft.fft",
        "fft.ifft",
        "fft.rfft",
        "fft.irfft",
        "fft.hfft",
        "fft.ihfft",
    ],
    "X, 1": (
        "partition",
        "argpartition",
        "roll",
        "repeat",
        "split",
        "array_split",
        "delete",
        "take",
    ),
    "X, 0.5": ("quantile", "nanquantile", "percentile", "nanpercentile"),
    "[X, X]": ("stack", "concatenate", "lexsort"),
    "X, X": ("append", "cross"),
    "X, 0, 1.0": ("insert",),
    "1.0, 2.0": ("linspace", "logspace", "geomspace"),
    "V > 0, X": ("compress", "extract"),
    "X, zeros((2, 1), int)": ("take_along_axis",),
}
AXES = [(n, args) for args, names in WITH_AXIS.items() for n in names if n != "extract"]


@pytest.mark.parametrize(("name", "args"), AXES, ids=[a[0] for a in AXES])
def test_an_axis_that_there_is_not_is_named(name: str, args: str) -> None:
    short = name.split(".")[-1]
    for axis in (9, -9):
        with pytest.raises(errors.AxisError, match=rf"{short}: axis {axis} is out of range"):
            eval(f"{name}({args}, axis={axis})", dict(OURS))
    with pytest.raises(errors.ArgumentError, match=rf"{short}: an axis must be an integer"):
        eval(f"{name}({args}, axis=1.5)", dict(OURS))


KINDS = ("fftn", "fft2")
SEVERAL = [f"fft.{inverse}{kind}" for inverse in ("", "i", "r", "ir") for kind in KINDS]


@pytest.mark.parametrize("name", [*SEVERAL, "fft.fftshift", "fft.ifftshift"])
def test_axes_that_there_are_not_are_named(name: str) -> None:
    for axes, text in (((0, 9), "out of range"), ((1, -1), "given twice")):
        with pytest.raises(errors.AxisError, match=rf"{name.split('.')[-1]}: .*{text}"):
            eval(f"{name}(X, axes={axes})", dict(OURS))


#: Functions of one array, with further arguments.
OF_ONE: dict[str, str] = {
    "": (
        "sort argsort argmax argmin nanargmax nanargmin median nanmedian flip squeeze unstack "
        "unique fft.fft fft.irfft ravel transpose atleast_1d atleast_2d atleast_3d rot90 fliplr "
        "flipud diag diagflat diagonal trace nonzero flatnonzero argwhere sort_complex copy "
        "unique_all unique_counts unique_inverse unique_values zeros_like ones_like empty_like "
        "diag_indices_from tril_indices_from triu_indices_from fft.fftshift matrix_transpose"
    ),
    ", 1": (
        "pad tile repeat roll resize split delete take partition expand_dims full_like rollaxis "
        "broadcast_to reshape"
    ),
    ", 0, 1": "swapaxes moveaxis insert",
    ", X": "append kron cross isin union1d setdiff1d setxor1d intersect1d take_along_axis extract",
    ", 0.5": "quantile percentile nanquantile nanpercentile",
    ", V": "searchsorted digitize",
    ", [V > 0], [1]": "piecewise",
    ", 1, 2": "where",
    ", int": "astype",
}


@pytest.mark.parametrize(
    ("name", "more"), [(n, more) for more, names in OF_ONE.items() for n in names.split()]
)
def test_what_is_no_array_is_named(name: str, more: str) -> None:
    for wrong in ("S", "None"):
        with pytest.raises(errors.ArrayxError, match=rf"^{name.split('.')[-1]}: .*(str|NoneType)"):
            eval(f"{name}({wrong}{more})", dict(OURS))


#: Functions whose result has a shape that depends on values.
DYNAMIC: dict[str, Any] = {
    "nonzero": anp.nonzero,
    "where": anp.where,
    "flatnonzero": anp.flatnonzero,
    "argwhere": anp.argwhere,
    "compress": lambda x: anp.compress(x > 1, x),
    "extract": lambda x: anp.extract(x > 1, x),
    "unique": anp.unique,
    "unique_all": anp.unique_all,
    "unique_counts": anp.unique_counts,
    "unique_inverse": anp.unique_inverse,
    "unique_values": anp.unique_values,
    "union1d": lambda x: anp.union1d(x, x),
    "setdiff1d": lambda x: anp.setdiff1d(x, x),
    "setxor1d": lambda x: anp.setxor1d(x, x),
    "intersect1d": lambda x: anp.intersect1d(x, x),
}


@pytest.mark.parametrize("name", DYNAMIC)
def test_a_shape_that_depends_on_values_explains_itself_and_takes_a_size(name: str) -> None:
    x = np.array([3.0, 1.0, 2.0, 3.0], np.float32)
    with pytest.raises(errors.ConcretizationError, match=r"(?s)shape.*depends on values.*`size=`"):
        jit(DYNAMIC[name])(x)
    if name not in ("compress", "extract", "union1d", "setdiff1d", "setxor1d", "intersect1d"):
        result = jit(lambda x: getattr(anp, name)(x, size=3))(x)
        first = result[0] if isinstance(result, tuple) else result
        assert first.shape[0] == 3


def test_a_mask_that_is_not_known_explains_itself() -> None:
    for write in (False, True):
        with pytest.raises(errors.DynamicIndexError, match=r"anp\.where"):
            jit(lambda x, write=write: x.at[x > 1].set(0.0) if write else x[x > 1])(np.ones(3))
