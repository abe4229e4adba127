"""`jit`, `make_graph` and `eval_shape`: what is compiled, what is kept, and what is refused."""

from __future__ import annotations

import copy
import functools
import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.core.graph import subgraphs

BACKENDS = ax.backends.available()


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Any:
    with ax.default_backend(request.param):
        yield request.param


def counted(fun: Any) -> tuple[Any, list[int]]:
    """A function that notes how often it is run."""
    runs = [0]

    @functools.wraps(fun)
    def inner(*args: Any, **kwargs: Any) -> Any:
        runs[0] += 1
        return fun(*args, **kwargs)

    return inner, runs


def test_a_function_is_run_once_for_each_kind_of_arguments(backend: str) -> None:
    inner, runs = counted(lambda x, y: x * y)
    f = ax.jit(inner)
    x = anp.ones((2, 3))
    for _ in range(3):
        f(x, x)
    assert runs[0] == 1
    f(x, 2.0)
    f(x, 3.0)
    assert runs[0] == 2
    f(anp.ones(3), 1.0)
    f(anp.ones(3, "int32"), 1.0)
    assert runs[0] == 4
    assert f.cache_info().misses == 4 and f.cache_info().currsize == 4
    f.clear_cache()
    assert f.cache_info().currsize == 0


def test_wrapping_the_same_function_again_finds_its_programs() -> None:
    inner, runs = counted(lambda x: x + 1)
    for _ in range(3):
        ax.jit(inner)(anp.ones(2))
        ax.jit(functools.partial(inner))(anp.ones(2))
    assert runs[0] == 2


def test_trees_go_in_and_come_out(backend: str) -> None:
    tree = {"a": anp.arange(3.0), "b": (anp.ones(2), None, [2.0])}
    out = ax.jit(lambda t: {"sum": t["a"].sum() + t["b"][2][0], "same": t})(tree)
    assert float(out["sum"]) == 5.0
    assert ax.tree.structure(out["same"]) == ax.tree.structure(tree)


def test_static_arguments_are_python_values(backend: str) -> None:
    inner, runs = counted(lambda x, n, mode="a": x * n if mode == "a" else x + n)
    f = ax.jit(inner, static_argnums=1, static_argnames="mode")
    x = anp.ones(2)
    np.testing.assert_array_equal(f(x, 3), [3, 3])
    np.testing.assert_array_equal(f(x, 3, mode="b"), [4, 4])
    np.testing.assert_array_equal(f(x, 3), [3, 3])
    assert runs[0] == 2
    f(x, True)
    assert runs[0] == 3, "1 and True are different static values"
    by_name = ax.jit(inner, static_argnames=("n", "mode"))
    np.testing.assert_array_equal(by_name(x, 2), [2, 2])
    np.testing.assert_array_equal(by_name(x, n=5), [5, 5])


def test_an_unhashable_static_argument_says_so() -> None:
    f = ax.jit(lambda x, n: x, static_argnums=1)
    with pytest.raises(ax.errors.StaticArgumentError, match=r"static argument 1.*\[1, 2\].*tuple"):
        f(anp.ones(2), [1, 2])


def test_keyword_arguments_are_arrays_too(backend: str) -> None:
    f = ax.jit(lambda x, *, scale: x * scale)
    np.testing.assert_array_equal(f(anp.ones(2), scale=3.0), [3, 3])
    np.testing.assert_array_equal(f(anp.ones(2), scale=anp.ones(2)), [1, 1])


def test_a_method_can_be_compiled() -> None:
    class Model:
        def __init__(self) -> None:
            self.calls = 0

        @functools.partial(ax.jit, static_argnums=0)
        def apply(self, x: Any) -> Any:
            self.calls += 1
            return x * 2

    model = Model()
    np.testing.assert_array_equal(model.apply(anp.ones(2)), [2, 2])
    model.apply(anp.ones(2))
    assert model.calls == 1


