"""Rank, condition, and solutions that exist whatever the rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, logic, reductions
from arrayx.numpy.linalg.decompositions import svdvals
from arrayx.numpy.linalg.norms import norm
from arrayx.numpy.linalg.reading import check_matrix, matrix, narrowing, working_dtype
from arrayx.numpy.linalg.systems import inv
from arrayx.numpy.naming import at_home
from arrayx.numpy.promotion import (
    as_array,
    as_type,
    broadcast_to_shape,
    promoted_arrays,
    scalar_array,
)
from arrayx.numpy.selection import where
from arrayx.numpy.shapes import expand_dims, squeeze
from arrayx.primitives.matrices import guarded_product
from arrayx.primitives.pseudoinverse import pinv as pinv_primitive


def _tolerance(x: Array, rtol: Any, function: str) -> Array:
    """The relative size below which singular values count as 0, one for each matrix."""
    real = dtypes.real_dtype(x.dtype)
    if rtol is None:
        rtol = float(dtypes.finfo(real).eps) * max(x.shape[-2:])
    if not isinstance(rtol, Array | np.ndarray | np.generic):
        rtol = scalar_array(float(rtol), real, False, (x,))
    return broadcast_to_shape(as_type(as_array(rtol, function, "rtol"), real), x.shape[:-2])


def pinv(a: Any, rtol: Any = None, hermitian: bool = False, *, rcond: Any = None) -> Array:
    """The pseudoinverse: singular values up to `rtol` times the largest count as 0.

    `rtol` (NumPy's `rcond` is another name) defaults to eps times the longer side.  `hermitian`
    says something of `a` that changes nothing.

    >>> import arrayx.numpy as anp
    >>> anp.linalg.pinv(anp.array([[2.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    if rtol is not None and rcond is not None:
        raise errors.ArgumentError("pinv: rtol and rcond are the same; give one of them")
    x = matrix(a, "pinv")
    bound = _tolerance(x, rtol if rcond is None else rcond, "pinv")
    return narrowing(a, "pinv")(pinv_primitive(x, bound))


@at_home
def matrix_rank(M: Any, rtol: Any = None, *, hermitian: bool = False, tol: Any = None) -> Array:
    """How many singular values are larger than `tol`, or than `rtol` times the largest.

    >>> import arrayx.numpy as anp
    >>> int(anp.linalg.matrix_rank(anp.ones((3, 3))))
    1
    """
    given = as_array(M, "matrix_rank", "M")
    if given.ndim < 2:
        some = reductions.any(logic.not_equal(given, 0))
        return as_type(some, dtypes.default_int())
    x = matrix(given, "matrix_rank", "M")
    s = svdvals(x)
    if not s.shape[-1]:
        return as_type(reductions.sum(s, -1), dtypes.default_int())
    if tol is None:
        bound = arithmetic.multiply(_tolerance(x, rtol, "matrix_rank"), reductions.max(s, -1))
    else:
        bound = as_array(tol, "matrix_rank", "tol")
    larger = logic.greater(s, expand_dims(bound, -1))
    return reductions.sum(larger, -1, dtype=dtypes.default_int())


def cond(x: Any, p: Any = None) -> Array:
    """The condition number, `norm(x, p) * norm(inv(x), p)`; for None, 2 and -2 by singular values.

    A matrix of zeros has inf.

    >>> import arrayx.numpy as anp
    >>> float(anp.linalg.cond(anp.array([[4.0, 0.0], [0.0, 1.0]])))
    4.0
    """
    a = matrix(x, "cond", "x")
    back = narrowing(x, "cond", "x")
    if p in (None, 2, -2):
        s = svdvals(a)
        if not s.shape[-1]:
            raise errors.ShapeError(f"cond: x of shape {a.shape} has no elements")
        large, small = s[..., 0], s[..., -1]
        found = arithmetic.divide(small, large) if p == -2 else arithmetic.divide(large, small)
        return back(_infinite(found, a))
    check_matrix(a, "cond", "x", square=True)
    axes = (a.ndim - 2, a.ndim - 1)
    sizes = [norm(m, p, axes) for m in (a, inv(a))]
    return back(_infinite(arithmetic.multiply(*sizes), a))


def _infinite(found: Array, a: Array) -> Array:
    """A condition number, but inf in place of the nan that a matrix without nan leads to."""
    lost = logic.logical_and(
        logic.isnan(found), logic.logical_not(reductions.any(logic.isnan(a), (-2, -1)))
    )
    return where(lost, np.inf, found)  # type: ignore[no-any-return]


def lstsq(a: Any, b: Any, rcond: float | None = None, *, numpy_resid: bool = False) -> Any:
    """The shortest `x` for which `a @ x` is closest to `b`: `(x, residuals, rank, s)`.

    `a` is one matrix, `b` a vector or matrix with as many rows.  `residuals` are the squared
    distances, one for each column of `b`; with `numpy_resid` there are none where NumPy gives none,
    which needs a concrete rank.  Singular values up to `rcond` times the largest count as 0.

    >>> import arrayx.numpy as anp
    >>> a = anp.array([[1.0], [1.0]])
    >>> anp.linalg.lstsq(a, anp.array([1.0, 3.0]))[0].round(3).tolist()
    [2.0]
    """
    x, y = promoted_arrays((a, b), "lstsq", ("a", "b"))
    if x.ndim != 2 or y.ndim not in (1, 2) or x.shape[0] != y.shape[0]:
        raise errors.ShapeError(
            f"lstsq: a of shape {x.shape} must be a matrix, and b of shape {y.shape} a vector or "
            "matrix with as many rows"
        )
    back = narrowing(x, "lstsq")
    x, y = (as_type(v, working_dtype(v.dtype)) for v in (x, y))
    vector = y.ndim == 1
    columns = expand_dims(y, 1) if vector else y
    if rcond is not None and rcond < 0:
        rcond = float(dtypes.finfo(x.dtype).eps)
    bound = _tolerance(x, rcond, "lstsq")
    solution = guarded_product(pinv_primitive(x, bound), columns)
    s = svdvals(x)
    rank = matrix_rank(x, bound)
    m, n = x.shape
    distance = arithmetic.subtract(columns, guarded_product(x, solution))
    residuals = reductions.sum(arithmetic.square(arithmetic.abs(distance)), 0)
    if numpy_resid and (m <= n or int(rank) < n):
        residuals = residuals[:0]
    result = squeeze(solution, 1) if vector else solution
    return back(result), back(residuals), rank, back(s)
