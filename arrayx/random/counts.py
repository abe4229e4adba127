"""Random counts by rejection: Poisson, binomial and multinomial numbers, as JAX draws them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.control.repetition import repeated
from arrayx.core.array import Array
from arrayx.lax import loops
from arrayx.numpy.promotion import as_type, broadcast_shapes, placed_like
from arrayx.primitives.arithmetic import add, eq, ge, gt, le, lt, mul, ne, neg, select, sub
from arrayx.primitives.axes import transpose
from arrayx.primitives.bitwise import bitwise_and, bitwise_not, bitwise_or
from arrayx.primitives.combined import stop_gradient
from arrayx.primitives.creation import fill
from arrayx.primitives.cumulative import cumsum
from arrayx.primitives.exponential import log, log1p, sqrt
from arrayx.primitives.families import FLOAT, Step
from arrayx.primitives.numeric import abs as absolute
from arrayx.primitives.numeric import ceil, div, floor, is_finite
from arrayx.primitives.numeric import max as maximum
from arrayx.primitives.numeric import min as minimum
from arrayx.primitives.random import random_split
from arrayx.primitives.special import lgamma
from arrayx.random.arguments import checked_dtype, checked_shape, float_dtype, parameter, spread
from arrayx.random.gamma_draws import split_each
from arrayx.random.keys import one_key
from arrayx.random.uniform import unit_interval

FLOAT32 = np.dtype(np.float32)
# Below this mean, numbers are counted one by one; above, they are guessed and accepted or not.
FEW = 10.0


def poisson(key: Any, lam: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Poisson random numbers with mean `lam`, integers; -1 where `lam` is nan or negative.

    `shape` is that of `lam` by default.  Means below 10 by Knuth's product of uniform numbers,
    others by the transformed rejection of Hörmann ("The transformed rejection method for
    generating Poisson random variables", 1993), in float32.

    >>> import arrayx as ax
    >>> ax.random.poisson(ax.random.key(0), 3.0, (2,)).dtype
    dtype('int32')
    """
    one, _ = one_key("poisson", key)
    target = checked_dtype("poisson", dtype, ("int", "uint"), dtypes.default_int())
    mean = stop_gradient(parameter(lam, "poisson", "lam", FLOAT32, one))
    inner = mean.aval.shape
    shape = inner if shape is None else checked_shape("poisson", shape, inner)
    mean = spread(mean, shape)
    few = bitwise_or(ne(mean, mean), lt(mean, FEW))
    with placed_like(one):
        counted = counted_one_by_one(one, select(few, mean, 0.0))
        guessed = guessed_poisson(one, select(few, 1e5, mean))
    result = select(few, counted, guessed)
    return as_type(select(eq(mean, 0.0), 0.0, result), target)


def counted_one_by_one(key: Any, mean: Any) -> Any:
    """How many uniform numbers it takes until their product is below exp(-mean), less one."""
    shape = mean.aval.shape

    def going(key: Any, count: Any, total: Any, mean: Any) -> Any:
        return gt(total, neg(mean))

    def step(key: Any, count: Any, total: Any, mean: Any) -> list[Any]:
        key, own = split_each(key, 2)
        count = select(gt(total, neg(mean)), add(count, 1.0), count)
        return [key, count, add(total, log(unit_interval(own, shape, FLOAT32))), mean]

    start = [key, fill(shape, FLOAT32, -1.0), fill(shape, FLOAT32, 0.0), mean]
    _, count, _, _ = repeated(going, step, [], start)
    return count


def guessed_poisson(key: Any, mean: Any) -> Any:
    """Poisson numbers of means from 10 on."""
    shape = mean.aval.shape

    def going(key: Any, count: Any, pending: Any) -> Any:
        return pending

    def step(mean: Any, key: Any, count: Any, pending: Any) -> list[Any]:
        key, first, second = split_each(key, 3)
        u = sub(unit_interval(first, shape, FLOAT32), 0.5)
        tried = poisson_try(mean, u, unit_interval(second, shape, FLOAT32))
        accepted = ne(tried, -1.0)
        # Where the mean is infinite nothing ever is accepted.
        stays = bitwise_and(pending, is_finite(mean))
        # The last number accepted counts, not the first: while others wait more are drawn.
        return [key, select(accepted, tried, count), bitwise_and(stays, bitwise_not(accepted))]

    start = [key, fill(shape, FLOAT32, -1.0), eq(mean, mean)]
    _, count, _ = repeated(going, step, [mean], start)
    return count


