"""Gamma random numbers, and the distributions that are made of them: beta, t, Dirichlet, …

The draws are JAX's for the same key, up to rounding, and all are differentiable in their
parameters.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from arrayx import errors
from arrayx.core.array import Array
from arrayx.core.aval import Shape
from arrayx.primitives.arithmetic import add, mul, sub
from arrayx.primitives.axes import broadcast_in_dim, reduce_sum, reshape
from arrayx.primitives.combined import stop_gradient
from arrayx.primitives.exponential import exp, pow, sqrt
from arrayx.primitives.numeric import abs as absolute
from arrayx.primitives.numeric import div
from arrayx.primitives.numeric import max as maximum
from arrayx.primitives.random import random_split
from arrayx.primitives.reduction import reduce_max
from arrayx.random.arguments import checked_shape, float_dtype, parameter, spread
from arrayx.random.continuous import exponential, real_normal
from arrayx.random.derived import prepared
from arrayx.random.gamma_draws import random_loggamma
from arrayx.random.keys import one_key
from arrayx.random.uniform import rademacher, split_in_two


def log_draws(key: Any, a: Any) -> Any:
    """Logarithms of gamma numbers for one key and an array of shapes `a`."""
    shape = a.aval.shape
    flat = reshape(a, shape=(math.prod(shape),))
    keys = random_split(key, shape=flat.aval.shape)
    return reshape(random_loggamma(keys, flat), shape=shape)


def loggamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Logarithms of gamma random numbers of shape parameter `a`: exact where those are too small
    for the dtype, as for `a` far below 1.

    `shape` is that of `a` by default.  Differentiable in `a`.

    >>> import arrayx as ax
    >>> ax.random.loggamma(ax.random.key(0), 0.01, (2,)).shape
    (2,)
    """
    one, (a,), _, _ = prepared("loggamma", key, ("a",), (a,), shape, dtype)
    return log_draws(one, a)  # type: ignore[no-any-return]


def gamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Gamma random numbers of shape parameter `a` and scale 1 (Marsaglia and Tsang, 2000).

    `shape` is that of `a` by default.  Differentiable in `a`, by the implicit derivative.

    >>> import arrayx as ax
    >>> ax.random.gamma(ax.random.key(0), 2.0, (2,)).shape
    (2,)
    """
    one, (a,), _, _ = prepared("gamma", key, ("a",), (a,), shape, dtype)
    return exp(log_draws(one, a))  # type: ignore[no-any-return]


def chisquare(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Chi-squared random numbers with `df` degrees of freedom.

    `shape` is that of `df` by default.

    >>> import arrayx as ax
    >>> ax.random.chisquare(ax.random.key(0), 3.0, (2,)).shape
    (2,)
    """
    one, (df,), _, _ = prepared("chisquare", key, ("df",), (df,), shape, dtype)
    return mul(exp(log_draws(one, mul(df, 0.5))), 2.0)  # type: ignore[no-any-return]


