"""Products that sum over axes, and what is made of diagonals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.lazy import lazy
from arrayx.numpy import arithmetic
from arrayx.numpy.creation import diagonal_mask
from arrayx.numpy.promotion import (
    LITERALS,
    as_array,
    as_type,
    broadcast_shapes,
    broadcast_to_shape,
    check_axis,
    placed_like,
    promoted_arrays,
)
from arrayx.numpy.reductions import sum
from arrayx.numpy.shapes import concatenate, expand_dims, moveaxis, ravel, reshape, transpose
from arrayx.numpy.transcendental import conj
from arrayx.primitives.arithmetic import select
from arrayx.primitives.contraction import dot_general

opt_einsum = lazy("opt_einsum")
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
    target = None if preferred is None else dtypes.as_dtype(preferred)
    if target is not None and target is not x.dtype:
        wide = (
            dtypes.as_dtype(np.promote_types(x.dtype, target))
            if _plain(x.dtype, target)
            else target
        )
        x, y = as_type(x, wide), as_type(y, wide)
    result = dot_general(
        x, y, contracting=contracting, batch=batch, precision=precision_name(precision)
    )
    return result if target is None else as_type(result, target)


def _plain(*given: Any) -> bool:
    return all(d.kind in "iufcb" for d in given)


def _both(a: Any, b: Any, function: str) -> list[Array]:
    return promoted_arrays((a, b), function, ("a", "b"))


def dot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The sum over the last axis of `a` and the last but one (or only) axis of `b`.

    >>> float(dot(np.array([1.0, 2.0]), np.array([3.0, 4.0])))
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

    >>> matmul(np.eye(2), np.array([3.0, 4.0])).tolist()
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


def vdot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The sum of the products of the elements of two flattened arrays, `a` conjugated.

    >>> complex(vdot(np.array([1j]), np.array([1j])))
    (1+0j)
    """
    return dot(
        conj(ravel(as_array(a, "vdot", "a"))),
        ravel(as_array(b, "vdot", "b")),
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


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

    >>> vecdot(np.ones((2, 3)), np.ones(3)).tolist()
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


def inner(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The sum of products over the last axes.

    >>> float(inner(np.array([1.0, 2.0]), np.array([3.0, 4.0])))
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


def outer(a: Any, b: Any, out: None = None) -> Array:
    """All products of an element of `a` with one of `b`, both flattened.

    >>> outer(np.array([1, 2]), np.array([3, 4])).tolist()
    [[3, 4], [6, 8]]
    """
    x, y = _both(a, b, "outer")
    return arithmetic.multiply(expand_dims(ravel(x), 1), expand_dims(ravel(y), 0))


def tensordot(
    a: Any, b: Any, axes: Any = 2, *, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """The sum over axes of `a` and `b`: the last and first so many, or two lists of axes.

    >>> float(tensordot(np.ones((2, 3)), np.ones((2, 3))))
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


def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    out: None = None,
    optimize: Any = "optimal",
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Sums of products by Einstein's convention: `"ij,jk->ik"` is a matrix product.

    More than two operands are contracted in the cheapest order that opt_einsum finds.

    >>> einsum("ij,j->i", np.eye(2), np.array([3.0, 4.0])).tolist()
    [3.0, 4.0]
    """
    if not isinstance(subscripts, str):
        operands = (subscripts, *operands)
        text, out_text, operands = opt_einsum.parser.parse_einsum_input(
            [o if isinstance(o, Sequence) else as_array(o, "einsum") for o in operands]
        )
        subscripts = f"{text}->{out_text}"
    arrays = [as_array(o, "einsum", f"operands[{i}]") for i, o in enumerate(operands)]
    try:
        text, out_text, _ = opt_einsum.parser.parse_einsum_input(
            [subscripts, *(_Shaped(a.shape) for a in arrays)]
        )
    except ValueError as error:
        raise errors.ArgumentError(f"einsum {subscripts!r}: {error}") from None
    names = [f"operands[{i}]" for i in range(len(arrays))]
    arrays = promoted_arrays(arrays, "einsum", names)
    terms = text.split(",")
    sizes: dict[str, int] = {}
    for term, x in zip(terms, arrays, strict=True):
        if len(term) != x.ndim:
            raise errors.ShapeError(f"einsum {subscripts!r}: {term!r} does not fit {x.shape}")
        for letter, n in zip(term, x.shape, strict=True):
            if sizes.setdefault(letter, n) != n:
                if 1 not in (n, sizes[letter]):
                    raise errors.ShapeError(
                        f"einsum {subscripts!r}: {letter!r} has lengths {sizes[letter]} and {n}"
                    )
                sizes[letter] = max(n, sizes[letter])
    work = [_plain_term(t, x, sizes) for t, x in zip(terms, arrays, strict=True)]
    for pair in _order(work, out_text, sizes, optimize):
        picked = [work.pop(i) for i in sorted(pair, reverse=True)]
        rest = set(out_text).union(*(t for t, _ in work))
        work.append(_together(picked[::-1], rest, precision, preferred_element_type))
    (term, x) = work[0]
    term, x = _summed(term, x, set(out_text))
    result = transpose(x, tuple(term.index(c) for c in out_text)) if term != out_text else x
    return (
        result
        if preferred_element_type is None
        else as_type(result, dtypes.as_dtype(preferred_element_type))
    )


class _Shaped:
    """What opt_einsum needs to know of an operand."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape
        self.ndim = len(shape)


def _order(work: Any, out: str, sizes: dict[str, int], optimize: Any) -> Any:
    count = len(work)
    if count == 1:
        return []
    if count == 2:
        return [(0, 1)]
    if optimize is False:
        return [(0, 1)] + [(0, count - 2 - k) for k in range(count - 2)]
    if isinstance(optimize, list | tuple):
        return [p for p in optimize if not isinstance(p, str)]
    kind = "optimal" if optimize is True else optimize
    if kind == "optimal" and count > 6:
        kind = "auto"
    path, _ = opt_einsum.contract_path(
        ",".join(t for t, _ in work) + "->" + out,
        *[tuple(sizes[c] for c in t) for t, _ in work],
        shapes=True,
        optimize=kind,
    )
    return path


def _plain_term(term: str, x: Array, sizes: dict[str, int]) -> tuple[str, Array]:
    """An operand without repeated letters: those are its diagonals."""
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            i = term.index(letter)
            j = term.index(letter, i + 1)
            x = diagonal(x, 0, i, j)
            term = term[:i] + term[i + 1 : j] + term[j + 1 :] + letter
    # Length 1 stands for any: it is left out where another operand is longer.
    gone = [i for i, c in enumerate(term) if x.shape[i] != sizes[c]]
    if gone:
        x = reshape(x, tuple(n for i, n in enumerate(x.shape) if i not in gone))
        term = "".join(c for i, c in enumerate(term) if i not in gone)
    return term, x


def _summed(term: str, x: Array, keep: set[str]) -> tuple[str, Array]:
    gone = tuple(i for i, c in enumerate(term) if c not in keep)
    if not gone:
        return term, x
    return "".join(c for c in term if c in keep), sum(x, gone, x.dtype)


def _together(
    picked: list[tuple[str, Array]], rest: set[str], precision: Any, preferred: Any
) -> tuple[str, Array]:
    if len(picked) == 1:
        return _summed(*picked[0], rest)
    (s, x), (t, y), *more = picked
    both = rest.union(*(m for m, _ in more))
    s, x = _summed(s, x, both | set(t))
    t, y = _summed(t, y, both | set(s))
    shared = [c for c in s if c in t]
    batch = [c for c in shared if c in both]
    summed = [c for c in shared if c not in both]
    result = contracted(
        x,
        y,
        (tuple(s.index(c) for c in summed), tuple(t.index(c) for c in summed)),
        (tuple(s.index(c) for c in batch), tuple(t.index(c) for c in batch)),
        precision,
        preferred,
    )
    term = "".join([*batch, *(c for c in s if c not in shared), *(c for c in t if c not in shared)])
    if more:
        return _together([(term, as_type(result, x.dtype)), *more], rest, precision, preferred)
    return term, result


# ----------------------------------------------------------------- diagonals and products


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The diagonal number `offset` of the matrices in two axes, as a new last axis.

    >>> diagonal(np.arange(4).reshape(2, 2)).tolist()
    [0, 3]
    """
    x = as_array(a, "diagonal", "a")
    if x.ndim < 2:
        raise errors.ShapeError(f"diagonal needs at least 2 dimensions, got shape {x.shape}")
    i, j = check_axis(axis1, x.ndim, "diagonal"), check_axis(axis2, x.ndim, "diagonal")
    if i == j:
        raise errors.AxisError("diagonal: the two axes are the same")
    x = moveaxis(x, (i, j), (-2, -1))
    rows, columns = x.shape[-2:]
    down, right = max(-offset, 0), max(offset, 0)
    count = max(0, min(rows - down, columns - right))
    places = np.arange(count)
    return x[..., places + down, places + right]  # type: ignore[index]


def diag(v: Any, k: int = 0) -> Array:
    """The diagonal number `k` of a matrix, or the matrix that has a vector as that diagonal.

    >>> diag(np.array([1, 2])).tolist()
    [[1, 0], [0, 2]]
    """
    x = as_array(v, "diag", "v")
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise errors.ShapeError(f"diag takes a vector or a matrix, got shape {x.shape}")
    n = x.shape[0] + abs(k)
    zero = LITERALS[dtypes.kind(x.dtype)](0)
    if k:
        with placed_like(x):
            empty = broadcast_to_shape(as_type(as_array(zero), x.dtype), (abs(k),))
        x = concatenate([empty, x] if k > 0 else [x, empty])
    with placed_like(x):
        mask = diagonal_mask((n, n), k)
    return select(mask, broadcast_to_shape(x, (n, n)), zero)  # type: ignore[no-any-return]


def diagflat(v: Any, k: int = 0) -> Array:
    """`diag` of the flattened array.

    >>> diagflat(np.array([[1, 2]])).tolist()
    [[1, 0], [0, 2]]
    """
    return diag(ravel(as_array(v, "diagflat", "v")), k)


def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None
) -> Array:
    """The sum of the diagonal.

    >>> float(trace(np.eye(3)))
    3.0
    """
    return sum(diagonal(a, offset, axis1, axis2), -1, dtype)


def kron(a: Any, b: Any) -> Array:
    """The Kronecker product: each element of `a` replaced by its product with `b`.

    >>> kron(np.array([1, 2]), np.array([1, 1])).tolist()
    [1, 1, 2, 2]
    """
    x, y = _both(a, b, "kron")
    n = max(x.ndim, y.ndim)
    left, right = ((1,) * (n - v.ndim) + v.shape for v in (x, y))
    wide_x = reshape(x, tuple(m for s in left for m in (s, 1)))
    wide_y = reshape(y, tuple(m for s in right for m in (1, s)))
    shape = tuple(p * q for p, q in zip(left, right, strict=True))
    return reshape(arithmetic.multiply(wide_x, wide_y), shape)


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """The vector product along an axis of length 3 (or 2, in the plane).

    >>> cross(np.array([1, 0, 0]), np.array([0, 1, 0])).tolist()
    [0, 0, 1]
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = _both(a, b, "cross")
    x, y = moveaxis(x, axisa, -1), moveaxis(y, axisb, -1)
    lengths = x.shape[-1], y.shape[-1]
    if any(n not in (2, 3) for n in lengths):
        raise errors.ShapeError(f"cross: vectors of length 2 or 3 are taken, got {lengths}")
    mul, sub = arithmetic.multiply, arithmetic.subtract
    p, q = ([v[..., i] for i in range(v.shape[-1])] for v in (x, y))  # type: ignore[index]
    third = sub(mul(p[0], q[1]), mul(p[1], q[0]))
    if lengths == (2, 2):
        return third
    zero = LITERALS[dtypes.kind(x.dtype)](0)
    p3, q3 = (v[2] if len(v) == 3 else zero for v in (p, q))
    first = sub(mul(p[1], q3), mul(p3, q[1]))
    second = sub(mul(p3, q[0]), mul(p[0], q3))
    parts = [expand_dims(v, -1) for v in (first, second, third)]
    return moveaxis(concatenate(parts, -1), -1, axisc)
