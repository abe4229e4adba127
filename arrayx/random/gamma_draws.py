"""Gamma random numbers from keys, and how they move with their shape parameter.

Marsaglia and Tsang, "A simple method for generating gamma variables" (ACM TOMS 26, 2000): a
normal number, cubed, is accepted or drawn anew.  Each element has a key of its own, so its draws
do not depend on its neighbours'.  The derivative is that of the inverse distribution function
with the probability kept (Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients",
2018), so it does not know of rejections.
"""

from __future__ import annotations

from typing import Any

from arrayx import dtypes, errors
from arrayx.control.incomplete_gamma import loggamma_slope
from arrayx.control.repetition import repeated
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.numpy.promotion import as_type
from arrayx.primitives.arithmetic import add, eq, ge, le, mul, neg, select, sub
from arrayx.primitives.axes import reshape
from arrayx.primitives.bitwise import bitwise_and, bitwise_or
from arrayx.primitives.creation import fill
from arrayx.primitives.exponential import log, log1p, sqrt
from arrayx.primitives.families import aligned, scaled
from arrayx.primitives.numeric import div
from arrayx.primitives.random import check_key, random_split, random_wrap
from arrayx.primitives.slicing import cut
from arrayx.random.continuous import real_normal
from arrayx.random.uniform import unit_interval

SQUEEZE = 0.0331


def split_each(keys: Any, count: int) -> list[Any]:
    """`count` new keys for each key of an array."""
    shape = keys.aval.shape
    made = random_split(keys, shape=(count,))
    return [reshape(cut(made, len(shape), i, i + 1), shape=shape) for i in range(count)]


def positive_cube_roots(keys: Any, c: Any) -> tuple[Any, Any]:
    """Normal numbers x for which v = 1 + c·x is positive, and v."""
    shape, dtype = c.aval.shape, c.aval.dtype

    def going(keys: Any, x: Any, v: Any) -> Any:
        return le(v, 0.0)

    def step(c: Any, keys: Any, x: Any, v: Any) -> list[Any]:
        following, own = split_each(keys, 2)
        drawn = real_normal(own, (), dtype)
        kept = le(v, 0.0)
        return [following, select(kept, drawn, x), select(kept, add(mul(drawn, c), 1.0), v)]

    start = [keys, fill(shape, dtype, 0.0), fill(shape, dtype, -1.0)]
    _, x, v = repeated(going, step, [c], start)
    return x, v


def loggamma_draws(keys: Any, a: Any) -> Any:
    """Logarithms of gamma numbers of shape `a`, float32 or float64, one for each key."""
    shape, dtype = a.aval.shape, a.aval.dtype
    large = ge(a, 1.0)
    d = sub(select(large, a, add(a, 1.0)), 1.0 / 3.0)
    c = div(1.0 / 3.0, sqrt(d))
    keys, boosting = split_each(keys, 2)

    def going(keys: Any, v: Any, pending: Any) -> Any:
        return pending

    def step(c: Any, d: Any, keys: Any, v: Any, pending: Any) -> list[Any]:
        following, normal_keys, uniform_keys = split_each(keys, 3)
        x, root = positive_cube_roots(normal_keys, c)
        squared = mul(x, x)
        cubed = mul(mul(root, root), root)
        u = unit_interval(uniform_keys, (), dtype)
        outside = ge(u, sub(1.0, mul(mul(squared, squared), SQUEEZE)))
        bound = add(mul(squared, 0.5), mul(d, add(sub(1.0, cubed), log(cubed))))
        rejected = bitwise_and(outside, ge(log(u), bound))
        return [following, select(pending, cubed, v), bitwise_and(pending, rejected)]

    start = [keys, fill(shape, dtype, 1.0), eq(a, a)]
    _, v, _ = repeated(going, step, [c, d], start)
    # A number of shape a is one of shape a + 1 times a power of a uniform number.
    power = log1p(neg(unit_interval(boosting, (), dtype)))
    idle = bitwise_or(large, eq(power, 0.0))
    boost = select(idle, 0.0, mul(power, div(1.0, a)))
    return add(add(log(d), log(v)), boost)


class RandomLogGamma(Primitive):
    """The logarithm of a gamma number of shape `a` for each key, of the same shape."""

    name = "random_loggamma"

    def type_rule(self, key: Aval, a: Aval) -> Aval:
        check_key(self.name, key)
        if a.shape != key.shape or dtypes.kind(a.dtype) != "float":
            raise errors.DtypeError(
                f"random_loggamma needs floats of the shape {key.shape} of the keys, got {a}"
            )
        return a.update(weak_type=False, varying=key.varying | a.varying)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        result = self(*primals)
        if tangents[1] is Zero:
            return result, Zero
        return result, scaled(tangents[1], loggamma_slope(primals[1], result))

    def vmap(self, size: int, args: Any, dims: Any) -> Any:
        args, dim = aligned(size, args, dims)
        return self(*args), dim

    def on_keys(self, avals: Any, words: Any, a: Any) -> Any:
        return self.expand(random_wrap(words), a)

    def expand(self, key: Any, a: Any) -> Any:
        wide = dtypes.accumulation_dtype(a.aval.dtype)
        return as_type(loggamma_draws(key, as_type(a, wide)), a.aval.dtype)


random_loggamma = RandomLogGamma()
