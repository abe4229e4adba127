"""What the case table cannot say of forms and functions of matrices: identities, corners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg as reference

import arrayx as ax
import arrayx.numpy as anp
import arrayx.scipy.linalg as functions
from arrayx import errors
from arrayx.conformance.checks import put
from arrayx.lax import linalg

BACKENDS = ["numpy", "xla"]


def host(x: Any) -> np.ndarray:
    return np.asarray(x)


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_form_and_its_reflectors_give_the_matrix_back(backend: str) -> None:
    a = put(drawn(2, 5, 5), backend)
    packed, taus = linalg.hessenberg(a)
    form, q = functions.hessenberg(a, calc_q=True)
    np.testing.assert_allclose(host(q @ form @ q.mT), host(a), atol=1e-12)
    turned = linalg.ormqr(packed[..., 1:, :-1], taus, a[..., 1:, :])
    np.testing.assert_allclose(host(turned), host(q[..., 1:, 1:] @ a[..., 1:, :]), atol=1e-12)
    t, z = functions.schur(a)
    np.testing.assert_allclose(host(z @ t @ z.mT), host(a), atol=1e-12)
    upper, w = functions.rsf2csf(t, z)
    np.testing.assert_allclose(host(w @ upper @ w.conj().mT), host(a), atol=1e-12)
    assert not np.tril(host(upper), -1).any()


@pytest.mark.parametrize("backend", BACKENDS)
def test_either_triangle_leads_to_the_same_eigenvalues(backend: str) -> None:
    a = drawn(4, 4) + 1j * drawn(4, 4)
    a = a + a.conj().T
    wanted = np.linalg.eigvalsh(a)
    for lower in (True, False):
        half = put(np.tril(a) if lower else np.triu(a), backend)
        _, d, e, _ = linalg.tridiagonal(half, lower=lower)
        got = functions.eigh_tridiagonal(d, e, eigvals_only=True)
        np.testing.assert_allclose(host(got), wanted, atol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (2, 0, 0), (0, 3, 3)])
def test_small_and_empty_matrices_have_their_forms(shape: Any, backend: str) -> None:
    n = shape[-1]
    whole: dict[str, Callable[[Any], Any]] = {
        "schur": functions.schur,
        "expm": functions.expm,
        "sqrtm": functions.sqrtm,
        "polar": functions.polar,
        "hessenberg": lambda x: functions.hessenberg(x, calc_q=True),
        "rsf2csf": lambda x: functions.rsf2csf(x, x),
        "funm": lambda x: functions.funm(x, anp.exp),
        "solve_sylvester": lambda x: functions.solve_sylvester(x, x, x),
        "qr": lambda x: functions.qr(x, pivoting=True)[:2],
        "eig": linalg.eig,
        "tridiagonal": lambda x: linalg.tridiagonal(x)[0],
        "raw": lambda x: anp.linalg.qr(x, "raw").Q,
    }
    x = put(np.ones(shape), backend)
    for name, function in whole.items():
        for found in (function(x), ax.jit(function)(x)):
            parts = found if isinstance(found, tuple | list) else (found,)
            for part in parts:
                assert part.shape in (shape, shape[:-1]), f"{name}: {part.shape}"
                assert np.isfinite(host(part)).all(), name
    assert n in (0, 1, 3)


def test_a_matrix_without_rows_has_reflections_and_an_order() -> None:
    for shape in ((0, 2), (2, 0), (3, 0, 2)):
        q, r, order = functions.qr(put(np.zeros(shape), "numpy"), pivoting=True)
        assert (q.shape, r.shape) == ((*shape[:-1], shape[-2]), shape)
        wanted = np.broadcast_to(np.arange(shape[-1]), order.shape)
        np.testing.assert_array_equal(host(order), wanted)


def differences(function: Callable[[Any], Any], x: np.ndarray, v: np.ndarray) -> np.ndarray:
    step = 1e-6
    return (host(function(x + step * v)) - host(function(x - step * v))) / (2 * step)


@pytest.mark.parametrize("which", [1, 2], ids=["left", "right"])
@pytest.mark.parametrize("kind", [float, complex])
def test_the_derivative_of_eigenvectors_keeps_their_normalisation(which: int, kind: Any) -> None:
    a, v = (drawn(4, n, 4).astype(kind)[:, 0] for n in (1, 2))
    if kind is complex:
        a, v = a + 1j * drawn(4, 4), v + 1j * drawn(4, 4).T
    function = lambda x: linalg.eig(x)[which]  # noqa: E731
    _, got = ax.jvp(function, (a,), (v,))
    np.testing.assert_allclose(host(got), differences(function, a, v), atol=1e-6)


def test_derivatives_of_functions_of_matrices_hold_at_repeated_eigenvalues() -> None:
    one, v = np.eye(3), drawn(3, 3)
    for function, wanted in (
        (functions.expm, np.e * v),
        (lambda x: functions.sqrtm(x).real, v / 2),
        (lambda x: functions.polar(x)[0], (v - v.T) / 2),
    ):
        _, got = ax.jvp(function, (one,), (v,))
        np.testing.assert_allclose(host(got), wanted, atol=1e-12)
        hessian = ax.jacfwd(ax.grad(lambda x, f=function: anp.sum(f(x) ** 2)))(one)
        assert np.isfinite(host(hessian)).all()


def test_a_branch_not_taken_leaves_gradients_of_functions_of_matrices_alone() -> None:
    bad = [np.full((3, 3), np.nan), np.full((3, 3), np.inf), np.zeros((3, 3))]
    for function in (
        functions.expm,
        lambda x: functions.sqrtm(x).real,
        lambda x: functions.polar(x)[0],
        lambda x: functions.solve_sylvester(x, -x, x),
        lambda x: linalg.qr(x, pivoting=True)[1],
        lambda x: linalg.schur(x + 0j)[0].real,
        lambda x: linalg.tridiagonal_solve(x[0], x[1], x[2], x),
        lambda x: linalg.cholesky_update(x, x[0]),
        lambda x: linalg.eig(x)[1].real,
    ):
        for x in bad:
            loss = lambda x, f=function: anp.where(  # noqa: E731
                anp.asarray(True), anp.sum(x * x), anp.sum(f(x))
            )
            np.testing.assert_allclose(host(ax.grad(loss)(x)), 2 * x)
            second = host(ax.jacfwd(ax.grad(loss))(x)).reshape(9, 9)
            np.testing.assert_allclose(second, 2 * np.eye(9))


@pytest.mark.parametrize("backend", BACKENDS)
def test_large_matrices_are_squared_as_often_as_they_need(backend: str) -> None:
    a = np.stack([drawn(3, 3) * s for s in (1e-9, 1.0, 30.0)])
    got = host(ax.jit(functions.expm)(put(a, backend)))
    for found, x in zip(got, a, strict=True):
        wanted = reference.expm(x)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12 * np.abs(wanted).max())
    assert np.isnan(host(functions.expm(put(a[2], backend), max_squarings=1))).all()


def test_what_has_no_solution_is_nan_and_spoils_no_other() -> None:
    a = np.stack([np.eye(2), np.diag([1.0, 2.0])])
    b = np.stack([-np.eye(2), np.eye(2)])
    found = host(functions.solve_sylvester(a, b, np.ones((2, 2, 2))))
    assert np.isnan(found[0]).all() and np.isfinite(found[1]).all()
    assert np.isnan(host(functions.sqrtm(np.array([[0.0, 1.0], [0.0, 0.0]])))).any()
    np.testing.assert_array_equal(host(functions.sqrtm(np.zeros((2, 2)))), np.zeros((2, 2)))
    zero = np.zeros(3)
    assert np.isnan(host(linalg.tridiagonal_solve(zero, zero, zero, np.ones((3, 1))))).all()


def test_a_tridiagonal_matrix_for_a_batch_of_sides_is_not_repeated() -> None:
    d, b = put(np.ones(3), "numpy"), put(np.ones((5, 3, 1)), "numpy")
    graph = ax.make_graph(ax.vmap(linalg.tridiagonal_solve, in_axes=(None, None, None, 0)))(
        d, d, d, b
    )
    (solution,) = [e for e in graph.equations if e.primitive.name == "tridiagonal_solve"]
    assert solution.inputs[1].aval.shape == (3,)


def test_a_condition_number_without_nan_in_is_inf_at_worst() -> None:
    assert host(anp.linalg.cond(np.zeros((2, 2)))) == np.inf
    assert np.isnan(host(anp.linalg.cond(np.full((2, 2), np.nan))))


def test_refusals_say_what_is_wrong() -> None:
    square, half = np.ones((2, 2)), anp.ones((2, 2), "bfloat16")
    with pytest.raises(errors.GradError, match="make the matrix complex"):
        ax.grad(lambda x: linalg.schur(x)[0].sum())(square)
    for function in (linalg.hessenberg, linalg.tridiagonal, linalg.schur, linalg.eig, linalg.qdwh):
        with pytest.raises(errors.DtypeError, match="is not defined for bfloat16"):
            function(half)
    with pytest.raises(errors.ShapeError, match="taus"):
        linalg.householder_product(square, np.ones(3))
    with pytest.raises(errors.ShapeError, match="diagonals"):
        linalg.tridiagonal_solve(np.ones(3), np.ones(3), np.ones(2), np.ones((3, 1)))
    with pytest.raises(errors.UnsupportedError, match="perturb_singular"):
        linalg.tridiagonal_solve(*[np.ones(2)] * 3, square, perturb_singular=True)
    with pytest.raises(errors.ShapeError, match="w_vector"):
        linalg.cholesky_update(square, np.ones(3))
    with pytest.raises(errors.ArgumentError, match="subset_by_index"):
        linalg.svd(square, subset_by_index=(0, 1))
    with pytest.raises(errors.ArgumentError, match="EighImplementation"):
        linalg.eigh(square, implementation="qr")  # type: ignore[arg-type]
    with pytest.raises(errors.ShapeError, match="solve_sylvester: C"):
        functions.solve_sylvester(square, square, np.ones((3, 2)))
    with pytest.raises(errors.ArgumentError, match="power of 2"):
        functions.hadamard(3)
    with pytest.raises(errors.ShapeError, match="coefficients"):
        functions.companion(np.ones(1))
    with pytest.raises(errors.ArgumentError, match="select_range"):
        functions.eigh_tridiagonal(np.ones(3), np.ones(2), select="i", select_range=(0, 3))
