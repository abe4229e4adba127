"""Derivatives as users ask for them: values, structures, and what every mistake is told."""

from __future__ import annotations

import collections
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from arrayx import dtypes, errors
from arrayx.api.autodiff import grad, jvp, linearize, stop_gradient, value_and_grad, vjp
from arrayx.api.checking_gradients import check_grads
from arrayx.api.compilation import jit
from arrayx.api.jacobians import hessian, jacfwd, jacrev
from arrayx.api.mapping import vmap
from arrayx.primitives import complex as complexes
from arrayx.primitives.arithmetic import add, gt, mul, neg, sub
from arrayx.primitives.axes import reduce_sum
from arrayx.primitives.conversion import convert
from arrayx.primitives.trigonometric import cos, sin, tanh

FLOAT0 = dtypes.float0
X = np.array([0.5, -1.0, 2.0], np.float32)


def total(x: Any) -> Any:
    return reduce_sum(x, axes=tuple(range(x.ndim)))


def host(x: Any) -> np.ndarray:
    return x.host() if hasattr(x, "host") else np.asarray(x)


def close(got: Any, want: Any, rtol: float = 2e-5) -> None:
    np.testing.assert_allclose(host(got), want, rtol=rtol, atol=1e-6)


def cube(x: Any) -> Any:
    return mul(x, mul(x, x))


# ----------------------------------------------------------------- grad


def test_grad_of_a_python_scalar_is_an_array_of_the_default_dtype() -> None:
    g = grad(cube)(3.0)
    assert host(g).dtype == np.float32 and g.shape == ()
    close(g, 27.0)


def test_gradients_keep_the_dtype_and_shape_of_a_numpy_argument() -> None:
    x = np.arange(6.0).reshape(2, 3)
    g = grad(lambda x: total(cube(x)))(x)
    assert host(g).dtype == np.float64
    close(g, 3 * x * x)


def test_value_and_grad_gives_both() -> None:
    value, gradient = value_and_grad(cube)(2.0)
    close(value, 8.0)
    close(gradient, 12.0)


def test_several_argnums_give_a_tuple_and_one_in_a_tuple_too() -> None:
    close(grad(mul, argnums=(1, 0))(2.0, 3.0)[0], 2.0)
    (only,) = grad(mul, argnums=(1,))(2.0, 3.0)
    close(only, 2.0)
    close(grad(mul, argnums=-1)(2.0, 3.0), 2.0)


def test_trees_in_give_trees_out() -> None:
    Point = collections.namedtuple("Point", "x y")
    tree = {"p": Point(2.0, 3.0), "rest": [1.0, None]}
    g = grad(lambda t: mul(t["p"].x, add(t["p"].y, t["rest"][0])))(tree)
    assert isinstance(g["p"], Point) and g["rest"][1] is None
    close(g["p"].x, 4.0)
    close(g["p"].y, 2.0)
    close(g["rest"][0], 2.0)


def test_an_argument_that_is_not_used_has_zeros() -> None:
    g = grad(lambda x, y: x, argnums=1)(1.0, np.ones((2, 2)))
    np.testing.assert_array_equal(host(g), np.zeros((2, 2)))


def test_keyword_and_unselected_arguments_pass_through_as_they_are() -> None:
    seen = []

    def f(x: Any, mode: str, *, scale: Any) -> Any:
        seen.append((mode, scale))
        return mul(x, scale)

    close(grad(f)(1.0, "fast", scale=5.0), 5.0)
    assert seen == [("fast", 5.0)]


def test_auxiliary_results_come_beside_and_may_be_anything() -> None:
    def f(x: Any) -> Any:
        return mul(x, x), {"twice": add(x, x), "name": "f"}

    gradient, aux = grad(f, has_aux=True)(3.0)
    close(gradient, 6.0)
    close(aux["twice"], 6.0)
    assert aux["name"] == "f"
    (value, aux), gradient = value_and_grad(f, has_aux=True)(3.0)
    close(value, 9.0)
    close(gradient, 6.0)


def test_control_flow_on_values_differentiates_eagerly() -> None:
    def f(x: Any) -> Any:
        for _ in range(3):
            x = mul(x, x) if host_of(x) > 1 else sin(x)
        return x

    def host_of(x: Any) -> float:
        while not hasattr(x, "host"):
            x = x.primal
        return float(x.host())

    close(grad(f)(1.5), 8 * 1.5**7)
    close(grad(grad(f))(1.5), 56 * 1.5**6)


