"""Distributions with parameters, as functions of simpler draws; equal to JAX's up to rounding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayx import dtypes
from arrayx.core.array import Array
from arrayx.core.aval import Shape
from arrayx.numpy import rounding
from arrayx.numpy.promotion import as_type, broadcast_shapes
from arrayx.primitives.arithmetic import add, le, lt, mul, neg, select, sub
from arrayx.primitives.axes import reduce_sum
from arrayx.primitives.exponential import exp, log, log1p, pow, sqrt
from arrayx.primitives.numeric import div
from arrayx.random.arguments import (
    checked_dtype,
    checked_shape,
    float_dtype,
    parameter,
    spread,
)
from arrayx.random.continuous import exponential, real_normal
from arrayx.random.keys import one_key
from arrayx.random.uniform import rademacher, split_in_two, unit_interval


def prepared(
    function: str, key: Any, names: Sequence[str], values: Sequence[Any], shape: Any, dtype: Any
) -> tuple[Any, list[Any], Shape, Any]:
    """A key, parameters spread to the shape of the result, that shape, and its dtype."""
    one, _ = one_key(function, key)
    dtype = float_dtype(function, dtype)
    given = [parameter(v, function, n, dtype, one) for n, v in zip(names, values, strict=True)]
    inner = [v.aval.shape for v in given]
    shape = broadcast_shapes(*inner) if shape is None else checked_shape(function, shape, *inner)
    return one, [spread(v, shape) for v in given], shape, dtype


def lognormal(key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = None) -> Array:
    """Random numbers whose logarithms are normal with deviation `sigma`.

    `shape` is that of `sigma` by default.

    >>> import arrayx as ax
    >>> ax.random.lognormal(ax.random.key(0), 0.5, (2,)).shape
    (2,)
    """
    one, (s,), shape, dtype = prepared("lognormal", key, ("sigma",), (sigma,), shape, dtype)
    return exp(mul(real_normal(one, shape, dtype), s))  # type: ignore[no-any-return]


def pareto(key: Any, b: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Pareto random numbers, at least 1, whose tails fall with the power `b`.

    `shape` is that of `b` by default.

    >>> import arrayx as ax
    >>> ax.random.pareto(ax.random.key(0), 2.0, (2,)).shape
    (2,)
    """
    one, (power,), shape, dtype = prepared("pareto", key, ("b",), (b,), shape, dtype)
    return exp(div(exponential(one, shape, dtype), power))  # type: ignore[no-any-return]