def test_settings_and_open_axes_are_part_of_the_key() -> None:
    inner, runs = counted(lambda x: x + anp.arange(2))
    f = ax.jit(inner)
    f(anp.ones(2))
    with ax.config(default_dtype_bits=64):
        f(anp.ones(2, "float32"))
    assert runs[0] == 2
    sized, runs = counted(lambda x: x * ax.lax.axis_size("i"))
    g = ax.jit(sized)
    for n in (2, 3, 2):
        out = ax.vmap(g, axis_name="i")(anp.ones((n, 1)))
        np.testing.assert_array_equal(out, np.full((n, 1), n))
    assert runs[0] == 2
    with pytest.raises(ax.errors.AxisError, match="no axis named 'i' is open"):
        g(anp.ones(1))


def test_a_closure_over_arrays_is_a_constant_of_the_graph(backend: str) -> None:
    big = anp.arange(1000.0)
    host = np.arange(3.0)
    f = ax.jit(lambda x: x + big.sum() + host)
    np.testing.assert_allclose(f(anp.zeros(3)), 499500 + np.arange(3.0))
    host[:] = 99.0
    np.testing.assert_allclose(f(anp.zeros(3)), 499500 + np.arange(3.0))
    graph = ax.make_graph(lambda x: x + big)(anp.zeros(1000))
    assert len(graph.constants) == 1


def test_a_closure_over_a_traced_value_is_differentiated(backend: str) -> None:
    def f(x: Any) -> Any:
        return ax.jit(lambda y: anp.sin(x) * y)(3.0)

    np.testing.assert_allclose(ax.grad(f)(1.0), 3 * np.cos(1.0), rtol=1e-6)
    np.testing.assert_allclose(ax.vmap(f)(anp.arange(3.0)), 3 * np.sin(np.arange(3.0)), rtol=1e-6)
    np.testing.assert_allclose(ax.jit(ax.grad(f))(1.0), 3 * np.cos(1.0), rtol=1e-6)


def test_all_orders_of_grad_vmap_and_jit_agree(backend: str) -> None:
    def f(x: Any) -> Any:
        return anp.sum(anp.tanh(x) * anp.exp(-(x**2)))

    x = anp.asarray(np.linspace(-1, 1, 6).reshape(2, 3))
    expected = np.stack([np.asarray(ax.grad(f)(row)) for row in x])
    g, v, j = ax.grad, ax.vmap, ax.jit
    for composed in (
        v(g(f)),
        j(v(g(f))),
        v(j(g(f))),
        v(g(j(f))),
        j(v(g(j(f)))),
        j(v(j(g(j(f))))),
        g(lambda a: v(f)(a).sum()),
        g(lambda a: j(v(f))(a).sum()),
        j(g(lambda a: v(j(f))(a).sum())),
        g(j(lambda a: v(j(f))(a).sum())),
    ):
        np.testing.assert_allclose(composed(x), expected, rtol=1e-12)


def test_higher_derivatives_of_a_compiled_function(backend: str) -> None:
    f = ax.jit(lambda x: anp.sin(x))
    d = f
    # The n-th derivative of sin is sin(x + n pi / 2).
    for n in range(1, 7):
        d = ax.grad(d)
        expected = np.sin(0.5 + n * np.pi / 2)
        np.testing.assert_allclose(d(np.float64(0.5)), expected, rtol=1e-10, atol=1e-12)
    hessians = ax.jit(ax.vmap(ax.hessian(lambda x: anp.sum(f(x) ** 2))))
    x = anp.asarray(np.array([[0.1, 0.2], [0.3, 0.4]]))
    for got, row in zip(hessians(x), np.asarray(x), strict=True):
        np.testing.assert_allclose(got, np.diag(2 * np.cos(2 * row)), rtol=1e-10, atol=1e-12)


def test_the_gradient_of_a_compiled_function_saves_only_residuals() -> None:
    f = ax.jit(lambda x: anp.sum(anp.tanh(anp.sin(x) * 2.0) ** 2))
    graph = ax.make_graph(ax.grad(f))(anp.ones((64, 64)))
    forward, backward = [e for e in graph.equations if e.primitive.name == "call"]
    (forward_graph,), (backward_graph,) = subgraphs(forward), subgraphs(backward)
    # Beside the value, the tanh: as large as the input, and dearer than its memory.  The
    # backward part gets it, the input again, and the cotangent; the sine is made again.
    assert [str(a) for a in forward_graph.out_avals] == ["float32[]", "float32[64,64]"]
    matrix = "float32[64,64]"
    assert [str(a) for a in backward_graph.in_avals] == [matrix, matrix, "float32[]"]
    with ax.config(residual_policy="save"):
        graph = ax.make_graph(ax.grad(f))(anp.ones((64, 64)))
    (saved,) = subgraphs(next(e for e in graph.equations if e.primitive.name == "call"))
    assert len(saved.outputs) > 1


