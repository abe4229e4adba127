"""Linear algebra of arrays."""

from arrayx.numpy.contraction import matmul, outer, tensordot, vecdot
from arrayx.numpy.diagonals import cross, diagonal, trace
from arrayx.numpy.linalg.norms import matrix_norm, norm, vector_norm
from arrayx.numpy.linalg.products import matrix_power, multi_dot
from arrayx.numpy.shapes import matrix_transpose

__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]