def f(key: Any, dfnum: Any, dfden: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Random numbers of the F distribution with `dfnum` and `dfden` degrees of freedom.

    `shape` is that of the parameters by default.

    >>> import arrayx as ax
    >>> ax.random.f(ax.random.key(0), 3.0, 5.0, (2,)).shape
    (2,)
    """
    names, values = ("dfnum", "dfden"), (dfnum, dfden)
    one, (top, bottom), _, _ = prepared("f", key, names, values, shape, dtype)
    below, above = split_in_two(one)
    numerator = div(mul(exp(log_draws(above, mul(top, 0.5))), 2.0), top)
    denominator = div(mul(exp(log_draws(below, mul(bottom, 0.5))), 2.0), bottom)
    return div(numerator, denominator)  # type: ignore[no-any-return]


def t(key: Any, df: Any, shape: Any = (), dtype: Any = None) -> Array:
    """Random numbers of Student's t distribution with `df` degrees of freedom.

    `shape` must be one to which `df` can be broadcast; None stands for the shape of `df`.

    >>> import arrayx as ax
    >>> ax.random.t(ax.random.key(0), 3.0, (2,)).shape
    (2,)
    """
    one, (df,), shape, dtype = prepared("t", key, ("df",), (df,), shape, dtype)
    first, second = split_in_two(one)
    half = mul(df, 0.5)
    draws = exp(log_draws(second, half))
    return mul(real_normal(first, shape, dtype), sqrt(div(half, draws)))  # type: ignore[no-any-return]


def beta(key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Beta random numbers with parameters `a` and `b`.

    `shape` is that of the parameters by default.

    >>> import arrayx as ax
    >>> ax.random.beta(ax.random.key(0), 2.0, 3.0, (2,)).shape
    (2,)
    """
    one, (a, b), _, _ = prepared("beta", key, ("a", "b"), (a, b), shape, dtype)
    first, second = split_in_two(one)
    left, right = log_draws(first, a), log_draws(second, b)
    # Scaled so that the larger is 1: small parameters make both tiny.
    largest = stop_gradient(maximum(left, right))
    left, right = exp(sub(left, largest)), exp(sub(right, largest))
    return div(left, add(left, right))  # type: ignore[no-any-return]


def dirichlet(key: Any, alpha: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Dirichlet random vectors: shares that sum to 1, with parameters along the last axis of
    `alpha`.

    `shape`, by default that of `alpha` without the last axis, is the shape without the vectors.

    >>> import arrayx as ax, numpy as np
    >>> ax.random.dirichlet(ax.random.key(0), np.float32([1, 2, 3]), (4,)).shape
    (4, 3)
    """
    one, _ = one_key("dirichlet", key)
    dtype = float_dtype("dirichlet", dtype)
    alpha = parameter(alpha, "dirichlet", "alpha", dtype, one)
    if alpha.aval.ndim == 0:
        raise errors.ShapeError("dirichlet: alpha must have an axis of parameters, got a scalar")
    batch = alpha.aval.shape[:-1]
    shape = batch if shape is None else checked_shape("dirichlet", shape, batch)
    whole = (*shape, alpha.aval.shape[-1])
    logarithms = log_draws(one, spread(alpha, whole))
    last, outer = (len(shape),), tuple(range(len(shape)))
    if whole[-1] == 0:
        return logarithms  # type: ignore[no-any-return]
    largest = broadcast_in_dim(reduce_max(logarithms, axes=last), shape=whole, dims=outer)
    sizes = exp(sub(logarithms, stop_gradient(largest)))
    total = broadcast_in_dim(reduce_sum(sizes, axes=last), shape=whole, dims=outer)
    return div(sizes, total)  # type: ignore[no-any-return]


def generalized_normal(key: Any, p: Any, shape: Any = (), dtype: Any = None) -> Array:
    """Random numbers with a density proportional to exp(-|x|**p).

    >>> import arrayx as ax
    >>> ax.random.generalized_normal(ax.random.key(0), 3.0, (2,)).shape
    (2,)
    """
    one, _ = one_key("generalized_normal", key)
    dtype = float_dtype("generalized_normal", dtype)
    shape = checked_shape("generalized_normal", shape)
    power = parameter(p, "generalized_normal", "p", dtype, one)
    return general_draws(one, power, shape, dtype)  # type: ignore[no-any-return]


def general_draws(key: Any, power: Any, shape: Shape, dtype: Any) -> Any:
    """`generalized_normal` for checked arguments; the power is an array of rank 0."""
    first, second = split_in_two(key)
    inverse = spread(div(1.0, power), shape)
    size = exp(mul(log_draws(first, inverse), inverse))
    return mul(rademacher(second, shape, dtype), size)


def ball(key: Any, d: int, p: Any = 2, shape: Any = (), dtype: Any = None) -> Array:
    """Random points, uniform in the unit ball of `d` dimensions with the norm of power `p`.

    The points are along a new last axis.  Barthe, Guédon, Mendelson and Naor (2005).

    >>> import arrayx as ax
    >>> ax.random.ball(ax.random.key(0), 3, shape=(4,)).shape
    (4, 3)
    """
    one, _ = one_key("ball", key)
    dtype = float_dtype("ball", dtype)
    shape = checked_shape("ball", shape)
    try:
        d = operator.index(d)
    except TypeError:
        raise errors.ArgumentError(f"ball: d must be a Python integer, got {d!r}") from None
    if d < 0:
        raise errors.ArgumentError(f"ball: d must not be negative, got {d}")
    power = parameter(p, "ball", "p", dtype, one)
    first, second = split_in_two(one)
    points = general_draws(first, power, (*shape, d), dtype)
    powers = pow(absolute(points), spread(power, (*shape, d)))
    total = add(reduce_sum(powers, axes=(len(shape),)), exponential(second, shape, dtype))
    length = pow(total, spread(div(1.0, power), shape))
    return div(points, broadcast_in_dim(length, shape=(*shape, d), dims=tuple(range(len(shape)))))  # type: ignore[no-any-return]
