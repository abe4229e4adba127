"""Gamma and error functions, entropies, and what is made of logarithms."""

from __future__ import annotations

import math
from typing import Any

from arrayx import errors
from arrayx.control.incomplete_beta import beta_logarithm
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, logic, transcendental
from arrayx.numpy.functions import array_of, binary, unary
from arrayx.numpy.promotion import (
    as_array,
    broadcast_shapes,
    broadcast_to_shape,
    inexact,
    placed_like,
    promoted_arrays,
)
from arrayx.numpy.selection import where
from arrayx.primitives import error_functions, exponential, numeric, trigonometric
from arrayx.primitives import special as primitives
from arrayx.primitives.arithmetic import absorb_mul, add, eq, le, lt, mul, ne, neg, select, sub
from arrayx.primitives.creation import fill


def _unary(
    name: str, apply: Any, sentence: str, at: float, result: float, of_complex: Any = None
) -> Any:
    return unary(
        name,
        apply,
        sentence,
        f">>> round(float({name}({at})), 4)\n{result}",
        result_of=inexact,
        by_kind=None if of_complex is None else {"complex": of_complex},
        module=__name__,
    )


def _logit(x: Array) -> Any:
    return exponential.log(numeric.div(x, sub(1.0, x)))


def _ndtr(x: Array) -> Any:
    return mul(primitives.erfc(mul(x, -math.sqrt(0.5))), 0.5)


def _ndtri(p: Array) -> Any:
    return mul(primitives.erf_inv(sub(mul(p, 2.0), 1.0)), math.sqrt(2.0))


def _gammasgn(x: Array) -> Any:
    whole = numeric.floor(x)
    odd = ne(numeric.rem(whole, 2.0), 0.0)
    with placed_like(x):
        one = fill(x.aval.shape, x.aval.dtype, 1.0, x.aval.weak_type)
    return select(logic.logical_and(lt(x, 0.0), odd), -1.0, one)


def _gamma(x: Array) -> Any:
    # Reflection for negative arguments keeps the logarithm's argument positive.
    negative = lt(x, 0.5)
    safe = select(negative, sub(1.0, x), x)
    size = exponential.exp(primitives.lgamma(safe))
    sine = transcendental.sin(mul(x, math.pi))
    reflected = numeric.div(math.pi, mul(sine, size))
    poles = logic.logical_and(le(x, 0.0), eq(numeric.floor(x), x))
    result = select(negative, reflected, size)
    at_pole = select(eq(x, 0.0), numeric.div(1.0, x), float("nan"))
    return select(poles, at_pole, result)


def _entr(x: Array) -> Any:
    positive = logic.greater(x, 0.0)
    safe = select(positive, x, 1.0)
    result = neg(mul(safe, exponential.log(safe)))
    return select(positive, result, select(eq(x, 0.0), 0.0, where(logic.isnan(x), x, -math.inf)))


def _rgamma(x: Array) -> Any:
    # By reflection below: the poles of gamma are zeros with slopes, to any order.
    low = lt(x, 0.5)
    size = exponential.exp(primitives.lgamma(select(low, sub(1.0, x), 1.0)))
    nearest = numeric.round(x)
    odd = ne(numeric.rem(nearest, 2.0), 0.0)
    sine = trigonometric.sin(mul(sub(x, nearest), math.pi))
    reflected = absorb_mul(mul(select(odd, neg(sine), sine), 1 / math.pi), size)
    direct = exponential.exp(neg(primitives.lgamma(select(low, 1.0, x))))
    return select(low, reflected, direct)


