"""Where the equations of derivatives come from: the user's line, and the pass."""

from __future__ import annotations

from typing import Any

import pytest

import arrayx as ax
import arrayx.numpy as anp


def loss(x: Any) -> Any:
    y = anp.sin(x)
    return anp.sum(y * y)


FIRST = loss.__code__.co_firstlineno
TRANSFORMED = {
    "grad": ax.grad(loss),
    "grad of jit": ax.grad(ax.jit(loss)),
    "grad of vmap": ax.grad(lambda x: anp.sum(ax.vmap(loss)(x[None]))),
    "vmap of grad": lambda x: ax.vmap(ax.grad(loss))(x[None]),
    "grad of scan": ax.grad(
        lambda x: ax.lax.scan(lambda c, _: (c, loss(c)), x, None, length=3)[1].sum()
    ),
}


def positions(graph: Any) -> set[tuple[str, int, bool]]:
    """The lines of this file that the equations of a graph come from, and the pass."""
    found = set()
    for equation in graph.equations:
        if equation.source is not None and equation.source.file == __file__:
            found.add((equation.primitive.name, equation.source.line, equation.source.backward))
        for value in equation.params.values():
            for sub in value if isinstance(value, tuple) else (value,):
                if isinstance(sub, ax.Graph):
                    found |= positions(sub)
    return found


@pytest.mark.parametrize("name", TRANSFORMED)
def test_the_backward_pass_has_the_lines_of_the_forward_pass(name: str) -> None:
    found = positions(ax.make_graph(TRANSFORMED[name])(anp.ones(3)))
    assert ("sin", FIRST + 1, False) in found
    backward = {line for _, line, is_backward in found if is_backward}
    assert {FIRST + 1, FIRST + 2} <= backward


def test_a_custom_rule_has_lines_of_its_own() -> None:
    @ax.custom_vjp
    def double(x: Any) -> Any:
        return x * 2

    def backward(_: None, ct: Any) -> Any:
        return (anp.cos(ct),)

    double.defvjp(lambda x: (double(x), None), backward)
    found = positions(ax.make_graph(ax.grad(double))(1.0))
    line = backward.__code__.co_firstlineno + 1
    assert any(name == "cos" and where == line for name, where, _ in found)


def test_a_position_of_the_backward_pass_says_so() -> None:
    graph = ax.make_graph(ax.grad(loss))(anp.ones(3))
    texts = [str(e.source) for e in graph.equations]
    assert any(t.endswith("(loss), backward pass") for t in texts)
