"""Rules of users' own that hold compiled functions, loops and choices, and close over values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors, lax
from arrayx.conformance.by_hand import with_jvp_rule, with_vjp_rule

X = np.float64(0.7)


def wave(x: Any) -> Any:
    return anp.sin(x) * x


def counted(c: Any) -> Any:
    return c[0] + 1, wave(c[1])


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "jit": ax.jit(wave),
    "cond": lambda x: lax.cond(x > 0, wave, lambda x: x, x),
    "scan": lambda x: lax.scan(lambda c, _: (wave(c), c), x, None, length=2)[0],
    "fori_loop": lambda x: lax.fori_loop(0, 2, lambda i, c: wave(c), x),
    "while_loop": lambda x: lax.while_loop(lambda c: c[0] < 2, counted, (0, x), max_steps=3)[1],
    "checkpoint": ax.checkpoint(wave),
    "map": lambda x: lax.map(wave, anp.stack([x, x]))[0],
}
FORMS: dict[str, Callable[[Any], Any]] = {
    "grad": ax.grad,
    "jit of grad": lambda f: ax.jit(ax.grad(f)),
    "grad of jit": lambda f: ax.grad(ax.jit(f)),
    "grad of grad": lambda f: ax.grad(ax.grad(f)),
    "jvp of grad": lambda f: lambda x: ax.jvp(ax.grad(f), (x,), (x,))[1],
    "grad in a loop": lambda f: ax.grad(
        lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=2)[0]
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_jvp_rule_may_differentiate_what_is_compiled(function: str, form: str) -> None:
    f, wrap = FUNCTIONS[function], FORMS[form]
    np.testing.assert_allclose(wrap(with_jvp_rule(f))(X), wrap(f)(X), rtol=1e-12)


def test_a_rule_may_be_compiled_as_a_whole() -> None:
    rule = ax.custom_jvp(wave)

    @rule.defjvp
    @ax.jit
    def _(primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        return anp.sin(x) * x, (anp.cos(x) * x + anp.sin(x)) * dx

    for wrap in FORMS.values():
        np.testing.assert_allclose(wrap(rule)(X), wrap(wave)(X), rtol=1e-12)


def test_a_loop_without_end_in_a_rule_is_refused_in_reverse_mode() -> None:
    rule = with_jvp_rule(lambda x: lax.while_loop(lambda c: c[0] < 2, counted, (0, x))[1])
    with pytest.raises(errors.GradError, match="max_steps"):
        ax.grad(rule)(X)


@pytest.mark.parametrize("limit", [None, 3])
def test_what_a_rule_closes_over_is_differentiated_through_its_loops(limit: int | None) -> None:
    def program(rule: Any, w: Any, s: Any) -> Any:
        def looped(s: Any) -> Any:
            step = lambda c: c * c + w  # noqa: E731
            if limit is None:
                return lax.scan(lambda c, _: (step(c), None), anp.sin(w) * s, None, length=2)[0]
            both = lambda c: (c[0] + 1, step(c[1]))  # noqa: E731
            start = (0, anp.sin(w) * s)
            return lax.while_loop(lambda c: c[0] < 2, both, start, max_steps=limit)[1]

        return rule(looped)(s)

    for wrap in (lambda g: g, ax.jit):
        got = wrap(ax.grad(lambda w, s: program(with_jvp_rule, w, s), (0, 1)))(X, X / 2)
        want = ax.grad(lambda w, s: program(lambda f: f, w, s), (0, 1))(X, X / 2)
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_a_backward_rule_may_choose_by_what_a_batch_around_it_made() -> None:
    def program(rule: Any, w: Any, x: Any) -> Any:
        y = anp.sin(w) * x
        f = lambda s: lax.cond(s > 0.1, lambda: s * y, lambda: s + anp.cos(y))  # noqa: E731
        return rule(f)(x) * y

    ws, xs = np.array([0.3, -0.8]), np.array([0.6, -0.2])
    rule = lambda f: with_vjp_rule(f, again=True)  # noqa: E731
    plain = lambda w, x: program(lambda f: f, w, x)  # noqa: E731
    want = np.stack([ax.grad(plain, 1)(w, x) for w, x in zip(ws, xs, strict=True)])
    ruled = lambda w, x: program(rule, w, x)  # noqa: E731
    np.testing.assert_allclose(ax.vmap(ax.jit(ax.grad(ruled, 1)))(ws, xs), want, rtol=1e-12)
    through = ax.grad(lambda x: anp.sum(ax.jit(ax.vmap(ruled))(ws, x)))(xs)
    np.testing.assert_allclose(through, want, rtol=1e-12)


@pytest.mark.parametrize("wrap", [ax.grad, ax.jacrev, lambda f: ax.grad(ax.grad(f))])
def test_a_branch_may_give_a_constant_as_it_is(wrap: Any) -> None:
    def f(x: Any) -> Any:
        return lax.cond(x > 0, lambda: (np.float64(2.0) * np.ones(()), x), lambda: (x, x))[0] * x

    plain = lambda x: 2.0 * x if x > 0 else x * x  # noqa: E731
    for x in (X, -X):
        np.testing.assert_allclose(wrap(f)(x), wrap(plain)(x), rtol=1e-12)
