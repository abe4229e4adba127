"""What a factorisation does to a gradient that does not depend on it: nothing, whatever it met."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
import arrayx.scipy.linalg as scipy_linalg
from arrayx.conformance.checks import put
from arrayx.primitives import contraction

B = np.arange(1.0, 10.0).reshape(3, 3)
linalg = anp.linalg

# Functions of one matrix, each with matrices where it or its derivative is singular.
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "inv": linalg.inv,
    "solve": lambda a: linalg.solve(a, B),
    "solve_as_sides": lambda a: linalg.solve(np.zeros((3, 3)), a),
    "det": linalg.det,
    "slogdet": lambda a: linalg.slogdet(a).logabsdet,
    "cholesky": linalg.cholesky,
    "qr": linalg.qr,
    "qr_complete": lambda a: linalg.qr(a, "complete"),
    "svd": linalg.svd,
    "svdvals": linalg.svdvals,
    "eigh": linalg.eigh,
    "eig": lambda a: linalg.eig(a)[1].real,
    "eigvals": lambda a: linalg.eigvals(a).real,
    "pinv": linalg.pinv,
    "lstsq": lambda a: linalg.lstsq(a, B)[:2],
    "cond": linalg.cond,
    "norm": lambda a: linalg.norm(a, "nuc"),
    "matrix_power": lambda a: linalg.matrix_power(a, -2),
    "tensorinv": lambda a: linalg.tensorinv(a, 1),
    "lu": scipy_linalg.lu,
    "lu_solve": lambda a: scipy_linalg.lu_solve(scipy_linalg.lu_factor(a), B),
    "cho_solve": lambda a: scipy_linalg.cho_solve((a, True), B),
    "solve_triangular": lambda a: scipy_linalg.solve_triangular(a, B),
    "triangular_from_the_right": lambda a: ax.lax.linalg.triangular_solve(a, B),
    "generalised_eigh": lambda a: scipy_linalg.eigh(np.eye(3), a),
}
MATRICES = {
    "zero": np.zeros((3, 3)),
    "singular": np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 0.5]),
    "one": np.eye(3),
    "nan": np.full((3, 3), np.nan),
    "infinite": np.full((3, 3), np.inf),
}


def total(result: Any) -> Any:
    """A number that depends on all of a result."""
    parts = result if isinstance(result, tuple) else (result,)
    return sum(anp.sum(anp.sin(p)) for p in parts)


def guarded(function: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """x² summed where the condition holds, else something of the function's results."""

    def loss(x: Any, taken: Any) -> Any:
        return anp.where(taken, anp.sum(x * x), total(function(x)))

    return loss


@pytest.mark.parametrize("backend", ["numpy", pytest.param("xla", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_branch_not_taken_leaves_gradients_alone_to_second_order(name: str, backend: str) -> None:
    loss = guarded(FUNCTIONS[name])
    first, second = ax.grad(loss), ax.jacfwd(ax.grad(loss))
    twice = ax.jit(ax.jacrev(ax.grad(loss))) if backend == "xla" else ax.jacrev(ax.grad(loss))
    for label, matrix in MATRICES.items():
        x, taken = put(matrix, backend), put(np.array(True), backend)
        got = np.asarray(first(x, taken))
        np.testing.assert_allclose(got, 2 * matrix, err_msg=f"{name} of {label}")
        for hessian in (second, twice):
            found = np.asarray(hessian(x, taken)).reshape(9, 9)
            np.testing.assert_allclose(found, 2 * np.eye(9), err_msg=f"{name} of {label}")


def test_in_a_batch_only_the_singular_matrix_is_left_out() -> None:
    regular = np.array([[2.0, 1.0], [0.0, 4.0]])
    stack = put(np.stack([np.zeros((2, 2)), regular]), "numpy")

    def loss(a: Any) -> Any:
        found = linalg.slogdet(a).logabsdet
        return anp.sum(anp.where(found > 0, found, 0.0))

    wanted = np.stack([np.zeros((2, 2)), np.linalg.inv(regular).T])
    for function in (loss, lambda a: anp.sum(ax.vmap(loss)(a))):
        np.testing.assert_allclose(np.asarray(ax.grad(function)(stack)), wanted)


def test_zeros_are_left_alone_where_the_user_says_so() -> None:
    x, taken = put(np.zeros((3, 3)), "numpy"), put(np.array(True), "numpy")
    with ax.config(zeros_absorb=False):
        assert np.isnan(np.asarray(ax.grad(guarded(linalg.inv))(x, taken))).all()


def test_the_value_of_a_singular_system_is_not_hidden() -> None:
    for a in (np.zeros((2, 2)), np.full((2, 2), np.nan)):
        found = linalg.solve(put(a, "numpy"), put(np.zeros(2), "numpy"))
        assert np.isnan(np.asarray(found)).any()


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_rows_and_columns_of_zeros_absorb_and_nothing_else_does(backend: str) -> None:
    x = np.array([[0.0, 0.0, 0.0], [np.inf, 1.0, 0.0], [np.nan, 0.0, 2.0]])
    y = np.array([[0.0, 3.0], [0.0, 0.0], [0.0, np.inf]])
    wanted = [[0.0, 0.0], [0.0, np.nan], [0.0, np.nan]]
    dims = {"contracting": ((1,), (0,)), "batch": ((), ()), "precision": None}
    batches = {"contracting": ((1,), (1,)), "batch": ((2,), (0,)), "precision": None}
    stacks = np.stack([x, np.eye(3)], 2), np.stack([y, y])
    with np.errstate(all="ignore"):
        plain = np.eye(3) @ y
    for how in (lambda f: f, ax.jit):
        single = how(lambda a, b: contraction.absorb_dot(a, b, **dims))
        np.testing.assert_array_equal(np.asarray(single(put(x, backend), put(y, backend))), wanted)
        several = how(lambda a, b: contraction.absorb_dot(a, b, **batches))
        found = np.asarray(several(*(put(s, backend) for s in stacks)))
        np.testing.assert_array_equal(found[0], wanted)
        np.testing.assert_array_equal(found[1], np.where((y != 0).any(0), plain, 0.0))