def test_six_gradients_inside_each_other() -> None:
    f: Callable[..., Any] = sin
    for expected in (np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin, np.cos):
        f = grad(f)
        close(f(0.7), expected(0.7), rtol=1e-4)
    f = grad(f)
    close(f(0.7), -np.sin(0.7), rtol=1e-4)
    close(jit(f)(0.7), -np.sin(0.7), rtol=1e-4)


def test_a_closed_over_tracer_of_an_outer_gradient_is_differentiated() -> None:
    def outer(x: Any) -> Any:
        return grad(lambda y: mul(mul(x, x), mul(y, y)))(3.0)  # 6 x^2

    close(grad(outer)(2.0), 24.0)


@pytest.mark.parametrize("order", list(permutations(["grad", "vmap", "jit"])))
@pytest.mark.parametrize("jits_inside", [False, True])
def test_every_order_of_composition_agrees(order: tuple[str, ...], jits_inside: bool) -> None:
    wraps = {
        "grad": lambda f: grad(lambda x: total(f(x))),
        "vmap": vmap,
        "jit": jit,
    }
    x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    f = (lambda x: jit(lambda y: mul(sin(y), y))(x)) if jits_inside else lambda x: mul(sin(x), x)
    for name in order:
        f = wraps[name](f)
    close(f(x), np.sin(x) + x * np.cos(x))


def test_complex_gradients_follow_the_convention_of_jax() -> None:
    def f(z: Any) -> Any:
        return mul(mul(complexes.real(z), complexes.real(z)), complexes.imag(z))

    z = 1.5 - 2.0j
    g = complex(host(grad(f)(z)))
    close(g, 2 * 1.5 * -2.0 - 1j * 1.5**2)
    v = 0.3 + 0.7j
    close(jvp(f, (z,), (v,))[1], (g * v).real, rtol=1e-4)


def test_holomorphic_gradients_are_the_complex_derivative() -> None:
    close(grad(lambda z: mul(z, z), holomorphic=True)(1.0 + 2.0j), 2.0 + 4.0j)
    close(jacrev(lambda z: mul(z, z), holomorphic=True)(1.0 + 2.0j), 2.0 + 4.0j)
    close(jacfwd(lambda z: mul(z, z), holomorphic=True)(1.0 + 2.0j), 2.0 + 4.0j)


def test_integers_have_a_gradient_of_no_values_where_allowed() -> None:
    def f(x: Any, i: Any) -> Any:
        return mul(x, convert(i, dtype=np.dtype("float32"), weak_type=False))

    gx, gi = grad(f, argnums=(0, 1), allow_int=True)(2.0, np.int32(3))
    close(gx, 3.0)
    assert gi.dtype == FLOAT0 and gi.shape == ()


GRAD_MISTAKES = {
    "the result of a call": (
        lambda: grad(sin(X[:])),
        errors.NotCallableError,
        ["an array of shape (3,)", "ax.grad(f)(x)"],
    ),
    "a generator": (
        lambda: grad(_generator),
        errors.NotCallableError,
        ["generator", "_generator"],
    ),
    "an array result": (
        lambda: grad(sin)(X),
        errors.GradError,
        ["float32[3]", "anp.sum", "ax.jacrev", "ax.vmap(ax.grad(f))"],
    ),
    "a tree result": (
        lambda: grad(lambda x: (x, x))(1.0),
        errors.GradError,
        ["a tuple", "has_aux=True", "ax.jacrev"],
    ),
    "no result": (lambda: grad(lambda x: None)(1.0), errors.GradError, ["None", "scalar"]),
    "a string result": (lambda: grad(lambda x: "no")(1.0), errors.GradError, ["'no'", "str"]),
    "an integer result": (
        lambda: grad(lambda x: 3)(1.0),
        errors.GradError,
        ["int32[]", "floating-point"],
    ),
    "a complex result": (
        lambda: grad(lambda z: mul(z, z))(1.0 + 2.0j),
        errors.GradError,
        ["holomorphic=True", "complex64[]", "anp.real"],
    ),
    "a real input of a holomorphic function": (
        lambda: grad(lambda z: mul(z, z), holomorphic=True)(1.0),
        errors.GradError,
        ["holomorphic", "float32[]", "argument z"],
    ),
    "an integer input": (
        lambda: grad(lambda p: p["w"][0])({"w": [3]}),
        errors.GradError,
        ["p['w'][0]", "int32[]", "integers", "allow_int=True", "1.0 instead of 1"],
    ),
    "a boolean input": (
        lambda: grad(sin)(True),
        errors.GradError,
        ["bool[]", "booleans"],
    ),
    "argnums beyond the arguments": (
        lambda: grad(mul, argnums=2)(1.0, 2.0),
        errors.ArgumentError,
        ["argnums=2", "2 positional arguments", "keyword"],
    ),
    "argnums below them": (
        lambda: grad(mul, argnums=(0, -3))(1.0, 2.0),
        errors.ArgumentError,
        ["argnums=-3"],
    ),
    "argnums of another type": (
        lambda: grad(mul, argnums="x"),
        errors.ArgumentError,
        ["argnums", "'x'"],
    ),
    "a string argument": (
        lambda: grad(lambda d: d["a"])({"a": 1.0, "b": "text"}),
        errors.ArgumentError,
        ["d['b']", "'text'", "not an array"],
    ),
    "no pair under has_aux": (
        lambda: grad(lambda x: x, has_aux=True)(1.0),
        errors.ArgumentError,
        ["has_aux=True", "pair"],
    ),
    "a triple under has_aux": (
        lambda: grad(lambda x: (x, x, x), has_aux=True)(1.0),
        errors.ArgumentError,
        ["a tuple of length 3"],
    ),
}


