"""Rows of products that sum over axes."""

from __future__ import annotations

from typing import Any

from arrayx.conformance.case import ANY, NUMERIC, Case, Operand
from arrayx.conformance.public import rows

VECTORS = ((3,), (3,))
MATRICES = ((2, 3), (3, 2))
ONE_DTYPE = ("float64", "complex64", "int8")
SMALL = (-2.0, 2.0)
# NumPy's sums begin at 0, which makes 0 of -0.
SUMS: dict[str, Any] = {"sums": True, "domain": SMALL, "signed_zeros": False}


def subscripts(text: str, **more: Any) -> Any:
    """A form of call: einsum's subscripts come before the operands."""

    def form(function: Any, *operands: Any, **params: Any) -> Any:
        return function(text, *operands, **params, **more)

    return form


def einsum(label: str, text: str, *shapes: Any, dtypes: Any = ONE_DTYPE) -> tuple[Case, ...]:
    """A row of einsum."""
    return rows(
        "numpy", "einsum", shapes, {label: {}}, form=subscripts(text), dtypes=dtypes, **SUMS
    )


CASES: tuple[Case, ...] = (
    *rows("numpy", "dot vdot inner", VECTORS, dtypes=ANY, **SUMS),
    *rows("numpy", "dot matmul", MATRICES, {"matrices": {}}, dtypes=ANY, **SUMS),
    *rows("numpy", "vdot inner tensordot", ((2, 3), (2, 3)), {"matrices": {}}, dtypes=ANY, **SUMS),
    # NumPy's 0 times inf is 0 here.
    *rows(
        "numpy",
        "dot inner",
        ((), (2, 3)),
        {"rank_0": {}},
        dtypes=ONE_DTYPE,
        **{**SUMS, "special": False},
    ),
    *rows("numpy", "dot", ((2, 3, 4), (2, 4, 3)), {"cubes": {}}, dtypes=ONE_DTYPE, **SUMS),
    *rows("numpy", "inner", ((2, 3, 4), (2, 4)), {"cubes": {}}, dtypes=ONE_DTYPE, **SUMS),
    *rows("numpy", "matmul", VECTORS, {"": {}}, dtypes=ANY, **SUMS),
    *rows("numpy", "matmul", ((3,), (2, 3, 2)), {"row": {}}, dtypes=ONE_DTYPE, **SUMS),
    *rows("numpy", "matmul", ((2, 2, 3), (3,)), {"column": {}}, dtypes=ONE_DTYPE, **SUMS),
    *rows("numpy", "matmul", ((2, 3), (2, 3, 4)), {"left": {}}, dtypes=ONE_DTYPE, **SUMS),
    *rows("numpy", "matmul", ((2, 3, 4), (4, 2)), {"right": {}}, dtypes=ONE_DTYPE, **SUMS),
    *rows("numpy", "matmul", ((2, 1, 2, 3), (3, 3, 2)), {"batch": {}}, dtypes=ONE_DTYPE, **SUMS),
    *rows("numpy", "matmul dot", ((2, 0), (0, 3)), {"none": {}}, dtypes=ANY),
    *rows("numpy", "matmul dot", ((2, 3), Operand((3, 2), "int8")), {"mixed": {}}, **SUMS),
    *rows("numpy", "matvec", ((2, 2, 3), (3,)), dtypes=NUMERIC, **SUMS),
    *rows("numpy", "matvec", ((2, 3), (4, 3)), {"vectors": {}}, dtypes=ONE_DTYPE, **SUMS),
    *rows("numpy", "vecmat", ((3,), (2, 3, 2)), dtypes=NUMERIC, **SUMS),
    *rows("numpy", "vecmat", ((4, 3), (3, 2)), {"vectors": {}}, dtypes=ONE_DTYPE, **SUMS),
    *rows("numpy", "vecdot", ((2, 3), (3,)), dtypes=NUMERIC, **SUMS),
    *rows("numpy", "vecdot", ((3, 2), (3, 2)), {"axis": {"axis": 0}}, dtypes=ONE_DTYPE, **SUMS),
    *rows("numpy", "outer", ((3,), (2,)), dtypes=ANY),
    *rows("numpy", "outer", ((2, 2), ()), {"flattened": {}}, dtypes=ONE_DTYPE),
    *rows(
        "numpy",
        "tensordot",
        ((2, 3, 4), (4, 3, 2)),
        {
            "none": {"axes": 0},
            "one": {"axes": 1},
            "pair": {"axes": (1, -2)},
            "pairs": {"axes": ((1, 0), (1, 2))},
        },
        dtypes=ONE_DTYPE,
        **SUMS,
    ),
    *rows("numpy", "tensordot", MATRICES, {"axes": {"axes": 1}}, dtypes=ANY, **SUMS),
    # --------------------------------------------------------- einsum
    *einsum("", "ij,jk->ik", (2, 3), (3, 2), dtypes=ANY),
    *einsum("implicit", "ij,jh", (2, 3), (3, 2)),
    *einsum("trace", "ii", (3, 3), dtypes=NUMERIC),
    *einsum("diagonal", "iij->ji", (2, 2, 3)),
    *einsum("transposed", "ijk->kij", (2, 3, 4), dtypes=ANY),
    *einsum("sum", "ij->j", (2, 3)),
    *einsum("batch", "bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
    *einsum("ellipsis", "...ij,...j->i...", (2, 2, 3), (1, 3)),
    *einsum("three", "ij,jk,kl->il", (2, 3), (3, 2), (2, 4)),
    *einsum("four", "ab,bc,cd,da->", (2, 3), (3, 2), (2, 2), (2, 2)),
    *einsum("outer", "i,j->ij", (2,), (3,)),
    *einsum("elementwise", "ij,ij->ij", (2, 3), (2, 3)),
    *einsum("unshared", "ij,kl->jk", (2, 3), (2, 4)),
    *einsum("repeated", "ii,ij->j", (3, 3), (3, 2)),
    *einsum("rank_0", ",i->i", (), (3,)),
    *einsum("none", "ij,jk->ik", (2, 0), (0, 3)),
)
