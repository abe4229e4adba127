"""`scan`, `fori_loop` and `map` against loops in Python, under every transformation."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors
from arrayx.backend.contract import CompileOptions
from arrayx.backend.dispatch import compile_graph
from arrayx.backend.kernels import KernelBackend
from arrayx.backend.legalise import legalise
from arrayx.control.scan import scan as primitive
from arrayx.core.graph import Graph, subgraphs
from arrayx.transforms.simplify import simplify
from arrayx_numpy.kernels import KERNELS

A = np.array([0.5, -0.3, 0.8], np.float32)
B = np.array([[0.2, -0.4, 0.6], [1.0, 0.3, -0.7], [-0.5, 0.9, 0.1], [0.4, 0.4, 0.4]], np.float32)
W = np.array([1.1, -0.6, 0.7], np.float32)
NEEDS_XLA = pytest.mark.skipif(
    importlib.util.find_spec("jaxlib") is None,
    reason="the xla backend needs jaxlib: pip install 'arrayx[xla]'",
)


def unrolled(
    f: Any, init: Any, xs: Any = None, length: int | None = None, reverse: bool = False
) -> Any:
    """What `scan` means, as a loop in Python."""
    leaves = ax.tree.leaves(xs)
    n = length if length is not None else leaves[0].shape[0]
    carry, ys = init, []
    for i in reversed(range(n)) if reverse else range(n):
        carry, y = f(carry, ax.tree.map(lambda x, i=i: anp.asarray(x)[i], xs))
        ys.append(y)
    if reverse:
        ys.reverse()
    return carry, ax.tree.map(lambda *y: anp.stack(y), *ys)


def plain(scan: Any, a: Any, b: Any, w: Any) -> Any:
    return scan(lambda c, x: (anp.tanh(c * x + w), c * c), a, b)


def reverse(scan: Any, a: Any, b: Any, w: Any) -> Any:
    return scan(lambda c, x: (anp.tanh(c * x + w), c * c * x), a, b, reverse=True)


def without_xs(scan: Any, a: Any, b: Any, w: Any) -> Any:
    return scan(lambda c, _: (c * w + anp.sum(b), anp.sin(c)), a, None, length=3)[0]


def trees(scan: Any, a: Any, b: Any, w: Any) -> Any:
    def step(c: Any, x: Any) -> Any:
        (p, q), still = c["moving"], c["still"]
        return {"moving": (q * x["b"], p + anp.sin(still * q)), "still": still}, {"y": p * still}

    return scan(step, {"moving": (a, a + 1), "still": w}, {"b": b, "twice": 2 * b})


def counting(scan: Any, a: Any, b: Any, w: Any) -> Any:
    def step(c: Any, x: Any) -> Any:
        i, v = c
        return (i + 1, anp.sin(v * (i + 1)) * w + x), (i, v)

    (_, v), (_, ys) = scan(step, (0, a), b)
    return v, ys


def nested(scan: Any, a: Any, b: Any, w: Any) -> Any:
    def outer(c: Any, x: Any) -> Any:
        d, ys = scan(lambda d, y: (anp.sin(d) * y + c * w, d * x), x, b)
        return c * 0.5 + d, ys

    return scan(outer, a, b)


def choosing(scan: Any, a: Any, b: Any, w: Any) -> Any:
    def step(c: Any, x: Any) -> Any:
        c = ax.lax.cond(anp.sum(x) > 0.3, lambda: anp.sin(c) * w, lambda: c * x)
        return c, c * 2

    return scan(step, a, b)


def products(scan: Any, a: Any, b: Any, w: Any) -> Any:
    m = anp.outer(w, w)
    return scan(lambda c, x: (anp.tanh(m @ c + x), anp.dot(c, x)), a, b)


def mapping(scan: Any, a: Any, b: Any, w: Any) -> Any:
    return scan(lambda c, x: (c, anp.exp(x * w) * a), (), b)[1]


def from_zero(scan: Any, a: Any, b: Any, w: Any) -> Any:
    return scan(lambda c, x: (c * c + x * w, c * a), anp.zeros(3), b)


def shared_work(scan: Any, a: Any, b: Any, w: Any) -> Any:
    return scan(lambda c, x: (anp.sin(c) * anp.cumsum(anp.exp(w)) + x, c), a, b)


def jitted_body(scan: Any, a: Any, b: Any, w: Any) -> Any:
    return scan(ax.jit(lambda c, x: (anp.tanh(c * x + w), c * c)), a, b)


PROGRAMS = [
    plain, reverse, without_xs, trees, counting, nested, choosing, products, mapping, from_zero,
    shared_work, jitted_body,
]  # fmt: skip
EVERY = (0, 1, 2)
BATCH = (np.stack([A, A + 0.1]), np.stack([B, B * 0.7]), np.stack([W, W - 0.2]))
SUBSETS = [s for s in product((0, None), repeat=3) if s != (None, None, None)]


def total(f: Callable[..., Any]) -> Callable[..., Any]:
    """A scalar of all results."""

    def summed(*args: Any) -> Any:
        return sum(anp.sum(anp.sin(y + 0.1)) for y in ax.tree.leaves(f(*args)))

    return summed


def tangents_for(moving: Any, f: Any) -> Any:
    def pushed(*args: Any) -> Any:
        given = [args[i] for i in moving]

        def of_moving(*xs: Any) -> Any:
            full = list(args)
            for i, x in zip(moving, xs, strict=True):
                full[i] = x
            return f(*full)

        return ax.jvp(of_moving, tuple(given), tuple(anp.cos(x) for x in given))

    return pushed


TRANSFORMS: dict[str, Any] = {
    "value": lambda f: f,
    "jit": ax.jit,
    "grad": lambda f: ax.grad(total(f), EVERY),
    "jit of grad": lambda f: ax.jit(ax.grad(total(f), EVERY)),
    "grad of jit": lambda f: ax.grad(total(ax.jit(f)), EVERY),
    "jacrev": lambda f: ax.jacrev(f, EVERY),
    "jacfwd": lambda f: ax.jacfwd(f, EVERY),
    "forward over reverse": lambda f: ax.jit(ax.jacfwd(ax.grad(total(f), EVERY), EVERY)),
    "reverse over reverse": lambda f: ax.jacrev(ax.grad(total(f), EVERY), EVERY),
    "reverse over forward": lambda f: ax.jit(ax.jacrev(ax.jacfwd(total(f), EVERY), EVERY)),
}
for _moving in [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]:
    TRANSFORMS[f"jvp in {_moving}"] = lambda f, m=_moving: tangents_for(m, f)
    TRANSFORMS[f"grad in {_moving}"] = lambda f, m=_moving: ax.grad(total(f), m)


def agree(got: Any, want: Any, rtol: float = 3e-4) -> None:
    assert ax.tree.structure(got) == ax.tree.structure(want)
    for x, y in zip(ax.tree.leaves(got), ax.tree.leaves(want), strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=rtol, atol=2e-5)


def looped(program: Any) -> Any:
    return lambda *args: program(ax.lax.scan, *args)


def by_hand(program: Any) -> Any:
    return lambda *args: program(unrolled, *args)


# All orders of these; second order of the others is a heavy sweep.
CHOSEN = (plain, trees, counting, nested)
DIFFERENTIATIONS = [
    pytest.param(
        program,
        transform,
        id=f"{program.__name__}-{transform}",
        marks=[pytest.mark.slow] if " over " in transform and program not in CHOSEN else [],
    )
    for program in PROGRAMS
    for transform in TRANSFORMS
]


@pytest.mark.filterwarnings("ignore::arrayx.errors.UnrolledLoopWarning")
@pytest.mark.parametrize(("program", "transform"), DIFFERENTIATIONS)
def test_it_is_the_loop_under_every_differentiation(program: Any, transform: str) -> None:
    wrap = TRANSFORMS[transform]
    agree(wrap(looped(program))(A, B, W), ax.jit(wrap(by_hand(program)))(A, B, W))


@pytest.mark.parametrize("axes", SUBSETS, ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_it_is_the_loop_over_every_choice_of_batched_operands(program: Any, axes: Any) -> None:
    args = [full if d == 0 else one for full, one, d in zip(BATCH, (A, B, W), axes, strict=True)]

    def each(f: Any) -> list[Any]:
        singles = [
            f(*(x[k] if d == 0 else x for x, d in zip(args, axes, strict=True))) for k in (0, 1)
        ]
        return ax.tree.map(lambda *y: anp.stack(y), *singles)

    f, one = looped(program), ax.jit(by_hand(program))
    agree(ax.vmap(f, axes)(*args), each(one))
    g = ax.jit(ax.vmap(ax.grad(total(f), EVERY), axes))
    agree(g(*args), each(ax.jit(ax.grad(total(by_hand(program)), EVERY))))


@pytest.mark.parametrize("order", list(permutations(["grad", "vmap", "jit"])), ids=str)
@pytest.mark.parametrize("program", [plain, trees, nested], ids=lambda p: p.__name__)
def test_every_order_of_composition_agrees(program: Any, order: Any) -> None:
    def composed(f: Any) -> Any:
        for name in order:
            if name == "grad":
                f = ax.grad(total(f), EVERY)
            else:
                f = ax.vmap(f) if name == "vmap" else ax.jit(f)
        return f

    args = BATCH
    agree(composed(looped(program))(*args), ax.jit(composed(by_hand(program)))(*args))


@NEEDS_XLA
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_both_backends_agree(program: Any) -> None:
    f = looped(program)
    want, gradient = f(A, B, W), ax.jit(ax.vmap(ax.grad(total(f), EVERY)))(*BATCH)
    with ax.default_backend("xla"):
        agree(ax.jit(f)(A, B, W), want)
        agree(ax.jit(ax.vmap(ax.grad(total(f), EVERY)))(*BATCH), gradient)


@pytest.mark.parametrize("unroll", [1, 2, 3, 4, 9, True, False])
def test_unrolled_rounds_mean_the_same(unroll: Any) -> None:
    def f(scan: Any, **options: Any) -> Any:
        return scan(lambda c, x: (c * x + 1, c), A, B, **options)

    for backward in (False, True):
        want = f(unrolled, reverse=backward)
        agree(f(ax.lax.scan, reverse=backward, unroll=unroll), want)
        agree(expanded(lambda b=backward: f(ax.lax.scan, reverse=b, unroll=unroll)), want)


def expanded(f: Any) -> Any:
    """The result of one `scan` in simpler operations."""
    graph = ax.make_graph(f)()
    (e,) = [e for e in graph.equations if e.primitive is primitive]
    values = dict(zip(graph.constants, map(anp.asarray, graph.constant_values), strict=True))
    out = primitive.expand(*[values[v] for v in e.inputs], **e.params)
    return tuple(out)


def test_loops_over_tangents_may_count() -> None:
    """A rule of a user's own runs a loop whose counter does not depend on the tangent."""

    def power(x: Any) -> Any:
        return ax.lax.fori_loop(1, 4, lambda i, v: v * x * i, x)

    rule = ax.custom_jvp(power)

    @rule.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents

        def step(c: Any, k: Any) -> Any:
            i, v, total = c
            return (i + 1, v * x, total + k * t * v / i), i * t

        (_, _, d), ys = ax.lax.scan(step, (1, x, 0.0), anp.arange(3.0))
        return power(x), d + anp.sum(ys)

    def by_hand(x: Any) -> Any:
        i, v, total, more = 1, x, 0.0, 0.0
        for k in range(3):
            total, more = total + k * v / i, more + i
            i, v = i + 1, v * x
        return total + more

    x = np.float32(1.3)
    for g in (ax.grad(rule), ax.jit(ax.grad(rule)), ax.grad(ax.jit(rule))):
        agree(g(x), anp.asarray(by_hand(x)))
    agree(ax.grad(ax.grad(rule))(x), ax.grad(by_hand)(x))
    agree(ax.vmap(ax.grad(rule))(A), anp.stack([anp.asarray(by_hand(a)) for a in A]))


