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


# What holds a rule that closes over what is around it; the inner rule uses `y` of the program.
HOLDING: dict[str, Callable[[Any, Any], Any]] = {
    "nothing": lambda g, s: g(s),
    "twice": lambda g, s: g(g(s)),
    "while_loop": lambda g, s: lax.while_loop(
        lambda c: c[0] < 2, lambda c: (c[0] + 1, g(c[1])), (0, s), max_steps=3
    )[1],
    "fori_loop": lambda g, s: lax.fori_loop(0, 2, lambda _, c: g(c), s),
    "scan": lambda g, s: lax.scan(lambda c, _: (g(c), None), s, None, length=2)[0],
    "cond": lambda g, s: lax.cond(s > 0.1, lambda: g(s), lambda: s * 2.0),
    "map": lambda g, s: anp.sum(lax.map(g, anp.stack([s, s * 0.5]))),
    "vmap": lambda g, s: anp.sum(ax.vmap(g)(anp.stack([s, s * 0.5]))),
    "jit": lambda g, s: ax.jit(g)(s),
    "checkpoint": lambda g, s: ax.checkpoint(g)(s),
}
RULES: dict[str, Callable[[Any], Any]] = {
    "custom_jvp": with_jvp_rule,
    "custom_vjp": with_vjp_rule,
    "custom_vjp again": lambda f: with_vjp_rule(f, again=True),
}
PAIRS = [(a, b) for a in RULES for b in RULES if (a, b[:10]) != ("custom_jvp", "custom_vjp")]
UNDER: dict[str, Callable[[Any, Any, Any], Any]] = {
    "grad of vmap": lambda f, w, xs: ax.grad(lambda x: anp.sum(ax.vmap(f, (None, 0))(w, x)))(xs),
    "grad of jit of vmap": lambda f, w, xs: ax.grad(
        lambda x: anp.sum(ax.jit(ax.vmap(f, (None, 0)))(w, x))
    )(xs),
    "vmap of jit of grad": lambda f, w, xs: ax.vmap(ax.jit(ax.grad(f, 1)), (None, 0))(w, xs),
    "grad of grad of vmap": lambda f, w, xs: ax.grad(
        lambda x: anp.sum(anp.sin(ax.grad(lambda x: anp.sum(ax.vmap(f, (None, 0))(w, x)))(x)))
    )(xs),
}


def rule_in_rule(holding: str, outer: Any, inner: Any) -> Callable[[Any, Any], Any]:
    """A rule that holds another, both of which close over what the program computed."""

    def program(w: Any, x: Any) -> Any:
        y = anp.sin(w) * x

        def held(s: Any) -> Any:
            z = anp.cos(s) * y
            return HOLDING[holding](inner(lambda c: anp.sin(c) * y + z), s) * z

        return outer(held)(x) * y

    return program


# On the diagonal everything meets; the rest is a sweep.
QUICK = {("while_loop", "grad of jit of vmap"), ("nothing", "grad of jit of vmap")} | {
    (a, [*UNDER][i % len(UNDER)]) for i, a in enumerate(HOLDING)
}


@pytest.mark.parametrize(
    ("holding", "under"),
    [
        pytest.param(a, b, marks=[] if (a, b) in QUICK else [pytest.mark.slow])
        for a in HOLDING
        for b in UNDER
    ],
)
@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_a_rule_in_a_rule_closes_over_what_has_ended(
    outer: str, inner: str, holding: str, under: str
) -> None:
    w, xs = np.float64(0.8), np.array([0.6, -0.2, 0.3])
    got = UNDER[under](rule_in_rule(holding, RULES[outer], RULES[inner]), w, xs)
    itself = lambda f: f  # noqa: E731
    want = UNDER[under](rule_in_rule(holding, itself, itself), w, xs)
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-9, atol=1e-12)
