"""Matrices with names, made of vectors or of a size alone."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.numpy import arithmetic, transcendental
from arrayx.numpy.creation import asarray
from arrayx.numpy.promotion import as_array, as_type, broadcast_to_shape, promoted_arrays
from arrayx.numpy.selection import take, where
from arrayx.numpy.shapes import concatenate, expand_dims


def _vectors(x: Any, function: str, argument: str) -> Array:
    """An argument as vectors in the last axis; a number is a vector of one."""
    a = as_array(x, function, argument)
    return a.reshape((1,)) if a.ndim == 0 else a


def _indexed(x: Array, places: np.ndarray) -> Array:
    """The elements of the last axis at `places`, which make two axes of it."""
    if not x.shape[-1] or not places.size:
        return x[..., :0].reshape((*x.shape[:-1], *places.shape))  # type: ignore[no-any-return]
    return take(x, places, axis=-1)


def _batch(x: Array, y: Array) -> tuple[Array, Array]:
    """Two stacks of vectors with the axes before the last broadcast."""
    shape = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    x, y = (broadcast_to_shape(v, (*shape, v.shape[-1])) for v in (x, y))
    return x, y


def toeplitz(c: Any, r: Any = None) -> Array:
    """The matrix that is constant along its diagonals, with first column `c` and first row `r`.

    The first element of `r`, by default the conjugate of `c`, is not read.  Axes before the last
    are a batch.

    >>> import arrayx.numpy as anp
    >>> toeplitz(anp.array([1, 2]), anp.array([1, 8, 9])).tolist()
    [[1, 8, 9], [2, 1, 8]]
    """
    column = _vectors(c, "toeplitz", "c")
    row = transcendental.conjugate(column) if r is None else _vectors(r, "toeplitz", "r")
    column, row = _batch(*promoted_arrays((column, row), "toeplitz", ("c", "r")))
    m, n = column.shape[-1], row.shape[-1]
    values = concatenate([column[..., ::-1], row[..., 1:]], -1)
    return _indexed(values, np.arange(m)[::-1, None] + np.arange(n))


def circulant(c: Any) -> Array:
    """The square matrix whose columns are `c` shifted round, the first one `c` itself.

    >>> import arrayx.numpy as anp
    >>> circulant(anp.array([1, 2, 3])).tolist()
    [[1, 3, 2], [2, 1, 3], [3, 2, 1]]
    """
    column = _vectors(c, "circulant", "c")
    n = column.shape[-1]
    return _indexed(column, (np.arange(n)[:, None] - np.arange(n)) % max(n, 1))


def hankel(c: Any, r: Any = None) -> Array:
    """The matrix that is constant along its antidiagonals: first column `c`, last row `r`.

    The first element of `r`, by default zeros, is not read.

    >>> import arrayx.numpy as anp
    >>> hankel(anp.array([1, 2]), anp.array([2, 8, 9])).tolist()
    [[1, 2, 8], [2, 8, 9]]
    """
    column = as_array(c, "hankel", "c")
    row = arithmetic.multiply(column, 0) if r is None else as_array(r, "hankel", "r")
    if not column.ndim or not row.ndim:
        raise errors.ShapeError("hankel: c and r are vectors, got a number")
    column, row = _batch(*promoted_arrays((column, row), "hankel", ("c", "r")))
    m, n = column.shape[-1], row.shape[-1]
    values = concatenate([column, row[..., 1:]], -1)
    return _indexed(values, np.arange(m)[:, None] + np.arange(n))


def _monic(a: Any, function: str, least: int) -> Array:
    """The coefficients of a polynomial behind the first, divided by it."""
    x = _vectors(a, function, "a")
    if x.shape[-1] < least:
        raise errors.ShapeError(
            f"{function}: a needs at least {least} coefficients, got shape {x.shape}"
        )
    return arithmetic.true_divide(x[..., 1:], x[..., :1])


def companion(a: Any) -> Array:
    """The square matrix whose eigenvalues are the roots of a polynomial.

    `a` has its coefficients, highest power first, at least two; the first must not be 0.

    >>> import arrayx.numpy as anp
    >>> companion(anp.array([1.0, -3.0, 2.0])).tolist()
    [[3.0, -2.0], [1.0, 0.0]]
    """
    ratios = _monic(a, "companion", 2)
    n = ratios.shape[-1]
    below = np.broadcast_to(np.eye(n - 1, n), (*ratios.shape[:-1], n - 1, n))
    first = expand_dims(arithmetic.negative(ratios), -2)
    return concatenate([first, below.astype(ratios.dtype)], -2)


def fiedler(a: Any) -> Array:
    """The symmetric matrix of all distances, `|a[i] - a[j]|`.

    >>> import arrayx.numpy as anp
    >>> fiedler(anp.array([1, 4])).tolist()
    [[0, 3], [3, 0]]
    """
    x = _vectors(a, "fiedler", "a")
    return arithmetic.abs(arithmetic.subtract(expand_dims(x, -1), expand_dims(x, -2)))


def fiedler_companion(a: Any) -> Array:
    """A companion matrix with five diagonals (Fiedler 2003); see `companion`.

    With fewer than two coefficients it is empty.

    >>> import arrayx.numpy as anp
    >>> fiedler_companion(anp.array([1.0, -9.0, 26.0, -24.0])).tolist()
    [[9.0, -26.0, 1.0], [1.0, 0.0, 0.0], [0.0, 24.0, 0.0]]
    """
    x = _vectors(a, "fiedler_companion", "a")
    if x.shape[-1] < 2:
        empty = x[..., :0].reshape((*x.shape[:-1], 0, 0))
        return as_type(empty, dtypes.float_for(x.dtype))
    ratios = arithmetic.negative(_monic(x, "fiedler_companion", 2))
    n = ratios.shape[-1]
    ones = np.zeros((n, n))
    # Which coefficient stands where: 0 for none, else its number.
    places = np.zeros((n, n), np.int32)
    for i in range(n):
        if i % 2:
            ones[i, max(i - 2, 0)] = 1
            continue
        places[i, max(i - 1, 0)] = i + 1
        if i + 1 < n:
            places[i, i + 1] = i + 2
        if i + 2 < n:
            ones[i, i + 2] = 1
    taken = _indexed(ratios, np.maximum(places - 1, 0))
    fixed = np.broadcast_to(ones, taken.shape).astype(taken.dtype)
    return where(np.broadcast_to(places > 0, taken.shape), taken, fixed)  # type: ignore[no-any-return]


def leslie(f: Any, s: Any) -> Array:
    """The Leslie matrix of a population: fecundities `f` in its first row, survival `s` below.

    `s` has one element fewer than `f`.

    >>> import arrayx.numpy as anp
    >>> leslie(anp.array([0.25, 2.0]), anp.array([0.5])).tolist()
    [[0.25, 2.0], [0.5, 0.0]]
    """
    first, below = promoted_arrays((f, s), "leslie", ("f", "s"))
    if not first.ndim or not below.ndim or first.shape[-1] != below.shape[-1] + 1:
        raise errors.ShapeError(
            f"leslie: s of shape {below.shape} needs one element fewer than f of shape "
            f"{first.shape}"
        )
    first, below = _batch(first, below)
    n = first.shape[-1]
    if n < 2:
        return expand_dims(first, -2)
    diagonal = np.broadcast_to(np.eye(n - 1, n, dtype=bool), (*below.shape, n))
    spread = arithmetic.multiply(expand_dims(below, -1), diagonal.astype(below.dtype))
    return concatenate([expand_dims(first, -2), spread], -2)


def convolution_matrix(a: Any, n: int, mode: str = "full") -> Array:
    """The matrix for which `convolution_matrix(a, n) @ v` is `convolve(a, v, mode)`, v of length n.

    `mode` is "full", "same" or "valid".

    >>> import arrayx.numpy as anp
    >>> convolution_matrix(anp.array([1, 2]), 2).tolist()
    [[1, 0], [2, 1], [0, 2]]
    """
    x = as_array(a, "convolution_matrix", "a")
    if n <= 0 or not x.ndim or not x.shape[-1]:
        raise errors.ArgumentError(
            f"convolution_matrix: n and the length of a are at least 1, got {n} and {x.shape}"
        )
    if mode not in ("full", "same", "valid"):
        raise errors.ArgumentError(
            f"convolution_matrix: mode is 'full', 'same' or 'valid', got {mode!r}"
        )
    m = x.shape[-1]
    rows = {"full": m + n - 1, "same": max(m, n), "valid": max(m, n) - min(m, n) + 1}[mode]
    start = {"full": 0, "same": (min(m, n) - 1) // 2, "valid": min(m, n) - 1}[mode]
    places = np.arange(start, start + rows)[:, None] - np.arange(n)
    inside = (places >= 0) & (places < m)
    taken = _indexed(x, np.clip(places, 0, m - 1))
    return where(np.broadcast_to(inside, taken.shape), taken, 0)  # type: ignore[no-any-return]


# ----------------------------------------------------------------- of a size alone


def _float(values: Any, shape: tuple[int, int]) -> Array:
    """Numbers as a matrix in the default float dtype."""
    return asarray(np.array(values, np.float64).reshape(shape), dtype=dtypes.default_float())


def _size(n: Any, function: str) -> int:
    if not isinstance(n, int | np.integer) or n < 0:
        raise errors.ArgumentError(f"{function}: n is an int that is not negative, got {n!r}")
    return int(n)


def hilbert(n: int) -> Array:
    """The matrix with elements `1 / (i + j + 1)`.

    >>> hilbert(2).round(2).shape
    (2, 2)
    """
    n = _size(n, "hilbert")
    places = np.arange(n)
    return _float(1.0 / (1.0 + places[:, None] + places), (n, n))


def invhilbert(n: int) -> Array:
    """The inverse of `hilbert(n)`, which consists of integers.

    >>> invhilbert(2).tolist()
    [[4.0, -6.0], [-6.0, 12.0]]
    """
    n = _size(n, "invhilbert")
    c = math.comb
    return _float(
        [
            (-1) ** (i + j)
            * (i + j + 1)
            * c(n + i, n - j - 1)
            * c(n + j, n - i - 1)
            * c(i + j, i) ** 2
            for i in range(n)
            for j in range(n)
        ],
        (n, n),
    )


_KINDS = ("symmetric", "lower", "upper")


def _kind(kind: str | None, function: str) -> str:
    if kind is not None and kind not in _KINDS:
        raise errors.ArgumentError(
            f"{function}: kind is 'symmetric', 'lower' or 'upper', got {kind!r}"
        )
    return kind or "symmetric"


def _binomials(n: int) -> np.ndarray:
    """Pascal's triangle as a lower triangular matrix of Python ints."""
    rows = [[math.comb(i, j) for j in range(n)] for i in range(n)]
    return np.array(rows, object).reshape(n, n)


