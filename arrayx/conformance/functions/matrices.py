"""Rows of `arrayx.numpy.linalg`, and what rows of matrices have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from arrayx.conformance.case import Case, Operand
from arrayx.conformance.cases.linalg import LAPACK
from arrayx.conformance.public import direct, leaves, public, reference_of

ONE = ((3, 3),)
TALL, WIDE, STACK = ((4, 2),), ((2, 3),), ((2, 2, 2),)
SINGULAR = Operand((3, 3), values=[[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])


def row(
    name: str,
    operands: tuple[Any, ...],
    params: Mapping[str, Any] | None = None,
    reference: Callable[..., Any] | None = None,
    *,
    form: Callable[..., Any] = direct,
    dtypes: tuple[str, ...] = LAPACK,
    **facts: Any,
) -> Case:
    """A row of matrices: errors are relative to the largest element, nan has no meaning."""
    truth = reference or reference_of(name)

    def scale(*arrays: Any, **more: Any) -> Any:
        found = leaves(form(truth, *arrays, **more))
        return tuple(np.max(np.abs(r), initial=1.0) for r in found)

    facts = {"domain": (-1.0, 1.0), "ulps": 1000.0, "special": False, "scale": scale, **facts}
    return public(name, operands, params, truth, dtypes, form=form, **facts)


def regular(function: Any, a: Any, *others: Any, **params: Any) -> Any:
    """Calls it with a first matrix that has an inverse."""
    n = a.shape[-1]
    return function(a + 2 * n * np.eye(n, dtype=a.dtype), *others, **params)


def both_regular(function: Any, a: Any, b: Any, *others: Any, **params: Any) -> Any:
    """Calls it with two matrices that have an inverse."""
    return regular(lambda x: regular(lambda y: function(x, y, *others, **params), b), a)


def definite(function: Any, a: Any, *others: Any, **params: Any) -> Any:
    """Calls it with a positive definite first matrix."""
    return function(product_with_adjoint(a), *others, **params)


def product_with_adjoint(a: Any) -> Any:
    return a @ a.conj().swapaxes(-1, -2) + np.eye(a.shape[-2], dtype=a.dtype)


def hermitian(function: Any, a: Any, *others: Any, **params: Any) -> Any:
    """Calls it with a Hermitian first matrix."""
    return function(a + a.conj().swapaxes(-1, -2), *others, **params)


def sizes(how: Callable[..., Any] = direct) -> Callable[..., Any]:
    """Compares the magnitudes of what is called `how`: vectors have any phase."""

    def called(function: Any, *operands: Any, **params: Any) -> Any:
        found = how(function, *operands, **params)
        return tuple(abs(r) for r in found)

    return called


def integers(function: Any, *operands: Any, **params: Any) -> Any:
    """Calls it with integers, which it makes floats of."""
    return function(*(np.asarray([[2, 1], [0, 3]], np.int32) for _ in operands), **params)


def least_squares(a: Any, b: Any) -> Any:
    x, residuals, rank, s = np.linalg.lstsq(a, b)
    return x, residuals, np.int32(rank), s


def chain(function: Any, *operands: Any, **params: Any) -> Any:
    return function(list(operands), **params)


CASES = (
    *(
        row("numpy.linalg.solve", operands, form=regular, label=label)
        for label, operands in (
            ("vector", ((3, 3), (3,))),
            ("matrix", ((3, 3), (3, 2))),
            ("many_sides", ((2, 2), (3, 2, 1))),
        )
    ),
    row("numpy.linalg.inv", ONE, form=regular),
    row("numpy.linalg.inv", STACK, form=regular, label="stack"),
    *(
        row("numpy.linalg.det", ((*batch, n, n),), label=str(n))
        for n, batch in ((1, ()), (2, (3,)), (3, ()), (4, ()))
    ),
    row("numpy.linalg.det", (SINGULAR,), label="singular"),
    row("numpy.linalg.slogdet", ONE),
    row("numpy.linalg.slogdet", STACK, label="stack"),
    row("numpy.linalg.cholesky", ONE, form=definite),
    row("numpy.linalg.cholesky", ONE, {"upper": True}, form=definite, label="upper"),
    row("numpy.linalg.eigh", ONE, form=sizes(hermitian)),
    row("numpy.linalg.eigvalsh", ONE, form=hermitian),
    row("numpy.linalg.eig", ONE, form=sizes()),
    row(
        "numpy.linalg.eigvals",
        ONE,
        form=lambda f, a: f(a).sum(-1) + (f(a) ** 3).sum(-1),
        reference=lambda a: np.linalg.eigvals(a).astype(complex),
    ),
    *(
        row("numpy.linalg.svd", shape, {"full_matrices": False}, form=sizes(), label=label)
        for label, shape in (("tall", TALL), ("wide", WIDE), ("stack", STACK))
    ),
    row("numpy.linalg.svd", WIDE, {"compute_uv": False}, label="values"),
    row("numpy.linalg.svdvals", WIDE),
    *(
        row("numpy.linalg.qr", shape, {"mode": mode}, label=f"{label}_{mode}")
        for label, shape in (("tall", TALL), ("wide", WIDE))
        for mode in ("reduced", "r", "raw")
    ),
    *(
        row("numpy.linalg.pinv", shape, label=label)
        for label, shape in (("tall", TALL), ("wide", WIDE), ("stack", STACK))
    ),
    row("numpy.linalg.pinv", ONE, {"hermitian": True}, form=hermitian, label="hermitian"),
    row("numpy.linalg.lstsq", ((3, 2), (3, 1)), reference=least_squares),
    row("numpy.linalg.matrix_rank", (SINGULAR,), differentiable=()),
    row("numpy.linalg.matrix_rank", STACK, {"tol": 0.5}, differentiable=(), label="tol"),
    *(
        row("numpy.linalg.cond", ONE, {"p": p}, form=regular, label=str(p))
        for p in (None, 2, -2, "fro", "nuc", 1, -1, np.inf, -np.inf)
    ),
    *(
        row("numpy.linalg.norm", ((3, 2, 2),), {"ord": p, "axis": axis}, label=f"{p}_{axis}")
        for p, axis in (
            (None, None),
            (None, (0, 1)),
            ("fro", (2, 0)),
            ("nuc", (0, 2)),
            (2, (0, 2)),
            (-2, (0, 2)),
            (1, (1, 0)),
            (-1, (0, 1)),
            (np.inf, (0, 1)),
            (-np.inf, (0, 1)),
            (None, 1),
            (1, 0),
            (3, 0),
            (0.5, 2),
            (-1.5, 2),
            (np.inf, 0),
            (-np.inf, 0),
        )
    ),
    row("numpy.linalg.norm", ((3, 2),), {"ord": 0, "axis": 0}, label="count"),
    row(
        "numpy.linalg.norm",
        ((3, 2, 2),),
        {"ord": "nuc", "axis": (2, 0), "keepdims": True},
        label="kept",
    ),
    row("numpy.linalg.vector_norm", ((2, 3),), {"axis": 1, "ord": 3}),
    row("numpy.linalg.matrix_norm", STACK, {"ord": 1}),
    *(
        row("numpy.linalg.matrix_power", ((2, 2),), {"n": n}, form=regular, label=str(n))
        for n in (-2, 0, 1, 5)
    ),
    row("numpy.linalg.multi_dot", ((2,), (2, 3), (3, 2), (2,)), form=chain),
    row(
        "numpy.linalg.tensorsolve",
        ((4, 4), (2, 2)),
        form=lambda f, a, b: regular(lambda m: f(m.reshape(2, 2, 4), b), a),
    ),
    row(
        "numpy.linalg.tensorinv",
        ((4, 4),),
        form=lambda f, a: regular(lambda m: f(m.reshape(4, 2, 2), ind=1), a),
    ),
    row("numpy.linalg.cross", ((2, 3), (2, 3))),
    row("numpy.linalg.outer", ((2,), (3,))),
    row("numpy.linalg.diagonal", ((2, 3, 3),), {"offset": 1}),
    row("numpy.linalg.trace", ((2, 3, 3),), {"offset": -1}),
    row("numpy.linalg.matrix_transpose", ((2, 3, 2),)),
    row("numpy.linalg.matmul", ((2, 3), (3, 2))),
    row("numpy.linalg.vecdot", ((2, 3), (2, 3))),
    row("numpy.linalg.tensordot", ((2, 3), (3, 2)), {"axes": 1}),
)
