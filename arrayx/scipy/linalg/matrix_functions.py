"""Functions of matrices: exponential, square root, any function, and Sylvester's equation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.control import matrix_functions
from arrayx.control import sylvester as equations
from arrayx.core.array import Array
from arrayx.lax.loops import fori_loop
from arrayx.numpy import arithmetic, logic, reductions
from arrayx.numpy.contraction import matmul
from arrayx.numpy.linalg.reading import check_matrix, matrix, narrowing, working_dtype
from arrayx.numpy.promotion import (
    as_type,
    broadcast_shapes,
    broadcast_to_shape,
    placed_like,
    promoted_arrays,
)
from arrayx.numpy.selection import where
from arrayx.primitives import combined
from arrayx.primitives import schur as schur_form
from arrayx.primitives.arithmetic import select
from arrayx.primitives.matrices import adjoint, along_rows, diagonal, on_diagonal


def expm(A: Any, *, upper_triangular: bool = False, max_squarings: int = 16) -> Array:
    """The exponential of square matrices, by scaling and squaring (Higham 2005).

    It is nan where more than `max_squarings` squarings were needed.  `upper_triangular` says
    something of `A` that changes nothing.  The derivative is the Fréchet derivative.

    >>> import arrayx.numpy as anp
    >>> expm(anp.array([[0.0, 1.0], [0.0, 0.0]])).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    x = matrix(A, "expm", "A", square=True)
    found = matrix_functions.expm(x, max_squarings=int(max_squarings))
    return narrowing(A, "expm", "A")(found)


def expm_frechet(A: Any, E: Any, *, method: str | None = None, compute_expm: bool = True) -> Any:
    """The exponential of `A`, and its derivative in the direction `E`: `(expm, derivative)`.

    Only the derivative without `compute_expm`.  `method` is None, "SPS" or "blockEnlarge", and
    changes nothing.

    >>> import arrayx.numpy as anp
    >>> expm_frechet(anp.zeros((2, 2)), anp.eye(2), compute_expm=False).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if method not in (None, "SPS", "blockEnlarge"):
        raise errors.ArgumentError(
            f"expm_frechet: method is None, 'SPS' or 'blockEnlarge', got {method!r}"
        )
    a, e = promoted_arrays((A, E), "expm_frechet", ("A", "E"))
    back = narrowing(a, "expm_frechet")
    for x, name in ((a, "A"), (e, "E")):
        check_matrix(x, "expm_frechet", name, square=True)
    a, e = (as_type(x, working_dtype(x.dtype)) for x in (a, e))
    if a.shape != e.shape:
        raise errors.ShapeError(f"expm_frechet: A {a.shape} and E {e.shape} differ in shape")
    change = back(matrix_functions.expm_frechet(a, e, max_squarings=16))
    return (back(matrix_functions.expm(a, max_squarings=16)), change) if compute_expm else change


def sqrtm(A: Any, blocksize: int = 1) -> Array:
    """The square root of square matrices whose eigenvalues have no negative real part; complex.

    Where `A` has none the result is nan.  `blocksize` is taken for SciPy's sake.

    >>> import arrayx.numpy as anp
    >>> sqrtm(anp.array([[4.0, 0.0], [0.0, 9.0]])).real.tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    x = matrix(A, "sqrtm", "A", square=True)
    return matrix_functions.square_root_of_matrix(x)  # type: ignore[no-any-return]


