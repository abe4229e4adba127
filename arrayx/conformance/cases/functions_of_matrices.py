"""Rows for the functions of `arrayx.numpy.linalg` and `arrayx.scipy.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as reference

import arrayx.numpy as anp
import arrayx.scipy.linalg as functions
from arrayx.conformance.case import Operand
from arrayx.conformance.cases.linalg import (
    definite,
    definite_reference,
    far_from_singular,
    matrices,
    regular,
)
from arrayx.conformance.cases.spectral import hermitian

UNIT: dict[str, Any] = {"domain": (-1.0, 1.0)}
HALF = ("float16", "bfloat16")


def row(name: str, call: Any, operands: Any, truth: Any, label: str = "", **facts: Any) -> Any:
    """A row without params."""
    return matrices(name, call, operands, {}, truth, label=label, **{**UNIT, **facts})


def solved(a: Any, b: Any) -> Any:
    return np.linalg.solve(far_from_singular(a), b)


def upper(x: Any) -> Any:
    return np.linalg.cholesky(definite_reference(x)).conj().swapaxes(-1, -2)


def least_squares(a: Any, b: Any) -> Any:
    x, residuals, rank, s = np.linalg.lstsq(a, b)
    return x, residuals, np.int32(rank), s


def by_cholesky(a: Any, b: Any) -> Any:
    return functions.cho_solve(functions.cho_factor(definite(a), lower=True), b)


def by_factors(trans: int) -> Any:
    return lambda a, b: functions.lu_solve(functions.lu_factor(regular(a)), b, trans)


def generalised(a: Any, b: Any) -> Any:
    return functions.eigh(a, definite(b), eigvals_only=True)


CASES = (
    *(
        row("linalg.solve", lambda a, b: anp.linalg.solve(regular(a), b), (a, b), solved, label)
        for label, a, b in (
            ("vector", (3, 3), (3,)),
            ("matrix", (3, 3), (3, 2)),
            ("batch", (2, 2, 2), (2, 2)),
            ("many_sides", (2, 2), (3, 2, 1)),
        )
    ),
    row(
        "linalg.inv",
        lambda a: anp.linalg.inv(regular(a)),
        ((3, 3),),
        lambda a: np.linalg.inv(far_from_singular(a)),
    ),
    *(
        row("linalg.det", anp.linalg.det, ((*batch, n, n),), np.linalg.det, f"{n}", ulps=1000.0)
        for n, batch in ((1, ()), (2, (3,)), (3, ()), (4, ()))
    ),
    row(
        "linalg.det",
        anp.linalg.det,
        (Operand((3, 3), values=[[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]]),),
        np.linalg.det,
        "singular",
    ),
    row("linalg.slogdet", anp.linalg.slogdet, ((3, 3),), np.linalg.slogdet, ulps=1000.0),
    row(
        "linalg.cholesky",
        lambda a: anp.linalg.cholesky(definite(a)),
        ((3, 3),),
        lambda a: np.linalg.cholesky(definite_reference(a)),
    ),
    row(
        "linalg.cholesky",
        lambda a: anp.linalg.cholesky(definite(a), upper=True),
        ((2, 2),),
        upper,
        "upper",
    ),
    row(
        "linalg.eigvalsh",
        anp.linalg.eigvalsh,
        ((3, 3),),
        lambda a: np.linalg.eigvalsh((a + a.conj().swapaxes(-1, -2)) / 2),
    ),
    row("linalg.svdvals", anp.linalg.svdvals, ((2, 3),), np.linalg.svdvals, ulps=1000.0),
    *(
        row("linalg.pinv", anp.linalg.pinv, (shape,), np.linalg.pinv, label, ulps=2000.0)
        for label, shape in (("tall", (3, 2)), ("wide", (2, 3)))
    ),
    row(
        "linalg.lstsq",
        anp.linalg.lstsq,
        ((3, 2), (3, 1)),
        least_squares,
        ulps=2000.0,
    ),
    row(
        "linalg.matrix_rank",
        anp.linalg.matrix_rank,
        (Operand((3, 3), values=[[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]]),),
        lambda a: np.int32(np.linalg.matrix_rank(a)),
        differentiable=(),
    ),
    *(
        row(
            "linalg.cond",
            lambda a, p=p: anp.linalg.cond(regular(a), p),
            ((3, 3),),
            lambda a, p=p: np.linalg.cond(far_from_singular(a), p),
            str(p),
        )
        for p in (None, -2, "fro", 1)
    ),
    *(
        row(
            "linalg.norm",
            lambda a, p=p: anp.linalg.norm(a, p, (0, 2)),
            ((3, 2, 2),),
            lambda a, p=p: np.linalg.norm(a, p, (0, 2)),
            str(p),
            ulps=1000.0,
        )
        for p in ("nuc", 2, -2)
    ),
    row(
        "linalg.matrix_power",
        lambda a: anp.linalg.matrix_power(regular(a), -2),
        ((2, 2),),
        lambda a: np.linalg.matrix_power(far_from_singular(a), -2),
        "negative",
    ),
    row(
        "linalg.tensorsolve",
        lambda a, b: anp.linalg.tensorsolve(anp.reshape(regular(a), (2, 2, 4)), b),
        ((4, 4), (2, 2)),
        lambda a, b: np.linalg.tensorsolve(far_from_singular(a).reshape(2, 2, 4), b),
    ),
    row(
        "scipy.linalg.cholesky",
        lambda a: functions.cholesky(definite(a)),
        ((2, 2),),
        lambda a: reference.cholesky(definite_reference(a)),
    ),
    row(
        "scipy.linalg.cho_solve",
        by_cholesky,
        ((3, 3), (3,)),
        lambda a, b: np.linalg.solve(definite_reference(a), b),
    ),
    *(
        row(
            "scipy.linalg.lu_solve",
            by_factors(trans),
            ((2, 2), (2, 3)),
            lambda a, b, trans=trans: reference.lu_solve(
                reference.lu_factor(far_from_singular(a)), b, trans
            ),
            str(trans),
        )
        for trans in (0, 1, 2)
    ),
    *(
        row("scipy.linalg.lu", functions.lu, (shape,), reference.lu, label)
        for label, shape in (("tall", (3, 2)), ("wide", (2, 3)))
    ),
    row(
        "scipy.linalg.solve_triangular",
        lambda a, b: functions.solve_triangular(regular(a), b, trans="C", lower=True),
        ((3, 3), (3,)),
        lambda a, b: reference.solve_triangular(far_from_singular(a), b, trans="C", lower=True),
    ),
    row(
        "scipy.linalg.solve",
        lambda a, b: functions.solve(definite(a), b, assume_a="pos"),
        ((2, 2), (2, 2)),
        lambda a, b: np.linalg.solve(definite_reference(a), b),
    ),
    row(
        "scipy.linalg.eigh",
        lambda a: functions.eigh(a, eigvals_only=True),
        ((3, 3),),
        lambda a: np.linalg.eigvalsh(hermitian(a)),
    ),
    row(
        "scipy.linalg.eigh",
        generalised,
        ((3, 3), (3, 3)),
        lambda a, b: reference.eigh(a, definite_reference(b), eigvals_only=True),
        "generalised",
        ulps=1000.0,
    ),
    row(
        "scipy.linalg.block_diag",
        functions.block_diag,
        ((2, 2), (1, 3)),
        reference.block_diag,
    ),
)
