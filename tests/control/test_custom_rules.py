"""Custom derivative rules under every transformation, and what mistakes with them are told."""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from arrayx import errors
from arrayx.api.autodiff import grad, jvp, linearize, stop_gradient, vjp
from arrayx.api.compilation import jit
from arrayx.api.custom import (
    CustomPrimal,
    SymbolicZero,
    closure_convert,
    custom_gradient,
    custom_jvp,
    custom_vjp,
)
from arrayx.api.jacobians import hessian, jacfwd, jacrev
from arrayx.api.mapping import vmap
from arrayx.api.staging import make_graph
from arrayx.core.interpreter import Tracer
from arrayx.dtypes import float0
from arrayx.lax.control_flow import cond
from arrayx.primitives.arithmetic import add, mul
from arrayx.primitives.axes import broadcast_in_dim, reduce_sum
from arrayx.primitives.trigonometric import cos, sin

X = np.array([0.5, -1.0, 2.0], np.float32)


def total(x: Any) -> Any:
    return reduce_sum(x, axes=tuple(range(x.ndim)))


def host(x: Any) -> np.ndarray:
    return x.host() if hasattr(x, "host") else np.asarray(x)


def close(got: Any, want: Any, rtol: float = 2e-5) -> None:
    np.testing.assert_allclose(host(got), want, rtol=rtol, atol=1e-6)


# sin, with rules whose derivative is ten times the true one: they show where a rule is used.
@custom_jvp
def ten(x: Any) -> Any:
    return sin(x)