def test_backends_without_a_kernel_run_the_expansion() -> None:
    class Plain(KernelBackend):
        name = "plain"
        quiet = True
        kernels = KERNELS

    backend = Plain()
    for f in (looped(trees), ax.grad(total(looped(trees)), EVERY)):
        graph = ax.make_graph(f)(A, B, W)
        assert not [*scans(legalise(graph, backend))]
        program = compile_graph(graph, CompileOptions(backend.devices()[0]))
        got = program.run([A, B, W])
        agree([anp.asarray(x) for x in got], ax.tree.leaves(f(A, B, W)))


# ----------------------------------------------------------------- sizes and types


@pytest.mark.parametrize("wrap", [lambda f: f, ax.jit], ids=["eager", "jit"])
def test_no_steps_give_the_first_carry_and_empty_results(wrap: Any) -> None:
    def f(a: Any, xs: Any) -> Any:
        return ax.lax.scan(lambda c, x: (c + x, {"y": c * 2}), a, xs)

    carry, ys = wrap(f)(A, B[:0])
    agree(carry, A)
    assert ys["y"].shape == (0, 3)
    agree(ax.grad(lambda a: anp.sum(f(a, B[:0])[0]))(A), np.ones(3, np.float32))
    carry, ys = wrap(f)(A[:0], B[:, :0])
    assert carry.shape == (0,) and ys["y"].shape == (4, 0)
    agree(ax.lax.scan(lambda c, _: (c + 1, None), A, length=0), (A, None))


