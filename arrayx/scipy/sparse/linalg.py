"""Linear systems solved by iterations that only multiply by the matrix.

The derivative is that of the solution, not of the iteration: it solves the same or the
transposed system for another right side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.flatten_util import ravel_pytree
from arrayx.lax.implicit import custom_linear_solve
from arrayx.lax.loops import fori_loop, while_loop
from arrayx.numpy import arithmetic, logic
from arrayx.numpy.contraction import matmul, vdot
from arrayx.numpy.creation import zeros, zeros_like
from arrayx.numpy.linalg.rank import lstsq
from arrayx.numpy.naming import at_home
from arrayx.numpy.promotion import as_array, as_type
from arrayx.numpy.selection import where
from arrayx.numpy.transcendental import conj, sqrt
from arrayx.primitives import complex as complex_parts

__all__ = ["bicgstab", "cg", "gmres"]

Operator = Callable[[Array], Array]


class _System:
    """A system of equations as functions of vectors."""

    def __init__(self, function: str, A: Any, b: Any, x0: Any, M: Any, maxiter: Any) -> None:
        self.function = f"scipy.sparse.linalg.{function}"
        vector, self.nested = ravel_pytree(b)
        self.b = as_type(vector, dtypes.float_for(vector.dtype))
        self.A = self.operator(A, "A")
        self.M = (lambda v: v) if M is None else self.operator(M, "M")
        self.x0 = zeros_like(self.b)
        if x0 is not None:
            first, _ = ravel_pytree(x0)
            if first.shape != self.b.shape:
                raise errors.ShapeError(
                    f"{self.function}: x0 has {first.shape[0]} elements, b {self.b.shape[0]}"
                )
            self.x0 = as_type(first, self.b.dtype)
        self.maxiter = 10 * self.b.shape[0] if maxiter is None else int(maxiter)

    def operator(self, given: Any, name: str) -> Operator:
        """A function of vectors, from one of what `b` is or from a matrix."""
        if callable(given):

            def apply(v: Array) -> Array:
                made, _ = ravel_pytree(given(self.nested(v)))
                return as_type(made, self.b.dtype)

            return apply
        matrix = as_array(given, self.function, name)
        if matrix.shape != (self.b.shape[0],) * 2:
            raise errors.ShapeError(
                f"{self.function}: {name} of shape {matrix.shape} is no square matrix for "
                f"{self.b.shape[0]} unknowns"
            )
        return lambda v: as_type(matmul(matrix, v), self.b.dtype)

    def solved(self, solve: Callable[[Operator, Array, Array], Array]) -> tuple[Any, None]:
        """What `solve` finds from a right side and a start, with the derivative of a solution."""
        x = custom_linear_solve(
            self.A,
            self.b,
            lambda matvec, b: solve(matvec, b, self.x0),
            lambda vecmat, b: solve(vecmat, b, zeros_like(b)),
        )
        return self.nested(x), None


def _goal(b: Array, tol: Any, atol: Any) -> Any:
    """The square of the residual's norm at which to end."""
    return arithmetic.maximum(arithmetic.multiply(tol * tol, _square(b)), atol * atol)


def _square(v: Array) -> Array:
    """The square of the norm."""
    product = vdot(v, v)
    return complex_parts.real(product) if dtypes.is_complex(product.dtype) else product


def _ratio(a: Any, b: Any) -> Any:
    """A quotient that is 0 where it would be divided by 0: the system is solved then."""
    nothing = logic.equal(b, 0)
    return where(nothing, 0, arithmetic.divide(a, where(nothing, 1, b)))


def _moved(x: Any, factor: Any, direction: Any) -> Any:
    return arithmetic.add(x, arithmetic.multiply(factor, direction))


@at_home
def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Any, None]:
    """The solution of A x = b by conjugate gradients, for a Hermitian, positive `A`.

    `A` is a matrix, or a function of something nested like `b`; so is `M`, which approximates the
    inverse.  It ends once the residual's norm is `tol` times that of `b`, or `atol`, or after
    `maxiter` steps, by default 10 for each unknown.  The second result is None, as in JAX.

    Source: M. Hestenes and E. Stiefel, J. Res. Nat. Bur. Standards 49 (1952) 409-436.

    >>> import numpy as np
    >>> x, _ = cg(np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0]))
    >>> [round(v, 4) for v in x.tolist()]
    [0.0909, 0.6364]
    """
    s = _System("cg", A, b, x0, M, maxiter)

    def solve(A: Operator, b: Array, x0: Array) -> Array:
        goal = _goal(b, tol, atol)
        residual = arithmetic.subtract(b, A(x0))
        better = s.M(residual)
        start = (x0, residual, vdot(residual, better), better)

        def step(state: Any) -> Any:
            x, residual, gamma, direction = state
            image = A(direction)
            length = _ratio(gamma, vdot(direction, image))
            x = _moved(x, length, direction)
            residual = _moved(residual, arithmetic.negative(length), image)
            better = s.M(residual)
            next_gamma = vdot(residual, better)
            return x, residual, next_gamma, _moved(better, _ratio(next_gamma, gamma), direction)

        found = while_loop(
            lambda state: logic.greater(_square(state[1]), goal), step, start, max_steps=s.maxiter
        )
        return found[0]  # type: ignore[no-any-return]

    return s.solved(solve)


