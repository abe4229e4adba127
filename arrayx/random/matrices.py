"""Random vectors with a covariance, and random orthogonal matrices."""

from __future__ import annotations

import operator
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, transcendental
from arrayx.numpy.contraction import matmul
from arrayx.numpy.diagonals import diagonal
from arrayx.numpy.linalg import cholesky, eigh, qr, svd
from arrayx.numpy.promotion import broadcast_shapes
from arrayx.numpy.shapes import expand_dims, squeeze, swapaxes
from arrayx.random.arguments import checked_dtype, checked_shape, float_dtype, parameter, spread
from arrayx.random.continuous import normal, real_normal
from arrayx.random.keys import one_key

METHODS = ("cholesky", "eigh", "svd")


def multivariate_normal(
    key: Any, mean: Any, cov: Any, shape: Any = None, dtype: Any = None, method: str = "cholesky"
) -> Array:
    """Normal random vectors with mean `mean` and covariance matrices `cov`.

    Args:
        key: a random key.
        mean: vectors along the last axis.
        cov: positive semidefinite matrices on the last two axes.
        shape: the shape without the vectors, by default what `mean` and `cov` give.
        dtype: a floating dtype.
        method: the factorisation of `cov`: "cholesky" (positive definite ones only, others give
            nan), "eigh" or "svd".

    >>> import arrayx as ax, numpy as np
    >>> mean, cov = np.zeros(2, np.float32), np.eye(2, dtype=np.float32)
    >>> ax.random.multivariate_normal(ax.random.key(0), mean, cov, (3,)).shape
    (3, 2)
    """
    one, _ = one_key("multivariate_normal", key)
    dtype = float_dtype("multivariate_normal", dtype)
    if method not in METHODS:
        raise errors.ArgumentError(
            f"multivariate_normal: method must be one of {', '.join(map(repr, METHODS))}, got "
            f"{method!r}"
        )
    mean, cov = (
        parameter(x, "multivariate_normal", name, dtype, one)
        for x, name in ((mean, "mean"), (cov, "cov"))
    )
    length = mean.aval.shape[-1:]
    if not length or cov.aval.shape[-2:] != length * 2:
        raise errors.ShapeError(
            "multivariate_normal: mean must hold vectors of some length n, and cov matrices of "
            f"shape (n, n); got shapes {mean.aval.shape} and {cov.aval.shape}"
        )
    inner = mean.aval.shape[:-1], cov.aval.shape[:-2]
    if shape is None:
        shape = broadcast_shapes(*inner)
    else:
        shape = checked_shape("multivariate_normal", shape, *inner)
    if method == "cholesky":
        factor = cholesky(cov)
    elif method == "eigh":
        values, vectors = eigh(cov)
        factor = arithmetic.multiply(vectors, expand_dims(transcendental.sqrt(values), -2))
    else:
        left, values, _ = svd(cov)
        factor = arithmetic.multiply(left, expand_dims(transcendental.sqrt(values), -2))
    draws = expand_dims(real_normal(one, (*shape, *length), dtype), -1)
    return arithmetic.add(spread(mean, (*shape, *length)), squeeze(matmul(factor, draws), -1))


def orthogonal(key: Any, n: int, shape: Any = (), dtype: Any = None, m: int | None = None) -> Array:
    """Random matrices with orthonormal columns or rows, uniform among them (Mezzadri, 2007).

    Args:
        key: a random key.
        n: the number of rows.
        shape: the shape in front of the matrices.
        dtype: floating, or complex for unitary ones.
        m: the number of columns, `n` by default.

    >>> import arrayx as ax
    >>> ax.random.orthogonal(ax.random.key(0), 3).shape
    (3, 3)
    """
    one, _ = one_key("orthogonal", key)
    dtype = checked_dtype("orthogonal", dtype, ("float", "complex"), dtypes.default_float())
    shape = checked_shape("orthogonal", shape)
    sizes = []
    for name, size in (("n", n), ("m", n if m is None else m)):
        try:
            sizes.append(operator.index(size))
        except TypeError:
            raise errors.ArgumentError(
                f"orthogonal: {name} must be a Python integer, got {size!r}"
            ) from None
    rows, columns = sizes
    tall, narrow = max(rows, columns), min(rows, columns)
    q, r = qr(normal(one, (*shape, tall, narrow), dtype))
    signs = diagonal(r, 0, -2, -1)
    signs = arithmetic.divide(signs, arithmetic.abs(signs))
    q = arithmetic.multiply(q, expand_dims(signs, -2))
    return q if rows >= columns else swapaxes(q, -2, -1)
