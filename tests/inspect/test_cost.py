"""Costs counted from graphs: flops, bytes, peak memory, by source line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.conformance.work import calls_of
from arrayx.inspect.cost import cost, graph_cost

F32 = 4


def of(function: Any, *shapes: tuple[int, ...]) -> Any:
    """The cost of a function of float32 arrays."""
    return cost(function)(*(ax.ShapeDtypeStruct(s, "float32") for s in shapes))


# (function, shapes, flops)
FLOPS = {
    "elementwise": (lambda x: anp.sin(x) + 1, ((10,),), 20),
    "views are free": (lambda x: anp.transpose(anp.reshape(x, (2, 5))), ((10,),), 0),
    "reduction": (lambda x: anp.sum(x), ((4, 5),), 20),
    "matrix product": (anp.dot, ((2, 3), (3, 4)), 2 * 2 * 3 * 4),
    "batched product": (anp.matmul, ((5, 2, 3), (5, 3, 4)), 5 * 2 * 2 * 3 * 4),
    "sort": (anp.sort, ((8,),), 8 * 3),
    "fft": (lambda x: anp.fft.fft(x), ((8,),), 5 * 8 * 3),
    "cholesky": (anp.linalg.cholesky, ((4, 4),), None),
    "what no result needs": (lambda x: (anp.exp(x), x * 2)[1], ((10,),), 10),
    "scan": (
        lambda x: ax.lax.scan(lambda c, e: (c * e, c), x[0], x)[0],
        ((7, 3),),
        7 * 3,
    ),
    "cond counts the dearer branch": (
        lambda x: ax.lax.cond(x[0] > 0, lambda y: y * 2, lambda y: anp.sin(y) * 2 + 1, x),
        ((10,),),
        None,
    ),
}


@pytest.mark.parametrize("name", FLOPS)
def test_flops(name: str) -> None:
    function, shapes, flops = FLOPS[name]
    found = of(function, *shapes)
    if flops is None:
        assert found.flops >= 30
    else:
        assert found.flops == flops
    assert sum(c.flops for c in found.lines) == found.flops


def test_a_loop_of_unknown_length_is_counted_once_and_says_so() -> None:
    found = of(lambda x: ax.lax.while_loop(lambda c: c[0] < 9, lambda c: c * 2, x), (100,))
    assert found.unbounded and 100 <= found.flops < 300
    assert "counted once" in str(found)


def test_a_bounded_loop_is_counted_at_its_bound() -> None:
    found = of(
        lambda x: ax.lax.while_loop(lambda c: c[0] < 9, lambda c: c * 2, x, max_steps=50), (100,)
    )
    assert not found.unbounded and found.flops >= 5000


def test_bytes_are_those_of_every_equation_alone() -> None:
    assert of(lambda x: anp.sin(x) * 2, (10,)).bytes == 2 * 2 * 10 * F32


# (function, shape, the most elements alive at once)
PEAKS = {
    "a chain holds its argument and two links": (lambda x: anp.cos(anp.sin(x)), 3),
    "an argument stays": (lambda x: anp.cos(anp.sin(anp.exp(x))), 3),
    "an outer product": (lambda x: anp.sum(x[:, None] * x[None, :]), None),
}


@pytest.mark.parametrize("name", PEAKS)
def test_peak_memory(name: str) -> None:
    function, elements = PEAKS[name]
    found = of(function, (100,))
    if elements is None:
        assert found.peak_memory >= 100 * 100 * F32
    else:
        assert found.peak_memory == elements * 100 * F32


def test_a_scan_that_saves_residuals_needs_their_memory() -> None:
    def loss(x: Any) -> Any:
        step = lambda c, _: (anp.sin(anp.dot(c, c.T)), None)  # noqa: E731
        return anp.sum(ax.lax.scan(step, x, None, length=50)[0])

    forward, backward = of(loss, (8, 8)), of(ax.grad(loss), (8, 8))
    assert forward.peak_memory < 10 * 64 * F32
    assert backward.peak_memory > 50 * 64 * F32


def two_lines(x: Any) -> Any:
    y = anp.dot(x, x)
    return anp.sin(y)


def test_lines_are_those_of_the_program_most_flops_first() -> None:
    found = of(two_lines, (10, 10))
    first = two_lines.__code__.co_firstlineno
    assert [(c.line, c.flops) for c in found.lines] == [(first + 1, 2000), (first + 2, 100)]
    assert {c.file for c in found.lines} == {__file__}


def test_the_backward_pass_counts_at_the_lines_of_the_forward_pass() -> None:
    found = of(ax.grad(lambda x: anp.sum(two_lines(x))), (10, 10))
    first = two_lines.__code__.co_firstlineno
    flops = {c.line: c.flops for c in found.lines}
    assert flops[first + 1] >= 6000  # the product, and two of its transposes
    assert flops[first + 2] >= 200


def test_the_table_reads_well() -> None:
    text = str(of(two_lines, (10, 10)))
    assert text.splitlines()[0].startswith("two_lines: 2.1 kflop, ")
    assert f"test_cost.py:{two_lines.__code__.co_firstlineno + 1}" in text


def test_static_arguments_stay_python_values() -> None:
    found = cost(lambda x, n: anp.sum(x) * n, static_argnums=1)(np.ones(10, np.float32), 3)
    assert found.flops == 11


def test_counting_takes_linear_time() -> None:
    def chain(n: int) -> Any:
        def function(x: Any) -> Any:
            for _ in range(n):
                x = anp.sin(x)
            return x

        return ax.make_graph(function)(anp.ones(3))

    short, long = (chain(n) for n in (200, 1600))
    ratio = calls_of(lambda: graph_cost(long)) / calls_of(lambda: graph_cost(short))
    assert ratio < 10