def test_transforming_again_stages_nothing_new() -> None:
    inner, runs = counted(lambda x: anp.sum(anp.sin(x)))
    f = ax.jit(inner)
    x = anp.ones(3)
    for _ in range(3):
        ax.grad(f)(x)
        ax.vmap(ax.grad(f))(anp.ones((2, 3)))
        ax.grad(lambda a: ax.grad(f)(a).sum())(x)
    assert runs[0] == 1


def test_donated_arrays_cannot_be_used_again(backend: str) -> None:
    f = ax.jit(lambda x, y: x + y, donate_argnums=0)
    x, y = anp.ones(4), anp.ones(4)
    np.testing.assert_array_equal(f(x, y), [2, 2, 2, 2])
    np.testing.assert_array_equal(y, [1, 1, 1, 1])
    for use in (lambda: x + 1, lambda: np.asarray(x), lambda: f(x, y), lambda: ax.jit(anp.sin)(x)):
        with pytest.raises(ax.errors.DonatedArrayError, match=r"float32\[4\].*donat"):
            use()
    by_name = ax.jit(lambda x, y: x + y, donate_argnames="y")
    by_name(anp.ones(4), y)
    with pytest.raises(ax.errors.DonatedArrayError):
        y + 1


USES = {
    "an operator": lambda x: x + 1,
    "the other operand": lambda x: np.ones(4, np.float32) * x,
    "a function": lambda x: anp.sin(x),
    "a reduction": lambda x: x.sum(),
    "an index": lambda x: x[0],
    "a write": lambda x: x.at[0].set(1.0),
    "an index made of it": lambda x: anp.arange(4)[x.astype(int)],
    "an argument of jit": lambda x: ax.jit(anp.sin)(x),
    "handed through jit": lambda x: ax.jit(lambda v: v)(x),
    "caught by jit": lambda x: ax.jit(lambda v: v + x)(anp.ones(4)),
    "grad": lambda x: ax.grad(lambda v: (v * v).sum())(x),
    "vmap": lambda x: ax.vmap(anp.sin)(x),
    "a tangent": lambda x: ax.jvp(anp.sin, (anp.ones(4),), (x,)),
    "NumPy": lambda x: np.asarray(x),
    "repr": repr,
    "str": str,
    "a list": lambda x: x.tolist(),
    "a scan": lambda x: ax.lax.scan(lambda c, v: (c + v, v), anp.float32(0), x),
    "waiting": lambda x: ax.block_until_ready(x),
    "its device": lambda x: x.device,
    "a copy": lambda x: x.copy(),
    "copy.deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
    "dlpack": lambda x: x.__dlpack__(),
}


@pytest.mark.parametrize("use", USES)
def test_a_deleted_array_cannot_be_used_again(use: str, backend: str) -> None:
    x = anp.arange(4.0)
    assert not x.is_deleted()
    x.delete()
    x.delete()
    assert x.is_deleted()
    with pytest.raises(ax.errors.DonatedArrayError, match=r"float32\[4\] was used after .*delete"):
        USES[use](x)


def test_a_donated_array_is_deleted(backend: str) -> None:
    x = anp.ones(4)
    ax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted()
    x.delete()


def test_an_explicit_backend_moves_the_arguments() -> None:
    x = ax.device_put(anp.ones(3), "numpy")
    for name in BACKENDS:
        f = ax.jit(lambda v: anp.sum(v * 2.0), backend=name)
        assert f(x).device.backend.name == name
        assert f(np.ones(3)).device.backend.name == name
        gradient = ax.grad(lambda v, f=f: f(v))(x)
        assert gradient.device.backend.name == "numpy"
        np.testing.assert_array_equal(gradient, [2, 2, 2])
    with pytest.raises(ax.errors.ArgumentError, match="not both"):
        ax.jit(anp.sin, backend="numpy", device="numpy:cpu:0")