def test_python_scalars_take_the_types_that_the_loop_gives_them() -> None:
    def step(c: Any, x: Any) -> Any:
        a, b, d = c
        return (a + x, b + a, d + b), None

    final, _ = ax.lax.scan(step, (0.0, 0.0, 0.0), anp.ones(4, dtype=anp.float16))
    assert [x.dtype for x in final] == [np.float16] * 3
    np.testing.assert_array_equal([float(x) for x in final], [4.0, 6.0, 4.0])
    got, _ = ax.lax.scan(lambda c, x: (c + x, None), 0, np.ones(3))
    assert got.dtype == np.float64
    got, _ = ax.lax.scan(lambda c, x: (1, None), np.float32(2), np.ones(3))
    assert got.dtype == np.float32 and not got.weak_type
    got, ys = ax.lax.scan(lambda c, _: (c * 2, c), 1, length=3)
    assert got.weak_type and ys.tolist() == [1, 2, 4]


def test_keys_can_be_carried_and_gone_along() -> None:
    key = ax.random.key(3)

    def draw(key: Any, _: Any) -> Any:
        key, use = ax.random.split(key)
        return key, (use, ax.random.uniform(use, (2,)))

    want_key, want = key, []
    for _ in range(4):
        want_key, (use, u) = draw(want_key, None)
        want.append((use, u))
    for f in (draw, ax.jit(draw)):
        for wrap in (lambda f: f, ax.jit):
            last, (uses, draws) = wrap(lambda k, f=f: ax.lax.scan(f, k, length=4))(key)
            assert (ax.random.key_data(last) == ax.random.key_data(want_key)).all()
            agree(draws, np.stack([u for _, u in want]))
            again = ax.lax.map(lambda k: ax.random.uniform(k, (2,)), uses)
            agree(again, draws)
    keys = ax.random.split(key, 3)
    got = ax.vmap(lambda k: ax.lax.scan(draw, k, length=2)[1][1])(keys)
    agree(got, np.stack([ax.lax.scan(draw, k, length=2)[1][1] for k in keys]))