def pascal(n: int, kind: str | None = None) -> Array:
    """Pascal's triangle, lower or upper, or the symmetric product of both (the default).

    >>> pascal(3).tolist()
    [[1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [1.0, 3.0, 6.0]]
    """
    n, kind = _size(n, "pascal"), _kind(kind, "pascal")
    lower = _binomials(n)
    found = lower if kind == "lower" else lower.T if kind == "upper" else lower.dot(lower.T)
    return _float(found, (n, n))


def invpascal(n: int, kind: str | None = None) -> Array:
    """The inverse of `pascal(n, kind)`.

    >>> invpascal(2).tolist()
    [[2.0, -1.0], [-1.0, 1.0]]
    """
    n, kind = _size(n, "invpascal"), _kind(kind, "invpascal")
    signs = np.array([[(-1) ** (i + j) for j in range(n)] for i in range(n)], object)
    lower = _binomials(n) * signs.reshape(n, n)
    found = lower if kind == "lower" else lower.T if kind == "upper" else lower.T.dot(lower)
    return _float(found, (n, n))


def hadamard(n: int, dtype: Any = int) -> Array:
    """The matrix of 1 and -1 with orthogonal rows, by Sylvester's construction.

    `n` is a power of 2; `dtype` is an integer by default.

    >>> hadamard(2).tolist()
    [[1, 1], [1, -1]]
    """
    n = _size(n, "hadamard")
    if n < 1 or n & (n - 1):
        raise errors.ArgumentError(f"hadamard: n is a power of 2, got {n}")
    places = np.arange(n)
    odd = np.bitwise_count(places[:, None] & places) % 2
    chosen = dtypes.default_int() if dtype is int else dtype
    return asarray(1 - 2 * odd.astype(np.int32), dtype=chosen)


