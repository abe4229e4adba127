"""Vector quantisation: points by the nearest entry of a code book."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, ordering, reductions
from arrayx.numpy.composing import composed
from arrayx.numpy.linalg.norms import vector_norm
from arrayx.numpy.promotion import promoted_arrays
from arrayx.numpy.shapes import expand_dims

__all__ = ["vq"]


def _inexact(dtype: Any, weak: bool) -> tuple[Any, bool]:
    return dtypes.float_for(dtype), weak


@composed
def vq(obs: Any, code_book: Any, check_finite: bool = True) -> tuple[Array, Array]:
    """For each point the nearest entry of a code book, and how far it is.

    Args:
        obs: points of shape (m, n), or (m,) for points on a line.
        code_book: entries of shape (k, n), or (k,).
        check_finite: not used; what is not finite gives distances that are not.

    Returns:
        The numbers of the entries, integers of shape (m,), the first of several equally near;
        and the Euclidean distances, of shape (m,).

    Raises:
        ShapeError: the points and the code book are not of the same number of coordinates.

    >>> import numpy as np
    >>> code, distance = vq(np.array([[0.0, 1.0], [5.0, 4.0]]), np.array([[0.0, 0.0], [5.0, 5.0]]))
    >>> code.tolist(), distance.tolist()
    ([0, 1], [1.0, 1.0])
    """
    points, book = promoted_arrays((obs, code_book), "vq", ("obs", "code_book"), _inexact)
    if points.ndim != book.ndim or points.ndim not in (1, 2):
        raise errors.ShapeError(
            "vq: obs and code_book are both matrices or both vectors, got shapes "
            f"{points.shape} and {book.shape}"
        )
    if points.ndim == 1:
        points, book = expand_dims(points, 1), expand_dims(book, 1)
    if points.shape[1] != book.shape[1]:
        raise errors.ShapeError(
            f"vq: points of {points.shape[1]} coordinates, entries of {book.shape[1]}"
        )
    if not book.shape[0]:
        raise errors.ShapeError("vq: the code book has no entries")
    apart = arithmetic.subtract(expand_dims(points, 1), expand_dims(book, 0))
    distances = vector_norm(apart, axis=-1)
    return ordering.argmin(distances, -1), reductions.min(distances, -1)
