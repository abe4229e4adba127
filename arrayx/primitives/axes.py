"""Moving, making and summing axes; each adjoint pair stands together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array, typeof
from arrayx.core.aval import Aval, Shape
from arrayx.primitives.families import NUMERIC, Linear, handed


def distinct_axes(axes: Sequence[int], ndim: int) -> bool:
    """True if these are different axes of an array of rank `ndim`."""
    return len(set(axes)) == len(axes) and all(0 <= a < ndim for a in axes)


def shifted(axes: Sequence[int], batch_dim: int) -> tuple[int, ...]:
    """Axes of an array as axes of the same array with a batch axis put in."""
    return tuple(a + (a >= batch_dim) for a in axes)


def inverse(perm: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes `perm`."""
    result = [0] * len(perm)
    for i, p in enumerate(perm):
        result[p] = i
    return tuple(result)


class BroadcastInDim(Linear):
    """`x` repeated to `shape`: axis i of `x` becomes axis `dims[i]`, the others are new.

    An axis of `x` has its new length already, or length 1; `dims` increases strictly.
    """

    name = "broadcast_in_dim"
    moves = True
    cheap = True

    def type_rule(self, x: Aval, *, shape: Shape, dims: tuple[int, ...]) -> Aval:
        fits = (
            len(dims) == x.ndim
            and distinct_axes(dims, len(shape))
            and list(dims) == sorted(dims)
            and all(n in (1, shape[d]) for n, d in zip(x.shape, dims, strict=True))
        )
        if not fits:
            raise errors.ShapeError(f"broadcast_in_dim cannot turn {x} into {shape} by {dims}")
        return x.update(shape=shape)

    def transpose(self, ct: Any, x: Any, *, shape: Shape, dims: tuple[int, ...]) -> Any:
        ones = [d for n, d in zip(x.aval.shape, dims, strict=True) if n == 1 and shape[d] != 1]
        axes = tuple(sorted({*range(len(shape))} - {*dims} | {*ones}))
        summed = reduce_sum(ct, axes=axes) if axes else ct
        return (reshape(summed, shape=x.aval.shape) if ones else summed,)

    def vmap(self, size: int, args: Any, batch: Any, *, shape: Shape, dims: tuple[int, ...]) -> Any:
        x = move_batch_dim(size, args[0], batch[0], 0)
        return self(x, shape=(size, *shape), dims=(0, *(a + 1 for a in dims))), 0


class ReduceSum(Linear):
    """Sum of the elements of `x` over `axes`, which the result drops.

    16-bit floats are added up in float32.
    """

    name = "reduce_sum"

    def type_rule(self, x: Aval, *, axes: tuple[int, ...]) -> Aval:
        if dtypes.kind(x.dtype) not in NUMERIC:
            raise errors.DtypeError(f"reduce_sum cannot add up {x}")
        return dropped(self.name, x, axes)

    def transpose(self, ct: Any, x: Any, *, axes: tuple[int, ...]) -> Any:
        shape = x.aval.shape
        kept = tuple(i for i in range(len(shape)) if i not in axes)
        return (broadcast_in_dim(ct, shape=shape, dims=kept),)

    def vmap(self, size: int, args: Any, dims: Any, *, axes: tuple[int, ...]) -> Any:
        (x,), (d,) = args, dims
        axes = shifted(axes, d)
        return self(x, axes=axes), d - sum(a < d for a in axes)


def dropped(name: str, x: Aval, axes: tuple[int, ...]) -> Aval:
    """The type of a reduction of `x` over `axes`."""
    if not distinct_axes(axes, x.ndim):
        raise errors.AxisError(f"{name} cannot reduce {x} over axes {axes}")
    return x.update(shape=tuple(n for i, n in enumerate(x.shape) if i not in axes))


class Reshape(Linear):
    """The elements of `x` in the same (row-major) order, in another `shape`."""

    name = "reshape"
    moves = True
    cheap = True

    def type_rule(self, x: Aval, *, shape: Shape) -> Aval:
        if math.prod(shape) != x.size or any(n < 0 for n in shape):
            raise errors.ShapeError(f"reshape cannot turn {x} of {x.size} elements into {shape}")
        return x.update(shape=shape)

    def transpose(self, ct: Any, x: Any, *, shape: Shape) -> Any:
        return (self(ct, shape=x.aval.shape),)

    def vmap(self, size: int, args: Any, dims: Any, *, shape: Shape) -> Any:
        x = move_batch_dim(size, args[0], dims[0], 0)
        return self(x, shape=(size, *shape)), 0


class Transpose(Linear):
    """`x` with its axes permuted: axis i of the result is axis `perm[i]` of `x`."""

    name = "transpose"
    moves = True
    cheap = True

    def type_rule(self, x: Aval, *, perm: tuple[int, ...]) -> Aval:
        if len(perm) != x.ndim or not distinct_axes(perm, x.ndim):
            raise errors.AxisError(f"transpose cannot permute the axes of {x} by {perm}")
        return x.update(shape=tuple(x.shape[p] for p in perm))

    # The slot for the linear transpose has the primitive's own name: no conflict, since
    # the operation itself is the instance.
    def transpose(self, ct: Any, x: Any, *, perm: tuple[int, ...]) -> Any:
        return (self(ct, perm=inverse(perm)),)

    def vmap(self, size: int, args: Any, dims: Any, *, perm: tuple[int, ...]) -> Any:
        (x,), (d,) = args, dims
        return self(x, perm=(d, *shifted(perm, d))), 0


class Rev(Linear):
    """`x` with the order of its elements turned around along `axes`."""

    name = "rev"
    moves = True
    cheap = True

    def type_rule(self, x: Aval, *, axes: tuple[int, ...]) -> Aval:
        if not distinct_axes(axes, x.ndim):
            raise errors.AxisError(f"rev cannot turn {x} around along axes {axes}")
        return x

    def transpose(self, ct: Any, x: Any, *, axes: tuple[int, ...]) -> Any:
        return (self(ct, axes=axes),)

    def vmap(self, size: int, args: Any, dims: Any, *, axes: tuple[int, ...]) -> Any:
        return self(args[0], axes=shifted(axes, dims[0])), dims[0]


broadcast_in_dim = BroadcastInDim()
reduce_sum = ReduceSum()
reshape = Reshape()
transpose = Transpose()
rev = Rev()


def move_batch_dim(size: int, x: Any, src: int | None, dst: int) -> Any:
    """`x` with its batch axis at `dst`: moved there, or made by repetition if it has none."""
    if src == dst:
        return x
    aval = x.aval if isinstance(x, Array) else typeof(x)
    if src is None:
        shape = (*aval.shape[:dst], size, *aval.shape[dst:])
        return broadcast_in_dim(x, shape=shape, dims=shifted(range(aval.ndim), dst))
    perm = [i for i in range(aval.ndim) if i != src]
    perm.insert(dst, src)
    return transpose(x, perm=tuple(perm))


def unreduced(x: Any, shape: Shape, axes: Sequence[int]) -> Any:
    """A reduction's result repeated over the axes it had dropped."""
    kept = tuple(i for i in range(len(shape)) if i not in axes)
    return broadcast_in_dim(x, shape=shape, dims=kept)


handed.move_batch_dim = move_batch_dim
