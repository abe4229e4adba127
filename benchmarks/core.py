"""The figures of the core: dispatch, eager mode, eager gradients, staging, residuals.

    python benchmarks/core.py

Prints one line a figure with what it is held against.  Rivals (autograd) are measured in the
same rounds where they are installed (the extra `bench`); otherwise their ratio is left out.
Figures are CPU time (of the calling thread, or for the last two of the process), which is what
a quiet machine would show as wall time.  OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE should both be
unset.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import in_turns, median, ratio

import arrayx as ax
import arrayx.numpy as anp
from arrayx.api import backends


def line(what: str, figure: str, goal: str) -> None:
    """One figure of the table."""
    print(f"{what:<58} {figure:>22}   {goal}", flush=True)


def dispatch(names: list[str]) -> None:
    """The call of a compiled function that does next to nothing."""
    goals = {"numpy": "<= 2.5 µs", "xla": "<= 6 µs"}
    for name in names:
        x = ax.device_put(np.float32(1.0), name)
        f = ax.jit(lambda v: v + 1)
        f(x)
        times = in_turns({"call": lambda f=f, x=x: f(x)}, rounds=15, clock=time.thread_time)
        figure = f"{median(times, 'call') * 1e6:.2f} µs"
        line(f"jitted x + 1 on {name}", figure, goals.get(name, ""))


def this_machine() -> None:
    """How fast Python is here now: the goals were set where a call took 0.021 µs."""

    def nothing(x: int) -> int:
        return x

    def thousand() -> None:
        for _ in range(1000):
            nothing(1)

    times = in_turns({"call": thousand}, clock=time.thread_time)
    line("this machine: call of a Python function", f"{median(times, 'call') * 1e3:.3f} µs", "")


def eager() -> None:
    """One operation on small arrays."""
    host = np.ones((3, 3), np.float32)
    x = anp.asarray(host)
    functions = {"arrayx": lambda: anp.add(x, x), "numpy": lambda: np.add(host, host)}
    times = in_turns(functions, clock=time.thread_time)
    figure = f"{median(times, 'arrayx') * 1e6:.2f} (numpy {median(times, 'numpy') * 1e6:.2f}) µs"
    line("eager anp.add of two 3×3 arrays", figure, "<= 2 µs")


def ten_tanh(module: Any) -> Callable[[Any], Any]:
    """Ten tanh in a row, summed, in the functions of `module`."""

    def fun(x: Any) -> Any:
        for _ in range(10):
            x = module.tanh(x)
        return module.sum(x)

    return fun


def eager_gradient() -> None:
    """Reverse mode without compilation, beside the autograd package."""
    host = np.ones((3, 3), np.float32)
    x = anp.asarray(host)
    ours = ax.grad(ten_tanh(anp))
    functions: dict[str, Callable[[], Any]] = {"arrayx": lambda: ours(x)}
    if importlib.util.find_spec("autograd") is not None:
        autograd = importlib.import_module("autograd")
        theirs = autograd.grad(ten_tanh(importlib.import_module("autograd.numpy")))
        functions["autograd"] = lambda: theirs(host)
    times = in_turns(functions, rounds=15, clock=time.thread_time)
    figure = f"{median(times, 'arrayx') * 1e6:.1f} µs"
    if "autograd" in functions:
        figure = f"{ratio(times, 'arrayx', 'autograd'):.2f}× ({figure})"
    line("eager grad of ten tanh, autograd's time", figure, "<= 1.3×")


def chain(n: int) -> Callable[[Any], Any]:
    """A chain of `n` sines."""

    def fun(x: Any) -> Any:
        for _ in range(n):
            x = anp.sin(x)
        return x

    return fun


def best_of(rounds: int, function: Callable[[], Any]) -> float:
    """The least seconds of one call: staging is deterministic, noise only adds."""
    found = []
    for _ in range(rounds):
        start = time.thread_time()
        function()
        found.append(time.thread_time() - start)
    return min(found)


def staging() -> None:
    """Tracing cost an operation, and its growth."""
    x = ax.ShapeDtypeStruct((3,), "float32")
    scalar = ax.ShapeDtypeStruct((), "float32")
    n = 1000
    forward = best_of(7, lambda: ax.make_graph(chain(n))(x))
    line("staging, forward, an operation", f"{forward / n * 1e6:.2f} µs", "<= 6 µs")
    gradient = best_of(7, lambda: ax.make_graph(ax.grad(chain(n)))(scalar))
    line("staging, grad, an operation", f"{gradient / n * 1e6:.2f} µs", "<= 20 µs")
    long = best_of(3, lambda: ax.make_graph(chain(10 * n))(x))
    line("staging 10,000 sin against 1,000", f"{long / forward:.1f}×", "<= 12×")
    long = best_of(3, lambda: ax.make_graph(ax.grad(chain(10 * n)))(scalar))
    line("the same for grad", f"{long / gradient:.1f}×", "<= 12×")


def layernorm_gelu(x: Any, scale: Any, shift: Any) -> Any:
    """Layer normalisation, then gelu, summed."""
    mean = anp.mean(x, axis=-1, keepdims=True)
    variance = anp.mean((x - mean) ** 2, axis=-1, keepdims=True)
    y = (x - mean) / anp.sqrt(variance + 1e-5) * scale + shift
    return anp.sum(0.5 * y * (1.0 + anp.tanh(0.7978845608 * (y + 0.044715 * y**3))))


def residuals(names: list[str]) -> None:
    """The gradient of a compiled function against the compiled gradient."""
    rng = np.random.default_rng(0)
    host = rng.standard_normal((1024, 1024)).astype(np.float32)
    for name in names:
        args = [ax.device_put(a, name) for a in (host, host[0], host[1])]
        outside = ax.value_and_grad(ax.jit(layernorm_gelu))
        inside = ax.jit(ax.value_and_grad(layernorm_gelu))
        functions = {
            "grad(jit)": lambda f=outside, a=args: ax.block_until_ready(f(*a)),
            "jit(grad)": lambda f=inside, a=args: ax.block_until_ready(f(*a)),
        }
        times = in_turns(functions, rounds=15, seconds=0.1, clock=time.process_time)
        figure = (
            f"{ratio(times, 'grad(jit)', 'jit(grad)'):.2f}× "
            f"({median(times, 'grad(jit)') * 1e3:.1f} ms)"
        )
        line(f"grad(jit) of layernorm+gelu on {name}, of jit(grad)", figure, "<= 1.3×")


def main() -> None:
    """Prints every figure."""
    names = backends.available()
    this_machine()
    dispatch(names)
    eager()
    eager_gradient()
    staging()
    residuals(names)


if __name__ == "__main__":
    main()
