"""Callbacks: when they are called, with what, in which order, and where their errors go."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors

lax = ax.lax
X = np.array([1.0, -2.0, 3.0], np.float32)
WRAPS: dict[str, Callable[..., Any]] = {"eager": lambda f: f, "jit": ax.jit}


@pytest.fixture(params=["numpy", "xla"])
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    with ax.default_backend(request.param):
        yield request.param


class Seen:
    """Notes what a callback is called with."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def note(self, x: Any) -> None:
        self.values.append(np.asarray(x).tolist())

    def taken(self) -> list[Any]:
        values, self.values = self.values, []
        return values


def close(got: Any, want: Any) -> None:
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-5, atol=1e-6)


# ----------------------------------------------------------------- effects


@pytest.mark.parametrize("wrap", WRAPS)
def test_an_effect_happens_once_in_the_order_of_the_program(wrap: str, backend: str) -> None:
    seen = Seen()

    @ax.jit
    def inner(x: Any) -> Any:
        ax.debug.callback(seen.note, 10 * x)
        return x + 1

    def f(x: Any) -> Any:
        ax.debug.callback(seen.note, x)
        y = inner(x)
        ax.debug.callback(seen.note, y)
        return inner(y)

    f = WRAPS[wrap](f)
    for _ in range(2):
        assert float(f(1.0)) == 3.0
        assert seen.taken() == [1.0, 10.0, 2.0, 20.0]


@pytest.mark.parametrize("wrap", WRAPS)
def test_effects_in_loops_and_branches_happen_as_often_as_those_run(
    wrap: str, backend: str
) -> None:
    seen = Seen()

    def even(c: Any) -> Any:
        ax.debug.callback(seen.note, c)
        return c * 2

    def odd(c: Any) -> Any:
        ax.debug.callback(seen.note, -c)
        return c + 1

    def scanned(x: Any) -> Any:
        def step(c: Any, i: Any) -> Any:
            return lax.cond(i % 2 == 0, even, odd, c), None

        return lax.scan(step, x, np.arange(3))[0]

    assert float(WRAPS[wrap](scanned)(1.0)) == 6.0
    assert seen.taken() == [1.0, -2.0, 3.0]

    def test(c: Any) -> Any:
        ax.debug.callback(seen.note, 100 * c)
        return c < 3

    def looped(x: Any) -> Any:
        return lax.while_loop(test, odd, x)

    assert float(WRAPS[wrap](looped)(1.0)) == 3.0
    assert seen.taken() == [100.0, -1.0, 200.0, -2.0, 300.0]
    assert float(WRAPS[wrap](lambda i: lax.switch(i, [even, odd, even], 5.0))(1)) == 6.0
    assert seen.taken() == [-5.0]


def noted(seen: Seen) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        ax.debug.callback(seen.note, x)
        return anp.sin(x) * x

    return f


@pytest.mark.parametrize("order", list(permutations(["grad", "vmap", "jit"])))
def test_effects_happen_in_the_forward_pass_and_for_each_element(
    order: tuple[str, ...], backend: str
) -> None:
    seen = Seen()
    wraps = {
        "grad": lambda f: ax.grad(lambda x: anp.sum(f(x))),
        "vmap": ax.vmap,
        "jit": ax.jit,
    }
    f = noted(seen)
    for name in order:
        f = wraps[name](f)
    close(f(X), np.cos(X) * X + np.sin(X))
    assert seen.taken() == X.tolist()


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize(
    "derivative",
    [
        lambda f: ax.grad(ax.grad(f)),
        lambda f: ax.jacfwd(ax.grad(f)),
        lambda f: ax.grad(ax.checkpoint(f)),
        lambda f: ax.grad(ax.checkpoint(ax.checkpoint(ax.jit(f)))),
        lambda f: ax.grad(ax.jit(lambda x: lax.scan(lambda c, _: (f(c), None), x, length=1)[0])),
        lambda f: ax.grad(
            lambda x: lax.while_loop(
                lambda c: c[0] < 1, lambda c: (c[0] + 1, f(c[1])), (0, x), max_steps=3
            )[1]
        ),
    ],
)
def test_no_backward_pass_repeats_an_effect(derivative: Any, wrap: str, backend: str) -> None:
    seen = Seen()
    WRAPS[wrap](derivative(noted(seen)))(0.5)
    assert seen.taken() == [0.5]


