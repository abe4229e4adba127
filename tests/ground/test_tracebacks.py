"""Tracebacks lead from line to line of the user's program, past arrayx's own frames."""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.config import config

X = np.ones(3, np.float32)


def mistaken(x: Any) -> Any:
    return anp.reshape(anp.sin(x), (7, 7))


def raising(x: Any) -> Any:
    raise KeyError("a user's own")


TRANSFORMED = {
    "jit": lambda f: ax.jit(f),
    "grad": lambda f: ax.grad(f),
    "vmap": lambda f: lambda x: ax.vmap(f)(x[None]),
    "jvp": lambda f: lambda x: ax.jvp(f, (x,), (x,)),
    "jacrev": lambda f: ax.jacrev(f),
    "scan": lambda f: lambda x: ax.lax.scan(lambda c, e: (f(x), e), x, x),
    "cond": lambda f: lambda x: ax.jit(lambda x: ax.lax.cond(x[0] > 0, f, f, x))(x),
    "several": lambda f: ax.jit(ax.grad(lambda x: anp.sum(ax.vmap(ax.jit(f))(x[None])))),
}


def frames(program: Any) -> list[traceback.FrameSummary]:
    """The traceback of what a program raises, without the line of this function."""
    try:
        program(X)
    except Exception as error:
        return list(traceback.extract_tb(error.__traceback__))[1:]
    raise AssertionError("nothing was raised")


def own(found: list[traceback.FrameSummary]) -> int:
    """How many frames are arrayx's."""
    return sum("tests" not in f.filename for f in found)


@pytest.mark.parametrize("function", [mistaken, raising])
@pytest.mark.parametrize("name", TRANSFORMED)
def test_the_last_frame_is_the_user_s_line(name: str, function: Any) -> None:
    found = frames(TRANSFORMED[name](function))
    assert found[-1].name == function.__name__
    # Those between the call and the user's function cannot be taken out before it returns.
    assert own(found) <= 3, [f.filename for f in found]


@pytest.mark.parametrize("name", TRANSFORMED)
def test_all_frames_are_there_where_asked(name: str) -> None:
    with config(traceback="full"):
        found = frames(TRANSFORMED[name](mistaken))
    assert found[-1].name != "mistaken"
    assert own(found) > own(frames(TRANSFORMED[name](mistaken))) + 3


def test_an_error_of_the_call_itself_keeps_a_frame() -> None:
    found = frames(ax.grad(lambda x: x))
    assert found and own(found) >= 1
