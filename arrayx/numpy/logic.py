"""Comparisons, logical and bitwise functions, and questions whose answer is a boolean."""

from __future__ import annotations

import builtins
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy.composing import composed
from arrayx.numpy.functions import array_of, binary, refuse_complex, unary, with_methods
from arrayx.numpy.promotion import BOOL, Pair, inexact, operands, promoted_arrays, read_beside
from arrayx.primitives import arithmetic, bitwise, numeric
from arrayx.primitives import complex as complex_parts
from arrayx.primitives.arithmetic import eq, ne
from arrayx.primitives.combined import sign_bit
from arrayx.primitives.conversion import convert
from arrayx.primitives.creation import fill
from arrayx.primitives.reduction import reduce_and


def _comparison(name: str, primitive: Any, sentence: str, example: str) -> Any:
    shown = f">>> anp.{name}(anp.asarray([1, 2]), 2).tolist()\n{example}"
    return binary(name, primitive, sentence, shown)


equal = _comparison("equal", arithmetic.eq, "True where `x1` equals `x2`.", "[False, True]")
not_equal = _comparison(
    "not_equal", arithmetic.ne, "True where `x1` differs from `x2`.", "[True, False]"
)
less = _comparison("less", arithmetic.lt, "True where `x1` is below `x2`.", "[True, False]")
less_equal = _comparison(
    "less_equal", arithmetic.le, "True where `x1` is at most `x2`.", "[True, True]"
)
greater = _comparison("greater", arithmetic.gt, "True where `x1` is above `x2`.", "[False, False]")
greater_equal = _comparison(
    "greater_equal", arithmetic.ge, "True where `x1` is at least `x2`.", "[False, True]"
)

# ----------------------------------------------------------------- logical


def truth(x: Array) -> Array:
    """True where `x` is not zero."""
    which = dtypes.kind(x.aval.dtype)
    if which == "bool":
        return x
    zero = {"float": 0.0, "complex": 0j}.get(which, 0)
    return ne(x, zero)  # type: ignore[no-any-return]


def _logical(name: str, apply: Any, sentence: str, example: str) -> Any:
    def on_truth(x1: Any, x2: Any, /) -> Any:
        # A number stays one, so that it belongs to the backend of the other operand.
        given = read_beside((x1, x2), name, _NAMES)
        return boolean(
            *(truth(array_of(x, name)) if isinstance(x, Array) else bool(x) for x in given)
        )

    boolean = binary(
        name,
        apply,
        sentence,
        f">>> anp.{name}(anp.asarray([True, False]), True).tolist()\n{example}",
    )
    on_truth.__name__ = on_truth.__qualname__ = name
    on_truth.__doc__ = boolean.__doc__
    on_truth.__module__ = "arrayx.numpy"
    return on_truth


_NAMES = ("x1", "x2")
logical_and = _logical(
    "logical_and", bitwise.bitwise_and, "True where both are true.", "[True, False]"
)
logical_or = _logical(
    "logical_or", bitwise.bitwise_or, "True where one is true, or both.", "[True, True]"
)
logical_xor = _logical(
    "logical_xor", bitwise.bitwise_xor, "True where exactly one is true.", "[False, True]"
)


def _not(x: Array) -> Any:
    return bitwise.bitwise_not(truth(x))


logical_not = unary(
    "logical_not",
    _not,
    "True where `x` is false, or zero.",
    """
>>> anp.logical_not(anp.asarray([True, False])).tolist()
[False, True]""",
)

# ----------------------------------------------------------------- bitwise


def _bitwise(name: str, primitive: Any, sentence: str, example: str) -> Any:
    shown = f">>> anp.{name}(anp.asarray([6, 1]), 3).tolist()\n{example}"
    return binary(name, primitive, sentence, shown)