@pytest.mark.parametrize("wrap", WRAPS)
def test_batched_choices_and_loops_have_effects_only_for_those_that_take_part(
    wrap: str, backend: str
) -> None:
    seen = Seen()
    f = noted(seen)
    choice = WRAPS[wrap](ax.vmap(lambda x: lax.cond(x > 0, f, lambda x: x, x)))
    choice(X)
    assert seen.taken() == [1.0, 3.0]

    def step(x: Any) -> Any:
        ax.debug.callback(seen.note, x)
        return x + 1

    close(WRAPS[wrap](ax.vmap(lambda x: lax.while_loop(lambda x: x < 2, step, x)))(X), [2, 2, 3])
    assert seen.taken() == [1.0, -2.0, -1.0, 0.0, 1.0]


def test_an_effect_without_results_keeps_a_whole_program_alive(backend: str) -> None:
    seen = Seen()

    @ax.jit
    def f(x: Any) -> None:
        ax.debug.callback(seen.note, anp.sum(x))
        ax.io_callback(seen.note, None, x[:0])

    assert f(X) is None
    assert seen.taken() == [2.0, []]
    assert "callback" in f.lower(X).as_text()
    ax.effects_barrier()


@pytest.mark.parametrize("wrap", WRAPS)
def test_io_callbacks_give_results_and_go_on_from_each_other(wrap: str, backend: str) -> None:
    total = [0.0]

    def add(x: Any) -> Any:
        total[0] += float(x)
        return np.float32(total[0])

    def f(x: Any) -> Any:
        y = ax.io_callback(add, ax.ShapeDtypeStruct((), "float32"), x, ordered=True)
        return ax.experimental.io_callback(add, y, y)

    assert float(WRAPS[wrap](f)(2.0 if wrap == "jit" else np.float32(2.0))) == 4.0
    total[0] = 0.0
    # Each is called for all elements before the next one.
    close(WRAPS[wrap](ax.vmap(f))(X), [3, 2, 4])


# ----------------------------------------------------------------- pure callbacks


def sine(x: Any, method: Any = None) -> Any:
    return ax.pure_callback(lambda x: np.sin(x, dtype=x.dtype), x, x, vmap_method=method)


@pytest.mark.parametrize("wrap", WRAPS)
def test_a_pure_callback_computes(wrap: str, backend: str) -> None:
    close(WRAPS[wrap](sine)(X), np.sin(X))
    close(WRAPS[wrap](lambda x: anp.sum(sine(x) * 2))(X), 2 * np.sin(X).sum())
    text = ax.jit(lambda x: (sine(x), x + 1)[1]).lower(X).as_text()
    assert "callback" not in text  # nobody reads its result


SHAPES = {
    "sequential": [((), ()), ((), ()), ((), ())],
    "sequential_unrolled": [((), ()), ((), ()), ((), ())],
    "expand_dims": [((3,), (1,))],
    "broadcast_all": [((3,), (3,))],
    "legacy_vectorized": [((3,), ())],
}


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("method", SHAPES)
def test_a_batch_is_what_its_method_says(method: str, wrap: str, backend: str) -> None:
    shapes: list[Any] = []

    def both(x: Any, y: Any) -> Any:
        shapes.append((x.shape, y.shape))
        return np.asarray(x * y, np.float32)

    def f(x: Any, y: Any) -> Any:
        return ax.pure_callback(both, ax.ShapeDtypeStruct((), "float32"), x, y, vmap_method=method)

    y = np.float32(2.0)
    close(WRAPS[wrap](ax.vmap(f, (0, None)))(X, y), 2 * X)
    assert shapes == SHAPES[method]
    grid = ax.vmap(ax.vmap(f, (0, None)), (None, 0))
    if method != "legacy_vectorized":
        close(WRAPS[wrap](grid)(X, X), np.outer(X, X))


