"""Sorting, which moves elements as their order says."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes, errors
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.axes import move_batch_dim
from arrayx.primitives.creation import iota
from arrayx.primitives.families import ANY
from arrayx.primitives.gather import take_along


class Sort(Primitive):
    """The operands sorted along `axis` by the first `num_keys` of them, all moved alike.

    Operands have equal shapes, each its own dtype.  Keys are compared in their order, the
    next where the former are equal.  The sort is stable: what is equal keeps its order.
    -0.0 equals 0.0, nan comes last and equals nan; complex numbers are ordered by the real
    part, then the imaginary one.  The result is a tuple.
    """

    name = "sort"
    multiple = True

    def flops(self, avals: tuple[Any, ...], results: tuple[Aval, ...], /, **params: Any) -> int:
        length: int = results[0].shape[params["axis"]]
        return results[0].size * max(length - 1, 0).bit_length()

    def type_rule(self, *xs: Aval, axis: int, num_keys: int) -> tuple[Aval, ...]:
        if not 1 <= num_keys <= len(xs):
            raise errors.ArgumentError(f"sort of {len(xs)} operands cannot have {num_keys} keys")
        if not 0 <= axis < xs[0].ndim:
            raise errors.AxisError(f"sort: {xs[0]} has no axis {axis}")
        if any(x.shape != xs[0].shape for x in xs):
            raise errors.ShapeError(
                f"sort needs operands of equal shape, got {', '.join(map(str, xs))}"
            )
        if any(dtypes.kind(x.dtype) not in ANY for x in xs[:num_keys]):
            raise errors.DtypeError(f"sort has no order for {', '.join(map(str, xs[:num_keys]))}")
        return xs

    def jvp(self, primals: Any, tangents: Any, *, axis: int, num_keys: int) -> Any:
        shape = primals[0].aval.shape
        places = iota(shape=shape, dtype=dtypes.index_dtype(shape[axis]), axis=axis)
        *results, order = self(*primals, places, axis=axis, num_keys=num_keys)
        moved = tuple(t if t is Zero else take_along(t, order, axis) for t in tangents)
        return tuple(results), moved

    def vmap(self, size: int, args: Any, dims: Any, *, axis: int, num_keys: int) -> Any:
        d = next(d for d in dims if d is not None)
        moved = [move_batch_dim(size, x, i, d) for x, i in zip(args, dims, strict=True)]
        results = self(*moved, axis=axis + (axis >= d), num_keys=num_keys)
        return results, (d,) * len(results)


sort = Sort()
