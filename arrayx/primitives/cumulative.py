"""Running sums, products and extremes: each element combines all up to it."""

from __future__ import annotations

from typing import Any, ClassVar

from arrayx import dtypes, errors
from arrayx.core.aval import Aval
from arrayx.core.primitive import Primitive
from arrayx.primitives.arithmetic import add, gt, mul, select, sub
from arrayx.primitives.axes import rev
from arrayx.primitives.creation import zero_literal
from arrayx.primitives.exponential import exp, log
from arrayx.primitives.families import FLOAT, NUMERIC, ORDERED, Linear, scaled
from arrayx.primitives.gather import as_dtype, as_numbers, same
from arrayx.primitives.numeric import div, is_finite, max, min
from arrayx.primitives.segments import doubling, within_runs


class Cumulative(Primitive):
    """Combines along `axis` all elements up to each; from the end where `reverse`.

    `expand` combines in at least float32 and in logarithmically many steps.
    """

    kinds: ClassVar[frozenset[str]]

    def type_rule(self, x: Aval, *, axis: int, reverse: bool) -> Aval:
        if dtypes.kind(x.dtype) not in self.kinds:
            raise errors.DtypeError(
                f"{self.name} is not defined for {x}; it takes dtypes of kind "
                f"{', '.join(sorted(self.kinds))}"
            )
        if not 0 <= axis < x.ndim:
            raise errors.AxisError(f"{self.name}: {x} has no axis {axis}")
        return x

    def vmap(self, size: int, args: Any, dims: Any, *, axis: int, reverse: bool) -> Any:
        (x,), (d,) = args, dims
        return self(x, axis=axis + (axis >= d), reverse=reverse), d

    def expand(self, x: Any, *, axis: int, reverse: bool) -> Any:
        dtype = x.aval.dtype
        y = as_dtype(turned(x, axis, reverse), dtypes.accumulation_dtype(dtype))
        y = self.prefixes(y, axis)
        return turned(as_dtype(y, dtype), axis, reverse)

    def prefixes(self, x: Any, axis: int) -> Any:
        """The operation from the start, in core primitives."""
        unit = self.unit(x.aval.dtype)
        return doubling((x,), axis, (unit,), lambda a, b: (self.combine(a[0], b[0]),))[0]

    def unit(self, dtype: Any) -> Any:
        """The literal that changes nothing."""
        raise NotImplementedError

    def combine(self, x: Any, y: Any) -> Any:
        """The operation on two prefixes, `x` the earlier one."""
        raise NotImplementedError


def turned(x: Any, axis: int, reverse: bool) -> Any:
    """`x`, turned around along the axis where `reverse`."""
    return rev(x, axes=(axis,)) if reverse else x


class Cumsum(Linear, Cumulative):
    """Sums of all elements up to each along `axis`; from the end where `reverse`.

    16-bit floats are added up in float32.
    """

    name = "cumsum"
    kinds = NUMERIC

    def transpose(self, ct: Any, x: Any, *, axis: int, reverse: bool) -> Any:
        return (self(ct, axis=axis, reverse=not reverse),)

    def unit(self, dtype: Any) -> Any:
        return zero_literal(dtype)

    def combine(self, x: Any, y: Any) -> Any:
        return add(x, y)


class Cumprod(Cumulative):
    """Products of all elements up to each along `axis`; from the end where `reverse`.

    16-bit floats are multiplied in float32.  The derivative takes no quotient: it is right
    where elements are 0.
    """

    name = "cumprod"
    kinds = NUMERIC

    def jvp(self, primals: Any, tangents: Any, *, axis: int, reverse: bool) -> Any:
        (x,), (dx,) = primals, tangents
        dtype = x.aval.dtype
        wide = dtypes.accumulation_dtype(dtype)
        moving = tuple(as_dtype(turned(t, axis, reverse), wide) for t in (x, dx))
        units = (self.unit(wide), zero_literal(wide))

        def combine(a: Any, b: Any) -> Any:
            (p, dp), (q, dq) = a, b
            return mul(p, q), add(scaled(dp, q), scaled(dq, p))

        _, tangent = doubling(moving, axis, units, combine)
        result = self(x, axis=axis, reverse=reverse)
        return result, turned(as_dtype(tangent, dtype), axis, reverse)

    def unit(self, dtype: Any) -> Any:
        return 1 + zero_literal(dtype)

    def combine(self, x: Any, y: Any) -> Any:
        return mul(x, y)


class CumulativeExtreme(Cumulative):
    """The derivative of a running extreme: the mean of the tangents of all that reach it."""

    kinds = ORDERED

    def jvp(self, primals: Any, tangents: Any, *, axis: int, reverse: bool) -> Any:
        (x,), (dx,) = primals, tangents
        result = self(x, axis=axis, reverse=reverse)
        dtype = x.aval.dtype
        wide = dtypes.accumulation_dtype(dtype)
        reached = turned(same(x, result), axis, reverse)
        runs = turned(result, axis, reverse)
        # What reaches the extreme stands in the run of elements where it is the result.
        moving = select(reached, as_dtype(turned(dx, axis, reverse), wide), 0.0)
        count = within_runs(as_numbers(reached, wide), runs, axis, add, 0.0)
        total = within_runs(moving, runs, axis, add, 0.0)
        tangent = as_dtype(scaled(total, div(1.0, count)), dtype)
        return result, turned(tangent, axis, reverse)


def lowest(dtype: Any) -> Any:
    """The literal below all values of a dtype."""
    kind = dtypes.kind(dtype)
    if kind == "bool":
        return False
    return -float("inf") if kind == "float" else int(dtypes.iinfo(dtype).min)


def highest(dtype: Any) -> Any:
    """The literal above all values of a dtype."""
    kind = dtypes.kind(dtype)
    if kind == "bool":
        return True
    return float("inf") if kind == "float" else int(dtypes.iinfo(dtype).max)


class Cummax(CumulativeExtreme):
    """The greatest of all elements up to each along `axis`; nan from the first one on.

    From the end where `reverse`.
    """

    name = "cummax"

    def unit(self, dtype: Any) -> Any:
        return lowest(dtype)

    def combine(self, x: Any, y: Any) -> Any:
        return max(x, y)


class Cummin(CumulativeExtreme):
    """The least of all elements up to each along `axis`; nan from the first one on.

    From the end where `reverse`.
    """

    name = "cummin"

    def unit(self, dtype: Any) -> Any:
        return highest(dtype)

    def combine(self, x: Any, y: Any) -> Any:
        return min(x, y)


class Cumlogsumexp(Cumulative):
    """The logarithm of the running sum of exponentials, without their overflow.

    Along `axis`, from the end where `reverse`; 16-bit floats are handled in float32.  Its
    derivative is that of its expansion.
    """

    name = "cumlogsumexp"
    kinds = FLOAT

    def unit(self, dtype: Any) -> Any:
        return lowest(dtype)

    def combine(self, x: Any, y: Any) -> Any:
        # True for any m: so, whichever m is taken, derivatives of all orders are exact.
        m = select(gt(x, y), x, y)
        m = select(is_finite(m), m, 0.0)
        return add(m, log(add(exp(sub(x, m)), exp(sub(y, m)))))


cumsum = Cumsum()
cumprod = Cumprod()
cummax = Cummax()
cummin = Cummin()
cumlogsumexp = Cumlogsumexp()