class PoissonTry(Step):
    """A Poisson number of a mean from 10 on, made of u in [-1/2, 1/2) and v in [0, 1), float32.

    It is -1 where it is rejected: another has to be tried.  Apart so that a backend which does
    not round like compiled code, a product that is only added to something not at all, may.
    """

    name = "poisson_try"
    kinds = FLOAT

    def expand(self, mean: Any, u: Any, v: Any) -> Any:
        b = add(mul(sqrt(mean), 2.53), 0.931)
        a = add(mul(b, 0.02483), -0.059)
        inverse_alpha = add(div(1.1328, sub(b, 3.4)), 1.1239)
        certain = sub(0.9277, div(3.6224, sub(b, 2.0)))
        edge = sub(0.5, absolute(u))
        k = floor(add(add(mul(add(div(mul(a, 2.0), edge), b), u), mean), 0.43))
        s = log(div(mul(v, inverse_alpha), add(div(a, mul(edge, edge)), b)))
        bound = sub(add(neg(mean), mul(k, log(mean))), lgamma(add(k, 1.0)))
        inside = bitwise_and(ge(edge, 0.07), le(v, certain))
        outside = bitwise_or(lt(k, 0.0), bitwise_and(lt(edge, 0.013), gt(v, edge)))
        accepted = bitwise_or(inside, bitwise_and(bitwise_not(outside), le(s, bound)))
        return select(accepted, k, -1.0)


poisson_try = PoissonTry()


