"""Where arrays lie, that memory is not shared by mistake, and when elements are there."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors
from arrayx.backend import KernelBackend
from arrayx.backend.registry import chosen, registry
from arrayx.conformance.sections.statement import statements

_X = np.arange(6, dtype=np.float32).reshape(2, 3)


def devices_are_made_once(backend: str) -> None:
    """The same device objects come at every call, and their names read back."""
    found = registry.get(backend).devices()
    assert found, f"backend {backend!r} has no devices"
    again = registry.get(backend).devices()
    assert all(a is b for a, b in zip(found, again, strict=True)), "devices change between calls"
    for device in found:
        name, platform, number = str(device).split(":")
        assert (name, int(number)) == (backend, device.id) and platform, str(device)


def elements_come_back(backend: str) -> None:
    """What is put on the device comes back as it was."""
    for shape in ((), (0,), (3, 0, 2), (2, 3)):
        given = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        got = np.asarray(ax.device_put(given, backend))
        assert (got.shape, got.dtype) == (given.shape, given.dtype), (got.shape, got.dtype)
        assert np.array_equal(got, given), f"{given} came back as {got}"


def what_is_put_is_a_copy(backend: str) -> None:
    """A host array that changes afterwards does not change the array on the device."""
    given = _X.copy()
    x = ax.device_put(given, backend)
    given[:] = -1
    assert np.array_equal(np.asarray(x), _X), "the device shares memory that its owner changes"


def what_comes_back_cannot_be_written(backend: str) -> None:
    """The host's view of an array is read-only, so that nobody changes the array."""
    host = np.asarray(ax.device_put(_X, backend) + 1)
    with pytest.raises(ValueError, match="read-only"):
        host[0, 0] = 7


def results_outlive_the_next_run(backend: str) -> None:
    """A compiled function that runs again leaves earlier results alone."""
    with chosen(backend):

        def several(x: Any) -> Any:
            # Some of them are views of what is computed.
            y = anp.sin(x) + 1
            return y, anp.sum(x * x, 1), x @ x.T, (x * 2).T, anp.ravel(y - x), (y * 3)[0]

        f = ax.jit(several)
        first = f(_X)
        kept = [np.array(r) for r in first]
        for i in range(4):
            f(_X + i)
        for r, k in zip(first, kept, strict=True):
            assert np.array_equal(np.asarray(r), k), "a later run overwrote an earlier result"


def operands_outlive_the_run(backend: str) -> None:
    """A compiled function does not write into its operands, nor into what it captured."""
    with chosen(backend):
        x, captured = ax.device_put(_X, backend), ax.device_put(2 * _X, backend)
        f = ax.jit(lambda a: (a.at[0].set(9.0) * captured, a + 1))
        f(x)
        f(x)
        assert np.array_equal(np.asarray(x), _X), "an operand was overwritten"
        assert np.array_equal(np.asarray(captured), 2 * _X), "a captured array was overwritten"


def donated_operands_are_gone(backend: str) -> None:
    """A donated operand cannot be read by mistake, and the result is right."""
    with chosen(backend):
        x = ax.device_put(_X, backend)
        got = np.asarray(ax.jit(lambda a: a * 2 + 1, donate_argnums=0)(x))
        assert np.array_equal(got, _X * 2 + 1), got
        with pytest.raises(errors.DonatedArrayError):
            np.asarray(x)


def a_result_can_be_waited_for(backend: str) -> None:
    """`block_until_ready` gives the array, and then it is ready."""
    with chosen(backend):
        x = ax.jit(lambda a: anp.sin(a) @ a.T)(_X)
        assert ax.block_until_ready(x) is x
        assert registry.get(backend).is_ready(x.buffer), "not ready after it was waited for"


def many_calls_in_flight_keep_their_order(backend: str) -> None:
    """A chain of calls, none of which is waited for, gives what it should."""
    with chosen(backend):
        step = ax.jit(lambda a: a * 0.5 + 1)
        x: Any = _X
        for _ in range(50):
            x = step(x)
        assert np.allclose(np.asarray(x), 2.0, atol=1e-5), np.asarray(x)


def threads_do_not_meet(backend: str) -> None:
    """One compiled function called by several threads gives each its own results."""
    with chosen(backend):
        # Long enough for threads to take turns in the middle of it.
        f = ax.jit(lambda a: anp.flip(anp.sin(a) * a + anp.cos(a * 2) * anp.exp(-a)) + 1)
        rows = [np.linspace(i, i + 1, 20_000, dtype=np.float32) for i in range(4)]
        wanted = [np.array(f(r)) for r in rows]
    wrong: list[str] = []

    def work(i: int) -> None:
        with chosen(backend):
            for _ in range(20):
                if not np.array_equal(np.asarray(f(rows[i])), wanted[i]):
                    wrong.append(f"thread {i} got something else")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong, wrong[0]


class _Elsewhere(KernelBackend):
    name = "conformance_elsewhere"


def arrays_of_two_backends_do_not_mix(backend: str) -> None:
    """An operation on arrays of two backends is an error that names both."""
    other = _Elsewhere()
    registry.add(other)
    try:
        x, y = ax.device_put(_X, backend), ax.device_put(_X, other.name)
        with pytest.raises(errors.MixedBackendsError) as caught:
            x + y
        assert backend in str(caught.value) and other.name in str(caught.value), caught.value
        with pytest.raises(errors.MixedBackendsError):
            ax.jit(lambda a, b: a + b)(x, y)
    finally:
        registry.remove(other.name)


def committed_operands_decide(backend: str) -> None:
    """A function runs where its operands lie, whatever the default backend is."""
    x = ax.device_put(_X, backend)
    with chosen("numpy"):
        for result in (anp.sin(x), ax.jit(anp.sin)(x), ax.grad(lambda a: anp.sum(a * a))(x)):
            assert result.backend.name == backend, f"ran on {result.backend.name}"


def every_device_runs(backend: str) -> None:
    """A program runs on each device of the backend that is told to run it."""
    for device in registry.get(backend).devices():
        x = ax.device_put(_X, device)
        y = ax.jit(lambda a: a * 2)(x)
        assert y.device is device, f"{device} was asked for, {y.device} ran"
        assert np.array_equal(np.asarray(y), _X * 2)


items = statements(
    "devices",
    core=(
        devices_are_made_once,
        elements_come_back,
        what_is_put_is_a_copy,
        what_comes_back_cannot_be_written,
        results_outlive_the_next_run,
        operands_outlive_the_run,
        a_result_can_be_waited_for,
        arrays_of_two_backends_do_not_mix,
        committed_operands_decide,
    ),
    full=(
        donated_operands_are_gone,
        many_calls_in_flight_keep_their_order,
        threads_do_not_meet,
        every_device_runs,
    ),
)
