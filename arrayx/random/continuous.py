"""Continuous distributions: functions of uniform draws, equal to JAX's up to rounding."""

from __future__ import annotations

import math
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.core.aval import Shape
from arrayx.numpy.promotion import broadcast_shapes
from arrayx.primitives.arithmetic import add, ge, mul, neg, select, sub
from arrayx.primitives.complex import complex as complex_of
from arrayx.primitives.exponential import log, log1p
from arrayx.primitives.numeric import abs as absolute
from arrayx.primitives.numeric import div, nextafter, sign
from arrayx.primitives.numeric import max as maximum
from arrayx.primitives.numeric import min as minimum
from arrayx.primitives.special import erf, erf_inv
from arrayx.primitives.trigonometric import tan
from arrayx.random.arguments import (
    checked_dtype,
    checked_shape,
    float_dtype,
    parameter,
    rounded,
    spread,
)
from arrayx.random.keys import one_key
from arrayx.random.uniform import halves, split_in_two, uniform_between, unit_interval

GUMBEL_MODES = ("low", "high")


def above_minus_one(dtype: Any) -> float:
    """The smallest number of a dtype above -1."""
    return -1.0 + float(dtypes.finfo(dtype).epsneg)


def real_normal(key: Any, shape: Shape, dtype: Any) -> Any:
    """Standard normal draws, from the inverse of the error function."""
    draws = uniform_between(key, shape, dtype, above_minus_one(dtype), 1.0)
    return mul(erf_inv(draws), math.sqrt(2.0))


def normal(key: Any, shape: Any = (), dtype: Any = None) -> Array:
    """Standard normal random numbers of `shape`.

    `dtype` is floating or complex; real and imaginary parts of complex numbers have variance
    1/2.

    >>> import arrayx as ax
    >>> ax.random.normal(ax.random.key(0), (2,)).shape
    (2,)
    """
    one, _ = one_key("normal", key)
    dtype = checked_dtype("normal", dtype, ("float", "complex"), dtypes.default_float())
    shape = checked_shape("normal", shape)
    if dtypes.kind(dtype) == "float":
        return real_normal(one, shape, dtype)  # type: ignore[no-any-return]
    part = dtypes.real_dtype(dtype)
    real, imaginary = (real_normal(k, shape, part) for k in split_in_two(one))
    root = math.sqrt(2.0)
    return complex_of(div(real, root), div(imaginary, root))  # type: ignore[no-any-return]


def truncated_normal(
    key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = None
) -> Array:
    """Standard normal random numbers, given that they lie in the open interval (lower, upper).

    `lower` and `upper` are numbers or arrays; `shape`, by default theirs, must be one to
    which they can be broadcast.  Differentiable in them.

    >>> import arrayx as ax
    >>> ax.random.truncated_normal(ax.random.key(0), -2.0, 2.0, (2,)).shape
    (2,)
    """
    one, _ = one_key("truncated_normal", key)
    dtype = float_dtype("truncated_normal", dtype)
    low, high = (
        parameter(x, "truncated_normal", name, dtype, one)
        for name, x in (("lower", lower), ("upper", upper))
    )
    inner = low.aval.shape, high.aval.shape
    if shape is None:
        shape = broadcast_shapes(*inner)
    else:
        shape = checked_shape("truncated_normal", shape, *inner)
    root = rounded(math.sqrt(2.0), dtype)
    below, above = (erf(div(x, root)) for x in (low, high))
    draws = mul(erf_inv(uniform_between(one, shape, dtype, below, above)), root)
    # Rounding must not lead out of the interval; its bounds are open.
    draws = maximum(draws, spread(nextafter(low, math.inf), shape))
    return minimum(draws, spread(nextafter(high, -math.inf), shape))  # type: ignore[no-any-return]


def exponential(key: Any, shape: Any = (), dtype: Any = None) -> Array:
    """Exponential random numbers of `shape`, with mean 1.

    >>> import arrayx as ax
    >>> ax.random.exponential(ax.random.key(0), (2,)).shape
    (2,)
    """
    one, _ = one_key("exponential", key)
    dtype = float_dtype("exponential", dtype)
    draws = unit_interval(one, checked_shape("exponential", shape), dtype)
    return neg(log1p(neg(draws)))  # type: ignore[no-any-return]


def gumbel(key: Any, shape: Any = (), dtype: Any = None, mode: str | None = None) -> Array:
    """Gumbel random numbers of `shape`, with location 0 and scale 1.

    `mode` is "low", or "high" for twice the digits, which makes the far tail right.

    >>> import arrayx as ax
    >>> ax.random.gumbel(ax.random.key(0), (2,)).shape
    (2,)
    """
    one, _ = one_key("gumbel", key)
    dtype = float_dtype("gumbel", dtype)
    return gumbel_draws(one, checked_shape("gumbel", shape), dtype, mode)  # type: ignore[no-any-return]


def gumbel_draws(key: Any, shape: Shape, dtype: Any, mode: str | None) -> Any:
    """`gumbel` for arguments that were checked, all but the mode."""
    if mode is not None and mode not in GUMBEL_MODES:
        raise errors.ArgumentError(
            f"gumbel: mode must be one of {', '.join(map(repr, GUMBEL_MODES))}, got {mode!r}"
        )
    info = dtypes.finfo(dtype)
    if mode != "high":
        draws = uniform_between(key, shape, dtype, float(info.tiny), 1.0)
        return neg(log(neg(log(draws))))
    coarse, fine = halves(unit_interval(key, (2, *shape), dtype))
    both = add(add(coarse, mul(fine, 2.0 ** -int(info.nmant))), float(info.tiny))
    draws = select(ge(coarse, 0.5), coarse, both)
    return neg(log(neg(log1p(neg(draws)))))


def laplace(key: Any, shape: Any = (), dtype: Any = None) -> Array:
    """Laplace random numbers of `shape`, with location 0 and scale 1.

    >>> import arrayx as ax
    >>> ax.random.laplace(ax.random.key(0), (2,)).shape
    (2,)
    """
    one, _ = one_key("laplace", key)
    dtype = float_dtype("laplace", dtype)
    shape = checked_shape("laplace", shape)
    draws = uniform_between(one, shape, dtype, above_minus_one(dtype), 1.0)
    return mul(sign(draws), log1p(neg(absolute(draws))))  # type: ignore[no-any-return]


def cauchy(key: Any, shape: Any = (), dtype: Any = None) -> Array:
    """Cauchy random numbers of `shape`, with location 0 and scale 1.

    >>> import arrayx as ax
    >>> ax.random.cauchy(ax.random.key(0), (2,)).shape
    (2,)
    """
    one, _ = one_key("cauchy", key)
    dtype = float_dtype("cauchy", dtype)
    smallest = float(dtypes.finfo(dtype).eps)
    draws = uniform_between(one, checked_shape("cauchy", shape), dtype, smallest, 1.0)
    return tan(mul(sub(draws, 0.5), math.pi))  # type: ignore[no-any-return]


def logistic(key: Any, shape: Any = (), dtype: Any = None) -> Array:
    """Logistic random numbers of `shape`, with location 0 and scale 1.

    >>> import arrayx as ax
    >>> ax.random.logistic(ax.random.key(0), (2,)).shape
    (2,)
    """
    one, _ = one_key("logistic", key)
    dtype = float_dtype("logistic", dtype)
    smallest = float(dtypes.finfo(dtype).tiny)
    draws = uniform_between(one, checked_shape("logistic", shape), dtype, smallest, 1.0)
    return sub(log(draws), log1p(neg(draws)))  # type: ignore[no-any-return]