bitwise_and = _bitwise("bitwise_and", bitwise.bitwise_and, "Bits set in both.", "[2, 1]")
bitwise_or = _bitwise("bitwise_or", bitwise.bitwise_or, "Bits set in one or both.", "[7, 3]")
bitwise_xor = _bitwise("bitwise_xor", bitwise.bitwise_xor, "Bits set in exactly one.", "[5, 2]")
invert = bitwise_not = bitwise_invert = unary(
    "invert",
    bitwise.bitwise_not,
    "Every bit turned; logical not for booleans.",
    """
>>> anp.invert(anp.asarray([0, 5])).tolist()
[-1, -6]""",
)
UINT8 = dtypes.as_dtype("uint8")


def _count(x: Array) -> Any:
    size = numeric.abs(x) if dtypes.kind(x.aval.dtype) == "int" else x
    return convert(bitwise.population_count(size), dtype=UINT8, weak_type=False)


bitwise_count = unary(
    "bitwise_count",
    _count,
    "How many bits of the absolute value are set, as uint8.",
    """
>>> anp.bitwise_count(anp.asarray([7, 8])).tolist()
[3, 1]""",
    by_kind={"bool": lambda x: convert(x, dtype=UINT8, weak_type=False)},
)


def _shift_dtype(dtype: Any, weak: bool) -> Pair:
    return (dtypes.default_int(), False) if dtypes.kind(dtype) == "bool" else (dtype, weak)


left_shift = bitwise_left_shift = binary(
    "left_shift",
    bitwise.shift_left,
    "The bits of `x1` moved up by `x2` places; all gone if there are not as many.",
    """
>>> anp.left_shift(anp.asarray([1, 3]), 2).tolist()
[4, 12]""",
    result_of=_shift_dtype,
    literals=False,
)


def _right_shift(x: Array, y: Array) -> Any:
    if dtypes.kind(x.aval.dtype) == "uint":
        return bitwise.shift_right_logical(x, y)
    return bitwise.shift_right_arithmetic(x, y)


right_shift = bitwise_right_shift = binary(
    "right_shift",
    _right_shift,
    "The bits of `x1` moved down by `x2` places; signed numbers keep their sign.",
    """
>>> anp.right_shift(anp.asarray([12, -4]), 2).tolist()
[3, -1]""",
    result_of=_shift_dtype,
    literals=False,
)

# ----------------------------------------------------------------- questions about numbers


def _never(x: Array) -> Any:
    return fill(x.aval.shape, BOOL, False)


def _always(x: Array) -> Any:
    return fill(x.aval.shape, BOOL, True)


_EXACT = ("bool", "int", "uint")


def _question(
    name: str, apply: Any, sentence: str, exact: Any, example: str, of_complex: bool = True
) -> Any:
    shown = f">>> anp.{name}(anp.asarray([1.0, float('inf'), float('nan')])).tolist()\n{example}"
    kinds = dict.fromkeys(_EXACT, exact)
    if not of_complex:
        kinds["complex"] = refuse_complex(name)
    return unary(name, apply, sentence, shown, by_kind=kinds)


def _either_part(ask: Any, combine: Any) -> Any:
    def apply(x: Array) -> Any:
        if dtypes.kind(x.aval.dtype) == "complex":
            return combine(ask(complex_parts.real(x)), ask(complex_parts.imag(x)))
        return ask(x)

    return apply


isnan = _question(
    "isnan", lambda x: ne(x, x), "True where `x` is nan.", _never, "[False, False, True]"
)
isfinite = _question(
    "isfinite",
    _either_part(numeric.is_finite, bitwise.bitwise_and),
    "True where `x` is neither nan nor infinite.",
    _always,
    "[True, False, False]",
)
isinf = _question(
    "isinf",
    _either_part(lambda x: eq(numeric.abs(x), float("inf")), bitwise.bitwise_or),
    "True where `x` is infinite.",
    _never,
    "[False, True, False]",
)
isposinf = _question(
    "isposinf",
    lambda x: eq(x, float("inf")),
    "True where `x` is inf.",
    _never,
    "[False, True, False]",
    of_complex=False,
)
isneginf = _question(
    "isneginf",
    lambda x: eq(x, float("-inf")),
    "True where `x` is -inf.",
    _never,
    "[False, False, False]",
    of_complex=False,
)


