"""`while_loop` against loops in Python, under every transformation that it has."""

from __future__ import annotations

import importlib.util
import tracemalloc
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors
from arrayx.control.while_loop import while_loop as primitive
from arrayx.core.graph import subgraphs

X = np.float32(0.7)
W = np.float32(1.3)
N = np.int32(3)
XS = np.array([0.7, -0.4, 1.1], np.float32)
WS = np.array([1.3, 0.6, -0.8], np.float32)
NS = np.array([3, 0, 5], np.int32)
NEEDS_XLA = pytest.mark.skipif(
    importlib.util.find_spec("jaxlib") is None,
    reason="the xla backend needs jaxlib: pip install 'arrayx[xla]'",
)


def by_hand(test: Any, step: Any, value: Any) -> Any:
    """What `while_loop` means, as a loop in Python."""
    while bool(test(value)):
        value = step(value)
    return value


def counted(loop: Any, x: Any, w: Any, n: Any) -> Any:
    return loop(lambda c: c[0] < n, lambda c: (c[0] + 1, anp.sin(c[1]) * w + 0.1), (0, x))[1]


def converging(loop: Any, x: Any, w: Any, n: Any) -> Any:
    def step(c: Any) -> Any:
        return {"i": c["i"] + 1, "x": c["x"] * 0.5 + w * 0.1, "last": c["x"]}

    def test(c: Any) -> Any:
        return (anp.abs(c["x"] - c["last"]) > 0.05) & (c["i"] < n + 4)

    return loop(test, step, {"i": 0, "x": x, "last": x + 1.0})["x"]


def nested(loop: Any, x: Any, w: Any, n: Any) -> Any:
    def step(c: Any) -> Any:
        i, v = c
        _, v = loop(lambda d: d[0] < i, lambda d: (d[0] + 1, anp.cos(d[1] * w)), (0, v))
        return i + 1, v * 0.9

    return loop(lambda c: c[0] < n, step, (0, x))[1]


def on_values(loop: Any, x: Any, w: Any, n: Any) -> Any:
    return loop(lambda v: v * v < 4 + n, lambda v: v * 1.5 + anp.sign(v) * w * w, x)


PROGRAMS = [counted, converging, nested, on_values]


def looped(program: Any) -> Any:
    return lambda x, w, n: program(ax.lax.while_loop, x, w, n)


def in_python(program: Any) -> Any:
    return lambda x, w, n: program(by_hand, x, w, n)


def forward(f: Any) -> Any:
    return lambda x, w, n: ax.jvp(lambda x, w: f(x, w, n), (x, w), (anp.cos(x), anp.sin(w)))


def agree(got: Any, want: Any, rtol: float = 1e-4) -> None:
    assert ax.tree.structure(got) == ax.tree.structure(want)
    for x, y in zip(ax.tree.leaves(got), ax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=rtol, atol=1e-5)


TRANSFORMS: dict[str, Any] = {
    "value": lambda f: f,
    "jvp in one": lambda f: lambda x, w, n: ax.jvp(lambda w: f(x, w, n), (w,), (np.float32(1),)),
    "jvp in both": forward,
    "jacfwd": lambda f: ax.jacfwd(f, (0, 1)),
    "second order": lambda f: ax.jacfwd(ax.jacfwd(f, (0, 1)), (0, 1)),
}


@pytest.mark.parametrize("jitted", [(), ("in",), ("out",), ("in", "out")], ids=str)
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_it_is_the_loop_under_forward_mode(program: Any, transform: str, jitted: Any) -> None:
    f = looped(program)
    wrapped = TRANSFORMS[transform](ax.jit(f) if "in" in jitted else f)
    wrapped = ax.jit(wrapped) if "out" in jitted else wrapped
    for n in (np.int32(0), N):
        agree(wrapped(X, W, n), TRANSFORMS[transform](in_python(program))(X, W, n))


SUBSETS = [s for s in product((0, None), repeat=3) if s != (None, None, None)]


