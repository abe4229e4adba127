"""What the case table cannot say of factorisations: failures, repeated values, what is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors
from arrayx.conformance.checks import put
from arrayx.primitives import determinant, linalg, spectral

BACKENDS = ["numpy", "xla"]


def rotation(seed: int, n: int = 3) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]


def host(x: Any) -> np.ndarray:
    return np.asarray(x)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_matrix_that_is_not_definite_gives_nan_and_spoils_no_other(backend: str) -> None:
    x = np.array([[[4.0, 0.0], [0.0, 9.0]], [[1.0, 2.0], [2.0, 1.0]]])
    eager = linalg.cholesky(put(x, backend))
    compiled = ax.jit(linalg.cholesky)(put(x, backend))
    for result in (eager, compiled):
        np.testing.assert_array_equal(host(result)[0], [[2.0, 0.0], [0.0, 3.0]])
        assert np.isnan(host(result)[1]).any()


@pytest.mark.parametrize("backend", BACKENDS)
def test_nan_in_gives_nan_out_and_no_error(backend: str) -> None:
    x = np.stack([np.full((2, 2), np.nan), np.eye(2)])
    for function in (
        lambda a: spectral.eigh(a, vectors=False)[0],
        lambda a: spectral.svd(a, full_matrices=False, compute_uv=False)[0],
    ):
        for result in (function(put(x, backend)), ax.jit(function)(put(x, backend))):
            assert np.isnan(host(result)[0]).all()
            np.testing.assert_allclose(host(result)[1], [1.0, 1.0])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("seed", range(4))
def test_what_does_not_depend_on_the_vectors_has_its_gradient_at_repeated_values(
    seed: int, backend: str
) -> None:
    q = rotation(seed)
    a = q @ np.diag([2.0, 2.0, 1.0]) @ q.T
    a = (a + a.T) / 2

    def by_svd(x: Any) -> Any:
        u, s, vh = anp.linalg.svd(x, full_matrices=False)
        return anp.sqrt(anp.sum(((u * s) @ vh) ** 2))

    def by_eigh(x: Any) -> Any:
        w, v = anp.linalg.eigh(x)
        return anp.sqrt(anp.sum(((v * w) @ v.T) ** 2))

    for function in (by_svd, by_eigh):
        for transformed in (ax.grad(function), ax.jit(ax.grad(function))):
            got = host(transformed(put(a, backend)))
            np.testing.assert_allclose(got, a / np.linalg.norm(a), atol=1e-8)
        second = host(ax.jacfwd(ax.grad(function))(put(a, backend)))
        assert np.isfinite(second).all()


def test_zero_matrices_have_finite_derivatives() -> None:
    zero = put(np.zeros((3, 2)), "numpy")
    for function in (anp.linalg.svdvals, lambda x: anp.linalg.svd(x, False)[0]):
        assert np.isfinite(host(ax.jacrev(function)(zero))).all()


def test_the_pseudoinverse_of_the_identity_has_the_derivative_of_the_inverse() -> None:
    one = put(np.eye(2), "numpy")
    for jacobian in (ax.jacfwd, ax.jacrev):
        got = host(jacobian(anp.linalg.pinv)(one)).reshape(4, 4)
        np.testing.assert_allclose(got, -np.eye(4), atol=1e-12)


@pytest.mark.parametrize(
    "values", [(1.0, 2.0, 3.0, 0.0), (1.0, 0.0, 2.0, 3.0), (1.0, 2.0, 0.0, 0.0)]
)
def test_the_gradient_of_a_determinant_is_that_of_the_polynomial(values: Any) -> None:
    q, p = rotation(1, 4), rotation(2, 4)
    x = q @ np.diag(values) @ p
    others = [np.prod(np.delete(values, i)) for i in range(4)]
    wanted = np.linalg.det(q) * np.linalg.det(p) * q @ np.diag(others) @ p
    got = host(ax.grad(anp.linalg.det)(put(x, "numpy")))
    np.testing.assert_allclose(got, wanted, atol=1e-12)


def names(graph: Any) -> list[str]:
    return [e.primitive.name for e in graph.equations]


def test_a_system_is_factorised_once_however_often_it_is_differentiated() -> None:
    a, b = put(np.eye(3), "numpy"), put(np.ones(3), "numpy")

    def loss(a: Any, b: Any) -> Any:
        return anp.sum(anp.linalg.solve(a, b) ** 2)

    graph = ax.make_graph(ax.grad(loss, argnums=(0, 1)))(a, b)
    assert names(graph).count("lu") == 1
    assert "triangular_solve" not in names(graph)


def test_one_matrix_for_a_batch_of_right_hand_sides_is_not_repeated() -> None:
    a, b = put(np.eye(3), "numpy"), put(np.ones((5, 3)), "numpy")
    graph = ax.make_graph(ax.vmap(anp.linalg.solve, in_axes=(None, 0)))(a, b)
    (solution,) = [e for e in graph.equations if e.primitive.name == "linear_solve"]
    assert solution.inputs[0].aval.shape == (3, 3)
    assert solution.inputs[3].aval.shape == (3, 5)


def test_the_gradient_goes_through_a_batch_of_solutions() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(4, 3, 3)) + 4 * np.eye(3), rng.normal(size=(4, 3))

    def loss(a: Any, b: Any) -> Any:
        return anp.sum(ax.vmap(anp.linalg.solve)(a, b) ** 2)

    by_a, by_b = ax.grad(loss, argnums=(0, 1))(put(a, "numpy"), put(b, "numpy"))
    x = np.linalg.solve(a, b[..., None])[..., 0]
    back = np.linalg.solve(a.swapaxes(-1, -2), 2 * x[..., None])[..., 0]
    np.testing.assert_allclose(host(by_b), back, rtol=1e-10)
    np.testing.assert_allclose(host(by_a), -back[:, :, None] * x[:, None, :], rtol=1e-10)


@pytest.mark.parametrize("shape", [(0, 0), (3, 0, 0), (0, 3, 3), (0, 3), (3, 0), (2, 3, 0)])
@pytest.mark.parametrize("backend", BACKENDS)
def test_matrices_without_elements_give_what_numpy_gives(shape: Any, backend: str) -> None:
    x = np.zeros(shape)
    for name in ("svd", "qr", "pinv", "eigh", "inv", "det", "slogdet", "cholesky", "svdvals"):
        try:
            wanted = getattr(np.linalg, name)(x)
        except np.linalg.LinAlgError:
            continue
        function = getattr(anp.linalg, name)
        for got in (function(put(x, backend)), ax.jit(function)(put(x, backend))):
            pairs = zip(got, wanted) if isinstance(wanted, tuple) else [(got, wanted)]
            for g, w in pairs:
                np.testing.assert_array_equal(host(g), w, err_msg=name)


def test_a_long_permutation_is_that_of_its_exchanges() -> None:
    rng = np.random.default_rng(3)
    pivots = np.array([rng.integers(i, 40) for i in range(30)], np.int32)
    order = np.arange(40)
    for i, j in enumerate(pivots):
        order[[i, j]] = order[[j, i]]
    for backend in BACKENDS:
        function = ax.jit(lambda p: linalg.permutation_of_pivots(p, size=40))
        np.testing.assert_array_equal(host(function(put(pivots, backend))), order)


def test_larger_matrices_are_factorised_alike_on_both_backends() -> None:
    x = np.random.default_rng(4).normal(size=(2, 40, 40))
    for function in (
        anp.linalg.inv,
        anp.linalg.svdvals,
        lambda a: anp.matmul(*anp.linalg.qr(a)),
        lambda a: anp.linalg.slogdet(a).logabsdet,
        lambda a: anp.linalg.cholesky(a @ a.mT),
    ):
        left, right = (host(ax.jit(function)(put(x, backend))) for backend in BACKENDS)
        np.testing.assert_allclose(left, right, rtol=1e-8, atol=1e-8)


def test_refusals_say_what_is_wrong() -> None:
    with pytest.raises(errors.ShapeError, match="square matrices in the last two axes"):
        linalg.cholesky(put(np.ones((2, 3)), "numpy"))
    with pytest.raises(errors.DtypeError, match="cholesky is not defined for int64"):
        linalg.cholesky(put(np.ones((2, 2), np.int64), "numpy"))
    with pytest.raises(errors.ShapeError, match="does not fit"):
        linalg.solve_left(put(np.ones((2, 2)), "numpy"), put(np.ones((3, 1)), "numpy"), lower=True)
    with pytest.raises(errors.ShapeError, match="pivots"):
        linalg.permutation_of_pivots(put(np.zeros(3, np.int32), "numpy"), size=2)
    with pytest.raises(errors.ShapeError, match="square"):
        determinant.det(put(np.ones((2, 3)), "numpy"))
