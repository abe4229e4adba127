"""Wrong operands are refused in words, with arrays of any backend; bounds are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors
from arrayx.backend.registry import chosen
from arrayx.conformance.sections.statement import statements

_X = np.arange(6, dtype=np.float32).reshape(2, 3)


def _put(backend: str) -> Any:
    return ax.device_put(_X, backend)


def shapes_that_do_not_fit(backend: str) -> None:
    """The error names the function and both shapes."""
    x = _put(backend)
    for call in (lambda: anp.add(x, x.T), lambda: ax.jit(anp.add)(x, x.T)):
        with pytest.raises(errors.ShapeError, match=r"add.*\(2, 3\).*\(3, 2\)"):
            call()


def an_axis_that_is_not_there(backend: str) -> None:
    """The error names the axis."""
    with pytest.raises(errors.ArrayxError, match="5"):
        anp.sum(_put(backend), axis=5)


def an_index_out_of_bounds(backend: str) -> None:
    """With concrete indices a read out of bounds is an IndexError."""
    with pytest.raises(IndexError):
        _put(backend)[7]


def writing_in_place(backend: str) -> None:
    """Arrays do not change; the error shows the form that makes a new one."""
    x = _put(backend)
    with pytest.raises(TypeError, match=r"\.at\["):
        x[0] = 1.0


def asking_a_traced_value(backend: str) -> None:
    """An `if` on a traced value says what to use instead."""
    with chosen(backend), pytest.raises(errors.TracerError, match="cond"):
        ax.jit(lambda x: x if x[0, 0] > 0 else -x)(_put(backend))


def an_operation_that_is_refused_names_the_backend(backend: str) -> None:
    """What cannot be run says who refuses it."""
    from_nowhere = "no such backend at all"
    with pytest.raises(errors.UnknownBackendError, match=from_nowhere):
        ax.jit(anp.sin, backend=from_nowhere)(_X)


def traced_reads_out_of_bounds_are_filled(backend: str) -> None:
    """A traced index out of bounds reads nan; of integers the documented sentinel."""
    with chosen(backend):
        got = np.asarray(ax.jit(lambda x, i: x[0, i])(_X, np.array([1, 9, -9])))
        assert got[0] == 1 and np.isnan(got[1:]).all(), got
        integers = np.asarray(ax.jit(lambda x, i: x[i])(np.arange(3, dtype=np.int32), 5))
        assert integers == np.iinfo(np.int32).min, integers


def traced_writes_out_of_bounds_are_dropped(backend: str) -> None:
    """A traced index out of bounds writes nothing."""
    with chosen(backend):
        got = np.asarray(ax.jit(lambda x, i: x.at[i].set(9.0))(_X[0], np.array([1, 7, -7])))
        assert np.array_equal(got, [0, 9, 2]), got


def modes_are_honoured(backend: str) -> None:
    """`mode=` of reads and writes is what it says, traced or not."""
    wanted = {"clip": [0, 2, 0], "wrap": [1, 1, 1], "fill": [-1, -1, -1]}
    indices = np.array([-5, 4, -2])
    with chosen(backend):
        x = ax.device_put(np.array([0, 1, 2], np.float32), backend)
        for mode in ("clip", "wrap"):
            take = lambda a, i, mode=mode: anp.take(a, i, mode=mode)  # noqa: E731
            for f in (take, ax.jit(take)):
                got = np.asarray(f(x, indices))
                expected = np.take(np.array([0, 1, 2], np.float32), indices, mode=mode)
                assert np.array_equal(got, expected), f"mode {mode!r} reads {got}"
        filled = np.asarray(
            ax.jit(lambda a, i: a.at[i].get(mode="fill", fill_value=-1.0))(x, np.array([3, 7, -9]))
        )
        assert np.array_equal(filled, wanted["fill"]), filled


def user_errors_pass_through(backend: str) -> None:
    """An exception raised in the user's function arrives as it is."""

    class Own(Exception):
        pass

    def fail(x: Any) -> Any:
        raise Own("mine")

    with chosen(backend), pytest.raises(Own, match="mine"):
        ax.jit(ax.grad(fail))(_X)
    # The next call is not confused by what was left unfinished.
    assert float(ax.jit(anp.sum)(_put(backend))) == 15.0


items = statements(
    "mistakes",
    core=(
        shapes_that_do_not_fit,
        an_axis_that_is_not_there,
        an_index_out_of_bounds,
        writing_in_place,
        traced_reads_out_of_bounds_are_filled,
        traced_writes_out_of_bounds_are_dropped,
    ),
    full=(
        asking_a_traced_value,
        an_operation_that_is_refused_names_the_backend,
        modes_are_honoured,
        user_errors_pass_through,
    ),
)
