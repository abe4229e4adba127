"""Elementwise exponentials, logarithms, circular and hyperbolic functions, complex parts."""

from __future__ import annotations

import math
from typing import Any

from arrayx import dtypes
from arrayx.core.array import Array
from arrayx.numpy.composing import composed
from arrayx.numpy.functions import array_of, binary, refuse_complex, unary, with_methods
from arrayx.numpy.naming import named
from arrayx.numpy.promotion import LITERALS, Pair, inexact
from arrayx.primitives import combined, exponential, trigonometric
from arrayx.primitives import complex as complex_parts
from arrayx.primitives.arithmetic import add, eq, lt, mul, select
from arrayx.primitives.creation import fill
from arrayx.primitives.numeric import abs as absolute
from arrayx.primitives.numeric import div


def _function(
    name: str, primitive: Any, sentence: str, at: float, example: float, of_complex: bool = True
) -> Any:
    shown = f">>> f'{{float(anp.{name}({at})):.4f}}'\n'{example:.4f}'"
    kinds = {} if of_complex else {"complex": refuse_complex(name)}
    return unary(name, primitive, sentence, shown, result_of=inexact, by_kind=kinds)


exp = _function("exp", exponential.exp, "e to the power `x`.", 1.0, 2.7183)
exp2 = _function("exp2", exponential.exp2, "2 to the power `x`.", 3.0, 8.0)
expm1 = _function("expm1", exponential.expm1, "exp(x) - 1, exact near 0.", 1e-3, 0.001)
log = _function("log", exponential.log, "Natural logarithm; nan for negative `x`.", 2.0, 0.6931)
log1p = _function("log1p", exponential.log1p, "log(1 + x), exact near 0.", 1e-3, 0.001)
sqrt = _function("sqrt", exponential.sqrt, "Square root; nan for negative `x`.", 2.0, 1.4142)
cbrt = _function("cbrt", exponential.cbrt, "Cube root, negative for negative `x`.", -8.0, -2.0)
sin = _function("sin", trigonometric.sin, "Sine of `x`, in radians.", 1.0, 0.8415)
cos = _function("cos", trigonometric.cos, "Cosine of `x`, in radians.", 1.0, 0.5403)
tan = _function("tan", trigonometric.tan, "Tangent of `x`, in radians.", 1.0, 1.5574)
arcsin = asin = _function("arcsin", trigonometric.asin, "Angle of sine `x`.", 0.5, 0.5236)
arccos = acos = _function("arccos", trigonometric.acos, "Angle of cosine `x`.", 0.5, 1.0472)
arctan = atan = _function("arctan", trigonometric.atan, "Angle of tangent `x`.", 1.0, 0.7854)
sinh = _function("sinh", trigonometric.sinh, "Hyperbolic sine.", 1.0, 1.1752)
cosh = _function("cosh", trigonometric.cosh, "Hyperbolic cosine.", 1.0, 1.5431)
tanh = _function("tanh", trigonometric.tanh, "Hyperbolic tangent.", 1.0, 0.7616)
arcsinh = asinh = _function("arcsinh", trigonometric.asinh, "Inverse hyperbolic sine.", 1.0, 0.8814)
arccosh = acosh = _function(
    "arccosh", trigonometric.acosh, "Inverse hyperbolic cosine; nan below 1.", 2.0, 1.317
)
arctanh = atanh = _function(
    "arctanh", trigonometric.atanh, "Inverse hyperbolic tangent; nan outside [-1, 1].", 0.5, 0.5493
)


def _scaled_by(factor: float) -> Any:
    def apply(x: Array) -> Any:
        return mul(x, LITERALS[dtypes.kind(x.aval.dtype)](factor))

    return apply


def _log2(x: Array) -> Any:
    return div(exponential.log(x), LITERALS[dtypes.kind(x.aval.dtype)](math.log(2.0)))


def _log10(x: Array) -> Any:
    return div(exponential.log(x), LITERALS[dtypes.kind(x.aval.dtype)](math.log(10.0)))


log2 = _function("log2", _log2, "Logarithm to base 2.", 8.0, 3.0)
log10 = _function("log10", _log10, "Logarithm to base 10.", 100.0, 2.0)
deg2rad = radians = _function(
    "deg2rad", _scaled_by(math.pi / 180), "An angle in degrees as radians.", 180.0, 3.1416, False
)
rad2deg = degrees = _function(
    "rad2deg", _scaled_by(180 / math.pi), "An angle in radians as degrees.", 1.0, 57.2958, False
)
arctan2 = atan2 = binary(
    "arctan2",
    trigonometric.atan2,
    "The angle of the point with ordinate `x1` and abscissa `x2`, in (-pi, pi].",
    """
>>> f"{float(anp.arctan2(1.0, -1.0)):.4f}"
'2.3562'""",
    result_of=inexact,
    literals=False,
)
hypot = binary(
    "hypot",
    combined.hypot,
    "The length of the vector (`x1`, `x2`), without overflow; its slope at the origin is 0.",
    """
>>> float(anp.hypot(3.0, 4.0))
5.0""",
    result_of=inexact,
    literals=False,
)
logaddexp = binary(
    "logaddexp",
    combined.logaddexp,
    "log(exp(x1) + exp(x2)) without overflow; -inf is its neutral element.",
    """
>>> f"{float(anp.logaddexp(0.0, 0.0)):.4f}"
'0.6931'""",
    result_of=inexact,
    literals=False,
)