def _generator(x: Any) -> Any:
    yield x


@pytest.mark.parametrize("mistake", GRAD_MISTAKES)
def test_mistakes_with_grad_say_what_was_given_and_what_to_do(mistake: str) -> None:
    call, kind, parts = GRAD_MISTAKES[mistake]
    with pytest.raises(kind) as caught:
        call()
    for part in parts:
        assert part in str(caught.value), f"{part!r} is not in: {caught.value}"


def test_nothing_stays_open_after_an_error_in_the_function() -> None:
    with pytest.raises(ZeroDivisionError):
        grad(lambda x: 1 // 0)(1.0)
    close(grad(sin)(0.0), 1.0)


def test_the_name_and_documentation_of_the_function_are_kept() -> None:
    def loss(x: Any) -> Any:
        """How wrong it is."""
        return x

    assert grad(loss).__name__ == "loss" and grad(loss).__doc__ == "How wrong it is."


# ----------------------------------------------------------------- jvp, vjp, linearize


def test_jvp_pushes_a_tangent_through_trees() -> None:
    out, tangent = jvp(lambda a, b: {"p": mul(a["x"], b)}, ({"x": 2.0}, 3.0), ({"x": 1.0}, 10.0))
    close(out["p"], 6.0)
    close(tangent["p"], 23.0)


def test_jvp_carries_auxiliary_results_without_tangents() -> None:
    out, tangent, aux = jvp(lambda x: (sin(x), cos(x)), (0.0,), (1.0,), has_aux=True)
    close(out, 0.0)
    close(tangent, 1.0)
    close(aux, 1.0)


def test_integers_take_and_give_tangents_of_no_values() -> None:
    zeros = np.zeros((), FLOAT0)
    _, tangent = jvp(lambda x, i: (x, i), (1.0, np.int32(2)), (3.0, zeros))
    close(tangent[0], 3.0)
    assert tangent[1].dtype == FLOAT0
    _, pullback = vjp(lambda x, i: (x, i), 1.0, np.int32(2))
    gx, gi = pullback((4.0, zeros))
    close(gx, 4.0)
    assert gi.dtype == FLOAT0


def test_a_pullback_may_be_called_many_times_and_mapped() -> None:
    _, pullback = vjp(lambda x: cube(x), X)
    close(pullback(np.ones(3, np.float32))[0], 3 * X * X)
    close(pullback(2 * np.ones(3, np.float32))[0], 6 * X * X)
    (rows,) = vmap(pullback)(np.eye(3, dtype=np.float32))
    close(rows, np.diag(3 * X * X))


def test_a_pullback_works_inside_other_transformations() -> None:
    _, pullback = vjp(sin, 0.5)
    close(jit(lambda ct: pullback(ct)[0])(2.0), 2 * np.cos(0.5))
    close(grad(lambda ct: pullback(ct)[0])(2.0), np.cos(0.5))


def test_linearize_gives_the_derivative_as_a_function_that_maps() -> None:
    out, pushforward = linearize(lambda x, y: mul(sin(x), y), X, X)
    close(out, np.sin(X) * X)
    ones = np.ones(3, np.float32)
    close(pushforward(ones, 0 * ones), np.cos(X) * X)
    close(
        vmap(lambda t: pushforward(t, t))(np.eye(3, dtype=np.float32)),
        np.diag(np.cos(X) * X + np.sin(X)),
    )


def test_vjp_and_linearize_carry_auxiliary_results() -> None:
    _, pullback, aux = vjp(lambda x: (mul(x, x), {"n": "text", "x": x}), 3.0, has_aux=True)
    close(pullback(1.0)[0], 6.0)
    assert aux["n"] == "text"
    close(aux["x"], 3.0)
    _, pushforward, aux = linearize(lambda x: (mul(x, x), x), 3.0, has_aux=True)
    close(pushforward(1.0), 6.0)
    close(aux, 3.0)


def test_a_python_scalar_is_a_tangent_of_any_width() -> None:
    close(jvp(sin, (np.float64(0.0),), (2.0,))[1], 2.0)
    _, pullback = vjp(sin, np.float64(0.0))
    assert host(pullback(1)[0]).dtype == np.float64


DIRECTION_MISTAKES = {
    "a bare primal": (
        lambda: jvp(sin, 1.0, 1.0),
        errors.ArgumentError,
        ["primals", "tuple", "ax.jvp(f, (x,), (dx,))"],
    ),
    "too few tangents": (
        lambda: jvp(mul, (1.0, 2.0), (1.0,)),
        errors.ArgumentError,
        ["2 primals", "1 tangents"],
    ),
    "a tangent of another structure": (
        lambda: jvp(lambda d: d["a"], ({"a": 1.0},), ({"b": 1.0},)),
        errors.TreeError,
        ["tangent", "structure", "'a'", "'b'"],
    ),
    "a tangent of another shape": (
        lambda: jvp(lambda d: d["a"], ({"a": X},), ({"a": X[:2]},)),
        errors.ArgumentError,
        ["tangent of d['a']", "float32[3]", "float32[2]"],
    ),
    "a tangent of another dtype": (
        lambda: jvp(sin, (X,), (X.astype(np.float64),)),
        errors.ArgumentError,
        ["float32[3]", "float64[3]"],
    ),
    "a number as tangent of an integer": (
        lambda: jvp(lambda i: i, (np.int32(1),), (1.0,)),
        errors.ArgumentError,
        ["float0", "np.zeros((), ax.float0)", "int32[]"],
    ),
    "a complex tangent of a real number": (
        lambda: jvp(sin, (1.0,), (1j,)),
        errors.ArgumentError,
        ["float32[]", "1j"],
    ),
    "a cotangent of another structure": (
        lambda: vjp(lambda x: {"s": sin(x)}, 1.0)[1](1.0),
        errors.TreeError,
        ["cotangent", "ax.vjp", "'s'"],
    ),
    "a cotangent of another shape": (
        lambda: vjp(lambda x: {"s": sin(x)}, X)[1]({"s": X[:1]}),
        errors.ArgumentError,
        ["the result['s']", "float32[3]", "float32[1]"],
    ),
    "an output that is no array": (
        lambda: vjp(lambda x: {"s": [x, "text"]}, 1.0),
        errors.ArgumentError,
        ["'text'", "result['s'][1]", "has_aux=True"],
    ),
    "the result of a call": (
        lambda: vjp(sin(X), X),
        errors.NotCallableError,
        ["ax.vjp(f, x)"],
    ),
    "no pair under has_aux": (
        lambda: vjp(sin, 1.0, has_aux=True),
        errors.ArgumentError,
        ["has_aux=True", "pair"],
    ),
}


@pytest.mark.parametrize("mistake", DIRECTION_MISTAKES)
def test_mistakes_with_directions_say_what_was_given_and_what_to_do(mistake: str) -> None:
    call, kind, parts = DIRECTION_MISTAKES[mistake]
    with pytest.raises(kind) as caught:
        call()
    for part in parts:
        assert part in str(caught.value), f"{part!r} is not in: {caught.value}"


# ----------------------------------------------------------------- jacobians


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
def test_jacobians_have_output_axes_then_input_axes(jacobian: Any) -> None:
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    j = jacobian(lambda x: reduce_sum(mul(x, x), axes=(1,)))(x)
    want = np.zeros((2, 2, 3))
    for i in range(2):
        want[i, i] = 2 * x[i]
    close(j, want)


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
def test_jacobians_of_trees_nest_input_in_output(jacobian: Any) -> None:
    def f(a: Any, b: Any) -> Any:
        return {"s": mul(a["x"], b), "t": [total(b)]}

    j = jacobian(f, argnums=(0, 1))({"x": X}, 2 * X)
    close(j["s"][0]["x"], np.diag(2 * X))
    close(j["s"][1], np.diag(X))
    close(j["t"][0][0]["x"], np.zeros(3))
    close(j["t"][0][1], np.ones(3))


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
def test_jacobians_carry_auxiliary_results(jacobian: Any) -> None:
    j, aux = jacobian(lambda x: (sin(x), {"n": "text", "x": x}), has_aux=True)(X)
    close(j, np.diag(np.cos(X)))
    assert aux["n"] == "text"
    close(aux["x"], X)


@pytest.mark.parametrize("wrap", [lambda f: f, jit, lambda f: lambda x: jit(f)(x)])
def test_the_hessian_has_all_second_derivatives(wrap: Any) -> None:
    def f(x: Any) -> Any:
        return mul(total(x), total(cube(x)))

    want = 3 * X[None] ** 2 + 3 * X[:, None] ** 2 + np.diag(6 * X * X.sum())
    close(wrap(hessian(f))(X), want, rtol=1e-4)
    close(hessian(wrap(f))(X), want, rtol=1e-4)


def test_a_mapped_hessian_is_a_hessian_for_each() -> None:
    x = np.stack([X, 2 * X])
    h = vmap(hessian(lambda x: total(cube(x))))(x)
    close(h, [np.diag(6 * row) for row in x])
    close(jit(vmap(hessian(lambda x: total(cube(x)))))(x), h.host())


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: jacfwd(sin)(3), ["ax.jacfwd", "int32[]"]),
        (lambda: jacrev(sin)(3), ["ax.jacrev", "int32[]"]),
        (lambda: jacfwd(sin)(1j), ["real inputs", "holomorphic=True"]),
        (lambda: jacrev(lambda x: complexes.complex(x, x))(1.0), ["holomorphic=True"]),
        (lambda: jacrev(lambda x: gt(x, 0.0))(1.0), ["bool[]", "floating-point"]),
        (lambda: hessian(X), ["ax.hessian"]),
    ],
)
def test_mistakes_with_jacobians_are_explained(call: Any, parts: list[str]) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    for part in parts:
        assert part in str(caught.value), f"{part!r} is not in: {caught.value}"