def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Binomial random numbers: how often something of probability `p` happens in `n` tries.

    They are floats of `dtype`; nan where `n` is negative or nan or `p` outside of [0, 1].
    `shape` is that of the parameters by default.  Where fewer than 10 are expected, by geometric
    waiting times, else by the transformed rejection of Hörmann ("The generation of binomial
    random variates", 1993, algorithm BTRS).

    >>> import arrayx as ax
    >>> ax.random.binomial(ax.random.key(0), 10, 0.5, (2,)).shape
    (2,)
    """
    one, _ = one_key("binomial", key)
    dtype = float_dtype("binomial", dtype)
    n, p = (
        stop_gradient(parameter(x, "binomial", name, dtype, one))
        for x, name in ((n, "n"), (p, "p"))
    )
    inner = n.aval.shape, p.aval.shape
    shape = broadcast_shapes(*inner) if shape is None else checked_shape("binomial", shape, *inner)
    with placed_like(one):
        return binomial_draws(one, spread(n, shape), spread(p, shape))  # type: ignore[no-any-return]


def binomial_draws(key: Any, n: Any, p: Any) -> Any:
    """`binomial` for operands of one shape."""
    dtype = n.aval.dtype
    wide = dtypes.accumulation_dtype(dtype)
    n, p = as_type(n, wide), as_type(p, wide)
    turned = ge(p, 0.5)
    q = select(turned, sub(1.0, p), p)
    valid = bitwise_and(bitwise_and(ge(n, 0.0), lt(n, math.inf)), ge(p, 0.0))
    valid = bitwise_and(valid, le(p, 1.0))
    many = bitwise_and(valid, bitwise_not(le(mul(n, q), FEW)))
    few = bitwise_and(valid, bitwise_not(many))
    # No chance, no waiting time: the logarithm of 1 - q would be 0.
    hopeful = bitwise_and(few, gt(q, 0.0))
    waited = waiting_times(key, select(hopeful, n, 0.0), select(hopeful, q, 0.5))
    guessed = guessed_binomial(key, select(many, n, 1e4), select(many, q, 0.5))
    count = select(many, guessed, select(hopeful, waited, 0.0))
    count = select(turned, sub(n, count), count)
    return as_type(select(valid, count, math.nan), dtype)


def waiting_times(key: Any, n: Any, p: Any) -> Any:
    """How many geometric waiting times fit into `n` tries."""
    shape, dtype = n.aval.shape, n.aval.dtype

    def going(key: Any, count: Any, total: Any, n: Any, scale: Any) -> Any:
        return le(total, n)

    def step(key: Any, count: Any, total: Any, n: Any, scale: Any) -> list[Any]:
        own, key = split_each(key, 2)
        count = select(le(total, n), add(count, 1.0), count)
        waited = ceil(div(log(unit_interval(own, shape, dtype)), scale))
        return [key, count, add(total, waited), n, scale]

    start = [key, fill(shape, dtype, -1.0), fill(shape, dtype, 0.0), n, log1p(neg(p))]
    return repeated(going, step, [], start)[1]


# What Stirling's formula for log(k!) leaves, for k from 0 to 9.
STIRLING_TAILS = tuple(
    math.lgamma(k + 1) - (0.5 * math.log(2 * math.pi) + (k + 0.5) * math.log(k + 1) - (k + 1))
    for k in range(10)
)


def stirling_tail(k: Any) -> Any:
    """What Stirling's formula for log(k!) leaves."""
    more = add(k, 1.0)
    inverse = div(1.0, mul(more, more))
    series = sub(1 / 12, mul(sub(1 / 360, mul(inverse, 1 / 1260)), inverse))
    value = div(series, more)
    for i, tail in enumerate(STIRLING_TAILS):
        value = select(eq(k, float(i)), tail, value)
    return value


def guessed_binomial(key: Any, n: Any, p: Any) -> Any:
    """Binomial numbers for p up to 1/2 where at least 10 are expected."""
    shape, dtype = n.aval.shape, n.aval.dtype
    deviation = sqrt(mul(mul(n, p), sub(1.0, p)))
    b = add(mul(deviation, 2.53), 1.15)
    a = add(add(mul(b, 0.0248), -0.0873), mul(p, 0.01))
    center = add(mul(n, p), 0.5)
    certain = sub(0.92, div(4.2, b))
    odds = div(p, sub(1.0, p))
    alpha = mul(add(div(5.1, b), 2.83), deviation)
    mode = floor(mul(add(n, 1.0), p))
    constants = [n, a, b, center, certain, odds, alpha, mode]

    def going(key: Any, count: Any, pending: Any) -> Any:
        return pending

    def step(*args: Any) -> list[Any]:
        n, a, b, center, certain, odds, alpha, mode, key, count, pending = args
        key, first, second = split_each(key, 3)
        u = sub(unit_interval(first, shape, dtype), 0.5)
        v = unit_interval(second, shape, dtype)
        edge = sub(0.5, absolute(u))
        inside = bitwise_and(ge(edge, 0.07), le(v, certain))
        k = floor(add(mul(add(div(mul(a, 2.0), edge), b), u), center))
        outside = bitwise_or(lt(k, 0.0), gt(k, n))
        s = log(div(mul(v, alpha), add(div(a, mul(edge, edge)), b)))
        rest = add(sub(n, mode), 1.0)
        left = add(sub(n, k), 1.0)
        bound = mul(add(mode, 0.5), log(div(add(mode, 1.0), mul(odds, rest))))
        bound = add(bound, mul(add(n, 1.0), log(div(rest, left))))
        bound = add(bound, mul(add(k, 0.5), log(div(mul(odds, left), add(k, 1.0)))))
        bound = add(bound, add(stirling_tail(mode), stirling_tail(sub(n, mode))))
        bound = sub(bound, add(stirling_tail(k), stirling_tail(sub(n, k))))
        accepted = bitwise_or(inside, bitwise_and(bitwise_not(outside), le(s, bound)))
        return [key, select(accepted, k, count), bitwise_and(pending, bitwise_not(accepted))]

    start = [key, fill(shape, dtype, -1.0), eq(n, n)]
    return repeated(going, step, constants, start)[1]


def multinomial(
    key: Any, n: Any, p: Any, *, shape: Any = None, dtype: Any = None, unroll: int | bool = 1
) -> Array:
    """Multinomial random vectors: how often each of several things happens in `n` tries, floats.

    Args:
        key: a random key.
        n: the number of tries, broadcast against the axes of `p` but the last.
        p: probabilities along the last axis.
        shape: the shape of the result, its last axis that of `p`; by default what `n` and `p` give.
        dtype: a floating dtype.
        unroll: as in `lax.scan`, over the last axis of `p`.

    Each count is binomial, given those before it.

    >>> import arrayx as ax, numpy as np
    >>> ax.random.multinomial(ax.random.key(0), 6, np.float32([0.5, 0.5])).sum().item()
    6.0
    """
    one, _ = one_key("multinomial", key)
    dtype = float_dtype("multinomial", dtype)
    n, p = (
        stop_gradient(parameter(x, "multinomial", name, dtype, one))
        for x, name in ((n, "n"), (p, "p"))
    )
    if p.aval.ndim == 0:
        raise errors.ShapeError("multinomial: p must have an axis of probabilities, got a scalar")
    kinds = p.aval.shape[-1]
    if shape is None:
        whole = (*broadcast_shapes(n.aval.shape, p.aval.shape[:-1]), kinds)
    else:
        whole = checked_shape("multinomial", shape, p.aval.shape)
        checked_shape("multinomial", whole[:-1], n.aval.shape)
    wide = dtypes.accumulation_dtype(dtype)
    batch = whole[:-1]
    chances = as_type(spread(p, whole), wide)
    chances = transpose(chances, perm=(len(batch), *range(len(batch))))
    left = cumsum(chances, axis=0, reverse=True)
    ratios = div(chances, select(eq(left, 0.0), 1.0, left))
    ratios = minimum(maximum(ratios, 0.0), 1.0)
    keys = random_split(one, shape=(kinds,))

    def step(remaining: Any, drawn: Any) -> tuple[Any, Any]:
        ratio, own = drawn
        count = binomial_draws(own, remaining, ratio)
        return sub(remaining, count), count

    start = as_type(spread(n, batch), wide)
    _, counts = loops.scan(step, start, (ratios, keys), unroll=unroll)
    return as_type(transpose(counts, perm=(*range(1, len(whole)), 0)), dtype)
