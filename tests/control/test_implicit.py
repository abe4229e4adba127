"""`custom_linear_solve` and `custom_root`: derivatives of solutions, whoever finds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors

RNG = np.random.default_rng(0)
A = RNG.normal(size=(3, 3)) + 4 * np.eye(3)
B = RNG.normal(size=3)
MANY = np.stack([A, A + 0.1]), np.stack([B, 2 * B])
WRAPS: dict[str, Callable[..., Any]] = {"eager": lambda f: f, "jit": ax.jit}


def reference(a: Any, b: Any) -> Any:
    return anp.linalg.solve(a, b)


def solution(a: Any, b: Any) -> Any:
    return ax.lax.custom_linear_solve(
        lambda x: a @ x,
        b,
        lambda matvec, b: anp.linalg.solve(a, b),
        transpose_solve=lambda vecmat, b: anp.linalg.solve(a.T, b),
    )


def symmetric(a: Any, b: Any) -> Any:
    s = a + a.T
    return ax.lax.custom_linear_solve(
        lambda x: {"x": s @ x["x"]},
        {"x": b},
        lambda matvec, b: ({"x": anp.linalg.solve(s, b["x"])}, anp.sum(b["x"])),
        symmetric=True,
        has_aux=True,
    )[0]["x"]


PAIRS = {
    "of any": (solution, reference),
    "symmetric, a tree, with aux": (symmetric, lambda a, b: reference(a + a.T, b)),
}


def loss(f: Any) -> Any:
    return lambda a, b: anp.sum(anp.sin(f(a, b)))


BOTH = (0, 1)
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "value": lambda f: f(A, B),
    "grad": lambda f: ax.grad(loss(f), BOTH)(A, B),
    "forward": lambda f: ax.jacfwd(f, BOTH)(A, B),
    "forward over reverse": lambda f: ax.hessian(loss(f), BOTH)(A, B),
    "reverse over reverse": lambda f: ax.jacrev(ax.grad(loss(f), BOTH), BOTH)(A, B),
    "reverse over forward": lambda f: ax.jacrev(ax.jacfwd(loss(f), BOTH), BOTH)(A, B),
    "vmap": lambda f: ax.vmap(f)(*MANY),
    "vmap of the matrix": lambda f: ax.vmap(f, (0, None))(MANY[0], B),
    "vmap of the right side": lambda f: ax.vmap(f, (None, 1))(A, MANY[1].T),
    "vmap of grad": lambda f: ax.vmap(ax.grad(loss(f), BOTH))(*MANY),
    "grad of vmap": lambda f: ax.grad(
        lambda a, b: anp.sum(anp.sin(ax.vmap(f, (0, None))(a, b))), BOTH
    )(MANY[0], B),
    "vmap of hessian": lambda f: ax.vmap(ax.hessian(loss(f)))(*MANY),
    "checkpoint": lambda f: ax.grad(loss(ax.checkpoint(f)), BOTH)(A, B),
}


def same(got: Any, want: Any, rtol: float = 1e-9) -> None:
    for a, b in zip(ax.tree.leaves(got), ax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_linear_solutions_have_all_derivatives(program: str, pair: str, wrap: str) -> None:
    run, (f, g) = PROGRAMS[program], PAIRS[pair]
    same(WRAPS[wrap](lambda: run(f))(), run(g))


def test_linear_solutions_run_on_xla() -> None:
    with ax.default_backend("xla"):
        same(ax.jit(ax.grad(loss(solution), BOTH))(A, B), ax.grad(loss(reference), BOTH)(A, B))


def test_a_solver_that_python_stops_is_not_looked_into() -> None:
    def conjugate_gradients(matvec: Any, b: Any) -> Any:
        def step(state: Any) -> Any:
            x, r, p = state
            ap = matvec(p)
            alpha = anp.vdot(r, r) / anp.vdot(p, ap)
            after = r - alpha * ap
            return x + alpha * p, after, after + anp.vdot(after, after) / anp.vdot(r, r) * p

        def going(state: Any) -> Any:
            return anp.vdot(state[1], state[1]) > 1e-24

        return ax.lax.while_loop(going, step, (anp.zeros_like(b), b, b))[0]

    def f(a: Any, b: Any) -> Any:
        s = a @ a.T
        return ax.lax.custom_linear_solve(lambda x: s @ x, b, conjugate_gradients, symmetric=True)

    want = ax.grad(loss(lambda a, b: reference(a @ a.T, b)), BOTH)(A, B)
    for wrap in WRAPS.values():
        same(wrap(ax.grad(loss(f), BOTH))(A, B), want, 1e-7)


# ----------------------------------------------------------------- roots


def cube_root(a: Any) -> Any:
    def newton(f: Any, x: Any) -> Any:
        return ax.lax.while_loop(
            lambda x: anp.abs(f(x)) > 1e-12, lambda x: x - f(x) / (3 * x**2), x
        )

    return ax.lax.custom_root(
        lambda x: x**3 - a, anp.ones_like(a), newton, lambda g, y: y / g(anp.ones_like(y))
    )


def vector_root(a: Any) -> Any:
    def newton(f: Any, x: Any) -> Any:
        for _ in range(12):
            x = {"x": x["x"] - anp.linalg.solve(ax.jacfwd(f)(x)["x"]["x"], f(x)["x"])}
        return x, anp.sum(x["x"])

    def tangent(g: Any, y: Any) -> Any:
        return {"x": anp.linalg.solve(ax.jacobian(g)(y)["x"]["x"], y["x"])}

    root, total = ax.lax.custom_root(
        lambda x: {"x": A @ x["x"] + anp.sin(x["x"]) - a}, {"x": a}, newton, tangent, has_aux=True
    )
    return root["x"], total


@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("wrap", WRAPS)
def test_a_root_has_the_derivatives_of_one(wrap: str, backend: str) -> None:
    wrapped = WRAPS[wrap]
    x = np.array([8.0, 1.0, 27.0])
    first, second = x ** (-2 / 3) / 3, -2 / 9 * x ** (-5 / 3)
    with ax.default_backend(backend):
        same(wrapped(ax.vmap(cube_root))(x), np.cbrt(x))
        same(wrapped(ax.vmap(ax.grad(cube_root)))(x), first)
        same(wrapped(ax.grad(lambda x: anp.sum(ax.vmap(cube_root)(x))))(x), first)
        same(wrapped(ax.vmap(ax.jacfwd(cube_root)))(x), first)
        same(wrapped(ax.vmap(ax.grad(ax.grad(cube_root))))(x), second)
        same(wrapped(ax.vmap(ax.jacfwd(ax.grad(cube_root))))(x), second)


@pytest.mark.parametrize("wrap", WRAPS)
def test_a_root_of_many_equations(wrap: str) -> None:
    root, total = WRAPS[wrap](vector_root)(B)
    same(A @ np.asarray(root) + np.sin(root), B)
    same(total, np.sum(root))
    jacobian = np.linalg.inv(A + np.diag(np.cos(root)))
    for derivative in (ax.jacrev, ax.jacfwd):
        by_root, by_total = WRAPS[wrap](derivative(vector_root))(B)
        same(by_root, jacobian)
        same(by_total, np.zeros(3))  # what is beside the root is no function of it


MISTAKES: dict[str, tuple[Callable[[], Any], type, list[str]]] = {
    "no transpose": (
        lambda: ax.grad(
            lambda b: anp.sum(ax.lax.custom_linear_solve(lambda x: 2 * x, b, lambda _, b: b / 2))
        )(B),
        errors.GradError,
        ["transpose_solve", "symmetric=True", "ax.jacfwd"],
    ),
    "another shape": (
        lambda: ax.lax.custom_linear_solve(lambda x: x[:2], B, lambda _, b: b),
        errors.ArgumentError,
        ["<lambda> has to return the types of b", "float64[2], not float64[3]"],
    ),
    "another structure": (
        lambda: ax.lax.custom_linear_solve(lambda x: x, B, lambda _, b: (b,)),
        errors.ArgumentError,
        ["structure of b", "(*,)"],
    ),
    "no array": (
        lambda: ax.lax.custom_root(lambda x: x, {"a": "text"}, lambda f, x: x, lambda g, y: y),
        errors.ArgumentError,
        ["initial_guess['a']", "'text'"],
    ),
    "no function": (
        lambda: ax.lax.custom_root(3, 1.0, lambda f, x: x, lambda g, y: y),
        errors.NotCallableError,
        ["ax.lax.custom_root"],
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_say_what_to_do(mistake: str) -> None:
    call, kind, parts = MISTAKES[mistake]
    with pytest.raises(kind) as caught:
        call()
    for part in parts:
        assert part in str(caught.value)
