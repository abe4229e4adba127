"""Products that sum over axes: the general matrix product."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from arrayx import dtypes, errors
from arrayx.config import config
from arrayx.core.array import typeof
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.arithmetic import ne, select
from arrayx.primitives.axes import (
    broadcast_in_dim,
    distinct_axes,
    inverse,
    shifted,
    transpose,
)
from arrayx.primitives.bitwise import bitwise_and
from arrayx.primitives.creation import zero_literal
from arrayx.primitives.families import NUMERIC, add_tangents, is_linear
from arrayx.primitives.reduction import reduce_or

Axes = tuple[int, ...]


def free_axes(ndim: int, contracting: Sequence[int], batch: Sequence[int]) -> Axes:
    """The axes that are neither summed over nor paired."""
    return tuple(i for i in range(ndim) if i not in contracting and i not in batch)


class DotGeneral(Primitive):
    """Multiplies `x` by `y`, summing over `contracting` axes and pairing `batch` axes.

    `contracting` and `batch` each hold the axes of `x` and those of `y`.  The result has
    the batch axes, then the free axes of `x`, then those of `y`.  16-bit floats are added
    up in float32.  `precision` is None for the full precision of the dtype.
    """

    name = "dot_general"

    def type_rule(
        self,
        x: Aval,
        y: Aval,
        *,
        contracting: tuple[Axes, Axes],
        batch: tuple[Axes, Axes],
        precision: str | None,
    ) -> Aval:
        self.check(x, y, contracting, batch)
        shape = [x.shape[a] for a in batch[0]]
        shape += [x.shape[a] for a in free_axes(x.ndim, contracting[0], batch[0])]
        shape += [y.shape[a] for a in free_axes(y.ndim, contracting[1], batch[1])]
        weak = x.weak_type and y.weak_type
        return Aval(tuple(shape), x.dtype, weak)

    def check(
        self, x: Aval, y: Aval, contracting: tuple[Axes, Axes], batch: tuple[Axes, Axes]
    ) -> None:
        """Raises where axes or dtypes do not fit."""
        if x.dtype != y.dtype or dtypes.kind(x.dtype) not in NUMERIC | {"bool"}:
            raise errors.DtypeError(f"dot_general needs operands of equal dtype, got {x} and {y}")
        for a, axes_c, axes_b in ((x, contracting[0], batch[0]), (y, contracting[1], batch[1])):
            if not distinct_axes((*axes_c, *axes_b), a.ndim):
                raise errors.AxisError(f"dot_general: {axes_c} and {axes_b} are not axes of {a}")
        for pairs in (contracting, batch):
            if len(pairs[0]) != len(pairs[1]) or any(
                x.shape[i] != y.shape[j] for i, j in zip(*pairs, strict=True)
            ):
                raise errors.ShapeError(
                    f"dot_general: axes {pairs[0]} of {x} do not fit axes {pairs[1]} of {y}"
                )

    def flops(self, avals: tuple[Any, ...], results: tuple[Aval, ...], /, **params: Any) -> int:
        x = avals[0]
        summed: int = math.prod(x.shape[a] for a in params["contracting"][0])
        return 2 * results[0].size * summed

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        (x, y), (dx, dy) = primals, tangents
        tangent = self.derivative()
        by_x = Zero if dx is Zero else tangent(dx, y, **params)
        by_y = Zero if dy is Zero else tangent(x, dy, **params)
        return self(x, y, **params), add_tangents(by_x, by_y)

    def derivative(self) -> DotGeneral:
        """The product that the tangents are made of."""
        return self

    def transpose(
        self,
        ct: Any,
        x: Any,
        y: Any,
        *,
        contracting: tuple[Axes, Axes],
        batch: tuple[Axes, Axes],
        precision: str | None,
    ) -> Any:
        if is_linear(x):
            return self.cotangent_of_x(ct, x, y, contracting, batch, precision), None
        # y·x is x·y with its two groups of free axes swapped.
        n_batch = len(batch[0])
        n_x = len(free_axes(typeof(x).ndim, contracting[0], batch[0]))
        rest = range(n_batch, typeof(ct).ndim)
        ct = transpose(ct, perm=(*range(n_batch), *rest[n_x:], *rest[:n_x]))
        return None, self.cotangent_of_x(ct, y, x, contracting[::-1], batch[::-1], precision)

    def cotangent_of_x(
        self,
        ct: Any,
        x: Any,
        y: Any,
        contracting: tuple[Axes, Axes],
        batch: tuple[Axes, Axes],
        precision: str | None,
    ) -> Any:
        """The cotangent of the linear operand `x`, from that of the product."""
        y_free = free_axes(typeof(y).ndim, contracting[1], batch[1])
        ct_ndim, ct_batch = typeof(ct).ndim, tuple(range(len(batch[0])))
        ct_y = tuple(range(ct_ndim - len(y_free), ct_ndim))
        out = self(
            ct,
            y,
            contracting=(ct_y, y_free),
            batch=(ct_batch, batch[1]),
            precision=precision,
        )
        # `out` has x's batch axes, x's free axes, then x's contracted axes in y's order.
        order = sorted(range(len(contracting[1])), key=contracting[1].__getitem__)
        in_y_order = [contracting[0][i] for i in order]
        made = (*batch[0], *free_axes(x.aval.ndim, contracting[0], batch[0]), *in_y_order)
        perm = inverse(made)
        return out if perm == tuple(range(len(perm))) else transpose(out, perm=perm)

    def vmap(
        self,
        size: int,
        args: Any,
        dims: Any,
        *,
        contracting: tuple[Axes, Axes],
        batch: tuple[Axes, Axes],
        precision: str | None,
    ) -> Any:
        (x, y), (i, j) = args, dims
        if i is None or j is None:
            # One operand is shared: its partner's batch axis is one more free axis, which
            # keeps a large product instead of many small ones.
            if i is None:
                c, b = (
                    (contracting[0], shifted(contracting[1], j)),
                    (batch[0], shifted(batch[1], j)),
                )
                inside = free_axes(typeof(y).ndim, c[1], b[1]).index(j)
                n_x = len(free_axes(typeof(x).ndim, c[0], b[0]))
                dim = len(b[0]) + n_x + inside
            else:
                c, b = (
                    (shifted(contracting[0], i), contracting[1]),
                    (shifted(batch[0], i), batch[1]),
                )
                dim = len(b[0]) + free_axes(typeof(x).ndim, c[0], b[0]).index(i)
            return self(x, y, contracting=c, batch=b, precision=precision), dim
        contracting = shifted(contracting[0], i), shifted(contracting[1], j)
        batch = (i, *shifted(batch[0], i)), (j, *shifted(batch[1], j))
        return self(x, y, contracting=contracting, batch=batch, precision=precision), 0


class AbsorbDot(DotGeneral):
    """`dot_general` in which zeros absorb: what is summed is 0 if one side of it is all zeros.

    What `absorb_mul` is to products of elements, this is to those of matrices: the derivatives
    of factorisations are made of it, whose other factor may be inf or nan.
    """

    name = "absorb_dot"

    def expand(
        self,
        x: Any,
        y: Any,
        *,
        contracting: tuple[Axes, Axes],
        batch: tuple[Axes, Axes],
        precision: str | None,
    ) -> Any:
        found = dot_general(x, y, contracting=contracting, batch=batch, precision=precision)
        shape, paired = found.aval.shape, len(batch[0])
        sides = []
        before = paired
        for side, axes, pairs in ((x, contracting[0], batch[0]), (y, contracting[1], batch[1])):
            some = reduce_or(ne(side, zero_literal(side.aval.dtype)), axes=tuple(sorted(axes)))
            left = [i for i in range(side.aval.ndim) if i not in axes]
            free = free_axes(side.aval.ndim, axes, pairs)
            place = {a: i for i, a in enumerate(pairs)}
            place |= {a: before + i for i, a in enumerate(free)}
            before += len(free)
            # Batch axes may come in another order than in the result.
            at = [place[a] for a in left]
            moved = transpose(some, perm=tuple(sorted(range(len(at)), key=at.__getitem__)))
            dims = tuple(sorted(at))
            sides.append(broadcast_in_dim(moved, shape=shape, dims=dims))
        return select(bitwise_and(*sides), found, zero_literal(found.aval.dtype))


class GuardedDot(DotGeneral):
    """`dot_general` with derivatives in which zeros absorb.

    It is for factors that are inf or nan where a matrix is singular: solutions, inverses.
    """

    name = "guarded_dot"

    def derivative(self) -> DotGeneral:
        return derivative_dot()

    def expand(self, x: Any, y: Any, **params: Any) -> Any:
        return dot_general(x, y, **params)


dot_general = DotGeneral()
guarded_dot = GuardedDot()
absorb_dot = AbsorbDot()


def derivative_dot() -> DotGeneral:
    """The product that derivatives are made of: zeros absorb in it, unless the user says no."""
    return absorb_dot if config.snapshot().zeros_absorb else dot_general
