"""What reverse mode saves, in bytes, and how often a body is written: one table, derived by hand.

A step is `tanh(c @ w)` of a vector of N float32.  Its derivative needs `c` (for the cotangent of
`w`) and its own result (for that of `tanh`); both are saved, so a step costs 2·N floats.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import lax
from arrayx.control.scan import scan as scan_primitive
from arrayx.core.graph import Graph, subgraphs

STEPS, MOST, N, LANES = 5, 9, 8, 3
X = np.linspace(-1.0, 1.0, N, dtype=np.float32)
XS = np.stack([X, 2 * X, -X])
W = np.linspace(0.3, -0.4, N * N, dtype=np.float32).reshape(N, N)
VECTOR = 4 * N
INDEX = 4
BACKENDS = [
    "numpy",
    pytest.param(
        "xla",
        marks=pytest.mark.skipif(
            importlib.util.find_spec("jaxlib") is None,
            reason="the xla backend needs jaxlib: pip install 'arrayx[xla]'",
        ),
    ),
]


def step(c: Any, w: Any) -> Any:
    return anp.tanh(c @ w)


def straight(x: Any, w: Any) -> Any:
    return step(step(x, w), w)


def compiled(x: Any, w: Any) -> Any:
    return COMPILED(x, w)


COMPILED = ax.jit(straight)


def checkpointed(x: Any, w: Any) -> Any:
    return ax.checkpoint(straight)(x, w)


def scanned(x: Any, w: Any) -> Any:
    return lax.scan(lambda c, _: (step(c, w), None), x, None, length=STEPS)[0]


def scanned_again(x: Any, w: Any) -> Any:
    return lax.scan(lambda c, _: (ax.checkpoint(step)(c, w), None), x, None, length=STEPS)[0]


def counted(x: Any, w: Any) -> Any:
    return lax.fori_loop(0, STEPS, lambda i, c: step(c, w), x)


def chosen(x: Any, w: Any) -> Any:
    return lax.cond(x[0] > 0, lambda: step(x, w), lambda: straight(x, w))


def bounded(x: Any, w: Any) -> Any:
    going, following = lambda c: c[0] < STEPS, lambda c: (c[0] + 1, step(c[1], w))
    return lax.while_loop(going, following, (0, x), max_steps=MOST)[1]


class Row(NamedTuple):
    """Bytes that are saved beside the arguments, and what a gradient's graph is made of.

    `starts` says whether the argument `x` itself is needed, and not what a loop stacks of it.
    `batch` is what a batch of LANES saves in one pass; where None LANES times as much.
    `bodies` counts `tanh` in the graph of the gradient, `loops` and `choices` its primitives.
    """

    function: Callable[[Any, Any], Any]
    saved: int
    bodies: int
    loops: int
    choices: int
    starts: bool = True
    batch: int | None = None
    batch_choices: int | None = None


SIDE = 3  # √MOST blocks of √MOST steps
TABLE = [
    # Two steps, of the first only the result, since x is an argument.  Compiled, what the second
    # starts from is that same result; eagerly each tanh has its factor 1 - y² ready besides.
    Row(straight, 3 * VECTOR, bodies=2, loops=0, choices=0),
    Row(compiled, 2 * VECTOR, bodies=2, loops=0, choices=0),
    # Nothing; both steps run again, and the forward pass is there for its value alone.
    Row(checkpointed, 0, bodies=4, loops=0, choices=0),
    # What each step starts from and its result; one loop forward, one back.
    Row(scanned, STEPS * 2 * VECTOR, bodies=1, loops=2, choices=0, starts=False),
    Row(counted, STEPS * 2 * VECTOR, bodies=1, loops=2, choices=0, starts=False),
    # What each step starts from; the body runs again on the way back.
    Row(scanned_again, STEPS * VECTOR, bodies=2, loops=2, choices=0, starts=False),
    # The index, and room for the branch that needs more: two steps.  A batch whose elements
    # choose has two choices each way, one for each branch, that save apart: who takes part
    # (a bool each), whether any does, who is the first that does, and 1 + 2 results.
    Row(
        chosen,
        INDEX + 2 * VECTOR,
        bodies=3,
        loops=0,
        choices=2,
        batch=2 * (2 * INDEX + LANES) + 3 * LANES * VECTOR,
        batch_choices=4,
    ),
    # What each block starts from: its number of steps so far, here and as the loop carries it,
    # and the vector.  Forward two loops (blocks, and steps in a block), back three (blocks; in
    # each its steps once more, then back), a choice in each: does it still go on?  Around the
    # steps of a block too.  The counters are not batched.
    Row(
        bounded,
        SIDE * (2 * INDEX + VECTOR),
        bodies=2,
        loops=5,
        choices=6,
        starts=False,
        batch=SIDE * (2 * INDEX + LANES * VECTOR),
    ),
]
EACH_ROW = pytest.mark.parametrize("row", TABLE, ids=lambda r: r.function.__name__)
EACH_BACKEND = pytest.mark.parametrize("backend", BACKENDS)


def kept(pullback: Any, *arguments: Any) -> int:
    """Bytes of what a pullback holds, but for the arguments."""
    return sum(x.nbytes for x in ax.tree.leaves(pullback) if not any(x is a for a in arguments))


@EACH_ROW
@EACH_BACKEND
def test_reverse_mode_saves_so_many_bytes(row: Row, backend: str) -> None:
    f = row.function
    batched = ax.vmap(f, (0, None))
    with ax.default_backend(backend):
        x, xs, w = map(anp.asarray, (X, XS, W))
        assert kept(ax.vjp(f, x, w)[1], x, w) == row.saved
        many = LANES * row.saved if row.batch is None else row.batch
        assert kept(ax.vjp(batched, xs, w)[1], xs, w) == many
        # Batched from outside each element has its own index and counters, and arguments are
        # results of vmap like the rest.
        each = ax.vmap(lambda x, w: ax.vjp(f, x, w)[1], (0, None))(xs, w)
        assert kept(each) == LANES * (row.saved + W.nbytes + row.starts * X.nbytes)
        # A compiled function gives arguments back as results of its own.
        through = ax.jit(lambda x, w: ax.vjp(f, x, w)[1])(x, w)
        whole = ax.vjp(f, x, w)[1]
        assert kept(through) == kept(whole)


def primitives(graph: Graph) -> Counter[str]:
    """How often each primitive is applied in a graph and the graphs in it."""
    found: Counter[str] = Counter()
    for e in graph.equations:
        found[e.primitive.name] += 1
        for inner in subgraphs(e):
            found += primitives(inner)
    return found


def loss(f: Any) -> Any:
    return lambda x, w: anp.sum(f(x, w))


FORMS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "grad": (lambda f: ax.grad(loss(f), (0, 1)), X),
    "vmap of grad": (lambda f: ax.vmap(ax.grad(loss(f), (0, 1)), (0, None)), XS),
    "grad of vmap": (lambda f: ax.grad(loss(ax.vmap(f, (0, None))), (0, 1)), XS),
    "jit of grad": (lambda f: ax.jit(ax.grad(loss(f), (0, 1))), X),
    "grad of jit": (lambda f: ax.grad(loss(ax.jit(f)), (0, 1)), X),
}


@EACH_ROW
@pytest.mark.parametrize("form", FORMS)
def test_a_body_is_written_once_forward_and_once_back(row: Row, form: str) -> None:
    wrap, x = FORMS[form]
    found = primitives(ax.make_graph(wrap(row.function))(x, W))
    assert found["tanh"] == row.bodies
    assert found["scan"] == row.loops and not found["bounded_while_loop"]
    batched = x is XS and row.batch_choices is not None
    assert found["cond"] == (row.batch_choices if batched else row.choices)


@EACH_ROW
def test_xla_gets_one_loop_for_each_scan_and_one_choice_for_each_cond(row: Row) -> None:
    pytest.importorskip("jaxlib")
    with ax.default_backend("xla"):
        text = ax.jit(FORMS["grad"][0](row.function)).lower(X, W).as_text()
    assert text.count("stablehlo.while") == row.loops
    # What checkpoint runs again stands in a choice of its own, which no compiler looks through.
    again = row.function in (checkpointed, scanned_again)
    assert text.count("stablehlo.case") == row.choices + again


@EACH_BACKEND
@pytest.mark.parametrize("n", [3, 4, 5])
def test_eagerly_a_loop_is_compiled_once_forward_and_once_back(
    n: int, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_primitive, "kernels", {})  # a full one would be emptied meanwhile
    function = {3: scanned, 4: scanned_again, 5: counted}[n]  # sizes of this test alone
    with ax.default_backend(backend):
        x, w = anp.asarray(X[:n]), anp.asarray(W[:n, :n])
        gradient = ax.grad(loss(function), (0, 1))
        before = {*scan_primitive.kernels}
        gradient(x, w)
        made = {*scan_primitive.kernels} - before
        assert len(made) == 2
        gradient(2 * x, w)
        assert {*scan_primitive.kernels} - before == made
