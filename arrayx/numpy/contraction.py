"""Products that sum over axes, and what is made of diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic
from arrayx.numpy.composing import composed
from arrayx.numpy.promotion import (
    as_array,
    as_type,
    broadcast_shapes,
    broadcast_to_shape,
    check_axis,
    promoted_arrays,
)
from arrayx.numpy.shapes import expand_dims, moveaxis, ravel
from arrayx.numpy.transcendental import conj
from arrayx.primitives.contraction import dot_general

Axes = tuple[int, ...]


def precision_name(precision: Any) -> str | None:
    """The name of a precision: "default", "high", "highest", or None."""
    if precision is None:
        return None
    if isinstance(precision, tuple | list):
        precision = precision[0]
    return str(getattr(precision, "name", precision)).lower()


def contracted(
    x: Array,
    y: Array,
    contracting: tuple[Axes, Axes],
    batch: tuple[Axes, Axes] = ((), ()),
    precision: Any = None,
    preferred: Any = None,
) -> Array:
    """`dot_general` of two arrays of one dtype, the result in a preferred dtype if given."""
    x, y, target = preferred_pair(x, y, preferred)
    result = dot_general(
        x, y, contracting=contracting, batch=batch, precision=precision_name(precision)
    )
    return result if target is None else as_type(result, target)


def preferred_pair(x: Array, y: Array, preferred: Any) -> tuple[Array, Array, Any]:
    """Operands in a dtype in which a preferred result is exact, and that result's dtype."""
    target: Any = None if preferred is None else dtypes.as_dtype(preferred)
    if target is not None and target is not x.dtype:
        wide = (
            dtypes.as_dtype(np.promote_types(x.dtype, target))
            if _plain(x.dtype, target)
            else target
        )
        x, y = as_type(x, wide), as_type(y, wide)
    return x, y, target


def _plain(*given: Any) -> bool:
    return all(d.kind in "iufcb" for d in given)


def _both(a: Any, b: Any, function: str) -> list[Array]:
    return promoted_arrays((a, b), function, ("a", "b"))


def dot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The sum over the last axis of `a` and the last but one (or only) axis of `b`.

    >>> import arrayx.numpy as anp
    >>> float(anp.dot(anp.array([1.0, 2.0]), anp.array([3.0, 4.0])))
    11.0
    """
    x, y = _both(a, b, "dot")
    if x.ndim == 0 or y.ndim == 0:
        return arithmetic.multiply(x, y)
    j = max(y.ndim - 2, 0)
    if x.shape[-1] != y.shape[j]:
        raise errors.ShapeError(
            f"dot: axis {x.ndim - 1} of a (shape {x.shape}) and axis {j} of b (shape {y.shape}) "
            f"differ in length: {x.shape[-1]} and {y.shape[j]}. Transpose an operand (b.T), or "
            "name the axes with anp.tensordot or anp.einsum"
        )
    return contracted(
        x, y, ((x.ndim - 1,), (j,)), precision=precision, preferred=preferred_element_type
    )


def matmul(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The matrix product; axes before the last two are paired and broadcast.

    A vector on the left is a row, on the right a column, and its axis goes away.

    >>> import arrayx.numpy as anp
    >>> anp.matmul(anp.eye(2), anp.array([3.0, 4.0])).tolist()
    [3.0, 4.0]
    """
    x, y = _both(a, b, "matmul")
    for name, operand in (("a", x), ("b", y)):
        if operand.ndim == 0:
            raise errors.ShapeError(
                f"matmul: {name} has rank 0; a product with a number is anp.multiply"
            )
    j = max(y.ndim - 2, 0)
    if x.shape[-1] != y.shape[j]:
        raise errors.ShapeError(
            f"matmul: the last axis of a (shape {x.shape}) and axis {j} of b (shape {y.shape}) "
            f"differ in length: {x.shape[-1]} and {y.shape[j]}. Transpose an operand (b.mT), or "
            "name the axes with anp.einsum"
        )
    options = {"precision": precision, "preferred": preferred_element_type}
    batch_x, batch_y = x.shape[:-2], y.shape[:-2]
    if not batch_y or not batch_x:
        result = contracted(x, y, ((x.ndim - 1,), (j,)), **options)
        if batch_y and x.ndim == 2:
            # The rows of x come first; they belong after the batch.
            result = moveaxis(result, 0, -2)
        return result
    shape = broadcast_shapes(batch_x, batch_y)
    x = broadcast_to_shape(x, (*shape, *x.shape[-2:]))
    y = broadcast_to_shape(y, (*shape, *y.shape[-2:]))
    n = len(shape)
    paired = tuple(range(n))
    return contracted(x, y, ((n + 1,), (n,)), (paired, paired), **options)


