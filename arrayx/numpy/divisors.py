"""Greatest common divisors and least common multiples."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.lax.loops import while_loop
from arrayx.numpy.functions import with_methods
from arrayx.numpy.naming import named
from arrayx.numpy.promotion import broadcast_shapes, broadcast_to_shape, promoted_arrays
from arrayx.primitives.arithmetic import eq, mul, ne, select
from arrayx.primitives.numeric import abs as absolute
from arrayx.primitives.numeric import div, rem
from arrayx.primitives.reduction import reduce_or


def _integers(x1: Any, x2: Any, function: str) -> tuple[Array, Array]:
    x, y = promoted_arrays((x1, x2), function, ("x1", "x2"))
    if not dtypes.is_integer(x.dtype):
        raise errors.DtypeError(f"{function} takes integers, got {x.dtype}")
    shape = broadcast_shapes(x.shape, y.shape)
    x, y = broadcast_to_shape(x, shape), broadcast_to_shape(y, shape)
    return (absolute(x), absolute(y)) if dtypes.kind(x.dtype) == "int" else (x, y)


def _gcd(a: Array, b: Array) -> Array:
    # Euclid's algorithm, until every pair is done.
    def unfinished(pair: Any) -> Any:
        some = ne(pair[1], 0)
        return reduce_or(some, axes=tuple(range(some.aval.ndim)))

    def step(pair: Any) -> Any:
        a, b = pair
        done = eq(b, 0)
        return select(done, a, b), select(done, 0, rem(a, select(done, 1, b)))

    return while_loop(unfinished, step, (a, b))[0]  # type: ignore[no-any-return]


@named
def gcd(x1: Any, x2: Any, /) -> Array:
    """The greatest common divisor of integers, not negative; that of 0 and 0 is 0.

    >>> import arrayx.numpy as anp
    >>> anp.gcd(anp.array([12, -9]), 6).tolist()
    [6, 3]
    """
    return _gcd(*_integers(x1, x2, "gcd"))


@named
def lcm(x1: Any, x2: Any, /) -> Array:
    """The least common multiple of integers, not negative; 0 if one of them is 0.

    >>> import arrayx.numpy as anp
    >>> anp.lcm(anp.array([4, 0]), 6).tolist()
    [12, 0]
    """
    a, b = _integers(x1, x2, "lcm")
    common = _gcd(a, b)
    none = eq(common, 0)
    return select(none, 0, mul(div(a, select(none, 1, common)), b))  # type: ignore[no-any-return]


with_methods(gcd, identity=0, associative=True)
with_methods(lcm, associative=True)
