"""Factorisations by JAX's names and argument forms, over the primitives.

Unlike those of `arrayx.numpy.linalg` they promote nothing and broadcast nothing: operands have
equal dtypes (float32, float64, complex64, complex128) and equal batch axes in front.
"""

from typing import TYPE_CHECKING

from arrayx.lazy import lazy_attributes

if TYPE_CHECKING:
    from arrayx.lax.linalg.algorithms import EighImplementation, EigImplementation, SvdAlgorithm
    from arrayx.lax.linalg.factorisations import (
        cholesky,
        eig,
        eigh,
        lu,
        lu_pivots_to_permutation,
        qdwh,
        qr,
        schur,
        svd,
    )
    from arrayx.lax.linalg.reflections import hessenberg, householder_product, ormqr, tridiagonal
    from arrayx.lax.linalg.systems import (
        cholesky_update,
        symmetric_product,
        triangular_solve,
        tridiagonal_solve,
    )

__getattr__, __dir__ = lazy_attributes(
    __name__,
    {
        "algorithms": "EighImplementation EigImplementation SvdAlgorithm",
        "factorisations": "cholesky eig eigh lu lu_pivots_to_permutation qdwh qr schur svd",
        "reflections": "hessenberg householder_product ormqr tridiagonal",
        "systems": "cholesky_update symmetric_product triangular_solve tridiagonal_solve",
    },
)

__all__ = [
    "EigImplementation",
    "EighImplementation",
    "SvdAlgorithm",
    "cholesky",
    "cholesky_update",
    "eig",
    "eigh",
    "hessenberg",
    "householder_product",
    "lu",
    "lu_pivots_to_permutation",
    "ormqr",
    "qdwh",
    "qr",
    "schur",
    "svd",
    "symmetric_product",
    "triangular_solve",
    "tridiagonal",
    "tridiagonal_solve",
]