@composed
def vdot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The sum of the products of the elements of two flattened arrays, `a` conjugated.

    >>> import arrayx.numpy as anp
    >>> complex(anp.vdot(anp.array([1j]), anp.array([1j])))
    (1+0j)
    """
    return dot(
        conj(ravel(as_array(a, "vdot", "a"))),
        ravel(as_array(b, "vdot", "b")),
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


@composed
def vecdot(
    x1: Any,
    x2: Any,
    /,
    *,
    axis: int = -1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """The sum of products along one axis, `x1` conjugated; the others are broadcast.

    >>> import arrayx.numpy as anp
    >>> anp.vecdot(anp.ones((2, 3)), anp.ones(3)).tolist()
    [3.0, 3.0]
    """
    x, y = promoted_arrays((x1, x2), "vecdot", ("x1", "x2"))
    x, y = (moveaxis(v, check_axis(axis, v.ndim, "vecdot"), -1) for v in (x, y))
    if x.shape[-1] != y.shape[-1]:
        raise errors.ShapeError(f"vecdot: lengths {x.shape[-1]} and {y.shape[-1]} differ")
    shape = broadcast_shapes(x.shape[:-1], y.shape[:-1])
    n = len(shape)
    x, y = (broadcast_to_shape(v, (*shape, v.shape[-1])) for v in (conj(x), y))
    paired = tuple(range(n))
    return contracted(x, y, ((n,), (n,)), (paired, paired), precision, preferred_element_type)


@composed
def inner(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The sum of products over the last axes.

    >>> import arrayx.numpy as anp
    >>> float(anp.inner(anp.array([1.0, 2.0]), anp.array([3.0, 4.0])))
    11.0
    """
    x, y = _both(a, b, "inner")
    if x.ndim == 0 or y.ndim == 0:
        return arithmetic.multiply(x, y)
    if x.shape[-1] != y.shape[-1]:
        raise errors.ShapeError(
            f"inner: the last axes of shapes {x.shape} and {y.shape} differ in length"
        )
    axes = (x.ndim - 1,), (y.ndim - 1,)
    return contracted(x, y, axes, precision=precision, preferred=preferred_element_type)


@composed
def outer(a: Any, b: Any, out: None = None) -> Array:
    """All products of an element of `a` with one of `b`, both flattened.

    >>> import arrayx.numpy as anp
    >>> anp.outer(anp.array([1, 2]), anp.array([3, 4])).tolist()
    [[3, 4], [6, 8]]
    """
    x, y = _both(a, b, "outer")
    return arithmetic.multiply(expand_dims(ravel(x), 1), expand_dims(ravel(y), 0))


@composed
def tensordot(
    a: Any, b: Any, axes: Any = 2, *, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """The sum over axes of `a` and `b`: the last and first so many, or two lists of axes.

    >>> import arrayx.numpy as anp
    >>> float(anp.tensordot(anp.ones((2, 3)), anp.ones((2, 3))))
    6.0
    """
    x, y = _both(a, b, "tensordot")
    if hasattr(axes, "__index__"):
        n = axes.__index__()
        if n > min(x.ndim, y.ndim):
            raise errors.ShapeError(f"tensordot: {n} axes of shapes {x.shape} and {y.shape}")
        pair = tuple(range(x.ndim - n, x.ndim)), tuple(range(n))
    else:
        left, right = axes
        left = [left] if hasattr(left, "__index__") else list(left)
        right = [right] if hasattr(right, "__index__") else list(right)
        if len(left) != len(right):
            raise errors.ShapeError(f"tensordot: axes {axes} are not pairs")
        pair = (
            tuple(check_axis(i, x.ndim, "tensordot") for i in left),
            tuple(check_axis(i, y.ndim, "tensordot") for i in right),
        )
    for i, j in zip(*pair, strict=True):
        if x.shape[i] != y.shape[j]:
            raise errors.ShapeError(
                f"tensordot: axis {i} of shape {x.shape} and axis {j} of shape {y.shape} differ"
            )
    return contracted(x, y, pair, precision=precision, preferred=preferred_element_type)


# ----------------------------------------------------------------- einsum


# ----------------------------------------------------------------- diagonals and products


def _rank(x: Array, least: int, function: str, argument: str) -> None:
    if x.ndim < least:
        what = "a matrix" if least == 2 else "a vector"
        raise errors.ShapeError(f"{function}: {argument} must be {what}, got shape {x.shape}")


@composed
def matvec(x1: Any, x2: Any, /) -> Array:
    """The product of matrices, in the last two axes of `x1`, with vectors, in the last of `x2`.

    >>> import arrayx.numpy as anp
    >>> anp.matvec(anp.ones((4, 2, 3)), anp.ones(3)).shape
    (4, 2)
    """
    x, y = _both(x1, x2, "matvec")
    _rank(x, 2, "matvec", "x1")
    _rank(y, 1, "matvec", "x2")
    return matmul(x, expand_dims(y, -1))[..., 0]


@composed
def vecmat(x1: Any, x2: Any, /) -> Array:
    """The product of conjugated vectors, in the last axis of `x1`, with matrices.

    >>> import arrayx.numpy as anp
    >>> anp.vecmat(anp.ones(3), anp.ones((4, 3, 2))).shape
    (4, 2)
    """
    x, y = _both(x1, x2, "vecmat")
    _rank(x, 1, "vecmat", "x1")
    _rank(y, 2, "vecmat", "x2")
    return matmul(conj(expand_dims(x, -2)), y)[..., 0, :]
