"""Rows for factorisations and linear systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from arrayx.conformance.case import Case, Operand, as_tuple
from arrayx.primitives import linalg
from arrayx.primitives.arithmetic import add
from arrayx.primitives.combined import stop_gradient
from arrayx.primitives.matrices import adjoint, identity, product

LAPACK = ("float32", "float64", "complex64", "complex128")


def within(reference: Callable[..., Any]) -> Callable[..., Any]:
    """A scale: the largest element of each result, since errors are those of whole matrices."""

    def scale(*arrays: Any, **params: Any) -> Any:
        return tuple(np.max(np.abs(r), initial=1.0) for r in as_tuple(reference(*arrays, **params)))

    return scale


def matrices(
    name: str,
    call: Callable[..., Any],
    operands: tuple[Any, ...],
    params: Any,
    reference: Callable[..., Any],
    kinds: tuple[str, ...] = LAPACK,
    **facts: Any,
) -> Case:
    """A row of matrices: nan has no meaning of its own in them."""
    facts = {"ulps": 100.0, "special": False, "scale": within(reference), **facts}
    return Case(name, call, operands, params, reference, kinds, **facts)


def far_from_singular(x: Any) -> Any:
    """Matrices that are invertible whatever is drawn from [-1, 1]."""
    size = x.shape[-1]
    return x + 2 * size * np.eye(size)


def regular(x: Any) -> Any:
    """The same in arrayx."""
    n = x.aval.shape[-1]
    shifted = x
    for _ in range(2 * n):
        shifted = add(shifted, identity(x.aval.shape, x.aval.dtype))
    return shifted


def definite(x: Any) -> Any:
    """Positive definite matrices made from any."""
    return add(product(x, adjoint(x)), identity(x.aval.shape, x.aval.dtype))


def definite_reference(x: Any) -> Any:
    return x @ x.conj().swapaxes(-1, -2) + np.eye(x.shape[-1])


def solved(
    a: Any, b: Any, *, left_side: bool, lower: bool, transpose_a: str, unit_diagonal: bool
) -> Any:
    a = far_from_singular(a)
    a = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        a = a - a * np.eye(a.shape[-1]) + np.eye(a.shape[-1])
    if transpose_a != "none":
        a = a.swapaxes(-1, -2)
    if transpose_a == "adjoint":
        a = a.conj()
    if left_side:
        return np.linalg.solve(a, b)
    return np.linalg.solve(a.swapaxes(-1, -2), b.swapaxes(-1, -2)).swapaxes(-1, -2)


def factors(x: Any) -> Any:
    """LAPACK's factors and pivots, for stacks."""
    *batch, m, n = x.shape
    lu, pivots = np.empty(x.shape, x.dtype), np.empty((*batch, min(m, n)), np.int32)
    for index in np.ndindex(*batch):
        lu[index], pivots[index] = scipy.linalg.lu_factor(x[index])
    return lu, pivots


def exchanged(pivots: Any, size: int) -> Any:
    order = np.arange(size, dtype=np.int32)
    for i, j in enumerate(pivots):
        order[[i, j]] = order[[j, i]]
    return order


def system(primitive: Any, a: Any, b: Any, *, transpose_a: bool) -> Any:
    a = regular(a)
    lu, pivots = linalg.lu(stop_gradient(a))
    return primitive(a, lu, pivots, b, transpose_a=transpose_a)


def system_solved(a: Any, b: Any, *, transpose_a: bool) -> Any:
    a = far_from_singular(a)
    return np.linalg.solve(a.swapaxes(-1, -2) if transpose_a else a, b)


UNIT: dict[str, Any] = {"domain": (-1.0, 1.0)}
TRIANGULAR = (
    ("lower", (3, 3), (3, 2), True, True, "none", False),
    ("upper", (3, 3), (3, 3), True, False, "none", False),
    ("unit", (3, 3), (3, 1), True, True, "transpose", True),
    ("adjoint", (2, 2), (2, 3), True, False, "adjoint", False),
    ("right", (3, 3), (2, 3), False, True, "none", False),
    ("right_adjoint", (2, 3, 3), (2, 2, 3), False, False, "adjoint", False),
)

CASES = (
    matrices(
        "cholesky",
        lambda x: linalg.cholesky(definite(x)),
        ((3, 3),),
        {},
        lambda x: np.linalg.cholesky(definite_reference(x)),
        **UNIT,
    ),
    matrices(
        "cholesky",
        linalg.cholesky,
        (Operand((2, 2), values=[[4.0, 9.0], [1.0, 3.0]]),),
        {},
        np.linalg.cholesky,
        label="reads_the_lower_triangle",
    ),
    *(
        matrices(
            primitive.name,
            lambda a, b, primitive=primitive, **how: primitive(regular(a), b, **how),
            (a, b),
            {
                "left_side": left,
                "lower": lower,
                "transpose_a": transposed,
                "unit_diagonal": unit,
            },
            solved,
            label=label,
            **UNIT,
        )
        for primitive in (linalg.triangular_solve, linalg.absorb_triangular_solve)
        for label, a, b, left, lower, transposed, unit in TRIANGULAR
    ),
    *(
        matrices("lu", linalg.lu, (shape,), {}, factors, label=label)
        for label, shape in (
            ("square", (3, 3)),
            ("tall", (4, 2)),
            ("wide", (2, 3)),
            ("stack", (2, 2, 2)),
        )
    ),
    Case(
        "permutation_of_pivots",
        linalg.permutation_of_pivots,
        (Operand((3,), values=[2, 3, 2]),),
        {"size": 4},
        exchanged,
        ("int32",),
    ),
    *(
        matrices(
            primitive.name,
            lambda a, b, primitive=primitive, **how: system(primitive, a, b, **how),
            ((3, 3), (3, 2)),
            {"transpose_a": transposed},
            system_solved,
            label=label,
            **UNIT,
        )
        for primitive in (linalg.linear_solve, linalg.absorb_linear_solve)
        for label, transposed in (("plain", False), ("transposed", True))
    ),
)
