"""Rows of `arrayx.scipy.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from arrayx.conformance.functions.matrices import (
    ONE,
    TALL,
    WIDE,
    both_regular,
    definite,
    hermitian,
    product_with_adjoint,
    regular,
    row,
    sizes,
)

COMPLEX = ("complex64", "complex128")
FLOATS = ("float32", "float64")


def made_of_size(name: str, sizes_: tuple[int, ...], **params: Any) -> Any:
    """A row of a function of a size alone, times an operand so that there is one."""
    return tuple(
        row(
            f"scipy.linalg.{name}",
            ((n, n),),
            {"n": n, **params},
            form=lambda f, x, **how: f(**how).astype(x.dtype) * x,
            label="_".join(map(str, (n, *params.values()))),
            placed=False,
            dtypes=("complex64",) if name == "dft" else ("float32",),
        )
        for n in sizes_
    )


def generalised(function: Any, a: Any, b: Any, **params: Any) -> Any:
    symmetric = a + a.conj().swapaxes(-1, -2)
    return function(symmetric, product_with_adjoint(b), **params)


def factor_alone(function: Any, a: Any, *others: Any, **params: Any) -> Any:
    """Calls it with a definite matrix; of two results the first."""
    return definite(function, a, *others, **params)[0]


def upper(function: Any, c: Any, *others: Any, **params: Any) -> Any:
    """Calls it with an upper triangular factor."""
    return regular(
        lambda m: function((m * np.tri(3, dtype=c.dtype).T, False), *others, **params), c
    )


def banded(function: Any, ab: Any, b: Any, l_and_u: tuple[int, int]) -> Any:
    """Calls it with bands whose main one outweighs the others."""
    main = np.zeros(ab.shape, ab.dtype)
    main[..., l_and_u[1], :] = 12
    return function(l_and_u, ab + main, b)


def pivots(function: Any, a: Any, *others: Any, **params: Any) -> Any:
    """Calls it with factors whose rows were exchanged."""
    order = np.array([1, 2, 2], np.int32)
    return regular(lambda m: function((m, order), *others, **params), a)


def abs_squared(values: Any) -> Any:
    """A function of eigenvalues."""
    return values * values + 1


def triangular_form(function: Any, t: Any, z: Any) -> Any:
    """Calls it with a triangle; gives what does not depend on phases."""
    n = t.shape[-1]
    upper = (t + 2 * np.diag(np.arange(n, dtype=t.dtype))) * np.tri(n, dtype=t.dtype).T
    found, turned = function(upper, z)
    return abs(found), abs(turned)


def root(function: Any, a: Any, **params: Any) -> Any:
    """Compares as complex matrices, which SciPy does not always give."""
    return definite(lambda m: function(m, **params) + 0j, a)


CASES = (
    row("scipy.linalg.block_diag", ((2, 2), (1, 3))),
    row(
        "scipy.linalg.cho_factor",
        ONE,
        form=factor_alone,
        reference=lambda a: (scipy.linalg.cholesky(a), False),
    ),
    row("scipy.linalg.cho_solve", ((3, 3), (3, 2)), form=upper),
    row("scipy.linalg.cholesky", ONE, form=definite),
    row("scipy.linalg.cholesky", ONE, {"lower": True}, form=definite, label="lower"),
    *(
        row(f"scipy.linalg.{name}", ((4,),))
        for name in ("circulant", "fiedler", "hankel", "toeplitz")
    ),
    row("scipy.linalg.toeplitz", ((3,), (2,)), label="row"),
    row("scipy.linalg.hankel", ((3,), (2,)), label="row"),
    *(
        row(f"scipy.linalg.{name}", ((5,),), domain=(1.0, 3.0))
        for name in ("companion", "fiedler_companion")
    ),
    *(
        row("scipy.linalg.convolution_matrix", ((3,),), {"n": 4, "mode": mode}, label=mode)
        for mode in ("full", "same", "valid")
    ),
    row("scipy.linalg.leslie", ((4,), (3,))),
    row("scipy.linalg.det", ((4, 4),)),
    row("scipy.linalg.inv", ONE, form=regular),
    row("scipy.linalg.eigh", ONE, form=sizes(hermitian)),
    row(
        "scipy.linalg.eigh",
        ((3, 3), (3, 3)),
        {"eigvals_only": True},
        form=generalised,
        label="generalised",
    ),
    row("scipy.linalg.eigh_tridiagonal", ((4,), (3,)), form=sizes(), dtypes=FLOATS),
    row("scipy.linalg.expm", ONE),
    row("scipy.linalg.expm_frechet", ((2, 2), (2, 2))),
    row("scipy.linalg.funm", ((2, 2),), form=lambda f, a: root(lambda m: f(m, abs_squared), a)),
    row("scipy.linalg.hessenberg", ((4, 4),), {"calc_q": True}),
    row("scipy.linalg.lu", TALL),
    row("scipy.linalg.lu", WIDE, label="wide"),
    row("scipy.linalg.lu_factor", ONE),
    *(
        row(
            "scipy.linalg.lu_solve",
            ((3, 3), (3, 2)),
            {"trans": trans},
            form=pivots,
            label=str(trans),
        )
        for trans in (0, 1, 2)
    ),
    row("scipy.linalg.polar", TALL),
    row("scipy.linalg.polar", WIDE, {"side": "left"}, label="left"),
    *(
        row(
            "scipy.linalg.qr",
            TALL,
            {"mode": mode, "pivoting": pivoting},
            label=f"{mode}_{pivoting}",
        )
        for mode, pivoting in (("economic", False), ("economic", True), ("r", True))
    ),
    row("scipy.linalg.qr_multiply", ((4, 2), (3, 4))),
    row(
        "scipy.linalg.qr_multiply",
        ((4, 2), (2, 3)),
        {"mode": "left", "pivoting": True},
        label="left",
    ),
    row("scipy.linalg.schur", ONE, form=sizes(), dtypes=COMPLEX),
    row(
        "scipy.linalg.rsf2csf",
        ((3, 3), (3, 3)),
        form=triangular_form,
        dtypes=COMPLEX,
    ),
    row("scipy.linalg.solve", ((3, 3), (3, 2)), form=regular),
    row("scipy.linalg.solve", ((3, 3), (3,)), {"assume_a": "pos"}, form=definite, label="definite"),
    row("scipy.linalg.solve_banded", ((3, 4), (4,)), {"l_and_u": (1, 1)}, form=banded),
    row(
        "scipy.linalg.solve_banded",
        ((4, 5), (5, 2)),
        {"l_and_u": (2, 1)},
        form=banded,
        label="wide",
    ),
    row("scipy.linalg.solve_sylvester", ((2, 2), (3, 3), (2, 3)), form=both_regular),
    row(
        "scipy.linalg.solve_triangular", ((3, 3), (3,)), {"trans": "C", "lower": True}, form=regular
    ),
    row("scipy.linalg.sqrtm", ONE, form=root),
    row("scipy.linalg.svd", TALL, {"full_matrices": False}, form=sizes()),
    *made_of_size("hilbert", (1, 4)),
    *made_of_size("invhilbert", (3,)),
    *made_of_size("pascal", (4,)),
    *made_of_size("pascal", (3,), kind="lower"),
    *made_of_size("invpascal", (3,), kind="upper"),
    *made_of_size("helmert", (4,), full=True),
    *made_of_size("hadamard", (4,)),
    *made_of_size("dft", (4,), scale="sqrtn"),
)