@pytest.mark.parametrize("axes", SUBSETS, ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_each_lane_gets_what_it_would_get_alone(program: Any, axes: Any) -> None:
    args = [xs if d == 0 else x for x, xs, d in zip((X, W, N), (XS, WS, NS), axes, strict=True)]

    def each(f: Any) -> Any:
        singles = [
            f(*(x[k] if d == 0 else x for x, d in zip(args, axes, strict=True))) for k in range(3)
        ]
        return ax.tree.map(lambda *y: anp.stack(y), *singles)

    for wrap in (lambda f: f, forward):
        want = each(wrap(in_python(program)))
        agree(ax.vmap(wrap(looped(program)), axes)(*args), want)
        agree(ax.jit(ax.vmap(ax.jit(wrap(looped(program))), axes))(*args), want)
        if wrap is forward:
            agree(ax.vmap(ax.jit(wrap(looped(program))), axes)(*args), want)


@pytest.mark.parametrize("order", list(permutations(["jvp", "vmap", "jit"])), ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_every_order_of_composition_agrees(program: Any, order: Any) -> None:
    f = looped(program)
    for name in order:
        f = {"jvp": forward, "vmap": ax.vmap, "jit": ax.jit}[name](f)
    want = [forward(in_python(program))(*lane) for lane in zip(XS, WS, NS, strict=True)]
    agree(f(XS, WS, NS), tuple(anp.stack(y) for y in zip(*want, strict=True)))


@NEEDS_XLA
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_both_backends_agree(program: Any) -> None:
    f = forward(looped(program))
    want, lanes = f(X, W, N), ax.vmap(f)(XS, WS, NS)
    with ax.default_backend("xla"):
        agree(ax.jit(f)(X, W, N), want)
        agree(ax.jit(ax.vmap(f))(XS, WS, NS), lanes)


def test_lanes_may_differ_in_nested_batches() -> None:
    def f(n: Any, step: Any) -> Any:
        return ax.lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] + step), (0, 0.0))[1]

    ns, steps = np.array([1, 3, 2]), np.array([1.0, 10.0, 100.0], np.float32)
    table = (ns[:, None] * steps[None, :]).astype(np.float32)
    agree(ax.vmap(ax.vmap(f, (None, 0)), (0, None))(ns, steps), table)
    agree(ax.vmap(ax.vmap(f, (0, None)), (None, 0))(ns, steps), table.T)
    agree(ax.jit(ax.vmap(ax.vmap(f, (0, None)), (None, 0)))(ns, steps), table.T)
    squares = np.arange(4).reshape(2, 2)
    agree(ax.vmap(ax.vmap(f, (0, None)), (1, None))(squares, steps[1]), 10.0 * squares.T)


def test_batch_axes_may_be_anywhere() -> None:
    def f(x: Any, y: Any) -> Any:
        return ax.lax.while_loop(
            lambda c: anp.sum(c[0]) < 9, lambda c: (c[0] * 2 + y, c[1] @ c[1]), (x, anp.eye(2))
        )

    x = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    y = np.arange(6, dtype=np.float32).reshape(2, 3)
    got = ax.vmap(f, (1, 1), (0, 1))(x, y)
    for k in range(3):
        one = f(x[:, k], y[:, k])
        agree((got[0][k], got[1][:, k]), one)


def test_a_shared_condition_stays_a_scalar() -> None:
    def f(x: Any) -> Any:
        return ax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, x))[1]

    (e,) = [e for e in ax.make_graph(ax.vmap(f))(XS).equations if e.primitive is primitive]
    assert [v.aval.shape for v in e.outputs] == [(), (3,)]


def test_finished_lanes_stay_finite() -> None:
    def f(x: Any) -> Any:
        return ax.lax.while_loop(lambda v: v > 1.0, lambda v: anp.sqrt(v - 1.0), x)

    xs = np.array([0.5, 3.0, 26.0], np.float32)
    got, slope = ax.vmap(lambda x: ax.jvp(f, (x,), (np.float32(1),)))(xs)
    want = [
        ax.jvp(lambda x: by_hand(lambda v: v > 1, lambda v: anp.sqrt(v - 1), x), (x,), (x * 0 + 1,))
        for x in xs
    ]
    agree((got, slope), tuple(anp.stack(y) for y in zip(*want, strict=True)))
    assert np.isfinite(slope).all()


def test_keys_can_be_carried() -> None:
    def f(key: Any) -> Any:
        def step(c: Any) -> Any:
            key, use = ax.random.split(c[1])
            return ax.random.uniform(use, ()), key

        return ax.lax.while_loop(lambda c: c[0] > 0.3, step, (1.0, key))

    keys = ax.random.split(ax.random.key(11), 4)
    got, last = ax.vmap(f)(keys)
    for k in range(4):
        sample, key = f(keys[k])
        agree(got[k], sample)
        assert (ax.random.key_data(last[k]) == ax.random.key_data(key)).all()
    agree(ax.jit(ax.vmap(f))(keys)[0], got)


def test_python_scalars_take_the_types_that_the_loop_gives_them() -> None:
    half = np.float16(0.5)
    got = ax.lax.while_loop(lambda c: c[1] < 2, lambda c: (c[1], c[0] + half + c[1]), (0, 0.0))
    assert [x.dtype for x in got] == [np.float16] * 2
    got = ax.lax.while_loop(lambda x: x < 3, lambda x: x + 0.5, 0)
    assert got.dtype == np.float32 and got.weak_type and float(got) == 3.0
    got = ax.lax.while_loop(lambda x: x < 3, lambda x: 5, np.int16(1))
    assert got.dtype == np.int16 and not got.weak_type