# ----------------------------------------------------------------- the rest


def test_stop_gradient_makes_a_constant_of_a_tree() -> None:
    def f(x: Any) -> Any:
        fixed = stop_gradient({"x": x, "n": 3, "s": "text"})
        assert fixed["s"] == "text"
        return mul(x, fixed["x"])

    close(grad(f)(3.0), 3.0)
    close(jit(grad(f))(3.0), 3.0)
    close(grad(jit(f))(3.0), 3.0)
    close(vmap(grad(f))(X), X)


def test_check_grads_accepts_right_derivatives_of_trees() -> None:
    check_grads(lambda d, i: {"r": mul(tanh(d["a"]), sin(d["a"])), "i": i}, ({"a": X}, 3), order=2)
    check_grads(lambda x: mul(x, cube(x)), (np.linspace(0, 1, 4),), order=3)


def test_check_grads_refuses_wrong_derivatives() -> None:
    def wrong(x: Any) -> Any:
        return sub(mul(x, x), stop_gradient(x))

    with pytest.raises(AssertionError, match="jvp of wrong"):
        check_grads(wrong, (X,), order=1, modes=("fwd",))
    with pytest.raises(AssertionError, match="vjp of wrong"):
        check_grads(wrong, (X,), order=1, modes="rev")
    with pytest.raises(errors.ArgumentError, match="fwd"):
        check_grads(neg, (X,), order=1, modes=("forward",))


def test_the_cotangent_of_a_boolean_may_be_boolean():
    _, pullback = vjp(lambda x, n: (gt(x, n), mul(x, n)), 2.0, 1.0)
    for ct in (np.bool_(True), np.zeros((), FLOAT0)):
        assert [float(g) for g in pullback((ct, 3.0))] == [3.0, 6.0]
    for wrong in (True, 1.0, np.array([True]), np.int32(1)):
        with pytest.raises(errors.ArgumentError, match="float0"):
            pullback((wrong, 3.0))
    with pytest.raises(TypeError):
        grad(lambda x: gt(x, 1.0))(2.0)