# ----------------------------------------------------------------- cost


def test_a_body_is_traced_a_bounded_number_of_times() -> None:
    seen = []

    def step(c: Any, x: Any) -> Any:
        seen.append(1)
        return c * x + W, c

    for n in (2, 700):
        for f in (
            lambda xs: ax.lax.scan(step, A, xs),
            ax.grad(lambda xs: anp.sum(ax.lax.scan(step, A, xs)[0])),
            ax.jit(ax.vmap(lambda xs: ax.lax.scan(step, A, xs)[0], 1, 0)),
        ):
            seen.clear()
            f(np.ones((n, 3), np.float32))
            assert len(seen) <= 2


def scans(graph: Graph) -> Any:
    for e in graph.equations:
        if e.primitive is primitive:
            yield e
        for sub in subgraphs(e):
            yield from scans(sub)


def residual_bytes(f: Any, *args: Any) -> int:
    """Bytes that the forward loop stacks for the backward one."""
    forward = next(scans(ax.make_graph(ax.grad(f))(*args)))
    own = next(scans(ax.make_graph(f)(*args)))
    return sum(v.aval.nbytes for v in forward.outputs[len(own.outputs) :])


def test_only_what_the_backward_pass_needs_is_stacked() -> None:
    n, steps = 8, np.ones((50, 8), np.float32)

    def linear(c: Any) -> Any:
        return anp.sum(ax.lax.scan(lambda c, x: (c * x, None), c, steps)[0])

    def chain(c: Any) -> Any:
        return anp.sum(ax.lax.scan(lambda c, x: (anp.sin(anp.tanh(c) * x), None), c, steps)[0])

    def constants(c: Any) -> Any:
        def step(carry: Any, x: Any) -> Any:
            v, m = carry
            return (v * anp.dot(anp.exp(m), m) + x, m), None

        return anp.sum(ax.lax.scan(step, (c, anp.ones(8)), steps)[0][0])

    c = np.ones(n, np.float32)
    assert residual_bytes(linear, c) == 0
    assert residual_bytes(chain, c) == 50 * n * 4  # the carry; the chain is made again
    assert residual_bytes(constants, c) == 0  # what never changes is not stacked