def test_conditions_may_be_numbers_and_constants() -> None:
    assert int(ax.lax.while_loop(lambda n: n, lambda n: n - 1, 5)) == 0
    assert int(ax.lax.while_loop(lambda n: False, lambda n: n - 1, 5)) == 5
    table = np.array([3, 1, 4, 1, 5])
    assert int(ax.lax.while_loop(lambda n: anp.asarray(table)[n] < 5, lambda n: n + 1, 0)) == 4
    assert ax.lax.while_loop(lambda c: False, lambda c: c, ()) == ()


def test_bodies_are_traced_and_compiled_once() -> None:
    seen = []

    def step(c: Any) -> Any:
        seen.append(1)
        return c[0] + 1, c[1] * W

    for n in (2, 500):
        seen.clear()
        ax.lax.while_loop(lambda c, n=n: c[0] < n, step, (0, X))
        ax.jit(lambda n, x: ax.lax.while_loop(lambda c: c[0] < n, step, (0, x)))(n, X)
        assert len(seen) == 2
    before = len(primitive.kernels)
    for _ in range(3):
        ax.lax.while_loop(lambda c: c[0] < 4, step, (0, X))
    assert len(primitive.kernels) <= before + 1


def test_an_equation_holds_both_graphs() -> None:
    graph = ax.make_graph(lambda n: ax.lax.while_loop(lambda i: i < n, lambda i: i + 1, 0))(N)
    (e,) = [e for e in graph.equations if e.primitive is primitive]
    assert len(subgraphs(e)) == 2 and (e.params["n_cond"], e.params["n_body"]) == (1, 0)
    assert ax.parse_graph(str(graph)).same_structure(graph)


def test_reverse_mode_says_what_to_use_instead() -> None:
    for f in (looped(counted), ax.jit(looped(counted))):
        with pytest.raises(errors.GradError) as caught:
            ax.grad(f)(X, W, N)
        for part in (
            "reverse-mode",
            "while_loop",
            "max_steps",
            "ax.lax.scan",
            "ax.lax.fori_loop",
            "ax.jvp",
        ):
            assert part in str(caught.value)
    # What does not depend on the argument has no derivative to refuse.
    agree(
        ax.grad(lambda x: x * counted(ax.lax.while_loop, 0.5, W, N))(X), counted(by_hand, 0.5, W, N)
    )


# ----------------------------------------------------------------- a limit to the steps


def bounded(program: Any, most: int = 12) -> Any:
    """The loop with a limit that it does not reach."""

    def loop(test: Any, step: Any, value: Any) -> Any:
        return ax.lax.while_loop(test, step, value, max_steps=most)

    return lambda x, w, n: program(loop, x, w, n)


REVERSE: dict[str, Any] = {
    "value": lambda f: f,
    "grad": lambda f: ax.grad(f, (0, 1)),
    "grad in one": lambda f: ax.grad(f, 1),
    "forward over reverse": lambda f: ax.jacfwd(ax.grad(f, (0, 1)), (0, 1)),
    "reverse over forward": lambda f: ax.jacrev(ax.jacfwd(f, (0, 1)), (0, 1)),
    "reverse over reverse": lambda f: ax.jacrev(ax.grad(f, (0, 1)), (0, 1)),
}


REVERSALS = [
    pytest.param(
        program,
        transform,
        jitted,
        id=f"{program.__name__}-{transform}-{jitted}",
        marks=[pytest.mark.slow] if " over " in transform and jitted != "outside" else [],
    )
    for program in PROGRAMS
    for transform in REVERSE
    for jitted in ("nowhere", "inside", "outside")
]


@pytest.mark.parametrize(("program", "transform", "jitted"), REVERSALS)
def test_with_max_steps_it_is_the_loop_under_reverse_mode(
    program: Any, transform: str, jitted: Any
) -> None:
    f = ax.jit(bounded(program)) if jitted == "inside" else bounded(program)
    wrapped = REVERSE[transform](f)
    wrapped = ax.jit(wrapped) if jitted == "outside" else wrapped
    for n in (np.int32(0), N):
        agree(wrapped(X, W, n), REVERSE[transform](in_python(program))(X, W, n))


