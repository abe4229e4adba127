"""The normal distribution of vectors."""

from __future__ import annotations

import math
from typing import Any

from arrayx import errors
from arrayx.core.array import Array
from arrayx.numpy import transcendental
from arrayx.numpy.diagonals import diagonal
from arrayx.numpy.linalg import cholesky
from arrayx.numpy.promotion import (
    broadcast_shapes,
    broadcast_to_shape,
    inexact,
    promoted_arrays,
)
from arrayx.numpy.reductions import sum
from arrayx.numpy.shapes import expand_dims, squeeze
from arrayx.scipy.linalg import solve_triangular
from arrayx.scipy.stats.distributions import exponential_of


class multivariate_normal:
    """The normal distribution of vectors with a mean and a covariance matrix."""

    @staticmethod
    def logpdf(x: Any, mean: Any, cov: Any, allow_singular: None = None) -> Array:
        """The logarithm of the density of the vectors in the last axis of `x`.

        Args:
            x: vectors of some length n; a scalar where the mean is one.
            mean: a vector, or several, or a number for all elements.
            cov: positive definite matrices of shape (n, n), or a number for the variance.
            allow_singular: not offered; None.

        >>> import arrayx.numpy as anp
        >>> round(float(multivariate_normal.logpdf(anp.zeros(2), anp.zeros(2), anp.eye(2))), 4)
        -1.8379
        """
        name = "multivariate_normal.logpdf"
        if allow_singular is not None:
            raise errors.ArgumentError(f"{name}: allow_singular is not offered")
        x, mean, cov = promoted_arrays((x, mean, cov), name, ("x", "mean", "cov"), inexact)
        half = 0.5 * math.log(2 * math.pi)
        if not mean.shape:
            if cov.shape:
                raise errors.ShapeError(
                    f"{name}: a scalar mean needs a scalar cov, got shape {cov.shape}"
                )
            off = x - mean
            return -0.5 * (off * off / cov + transcendental.log(cov)) - half  # type: ignore[no-any-return]
        n = mean.shape[-1]
        if not cov.shape:
            off = x - mean
            if off.shape[-1] != n:
                raise errors.ShapeError(f"{name}: x of shape {x.shape} holds no vectors of {n}")
            spread = sum(off * off, -1) / cov
            return -0.5 * (spread + n * transcendental.log(cov)) - n * half  # type: ignore[no-any-return]
        if cov.ndim < 2 or cov.shape[-2:] != (n, n) or (x.shape and x.shape[-1] != n):
            raise errors.ShapeError(
                f"{name}: x and mean must hold vectors of one length n, and cov matrices of shape "
                f"(n, n); got shapes {x.shape}, {mean.shape} and {cov.shape}"
            )
        factor = cholesky(cov)
        off = x - mean
        batch = broadcast_shapes(off.shape[:-1], factor.shape[:-2])
        off = expand_dims(broadcast_to_shape(off, (*batch, n)), -1)
        factor = broadcast_to_shape(factor, (*batch, n, n))
        white = squeeze(solve_triangular(factor, off, lower=True), -1)
        volume = sum(transcendental.log(diagonal(factor, 0, -2, -1)), -1)
        return -0.5 * sum(white * white, -1) - n * half - volume  # type: ignore[no-any-return]

    pdf = exponential_of(logpdf, "pdf", "")
