"""Densities estimated from points by a sum of normal densities."""

from __future__ import annotations

import math
from typing import Any

from arrayx import errors, random, tree_util
from arrayx.core.array import Array
from arrayx.nn.functions import logsumexp
from arrayx.numpy import arithmetic, creation, matrices, transcendental
from arrayx.numpy.contraction import matmul
from arrayx.numpy.diagonals import diagonal
from arrayx.numpy.linalg import cholesky
from arrayx.numpy.promotion import (
    as_array,
    as_type,
    inexact,
    placed_like,
    promoted_arrays,
)
from arrayx.numpy.reductions import sum
from arrayx.numpy.shapes import atleast_2d, expand_dims, reshape, swapaxes
from arrayx.scipy import special
from arrayx.scipy.linalg import solve_triangular

_PARTS = ("dataset", "weights", "covariance", "inv_cov")


class gaussian_kde:
    """The density of points, estimated by normal densities round each (Scott, 1992).

    Args:
        dataset: points as columns: an array of shape (dimensions, points), or a vector of points
            on the line.
        bw_method: the factor of the points' covariance matrix: "scott" (also None), "silverman",
            a number, or a function of the estimate.
        weights: of the points; equal by default.

    It is a tree of arrays, so it may be an argument of transformed functions.

    >>> import arrayx.numpy as anp
    >>> density = gaussian_kde(anp.array([0.0, 1.0, 2.0]))
    >>> round(float(density(1.0)[0]), 3)
    0.318
    """

    dataset: Array
    weights: Array
    covariance: Array
    inv_cov: Array

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        points = as_array(dataset, "gaussian_kde", "dataset")
        dtype, weak = inexact(points.dtype, False)
        points = atleast_2d(as_type(points, dtype, weak))
        if points.ndim != 2 or points.size <= 1:
            raise errors.ShapeError(
                "gaussian_kde: dataset must be a matrix of several points as columns, or a "
                f"vector; got shape {points.shape}"
            )
        self.dataset = points
        count = points.shape[1]
        if weights is None:
            with placed_like(points):
                shares = creation.full((count,), 1.0 / count, dtype)
        else:
            given = as_type(as_array(weights, "gaussian_kde", "weights"), dtype)
            if given.shape != (count,):
                raise errors.ShapeError(
                    f"gaussian_kde: weights must have shape {(count,)}, got {given.shape}"
                )
            shares = arithmetic.divide(given, sum(given))
        self.weights = shares
        squares = sum(shares * shares)
        factor = self._factor(bw_method)
        mean = matmul(points, shares)
        off = points - expand_dims(mean, -1)
        spread = matmul(off * shares, swapaxes(off, 0, 1)) / (1.0 - squares)
        self.covariance = spread * factor**2
        self.inv_cov = _inverse(spread) / factor**2

    def _factor(self, bw_method: Any) -> Any:
        if bw_method is None or bw_method == "scott":
            return self.neff ** (-1.0 / (self.d + 4))
        if bw_method == "silverman":
            return (self.neff * (self.d + 2) / 4.0) ** (-1.0 / (self.d + 4))
        if callable(bw_method):
            return bw_method(self)
        if isinstance(bw_method, str):
            raise errors.ArgumentError(
                "gaussian_kde: bw_method is 'scott', 'silverman', a number or a function, got "
                f"{bw_method!r}"
            )
        if isinstance(bw_method, int | float):
            return bw_method
        return as_array(bw_method, "gaussian_kde", "bw_method")

    @property
    def d(self) -> int:
        """The number of dimensions."""
        return self.dataset.shape[0]

    @property
    def n(self) -> int:
        """The number of points."""
        return self.dataset.shape[1]

    @property
    def neff(self) -> Array:
        """How many points of equal weights would say as much."""
        return 1.0 / sum(self.weights * self.weights)  # type: ignore[no-any-return]

    def logpdf(self, x: Any) -> Array:
        """The logarithm of the density at the columns of `x`."""
        at = self._points(x, "logpdf")
        root = cholesky(self.covariance)
        off = expand_dims(at, 2) - expand_dims(self.dataset, 1)
        white = solve_triangular(root, reshape(off, (self.d, -1)), lower=True)
        energy = reshape(sum(white * white, 0), (at.shape[1], self.n))
        volume = sum(transcendental.log(diagonal(root))) + 0.5 * self.d * math.log(2 * math.pi)
        return logsumexp(-0.5 * energy, -1, b=self.weights) - volume  # type: ignore[no-any-return]

    def evaluate(self, points: Any) -> Array:
        """The density at the columns of `points`."""
        return transcendental.exp(self.logpdf(points))  # type: ignore[no-any-return]

    def __call__(self, points: Any) -> Array:
        """The density at the columns of `points`."""
        return self.evaluate(points)

    pdf = evaluate

    def _points(self, x: Any, function: str) -> Array:
        (at,) = promoted_arrays((x,), f"gaussian_kde.{function}", ("x",), inexact)
        at = as_type(atleast_2d(at), self.dataset.dtype)
        if at.shape[0] != self.d and at.shape == (1, self.d):
            at = reshape(at, (self.d, 1))
        if at.ndim != 2 or at.shape[0] != self.d:
            raise errors.ShapeError(
                f"gaussian_kde.{function}: points must be columns of length {self.d}, got shape "
                f"{at.shape}"
            )
        return at

    def integrate_gaussian(self, mean: Any, cov: Any) -> Array:
        """The integral of the density times that of a normal distribution."""
        center = reshape(as_type(as_array(mean), self.dataset.dtype), (-1, 1))
        spread = atleast_2d(as_type(as_array(cov), self.dataset.dtype))
        if center.shape[0] != self.d or spread.shape != (self.d, self.d):
            raise errors.ShapeError(
                f"gaussian_kde.integrate_gaussian: mean and cov must have shapes {(self.d,)} and "
                f"{(self.d, self.d)}, got {center.shape[:1]} and {spread.shape}"
            )
        with placed_like(center):
            one = creation.ones(1, center.dtype)
        return self._overlap(center, self.covariance + spread, one)

    def _overlap(self, centers: Array, spread: Array, weights: Array) -> Array:
        root = cholesky(spread)
        off = expand_dims(centers, 2) - expand_dims(self.dataset, 1)
        white = solve_triangular(root, reshape(off, (self.d, -1)), lower=True)
        energy = reshape(sum(white * white, 0), (centers.shape[1], self.n))
        volume = sum(transcendental.log(diagonal(root))) + 0.5 * self.d * math.log(2 * math.pi)
        terms = transcendental.exp(-0.5 * energy - volume) * self.weights
        return sum(sum(terms, -1) * weights)  # type: ignore[no-any-return]

    def integrate_box_1d(self, low: Any, high: Any) -> Array:
        """The probability between two bounds, on the line."""
        if self.d != 1:
            raise errors.ShapeError("gaussian_kde.integrate_box_1d: only for points on the line")
        deviation = transcendental.sqrt(self.covariance[0, 0])
        below, above = (special.ndtr((v - self.dataset[0]) / deviation) for v in (low, high))
        return sum(self.weights * (above - below))  # type: ignore[no-any-return]

    def integrate_kde(self, other: Any) -> Array:
        """The integral of the product with another density."""
        if not isinstance(other, gaussian_kde) or other.d != self.d:
            raise errors.ArgumentError(
                "gaussian_kde.integrate_kde: other must be a gaussian_kde of as many dimensions"
            )
        return self._overlap(other.dataset, self.covariance + other.covariance, other.weights)

    def resample(self, key: Any, shape: Any = ()) -> Array:
        """Random points of `shape`, their coordinates along a new first axis."""
        first, second = random.split(key)
        chosen = random.choice(first, self.n, shape, p=self.weights)
        with placed_like(self.dataset):
            zeros = creation.zeros(self.d, self.dataset.dtype)
        noise = random.multivariate_normal(
            second, zeros, self.covariance, shape, self.dataset.dtype
        )
        axes = tuple(range(noise.ndim - 1))
        return self.dataset[:, chosen] + noise.transpose((noise.ndim - 1, *axes))  # type: ignore[no-any-return]


def _inverse(matrix: Array) -> Array:
    root = cholesky(matrix)
    with placed_like(matrix):
        unit = matrices.eye(matrix.shape[0], dtype=matrix.dtype)
    half = solve_triangular(root, unit, lower=True)
    return matmul(swapaxes(half, 0, 1), half)


def _flatten(density: gaussian_kde) -> tuple[tuple[Any, ...], None]:
    return tuple(getattr(density, name) for name in _PARTS), None


def _unflatten(_: None, parts: Any) -> gaussian_kde:
    density = object.__new__(gaussian_kde)
    for name, part in zip(_PARTS, parts, strict=True):
        setattr(density, name, part)
    return density


tree_util.register_pytree_node(gaussian_kde, _flatten, _unflatten)