erf = _unary("erf", primitives.erf, "The error function.", 0.5, 0.5205, error_functions.complex_erf)
erfc = _unary(
    "erfc",
    primitives.erfc,
    "1 - erf(x), exact for large `x`.",
    0.5,
    0.4795,
    error_functions.complex_erfc,
)
erfcinv = _unary(
    "erfcinv",
    error_functions.erfc_inv,
    "The inverse of `erfc`: inf at 0, -inf at 2, nan beyond; exact for small `x`.",
    0.5,
    0.4769,
)
rgamma = _unary(
    "rgamma",
    _rgamma,
    "1 / gamma(x), which is 0 where gamma has a pole.",
    4.0,
    0.1667,
)
erfinv = _unary("erfinv", primitives.erf_inv, "The inverse of `erf`.", 0.5, 0.4769)
gammaln = loggamma = _unary(
    "gammaln", primitives.lgamma, "The logarithm of the size of the gamma function.", 4.0, 1.7918
)
digamma = psi = _unary("digamma", primitives.digamma, "The slope of `gammaln`.", 1.0, -0.5772)
expit = _unary("expit", exponential.logistic, "1 / (1 + exp(-x)).", 0.0, 0.5)
logit = _unary("logit", _logit, "log(x / (1 - x)), the inverse of `expit`.", 0.5, 0.0)
ndtr = _unary("ndtr", _ndtr, "The distribution function of the normal distribution.", 0.0, 0.5)
ndtri = _unary("ndtri", _ndtri, "The inverse of `ndtr`.", 0.5, 0.0)
gammasgn = _unary("gammasgn", _gammasgn, "The sign of the gamma function.", -0.5, -1.0)
gamma = _unary("gamma", _gamma, "The gamma function: (x - 1)! for whole `x`.", 5.0, 24.0)
entr = _unary("entr", _entr, "-x·log(x), 0 at 0, -inf below.", 0.5, 0.3466)


def _log_ndtr(x: Array) -> Any:
    """Three ranges: the tail's logarithm from its asymptotic series far left."""
    low = -14.0 if x.aval.dtype.itemsize == 8 else -5.0
    far = lt(x, low)
    near = lt(x, 1.0)
    middle = exponential.log(_ndtr(select(far, 0.0, numeric.min(x, select(near, x, 1.0)))))
    upper = neg(_ndtr(neg(numeric.max(x, select(near, 1.0, x)))))
    right = exponential.log1p(upper)
    t = select(far, x, low)
    squared = mul(t, t)
    # Abramowitz and Stegun 26.2.12.
    inverse = numeric.div(1.0, squared)
    series = add(mul(inverse, -1.0), 1.0)
    term = inverse
    total, sign = series, 1.0
    for k in (3.0, 5.0, 7.0, 9.0, 11.0):
        term = mul(mul(term, inverse), k)
        total = add(total, mul(term, sign))
        sign = -sign
    log_tail = sub(sub(mul(squared, -0.5), exponential.log(neg(t))), 0.5 * math.log(2 * math.pi))
    return select(far, add(log_tail, exponential.log(total)), select(near, middle, right))


def log_ndtr(x: Any, series_order: int = 3) -> Array:
    """log(ndtr(x)), exact far left; as many terms as it needs, whatever `series_order` says.

    >>> round(float(log_ndtr(0.0)), 4)
    -0.6931
    """
    return _log_ndtr(array_of(x, "log_ndtr", inexact))  # type: ignore[no-any-return]


def _xlogy(x: Array, y: Array) -> Any:
    # Where y is positive the slope in x at 0 is log(y), so only the rest is replaced.
    undefined = logic.logical_and(eq(x, 0.0), le(y, 0.0))
    return mul(x, exponential.log(select(undefined, 1.0, y)))


def _xlog1py(x: Array, y: Array) -> Any:
    undefined = logic.logical_and(eq(x, 0.0), le(y, -1.0))
    return mul(x, exponential.log1p(select(undefined, 0.0, y)))


xlogy = binary(
    "xlogy",
    _xlogy,
    "x·log(y), 0 where x is 0.",
    """
>>> float(xlogy(0.0, 0.0))
0.0""",
    result_of=inexact,
    literals=False,
    module=__name__,
)
xlog1py = binary(
    "xlog1py",
    _xlog1py,
    "x·log(1 + y), 0 where x is 0.",
    """
>>> float(xlog1py(0.0, -1.0))
0.0""",
    result_of=inexact,
    literals=False,
    module=__name__,
)


def betaln(a: Any, b: Any) -> Array:
    """The logarithm of the beta function, without cancellation for large numbers.

    >>> round(float(betaln(1.0, 2.0)), 4)
    -0.6931
    """
    arrays = promoted_arrays((a, b), "betaln", ("a", "b"), inexact)
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return beta_logarithm(*(broadcast_to_shape(x, shape) for x in arrays))  # type: ignore[no-any-return]


def beta(a: Any, b: Any) -> Array:
    """The beta function.

    >>> float(beta(1.0, 2.0))
    0.5
    """
    sign = arithmetic.multiply(gammasgn(a), gammasgn(b))
    sign = arithmetic.multiply(sign, gammasgn(arithmetic.add(a, b)))
    return arithmetic.multiply(sign, transcendental.exp(betaln(a, b)))