def rayleigh(key: Any, scale: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Lengths of normal vectors in the plane with deviation `scale` along each axis.

    `shape` is that of `scale` by default.

    >>> import arrayx as ax
    >>> ax.random.rayleigh(ax.random.key(0), 1.0, (2,)).shape
    (2,)
    """
    one, (s,), shape, dtype = prepared("rayleigh", key, ("scale",), (scale,), shape, dtype)
    return mul(sqrt(mul(log(unit_interval(one, shape, dtype)), -2.0)), s)  # type: ignore[no-any-return]


def weibull_min(
    key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None
) -> Array:
    """Weibull random numbers of `shape`: powers 1/`concentration` of exponential ones, scaled.

    >>> import arrayx as ax
    >>> ax.random.weibull_min(ax.random.key(0), 1.0, 2.0, (2,)).shape
    (2,)
    """
    names, values = ("scale", "concentration"), (scale, concentration)
    one, (s, c), shape, dtype = prepared("weibull_min", key, names, values, shape, dtype)
    draws = neg(log1p(neg(unit_interval(one, shape, dtype))))
    return mul(pow(draws, div(1.0, c)), s)  # type: ignore[no-any-return]


def triangular(
    key: Any, left: Any, mode: Any, right: Any, shape: Any = None, dtype: Any = None
) -> Array:
    """Random numbers from `left` to `right` whose density rises to `mode` and falls behind it.

    `shape` is that of the parameters by default.

    >>> import arrayx as ax
    >>> ax.random.triangular(ax.random.key(0), 0.0, 1.0, 3.0, (2,)).shape
    (2,)
    """
    names, values = ("left", "mode", "right"), (left, mode, right)
    one, (a, m, b), shape, dtype = prepared("triangular", key, names, values, shape, dtype)
    draws = unit_interval(one, shape, dtype)
    width = sub(b, a)
    rising = add(a, sqrt(mul(mul(draws, width), sub(m, a))))
    falling = sub(b, sqrt(mul(mul(sub(1.0, draws), width), sub(b, m))))
    return select(lt(draws, div(sub(m, a), width)), rising, falling)  # type: ignore[no-any-return]


def wald(key: Any, mean: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Wald (inverse Gaussian) random numbers with this mean and concentration 1.

    `shape` is that of `mean` by default.  Michael, Schucany and Haas (1976).

    >>> import arrayx as ax
    >>> ax.random.wald(ax.random.key(0), 1.0, (2,)).shape
    (2,)
    """
    one, (m,), shape, dtype = prepared("wald", key, ("mean",), (mean,), shape, dtype)
    first, second = split_in_two(one)
    normal = real_normal(first, shape, dtype)
    draws = unit_interval(second, shape, dtype)
    y = mul(normal, normal)
    squared = mul(m, m)
    under_root = add(mul(mul(m, y), 4.0), mul(squared, mul(y, y)))
    half = mul(m, 0.5)
    root = add(m, sub(mul(mul(squared, y), 0.5), mul(half, sqrt(under_root))))
    return select(le(draws, div(m, add(m, root))), root, div(squared, root))  # type: ignore[no-any-return]


def maxwell(key: Any, shape: Any = (), dtype: Any = None) -> Array:
    """Lengths of normal vectors in space with deviation 1 along each axis.

    >>> import arrayx as ax
    >>> ax.random.maxwell(ax.random.key(0), (2,)).shape
    (2,)
    """
    one, _ = one_key("maxwell", key)
    dtype = float_dtype("maxwell", dtype)
    shape = checked_shape("maxwell", shape)
    vectors = real_normal(one, (*shape, 3), dtype)
    return sqrt(reduce_sum(mul(vectors, vectors), axes=(len(shape),)))  # type: ignore[no-any-return]


def double_sided_maxwell(
    key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None
) -> Array:
    """`maxwell` draws with a random sign, scaled and moved.

    The result has `shape`, the shape of the parameters by default, followed by the shape of the
    parameters, as in JAX.

    >>> import arrayx as ax
    >>> ax.random.double_sided_maxwell(ax.random.key(0), 0.0, 2.0, (2,)).shape
    (2,)
    """
    one, _ = one_key("double_sided_maxwell", key)
    dtype = float_dtype("double_sided_maxwell", dtype)
    names, values = ("loc", "scale"), (loc, scale)
    center, width = (
        parameter(v, "double_sided_maxwell", n, dtype, one)
        for n, v in zip(names, values, strict=True)
    )
    inner = broadcast_shapes(center.aval.shape, width.aval.shape)
    outer = checked_shape("double_sided_maxwell", shape) or inner
    whole = (*outer, *inner)
    first, second = split_in_two(one)
    draws = mul(maxwell(first, whole, dtype), rademacher(second, whole, dtype))
    return add(mul(draws, spread(width, whole)), spread(center, whole))  # type: ignore[no-any-return]


def geometric(key: Any, p: Any, shape: Any = None, dtype: Any = None) -> Array:
    """How often something of probability `p` is tried until it happens, an integer from 1 on.

    `shape` is that of `p` by default.

    >>> import arrayx as ax
    >>> ax.random.geometric(ax.random.key(0), 0.5, (2,)).shape
    (2,)
    """
    target = checked_dtype("geometric", dtype, ("int", "uint"), dtypes.default_int())
    one, (chance,), shape, float_ = prepared("geometric", key, ("p",), (p,), shape, None)
    draws = log(unit_interval(one, shape, float_))
    tries = add(rounding.floor(div(draws, log1p(neg(chance)))), 1.0)
    return as_type(tries, target)
