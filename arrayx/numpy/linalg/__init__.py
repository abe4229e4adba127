"""Linear algebra of arrays."""

from typing import TYPE_CHECKING

from arrayx.lazy import lazy_attributes

if TYPE_CHECKING:
    from arrayx.numpy.contraction import matmul, tensordot, vecdot
    from arrayx.numpy.linalg.decompositions import (
        EighResult,
        EigResult,
        QRResult,
        SVDResult,
        eig,
        eigh,
        eigvals,
        eigvalsh,
        qr,
        svd,
        svdvals,
    )
    from arrayx.numpy.linalg.norms import matrix_norm, norm, vector_norm
    from arrayx.numpy.linalg.products import cross, diagonal, matrix_power, multi_dot, outer, trace
    from arrayx.numpy.linalg.rank import cond, lstsq, matrix_rank, pinv
    from arrayx.numpy.linalg.systems import (
        SlogdetResult,
        cholesky,
        det,
        inv,
        slogdet,
        solve,
        tensorinv,
        tensorsolve,
    )
    from arrayx.numpy.shapes import matrix_transpose

__getattr__, __dir__ = lazy_attributes(
    __name__,
    {
        "arrayx.numpy.contraction": "matmul tensordot vecdot",
        "decompositions": (
            "EighResult EigResult QRResult SVDResult eig eigh eigvals eigvalsh qr svd svdvals"
        ),
        "norms": "matrix_norm norm vector_norm",
        "products": "cross diagonal matrix_power multi_dot outer trace",
        "rank": "cond lstsq matrix_rank pinv",
        "systems": "SlogdetResult cholesky det inv slogdet solve tensorinv tensorsolve",
        "arrayx.numpy.shapes": "matrix_transpose",
    },
)

__all__ = [
    "EigResult",
    "EighResult",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]