def _sign_bit(x: Array) -> Any:
    if dtypes.kind(x.aval.dtype) != "float":
        return arithmetic.lt(x, 0) if dtypes.kind(x.aval.dtype) == "int" else _never(x)
    return sign_bit(x)


signbit = _question(
    "signbit",
    _sign_bit,
    "True where `x` carries a minus sign; -0 does.",
    _sign_bit,
    "[False, False, False]",
    of_complex=False,
)
iscomplex = unary(
    "iscomplex",
    lambda x: ne(complex_parts.imag(x), 0.0),
    "True where the imaginary part is not 0.",
    """
>>> (anp.iscomplex(1 + 1j)).item()
True""",
    by_kind=dict.fromkeys((*_EXACT, "float"), _never),
)
isreal = unary(
    "isreal",
    lambda x: eq(complex_parts.imag(x), 0.0),
    "True where the imaginary part is 0.",
    """
>>> (anp.isreal(1 + 0j)).item()
True""",
    by_kind=dict.fromkeys((*_EXACT, "float"), _always),
)


@composed
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Array:
    """True where `abs(a - b) <= atol + rtol * abs(b)`, or both are the same infinity.

    >>> import arrayx.numpy as anp
    >>> anp.isclose(anp.asarray([1.0, 2.0]), 1.000001).tolist()
    [True, False]
    """
    x, y = promoted_arrays((a, b), "isclose", ("a", "b"))
    which = builtins.max(dtypes.kind(x.dtype), dtypes.kind(y.dtype))
    if which == "bool":
        return equal(x, y)  # type: ignore[no-any-return]
    same_value = equal(x, y)
    x, y = (array_of(v, "isclose", inexact) for v in (x, y))
    bound = rtol * numeric.abs(y) + atol
    near = numeric.abs(arithmetic.sub(*operands((x, y), "isclose"))) <= bound
    result = logical_or(logical_and(near, isfinite(y)), same_value)
    if equal_nan:
        result = logical_or(result, logical_and(isnan(x), isnan(y)))
    return result  # type: ignore[no-any-return]


def every(x: Array) -> Array:
    """Whether all elements are true, as an array of rank 0."""
    return reduce_and(x, axes=tuple(range(x.ndim)))  # type: ignore[no-any-return]


@composed
def allclose(
    a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Array:
    """Whether `isclose` holds for every element.

    >>> import arrayx.numpy as anp
    >>> bool(anp.allclose(anp.asarray([1.0, 2.0]), anp.asarray([1.0, 2.000001])))
    True
    """
    return every(isclose(a, b, rtol, atol, equal_nan))


@composed
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Array:
    """Whether two arrays have equal shapes and equal elements.

    >>> import arrayx.numpy as anp
    >>> bool(anp.array_equal(anp.asarray([1, 2]), anp.asarray([1, 2])))
    True
    """
    x, y = promoted_arrays((a1, a2), "array_equal", ("a1", "a2"))
    if x.shape != y.shape:
        return fill((), BOOL, False)  # type: ignore[no-any-return]
    result = equal(x, y)
    if equal_nan:
        result = logical_or(result, logical_and(isnan(x), isnan(y)))
    return every(result)


@composed
def array_equiv(a1: Any, a2: Any) -> Array:
    """Whether two arrays are equal after broadcasting.

    >>> import arrayx.numpy as anp
    >>> bool(anp.array_equiv(anp.asarray([1, 1]), 1))
    True
    """
    try:
        result = equal(a1, a2)
    except errors.ShapeError:  # that do not fit
        return fill((), BOOL, False)  # type: ignore[no-any-return]
    return every(result)


with_methods(logical_and, identity=True, associative=True)
with_methods(logical_or, logical_xor, identity=False, associative=True)
with_methods(bitwise_and, identity=-1, associative=True)
with_methods(bitwise_or, bitwise_xor, identity=0, associative=True)
with_methods(left_shift, right_shift)
with_methods(equal, not_equal, less, less_equal, greater, greater_equal)
