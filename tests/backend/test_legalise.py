"""The legaliser, held to its definition by a backend that supports next to nothing."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.backend.kernels import KernelBackend
from arrayx.backend.legalise import check_core, legalise
from arrayx.core.primitive import Primitive
from arrayx_numpy.kernels import KERNELS

CORE = {
    name: kernel
    for name, kernel in KERNELS.items()
    if Primitive.named.get(name) is None or Primitive.named[name].expand is None
}


class Strict(KernelBackend):
    """Has a kernel for core primitives only and refuses what is not in its dialect."""

    name = "strict"
    quiet = True
    kernels: ClassVar = {**CORE, "gather": KERNELS["gather"], "scatter": KERNELS["scatter"]}

    def supports(self, equation: Any) -> bool | str:
        # These two are core in one mode, and expand to it from the others.
        if equation.primitive.name == "gather" and equation.params["mode"] != "clip":
            return "only the core mode"
        if equation.primitive.name == "scatter" and equation.params["mode"] != "drop":
            return "only the core mode"
        return super().supports(equation)

    def compile(self, graph: Any, options: Any) -> Any:
        check_core(graph, self)
        return super().compile(graph, options)


@pytest.fixture
def strict() -> Any:
    backend = Strict()
    ax.backends.add(backend)
    yield backend
    ax.backends.remove("strict")


FUNCTIONS = {
    "nested jit": lambda x: ax.jit(lambda v: ax.jit(anp.sin)(v) * 2.0)(x),
    "weak types": lambda x: x * 2 + 1,
    "keys": lambda x: x + ax.random.normal(ax.random.key(0), x.shape, x.dtype),
    "split keys": lambda x: x * ax.random.uniform(ax.random.split(ax.random.key(1), 3)[2], ()),
    "cumulative": lambda x: anp.cumsum(x) + anp.cumprod(x),
    "indexing": lambda x: x[anp.array([2, 0])].sum() + x.at[1].set(0.0),
    "powers": lambda x: x**3 + anp.logaddexp(x, 1.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_backend_of_core_primitives_gives_the_same_values(name: str, strict: Any) -> None:
    fun = FUNCTIONS[name]
    host = np.array([0.25, 0.5, 1.5], np.float32)
    expected = ax.jit(fun)(anp.asarray(host))
    with ax.default_backend("strict"):
        x = anp.asarray(host)
        # Expansions may order operations differently: a few units of the last place.
        np.testing.assert_allclose(ax.jit(fun)(x), expected, rtol=1e-5)
        np.testing.assert_allclose(fun(x), expected, rtol=1e-5)


def test_no_call_is_left_after_legalisation(strict: Any) -> None:
    graph = ax.make_graph(FUNCTIONS["nested jit"])(anp.ones(3))
    names = {e.primitive.name for e in legalise(graph, strict).equations}
    assert "call" not in names and "sin" in names
    with pytest.raises(ax.errors.GraphError, match="call"):
        check_core(graph, strict)


def test_keys_are_pairs_of_words_after_legalisation(strict: Any) -> None:
    graph = ax.make_graph(ax.random.split)(ax.random.key(0))
    legal = legalise(graph, strict)
    assert [str(v.aval) for v in legal.inputs] == ["uint32[2]"]
    assert [str(v.aval) for v in legal.outputs] == ["uint32[2,2]"]


def test_what_cannot_be_expanded_names_backend_primitive_and_reason() -> None:
    class Poor(KernelBackend):
        name = "poor"
        quiet = True
        kernels: ClassVar = {"add": np.add}

    ax.backends.add(Poor())
    try:
        with (
            ax.default_backend("poor"),
            pytest.raises(
                ax.errors.UnsupportedError, match=r"'poor' cannot run sin: .*no kernel 'sin'"
            ),
        ):
            ax.jit(anp.sin)(np.ones(2))
    finally:
        ax.backends.remove("poor")
