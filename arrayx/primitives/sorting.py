"""Sorting, which moves elements as their order says, and looking for a place in an order."""

from __future__ import annotations

import math
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.arithmetic import add, le, lt, ne, select
from arrayx.primitives.axes import move_batch_dim, reshape
from arrayx.primitives.bitwise import bitwise_and, bitwise_not, bitwise_or, shift_right_logical
from arrayx.primitives.creation import fill, iota
from arrayx.primitives.families import ANY, NonDifferentiable
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


class SearchSorted(NonDifferentiable):
    """Where to insert `wanted` into `line`, sorted along its last axis, to keep it sorted.

    The result, of integers of `dtype`, is in front of equal elements where `side` is "left" and
    behind them where it is "right"; nan comes last and equals nan.  The first `batch` axes of
    both operands are equal and belong together; `line` has one more, `wanted` any.
    """

    name = "searchsorted"

    def flops(self, avals: tuple[Any, ...], results: tuple[Aval, ...], /, **params: Any) -> int:
        return results[0].size * int(avals[0].shape[-1]).bit_length()

    def type_rule(self, line: Aval, wanted: Aval, *, side: str, batch: int, dtype: Any) -> Aval:
        if line.dtype is not wanted.dtype or dtypes.kind(line.dtype) not in ANY:
            raise errors.DtypeError(f"searchsorted of {line} and {wanted} is not defined")
        if line.ndim != batch + 1 or line.shape[:batch] != wanted.shape[:batch]:
            raise errors.ShapeError(f"searchsorted: {line} and {wanted} with {batch} batch axes")
        return wanted.update(dtype=dtype, weak_type=False)

    def vmap(self, size: int, args: Any, dims: Any, *, batch: int, **params: Any) -> Any:
        (line, wanted), (i, j) = args, dims
        if i is None and not batch:
            return self(line, wanted, batch=batch, **params), j
        line = move_batch_dim(size, line, i, 0)
        wanted = move_batch_dim(size, wanted, j, 0)
        return self(line, wanted, batch=batch + 1, **params), 0

    def expand(self, line: Any, wanted: Any, *, side: str, batch: int, dtype: Any) -> Any:
        shape = wanted.aval.shape
        n = line.aval.shape[-1]
        lines, each = math.prod(shape[:batch]), math.prod(shape[batch:])
        line, wanted = reshape(line, shape=(lines, n)), reshape(wanted, shape=(lines, each))
        low, high = fill((lines, each), dtype, 0), fill((lines, each), dtype, n)
        before = lt if side == "left" else le
        for _ in range(n.bit_length() if lines and each else 0):
            middle = shift_right_logical(add(low, high), 1)
            # An interval that is closed already may stand behind the end.
            probe = take_along(line, middle, 1, "clip")
            after = before(probe, wanted)
            if dtypes.kind(line.aval.dtype) == "float":
                nan_wanted, nan_probe = ne(wanted, wanted), ne(probe, probe)
                behind = bitwise_or(bitwise_not(nan_probe), side == "right")
                after = select(nan_wanted, behind, after)
            open_ = lt(low, high)
            low, high = (
                select(bitwise_and(after, open_), add(middle, 1), low),
                select(bitwise_and(bitwise_not(after), open_), middle, high),
            )
        return reshape(low, shape=shape)


searchsorted = SearchSorted()
