"""`ax.timeit`: its parts are there, each call is made, and nothing of before hides the cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_all_parts_are_timed(backend: str) -> None:
    with ax.default_backend(backend):
        timing = ax.timeit(lambda x: anp.sum(x * x), np.ones(1000, np.float32), runs=5)
    assert min(timing.trace, timing.compile, timing.transfer, timing.run) > 0
    assert 1 <= timing.runs <= 5 and timing.spread >= 0


def test_what_was_compiled_before_is_traced_again() -> None:
    traced = []

    @ax.jit
    def function(x: Any) -> Any:
        traced.append(x)
        return x + 1

    function(1.0)
    ax.timeit(function, 1.0, runs=3)
    assert len(traced) == 2
    assert function.cache_info().misses == 1


def test_the_budget_ends_it() -> None:
    assert ax.timeit(lambda x: x + 1, 1.0, runs=10_000, budget=0.0).runs == 1


def test_static_arguments_keywords_trees_and_donation() -> None:
    @ax.jit
    def plain(tree: Any, *, scale: Any) -> Any:
        return tree["a"] * scale

    ax.timeit(plain, {"a": np.ones(3)}, scale=2.0, runs=2)
    static = ax.jit(lambda x, n: x * n, static_argnums=1, donate_argnums=0)
    ax.timeit(static, anp.ones(3), 2, runs=3)


def test_it_reads_well() -> None:
    def loss(x: Any) -> Any:
        return anp.sum(x)

    text = str(ax.timeit(loss, np.ones(3), runs=3))
    assert text.startswith("loss: run ") and "(median of " in text and "; trace " in text