def test_a_callback_with_a_rule_has_derivatives(backend: str) -> None:
    @ax.custom_jvp
    def f(x: Any) -> Any:
        return sine(x, "expand_dims")

    @f.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        return f(x), anp.cos(x) * dx

    for g in (ax.vmap(ax.grad(f)), ax.jit(ax.vmap(ax.grad(f))), ax.vmap(ax.jit(ax.grad(f)))):
        close(g(X), np.cos(X))


DTYPES = ["bool", "int8", "uint32", "int64", "float16", "bfloat16", "float64", "complex64"]


@pytest.mark.parametrize("shape", [(), (0, 2), (2, 3)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_goes_there_and_back(dtype: str, shape: Any, backend: str) -> None:
    wide = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    x = np.ones(shape, wide)
    got = ax.jit(lambda x: ax.pure_callback(lambda x: x, x, x))(x)
    assert (got.dtype, got.shape) == (wide, shape)
    np.testing.assert_array_equal(np.asarray(got), x)


def test_keys_come_as_keys(backend: str) -> None:
    seen: list[Any] = []
    key = ax.random.key(7)

    def f(key: Any) -> Any:
        ax.debug.callback(lambda k: seen.append(ax.random.key_data(k).tolist()), key)
        return ax.random.uniform(key)

    f(key)
    ax.jit(f)(key)
    assert seen == [ax.random.key_data(key).tolist()] * 2


def test_arrays_of_a_callback_are_its_own(backend: str) -> None:
    kept: list[Any] = []
    given = np.arange(4.0, dtype=np.float32)

    def keep(x: Any) -> Any:
        kept.append(x)
        x += 1  # what it does to its argument nobody sees
        return given

    @ax.jit
    def f(x: Any) -> Any:
        y = x * 2
        z = ax.pure_callback(keep, y, y)
        return y, z, anp.cumsum(y) + anp.cumsum(z)

    x = np.arange(4.0, dtype=np.float32)
    y, z, _ = f(x)
    given[:] = -1
    close(y, 2 * x)
    close(z, x)
    f(x)
    close(kept[0], 2 * x + 1)


def test_trees_and_what_is_no_array_go_through(backend: str) -> None:
    def f(tree: Any, option: str, *, scale: float) -> Any:
        assert isinstance(tree["a"], np.ndarray)
        assert (option, scale) == ("text", 2.0)
        return {"y": tree["a"] * scale, "z": (tree["a"].sum(),)}

    types = {
        "y": ax.ShapeDtypeStruct((3,), "float32"),
        "z": (np.zeros((), np.float32),),
    }
    got = ax.jit(lambda x: ax.pure_callback(f, types, {"a": x}, "text", scale=2.0))(X)
    close(got["y"], 2 * X)
    close(got["z"][0], 2.0)


def test_what_a_program_with_callbacks_costs_is_counted() -> None:
    def f(x: Any) -> Any:
        ax.debug.callback(lambda x: None, x)
        return anp.sum(ax.checkpoint(sine)(x))

    assert "B moved" in str(ax.inspect.cost(f)(X))


# ----------------------------------------------------------------- who calls


def test_a_callback_sees_the_settings_of_the_caller(backend: str) -> None:
    seen: list[Any] = []

    def look(x: Any) -> Any:
        seen.append((ax.config.default_dtype_bits, anp.ones(2).dtype.name))
        with np.errstate(divide="ignore"):
            return np.asarray(1 / np.zeros((), np.float32))

    f = ax.jit(lambda x: ax.pure_callback(look, ax.ShapeDtypeStruct((), "float32"), x))
    f(X)
    with ax.config(default_dtype_bits=64):
        f(X)
    assert seen == [(32, "float32"), (64, "float64")]


def test_a_callback_may_call_programs_also_its_own(backend: str) -> None:
    def factorial(n: Any) -> Any:
        return np.float32(1.0) if n <= 1 else np.float32(float(f(n - 1)) * n)

    f = ax.jit(lambda n: ax.pure_callback(factorial, ax.ShapeDtypeStruct((), "float32"), n))
    assert float(f(np.float32(5.0))) == 120.0


def test_threads_do_not_mix_up_their_runs(backend: str) -> None:
    def fail(x: Any) -> Any:
        if x > 0:
            raise ValueError(float(x))
        return x

    f = ax.jit(lambda x: ax.pure_callback(fail, x, x))
    f(np.float32(0))
    found: dict[float, Any] = {}

    def work(n: float) -> None:
        for _ in range(20):
            try:
                f(np.float32(n))
            except ValueError as error:
                found[n] = error.args

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(1, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {1.0: (1.0,), 2.0: (2.0,), 3.0: (3.0,)}


# ----------------------------------------------------------------- errors


class Mine(Exception):
    """An error of a user's own."""


KINDS: dict[str, Callable[..., Any]] = {
    "debug": lambda fun, x: (ax.debug.callback(fun, x), x)[1],
    "io": lambda fun, x: ax.io_callback(fun, x, x),
    "pure": lambda fun, x: ax.pure_callback(fun, x, x, vmap_method="sequential"),
}
PLACES: dict[str, Callable[..., Any]] = {
    "alone": lambda f: f,
    "a branch": lambda f: lambda x: lax.cond(x[0] > 0, f, lambda x: x, x),
    "a loop": lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, length=2)[0],
    "a batch": lambda f: lambda x: ax.vmap(f)(x[None]),
    "a function": ax.jit,
}


# Each kind of error on numpy; on xla, where each case compiles, one kind.
RAISED = [
    ("numpy", Mine("mine")),
    ("numpy", RuntimeError("mine")),
    ("numpy", KeyError("mine")),
    ("xla", Mine("mine")),
]


@pytest.mark.parametrize(("backend_name", "error"), RAISED)
@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_errors_reach_the_caller_as_they_are(
    kind: str, place: str, wrap: str, error: Exception, backend_name: str
) -> None:
    with ax.default_backend(backend_name):
        check_error(kind, place, wrap, error)


def check_error(kind: str, place: str, wrap: str, error: Exception) -> None:
    """The caller gets the very error that the callback raised, at each of two calls."""
    calls = []

    def fail(x: Any) -> Any:
        calls.append(1)
        raise error

    f = WRAPS[wrap](PLACES[place](lambda x: KINDS[kind](fail, x)))
    for count in (1, 2):
        with pytest.raises(type(error)) as caught:
            f(X)
        assert caught.value is error
        assert len(calls) == count  # it was not tried a second time


def types(shape: Any = (), dtype: str = "float32") -> Any:
    return ax.ShapeDtypeStruct(shape, dtype)


MISTAKES: dict[str, tuple[Callable[[], Any], type, list[str]]] = {
    "a derivative": (
        lambda: ax.grad(lambda x: sine(x))(np.float32(1.0)),
        errors.GradError,
        ["ax.pure_callback of <lambda>", "ax.custom_jvp", "ax.lax.stop_gradient"],
    ),
    "a derivative of io": (
        lambda: ax.jvp(lambda x: ax.io_callback(np.sin, x, x), (X,), (X,)),
        errors.GradError,
        ["ax.io_callback of sin"],
    ),
    "a batch without a method": (
        lambda: ax.vmap(sine)(X),
        errors.ArgumentError,
        ["vmap_method='sequential'", "'expand_dims'"],
    ),
    "no such method": (
        lambda: sine(X, "parallel"),
        errors.ArgumentError,
        ["'sequential'", "got 'parallel'"],
    ),
    "another shape": (
        lambda: ax.jit(lambda x: ax.pure_callback(lambda x: x, types((2,)), x))(X),
        errors.ShapeError,
        ["callback <lambda>", "shape (3,)", "(2,)"],
    ),
    "another dtype": (
        lambda: ax.jit(lambda x: ax.pure_callback(lambda x: x * 1j, types((3,)), x))(X),
        errors.DtypeError,
        ["dtype complex64", "float32", "x.astype"],
    ),
    "another structure": (
        lambda: ax.jit(lambda x: ax.pure_callback(lambda x: (x,), [x, x], x))(X),
        errors.TreeError,
        ["<lambda>", "result_shape_dtypes"],
    ),
    "no type": (
        lambda: ax.pure_callback(np.sin, {"a": 3}, X),
        errors.ArgumentError,
        ["result_shape_dtypes['a']", "ax.ShapeDtypeStruct", "got 3 of type int"],
    ),
    "keys as results": (
        lambda: ax.pure_callback(lambda k: k, ax.random.key(0), ax.random.key(0)),
        errors.DtypeError,
        ["ax.random.key_data"],
    ),
    "no function": (
        lambda: ax.pure_callback(3, X, X),
        errors.NotCallableError,
        ["ax.pure_callback"],
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_say_what_to_do(mistake: str, backend: str) -> None:
    call, kind, parts = MISTAKES[mistake]
    with pytest.raises(kind) as caught:
        call()
    for part in parts:
        assert part in str(caught.value)


# ----------------------------------------------------------------- lanes that take no part


def called_with(calls: list[Any]) -> Callable[[Any], Any]:
    def note(x: Any) -> Any:
        calls.append(np.asarray(x).tolist())
        return x

    return lambda x: ax.pure_callback(note, x, x, vmap_method="expand_dims")


@pytest.mark.parametrize("wrap", WRAPS)
def test_a_branch_runs_only_where_needed_on_what_was_meant_for_it(wrap: str, backend: str) -> None:
    up: list[Any] = []
    down: list[Any] = []
    f = lambda x: lax.cond(  # noqa: E731
        x > 0, lambda x: anp.sqrt(called_with(up)(x)), lambda x: called_with(down)(x), x
    )
    close(WRAPS[wrap](ax.vmap(f))(np.array([-1.0, 4.0, -9.0], np.float32)), [-1, 2, -9])
    assert up == [[4.0, 4.0, 4.0]]
    assert down == [[-1.0, -1.0, -9.0]]
    close(WRAPS[wrap](ax.vmap(f))(np.array([1.0, 4.0, 9.0], np.float32)), [1, 2, 3])
    assert len(up) == 2
    assert len(down) == 1


def endless(x: Any) -> Any:
    """A loop that does not end for x <= 0."""
    return lax.while_loop(lambda c: c < 100.0, lambda c: c * 2 + anp.sqrt(c) * 0, x)


@pytest.mark.parametrize("wrap", WRAPS)
def test_no_endless_loop_comes_from_lanes_that_take_no_part(wrap: str, backend: str) -> None:
    x = np.array([-1.0, 3.0, 0.0], np.float32)
    f = lambda x: lax.cond(x > 0, endless, lambda x: x, x)  # noqa: E731
    close(WRAPS[wrap](ax.vmap(f))(x), [-1, 192, 0])
    close(WRAPS[wrap](ax.vmap(ax.jacfwd(f)))(x), [1, 64, 1])

    def step(c: Any) -> Any:
        return anp.where(endless(10.0 - c) > 0, c + 1, c)

    # A lane that has come to 10 or more would never end its inner loop.
    close(
        WRAPS[wrap](ax.vmap(lambda x: lax.while_loop(lambda c: c < 10, step, x)))(
            np.array([12.0, 8.0, 9.5], np.float32)
        ),
        [12, 10, 10.5],
    )


@pytest.mark.parametrize("wrap", WRAPS)
def test_derivatives_of_batched_choices_have_no_nan(wrap: str, backend: str) -> None:
    x = np.array([4.0, -2.0, 1.0], np.float32)
    f = lambda x: lax.switch(  # noqa: E731
        anp.where(x > 0, 1, 0), [lambda x: anp.log(-x), lambda x: anp.sqrt(x)], x
    )
    first, second = [0.25, -0.5, 0.5], [-1 / 32, -0.25, -0.25]
    with ax.config(zeros_absorb=False):  # it does not depend on that
        close(WRAPS[wrap](ax.vmap(ax.grad(f)))(x), first)
        close(WRAPS[wrap](ax.grad(lambda x: anp.sum(ax.vmap(f)(x))))(x), first)
        close(WRAPS[wrap](ax.vmap(ax.jacfwd(ax.grad(f))))(x), second)
        close(WRAPS[wrap](ax.vmap(ax.grad(ax.grad(f))))(x), second)


def test_a_batch_of_none_makes_no_choice(backend: str) -> None:
    f = lambda x: lax.cond(x > 0, endless, lambda x: anp.log(x), x)  # noqa: E731
    assert ax.vmap(f)(np.zeros(0, np.float32)).shape == (0,)
    assert ax.jit(ax.vmap(endless))(np.zeros(0, np.float32)).shape == (0,)