def helmert(n: int, full: bool = False) -> Array:
    """The orthogonal Helmert matrix without its first row, or with it (`full`).

    >>> helmert(2).round(4).shape
    (1, 2)
    """
    n = _size(n, "helmert")
    places = np.arange(n)
    result = np.tril(np.ones((n, n)), -1) - np.diag(places)
    lengths = np.sqrt(places * (places + 1.0))
    if n:
        result[0], lengths[0] = 1.0, math.sqrt(n)
    result = result / lengths[:, None]
    return _float(result if full else result[1:], (n if full else max(n - 1, 0), n))


def dft(n: int, scale: str | None = None, *, dtype: Any = None) -> Array:
    """The matrix of the discrete Fourier transform, times 1, `1 / sqrt(n)` or `1 / n`.

    `scale` is None, "sqrtn" or "n".  The product of it with a vector is what `fft` gives.

    >>> dft(2).real.tolist()
    [[1.0, 1.0], [1.0, -1.0]]
    """
    n = _size(n, "dft")
    if scale not in (None, "sqrtn", "n"):
        raise errors.ArgumentError(f"dft: scale is None, 'sqrtn' or 'n', got {scale!r}")
    places = np.arange(n)
    angles = [Fraction(int(i) * int(j) % n, n) for i in places for j in places]
    # Angles below a full turn, so that large ones lose nothing.
    turns = np.array([float(a) for a in angles]).reshape(n, n)
    found = np.exp(-2j * np.pi * turns)
    if scale is not None:
        found = found / (n if scale == "n" else math.sqrt(n))
    chosen = dtypes.complex_dtype(dtypes.default_float()) if dtype is None else dtype
    return asarray(found, dtype=chosen)
