"""What the case table cannot say of `arrayx.numpy.linalg` and `arrayx.scipy.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg as reference

import arrayx as ax
import arrayx.lax.linalg as lax_linalg
import arrayx.numpy as anp
import arrayx.scipy.linalg as scipy_linalg
from arrayx import errors
from arrayx.conformance.checks import put

A = np.array([[4.0, 1.0, 0.5], [1.0, 5.0, 0.2], [0.5, 0.2, 6.0]])
SQUARE = ("inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh", "eig", "eigvals")


@pytest.mark.parametrize("name", SQUARE)
def test_matrices_that_are_not_square_are_refused_by_name(name: str) -> None:
    with pytest.raises(errors.ShapeError, match=rf"{name}: .* must be square, got shape \(2, 3\)"):
        getattr(anp.linalg, name)(anp.ones((2, 3)))


@pytest.mark.parametrize("name", [*SQUARE, "svd", "qr", "pinv", "svdvals", "cond"])
def test_vectors_are_no_matrices(name: str) -> None:
    with pytest.raises(errors.ShapeError, match=rf"{name}: .* at least 2 dimensions"):
        getattr(anp.linalg, name)(anp.ones(3))


def test_refusals_say_what_was_expected() -> None:
    with pytest.raises(errors.ShapeError, match=r"solve: b of shape \(2,\) needs 3 rows"):
        anp.linalg.solve(A, np.ones(2))
    with pytest.raises(errors.ShapeError, match="cannot be broadcast"):
        anp.linalg.solve(np.ones((2, 3, 3)), np.ones((5, 3, 1)))
    with pytest.raises(errors.ArgumentError, match="UPLO"):
        anp.linalg.eigh(A, "X")
    with pytest.raises(errors.ArgumentError, match="mode"):
        anp.linalg.qr(A, "full")
    with pytest.raises(errors.ArgumentError, match="order of matrices"):
        anp.linalg.norm(A, 3, (0, 1))
    with pytest.raises(errors.ArgumentError, match="rtol and rcond"):
        anp.linalg.pinv(A, 0.1, rcond=0.1)
    with pytest.raises(errors.ArgumentError, match="trans"):
        scipy_linalg.solve_triangular(A, np.ones(3), trans=3)


@pytest.mark.parametrize("dtype", ["int32", "float16", "bfloat16", "float32", "float64", "int64"])
def test_dtypes_are_those_of_division(dtype: str) -> None:
    x = anp.array(np.eye(2) * 2).astype(dtype)
    wanted = (x / x).dtype
    for result in (
        anp.linalg.inv(x),
        anp.linalg.det(x),
        anp.linalg.solve(x, x),
        *anp.linalg.slogdet(x),
        *anp.linalg.svd(x),
        *anp.linalg.eigh(x),
        *anp.linalg.qr(x),
        anp.linalg.pinv(x),
        anp.linalg.cond(x),
        scipy_linalg.lu_factor(x)[0],
        *scipy_linalg.lu(x),
    ):
        assert result.dtype == wanted


def test_values_and_vectors_of_complex_matrices_have_their_own_dtypes() -> None:
    x = anp.array(A.astype(np.complex64))
    w, v = anp.linalg.eigh(x)
    assert (w.dtype, v.dtype) == (np.float32, np.complex64)
    u, s, vh = anp.linalg.svd(x)
    assert (u.dtype, s.dtype, vh.dtype) == (np.complex64, np.float32, np.complex64)


def test_eigenvalues_of_any_matrix_are_complex() -> None:
    for dtype, wanted in (("int32", "complex64"), ("float64", "complex128")):
        w, v = anp.linalg.eig(anp.array([[0, -1], [1, 0]]).astype(dtype))
        assert w.dtype == v.dtype == anp.linalg.eigvals(anp.eye(2).astype(dtype)).dtype == wanted
        np.testing.assert_allclose(np.sort(np.asarray(w).imag), [-1, 1], atol=1e-6)
    np.testing.assert_allclose(np.asarray(v) * np.asarray(w), np.array([[0, -1], [1, 0]]) @ v)


def test_the_sum_of_the_eigenvalues_has_the_gradient_of_the_trace() -> None:
    for x in (A, np.eye(3), A + np.triu(np.ones((3, 3)), 1)):
        got = ax.grad(lambda a: anp.sum(anp.linalg.eigvals(a)).real)(anp.array(x))
        np.testing.assert_allclose(got, np.eye(3), atol=1e-10)


def test_results_are_named_like_those_of_numpy() -> None:
    assert anp.linalg.svd(A)._fields == ("U", "S", "Vh")
    assert anp.linalg.qr(A)._fields == ("Q", "R")
    assert anp.linalg.eigh(A)._fields == ("eigenvalues", "eigenvectors")
    assert anp.linalg.eig(A)._fields == ("eigenvalues", "eigenvectors")
    assert anp.linalg.slogdet(A)._fields == ("sign", "logabsdet")
    values = ax.jit(anp.linalg.eigh)(A)
    np.testing.assert_allclose(values.eigenvalues, np.linalg.eigvalsh(A))


def test_triangles_are_read_as_asked() -> None:
    x = A + np.triu(np.ones((3, 3)), 1)
    lower = np.tril(x) + np.tril(x, -1).T
    upper = np.triu(x) + np.triu(x, 1).T
    for uplo, whole in (("L", lower), ("U", upper)):
        got = anp.linalg.eigvalsh(x, uplo, symmetrize_input=False)
        np.testing.assert_allclose(got, np.linalg.eigvalsh(whole))
        c = scipy_linalg.cholesky(x, lower=uplo == "L")
        np.testing.assert_allclose(c, reference.cholesky(whole, lower=uplo == "L"))
    np.testing.assert_allclose(anp.linalg.eigvalsh(x), np.linalg.eigvalsh((x + x.T) / 2))


def test_gradients_of_symmetric_functions_are_symmetric() -> None:
    got = np.asarray(ax.grad(lambda a: anp.sum(anp.linalg.cholesky(a)))(anp.array(A)))
    np.testing.assert_allclose(got, got.T)


def test_qr_modes_have_the_shapes_of_numpy() -> None:
    x = np.arange(6.0).reshape(3, 2)
    for mode in ("reduced", "complete"):
        for got, wanted in zip(anp.linalg.qr(x, mode), np.linalg.qr(x, mode)):
            assert got.shape == wanted.shape
    assert anp.linalg.qr(x, "r").shape == (2, 2)
    assert [r.shape for r in scipy_linalg.qr(x)] == [(3, 3), (3, 2)]


def test_least_squares_of_deficient_rank_gives_the_shortest_solution() -> None:
    a = np.array([[1.0, 1.0], [1.0, 1.0], [2.0, 2.0]])
    b = np.array([1.0, 2.0, 3.0])
    x, residuals, rank, s = anp.linalg.lstsq(a, b, numpy_resid=True)
    wanted = np.linalg.lstsq(a, b)
    np.testing.assert_allclose(x, wanted[0])
    assert residuals.shape == wanted[1].shape == (0,)
    assert int(rank) == 1
    np.testing.assert_allclose(s, wanted[3], atol=1e-12)
    assert anp.linalg.lstsq(a, b)[1].shape == (1,)


def test_ranks_are_counted_in_stacks_and_by_tolerance() -> None:
    x = np.stack([np.eye(3), np.diag([1.0, 1e-3, 0.0])])
    np.testing.assert_array_equal(anp.linalg.matrix_rank(x), [3, 2])
    np.testing.assert_array_equal(anp.linalg.matrix_rank(x, tol=0.1), [3, 1])
    np.testing.assert_array_equal(anp.linalg.matrix_rank(x, rtol=0.1), [3, 1])
    assert int(anp.linalg.matrix_rank(np.zeros(3))) == 0


@pytest.mark.parametrize("ord", ["nuc", 2, -2, "fro", 1, -1, np.inf, -np.inf])
@pytest.mark.parametrize("keepdims", [False, True])
def test_norms_of_matrices_are_those_of_numpy(ord: Any, keepdims: bool) -> None:
    x = np.random.default_rng(0).normal(size=(3, 2, 4))
    for axis in ((0, 2), (2, 1), (-1, 0)):
        got = anp.linalg.norm(x, ord, axis, keepdims)
        wanted = np.linalg.norm(x, ord, axis, keepdims)
        np.testing.assert_allclose(got, wanted)
    np.testing.assert_allclose(
        anp.linalg.matrix_norm(x, ord=ord, keepdims=keepdims),
        np.linalg.matrix_norm(x, ord=ord, keepdims=keepdims),
    )


def test_arrays_stay_on_their_backend() -> None:
    x = put(A, "xla")
    for result in (
        anp.linalg.inv(x),
        anp.linalg.det(x),
        *anp.linalg.slogdet(x),
        anp.linalg.cholesky(x),
        anp.linalg.pinv(x),
        anp.linalg.matrix_rank(x),
        anp.linalg.cond(x, "fro"),
        anp.linalg.lstsq(x, x)[0],
        anp.linalg.norm(x, "nuc"),
        anp.linalg.matrix_power(x, -2),
        *scipy_linalg.lu(x),
        scipy_linalg.lu_solve(scipy_linalg.lu_factor(x), x),
        scipy_linalg.eigh(x, x)[0],
        scipy_linalg.block_diag(x, x),
        anp.fft.fftn(x),
        anp.fft.irfft(anp.fft.rfft(x), 3),
        anp.fft.hfft(x),
        anp.fft.fftshift(x),
        ax.grad(lambda a: anp.linalg.slogdet(a)[1])(x),
    ):
        assert result.device.backend.name == "xla"


def test_second_derivatives_of_the_logarithm_of_a_determinant() -> None:
    inverse = np.linalg.inv(A)
    got = ax.hessian(lambda a: anp.linalg.slogdet(a)[1])(anp.array(A))
    wanted = -np.einsum("li,jk->ijkl", inverse, inverse)
    np.testing.assert_allclose(got, wanted, atol=1e-12)


def test_lax_takes_the_argument_forms_of_jax() -> None:
    z = A + 1j * np.arange(9.0).reshape(3, 3)
    b = np.array([1.0, 2.0, 3.0])
    for conjugate_a in (False, True):
        for transpose_a in (False, True):
            m = np.tril(z)
            m = m.conj() if conjugate_a else m
            m = m.T if transpose_a else m
            how = {"lower": True, "transpose_a": transpose_a, "conjugate_a": conjugate_a}
            left = lax_linalg.triangular_solve(z, b.astype(complex), left_side=True, **how)
            right = lax_linalg.triangular_solve(z, b.astype(complex), **how)
            np.testing.assert_allclose(m @ np.asarray(left), b, atol=1e-12)
            np.testing.assert_allclose(np.asarray(right) @ m, b, atol=1e-12)
    factors, pivots, order = lax_linalg.lu(A)
    np.testing.assert_array_equal(lax_linalg.lu_pivots_to_permutation(pivots, 3), order)
    lower = np.tril(np.asarray(factors), -1) + np.eye(3)
    np.testing.assert_allclose(lower @ np.triu(factors), A[np.asarray(order)])
    v, w = lax_linalg.eigh(A)
    np.testing.assert_allclose(A @ np.asarray(v), np.asarray(v) * np.asarray(w), atol=1e-12)
    np.testing.assert_allclose(ax.lax.fft(A, "RFFT", (3, 3)), np.fft.rfft2(A), atol=1e-12)