def factorial(n: Any, exact: bool = False) -> Array:
    """n! as a float; 0 for negative `n`.

    >>> round(float(factorial(4)))
    24
    """
    if exact:
        raise errors.ArgumentError("factorial: exact=True is not offered")
    x = array_of(n, "factorial", inexact)
    return where(lt(x, 0.0), 0.0, transcendental.exp(gammaln(add(x, 1.0))))  # type: ignore[no-any-return]


def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Array:
    """The number of ways to choose `k` of `N`.

    >>> round(float(comb(5, 2)))
    10
    """
    n, m = (array_of(v, "comb", inexact) for v in (N, k))
    if repetition:
        n = arithmetic.subtract(arithmetic.add(n, m), 1.0)
    log_ways = arithmetic.subtract(
        gammaln(arithmetic.add(n, 1.0)),
        arithmetic.add(
            gammaln(arithmetic.add(m, 1.0)), gammaln(arithmetic.add(arithmetic.subtract(n, m), 1.0))
        ),
    )
    possible = logic.logical_and(logic.greater_equal(m, 0.0), logic.less_equal(m, n))
    return where(possible, transcendental.exp(log_ways), 0.0)  # type: ignore[no-any-return]


def poch(z: Any, m: Any) -> Array:
    """The rising factorial gamma(z + m) / gamma(z).

    >>> round(float(poch(2.0, 3.0)))
    24
    """
    top = arithmetic.add(z, m)
    sign = arithmetic.multiply(gammasgn(top), gammasgn(z))
    return arithmetic.multiply(
        sign, transcendental.exp(arithmetic.subtract(gammaln(top), gammaln(z)))
    )


def multigammaln(a: Any, d: int) -> Array:
    """The logarithm of the multivariate gamma function of order `d`.

    >>> round(float(multigammaln(3.0, 1)), 4)
    0.6931
    """
    a = array_of(a, "multigammaln", inexact)
    result = add(arithmetic.multiply(a, 0.0), d * (d - 1) / 4 * math.log(math.pi))
    for j in range(d):
        result = add(result, gammaln(sub(a, j / 2)))
    return result  # type: ignore[no-any-return]


def polygamma(n: Any, x: Any) -> Array:
    """The derivative number `n` (a Python integer) of `digamma`.

    >>> round(float(polygamma(1, 1.0)), 4)
    1.6449
    """
    if not isinstance(n, int):
        raise errors.ArgumentError("polygamma: n must be a Python integer")
    x = array_of(x, "polygamma", inexact)
    return primitives.digamma(x) if n == 0 else primitives.polygamma(x, order=n)  # type: ignore[no-any-return]


def rel_entr(p: Any, q: Any) -> Array:
    """p·log(p / q): 0 where p is 0, inf where p or q is negative.

    >>> round(float(rel_entr(0.5, 0.25)), 4)
    0.3466
    """
    p, q = as_array(p), as_array(q)
    both = logic.logical_and(logic.greater(p, 0), logic.greater(q, 0))
    none = logic.logical_and(logic.equal(p, 0), logic.greater_equal(q, 0))
    safe_p, safe_q = where(both, p, 1.0), where(both, q, 1.0)
    value = arithmetic.multiply(
        safe_p, arithmetic.subtract(transcendental.log(safe_p), transcendental.log(safe_q))
    )
    return where(both, value, where(none, 0.0, math.inf))  # type: ignore[no-any-return]


def kl_div(p: Any, q: Any) -> Array:
    """p·log(p / q) - p + q.

    >>> round(float(kl_div(0.5, 0.25)), 4)
    0.0966
    """
    return arithmetic.add(arithmetic.subtract(rel_entr(p, q), p), q)


def _boxcox(logarithm: Array, power: Array) -> Any:
    linear = eq(power, 0.0)
    safe = select(linear, 1.0, power)
    return select(linear, logarithm, numeric.div(exponential.expm1(mul(safe, logarithm)), safe))


boxcox = binary(
    "boxcox",
    lambda x, power: _boxcox(exponential.log(x), power),
    "(x**lambda - 1) / lambda, the logarithm where lambda is 0.",
    """
>>> round(float(boxcox(2.0, 2.0)), 4)
1.5""",
    result_of=inexact,
    literals=False,
    module=__name__,
)
boxcox1p = binary(
    "boxcox1p",
    lambda x, power: _boxcox(exponential.log1p(x), power),
    "`boxcox` of 1 + x, exact for small `x`.",
    """
>>> round(float(boxcox1p(1.0, 2.0)), 4)
1.5""",
    result_of=inexact,
    literals=False,
    module=__name__,
)