@pytest.mark.parametrize("order", list(permutations(["grad", "vmap", "jit"])), ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_with_max_steps_every_order_of_composition_agrees(program: Any, order: Any) -> None:
    f = bounded(program)
    for name in order:
        if name == "grad":
            f = ax.grad(lambda x, w, n, f=f: anp.sum(f(x, w, n)), (0, 1))
        else:
            f = ax.vmap(f) if name == "vmap" else ax.jit(f)
    lanes = zip(XS, WS, NS, strict=True)
    want = [ax.grad(in_python(program), (0, 1))(*lane) for lane in lanes]
    agree(f(XS, WS, NS), tuple(anp.stack(y) for y in zip(*want, strict=True)))


@NEEDS_XLA
@pytest.mark.parametrize("program", [counted, converging], ids=lambda p: p.__name__)
def test_with_max_steps_both_backends_agree(program: Any) -> None:
    f = ax.grad(bounded(program), (0, 1))
    want, lanes = f(X, W, N), ax.vmap(f)(XS, WS, NS)
    with ax.default_backend("xla"):
        agree(ax.jit(f)(X, W, N), want)
        agree(ax.jit(ax.vmap(f))(XS, WS, NS), lanes)


@pytest.mark.parametrize("most", [0, 1, 2, 3, 4, 7, 9, 10])
def test_it_ends_after_max_steps(most: int) -> None:
    def limited(x: Any) -> Any:
        return ax.lax.while_loop(lambda v: v < 1e9, lambda v: v * v + 1, x, max_steps=most)

    def counted_steps(x: Any) -> Any:
        for _ in range(min(most, 7)):
            x = x * x + 1
        return x

    for f in (limited, ax.jit(limited)):
        agree(f(X), anp.asarray(counted_steps(X)))
        agree(ax.grad(f)(X), ax.grad(counted_steps)(X) if most else anp.ones(()))

    def traced(x: Any, n: Any) -> Any:
        return ax.lax.fori_loop(0, n, lambda i, v: v * anp.sin(i + v), x, max_steps=most)

    def known(x: Any) -> Any:
        return ax.lax.fori_loop(0, 8, lambda i, v: v * anp.sin(i + v), x, max_steps=most)

    want = ax.lax.fori_loop(0, min(most, 8), lambda i, v: v * anp.sin(i + v), X)
    agree((ax.jit(traced)(X, 8), known(X)), (want, want))
    agree(ax.jit(ax.grad(traced))(X, 8), ax.grad(known)(X))


def test_going_back_needs_memory_for_the_square_root_of_the_steps() -> None:
    x = np.ones(500, np.float32)

    def f(x: Any, most: int) -> Any:
        step = lambda c: (c[0] + 1, anp.sin(c[1]))  # noqa: E731
        return anp.sum(ax.lax.while_loop(lambda c: c[0] < most, step, (0, x), max_steps=most)[1])

    peaks = []
    for most in (100, 900):
        g = ax.jit(ax.grad(lambda x, most=most: f(x, most)))
        g(x)
        tracemalloc.start()
        g(x)
        peaks.append(tracemalloc.get_traced_memory()[1] / x.nbytes)
        tracemalloc.stop()
    # In units of one carried value: 2·√n of them, and some for the step itself.
    assert peaks[0] < 2 * 10 + 40 and peaks[1] < 2 * 30 + 40, peaks


MISTAKES: dict[str, Any] = {
    "a body that changes a dtype": (
        lambda: ax.lax.while_loop(
            lambda c: c["n"] < 3, lambda c: {"n": c["n"] + 1.5, "m": 1}, {"n": N, "m": 0}
        ),
        ["init_val['n'] is int32[]", "body_fun (<lambda>)", "float32[]", "test_while_loop.py:"],
    ),
    "a body that changes a shape": (
        lambda: ax.lax.while_loop(lambda c: True, lambda c: anp.ones(3), 0.0),
        ["init_val is float32[]", "float32[3]"],
    ),
    "a body of another structure": (
        lambda: ax.lax.while_loop(lambda c: True, lambda c: [c], 0.0),
        ["ax.lax.while_loop", "structure", "PyTreeDef([*])"],
    ),
    "an array as condition": (
        lambda: ax.lax.while_loop(lambda c: c < 3, lambda c: c + 1, XS),
        ["cond_fun (<lambda>)", "boolean scalar", "bool[3]", "anp.all"],
    ),
    "no array as condition": (
        lambda: ax.lax.while_loop(lambda c: None, lambda c: c, X),
        ["boolean scalar", "None"],
    ),
    "a limit that is no int": (
        lambda: ax.lax.while_loop(lambda c: True, lambda c: c, X, max_steps=2.5),
        ["max_steps", "2.5"],
    ),
    "no function": (lambda: ax.lax.while_loop(True, lambda c: c, X), ["ax.lax.while_loop"]),
    "a string": (lambda: ax.lax.while_loop(lambda c: True, lambda c: c, ["a"]), ["init_val[0]"]),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_say_what_was_given_and_what_to_do(mistake: str) -> None:
    call, parts = MISTAKES[mistake]
    with pytest.raises((errors.ArgumentError, errors.NotCallableError)) as caught:
        call()
    for part in parts:
        assert part in str(caught.value), f"{part!r} is not in: {caught.value}"
