"""Prints and callbacks: each as often as it should, in order, errors included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import lax
from arrayx.backend.registry import chosen
from arrayx.conformance.sections.statement import statements

_X = np.arange(3, dtype=np.float32)


def callbacks_come_in_order(backend: str) -> None:
    """Callbacks of a loop are called once a step, in the order of the steps."""
    seen: list[int] = []

    def f(x: Any) -> Any:
        def step(i: Any, y: Any) -> Any:
            ax.debug.callback(lambda n: seen.append(int(n)), i, ordered=True)
            return y + i

        return lax.fori_loop(0, 4, step, x)

    with chosen(backend):
        np.asarray(ax.jit(f)(_X))
        ax.effects_barrier()
    assert seen == [0, 1, 2, 3], seen


def callbacks_are_not_lost(backend: str) -> None:
    """A callback whose result nobody reads is called all the same, eagerly and compiled."""
    seen: list[float] = []

    def f(x: Any) -> Any:
        ax.debug.callback(lambda v: seen.append(float(v)), anp.sum(x))
        return x * 2

    with chosen(backend):
        f(_X)
        ax.jit(f)(_X)
        ax.grad(lambda x: anp.sum(f(x)))(_X)
        ax.effects_barrier()
    assert seen == [3.0, 3.0, 3.0], seen


def python_computes_in_a_program(backend: str) -> None:
    """`pure_callback` gives what the Python function gives, compiled and in lanes."""

    def host(x: Any) -> Any:
        return np.asarray(np.sort(np.asarray(x))[::-1])

    def f(x: Any) -> Any:
        shape = ax.ShapeDtypeStruct(x.shape, x.dtype)
        return ax.pure_callback(host, shape, x * 2, vmap_method="sequential") + 1

    with chosen(backend):
        assert np.array_equal(np.asarray(ax.jit(f)(_X)), [5, 3, 1])
        assert np.array_equal(np.asarray(ax.vmap(f)(np.stack([_X, _X + 1])))[1], [7, 5, 3])


def python_changes_the_world_in_a_program(backend: str) -> None:
    """`io_callback` is called as often as the program says."""
    state = [0]

    def count(x: Any) -> Any:
        state[0] += 1
        return np.float32(state[0])

    def f(x: Any) -> Any:
        scalar = ax.ShapeDtypeStruct((), np.dtype("float32"))
        first = ax.io_callback(count, scalar, x, ordered=True)
        second = ax.io_callback(count, scalar, x, ordered=True)
        return second - first

    with chosen(backend):
        assert float(ax.jit(f)(_X)) == 1.0
        assert state == [2], state


class _Planned(Exception):
    pass


def errors_of_callbacks_arrive(backend: str) -> None:
    """An exception raised in a callback is the exception that the caller gets."""
    planned = _Planned("as planned")

    def fail(x: Any) -> Any:
        raise planned

    def f(x: Any) -> Any:
        return ax.pure_callback(fail, ax.ShapeDtypeStruct(x.shape, x.dtype), x)

    with chosen(backend), pytest.raises(_Planned) as caught:
        ax.block_until_ready(ax.jit(f)(_X))
    assert caught.value is planned


def prints_are_written(backend: str) -> None:
    """`debug.print` fills its format with the elements."""
    seen: list[str] = []

    def f(x: Any) -> Any:
        ax.debug.callback(lambda a: seen.append(f"x = {a[1]:.1f}"), x)
        return x

    with chosen(backend):
        ax.block_until_ready(ax.jit(f)(_X))
        ax.effects_barrier()
    assert seen == ["x = 1.0"], seen


items = statements(
    "effects",
    full=(
        callbacks_come_in_order,
        callbacks_are_not_lost,
        python_computes_in_a_program,
        python_changes_the_world_in_a_program,
        errors_of_callbacks_arrive,
        prints_are_written,
    ),
)