def test_what_nobody_reads_is_not_computed() -> None:
    def f(a: Any, b: Any, w: Any) -> Any:
        def step(c: Any, x: Any) -> Any:
            i, v, lost = c
            return (i + 1, v * x, anp.sin(lost) + w), (v, i, lost * 2)

        (_, v, _), (ys, _, _) = ax.lax.scan(step, (0, a, a), b)
        return v, ys

    (e,) = scans(simplify(ax.make_graph(f)(A, B, W)))
    assert len(e.inputs) == 2 and len(e.outputs) == 2 and len(e.params["body"].equations) == 1
    agree(ax.jit(f)(A, B, W), f(A, B, W))
    agree(ax.jit(lambda *args: f(*args)[1])(A, B, W), f(A, B, W)[1])
    agree(ax.jit(ax.grad(total(f), EVERY))(A, B, W), ax.grad(total(f), EVERY)(A, B, W))


def test_constants_become_operands_so_that_equal_bodies_are_compiled_once() -> None:
    def run(k: float) -> Any:
        return ax.make_graph(
            lambda c: ax.lax.scan(lambda c, _: (c * np.float32([k]), None), c, length=2)
        )(A[:1])

    (one,), (two,) = ([*scans(run(k))] for k in (2.0, 3.0))
    assert one.params["body"] == two.params["body"]


# ----------------------------------------------------------------- fori_loop and map


@pytest.mark.parametrize("bounds", [(0, 4), (2, 5), (3, 3), (5, 2), (-2, 2)], ids=str)
def test_fori_loop_counts(bounds: tuple[int, int]) -> None:
    def by_hand(x: Any) -> Any:
        for i in range(*bounds):
            x = x * 0.5 + i * anp.sin(x)
        return x

    def known(x: Any) -> Any:
        return ax.lax.fori_loop(*bounds, lambda i, x: x * 0.5 + i * anp.sin(x), x)

    def traced(x: Any, low: Any, high: Any) -> Any:
        return ax.lax.fori_loop(low, high, lambda i, x: x * 0.5 + i * anp.sin(x), x)

    x = np.float32(0.7)
    agree(known(x), anp.asarray(by_hand(x)))
    agree(ax.jit(known)(x), anp.asarray(by_hand(x)))
    agree(ax.jit(traced)(x, *bounds), anp.asarray(by_hand(x)))
    agree(ax.grad(known)(x), ax.grad(by_hand)(x))
    agree(ax.jit(ax.grad(ax.jit(ax.grad(known))))(x), ax.grad(ax.grad(by_hand))(x))
    agree(ax.jvp(lambda x: ax.jit(traced)(x, *bounds), (x,), (x,)), ax.jvp(by_hand, (x,), (x,)))
    highs = np.array([bounds[1], bounds[1] + 2])
    got = ax.vmap(traced, (None, None, 0))(x, np.int64(bounds[0]), highs)
    want = [
        ax.lax.fori_loop(bounds[0], int(h), lambda i, x: x * 0.5 + i * anp.sin(x), x) for h in highs
    ]
    agree(got, anp.stack(want))


def test_the_counter_of_a_fori_loop_is_weak_unless_a_bound_is_not() -> None:
    assert ax.lax.fori_loop(0, 3, lambda i, x: x * i, np.ones(2, np.int8)).dtype == np.int8
    got = ax.lax.fori_loop(np.int64(0), 3, lambda i, x: x + i, 0)
    assert got.dtype == np.int64
    got = ax.jit(lambda n: ax.lax.fori_loop(0, n, lambda i, x: x + i, 0))(np.int64(4))
    assert got.dtype == np.int64 and int(got) == 6


@pytest.mark.parametrize("batch_size", [None, 1, 2, 3, 4, 5, 9])
def test_map_gives_what_vmap_gives(batch_size: int | None) -> None:
    def f(t: Any) -> Any:
        return {"y": anp.sin(t["x"]) * W, "z": anp.sum(t["x"])}

    for wrap in (lambda f: f, ax.jit):
        g = wrap(lambda t: ax.lax.map(f, t, batch_size=batch_size))
        agree(g({"x": B}), ax.vmap(f)({"x": B}))
    agree(
        ax.grad(lambda b: anp.sum(ax.lax.map(f, {"x": b}, batch_size=batch_size)["y"]))(B),
        ax.grad(lambda b: anp.sum(ax.vmap(f)({"x": b})["y"]))(B),
    )