@ten.defjvp
def ten_rule(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return ten(x), mul(mul(cos(x), 10.0), dx)


@custom_vjp
def ten_back(x: Any) -> Any:
    return sin(x)


ten_back.defvjp(
    lambda x: (ten_back(x), {"cos": cos(x)}), lambda res, ct: (mul(mul(res["cos"], 10.0), ct),)
)
BOTH = [ten, ten_back]


@pytest.mark.parametrize("f", BOTH)
def test_a_function_with_rules_is_the_function(f: Any) -> None:
    close(f(0.5), np.sin(0.5))
    close(jit(f)(X), np.sin(X))
    close(vmap(f)(X), np.sin(X))
    assert f.__name__ == ("ten" if f is ten else "ten_back")
    assert "ax.custom_" in repr(f)


@pytest.mark.parametrize("f", BOTH)
@pytest.mark.parametrize("order", list(permutations(["grad", "vmap", "jit", "jit"])))
def test_rules_survive_every_order_of_composition(f: Any, order: tuple[str, ...]) -> None:
    wraps = {"grad": lambda f: grad(lambda x: total(f(x))), "vmap": vmap, "jit": jit}
    g: Callable[..., Any] = f
    for name in order:
        g = wraps[name](g)
    x = np.stack([X, 2 * X])
    close(g(x), 10 * np.cos(x))


@pytest.mark.parametrize("f", BOTH)
@pytest.mark.parametrize("order", sorted(set(permutations(["grad", "grad", "jit", "jit"]))))
def test_rules_are_differentiated_again(f: Any, order: tuple[str, ...]) -> None:
    g: Callable[..., Any] = f
    for name in order:
        g = jit(g) if name == "jit" else grad(g)
    close(g(0.5), -10 * np.sin(0.5))


def test_a_jvp_rule_serves_forward_mode_and_all_second_derivatives() -> None:
    close(jvp(ten, (0.5,), (2.0,))[1], 20 * np.cos(0.5))
    close(jvp(jit(ten), (0.5,), (2.0,))[1], 20 * np.cos(0.5))
    close(linearize(ten, 0.5)[1](2.0), 20 * np.cos(0.5))
    close(jacfwd(vmap(ten))(X), np.diag(10 * np.cos(X)))
    close(jacrev(vmap(ten))(X), np.diag(10 * np.cos(X)))
    for h in (
        hessian(ten),
        jacfwd(jacfwd(ten)),
        jacrev(jacrev(ten)),
        jit(jacrev(jacfwd(jit(ten)))),
    ):
        close(h(0.5), -10 * np.sin(0.5))
    close(vmap(hessian(ten))(X), -10 * np.sin(X))


def test_a_vjp_rule_serves_second_derivatives_in_reverse() -> None:
    close(jacrev(jacrev(ten_back))(0.5), -10 * np.sin(0.5))
    close(vmap(jacrev(jacrev(jit(ten_back))))(X), -10 * np.sin(X))


@pytest.mark.parametrize(
    "differentiate",
    [
        lambda f: jvp(f, (0.5,), (1.0,)),
        lambda f: jvp(jit(f), (0.5,), (1.0,)),
        lambda f: jit(lambda x: jvp(f, (x,), (1.0,)))(0.5),
        lambda f: vmap(jacfwd(f))(X),
        lambda f: linearize(f, 0.5)[1](1.0),
        lambda f: linearize(jit(f), 0.5)[1](1.0),
        lambda f: hessian(f)(0.5),
    ],
)
def test_forward_mode_through_a_vjp_rule_says_what_to_use(differentiate: Any) -> None:
    with pytest.raises(errors.GradError, match="ten_back has a custom_vjp rule") as caught:
        differentiate(ten_back)
    for part in ("ax.jvp", "ax.jacrev of ax.jacrev", "custom_jvp"):
        assert part in str(caught.value)


def test_python_control_flow_on_values_works_in_rules() -> None:
    def value_of(x: Any) -> float:
        while isinstance(x, Tracer):
            x = x.primal  # type: ignore[attr-defined]
        return float(host(x))

    @custom_jvp
    def f(x: Any) -> Any:
        return mul(x, 2.0) if value_of(x) > 0 else x

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        return f(x), mul(dx, 20.0) if value_of(x) > 0 else dx

    close(grad(f)(1.0), 20.0)
    close(grad(f)(-1.0), 1.0)
    close(grad(grad(lambda x: mul(x, f(x))))(1.0), 40.0)


def test_rules_take_trees_and_keywords_and_defaults() -> None:
    @custom_jvp
    def f(p: Any, scale: Any = 2.0) -> Any:
        return {"y": mul(p["x"], scale), "i": p["i"]}

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (p, scale), (dp, dscale) = primals, tangents
        assert dp["i"].dtype == float0
        dy = add(mul(dp["x"], scale), mul(p["x"], dscale))
        return f(p, scale), {"y": mul(dy, 10.0), "i": dp["i"]}

    p = {"x": 3.0, "i": np.int32(7)}
    close(grad(lambda x: f({"x": x, "i": 7})["y"])(3.0), 20.0)
    close(grad(lambda s: f(p, scale=s)["y"])(3.0), 30.0)
    close(jit(grad(lambda s: f(scale=s, p=p)["y"]))(3.0), 30.0)

    @custom_vjp
    def g(p: Any, scale: Any = 2.0) -> Any:
        return mul(p["x"], scale)

    g.defvjp(lambda p, s: (g(p, s), (p, s)), lambda r, ct: ({"x": mul(ct, r[1]), "i": None}, None))
    close(grad(lambda x: g({"x": x, "i": 7}))(3.0), 2.0)
    close(grad(lambda s: g(p, scale=s))(3.0), 0.0)


def test_defjvps_adds_a_rule_for_each_argument() -> None:
    @custom_jvp
    def f(x: Any, y: Any, z: Any) -> Any:
        return mul(x, mul(y, z))

    f.defjvps(lambda dx, out, x, y, z: mul(dx, y), None, lambda dz, out, x, y, z: mul(dz, out))
    gx, gy, gz = grad(f, argnums=(0, 1, 2))(2.0, 3.0, 4.0)
    close([host(gx), host(gy), host(gz)], [3.0, 0.0, 24.0])
    f.defjvps(None, None, None)
    close(grad(f)(2.0, 3.0, 4.0), 0.0)


def test_none_stands_for_a_zero_cotangent_of_any_part() -> None:
    @custom_vjp
    def f(p: Any, i: Any) -> Any:
        return mul(p["a"], p["b"][0])

    f.defvjp(lambda p, i: (f(p, i), p), lambda p, ct: ({"a": mul(ct, p["b"][0]), "b": None}, None))
    for wrap in (lambda f: f, jit):
        g = wrap(grad(f))({"a": 2.0, "b": [3.0]}, np.int32(1))
        close(g["a"], 3.0)
        close(g["b"][0], 0.0)


def test_residuals_may_hold_what_is_no_array() -> None:
    @custom_vjp
    def f(x: Any) -> Any:
        return total(x)

    def backward(res: Any, ct: Any) -> Any:
        shape, how = res
        assert type(shape[0]) is int and how == "sum"
        return (broadcast_in_dim(ct, shape=shape, dims=()),)

    f.defvjp(lambda x: (f(x), (x.shape, "sum")), backward)
    for g in (grad(f), jit(grad(f)), grad(jit(f))):
        close(g(X), np.ones(3))
    close(vmap(grad(f))(np.stack([X, X])), np.ones((2, 3)))


def test_the_gradient_of_a_shared_argument_sums_over_a_batch() -> None:
    @custom_vjp
    def scaled(w: Any, x: Any) -> Any:
        return mul(w, x)

    scaled.defvjp(lambda w, x: (scaled(w, x), (w, x)), lambda r, ct: (mul(ct, r[1]), mul(ct, r[0])))

    @custom_vjp
    def constant(w: Any, x: Any) -> Any:
        return w

    constant.defvjp(lambda w, x: (w, None), lambda _, ct: (ct, None))
    for f, want in ((scaled, X.sum()), (constant, 3.0)):
        for wrap in (lambda f: f, jit):
            loss = lambda w, f=f, wrap=wrap: total(wrap(vmap(f, (None, 0)))(w, X))  # noqa: E731
            close(grad(loss)(2.0), want)
            close(jit(grad(loss))(2.0), want)


@pytest.mark.parametrize("names", [{"nondiff_argnums": (0,)}, {"nondiff_argnames": "f"}])
def test_functions_and_options_are_named_in_nondiff_argnums(names: Any) -> None:
    @functools.partial(custom_jvp, **names)
    def apply(f: Any, x: Any) -> Any:
        return f(x)

    @apply.defjvp
    def rule(f: Any, primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        return apply(f, x), mul(dx, 10.0)

    close(grad(lambda x: apply(sin, x))(1.0), 10.0)
    close(jit(grad(lambda x: apply(f=sin, x=x)))(1.0), 10.0)

    @functools.partial(custom_vjp, **names)
    def apply_back(f: Any, x: Any) -> Any:
        return f(x)

    apply_back.defvjp(lambda f, x: (f(x), cos), lambda f, res, ct: (mul(ct, 10.0),))
    close(grad(lambda x: apply_back(sin, x))(1.0), 10.0)
    close(vmap(jit(grad(lambda x: apply_back(sin, x))))(X), [10, 10, 10])


def test_nondiff_arguments_keep_their_place_among_the_others() -> None:
    @functools.partial(custom_vjp, nondiff_argnums=(1, -1))
    def f(x: Any, n: int, y: Any, how: str) -> Any:
        assert (n, how) == (3, "fast")
        return mul(x, y)

    def forward(x: Any, n: int, y: Any, how: str) -> Any:
        return f(x, n, y, how), (x, y)

    def backward(n: int, how: str, res: Any, ct: Any) -> Any:
        assert (n, how) == (3, "fast")
        return mul(ct, res[1]), mul(ct, res[0])

    f.defvjp(forward, backward)
    gx, gy = grad(f, argnums=(0, 2))(2.0, 3, 5.0, "fast")
    close(gx, 5.0)
    close(gy, 2.0)


def test_a_traced_nondiff_argument_works_while_it_is_not_differentiated() -> None:
    masked = custom_jvp(lambda a, m: mul(a, m), nondiff_argnums=(1,))
    masked.defjvp(lambda m, p, t: (mul(p[0], m), mul(t[0], m)))
    m = np.array([1.0, 0.0, 3.0], np.float32)
    close(jit(lambda x, m: masked(x, m))(X, m), X * m)
    close(grad(jit(lambda x, m: total(masked(x, m))))(X, m), m)
    close(jit(grad(lambda x, m: total(masked(x, m))))(X, m), m)


@pytest.mark.parametrize("kind", [custom_jvp, custom_vjp])
def test_a_differentiated_nondiff_argument_is_an_error_at_the_call(kind: Any) -> None:
    f = kind(lambda a, m: mul(a, m["m"]), nondiff_argnums=(1,))
    if kind is custom_jvp:
        f.defjvp(lambda m, p, t: (mul(p[0], m["m"]), mul(t[0], m["m"])))
    else:
        f.defvjp(lambda a, m: (f(a, m), None), lambda m, r, ct: (mul(ct, m["m"]),))
    with pytest.raises(errors.GradError) as caught:
        grad(lambda m: f(1.0, {"m": m}))(2.0)
    for part in ("args[1]['m']", "nondiff_argnums", "ax.lax.stop_gradient"):
        assert part in str(caught.value)
    close(grad(lambda m: add(m, f(1.0, {"m": stop_gradient(m)})))(2.0), 1.0)


# ----------------------------------------------------------------- closures


def closing_jvp(w: Any) -> Any:
    """w * (4 w) by a rule that gives ten times the derivative of its argument: 44 w in all."""

    @custom_jvp
    def f(v: Any) -> Any:
        return mul(w, v)

    f.defjvp(lambda p, t: (mul(w, p[0]), mul(mul(w, 10.0), t[0])))
    return f(mul(w, 4.0))


def closing_and_calling(w: Any) -> Any:
    """The same, by a rule that calls the function."""

    @custom_jvp
    def f(v: Any) -> Any:
        return mul(w, v)

    f.defjvp(lambda p, t: (f(p[0]), mul(mul(w, 10.0), t[0])))
    return f(mul(w, 4.0))


def closing_vjp(w: Any) -> Any:
    """The same, by rules of reverse mode."""

    @custom_vjp
    def f(v: Any) -> Any:
        return mul(w, v)

    f.defvjp(lambda v: (mul(w, v), None), lambda _, ct: (mul(mul(w, 10.0), ct),))
    return f(mul(w, 4.0))


CLOSING = [closing_jvp, closing_and_calling, closing_vjp]


@pytest.mark.parametrize("f", CLOSING)
@pytest.mark.parametrize("order", sorted(set(permutations(["grad", "jit", "jit"]))))
def test_what_a_rule_closes_over_is_differentiated_too(f: Any, order: tuple[str, ...]) -> None:
    g: Callable[..., Any] = f
    for name in order:
        g = jit(g) if name == "jit" else grad(g)
    close(g(3.0), 132.0)


@pytest.mark.parametrize("f", CLOSING)
@pytest.mark.parametrize(
    "compose",
    [
        lambda f: vmap(grad(f)),
        lambda f: vmap(grad(jit(f))),
        lambda f: vmap(jit(grad(f))),
        lambda f: grad(lambda x: total(vmap(f)(x))),
        lambda f: grad(lambda x: total(jit(vmap(f))(x))),
        lambda f: grad(lambda x: total(vmap(jit(f))(x))),
        lambda f: jit(grad(lambda x: total(vmap(f)(x)))),
    ],
)
def test_what_a_rule_closes_over_may_be_batched(f: Any, compose: Any) -> None:
    close(compose(f)(X), 44 * X)


@pytest.mark.parametrize("f", [closing_jvp, closing_vjp])
def test_what_a_rule_closes_over_is_differentiated_twice(f: Any) -> None:
    close(grad(grad(f))(3.0), 44.0)
    close(grad(jit(grad(jit(f))))(3.0), 44.0)


def test_forward_mode_differentiates_what_a_rule_closes_over() -> None:
    close(jvp(closing_jvp, (3.0,), (1.0,))[1], 132.0)
    close(jvp(jit(closing_jvp), (3.0,), (1.0,))[1], 132.0)


@pytest.mark.parametrize("kind", [custom_jvp, custom_vjp])
def test_a_function_of_constants_alone_is_not_silently_constant(kind: Any) -> None:
    def loss(w: Any) -> Any:
        f = kind(lambda v: mul(w, v))
        if kind is custom_jvp:
            f.defjvp(lambda p, t: (mul(w, p[0]), mul(w, t[0])))
        else:
            f.defvjp(lambda v: (mul(w, v), None), lambda _, ct: (mul(w, ct),))
        return f(4.0)

    for g in (grad(loss), jit(grad(loss)), grad(jit(loss))):
        close(g(3.0), 4.0)


def test_a_rule_may_close_over_what_only_an_inner_differentiation_traces() -> None:
    def f(x: Any) -> Any:
        def inner(w: Any) -> Any:
            g = custom_jvp(lambda v: mul(w, v))
            g.defjvp(lambda p, t: (mul(w, p[0]), mul(w, t[0])))
            return g(x)

        return grad(inner)(1.0)

    close(grad(f)(2.0), 1.0)


@pytest.mark.parametrize("f", BOTH)
def test_rules_work_in_branches(f: Any) -> None:
    def g(p: Any, x: Any) -> Any:
        return cond(p, f, lambda x: mul(x, x), x)

    for d in (grad(g, 1), jit(grad(g, 1)), grad(jit(g), 1)):
        close(d(True, 0.5), 10 * np.cos(0.5))
        close(d(False, 0.5), 1.0)
    close(vmap(grad(g, 1))(np.array([True, False]), X[:2]), [10 * np.cos(0.5), -2.0])


def test_staged_programs_hold_the_function_and_run_anywhere() -> None:
    graph = make_graph(lambda x: add(ten(x), ten_back(x)))(1.0)
    names = [e.primitive.name for e in graph.equations]
    assert names == ["custom_jvp", "custom_vjp", "add"]
    assert "custom_jvp" in str(graph)


def test_custom_gradient_takes_value_and_pullback_from_one_function() -> None:
    @custom_gradient
    def f(x: Any, y: Any) -> Any:
        product = mul(x, y)
        return sin(product), lambda ct: (mul(mul(ct, 10.0), mul(cos(product), y)), None)

    for g in (grad(f), jit(grad(f)), grad(jit(f))):
        close(g(2.0, 3.0), 30 * np.cos(6.0))
    close(vmap(grad(f), (0, None))(X, np.float32(3)), 30 * np.cos(3 * X))
    close(jit(vmap(grad(jit(f)), (0, None)))(X, np.float32(3)), 30 * np.cos(3 * X))
    close(grad(lambda x: total(vmap(f, (0, None))(x, np.float32(3))))(X), 30 * np.cos(3 * X))
    close(grad(grad(f))(2.0, 3.0), -90 * np.sin(6.0))
    with pytest.raises(errors.ArgumentError, match="value, pullback"):
        custom_gradient(sin)(X)


def test_closure_convert_hands_out_what_is_closed_over() -> None:
    def f(w: Any) -> Any:
        converted, values = closure_convert(lambda p: {"y": mul(p["x"], w)}, {"x": 1.0})
        assert len(values) == 1
        return converted({"x": 3.0}, *[mul(v, 10.0) for v in values])["y"]

    close(grad(f)(2.0), 30.0)
    close(jit(grad(f))(2.0), 30.0)


# ----------------------------------------------------------------- symbolic zeros


def test_symbolic_zeros_tell_rules_what_is_not_differentiated() -> None:
    seen = []

    @custom_jvp
    def f(x: Any, y: Any) -> Any:
        return mul(x, y)

    def rule(primals: Any, tangents: Any) -> Any:
        seen.append([type(t) is SymbolicZero for t in tangents])
        (x, y), (dx, _) = primals, tangents
        return f(x, y), mul(dx, y)

    f.defjvp(rule, symbolic_zeros=True)
    close(grad(f)(2.0, 3.0), 3.0)
    assert seen == [[False, True]]

    @custom_vjp
    def g(x: Any) -> Any:
        return x, sin(x)

    def forward(x: Any) -> Any:
        assert type(x) is CustomPrimal and x.perturbed
        return g(x.value), None

    def backward(_: Any, cts: Any) -> Any:
        seen.append([type(ct) is SymbolicZero for ct in cts])
        return (cts[0],)

    g.defvjp(forward, backward, symbolic_zeros=True)
    close(grad(lambda x: g(x)[0])(2.0), 1.0)
    assert seen[1] == [False, True]


# ----------------------------------------------------------------- mistakes


def jvp_with(rule: Any) -> Any:
    f = custom_jvp(lambda x: {"y": mul(x, 2.0)})
    f.defjvp(rule)
    return lambda x: f(x)["y"]


def vjp_with(fwd: Any, bwd: Any) -> Any:
    f = custom_vjp(_two)
    f.defvjp(fwd, bwd)
    return f


def _two(x: Any, y: Any) -> Any:
    return mul(x, y)


MISTAKES = {
    "no rule": (lambda: custom_jvp(sin)(1.0), errors.ArgumentError, ["no rule yet", "defjvp"]),
    "no rules": (lambda: custom_vjp(sin)(1.0), errors.ArgumentError, ["no rule yet", "defvjp"]),
    "the result of a call": (
        lambda: custom_jvp(sin(X)),
        errors.NotCallableError,
        ["ax.custom_jvp(f)(x)"],
    ),
    "a string argument": (
        lambda: ten("text"),
        errors.ArgumentError,
        ["argument x", "'text'", "nondiff_argnums"],
    ),
    "an argument by keyword only": (
        lambda: _keyword_only()(1.0, y=2.0),
        errors.ArgumentError,
        ["keyword only", "y"],
    ),
    "an unknown name": (
        lambda: custom_jvp(_two, nondiff_argnames=("z",)),
        errors.ArgumentError,
        ["'z'", "x, y"],
    ),
    "no pair from a jvp rule": (
        lambda: grad(jvp_with(lambda p, t: t[0]))(1.0),
        errors.ArgumentError,
        ["pair (value, tangent)"],
    ),
    "a value of another structure": (
        lambda: grad(jit(_structure_twice))(1.0),
        errors.TreeError,
        ["structure"],
    ),
    "a tangent of another structure": (
        lambda: grad(jvp_with(lambda p, t: ({"y": p[0]}, t[0])))(1.0),
        errors.TreeError,
        ["structure of its value", "'y'"],
    ),
    "a tangent of another shape": (
        lambda: grad(lambda x: total(jvp_with(lambda p, t: ({"y": p[0]}, {"y": total(t[0])}))(x)))(
            X
        ),
        errors.ArgumentError,
        ["value['y']", "float32[3]", "float32[]"],
    ),
    "a value that depends on tangents": (
        lambda: grad(jvp_with(lambda p, t: ({"y": t[0]}, {"y": t[0]})))(1.0),
        errors.GradError,
        ["depends on the tangents"],
    ),
    "defjvps with nondiff_argnums": (
        lambda: custom_jvp(_two, nondiff_argnums=1).defjvps(None),
        errors.ArgumentError,
        ["defjvps", "nondiff_argnums"],
    ),
    "too few rules in defjvps": (
        lambda: _one_of_two()(1.0, 2.0),
        errors.ArgumentError,
        ["2 arguments", "1 rules"],
    ),
    "no pair from a forward rule": (
        lambda: grad(vjp_with(lambda x, y: _two(x, y), lambda r, ct: (ct, ct)))(1.0, 2.0),
        errors.ArgumentError,
        ["fwd", "pair (value, residuals)"],
    ),
    "no tuple from a backward rule": (
        lambda: grad(vjp_with(lambda x, y: (_two(x, y), None), lambda r, ct: ct))(1.0, 2.0),
        errors.ArgumentError,
        ["bwd", "tuple", "2 differentiable arguments"],
    ),
    "a tuple of another length": (
        lambda: grad(vjp_with(lambda x, y: (_two(x, y), None), lambda r, ct: (ct,)))(1.0, 2.0),
        errors.ArgumentError,
        ["a tuple of 1"],
    ),
    "no tuple for one argument": (
        lambda: grad(_single_backward(lambda r, ct: ct))(1.0),
        errors.ArgumentError,
        ["return (ct,)"],
    ),
    "a cotangent of another shape": (
        lambda: grad(lambda x: total(_single_backward(lambda r, ct: (total(ct),))(x)))(X),
        errors.ArgumentError,
        ["bwd", "float32[3]", "float32[]", "[0]"],
    ),
    "a cotangent of another structure": (
        lambda: grad(lambda x: _single_backward(lambda r, ct: ({"a": ct},))(x))(1.0),
        errors.ArgumentError,
        ["bwd", "float32[]"],
    ),
}


def _keyword_only() -> Any:
    def f(x: Any, *, y: Any) -> Any:
        return mul(x, y)

    g = custom_jvp(f)
    g.defjvp(lambda p, t: (p[0], t[0]))
    return g


def _structure_twice(x: Any) -> Any:
    f = custom_jvp(lambda x: (x,))
    f.defjvp(lambda p, t: (p[0], t[0]))
    return f(x)[0]


def _one_of_two() -> Any:
    f = custom_jvp(_two)
    f.defjvps(lambda dx, out, x, y: dx)
    return grad(f)


def _single_backward(bwd: Any) -> Any:
    f = custom_vjp(lambda x: mul(x, 2.0))
    f.defvjp(lambda x: (mul(x, 2.0), None), bwd)
    return f


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_say_what_was_given_and_what_to_do(mistake: str) -> None:
    call, kind, parts = MISTAKES[mistake]
    with pytest.raises(kind) as caught:
        call()
    for part in parts:
        assert part in str(caught.value), f"{part!r} is not in: {caught.value}"


def test_a_rule_that_raises_leaves_nothing_open() -> None:
    f = custom_jvp(sin)
    f.defjvp(lambda p, t: 1 // 0)
    for wrap in (lambda f: f, jit, vmap):
        with pytest.raises(ZeroDivisionError):
            grad(lambda x, wrap=wrap: total(wrap(f)(x)))(X)
    close(grad(ten)(0.5), 10 * np.cos(0.5))
    _, pullback = vjp(ten_back, 0.5)
    close(pullback(1.0)[0], 10 * np.cos(0.5))