def test_lowering_shows_the_program_and_compiles_it(backend: str) -> None:
    lowered = ax.jit(lambda x, y: anp.sin(x) * y).lower(
        ax.ShapeDtypeStruct((3,), "float32"), y=anp.ones(3)
    )
    text = lowered.as_text()
    assert ("stablehlo.sine" in text) if backend == "xla" else ("np.sin" in text)
    assert lowered.out_info == ax.ShapeDtypeStruct((3,), "float32")
    compiled = lowered.compile()
    np.testing.assert_allclose(compiled(anp.zeros(3), y=anp.ones(3)), [0, 0, 0])
    assert isinstance(compiled.as_text(), str) and compiled.as_text()
    with pytest.raises(ax.errors.ArgumentError, match=r"compiled for float32\[3\]"):
        compiled(anp.zeros(4), y=anp.ones(3))
    with pytest.raises(ax.errors.ArgumentError, match="structure"):
        compiled(anp.zeros(3), anp.ones(3))


def test_inline_puts_the_function_into_the_program_around_it() -> None:
    inner = ax.jit(lambda x: anp.sin(x), inline=True)
    graph = ax.make_graph(lambda x: inner(x) + 1)(1.0)
    assert "call" not in {e.primitive.name for e in graph.equations}


def test_types_are_known_without_computing() -> None:
    def explode(x: Any) -> Any:
        return {"y": anp.dot(x, x.T), "n": x.shape[0]}

    out = ax.eval_shape(explode, ax.ShapeDtypeStruct((2000000, 3), "bfloat16"))
    assert out["y"].shape == (2000000, 2000000) and str(out["y"].dtype) == "bfloat16"
    assert out["n"].weak_type


def test_what_is_no_array_is_named_by_its_path() -> None:
    with pytest.raises(ax.errors.ArgumentError, match=r"argument params\['w'\] of f .*'text'"):

        def f(params: Any) -> Any:
            return params

        ax.jit(f)({"w": "text"})
    with pytest.raises(ax.errors.ArgumentError, match=r"f returned 'x'.* at result\[1\]"):

        def f(x: Any) -> Any:
            return x, "x"

        ax.jit(f)(1.0)


def test_a_result_of_integer_gradients_passes_through(backend: str) -> None:
    g = ax.jit(ax.grad(lambda x, n: x * n, argnums=(0, 1), allow_int=True))
    dx, dn = g(2.0, 3)
    assert float(dx) == 3.0 and dn.dtype == ax.float0 and dn.shape == ()
    dx, dn = g(2.0, 3)
    assert float(dx) == 3.0 and dn.dtype == ax.float0


def test_host_integers_that_do_not_fit_raise() -> None:
    with pytest.raises(OverflowError, match="out of range for int32"):
        ax.jit(lambda x: x + 1)(2**40)
    assert int(ax.jit(lambda x: x + 1)(np.int64(2**40))) == 2**40 + 1


def test_programs_die_with_their_function() -> None:
    def scope() -> Any:
        def f(x: Any) -> Any:
            return x * 2

        jitted = ax.jit(f)
        jitted(anp.ones(3))
        graph = jitted.trace(anp.ones(3)).graph
        return weakref.ref(graph)

    reference = scope()
    gc.collect()
    assert reference() is None


@pytest.mark.filterwarnings("ignore::arrayx.errors.UnrolledLoopWarning")
def test_ten_thousand_operations_are_no_problem(backend: str) -> None:
    def chain(x: Any) -> Any:
        for _ in range(10_000):
            x = anp.sin(x)
        return x

    spec = ax.ShapeDtypeStruct((), "float32")
    assert len(ax.make_graph(chain)(spec).equations) == 10_000
    ax.make_graph(ax.grad(chain))(spec)
    ax.make_graph(ax.vmap(ax.grad(ax.jit(chain))))(ax.ShapeDtypeStruct((2,), "float32"))
    ax.make_graph(ax.jit(ax.grad(ax.jit(chain))))(spec)
    if backend == "numpy":
        value = ax.jit(chain)(0.5)
        assert 0 < float(value) < 0.5
        ax.grad(ax.jit(chain))(0.5)