def _logaddexp2(x: Array, y: Array) -> Any:
    log_of_2 = math.log(2.0)
    return div(combined.logaddexp(mul(x, log_of_2), mul(y, log_of_2)), log_of_2)


logaddexp2 = binary(
    "logaddexp2",
    _logaddexp2,
    "log2(2**x1 + 2**x2) without overflow.",
    """
>>> float(anp.logaddexp2(0.0, 0.0))
1.0""",
    result_of=inexact,
    literals=False,
)

# sin(t)/t as a series in t², for |t| < 1: exact to the last place of float64.
_SINC_SERIES = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(11))


def _sinc(x: Array) -> Any:
    number = LITERALS[dtypes.kind(x.aval.dtype)]
    t = mul(x, number(math.pi))
    near = lt(absolute(t), 1.0)
    # Each branch gets an argument at which it is safe; near 0 only the series has exact slopes.
    small = select(near, t, number(0.0))
    squared = mul(small, small)
    series = fill(t.aval.shape, t.aval.dtype, number(_SINC_SERIES[-1]), t.aval.weak_type)
    for coefficient in reversed(_SINC_SERIES[:-1]):
        series = add(mul(series, squared), number(coefficient))
    large = select(near, number(1.0), t)
    return select(near, series, div(trigonometric.sin(large), large))


sinc = _function("sinc", _sinc, "sin(pi x) / (pi x), 1 at 0; smooth to every order.", 0.5, 0.6366)


# ----------------------------------------------------------------- complex numbers


def _self(x: Any) -> Any:
    return x


def _zeros(x: Array) -> Any:
    return fill(x.aval.shape, x.aval.dtype, LITERALS[dtypes.kind(x.aval.dtype)](0))


_NUMBERS = ("bool", "int", "uint", "float")
real = unary(
    "real",
    complex_parts.real,
    "The real part of `x`.",
    """
>>> float(anp.real(1 + 2j))
1.0""",
    by_kind=dict.fromkeys(_NUMBERS, _self),
)
imag = unary(
    "imag",
    complex_parts.imag,
    "The imaginary part of `x`, zeros where `x` is not complex.",
    """
>>> float(anp.imag(1 + 2j))
2.0""",
    by_kind=dict.fromkeys(_NUMBERS, _zeros),
)
conj = conjugate = unary(
    "conj",
    complex_parts.conj,
    "`x` with its imaginary part turned.",
    """
>>> complex(anp.conj(1 + 2j))
(1-2j)""",
    by_kind=dict.fromkeys(_NUMBERS, _self),
)


@named
def angle(z: Any, deg: bool = False) -> Array:
    """The angle of a complex number in (-pi, pi]; in degrees if `deg`.

    >>> import arrayx.numpy as anp
    >>> round(float(anp.angle(1j)), 4)
    1.5708
    """
    x = array_of(z, "angle", inexact)
    result: Array = arctan2(imag(x), real(x))
    return degrees(result) if deg else result


def _complex_result(dtype: Any, weak: bool) -> Pair:
    return dtypes.real_dtype(dtypes.float_for(dtype)), weak


make_complex = binary(
    "complex",
    complex_parts.complex,
    "The complex number with real part `x1` and imaginary part `x2`.",
    """
>>> complex(anp.make_complex(1.0, 2.0))
(1+2j)""",
    result_of=_complex_result,
    literals=False,
)


@composed
def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Array:
    """`x` with nan, inf and -inf replaced: by 0 and the largest and least finite numbers.

    >>> import arrayx.numpy as anp
    >>> anp.nan_to_num(anp.asarray([1.0, float("nan")])).tolist()
    [1.0, 0.0]
    """
    array = array_of(x, "nan_to_num")
    dtype = array.dtype
    if dtypes.kind(dtype) == "complex":
        parts = (nan_to_num(part(array), copy, nan, posinf, neginf) for part in (real, imag))
        return complex_parts.complex(*parts)  # type: ignore[no-any-return]
    if dtypes.kind(dtype) != "float":
        return array
    limits = dtypes.finfo(dtype)
    high = float(limits.max) if posinf is None else float(posinf)
    low = float(limits.min) if neginf is None else float(neginf)
    result = select(eq(array, array), array, float(nan))
    result = select(eq(result, float("inf")), high, result)
    return select(eq(result, float("-inf")), low, result)  # type: ignore[no-any-return]


with_methods(logaddexp, logaddexp2, identity=-math.inf, associative=True)
with_methods(hypot, identity=0, associative=True)
with_methods(arctan2)
