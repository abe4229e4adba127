"""`checkpoint`: the same derivatives, from less that is kept."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors
from arrayx.core.array import Array

POLICIES = ax.checkpoint_policies
BACKENDS = ("numpy", "xla")
X = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(3, 4)
W = np.linspace(0.3, -0.4, 16, dtype=np.float32).reshape(4, 4)


def layer(x: Any, w: Any) -> Any:
    y = ax.ad_checkpoint.checkpoint_name(anp.sin(x @ w), "inner")
    return anp.tanh(y @ w) * x


def close(got: Any, want: Any, rtol: float = 2e-5) -> None:
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=rtol, atol=1e-5)


EACH_POLICY = {
    "none": None,
    "everything": POLICIES.everything_saveable,
    "nothing": POLICIES.nothing_saveable,
    "dots": POLICIES.dots_saveable,
    "dots without batch": POLICIES.dots_with_no_batch_dims_saveable,
    "names": POLICIES.save_only_these_names("inner"),
    "other names": POLICIES.save_any_names_but_these("inner"),
    "all but names": POLICIES.save_anything_except_these_names("inner"),
    "both": POLICIES.save_from_both_policies(
        POLICIES.dots_saveable, POLICIES.save_only_these_names("inner")
    ),
    "a function": lambda primitive, *avals, **params: primitive.name == "sin",
}


ORDERS = list(permutations(("grad", "vmap", "jit")))
CASES = [
    *((order, policy, "numpy") for order in ORDERS for policy in EACH_POLICY),
    *((order, "none", "xla") for order in ORDERS),
    *((ORDERS[0], policy, "xla") for policy in ("names", "dots", "everything")),
]


@pytest.mark.parametrize(("order", "policy", "backend"), CASES)
def test_derivatives_are_those_of_the_function_in_every_order(
    order: tuple[str, ...], policy: str, backend: str
) -> None:
    def derivative(f: Callable[..., Any]) -> Any:
        wraps = {
            "grad": lambda g: ax.grad(lambda x, w: anp.sum(g(x, w) ** 2), argnums=1),
            "vmap": lambda g: ax.vmap(g, (0, None)),
            "jit": ax.jit,
        }
        for name in order:
            f = wraps[name](f)
        return f(X, W)

    with ax.default_backend(backend):
        close(derivative(ax.checkpoint(layer, policy=EACH_POLICY[policy])), derivative(layer))


@pytest.mark.parametrize(
    ("policy", "wrap", "backend"),
    [
        *(
            (policy, wrap, "numpy")
            for policy in ("none", "names", "dots")
            for wrap in ("eager", "jit", "jit inside", "nested")
        ),
        ("none", "jit", "xla"),
        ("names", "nested", "xla"),
    ],
)
def test_second_derivatives_agree(policy: str, wrap: str, backend: str) -> None:
    kept = EACH_POLICY[policy]

    def second(f: Any, jit: Any) -> Any:
        def first(w: Any) -> Any:
            return anp.sum(ax.grad(lambda w: anp.sum(f(X, w) ** 2))(w) ** 2)

        return [jit(ax.grad(first))(W), jit(ax.jacfwd(first))(W)]

    f: Any = ax.jit(layer) if wrap == "jit inside" else layer
    f = ax.checkpoint(f, policy=kept)
    if wrap == "nested":
        f = ax.checkpoint(lambda x, w, g=f: anp.cos(g(x, w)))
        want = second(lambda x, w: anp.cos(layer(x, w)), lambda f: f)
    else:
        want = second(layer, lambda f: f)
    with ax.default_backend(backend):
        for a, b in zip(second(f, ax.jit if wrap == "jit" else lambda f: f), want, strict=True):
            close(a, b, 1e-4)


def residual_bytes(f: Callable[..., Any], *args: Any) -> int:
    """Bytes of all arrays that a backward pass keeps, but for the arguments themselves."""
    arrays = [anp.asarray(a) for a in args]
    _, pullback = ax.vjp(f, *arrays)
    kept = {
        id(a): a.nbytes
        for _, operands, _, _ in pullback.linear.tape.entries
        for a in operands
        if isinstance(a, Array) and hasattr(a, "host")
    }
    return sum(n for i, n in kept.items() if i not in {id(a) for a in arrays})


SAVED = {
    "none": 0,
    "nothing": 0,
    "names": 1,
    "other names": 0,
    "dots": 2,
    "dots without batch": 2,
    "both": 3,
    "a function": 1,
}


@pytest.mark.parametrize("policy", SAVED)
def test_a_policy_decides_how_many_arrays_are_kept(policy: str) -> None:
    f = ax.checkpoint(layer, policy=EACH_POLICY[policy])
    assert residual_bytes(f, X, W) == SAVED[policy] * X.nbytes
    # What a call holds is seen by the policy too.
    f = ax.checkpoint(ax.jit(layer), policy=EACH_POLICY[policy])
    assert residual_bytes(f, X, W) == SAVED[policy] * X.nbytes


@pytest.mark.parametrize("batch", ["alone", "vmap of grad", "grad of vmap"])
def test_a_loop_keeps_the_carry_of_each_step_and_nothing_else(batch: str) -> None:
    steps = 5

    def loop(f: Any) -> Any:
        return lambda x, w: ax.lax.scan(lambda c, _: (f(c, w), None), x, length=steps)[0]

    kept = ax.checkpoint(layer)
    if batch == "alone":
        assert residual_bytes(loop(kept), X, W) == steps * X.nbytes
        assert residual_bytes(loop(layer), X, W) > 2 * steps * X.nbytes
    elif batch == "grad of vmap":
        many = np.stack([X, 2 * X])
        f = ax.vmap(loop(kept), (0, None))
        assert residual_bytes(f, many, W) == steps * many.nbytes
    else:
        many = np.stack([X, 2 * X])
        pullbacks = ax.vmap(lambda x, w: ax.vjp(loop(kept), x, w)[1], (0, None))(many, W)
        # As leaves: the shared argument too, once for all.
        assert (
            sum(x.nbytes for x in ax.tree.leaves(pullbacks)) <= steps * many.nbytes + 2 * W.nbytes
        )


N = 1 << 16


def heavy(x: Any, w: Any) -> Any:
    for _ in range(4):
        x = anp.exp(anp.cumsum(anp.sin(x * w)) / N)
    return x


def chain(wrap: Callable[..., Any]) -> Callable[..., Any]:
    def loss(x: Any, w: Any) -> Any:
        for _ in range(8):
            x = wrap(heavy)(x, w)
        return anp.sum(x)

    return ax.grad(loss, argnums=1)


def test_it_really_saves_memory_on_numpy() -> None:
    x, w = anp.linspace(0.0, 1.0, N), anp.full(N, 0.5)

    def peak(f: Callable[..., Any]) -> int:
        f(x, w)
        tracemalloc.start()
        f(x, w)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    for wrap in (lambda f: f, lambda f: ax.jit(f)):
        plain, less = wrap(chain(lambda f: f)), wrap(chain(ax.checkpoint))
        close(less(x, w), plain(x, w))
    assert peak(chain(ax.checkpoint)) < 0.3 * peak(chain(lambda f: f))

    def arena(f: Callable[..., Any]) -> int:
        # A compiled program keeps its memory from call to call: what its first call took.
        tracemalloc.start()
        ax.jit(f)(x, w)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert arena(chain(ax.checkpoint)) < 0.5 * arena(chain(lambda f: f))


def test_it_really_saves_memory_on_xla() -> None:
    x, w = np.linspace(0.0, 1.0, N, dtype=np.float32), np.full(N, 0.5, np.float32)

    def temporaries(f: Callable[..., Any]) -> float:
        use: float = ax.jit(f).lower(x, w).compile().memory_analysis()["temporaries"]
        return use

    with ax.default_backend("xla"):
        assert temporaries(chain(ax.checkpoint)) < 0.4 * temporaries(chain(lambda f: f))


def test_without_prevention_a_compiler_may_merge_the_two_runs() -> None:
    x, w = np.linspace(0.0, 1.0, N, dtype=np.float32), np.full(N, 0.5, np.float32)
    f = ax.jit(chain(lambda f: ax.checkpoint(f, prevent_cse=False)))
    close(f(x, w), chain(lambda f: f)(x, w))
    text = str(ax.make_graph(chain(lambda f: ax.checkpoint(f, prevent_cse=False)))(x, w))
    assert "prevent_cse=False" in text


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_goes_into_loops_and_branches(backend: str) -> None:
    def loss(f: Any, w: Any) -> Any:
        y, _ = ax.lax.scan(lambda x, _: (f(x, w), None), X, length=3)
        return anp.sum(ax.lax.cond(anp.sum(y) > 0, f, lambda x, w: -f(x, w), y, w))

    with ax.default_backend(backend):
        for wrap in (lambda f: f, ax.jit):
            got = wrap(ax.grad(lambda w: loss(ax.checkpoint(layer), w)))(W)
            close(got, ax.grad(lambda w: loss(layer, w))(W))


def test_values_from_around_are_differentiated() -> None:
    def loss(f: Any, w: Any) -> Any:
        return anp.sum(f(lambda x: layer(x, w))(X))

    for wrap in (lambda f: f, ax.jit):
        got = wrap(ax.grad(lambda w: loss(ax.checkpoint, w)))(W)
        close(got, ax.grad(lambda w: loss(lambda f: f, w))(W))


def test_trees_keywords_and_static_arguments_go_through() -> None:
    @ax.checkpoint(static_argnums=(1,), static_argnames="twice")
    def f(tree: Any, n: int, *, twice: bool) -> Any:
        assert isinstance(n, int)
        return {"y": tree["x"] ** n * (2 if twice else 1)}

    assert f({"x": 3.0}, 2, twice=True)["y"] == 18.0
    assert ax.grad(lambda x: f({"x": x}, 2, twice=True)["y"])(3.0) == 12.0
    assert ax.jit(ax.grad(lambda x: f({"x": x}, 3, twice=False)["y"]))(2.0) == 12.0


def test_called_alone_it_is_the_function() -> None:
    # Without a transformation around it Python's control flow on values works.
    assert ax.checkpoint(lambda x: x if x > 0 else -x)(-2.0) == 2.0
    assert ax.remat is ax.checkpoint is ax.ad_checkpoint.checkpoint


def test_names_are_transparent() -> None:
    named = ax.ad_checkpoint.checkpoint_name
    tree = named({"a": anp.ones(2), "b": "text"}, "it")
    assert tree["b"] == "text"
    close(ax.vmap(lambda x: named(x, "it"))(X), X)
    close(ax.jit(lambda x: named(x, "it"))(X), X)
    close(ax.jvp(lambda x: named(x, "it"), (X,), (X,))[1], X)
    key = ax.random.key(0)
    assert ax.random.key_data(named(key, "key")).tolist() == ax.random.key_data(key).tolist()


def test_what_is_kept_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    show = ax.ad_checkpoint.print_saved_residuals
    show(ax.checkpoint(layer, policy=EACH_POLICY["names"]), X, W)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("float32[3,4] made at")]
    assert "float32[3,4] it is the argument x" in lines
    assert "float32[4,4] it is the argument w" in lines
    assert len(lines) == 3


MISTAKES: dict[str, tuple[Callable[[], Any], type, str]] = {
    "concrete": (
        lambda: ax.checkpoint(layer, concrete=True),
        errors.ArgumentError,
        "static_argnums",
    ),
    "a policy that is none": (
        lambda: ax.checkpoint(layer, policy="dots"),
        errors.ArgumentError,
        "ax.checkpoint_policies, got 'dots' of type str",
    ),
    "no function": (lambda: ax.checkpoint(anp.ones(3)), errors.NotCallableError, "shape"),
    "a name that is none": (
        lambda: ax.ad_checkpoint.checkpoint_name(X, 3),
        errors.ArgumentError,
        "name has to be a string, got 3",
    ),
    "a value that Python asks for": (
        lambda: ax.grad(ax.checkpoint(lambda x: x if x > 0 else -x))(2.0),
        errors.ConcretizationError,
        "ax.checkpoint of <lambda>",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_say_what_to_do(mistake: str) -> None:
    call, kind, text = MISTAKES[mistake]
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value)


def test_a_graph_with_a_policy_reads_back() -> None:
    f = ax.checkpoint(layer, policy=EACH_POLICY["both"])
    graph = ax.make_graph(ax.grad(lambda w: anp.sum(f(X, w))))(W)
    assert ax.parse_graph(str(graph)).same_structure(graph)


def test_a_wall_keeps_equal_work_apart() -> None:
    def f(x: Any) -> Any:
        y = anp.sin(x)
        (x,) = ax.lax.optimization_barrier((x,))
        return y + anp.sin(x)

    text = ax.jit(f).lower(anp.ones(3)).as_text()
    assert text.count("np.sin") == 2
    for wrap in (lambda f: f, ax.jit):
        close(wrap(f)(X), 2 * np.sin(X))
        close(wrap(ax.vmap(f))(X), 2 * np.sin(X))
        close(wrap(ax.vmap(ax.grad(ax.grad(f))))(X[0]), -2 * np.sin(X[0]))
        close(wrap(ax.vmap(ax.jacfwd(f)))(X[0]), 2 * np.cos(X[0]))
    with ax.default_backend("xla"):
        close(ax.jit(f)(X), 2 * np.sin(X))
