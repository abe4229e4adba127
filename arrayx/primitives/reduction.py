"""Reductions that are not sums: extremes, products, logic, and where the extremes are."""

from __future__ import annotations

from typing import Any, ClassVar

from arrayx import dtypes, errors
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.arithmetic import add, mul, select
from arrayx.primitives.axes import (
    broadcast_in_dim,
    dropped,
    reduce_sum,
    reshape,
    shifted,
    transpose,
    unreduced,
)
from arrayx.primitives.creation import iota
from arrayx.primitives.families import (
    LOGICAL,
    NUMERIC,
    ORDERED,
    NonDifferentiable,
    scaled,
)
from arrayx.primitives.gather import as_dtype, as_numbers, same
from arrayx.primitives.numeric import div
from arrayx.primitives.slicing import concatenate, cut

Axes = tuple[int, ...]


class Reduction(Primitive):
    """Combines the elements of `x` over `axes`, which the result drops."""

    kinds: ClassVar[frozenset[str]]

    def type_rule(self, x: Aval, *, axes: Axes) -> Aval:
        if dtypes.kind(x.dtype) not in self.kinds:
            raise errors.DtypeError(
                f"{self.name} is not defined for {x}; it takes dtypes of kind "
                f"{', '.join(sorted(self.kinds))}"
            )
        return dropped(self.name, x, axes)

    def vmap(self, size: int, args: Any, dims: Any, *, axes: Axes) -> Any:
        (x,), (d,) = args, dims
        axes = shifted(axes, d)
        return self(x, axes=axes), d - sum(a < d for a in axes)


class Extreme(Reduction):
    """The derivative of an extreme: the mean of the tangents of all that reach it.

    They are counted and added up in at least float32; nan, where there is one, is reached by
    the nans.
    """

    kinds = ORDERED

    def jvp(self, primals: Any, tangents: Any, *, axes: Axes) -> Any:
        (x,), (dx,) = primals, tangents
        result = self(x, axes=axes)
        if x.aval.size == 0:
            return result, Zero
        wide = dtypes.accumulation_dtype(x.aval.dtype)
        reached = same(x, unreduced(result, x.aval.shape, axes))
        count = reduce_sum(as_numbers(reached, wide), axes=axes)
        total = reduce_sum(select(reached, as_dtype(dx, wide), 0.0), axes=axes)
        return result, as_dtype(scaled(total, div(1.0, count)), x.aval.dtype)


class ReduceMax(Extreme):
    """The greatest element of `x` over `axes`; nan if there is one.

    Of no elements: -inf, the least integer, or False.
    """

    name = "reduce_max"


class ReduceMin(Extreme):
    """The least element of `x` over `axes`; nan if there is one.

    Of no elements: inf, the greatest integer, or True.
    """

    name = "reduce_min"


class ReduceProd(Reduction):
    """The product of the elements of `x` over `axes`.

    16-bit floats are multiplied in float32.  The derivative multiplies, for each element, all
    others, without division: so it is right where some are 0.
    """

    name = "reduce_prod"
    kinds = NUMERIC

    def jvp(self, primals: Any, tangents: Any, *, axes: Axes) -> Any:
        (x,), (dx,) = primals, tangents
        result = self(x, axes=axes)
        dtype = x.aval.dtype
        wide = dtypes.accumulation_dtype(dtype)
        product, tangent = (as_dtype(in_front(t, axes), wide) for t in (x, dx))
        # Halve again and again: (p, dp), (q, dq) -> (pq, dp q + dq p).
        while (n := product.aval.shape[0]) > 1:
            half = n // 2
            p, q, rest = parts(product, half)
            dp, dq, moving = parts(tangent, half)
            product = concatenate(mul(p, q), *rest, axis=0)
            tangent = concatenate(add(scaled(dp, q), scaled(dq, p)), *moving, axis=0)
        if product.aval.shape[0] == 0:
            return result, Zero
        return result, as_dtype(reshape(tangent, shape=result.aval.shape), dtype)


def in_front(x: Any, axes: Axes) -> Any:
    """`x` with the given axes made into one, which comes first."""
    shape = x.aval.shape
    kept = tuple(i for i in range(len(shape)) if i not in axes)
    size = 1
    for a in axes:
        size *= shape[a]
    x = transpose(x, perm=(*axes, *kept))
    return reshape(x, shape=(size, *(shape[i] for i in kept)))


def parts(x: Any, half: int) -> tuple[Any, Any, tuple[Any, ...]]:
    """The first half along axis 0, the second, and what is left, if anything."""
    n = x.aval.shape[0]
    rest = (cut(x, 0, 2 * half, n),) if n > 2 * half else ()
    return cut(x, 0, 0, half), cut(x, 0, half, 2 * half), rest


class ReduceAnd(NonDifferentiable, Reduction):
    """True where all elements over `axes` are; of integers, the bits that all have."""

    name = "reduce_and"
    kinds = LOGICAL


class ReduceOr(NonDifferentiable, Reduction):
    """True where any element over `axes` is; of integers, the bits that any has."""

    name = "reduce_or"
    kinds = LOGICAL


class ArgExtreme(NonDifferentiable):
    """The place of an extreme along one axis, as an integer of `dtype`."""

    # The reduction whose result is looked for.
    extreme: ClassVar[Primitive]

    def type_rule(self, x: Aval, *, axis: int, dtype: Any) -> Aval:
        if dtypes.kind(x.dtype) not in ORDERED or dtypes.kind(dtype) not in ("int", "uint"):
            raise errors.DtypeError(f"{self.name} of {x} as {dtype} is not defined")
        out = dropped(self.name, x, (axis,))
        if x.shape[axis] == 0:
            raise errors.ShapeError(f"{self.name} of {x}: axis {axis} has no elements")
        if x.shape[axis] - 1 > int(dtypes.iinfo(dtype).max):
            raise errors.DtypeError(f"{self.name} of {x}: {dtype} cannot count axis {axis}")
        return out.update(dtype=dtype, weak_type=False)

    def vmap(self, size: int, args: Any, dims: Any, *, axis: int, dtype: Any) -> Any:
        (x,), (d,) = args, dims
        moved = axis + (axis >= d)
        return self(x, axis=moved, dtype=dtype), d - (moved < d)

    def expand(self, x: Any, *, axis: int, dtype: Any) -> Any:
        shape = x.aval.shape
        best = self.extreme(x, axes=(axis,))
        reached = same(x, unreduced(best, shape, (axis,)))
        places = broadcast_in_dim(
            iota(shape=(shape[axis],), dtype=dtype, axis=0), shape=shape, dims=(axis,)
        )
        # Some element reaches the extreme, so the last place is as good as infinity.
        return reduce_min(select(reached, places, shape[axis] - 1), axes=(axis,))


reduce_max = ReduceMax()
reduce_min = ReduceMin()
reduce_prod = ReduceProd()
reduce_and = ReduceAnd()
reduce_or = ReduceOr()


class ArgMax(ArgExtreme):
    """The first place of the greatest element of `x` along `axis`, or of the first nan."""

    name = "argmax"
    extreme = reduce_max


class ArgMin(ArgExtreme):
    """The first place of the least element of `x` along `axis`, or of the first nan."""

    name = "argmin"
    extreme = reduce_min


argmax = ArgMax()
argmin = ArgMin()
