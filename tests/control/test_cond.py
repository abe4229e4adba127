"""`cond` and `switch` under every transformation, and what mistakes with them are told."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from arrayx import errors
from arrayx.api.autodiff import grad, jvp, linearize, vjp
from arrayx.api.checking_gradients import check_grads
from arrayx.api.compilation import jit
from arrayx.api.jacobians import hessian
from arrayx.api.mapping import vmap
from arrayx.api.staging import make_graph
from arrayx.control.cond import cond as primitive
from arrayx.core.graph import Graph
from arrayx.lax.control_flow import cond, switch
from arrayx.primitives.arithmetic import absorb_mul, add, gt, mul, neg, sub
from arrayx.primitives.axes import reduce_sum
from arrayx.primitives.contraction import dot_general
from arrayx.primitives.exponential import log, sqrt
from arrayx.primitives.trigonometric import cos, sin, tanh

X = np.array([0.5, -1.0, 2.0], np.float32)
P = np.array([True, False, True])


def total(x: Any) -> Any:
    return reduce_sum(x, axes=tuple(range(x.ndim)))


def host(x: Any) -> np.ndarray:
    return x.host() if hasattr(x, "host") else np.asarray(x)


def close(got: Any, want: Any, rtol: float = 2e-5) -> None:
    np.testing.assert_allclose(host(got), want, rtol=rtol, atol=1e-6)


def choice(p: Any, x: Any) -> Any:
    return cond(p, lambda x: sin(x), lambda x: mul(x, mul(x, x)), x)


def expected(p: Any, x: Any, order: int = 0) -> Any:
    sines = (np.sin(x), np.cos(x), -np.sin(x))
    cubes = (x**3, 3 * x**2, 6 * x)
    return np.where(p, sines[order], cubes[order])


@pytest.mark.parametrize("p", [True, False, np.bool_(True), 0, 2, 0.5, np.float32(0)])
def test_it_takes_one_branch(p: Any) -> None:
    close(choice(p, 2.0), expected(bool(p), 2.0))
    close(jit(choice)(p, 2.0), expected(bool(p), 2.0))


@pytest.mark.parametrize("p", [True, False])
@pytest.mark.parametrize("wraps", list(permutations(["grad", "jit", "grad", "jit"])))
def test_first_and_second_derivatives_agree_in_every_order(p: bool, wraps: tuple[str, ...]) -> None:
    f: Callable[..., Any] = choice
    for name in wraps:
        f = jit(f) if name == "jit" else grad(f, argnums=1)
    close(f(p, 2.0), expected(p, 2.0, 2))


@pytest.mark.parametrize("p", [True, False])
@pytest.mark.parametrize("wrap", [lambda f: f, jit])
def test_both_modes_agree(p: bool, wrap: Any) -> None:
    f = wrap(lambda x: choice(p, x))
    close(jvp(f, (2.0,), (3.0,))[1], 3 * expected(p, 2.0, 1))
    close(vjp(f, 2.0)[1](3.0)[0], 3 * expected(p, 2.0, 1))
    close(linearize(f, 2.0)[1](3.0), 3 * expected(p, 2.0, 1))
    check_grads(f, (np.float64(0.7),), order=2)


@pytest.mark.parametrize("order", list(permutations(["grad", "vmap", "jit"])))
@pytest.mark.parametrize("axes", [(0, 0), (None, 0), (0, None)])
def test_every_order_of_composition_agrees(order: tuple[str, ...], axes: Any) -> None:
    p = P if axes[0] == 0 else True
    x = X if axes[1] == 0 else np.float32(0.5)
    wraps = {
        "grad": lambda f: grad(lambda p, x: total(f(p, x)), argnums=1),
        "vmap": lambda f: vmap(f, axes),
        "jit": jit,
    }
    f: Callable[..., Any] = choice
    for name in order:
        f = wraps[name](f)
    want = np.broadcast_to(expected(p, x, 1), 3)
    if axes[1] is None and order.index("grad") > order.index("vmap"):
        want = want.sum()  # the gradient of a shared argument
    close(f(p, x), want)


def test_branches_may_use_values_from_around_them() -> None:
    def f(w: Any, x: Any) -> Any:
        return cond(gt(x, 0.0), lambda: mul(w, x), lambda: mul(mul(w, w), x))

    def reference(w: float, x: float) -> float:
        return x if x > 0 else 2 * w * x

    for x in (np.float32(2.0), np.float32(-2.0)):
        for g in (grad(f), jit(grad(f)), grad(jit(f)), jit(grad(jit(f)))):
            close(g(3.0, x), reference(3.0, x))
    want = [reference(3.0, x) for x in X]
    close(vmap(grad(f), (None, 0))(3.0, X), want)
    close(jit(vmap(grad(jit(f)), (None, 0)))(3.0, X), want)
    close(grad(lambda w: total(vmap(f, (None, 0))(w, X)))(3.0), sum(want))
    close(vmap(lambda x: grad(lambda w: f(w, x))(3.0))(X), want)


def test_trees_go_in_and_come_out() -> None:
    def swap(t: Any) -> Any:
        return {"a": t["b"], "b": t["a"]}

    got = cond(True, swap, lambda t: t, {"a": 1.0, "b": 2.0})
    close(got["a"], 2.0)
    close(got["b"], 1.0)


def test_weak_results_give_way_to_strong_ones() -> None:
    got = cond(True, lambda: 1, lambda: np.float64(2.5))
    assert host(got).dtype == np.float64
    close(got, 1.0)
    assert cond(True, lambda: 1.0, lambda: 2.0).weak_type
    assert not cond(True, lambda: 1.0, lambda: np.float32(2.0)).weak_type
    close(cond(False, lambda: 1.5, lambda: 2), 2.0)


def test_switch_clamps_its_index() -> None:
    branches = [sin, cos, neg]
    for i, f in ((-7, np.sin), (0, np.sin), (1, np.cos), (2, np.negative), (9, np.negative)):
        close(switch(i, branches, 2.0), f(2.0))
        close(jit(lambda i: switch(i, branches, 2.0))(i), f(2.0))
    got = vmap(lambda i: switch(i, branches, 2.0))(np.arange(-1, 4))
    close(got, [np.sin(2), np.sin(2), np.cos(2), -2, -2])
    close(switch(np.int64(1 << 40), branches, 2.0), -2.0)
    close(switch(np.uint8(200), branches, 2.0), -2.0)
    close(switch(5, [sin], np.float32(2.0)), np.sin(2.0))


def test_operand_is_the_only_operand_and_none_is_none() -> None:
    close(cond(True, lambda x: x, neg, operand=2.0), 2.0)
    close(cond(True, lambda: 1.0, lambda: 2.0, operand=None), 1.0)


def test_a_branch_not_taken_does_not_poison_the_gradient_of_a_batch() -> None:
    def f(x: Any) -> Any:
        return cond(gt(x, 0.0), lambda x: sqrt(x), lambda x: log(neg(x)), x)

    x = np.array([4.0, -2.0, 0.0], np.float32)
    got = vmap(grad(f))(x)
    close(host(got)[:2], [0.25, -0.5])


def test_only_one_branch_runs_where_the_choice_is_shared() -> None:
    graph = make_graph(vmap(choice, (None, 0)))(True, X)
    assert any(e.primitive is primitive for e in graph.equations)


def residuals_of(f: Callable[..., Any], *args: Any) -> list[Any]:
    """The types that the forward graph of a `cond` gives besides its result."""
    graph = make_graph(lambda *xs: vjp(f, *xs)[1](1.0))(*args)
    chosen = [e for e in all_equations(graph) if e.primitive is primitive]
    return [v.aval for v in chosen[0].outputs[1:]]


def all_equations(graph: Graph) -> Any:
    for e in graph.equations:
        yield e
        for value in e.params.values():
            if isinstance(value, Graph):
                yield from all_equations(value)


def test_branches_share_the_places_of_their_residuals() -> None:
    w = np.eye(3, dtype=np.float32)

    def layer(x: Any) -> Any:
        y = dot_general(w, x, contracting=((1,), (0,)), batch=((), ()), precision=None)
        return total(mul(tanh(y), y))

    def f(p: Any, x: Any) -> Any:
        return cond(p, layer, lambda x: layer(sin(x)), x)

    assert len(residuals_of(lambda x: f(True, x), X)) <= 2
    y = np.sin(X)
    want = (np.tanh(y) + y / np.cosh(y) ** 2) * np.cos(X)
    close(grad(f, argnums=1)(False, X), want, rtol=1e-4)
    close(jit(grad(f, argnums=1))(False, X), want, rtol=1e-4)


def test_a_branch_that_does_not_depend_on_the_operand_has_a_zero_gradient() -> None:
    def f(p: Any, x: Any) -> Any:
        return cond(p, lambda x: mul(x, x), lambda x: 5.0, x)

    for g in (
        grad(f, 1),
        jit(grad(f, 1)),
        grad(jit(f), 1),
        lambda p, x: jvp(f, (p, x), (F0, 1.0))[1],
    ):
        close(g(True, 3.0), 6.0)
        close(g(False, 3.0), 0.0)
    close(hessian(lambda x: f(False, x))(3.0), 0.0)


F0 = np.zeros((), [("float0", "V0")])


def test_conditions_inside_conditions() -> None:
    def f(p: Any, q: Any, x: Any) -> Any:
        return cond(p, lambda x: cond(q, sin, cos, x), lambda x: neg(x), x)

    for p in (True, False):
        for q in (True, False):
            want = (np.cos(2.0) if q else -np.sin(2.0)) if p else -1.0
            close(grad(f, 2)(p, q, 2.0), want)
            close(jit(grad(jit(f), 2))(p, q, 2.0), want)
    close(host(vmap(vmap(f, (None, 0, 0)), (0, None, None))(P, P, X))[1], -X)


MISTAKES = {
    "an array as condition": (
        lambda: cond(P, sin, cos, 1.0),
        ["boolean scalar", "bool[3]", "anp.where"],
    ),
    "a function as condition": (lambda: cond(sin, sin, cos), ["boolean scalar", "a function"]),
    "the result of a call": (lambda: cond(True, sin(X), cos, 1.0), ["ax.lax.cond(f)(x)"]),
    "different structures": (
        lambda: cond(True, lambda x: (x,), lambda x: {"a": x}, 1.0),
        ["same structure", "(*,)", "{'a': *}", "false_fun (<lambda>)", "true_fun"],
    ),
    "different keys": (
        lambda: cond(True, lambda x: {"a": x}, lambda x: {"b": x}, 1.0),
        ["missing ['a']", "unexpected ['b']"],
    ),
    "different dtypes": (
        lambda: cond(True, lambda x: {"a": x}, lambda x: {"a": np.float64(1)}, X),
        ["the result['a']", "float32[3]", "float64[]", "x.astype"],
    ),
    "different shapes": (
        lambda: cond(True, lambda x: x, total, X),
        ["float32[3] in true_fun", "float32[] in false_fun", "anp.broadcast_to"],
    ),
    "a string operand": (
        lambda: cond(True, sin, cos, {"a": "text"}),
        ["operands[0]['a']", "'text'"],
    ),
    "a string result": (lambda: cond(True, lambda x: "text", cos, 1.0), ["'text'", "not an array"]),
    "operands twice": (lambda: cond(True, sin, cos, 1.0, operand=1.0), ["not both"]),
    "no branches": (lambda: switch(0, []), ["at least one branch"]),
    "an index that is no integer": (
        lambda: switch(1.0, [sin, cos], 1.0),
        ["integer scalar", "1.0"],
    ),
    "an array as index": (lambda: switch(np.arange(2), [sin, cos], 1.0), ["int64[2]"]),
    "branches that differ late": (
        lambda: switch(0, [sin, cos, lambda x: 1j], np.float32(1)),
        ["branches[0] (", "branches[2] (<lambda>)", "complex64[]"],
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_say_what_was_given_and_what_to_do(mistake: str) -> None:
    call, parts = MISTAKES[mistake]
    with pytest.raises((errors.ArgumentError, errors.NotCallableError)) as caught:
        call()
    for part in parts:
        assert part in str(caught.value), f"{part!r} is not in: {caught.value}"


def test_an_error_in_a_branch_names_what_is_missing() -> None:
    with pytest.raises(errors.ConcretizationError, match=r"ax\.lax\.cond of true_fun"):

        def true_fun(x: Any) -> Any:
            x.concrete("bool()")

        cond(True, true_fun, lambda x: x, 1.0)


def test_primitives_of_products_stay_closed_under_cond() -> None:
    f = lambda x, y: cond(True, lambda: absorb_mul(x, y), lambda: sub(add(x, y), y))  # noqa: E731
    close(grad(grad(f, 0), 1)(np.float32(2), np.float32(3)), 1.0)
