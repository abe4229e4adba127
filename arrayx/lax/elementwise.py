"""The elementwise functions of `ax.lax`: primitives that take arrays of one dtype and shape.

They are stricter than `arrayx.numpy`: dtypes are not promoted and only numbers are broadcast.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from arrayx import dtypes, errors
from arrayx.control import hurwitz, incomplete_beta, incomplete_gamma
from arrayx.control.slopes import slope
from arrayx.core.array import Array
from arrayx.numpy.functions import arrays_of
from arrayx.numpy.promotion import (
    as_array,
    as_type,
    broadcast_to_shape,
    plan_for,
    read_beside,
)
from arrayx.primitives import (
    arithmetic,
    bessel,
    bitwise,
    combined,
    exponential,
    numeric,
    special,
    trigonometric,
)
from arrayx.primitives import (
    complex as complex_parts,
)

# The functions that JAX lets be told how accurate to be.
_ACCURATE = frozenset("cbrt cos exp exp2 expm1 log log1p logistic rsqrt sin sqrt tan tanh".split())  # noqa: SIM905


def _strict(
    name: str,
    apply: Callable[..., Any],
    arity: int,
    literals: bool = False,
    names: tuple[str, ...] = ("x", "y", "z"),
) -> Any:
    names = names[:arity]
    parameter = inspect.Parameter
    parameters = [parameter(n, parameter.POSITIONAL_OR_KEYWORD) for n in names]
    if name in _ACCURATE:
        parameters.append(parameter("accuracy", parameter.KEYWORD_ONLY, default=None))
    signature = inspect.Signature(parameters)

    def function(*args: Any, **options: Any) -> Array:
        if options or len(args) != arity:
            try:
                args = signature.bind(*args, **options).args
            except TypeError as error:
                raise errors.ArgumentError(f"lax.{name}{signature}: {error}") from None
        operands = read_beside(args, f"lax.{name}", names)
        arrays = [a for a in operands if isinstance(a, Array)]
        full = [a for a in arrays if a.aval.ndim] or arrays
        for a in arrays:
            if a.aval.ndim and a.aval.shape != full[0].aval.shape:
                raise errors.ShapeError(
                    f"lax.{name} needs operands of equal shape, got "
                    f"{', '.join(str(x.aval) for x in arrays)}; anp functions broadcast"
                )
            if a.aval.dtype is not arrays[0].aval.dtype and not a.aval.weak_type:
                strong = [x for x in arrays if not x.aval.weak_type]
                if any(x.aval.dtype is not strong[0].aval.dtype for x in strong):
                    raise errors.DtypeError(
                        f"lax.{name} needs operands of one dtype, got "
                        f"{', '.join(str(x.aval) for x in arrays)}; anp functions promote"
                    )
        plan = plan_for(operands, f"lax.{name}", names)
        ready = plan.apply(operands) if literals else arrays_of(plan, operands)
        return apply(*ready)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__module__ = "arrayx.lax"
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__doc__ = getattr(apply, "__doc__", None) or f"{name} of arrays of one type."
    return function


def _square(x: Any) -> Any:
    """`x` times itself."""
    return arithmetic.mul(x, x)


def _reciprocal(x: Any) -> Any:
    """One divided by `x`."""
    return numeric.div(1.0, x)


def _igamma_grad_a(a: Any, x: Any) -> Any:
    """The derivative of `igamma` by its first argument."""
    return slope(a, x, function="igamma", orders=(1, 0))


def _random_gamma_grad(a: Any, x: Any) -> Any:
    """How a gamma random number `x` moves with its shape parameter `a`, its probability kept."""
    relative = incomplete_gamma.loggamma_slope(a, exponential.log(x))
    return arithmetic.absorb_mul(relative, x)


add = _strict("add", arithmetic.add, 2, True)
sub = _strict("sub", arithmetic.sub, 2, True)
mul = _strict("mul", arithmetic.mul, 2, True)
div = _strict("div", numeric.div, 2, True)
rem = _strict("rem", numeric.rem, 2, True)
max = _strict("max", numeric.max, 2, True)
min = _strict("min", numeric.min, 2, True)
pow = _strict("pow", exponential.pow, 2)
atan2 = _strict("atan2", trigonometric.atan2, 2)
nextafter = _strict("nextafter", numeric.nextafter, 2, names=("x1", "x2"))
eq = _strict("eq", arithmetic.eq, 2, True)
ne = _strict("ne", arithmetic.ne, 2, True)
lt = _strict("lt", arithmetic.lt, 2, True)
le = _strict("le", arithmetic.le, 2, True)
gt = _strict("gt", arithmetic.gt, 2, True)
ge = _strict("ge", arithmetic.ge, 2, True)
bitwise_and = _strict("bitwise_and", bitwise.bitwise_and, 2)
bitwise_or = _strict("bitwise_or", bitwise.bitwise_or, 2)
bitwise_xor = _strict("bitwise_xor", bitwise.bitwise_xor, 2)
bitwise_not = _strict("bitwise_not", bitwise.bitwise_not, 1)
shift_left = _strict("shift_left", bitwise.shift_left, 2)
shift_right_arithmetic = _strict("shift_right_arithmetic", bitwise.shift_right_arithmetic, 2)
shift_right_logical = _strict("shift_right_logical", bitwise.shift_right_logical, 2)
population_count = _strict("population_count", bitwise.population_count, 1)
clz = _strict("clz", bitwise.clz, 1)
complex = _strict("complex", complex_parts.complex, 2)
real = _strict("real", complex_parts.real, 1)
imag = _strict("imag", complex_parts.imag, 1)
conj = _strict("conj", complex_parts.conj, 1)
neg = _strict("neg", arithmetic.neg, 1)
abs = _strict("abs", numeric.abs, 1)
sign = _strict("sign", numeric.sign, 1)
floor = _strict("floor", numeric.floor, 1)
ceil = _strict("ceil", numeric.ceil, 1)
is_finite = _strict("is_finite", numeric.is_finite, 1)
exp = _strict("exp", exponential.exp, 1)
exp2 = _strict("exp2", exponential.exp2, 1)
expm1 = _strict("expm1", exponential.expm1, 1)
log = _strict("log", exponential.log, 1)
log1p = _strict("log1p", exponential.log1p, 1)
logistic = _strict("logistic", exponential.logistic, 1)
sqrt = _strict("sqrt", exponential.sqrt, 1)
rsqrt = _strict("rsqrt", exponential.rsqrt, 1)
cbrt = _strict("cbrt", exponential.cbrt, 1)
square = _strict("square", _square, 1)
reciprocal = _strict("reciprocal", _reciprocal, 1)
sin = _strict("sin", trigonometric.sin, 1)
cos = _strict("cos", trigonometric.cos, 1)
tan = _strict("tan", trigonometric.tan, 1)
asin = _strict("asin", trigonometric.asin, 1)
acos = _strict("acos", trigonometric.acos, 1)
atan = _strict("atan", trigonometric.atan, 1)
sinh = _strict("sinh", trigonometric.sinh, 1)
cosh = _strict("cosh", trigonometric.cosh, 1)
tanh = _strict("tanh", trigonometric.tanh, 1)
asinh = _strict("asinh", trigonometric.asinh, 1)
acosh = _strict("acosh", trigonometric.acosh, 1)
atanh = _strict("atanh", trigonometric.atanh, 1)
erf = _strict("erf", special.erf, 1)
erfc = _strict("erfc", special.erfc, 1)
erf_inv = _strict("erf_inv", special.erf_inv, 1)
bessel_i0e = _strict("bessel_i0e", bessel.bessel_i0e, 1)
bessel_i1e = _strict("bessel_i1e", bessel.bessel_i1e, 1)
lgamma = _strict("lgamma", special.lgamma, 1)
digamma = _strict("digamma", special.digamma, 1)
clamp = _strict("clamp", numeric.clamp, 3, names=("min", "x", "max"))
igamma = _strict("igamma", incomplete_gamma.igamma, 2)
igammac = _strict("igammac", incomplete_gamma.igammac, 2)
igamma_grad_a = _strict("igamma_grad_a", _igamma_grad_a, 2)
random_gamma_grad = _strict("random_gamma_grad", _random_gamma_grad, 2)
betainc = _strict("betainc", incomplete_beta.betainc, 3)
zeta = _strict("zeta", hurwitz.zeta, 2)


def _polygamma(m: Any, x: Any) -> Any:
    """The derivative number `m` of digamma, by Hurwitz's zeta function (DLMF 25.11.12)."""
    m = combined.stop_gradient(m)  # a number of times has no slope
    first = arithmetic.eq(m, 0.0)
    times = arithmetic.add(arithmetic.select(first, 1.0, m), 1.0)
    size = arithmetic.mul(exponential.exp(special.lgamma(times)), hurwitz.zeta(times, x))
    sign = arithmetic.sub(arithmetic.mul(numeric.rem(m, 2.0), 2.0), 1.0)
    return arithmetic.select(first, special.digamma(x), arithmetic.mul(sign, size))


