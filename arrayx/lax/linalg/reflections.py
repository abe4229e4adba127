"""Matrices as products of reflections, in the form in which LAPACK keeps them."""

from __future__ import annotations

from typing import Any

from arrayx.control import similar_forms
from arrayx.core.array import Array
from arrayx.lax.linalg.reading import matrix_of
from arrayx.numpy.promotion import as_array
from arrayx.primitives import axes, reflectors


def householder_product(a: Any, taus: Any) -> Array:
    """The first columns of a product of reflections, as many as `a` has.

    Reflection number i is `I - taus[i] * v @ vᴴ`, with the part of column i of `a` below the
    diagonal, and 1 on it, as v.  `taus` has at most as many elements as `a` has columns.

    >>> import arrayx.numpy as anp
    >>> householder_product(anp.array([[0.0], [1.0]]), anp.array([1.0])).tolist()
    [[0.0], [-1.0]]
    """
    x = matrix_of(a, "householder_product", "a")
    return reflectors.householder_product(x, as_array(taus, "householder_product", "taus"))  # type: ignore[no-any-return]


def ormqr(a: Any, taus: Any, c: Any, *, left: bool = True, transpose: bool = False) -> Array:
    """`q @ c` (`left`) or `c @ q` for the square product q of reflections, without making it.

    `a` and `taus` are those of `householder_product`.  With `transpose` it is the adjoint of q.

    >>> import arrayx.numpy as anp
    >>> a, taus = anp.array([[0.0], [1.0]]), anp.array([1.0])
    >>> ormqr(a, taus, anp.array([[1.0], [2.0]])).tolist()
    [[-2.0], [-1.0]]
    """
    x, y = matrix_of(a, "ormqr", "a"), matrix_of(c, "ormqr", "c")
    factors = as_array(taus, "ormqr", "taus")
    return reflectors.ormqr(x, factors, y, left=bool(left), transpose=bool(transpose))  # type: ignore[no-any-return]


def hessenberg(a: Any) -> tuple[Array, Array]:
    """A square matrix in Hessenberg form, with zeros below its first subdiagonal: `(a, taus)`.

    Below that, `a` has the reflectors whose product is the unitary matrix of the similarity:
    `householder_product(a[1:, :-1], taus)` is its part behind the first row and column.

    >>> import arrayx.numpy as anp
    >>> h, taus = hessenberg(anp.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> h.tolist(), taus.tolist()
    ([[1.0, 2.0], [3.0, 4.0]], [0.0])
    """
    packed, taus = similar_forms.hessenberg(matrix_of(a, "hessenberg", "a", square=True))
    return packed, taus


def tridiagonal(a: Any, *, lower: bool = True) -> tuple[Array, Array, Array, Array]:
    """A Hermitian matrix reduced to three diagonals: `(a, d, e, taus)`.

    Only one triangle is read.  `d` is the diagonal and `e` the one beside it, both real.  The
    result `a` holds them, and beyond them reflectors as those of `hessenberg`, in the triangle
    that was read; it is 0 in the other one.

    >>> import arrayx.numpy as anp
    >>> _, d, e, _ = tridiagonal(anp.array([[1.0, 2.0], [2.0, 3.0]]))
    >>> d.tolist(), e.tolist()
    ([1.0, 3.0], [2.0])
    """
    x = matrix_of(a, "tridiagonal", "a", square=True)
    if lower:
        packed, d, e, taus = similar_forms.tridiagonal(x)
        return packed, d, e, taus
    # From the last row up the upper triangle is what the lower one is from the first row down.
    both, last = (x.ndim - 2, x.ndim - 1), (x.ndim - 2,)
    packed, *rest = similar_forms.tridiagonal(axes.rev(x, axes=both))
    d, e, taus = (axes.rev(v, axes=last) for v in rest)
    return axes.rev(packed, axes=both), d, e, taus
