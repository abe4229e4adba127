"""`ax.crosscheck` names the first operation on which backends disagree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors, lax
from arrayx.backend import KernelBackend
from arrayx_numpy.kernels import KERNELS

X = np.linspace(-1.0, 1.0, 5, dtype=np.float32)


class Crooked(KernelBackend):
    """NumPy's kernels, but for what a test spoils."""

    name = "crooked"
    quiet = True
    kernels = KERNELS


@pytest.fixture
def spoil() -> Iterator[Callable[[str, Callable[[Any], Any]], None]]:
    backend = Crooked()
    ax.backends.add(backend)

    def change(name: str, after: Callable[[Any], Any]) -> None:
        kernel = backend.kernels[name]
        backend.kernels = {**backend.kernels, name: lambda *a, **k: after(kernel(*a, **k))}

    yield change
    ax.backends.remove(backend.name)


def check(function: Any, *args: Any) -> Any:
    return ax.crosscheck(function, backends=["numpy", "crooked"])(*args)


def test_backends_that_agree_give_the_results_of_the_first(spoil):
    result = check(lambda x: {"a": anp.sin(x), "b": (anp.sum(x), 3)}, X)
    np.testing.assert_array_equal(np.asarray(result["a"]), np.sin(X))
    assert result["a"].backend.name == "numpy"


def program(x):
    y = anp.sin(x)
    return anp.sum(anp.tanh(y) * y)  # the line that is named


PROGRAMS = {
    "plain": program,
    "compiled": ax.jit(program),
    "in a scan": lambda x: lax.scan(lambda c, _: (c + program(x), None), 0.0, None, length=2)[0],
    "in a while loop": lambda x: lax.while_loop(lambda c: c < 1, lambda c: c + program(x), 0.0),
    "in a branch": lambda x: lax.cond(x[0] < 0, lambda: program(x), lambda: x[0]),
    "differentiated": ax.grad(program),
    "batched": lambda x: ax.vmap(program)(anp.stack([x, x])),
    "rematerialised": ax.grad(ax.checkpoint(program)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_first_operation_that_differs_is_named_with_its_line(name, spoil):
    spoil("tanh", lambda y: y * np.float32(1.001))
    with pytest.raises(errors.CrosscheckError) as caught:
        check(PROGRAMS[name], X)
    text = str(caught.value)
    assert text.startswith("backends 'numpy' and 'crooked' disagree on tanh\n  at: "), text
    line = program.__code__.co_firstlineno + 2
    assert f"test_crosschecking.py:{line}" in text, text


def test_a_difference_within_the_precision_is_none(spoil):
    spoil("tanh", lambda y: np.nextafter(y, np.float32(2)))
    check(program, X)


def test_roundings_of_a_sum_are_relative_to_what_is_summed(spoil):
    spoil("reduce_sum", lambda y: y + np.float32(3e-7))
    check(lambda x: anp.sum(x) + anp.sum(anp.ones(3)), X)


def test_other_indices_are_a_difference(spoil):
    spoil("argmax", lambda i: i * 0)
    with pytest.raises(errors.CrosscheckError, match="disagree on argmax"):
        check(anp.argmax, X)


def test_a_nan_is_a_difference(spoil):
    spoil("sqrt", lambda y: y * np.float32(np.nan))
    with pytest.raises(errors.CrosscheckError, match=r"disagree on sqrt(?s:.*)nan"):
        check(lambda x: anp.sqrt(anp.abs(x)), X)


def test_small_differences_that_add_up_are_told_apart(spoil):
    spoil("mul", lambda y: y * np.float32(1 + 3e-6))

    def many(x):
        return lax.fori_loop(0, 200, lambda i, y: y * 1.0001, x)

    with pytest.raises(errors.CrosscheckError, match="each operation alone agrees") as caught:
        check(many, X)
    assert "farthest apart is mul" in str(caught.value)


def test_one_backend_is_a_mistake():
    with pytest.raises(errors.ArgumentError, match="two backends or more"):
        ax.crosscheck(anp.sin, backends=["numpy"])(X)
    with pytest.raises(errors.ArgumentError, match="a list of names"):
        ax.crosscheck(anp.sin, backends="numpy")
