"""The plugin as arrayx finds it: installed, known by its entry point alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp

pytest.importorskip("numba", reason="pip install numba")
pytest.importorskip("arrayx_numba", reason="pip install ./plugins/arrayx-numba")


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Everything is compiled, into a directory of the test run's own."""
    monkeypatch.setenv("ARRAYX_NUMBA", "compile")
    monkeypatch.setenv("ARRAYX_NUMBA_CACHE", str(tmp_path_factory.getbasetemp() / "programs"))


def text_of(f: Any, *args: Any) -> str:
    """The native code of a function."""
    return str(ax.jit(f, backend="numba").lower(*args).compile().as_text())


def agree(f: Any, *args: Any) -> None:
    """Both backends compute the same."""
    ours = ax.tree.leaves(ax.jit(f, backend="numba")(*args))
    theirs = ax.tree.leaves(ax.jit(f, backend="numpy")(*args))
    for x, y in zip(ours, theirs, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=2e-5, atol=1e-5)


def test_the_backend_is_known() -> None:
    assert "numba" in ax.backends.names()


def softmax(x: Any) -> Any:
    e = anp.exp(x - anp.max(x, axis=-1, keepdims=True))
    return e / anp.sum(e, axis=-1, keepdims=True)


def pulls(x: Any) -> Any:
    d = x[None] - x[:, None]
    return anp.sum(d * ((anp.sum(d * d, axis=-1) + 0.01) ** -1.5)[..., None], axis=-2)


def heat(u: Any) -> Any:
    def step(_: Any, u: Any) -> Any:
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        return u.at[1:-1, 1:-1].add(0.1 * (around - 4 * u[1:-1, 1:-1]))

    return ax.lax.fori_loop(0, 5, step, u)


def collatz(x: Any) -> Any:
    def step(s: Any) -> Any:
        n, count = s
        odd = n % 2 == 1
        going = n > 1
        return (
            anp.where(going, anp.where(odd, 3 * n + 1, n // 2), n),
            count + anp.where(going, 1, 0),
        )

    return ax.lax.while_loop(lambda s: anp.any(s[0] > 1), step, (x, x * 0))[1]


def running(x: Any) -> Any:
    return ax.lax.scan(lambda c, row: (c + row, c * row), anp.zeros_like(x[0]), x)


def branches(x: Any) -> Any:
    return ax.lax.cond(x[0, 0] > 0, lambda v: v + 1, lambda v: v.T * 2, x)


def joined(x: Any) -> Any:
    return anp.concatenate([anp.pad(x, 1), anp.tanh(x[:2] @ np.ones((7, 9), np.float32))])


X = np.random.default_rng(0).standard_normal((7, 7)).astype(np.float32)

PROGRAMS = {
    "softmax": (softmax, X),
    "pulls": (pulls, X[:, :3]),
    "heat": (heat, X),
    "collatz": (collatz, np.arange(1, 30, dtype=np.int32)),
    "scan": (running, X),
    "cond": (branches, X),
    "joined": (joined, X),
    "columns": (lambda x: (anp.sum(x, axis=0), anp.min(x, axis=0), anp.max(x)), X),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_compiled_program_agrees_with_numpy(name: str) -> None:
    f, x = PROGRAMS[name]
    agree(f, x)


def test_rows_that_are_reduced_and_used_again_share_one_loop() -> None:
    assert text_of(softmax, X).count("@nest") == 1


def test_a_loop_of_the_program_is_native() -> None:
    text = text_of(collatz, np.arange(1, 30, dtype=np.int32))
    assert "while s" in text and "def program" in text


SPECIAL = np.array([np.nan, -np.inf, np.inf, -0.0, 0.0, 1e-42, -1.0, 88.9, -104.5], np.float32)


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "sqrt", "sign", "abs"])
def test_special_values_are_those_of_numpy(name: str) -> None:
    f = getattr(anp, name)
    ours = np.asarray(ax.jit(f, backend="numba")(SPECIAL))
    theirs = np.asarray(ax.jit(f, backend="numpy")(SPECIAL))
    np.testing.assert_allclose(ours, theirs, rtol=4e-7, atol=3e-45)
    zeros = theirs == 0
    np.testing.assert_array_equal(np.signbit(ours[zeros]), np.signbit(theirs[zeros]))


@pytest.mark.parametrize("name", ["exp", "log", "tanh"])
def test_elementary_functions_are_within_two_units_in_the_last_place(name: str) -> None:
    x = np.random.default_rng(0).standard_normal(20_000) * np.array([[1e-3], [1.0], [30.0]])
    x = (np.abs(x) if name == "log" else x).astype(np.float32)
    exact = getattr(np, name)(x.astype(np.float64))
    ours = np.asarray(ax.jit(getattr(anp, name), backend="numba")(x)).astype(np.float64)
    fine = (np.abs(exact) > 2e-38) & (np.abs(exact) < 3e38)
    unit = np.spacing(np.abs(exact[fine]).astype(np.float32)).astype(np.float64)
    assert np.max(np.abs(ours[fine] - exact[fine]) / unit) < 2


def test_the_greatest_of_floats_knows_nan_and_signs() -> None:
    f = ax.jit(lambda x: (anp.max(x), anp.min(x)), backend="numba")
    assert [float(v) for v in f(np.array([-3.0, -1.0, -2.0], np.float32))] == [-1.0, -3.0]
    assert all(np.isnan(float(v)) for v in f(np.array([1.0, -np.nan, 2.0], np.float32)))


def test_memory_of_results_is_not_used_again_while_somebody_reads_it() -> None:
    f = ax.jit(lambda x: x * 2, backend="numba")
    x = np.ones(1 << 16, np.float32)
    views = [np.asarray(f(x * i)) for i in range(6)]
    for i, view in enumerate(views):
        assert (view == 2 * i).all()


def test_programs_are_found_again_on_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ARRAYX_NUMBA_CACHE", str(tmp_path))
    ax.jit(lambda x: x * 1.25 + 7, backend="numba")(X)
    assert len(list(tmp_path.glob("arrayx_numba_*.py"))) == 1
    assert list(tmp_path.glob("__pycache__/*.nbc"))


def test_small_programs_are_numpys_until_they_have_done_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ARRAYX_NUMBA", "auto")
    assert "@nest" not in text_of(lambda x: x * 3 - 1, X)
    assert "@nest" in text_of(lambda x: x * 3 - 1, np.ones((1000, 1000), np.float32))