def funm(A: Any, func: Callable[[Array], Array], disp: bool = True) -> Any:
    """A function of square matrices that `func` gives for numbers, by the Schur form; complex.

    `func` maps an array of eigenvalues to one of values.  Without `disp` the result is
    `(function, error)`, with an estimate of the relative error in the 1-norm.  It is inexact where
    eigenvalues are close (Parlett 1974).

    >>> import arrayx.numpy as anp
    >>> funm(anp.array([[1.0, 0.0], [0.0, 2.0]]), lambda x: x * x).real.tolist()
    [[1.0, 0.0], [0.0, 4.0]]
    """
    x = matrix(A, "funm", "A", square=True)
    n = x.shape[-1]
    with placed_like(x):
        x = as_type(x, dtypes.complex_dtype(x.dtype))
        t, q = schur_form.schur(x, vectors=True)
        values = diagonal(t)
    start = as_type(func(values), x.dtype)
    with placed_like(x):
        found = select(on_diagonal(x.shape), along_rows(start, x.shape), 0j)
    apart = arithmetic.subtract(values[..., None, :], values[..., :, None])
    equal = logic.equal(apart, 0)
    divisor = where(equal, 1, apart)
    offsets = np.arange(n) - np.arange(n)[:, None]

    def step(i: Any, found: Array) -> Array:
        # F and T commute: on diagonal number i, that leaves F's own elements alone unknown.
        rest = arithmetic.subtract(matmul(found, t), matmul(t, found))
        here = logic.equal(offsets, i)
        new = arithmetic.divide(rest, divisor)
        return where(here, arithmetic.negative(new), found)  # type: ignore[no-any-return]

    # F·T - T·F without the unknowns is F[i, j]·(T[i, i] - T[j, j]) less, with a minus.
    found = fori_loop(1, n, step, found) if n > 1 else found
    result = matmul(matmul(q, found), adjoint(q))
    if disp:
        return result
    gap = where(np.eye(n, dtype=bool), np.inf, arithmetic.abs(apart))
    smallest = reductions.min(gap, (-2, -1)) if n else 1.0
    real = dtypes.real_dtype(x.dtype)
    eps = float(dtypes.finfo(real).eps)
    size = reductions.max(reductions.sum(arithmetic.abs(t), -2), -1)
    smallest = where(logic.equal(smallest, 0), eps, arithmetic.minimum(smallest, 1.0))
    error = arithmetic.minimum(
        1.0, arithmetic.maximum(eps, arithmetic.multiply(arithmetic.divide(eps, smallest), size))
    )
    whole = reductions.all(logic.isfinite(result), (-2, -1))
    return result, as_type(where(whole, error, np.inf), real)


def solve_sylvester(A: Any, B: Any, C: Any, *, method: str = "schur", tol: float = 1e-08) -> Array:
    """The `x` with `A @ x + x @ B = C`, for square `A` and `B` (Bartels, Stewart 1972).

    Axes before the last two are broadcast.  Where an eigenvalue of `A` is closer than `tol` to
    the negative of one of `B`, the result is nan.  `method` is "schur" or "eigen", and changes
    nothing.

    >>> import arrayx.numpy as anp
    >>> solve_sylvester(anp.eye(2), anp.eye(2), 2.0 * anp.ones((2, 2))).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    if method not in ("schur", "eigen"):
        raise errors.ArgumentError(f"solve_sylvester: method is 'schur' or 'eigen', got {method!r}")
    given = promoted_arrays((A, B, C), "solve_sylvester", ("A", "B", "C"))
    back = narrowing(given[2], "solve_sylvester")
    for x, name in zip(given, ("A", "B", "C"), strict=True):
        check_matrix(x, "solve_sylvester", name, square=name != "C")
    a, b, c = (as_type(x, working_dtype(x.dtype)) for x in given)
    if c.shape[-2:] != (a.shape[-1], b.shape[-1]):
        raise errors.ShapeError(
            f"solve_sylvester: C of shape {c.shape} needs as many rows as A {a.shape} and as many "
            f"columns as B {b.shape}"
        )
    batch = broadcast_shapes(*(x.shape[:-2] for x in (a, b, c)))
    a, b, c = (broadcast_to_shape(x, (*batch, *x.shape[-2:])) for x in (a, b, c))
    return back(_where_apart(a, b, equations.sylvester(a, b, c), tol))


def _where_apart(a: Array, b: Array, x: Array, tol: float) -> Array:
    """A solution, but nan where a sum of eigenvalues is next to nothing."""
    if not x.size or not tol:
        return x
    with placed_like(x):
        dtype = dtypes.complex_dtype(x.dtype)
        forms = (schur_form.schur(as_type(m, dtype), vectors=False)[0] for m in (a, b))
        left, right = (combined.stop_gradient(diagonal(t)) for t in forms)
    total = arithmetic.add(left[..., :, None], right[..., None, :])
    close = reductions.any(logic.less(arithmetic.abs(total), tol), (-2, -1), keepdims=True)
    return where(close, np.nan, x)  # type: ignore[no-any-return]
