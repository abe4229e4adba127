"""`ax.checked` and `ax.debug.check`: mistakes of traced values become errors after the run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.config import config
from arrayx.errors import ArgumentError, CheckError, ConcretizationError, KeyReuseError

X = np.arange(1.0, 4.0, dtype=np.float32)
BACKENDS = ["numpy", "xla"]


def positive(x: Any) -> Any:
    ax.debug.check(x > 0, "x is {x}, not above 0", x=x)
    return anp.sum(x)


# (function, arguments that are right, arguments that are wrong, words of the message)
MISTAKES = {
    "read": (lambda x, i: x[i], (X, 2), (X, 3), "index 3 is out of bounds for axis 0 of length 3"),
    "read of many": (
        lambda x, i: x[i],
        (X, np.array([0, 2])),
        (X, np.array([0, 7])),
        "read out of bounds: index 0 to 7 on an axis of length 3",
    ),
    "read from the end": (
        lambda x, i: x[i],
        (X, np.array([-3])),
        (X, np.array([-4])),
        "read out of bounds: index -1 on",
    ),
    "take": (anp.take, (X, np.array([1])), (X, np.array([5])), "read out of bounds: index 5"),
    "write": (
        lambda x, i: anp.asarray(x).at[i].set(0.0),
        (X, np.array([0, 1])),
        (X, np.array([0, 9])),
        "write out of bounds: index 0 to 9 on an axis of length 3",
    ),
    "window": (
        lambda x, i: ax.lax.dynamic_slice(x, (i,), (2,)),
        (X, 1),
        (X, 2),
        "a window of length 2 that begins at 2 is not inside axis 0, of length 3",
    ),
    "nan": (anp.log, (X,), (-X,), "log made nan"),
    "nan of a difference": (lambda x: x - x, (X,), (X * np.inf,), "sub made nan"),
    "division": (lambda x, y: x / y, (X, X), (X, X - 1), "division by zero"),
    "integer division": (
        lambda x, y: x // y,
        (np.arange(3), np.arange(1, 4)),
        (np.arange(3), np.arange(3)),
        "division by zero",
    ),
    "user": (positive, (X,), (X - 2,), r"x is \[-1.  0.  1.\], not above 0"),
}

WAYS = {
    "plain": lambda f: f,
    "jit": ax.jit,
    "vmap": lambda f: (
        lambda *args: ax.vmap(f)(*(anp.stack([a, a]) for a in map(anp.asarray, args)))
    ),
    "cond": lambda f: (
        lambda *args: ax.lax.cond(
            args[0].sum() > -1e9, lambda *a: f(*a), lambda *a: f(*a) * 0, *args
        )
    ),
    "scan": lambda f: lambda *args: ax.lax.scan(lambda c, _: (c, f(*args)), 0, None, length=2)[1],
    "while": lambda f: (
        lambda *args: ax.lax.while_loop(
            lambda c: c[0] < 2, lambda c: (c[0] + 1, anp.sum(f(*args)) * 1.0), (0, 0.0)
        )
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_raised_after_the_run(name: str, way: str) -> None:
    function, right, wrong, words = MISTAKES[name]
    run = ax.checked(WAYS[way](function))
    for a, b in zip(
        ax.tree.leaves(run(*right)), ax.tree.leaves(WAYS[way](function)(*right)), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    if way in ("vmap", "scan", "while") and name == "user":
        words = "x is "
    with pytest.raises(CheckError, match=words) as caught:
        run(*wrong)
    assert "test_checked.py" in str(caught.value)


@pytest.mark.parametrize("name", ["read of many", "nan", "user"])
def test_on_xla_too(name: str) -> None:
    function, right, wrong, words = MISTAKES[name]
    with ax.default_backend("xla"):
        run = ax.checked(WAYS["scan"](function))
        run(*right)
        with pytest.raises(CheckError, match=words):
            run(*wrong)


def test_a_program_is_compiled_once() -> None:
    traced = []

    def function(x: Any) -> Any:
        traced.append(x)
        return anp.log(x)

    run = ax.checked(function)
    for sign in (1, -1, 1, -1):
        if sign > 0:
            run(X)
        else:
            with pytest.raises(CheckError):
                run(-X)
    assert len(traced) == 1


def test_the_first_mistake_in_the_order_of_the_program_is_told() -> None:
    def function(x: Any) -> Any:
        y = anp.sqrt(x)
        return anp.log(x) + y

    with pytest.raises(CheckError, match="sqrt made nan"):
        ax.checked(function)(-X)


def test_the_first_wrong_step_of_a_loop_is_told() -> None:
    def step(c: Any, e: Any) -> Any:
        ax.debug.check(e < 3, "step {e} after {c}", e=e, c=c)
        return c + 1, None

    with pytest.raises(CheckError, match=r"step 3.0 after 3.0"):
        ax.checked(lambda x: ax.lax.scan(step, 0.0, x)[0])(np.arange(10.0, dtype=np.float32))


def test_a_loop_that_would_never_end_for_a_nan_ends() -> None:
    loop = lambda x: ax.lax.while_loop(lambda c: ~(c < 0), anp.log, x)  # noqa: E731
    with pytest.raises(CheckError, match="log made nan"):
        ax.checked(lambda x: loop(anp.where(x > 0, x * anp.nan, x) * 0 - anp.log(x)))(-1.0)


def test_branches_that_are_not_taken_are_not_looked_at() -> None:
    run = ax.checked(lambda x: ax.lax.cond(x > 0, anp.log, lambda x: anp.log(-x), x))
    assert float(run(np.float32(-1))) == 0.0
    assert float(run(np.float32(1))) == 0.0


def test_checks_can_be_chosen() -> None:
    function = lambda x, i: anp.log(x)[i]  # noqa: E731
    assert np.isnan(ax.checked(function, checks=("nan",))(X, 5))
    with pytest.raises(CheckError, match="log made nan"):
        ax.checked(function, checks=("nan",))(-X, 5)
    with pytest.raises(ArgumentError, match="knows the checks index, nan, division, keys, user"):
        ax.checked(function, checks=("nans",))


def test_a_mode_or_fill_of_the_caller_s_own_is_meant() -> None:
    ax.checked(lambda x, i: x.at[i].get(mode="fill", fill_value=0))(X, 5)
    ax.checked(lambda x, i: x.at[i].get(mode="clip"))(X, 5)
    for mode in ("drop", "fill", "clip"):
        for write in (
            lambda x, i, m=mode: x.at[i].set(0.0, mode=m),
            lambda x, i, m=mode: x.at[i].add(1.0, mode=m),
            ax.grad(lambda x, i, m=mode: anp.sum(x.at[i].mul(2.0, mode=m))),
            ax.jit(lambda x, i, m=mode: x.at[i, None].max(2.0, mode=m)),
        ):
            ax.checked(write)(anp.asarray(X), np.array([0, 5]))


def test_gradients_are_checked_when_checked_is_outside() -> None:
    f = lambda x: anp.sum(anp.sqrt(x) - anp.sqrt(x))  # noqa: E731
    with pytest.raises(CheckError, match="made nan"):
        ax.checked(ax.grad(f), checks=("nan",))(np.zeros(2, np.float32))
    safe = lambda x: anp.sum(anp.where(x > 0, anp.sqrt(x), 0.0))  # noqa: E731
    np.testing.assert_array_equal(ax.checked(ax.grad(safe), checks=("nan",))(X * 0), [0, 0, 0])


def test_inside_another_transformation_it_says_where_it_belongs() -> None:
    for outer in (ax.jit, lambda f: lambda x: ax.vmap(f)(X)):
        with pytest.raises(ConcretizationError, match=r"Put ax\.checked outside"):
            outer(ax.checked(anp.log))(1.0)


def test_eagerly_a_check_raises_at_once_with_its_line() -> None:
    with pytest.raises(CheckError, match=r"x is 0, not 1\n  checked at: .*test_checked\.py"):
        ax.debug.check(False, "x is {x}, not {y}", x=0, y=1)
    ax.debug.check(np.array([True, True]), "never")


def test_without_checked_a_compiled_function_leaves_checks_out() -> None:
    jitted = ax.jit(positive)
    assert float(jitted(-X)) == -6.0
    assert "check" not in str(ax.make_graph(positive)(X))


def test_a_jitted_function_of_before_is_traced_anew_for_its_checks() -> None:
    jitted = ax.jit(positive)
    jitted(X)
    with pytest.raises(CheckError, match="not above 0"):
        ax.checked(jitted)(-X)
    assert float(jitted(-X)) == -6.0
    assert not config.checks


def test_checks_survive_derivatives_of_jitted_functions() -> None:
    with pytest.raises(CheckError, match="not above 0"):
        ax.checked(ax.grad(ax.jit(positive)))(-X)


def test_a_check_in_a_batched_branch_concerns_the_lanes_that_take_it() -> None:
    def branch(e: Any) -> Any:
        ax.debug.check(e > 1, "e is {e}", e=e)
        return e

    run = ax.checked(lambda x: ax.vmap(lambda e: ax.lax.cond(e > 1, branch, lambda e: e, e))(x))
    np.testing.assert_array_equal(run(X), X)


def test_the_message_must_be_given_its_values() -> None:
    with pytest.raises(ArgumentError, match=r"names y, which is not given; given are x"):
        ax.debug.check(True, "{x} {y}", x=1)


def test_a_key_that_is_used_twice_is_noticed_when_staged() -> None:
    def twice(key: Any) -> Any:
        return ax.random.normal(key) + ax.random.uniform(key)

    with pytest.raises(KeyReuseError, match=r"first at: .*twice.*\n  again at: .*twice"):
        ax.checked(twice)(ax.random.key(0))
