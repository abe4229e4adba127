"""Products of Householder reflections, which LAPACK keeps as vectors below a diagonal."""

from __future__ import annotations

from typing import Any

from arrayx import errors
from arrayx.core.aval import Aval
from arrayx.primitives.arithmetic import mul, select, sub
from arrayx.primitives.creation import zero_literal
from arrayx.primitives.linalg import Factorisation, solve_left
from arrayx.primitives.matrices import (
    adjoint,
    along_rows,
    check_matrices,
    identity,
    on_diagonal,
    product,
    triangle,
    with_diagonal,
)
from arrayx.primitives.slicing import cut


def check_reflectors(name: str, a: Aval, taus: Aval) -> Aval:
    """The strong type of reflectors and their factors; raises where they do not fit."""
    a = check_matrices(name, a)
    *batch, m, n = a.shape
    fits = taus.ndim == a.ndim - 1 and taus.shape[:-1] == tuple(batch)
    if not fits or taus.shape[-1] > min(m, n) or taus.dtype != a.dtype:
        raise errors.ShapeError(
            f"{name}: taus {taus} do not fit the reflectors {a}: they need its dtype, its batch "
            f"axes, and at most {min(m, n)} elements"
        )
    return a


def compact(a: Any, taus: Any) -> tuple[Any, Any]:
    """V and T for which the product of all reflections is I - V·T·Vᴴ (Schreiber, Van Loan 1989).

    Reflection number i is I - taus[i]·v·vᴴ, with the part of column i below the diagonal, and 1
    on it, as v.
    """
    k = taus.aval.shape[-1]
    one = type(zero_literal(a.aval.dtype))(1)
    v = with_diagonal(triangle(cut(a, a.aval.ndim - 1, 0, k), lower=True, strict=True), one)
    # T⁻¹ = diag(1 / taus) + U, where U is the upper triangle of Vᴴ·V; taus may be 0.
    shape = (*taus.aval.shape, k)
    scale = along_rows(taus, shape)
    upper = triangle(product(adjoint(v), v), lower=False, strict=True)
    right = select(on_diagonal(shape), scale, zero_literal(a.aval.dtype))
    return v, solve_left(mul(scale, upper), right, lower=False, unit_diagonal=True)


def reflected(v: Any, t: Any, c: Any, left: bool) -> Any:
    """(I - V·T·Vᴴ)·C, or C·(I - V·T·Vᴴ)."""
    if left:
        return sub(c, product(v, product(t, product(adjoint(v), c))))
    return sub(c, product(product(product(c, v), t), adjoint(v)))


class HouseholderProduct(Factorisation):
    """The first columns of the product of reflections, as many as `a` has.

    Reflection number i is I - taus[i]·v·vᴴ, with the part of column i of `a` below the diagonal,
    and 1 on it, as v.  `a` has no fewer rows than columns.
    """

    name = "householder_product"

    def type_rule(self, a: Aval, taus: Aval) -> Aval:
        if a.ndim >= 2 and a.shape[-2] < a.shape[-1]:
            raise errors.ShapeError(f"{self.name} needs no fewer rows than columns, got {a}")
        found = check_reflectors(self.name, a, taus)
        return found.update(varying=a.varying | taus.varying)

    def expand(self, a: Any, taus: Any) -> Any:
        return reflected(*compact(a, taus), identity(a.aval.shape, a.aval.dtype), left=True)


class Ormqr(Factorisation):
    """Q·C (`left`) or C·Q for the product Q of reflections; with `transpose` its adjoint for Q.

    `a` and `taus` are those of `householder_product`; Q has the rows of `a` and is square.
    """

    name = "ormqr"

    def type_rule(self, a: Aval, taus: Aval, c: Aval, *, left: bool, transpose: bool) -> Aval:
        check_reflectors(self.name, a, taus)
        c = check_matrices(self.name, c)
        rows = c.shape[-2 if left else -1]
        if rows != a.shape[-2] or c.shape[:-2] != a.shape[:-2] or c.dtype != a.dtype:
            raise errors.ShapeError(
                f"{self.name}: {c} does not fit the reflectors {a}: they need equal dtypes and "
                f"batch axes, and {a.shape[-2]} {'rows' if left else 'columns'}"
            )
        return c.update(varying=a.varying | taus.varying | c.varying)

    def expand(self, a: Any, taus: Any, c: Any, *, left: bool, transpose: bool) -> Any:
        v, t = compact(a, taus)
        return reflected(v, adjoint(t) if transpose else t, c, left)


householder_product = HouseholderProduct()
ormqr = Ormqr()
