"""Functions of stacks of matrices that the rules of factorisations are written in.

Every function works on the last two axes; the axes before them are a batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.aval import Aval, Shape
from arrayx.primitives.arithmetic import add, eq, gt, select
from arrayx.primitives.axes import broadcast_in_dim, move_batch_dim, reduce_sum, transpose
from arrayx.primitives.complex import complex as from_parts
from arrayx.primitives.complex import conj, real
from arrayx.primitives.contraction import derivative_dot, dot_general, guarded_dot
from arrayx.primitives.creation import fill, iota, zero_literal
from arrayx.primitives.gather import GatherDims, gather
from arrayx.primitives.slicing import cut

INDEX = np.dtype(np.int32)
# What LAPACK computes in.
DTYPES = frozenset(map(np.dtype, ("float32", "float64", "complex64", "complex128")))


def check_matrices(name: str, x: Aval, square: bool = False) -> Aval:
    """The strong type of an operand of matrices; raises where it is none."""
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        which = "square matrices" if square else "matrices"
        raise errors.ShapeError(f"{name} needs {which} in the last two axes, got {x}")
    if x.dtype not in DTYPES:
        names = ", ".join(sorted(map(str, DTYPES)))
        raise errors.DtypeError(f"{name} is not defined for {x}; it takes {names}")
    return x.strong()


def is_complex(x: Any) -> bool:
    """Whether an array has complex elements."""
    return dtypes.kind(x.aval.dtype) == "complex"


def batch_axes(x: Any) -> tuple[int, ...]:
    """The axes before the last two."""
    return tuple(range(x.aval.ndim - 2))


def product(x: Any, y: Any) -> Any:
    """The matrix product of stacks with equal batches."""
    n = x.aval.ndim
    paired = batch_axes(x)
    return dot_general(
        x, y, contracting=((n - 1,), (n - 2,)), batch=(paired, paired), precision=None
    )


def absorbing_product(x: Any, y: Any) -> Any:
    """The same for derivatives: rows and columns of zeros stay zero, whatever they meet."""
    n = x.aval.ndim
    paired = batch_axes(x)
    return derivative_dot()(
        x, y, contracting=((n - 1,), (n - 2,)), batch=(paired, paired), precision=None
    )


def guarded_product(x: Any, y: Any) -> Any:
    """The product where a factor may be inf or nan: that does no harm to other branches."""
    n = x.aval.ndim
    paired = batch_axes(x)
    return guarded_dot(
        x, y, contracting=((n - 1,), (n - 2,)), batch=(paired, paired), precision=None
    )


def turned(x: Any) -> Any:
    """The transposed matrices."""
    n = x.aval.ndim
    return transpose(x, perm=(*range(n - 2), n - 1, n - 2))


def conjugate(x: Any) -> Any:
    """The complex conjugate; real arrays as they are."""
    return conj(x) if is_complex(x) else x


def adjoint(x: Any) -> Any:
    """The conjugate of the transposed matrices."""
    return conjugate(turned(x))


def counts(shape: Shape) -> tuple[Any, Any]:
    """The number of the row and that of the column, in every element."""
    n = len(shape)
    return tuple(iota(shape=shape, dtype=INDEX, axis=axis) for axis in (n - 2, n - 1))  # type: ignore[return-value]


def on_diagonal(shape: Shape) -> Any:
    """True on the diagonal."""
    return eq(*counts(shape))


def triangle(x: Any, lower: bool, strict: bool = False) -> Any:
    """The elements of one triangle, with zeros elsewhere; `strict` leaves the diagonal out."""
    rows, columns = counts(x.aval.shape)
    zero = zero_literal(x.aval.dtype)
    if strict:
        which = gt(rows, columns) if lower else gt(columns, rows)
        return select(which, x, zero)
    outside = gt(columns, rows) if lower else gt(rows, columns)
    return select(outside, zero, x)


def of_lower(x: Any) -> Any:
    """The Hermitian matrices whose lower triangle is that of `x`; of its diagonal the real part."""
    below = triangle(x, lower=True, strict=True)
    middle = select(on_diagonal(x.aval.shape), x, zero_literal(x.aval.dtype))
    if is_complex(x):
        middle = from_parts(real(middle), 0.0)
    return add(add(below, adjoint(below)), middle)


def identity(shape: Shape, dtype: Any) -> Any:
    """Ones on the diagonal, zeros elsewhere."""
    zero = zero_literal(dtype)
    return select(on_diagonal(shape), fill(shape, dtype, type(zero)(1)), zero)


def with_diagonal(x: Any, value: Any) -> Any:
    """`x` with a literal on its diagonal."""
    return select(on_diagonal(x.aval.shape), value, x)


def diagonal(x: Any) -> Any:
    """The elements of the diagonal, as the last axis."""
    shape = x.aval.shape
    k = min(shape[-2:])
    x = cut(cut(x, len(shape) - 2, 0, k), len(shape) - 1, 0, k)
    chosen = select(on_diagonal(x.aval.shape), x, zero_literal(x.aval.dtype))
    return reduce_sum(chosen, axes=(len(shape) - 2,))


def along_columns(v: Any, shape: Shape) -> Any:
    """Vectors repeated in every row: one element for each column."""
    n = len(shape)
    return broadcast_in_dim(v, shape=shape, dims=(*range(n - 2), n - 1))


def along_rows(v: Any, shape: Shape) -> Any:
    """Vectors repeated in every column: one element for each row."""
    return broadcast_in_dim(v, shape=shape, dims=tuple(range(len(shape) - 1)))


def along_matrices(x: Any, shape: Shape) -> Any:
    """Numbers repeated in every element of their matrix."""
    return broadcast_in_dim(x, shape=shape, dims=tuple(range(len(shape) - 2)))


def rows_at(x: Any, places: Any) -> Any:
    """The rows of each matrix at its own vector of `places`, which are known to be inside."""
    batch = batch_axes(x)
    n = len(batch)
    dims = GatherDims((n + 1,), (n,), (n,), batch, batch)
    shape = x.aval.shape
    sizes = (*(min(1, m) for m in shape[:-1]), shape[-1])
    indices = broadcast_in_dim(
        places, shape=(*places.aval.shape, 1), dims=tuple(range(places.aval.ndim))
    )
    return gather(x, indices, dims=dims, sizes=sizes, mode="promise", fill=None)


def to_front(size: int, args: Any, dims: Any) -> list[Any]:
    """Arrays with their batch axis in front, where factorisations expect it."""
    return [move_batch_dim(size, x, d, 0) for x, d in zip(args, dims, strict=True)]