polygamma = _strict("polygamma", _polygamma, 2, names=("m", "x"))


class RoundingMethod(enum.Enum):
    """Where halves go: away from zero, or to the even one of the two neighbours."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


class AccuracyMode(enum.Enum):
    """How accurate a function is to be: what a backend has is at least DEFAULT."""

    HIGHEST = 1
    DEFAULT = 2


class Tolerance(NamedTuple):
    """How far a function may be off: absolutely, relatively, and in units of the last place."""

    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0


def round(x: Any, rounding_method: Any = RoundingMethod.AWAY_FROM_ZERO) -> Array:
    """`x` rounded to a whole number: halves away from zero (0), or to the even one (1).

    >>> import numpy as np
    >>> round(np.array([0.5, 1.5])).tolist()
    [1.0, 2.0]
    """
    method = int(getattr(rounding_method, "value", rounding_method))
    (x,) = read_beside((x,), "lax.round", ("x",))
    if method == 1:
        return _to_even(x)  # type: ignore[no-any-return]
    size = abs(x)
    whole = floor(size)
    up = arithmetic.ge(arithmetic.sub(size, whole), 0.5)
    return combined.copysign(arithmetic.select(up, arithmetic.add(whole, 1.0), whole), x)  # type: ignore[no-any-return]


_to_even = _strict("round", numeric.round, 1)


def integer_pow(x: Any, y: int) -> Array:
    """`x` to a whole power that is known now.

    >>> import numpy as np
    >>> integer_pow(np.array([2.0, 3.0]), 2).tolist()
    [4.0, 9.0]
    """
    (x,) = read_beside((x,), "lax.integer_pow", ("x",))
    return exponential.integer_pow(x, exponent=int(y))  # type: ignore[no-any-return]


def select(pred: Any, on_true: Any, on_false: Any) -> Array:
    """Elements of `on_true` where `pred` holds, of `on_false` elsewhere; equal shapes, or a
    `pred` of rank 0.

    >>> import numpy as np
    >>> select(np.array([True, False]), np.zeros(2), np.ones(2)).tolist()
    [0.0, 1.0]
    """
    which, x, y = read_beside(
        (pred, on_true, on_false), "lax.select", ("pred", "on_true", "on_false")
    )
    x, y = arrays_of(plan_for((x, y), "lax.select", ("on_true", "on_false")), [x, y])
    from_bool = as_array(which)
    if from_bool.aval.ndim == 0:
        from_bool = broadcast_to_shape(from_bool, x.aval.shape)
    return arithmetic.select(from_bool, x, y)  # type: ignore[no-any-return]


def select_n(which: Any, *cases: Any) -> Array:
    """Elements of the case whose number `which` holds; false is 0 and true is 1.

    `which` has the shape of the cases, or rank 0; numbers outside mean the nearest case.

    >>> import numpy as np
    >>> select_n(np.array([0, 2, 1]), np.zeros(3), np.ones(3), np.full(3, 2.0)).tolist()
    [0.0, 2.0, 1.0]
    """
    if not cases:
        raise errors.ArgumentError("lax.select_n needs at least one case")
    names = [f"cases[{i}]" for i in range(len(cases))]
    number, *given = read_beside((which, *cases), "lax.select_n", ["which", *names])
    if len(given) > 1:
        given = arrays_of(plan_for(given, "lax.select_n", names), given)
    number = as_array(number)
    kind = dtypes.kind(number.aval.dtype)
    if kind not in ("bool", "int", "uint") or (kind == "bool" and len(cases) > 2):
        raise errors.DtypeError(
            f"lax.select_n: which must be integers, or booleans for two cases; got "
            f"{number.aval.dtype} for {len(cases)}"
        )
    result: Array = as_array(given[0])
    if number.aval.ndim == 0:
        number = broadcast_to_shape(number, result.aval.shape)
    if number.aval.shape != result.aval.shape:
        raise errors.ShapeError(
            f"lax.select_n: which of shape {number.aval.shape} must have rank 0 or the shape "
            f"{result.aval.shape} of the cases"
        )
    for i, case in enumerate(given[1:], 1):
        at_least = number if kind == "bool" else arithmetic.ge(number, i)
        result = arithmetic.select(at_least, case, result)
    return result


def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Array:
    """`operand` rounded to what a float with so many bits holds, in its own dtype.

    >>> import numpy as np
    >>> reduce_precision(np.array([1.1, 1e10]), 5, 2).tolist()
    [1.0, inf]
    """
    x = as_array(operand, "lax.reduce_precision", "operand")
    return combined.reduce_precision(  # type: ignore[no-any-return]
        x, exponent_bits=int(exponent_bits), mantissa_bits=int(mantissa_bits)
    )


def mulhi(x: Any, y: Any, /) -> Array:
    """The high half of the product of integers: what does not fit into their dtype.

    >>> import numpy as np
    >>> mulhi(np.array([2**30], np.int32), np.array([8], np.int32)).tolist()
    [2]
    """
    operands = read_beside((x, y), "lax.mulhi", ("x", "y"))
    plan = plan_for(operands, "lax.mulhi", ("x", "y"))
    a, b = arrays_of(plan, operands)
    if not dtypes.is_integer(plan.dtype):
        raise errors.DtypeError(f"lax.mulhi: integers are multiplied, not {plan.dtype}")
    width = 8 * plan.dtype.itemsize
    signed = dtypes.kind(plan.dtype) == "int"
    if width < 64:
        wide = dtypes.as_dtype(f"{'int' if signed else 'uint'}{2 * width}")
        product = arithmetic.mul(as_type(a, wide), as_type(b, wide))
        shift = bitwise.shift_right_arithmetic if signed else bitwise.shift_right_logical
        return as_type(shift(product, width), plan.dtype)
    # In halves of 32 bits, the lower ones without sign.
    half = dtypes.as_dtype("uint32")
    shift = bitwise.shift_right_arithmetic if signed else bitwise.shift_right_logical
    (low_a, high_a), (low_b, high_b) = (
        (as_type(as_type(v, half), plan.dtype), shift(v, 32)) for v in (a, b)
    )
    unsigned = dtypes.as_dtype("uint64")
    lowest = arithmetic.mul(as_type(low_a, unsigned), as_type(low_b, unsigned))
    carry = as_type(bitwise.shift_right_logical(lowest, 32), plan.dtype)
    middle = arithmetic.add(arithmetic.mul(high_a, low_b), carry)
    cross = arithmetic.add(
        arithmetic.mul(low_a, high_b), as_type(as_type(middle, half), plan.dtype)
    )
    high = arithmetic.mul(high_a, high_b)
    return arithmetic.add(high, arithmetic.add(shift(middle, 32), shift(cross, 32)))  # type: ignore[no-any-return]
