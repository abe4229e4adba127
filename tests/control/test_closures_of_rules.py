"""Rules of users' own that close over traced values, in every nesting of transformations.

The function is of two arguments, one of them closed over; its rule gives the true derivative, so
that the same program without the rule is the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp

W, X = np.float32(0.7), np.float32(1.3)
Ws, Xs = np.array([0.7, 0.2], np.float32), np.array([1.3, -0.4], np.float32)


def slope(w: Any, v: Any) -> Any:
    return anp.cos(w * v) * w * v + anp.sin(w * v)


def plain(w: Any) -> Callable[[Any], Any]:
    return lambda v: anp.sin(w * v) * v


def by_jvp(w: Any) -> Callable[[Any], Any]:
    f = ax.custom_jvp(plain(w))
    f.defjvp(lambda p, t: (f(p[0]), slope(w, p[0]) * t[0]))
    return f


def by_vjp(w: Any) -> Callable[[Any], Any]:
    f = ax.custom_vjp(plain(w))
    f.defvjp(lambda v: (f(v), v), lambda v, ct: (slope(w, v) * ct,))
    return f


def by_vjp_with_residuals(w: Any) -> Callable[[Any], Any]:
    f = ax.custom_vjp(plain(w))
    f.defvjp(lambda v: (f(v), (v, w)), lambda kept, ct: (slope(kept[1], kept[0]) * ct,))
    return f


# Each takes the maker `m` of a function that closes over its argument.
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "ww": lambda m: ax.grad(ax.grad(lambda w: m(w)(X)))(W),
    "wx": lambda m: ax.grad(lambda x: ax.grad(lambda w: m(w)(x))(W))(X),
    "xw": lambda m: ax.grad(lambda w: ax.grad(lambda x: m(w)(x))(X))(W),
    "xx": lambda m: ax.grad(lambda x: ax.grad(lambda x2: m(W)(x2))(x))(X),
    "jwx": lambda m: ax.jit(ax.grad(lambda x: ax.grad(lambda w: m(w)(x))(W)))(X),
    "j(w)x": lambda m: ax.grad(lambda x: ax.jit(ax.grad(lambda w: m(w)(x)))(W))(X),
    "jxw": lambda m: ax.jit(ax.grad(lambda w: ax.grad(lambda x: m(w)(x))(X)))(W),
    "jww": lambda m: ax.jit(ax.grad(ax.grad(lambda w: m(w)(X))))(W),
    "vwg": lambda m: ax.vmap(ax.grad(lambda w: m(w)(X)))(Ws),
    "vxgw": lambda m: ax.vmap(lambda x: ax.grad(lambda w: m(w)(x))(W))(Xs),
    "gwvx": lambda m: ax.grad(lambda w: anp.sum(ax.vmap(lambda x: m(w)(x))(Xs)))(W),
    "gxvw": lambda m: ax.grad(lambda x: anp.sum(ax.vmap(lambda w: m(w)(x))(Ws)))(X),
    "jvwg": lambda m: ax.jit(ax.vmap(ax.grad(lambda w: m(w)(X))))(Ws),
    "jvxgw": lambda m: ax.jit(ax.vmap(lambda x: ax.grad(lambda w: m(w)(x))(W)))(Xs),
    "jvxgx": lambda m: ax.jit(ax.vmap(lambda x, w: ax.grad(lambda x: m(w)(x))(x)))(Xs, Ws),
    "jvwgx": lambda m: ax.jit(ax.vmap(lambda w: ax.grad(lambda x: m(w)(x))(X)))(Ws),
    "jgvw": lambda m: ax.jit(ax.grad(lambda w: anp.sum(ax.vmap(lambda x: m(w)(x))(Xs))))(W),
    "gwgxv": lambda m: ax.grad(lambda w: anp.sum(ax.vmap(ax.grad(lambda x: m(w)(x)))(Xs)))(W),
    "gxvgw": lambda m: ax.grad(lambda x: anp.sum(ax.vmap(ax.grad(lambda w: m(w)(x)))(Ws)))(X),
    "jgxvgw": lambda m: ax.jit(ax.grad(lambda x: anp.sum(ax.vmap(ax.grad(lambda w: m(w)(x)))(Ws))))(
        X
    ),
    "gxgwv": lambda m: ax.grad(
        lambda x: ax.grad(lambda w: anp.sum(ax.vmap(lambda y: m(w)(x * y))(Xs)))(W)
    )(X),
    "vgxgw": lambda m: ax.vmap(ax.grad(lambda x: ax.grad(lambda w: m(w)(x))(W)))(Xs),
    "vgwgx": lambda m: ax.vmap(ax.grad(lambda w: ax.grad(lambda x: m(w)(x))(X)))(Ws),
    "jvgxgw": lambda m: ax.jit(ax.vmap(ax.grad(lambda x: ax.grad(lambda w: m(w)(x))(W))))(Xs),
    "jvgwgx": lambda m: ax.jit(ax.vmap(ax.grad(lambda w: ax.grad(lambda x: m(w)(x))(X))))(Ws),
    "vxw": lambda m: ax.grad(lambda x: ax.value_and_grad(lambda w: m(w)(x))(W)[0])(X),
    "hessw": lambda m: ax.jacfwd(ax.grad(lambda w: m(w)(X)))(W),
    "hessx": lambda m: ax.jacfwd(lambda w: ax.grad(lambda x: m(w)(x))(X))(W),
    "cond": lambda m: ax.grad(lambda w: ax.lax.cond(w > 0, lambda x: m(w)(x), lambda x: x, X))(W),
    "condx": lambda m: ax.grad(
        lambda x: ax.grad(lambda w: ax.lax.cond(w > 0, lambda x: m(w)(x), lambda x: x, x))(W)
    )(X),
    "scan": lambda m: ax.grad(
        lambda x: ax.grad(lambda w: ax.lax.scan(lambda c, _: (m(w)(c), None), x, length=2)[0])(W)
    )(X),
    "cp": lambda m: ax.grad(lambda x: ax.grad(lambda w: ax.checkpoint(lambda x: m(w)(x))(x))(W))(X),
}


@pytest.mark.parametrize("maker", [by_jvp, by_vjp, by_vjp_with_residuals])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_rule_that_closes_over_a_traced_value_gives_the_true_derivative(
    program: str, maker: Any
) -> None:
    run = PROGRAMS[program]
    np.testing.assert_allclose(np.asarray(run(maker)), np.asarray(run(plain)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("wrap", [lambda f: f, ax.jit])
def test_a_value_keeps_its_rule_outside_of_the_differentiation_by_what_it_closes_over(
    wrap: Any,
) -> None:
    def f(x: Any) -> Any:
        def inner(w: Any) -> Any:
            g = ax.custom_jvp(lambda v: w * v)
            g.defjvp(lambda p, t: (g(p[0]), 10 * w * t[0]))  # not the true one
            return g(x)

        return ax.value_and_grad(inner)(2.0)

    values, derivatives = wrap(ax.jacrev(f))(3.0)
    assert (float(values), float(derivatives)) == (20.0, 1.0)
