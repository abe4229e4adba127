"""Operations across the lanes of a named axis: sums, extremes, exchanges, and the lane's number.

Their meaning is given by who opened the axis: `vmap` resolves them into operations along its
batch axis, a backend with several devices runs them as they are.

Axes are of two kinds (`core/named_axes.py`), and what a derivative counts depends on it.  Over
the axes of `vmap` and `pmap` the result of every lane counts, so `psum` is its own transpose.
Over *tracked* axes, those of a mesh under `shard_map`, types say which values are the same in all
lanes, and such a value counts once: `psum` makes a value the same, `pvary` makes it one that may
differ, and each is the other's transpose.  An operand that varies over fewer mesh axes than an
operation needs is taken as if `pvary` stood before it: where cotangents are collected they are
summed over the axes in which their values do not vary (`matched`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.aval import Aval
from arrayx.core.named_axes import mapped_axis, refuse_unbound
from arrayx.core.primitive import Primitive
from arrayx.primitives.arithmetic import eq, mul, select
from arrayx.primitives.axes import (
    broadcast_in_dim,
    move_batch_dim,
    reduce_sum,
    reshape,
    shifted,
    transpose,
)
from arrayx.primitives.creation import fill, iota, zero_literal
from arrayx.primitives.families import (
    EVERYTHING,
    NUMERIC,
    ORDERED,
    Linear,
    NonDifferentiable,
    handed,
    scaled,
)
from arrayx.primitives.gather import as_dtype, as_numbers, same
from arrayx.primitives.numeric import div
from arrayx.primitives.reduction import reduce_max, reduce_min
from arrayx.primitives.slicing import concatenate, cut, dynamic_slice

Groups = tuple[tuple[int, ...], ...] | None
INDEX = np.dtype(np.int32)


class Collective(Primitive):
    """What collectives share: params that name axes, and resolution by the `vmap` that opened one.

    `resolved` is the operation along a batch axis `dim` (None: all lanes have the same), and
    `lifted` gives the params for an operand with another axis at `dim`.
    """

    names_axes = True
    optional = True
    kinds: ClassVar[frozenset[str]] = EVERYTHING

    def axis_names(self, **params: Any) -> frozenset[Any]:
        return frozenset(params["axes"] if "axes" in params else (params["axis_name"],))

    def check(self, x: Aval) -> None:
        """Raises for a dtype that the operation has no meaning for."""
        if dtypes.kind(x.dtype) not in self.kinds:
            raise errors.DtypeError(f"{self.name} is not defined for {x.strong()}")

    def refuse(self, **params: Any) -> Any:
        """Raises the error for an axis that nobody has opened."""
        name = min(map(str, self.axis_names(**params)))
        return refuse_unbound(name, f"ax.lax.{self.name}")

    def evaluate(self, *args: Any, **params: Any) -> Any:
        self.refuse(**params)

    def lifted(self, dim: int, **params: Any) -> dict[str, Any]:
        """The params for an operand that has another axis, number `dim`."""
        return params

    def resolved(self, n: int, x: Any, dim: int | None, **params: Any) -> Any:
        """The operation over `n` lanes along the axis `dim`, and the result's lanes."""
        raise NotImplementedError

    def vmap(self, size: int, args: Any, dims: Any, /, **params: Any) -> Any:
        (x,), (d,) = args, dims
        if mapped_axis.get() not in self.axis_names(**params):
            return self(x, **self.lifted(d, **params)), d
        return self.resolved(size, x, d, **params)


# ----------------------------------------------------------------- rows of a batch


def rows(x: Any, chosen: Sequence[int]) -> Any:
    """The rows of `x` with these numbers, in this order; zeros where the number is -1.

    Rows that follow each other are cut out together.
    """
    pieces: list[Any] = []
    k = 0
    while k < len(chosen):
        end = k + 1
        first = chosen[k]
        step = 0 if first < 0 else 1
        while end < len(chosen) and chosen[end] == first + step * (end - k):
            end += 1
        if first < 0:
            dtype = x.aval.dtype
            zero = 0 if dtypes.kind(dtype) == "key" else zero_literal(dtype)
            pieces.append(fill((end - k, *x.aval.shape[1:]), dtype, zero))
        else:
            pieces.append(cut(x, 0, first, first + end - k))
        k = end
    return pieces[0] if len(pieces) == 1 else concatenate(*pieces, axis=0)


