"""The normal distribution of vectors."""

from __future__ import annotations

import math
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, linalg, reductions, transcendental
from arrayx.numpy.contraction import matmul
from arrayx.numpy.creation import asarray
from arrayx.numpy.diagonals import diagonal
from arrayx.numpy.matrices import eye
from arrayx.numpy.promotion import as_type, promoted_arrays
from arrayx.numpy.selection import where
from arrayx.numpy.shapes import expand_dims, reshape, squeeze
from arrayx.scipy.linalg import solve_triangular
from arrayx.scipy.stats.distributions import exponential_of

_LOG_2_PI = math.log(2 * math.pi)


def _parameters(name: str, **given: Any) -> list[Array]:
    """Parameters as floating arrays of one dtype, each of its own shape."""
    arrays = promoted_arrays([asarray(v) for v in given.values()], name, tuple(given))
    return [as_type(a, dtypes.float_for(a.dtype)) for a in arrays]


def _matrix(cov: Array, n: int, name: str) -> Array:
    """A covariance as matrices: a number is that of every component."""
    if cov.ndim == 0:
        return arithmetic.multiply(eye(n, dtype=cov.dtype), cov)
    if cov.ndim == 1 and cov.shape[0] == 1 and n == 1:
        return reshape(cov, (1, 1))
    if cov.ndim < 2 or cov.shape[-2:] != (n, n):
        raise errors.ShapeError(
            f"{name}: the covariance must be a number or a matrix of shape {(n, n)}, got shape "
            f"{cov.shape}"
        )
    return cov


class multivariate_normal:
    """The normal distribution of vectors with a mean and a covariance matrix."""

    @staticmethod
    def logpdf(x: Any, mean: Any = 0, cov: Any = 1, allow_singular: bool | None = None) -> Array:
        """The logarithm of the density at the vectors in the last axis of `x`.

        Args:
            x: points, of shape (..., n); a number is a vector of one component.
            mean: the mean, broadcast against `x`.
            cov: the covariance, of shape (n, n) or (..., n, n); a number is the variance of
                every component.
            allow_singular: take directions without variance out of account, by eigenvalues; else
                the density is nan where the covariance has them.

        >>> import arrayx.numpy as anp
        >>> x = anp.array([0.0, 0.0])
        >>> round(float(multivariate_normal.logpdf(x, x, anp.eye(2))), 4)
        -1.8379
        """
        point, center, spread = _parameters("multivariate_normal.logpdf", x=x, mean=mean, cov=cov)
        difference = arithmetic.subtract(point, center)
        if difference.ndim == 0:
            difference = expand_dims(difference, 0)
        n = difference.shape[-1]
        spread = _matrix(spread, n, "multivariate_normal.logpdf")
        if allow_singular:
            return _by_eigenvalues(difference, spread)
        factor = linalg.cholesky(spread)
        column = expand_dims(difference, -1)
        white = squeeze(solve_triangular(factor, column, lower=True), -1)
        volume = reductions.sum(transcendental.log(diagonal(factor, 0, -2, -1)), -1)
        size = reductions.sum(arithmetic.square(white), -1)
        return -0.5 * size - volume - 0.5 * n * _LOG_2_PI  # type: ignore[no-any-return]

    pdf = exponential_of(
        logpdf,
        "pdf",
        ">>> round(float(multivariate_normal.pdf(0.0, 0.0, 1.0)), 4)\n0.3989",
    )

    @staticmethod
    def entropy(mean: Any = None, cov: Any = 1) -> Array:
        """The entropy in natural units; the mean gives the number of components only.

        >>> import arrayx.numpy as anp
        >>> round(float(multivariate_normal.entropy(cov=anp.eye(2))), 4)
        2.8379
        """
        (spread,) = _parameters("multivariate_normal.entropy", cov=cov)
        center = asarray(0.0 if mean is None else mean)
        n = center.shape[-1] if center.ndim else spread.shape[-1] if spread.ndim else 1
        spread = _matrix(spread, n, "multivariate_normal.entropy")
        return 0.5 * (linalg.slogdet(spread)[1] + n * (1.0 + _LOG_2_PI))  # type: ignore[no-any-return]


def _by_eigenvalues(difference: Array, spread: Array) -> Array:
    values, vectors = linalg.eigh(spread)
    # What rounding leaves of 0, as in the pseudo-inverse.
    factor = {4: 1e3, 8: 1e6}.get(values.dtype.itemsize, 1e3)
    bound = factor * dtypes.finfo(values.dtype).eps * reductions.max(abs(values), -1, keepdims=True)
    counts = values > bound
    safe = where(counts, values, 1.0)
    along = squeeze(matmul(expand_dims(difference, -2), vectors), -2)
    size = reductions.sum(where(counts, arithmetic.square(along) / safe, 0.0), -1)
    volume = reductions.sum(where(counts, transcendental.log(safe), 0.0), -1)
    rank = reductions.sum(as_type(counts, values.dtype), -1)
    return -0.5 * (size + volume + rank * _LOG_2_PI)  # type: ignore[no-any-return]