@at_home
def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Any, None]:
    """The solution of A x = b by stabilised biconjugate gradients, for any regular `A`.

    The arguments are those of `cg`.

    Source: H. van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631-644.

    >>> import numpy as np
    >>> x, _ = bicgstab(np.array([[4.0, 1.0], [0.0, 3.0]]), np.array([1.0, 2.0]))
    >>> [round(v, 4) for v in x.tolist()]
    [0.0833, 0.6667]
    """
    s = _System("bicgstab", A, b, x0, M, maxiter)

    def solve(A: Operator, b: Array, x0: Array) -> Array:
        goal = _goal(b, tol, atol)
        shadow = arithmetic.subtract(b, A(x0))
        none = zeros_like(shadow)
        one = arithmetic.add(arithmetic.multiply(vdot(shadow, shadow), 0), 1)
        start = (x0, shadow, one, one, one, none, none)

        def step(state: Any) -> Any:
            x, residual, rho, alpha, omega, direction, image = state
            next_rho = vdot(shadow, residual)
            beta = arithmetic.multiply(_ratio(next_rho, rho), _ratio(alpha, omega))
            direction = _moved(residual, beta, _moved(direction, arithmetic.negative(omega), image))
            better = s.M(direction)
            image = A(better)
            alpha = _ratio(next_rho, vdot(shadow, image))
            half = _moved(residual, arithmetic.negative(alpha), image)
            better_half = s.M(half)
            image_of_half = A(better_half)
            omega = _ratio(vdot(image_of_half, half), vdot(image_of_half, image_of_half))
            x = _moved(_moved(x, alpha, better), omega, better_half)
            residual = _moved(half, arithmetic.negative(omega), image_of_half)
            return x, residual, next_rho, alpha, omega, direction, image

        found = while_loop(
            lambda state: logic.greater(_square(state[1]), goal), step, start, max_steps=s.maxiter
        )
        return found[0]  # type: ignore[no-any-return]

    return s.solved(solve)


@at_home
def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Any = None,
    solve_method: str = "batched",
) -> tuple[Any, None]:
    """The solution of A x = b by generalised minimal residuals, for any regular `A`.

    The residual is made smallest over `restart` directions at a time, at most `maxiter` times.
    The other arguments are those of `cg`; of both methods, "batched" and "incremental", there
    is the first.

    Source: Y. Saad and M. Schultz, SIAM J. Sci. Stat. Comput. 7 (1986) 856-869.

    >>> import numpy as np
    >>> x, _ = gmres(np.array([[4.0, 1.0], [0.0, 3.0]]), np.array([1.0, 2.0]))
    >>> [round(v, 4) for v in x.tolist()]
    [0.0833, 0.6667]
    """
    s = _System("gmres", A, b, x0, M, maxiter)
    if solve_method not in ("batched", "incremental"):
        raise errors.ArgumentError(
            f"{s.function}: solve_method is 'batched' or 'incremental', not {solve_method!r}"
        )
    size = s.b.shape[0]
    count = min(int(restart), size)

    def solve(A: Operator, b: Array, x0: Array) -> Array:
        goal = _goal(b, tol, atol)

        def residual_of(x: Array) -> Array:
            return s.M(arithmetic.subtract(b, A(x)))

        def cycle(state: Any) -> Any:
            x, residual = state
            length = sqrt(_square(residual))
            basis = zeros((count + 1, size), b.dtype).at[0].set(_ratio(residual, length))
            factors = zeros((count + 1, count), b.dtype)

            def extend(i: Any, both: Any) -> Any:
                basis, factors = both
                image = s.M(A(basis[i]))
                # Twice, so that rounding does not spoil the right angles.
                parts = matmul(conj(basis), image)
                image = arithmetic.subtract(image, matmul(parts, basis))
                more = matmul(conj(basis), image)
                image = arithmetic.subtract(image, matmul(more, basis))
                rest = sqrt(_square(image))
                column = arithmetic.add(parts, more).at[i + 1].set(as_type(rest, b.dtype))
                return basis.at[i + 1].set(_ratio(image, rest)), factors.at[:, i].set(column)

            basis, factors = fori_loop(0, count, extend, (basis, factors))
            target = zeros(count + 1, b.dtype).at[0].set(as_type(length, b.dtype))
            shares = lstsq(factors, target)[0]
            x = arithmetic.add(x, matmul(shares, basis[:count]))
            return x, residual_of(x)

        found = while_loop(
            lambda state: logic.greater(_square(state[1]), goal),
            cycle,
            (x0, residual_of(x0)),
            max_steps=s.maxiter,
        )
        return found[0]  # type: ignore[no-any-return]

    return s.solved(solve)