# ----------------------------------------------------------------- mistakes


def widening(c: Any, x: Any) -> Any:
    return {"pos": c["pos"] + c["vel"], "vel": c["vel"]}, None


MISTAKES: dict[str, Any] = {
    "a carry that changes its dtype": (
        lambda: ax.lax.scan(widening, {"pos": anp.zeros(2, anp.int32), "vel": A[:2]}, length=2),
        ["init['pos'] is int32[2]", "f (widening) makes it float32[2]", "test_scan.py:", "astype"],
    ),
    "a carry that changes its shape": (
        lambda: ax.lax.scan(lambda c, x: (c + x, None), 0.0, B),
        ["init is float32[]", "makes it float32[3]", "anp.broadcast_to"],
    ),
    "a carry of another structure": (
        lambda: ax.lax.scan(lambda c, x: ((c, c), None), 0.0, B),
        ["ax.lax.scan", "f (<lambda>)", "structure", "gets PyTreeDef(*)", "(*, *)"],
    ),
    "a carry that was None": (
        lambda: ax.lax.scan(lambda c, x: (0.0, x), None, A),
        ["structure", "None"],
    ),
    "no pair": (lambda: ax.lax.scan(lambda c, x: c, A, B), ["pair (carry, y)", "float32[3]"]),
    "no length": (lambda: ax.lax.scan(lambda c, x: (c, x), 0.0), ["needs length="]),
    "a scalar to go along": (
        lambda: ax.lax.scan(lambda c, x: (c, x), 0.0, {"a": A, "b": 1.0}),
        ["xs['b']", "scalar"],
    ),
    "different lengths": (
        lambda: ax.lax.scan(lambda c, x: (c, x), 0.0, {"a": A, "b": B}),
        ["xs['a'] is 3", "xs['b'] is 4"],
    ),
    "another length": (
        lambda: ax.lax.scan(lambda c, x: (c, x), 0.0, A, length=4),
        ["length is 4", "xs is 3"],
    ),
    "a negative length": (lambda: ax.lax.scan(lambda c, x: (c, x), 0.0, length=-1), ["negative"]),
    "a length that is no int": (lambda: ax.lax.scan(lambda c, x: (c, x), 0.0, length=2.5), ["2.5"]),
    "unroll of zero": (lambda: ax.lax.scan(lambda c, x: (c, x), 0.0, A, unroll=0), ["unroll"]),
    "a string to carry": (lambda: ax.lax.scan(lambda c, x: (c, x), {"a": "b"}, A), ["init['a']"]),
    "a string result": (lambda: ax.lax.scan(lambda c, x: (c, "y"), 0.0, A), ["'y'"]),
    "a float as bound": (
        lambda: ax.lax.fori_loop(0, 2.0, lambda i, x: x, 0.0),
        ["ax.lax.fori_loop: upper", "integer scalar", "2.0"],
    ),
    "a body that changes the type": (
        lambda: ax.lax.fori_loop(0, 3, lambda i, x: x * 1.5, np.int32(1)),
        ["ax.lax.fori_loop", "init_val is int32[]", "float32[]"],
    ),
    "a body of another structure": (
        lambda: ax.lax.fori_loop(0, 3, lambda i, x: (x, x), 1.0),
        ["ax.lax.fori_loop", "gets PyTreeDef(*)", "(*, *)"],
    ),
    "no function": (lambda: ax.lax.scan(A, 0.0, B), ["ax.lax.scan"]),
    "a batch size of zero": (lambda: ax.lax.map(anp.sin, A, batch_size=0), ["batch_size"]),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_say_what_was_given_and_what_to_do(mistake: str) -> None:
    call, parts = MISTAKES[mistake]
    with pytest.raises((errors.ArgumentError, errors.NotCallableError)) as caught:
        call()
    for part in parts:
        assert part in str(caught.value), f"{part!r} is not in: {caught.value}"


def test_only_the_leaf_at_fault_is_named() -> None:
    init = {"pos": anp.zeros(2, anp.int32), "vel": anp.zeros(2)}
    with pytest.raises(TypeError) as caught:
        ax.lax.scan(widening, init, length=2)
    assert "'vel'" not in str(caught.value)