def grouped(n: int, x: Any, dim: int | None, groups: Any, resolve: Any) -> tuple[Any, int]:
    """`resolve(size, rows, 0)` of each group of lanes, put back in the order of the lanes."""
    x = move_batch_dim(n, x, dim, 0)
    pieces = []
    for group in groups:
        result, d = resolve(len(group), rows(x, group), 0)
        pieces.append(move_batch_dim(len(group), result, d, 0))
    order = [i for group in groups for i in group]
    back = [order.index(i) for i in range(n)]
    whole = pieces[0] if len(pieces) == 1 else concatenate(*pieces, axis=0)
    return rows(whole, back), 0


def split_axis_of(x: Any, axis: int, n: int) -> Any:
    """`x` with an axis of length n·m as two, of lengths n and m."""
    shape = x.aval.shape
    return reshape(x, shape=(*shape[:axis], n, shape[axis] // n, *shape[axis + 1 :]))


def joined(x: Any, axis: int) -> Any:
    """`x` with an axis and the next one as one."""
    shape = x.aval.shape
    return reshape(x, shape=(*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :]))


def resized(x: Aval, axis: int, length: int) -> Aval:
    """The type with another length of one axis."""
    return x.update(shape=(*x.shape[:axis], length, *x.shape[axis + 1 :]), weak_type=False)


# ----------------------------------------------------------------- reductions


class LaneReduction(Collective):
    """A reduction over the lanes of `axes`, or of each of the `groups` of one axis.

    Over `tracked` axes the result is the same everywhere.
    """

    def type_rule(self, x: Aval, *, axes: Any, groups: Groups, tracked: bool) -> Aval:
        self.check(x)
        return x

    def varies(self, over: Any, *, axes: Any, groups: Groups, tracked: bool) -> Any:
        return over - {*axes} if tracked else over

    def vmap(self, size: int, args: Any, dims: Any, *, axes: Any, groups: Any, tracked: Any) -> Any:
        (x,), (d,) = args, dims
        name = mapped_axis.get()
        if name not in axes:
            return self(x, axes=axes, groups=groups, tracked=tracked), d
        result, d = (
            self.along(size, x, d) if groups is None else grouped(size, x, d, groups, self.along)
        )
        rest = tuple(a for a in axes if a != name)
        return (self(result, axes=rest, groups=None, tracked=tracked) if rest else result), d

    def along(self, n: int, x: Any, dim: int | None) -> tuple[Any, None]:
        """The reduction over a batch axis, or over equal lanes."""
        raise NotImplementedError


class PSum(Linear, LaneReduction):
    """The sum of `x` over all lanes of `axes`; 16-bit floats are added up in float32."""

    name = "psum"
    kinds = NUMERIC

    def transpose(self, ct: Any, x: Any, *, axes: Any, groups: Groups, tracked: bool) -> Any:
        if tracked:
            return (pvary(ct, axes=axes),)
        return (self(ct, axes=axes, groups=groups, tracked=False),)

    def along(self, n: int, x: Any, dim: int | None) -> tuple[Any, None]:
        dtype = x.aval.dtype
        if dim is None and dtypes.is_inexact(dtype) and dtype.itemsize >= 4:
            return mul(x, complex(n) if dtypes.kind(dtype) == "complex" else float(n)), None
        return reduce_sum(move_batch_dim(n, x, dim, 0), axes=(0,)), None


class LaneExtreme(LaneReduction):
    """Lanes that reach the extreme share its tangent, counted in at least float32."""

    kinds = ORDERED
    reduce: ClassVar[Any]

    def along(self, n: int, x: Any, dim: int | None) -> tuple[Any, None]:
        return (x if dim is None else type(self).reduce(x, axes=(dim,))), None

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        (x,), (dx,) = primals, tangents
        result = self(x, **params)
        wide = dtypes.accumulation_dtype(x.aval.dtype)
        reached = same(x, result)
        count = psum(as_numbers(reached, wide), **params)
        total = psum(select(reached, as_dtype(dx, wide), 0.0), **params)
        return result, as_dtype(scaled(total, div(1.0, count)), x.aval.dtype)


class PMax(LaneExtreme):
    """The greatest of the lanes' values, element by element; nan if there is one."""

    name = "pmax"
    reduce = reduce_max


class PMin(LaneExtreme):
    """The least of the lanes' values, element by element; nan if there is one."""

    name = "pmin"
    reduce = reduce_min


class PVary(Linear, Collective):
    """`x`, the same in all lanes of the mesh axes `axes`, as one that may differ between them."""

    name = "pvary"
    cheap = True
    moves = True

    def type_rule(self, x: Aval, *, axes: Any) -> Aval:
        return x

    def varies(self, over: Any, *, axes: Any) -> Any:
        return over | {*axes}

    def transpose(self, ct: Any, x: Any, *, axes: Any) -> Any:
        made = tuple(a for a in axes if a not in x.aval.varying)
        return (psum(ct, axes=made, groups=None, tracked=True) if made else ct,)

    def vmap(self, size: int, args: Any, dims: Any, *, axes: Any) -> Any:
        rest = tuple(a for a in axes if a != mapped_axis.get())
        return (self(args[0], axes=rest) if rest else args[0]), dims[0]


# ----------------------------------------------------------------- exchanges


class Exchange(Linear, Collective):
    """A collective over one axis whose result differs between the lanes."""

    def varies(self, over: Any, *, axis_name: Any, tracked: bool, **params: Any) -> Any:
        return over | {axis_name} if tracked else over


class AllGather(Exchange):
    """The lanes' values side by side along `axis`, `size` of them, in every lane.

    Where `same`, the result counts as one value that is the same everywhere.
    """

    name = "all_gather"
    moves = True

    def type_rule(self, x: Aval, *, size: int, axis: int, **params: Any) -> Aval:
        return resized(x, axis, size * x.shape[axis])

    def varies(self, over: Any, *, axis_name: Any, tracked: bool, **params: Any) -> Any:
        if params["same"]:
            return over - {axis_name}
        return super().varies(over, axis_name=axis_name, tracked=tracked)

    def transpose(self, ct: Any, x: Any, *, same: bool, **params: Any) -> Any:
        if not same:
            return (psum_scatter(ct, **params),)
        axis = params["axis"]
        shape = x.aval.shape
        start = mul(
            axis_index(axis_name=params["axis_name"], tracked=params["tracked"]), shape[axis]
        )
        return (
            dynamic_slice(ct, *(start if i == axis else 0 for i in range(len(shape))), sizes=shape),
        )

    def lifted(self, dim: int, **params: Any) -> dict[str, Any]:
        return params | {"axis": shifted((params["axis"],), dim)[0]}

    def resolved(
        self, n: int, x: Any, dim: int | None, *, axis: int, groups: Groups, **params: Any
    ) -> Any:
        def one(n: int, x: Any, dim: int | None) -> tuple[Any, None]:
            return joined(move_batch_dim(n, x, dim, axis), axis), None

        return one(n, x, dim) if groups is None else grouped(n, x, dim, groups, one)


class PSumScatter(Exchange):
    """The sum over all lanes, of which each keeps one of `size` parts along `axis`."""

    name = "psum_scatter"
    kinds = NUMERIC

    def type_rule(self, x: Aval, *, size: int, axis: int, **params: Any) -> Aval:
        self.check(x)
        return resized(x, axis, parted(self.name, x, axis, size))

    def transpose(self, ct: Any, x: Any, **params: Any) -> Any:
        return (all_gather(ct, same=False, **params),)

    lifted = AllGather.lifted

    def resolved(
        self, n: int, x: Any, dim: int | None, *, axis: int, groups: Groups, **params: Any
    ) -> Any:
        def one(n: int, x: Any, dim: int | None) -> tuple[Any, int]:
            return split_axis_of(psum.along(n, x, dim)[0], axis, n), axis

        return one(n, x, dim) if groups is None else grouped(n, x, dim, groups, one)


class AllToAll(Exchange):
    """Part i of `x` along `split` goes to lane i, which joins what it gets along `concat`."""

    name = "all_to_all"
    moves = True

    def type_rule(self, x: Aval, *, size: int, split: int, concat: int, **params: Any) -> Aval:
        small = resized(x, split, parted(self.name, x, split, size))
        return resized(small, concat, small.shape[concat] * size)

    def transpose(self, ct: Any, x: Any, *, split: int, concat: int, **params: Any) -> Any:
        return (self(ct, split=concat, concat=split, **params),)

    def lifted(self, dim: int, **params: Any) -> dict[str, Any]:
        split, concat = shifted((params["split"], params["concat"]), dim)
        return params | {"split": split, "concat": concat}

    def resolved(
        self,
        n: int,
        x: Any,
        dim: int | None,
        *,
        split: int,
        concat: int,
        groups: Groups,
        **params: Any,
    ) -> Any:
        def one(n: int, x: Any, dim: int | None) -> tuple[Any, int]:
            # Axes now: the sender, those up to `split`, the receiver, the others.
            x = split_axis_of(move_batch_dim(n, x, dim, 0), split + 1, n)
            perm = [split + 1]
            for j in range(x.aval.ndim - 2):
                if j == concat:
                    perm.append(0)
                perm.append(j + 1 + (j >= split))
            return joined(transpose(x, perm=tuple(perm)), concat + 1), 0

        return one(n, x, dim) if groups is None else grouped(n, x, dim, groups, one)


def parted(name: str, x: Aval, axis: int, size: int) -> int:
    """The length of one of `size` parts of an axis; raises where they are not equal."""
    if x.shape[axis] % size:
        raise errors.ShapeError(
            f"{name}: axis {axis} of {x.strong()} cannot be cut in {size} equal parts, one for "
            "each lane"
        )
    return x.shape[axis] // size


class PPermute(Exchange):
    """The value of lane i in lane j for the pairs (i, j) of `perm`; zeros where nothing comes."""

    name = "ppermute"
    moves = True

    def type_rule(self, x: Aval, *, perm: Any, **params: Any) -> Aval:
        return x.strong()

    def transpose(self, ct: Any, x: Any, *, perm: Any, **params: Any) -> Any:
        return (self(ct, perm=tuple((j, i) for i, j in perm), **params),)

    def resolved(self, n: int, x: Any, dim: int | None, *, perm: Any, **params: Any) -> Any:
        if dim is None and len(perm) == n:
            return x, None
        sender = {j: i for i, j in perm}
        x = move_batch_dim(n, x, dim, 0)
        return rows(x, [sender.get(j, -1) for j in range(n)]), 0


class PBroadcast(Exchange):
    """The value of lane `source` in every lane."""

    name = "pbroadcast"
    moves = True

    def type_rule(self, x: Aval, *, source: int, **params: Any) -> Aval:
        return x.strong()

    def transpose(self, ct: Any, x: Any, *, source: int, axis_name: Any, tracked: bool) -> Any:
        total = psum(ct, axes=(axis_name,), groups=None, tracked=tracked)
        here = eq(axis_index(axis_name=axis_name, tracked=tracked), source)
        here = broadcast_in_dim(here, shape=total.aval.shape, dims=())
        return (select(here, total, zero_literal(total.aval.dtype)),)

    def resolved(self, n: int, x: Any, dim: int | None, *, source: int, **params: Any) -> Any:
        if dim is None:
            return x, None
        one = cut(x, dim, source, source + 1)
        shape = one.aval.shape
        return reshape(one, shape=(*shape[:dim], *shape[dim + 1 :])), None


class AxisIndex(NonDifferentiable, Collective):
    """The number of the lane, counted from 0, along one axis."""

    name = "axis_index"
    cheap = True
    moves = True

    def type_rule(self, *, axis_name: Any, tracked: bool) -> Aval:
        return Aval((), INDEX)

    def varies(self, over: Any, *, axis_name: Any, tracked: bool) -> Any:
        return frozenset((axis_name,)) if tracked else over

    def vmap(self, size: int, args: Any, dims: Any, **params: Any) -> Any:
        return iota(shape=(size,), dtype=INDEX, axis=0), 0


psum = PSum()
pmax = PMax()
pmin = PMin()
pvary = PVary()
all_gather = AllGather()
psum_scatter = PSumScatter()
all_to_all = AllToAll()
ppermute = PPermute()
pbroadcast = PBroadcast()
axis_index = AxisIndex()


# ----------------------------------------------------------------- values of given types


def varied(x: Any, over: frozenset[Any]) -> Any:
    """`x` as a value that varies over these mesh axes at least."""
    missing = over - x.aval.varying
    return pvary(x, axes=tuple(sorted(missing, key=str))) if missing else x


def matched(ct: Any, aval: Aval) -> Any:
    """A cotangent of a value of this type: it varies over the mesh axes that the value does.

    A value that is the same in all lanes was used by all of them, so it gets the sum.
    """
    surplus = ct.aval.varying - aval.varying
    if surplus:
        axes = tuple(sorted(surplus, key=str))
        ct = psum(ct, axes=axes, groups=None, tracked=True)
    return varied(ct, aval.varying)


handed.varied = varied
