"""One compiled function, derived in many ways: nothing is taken for what it is not."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import arrayx as ax
import arrayx.numpy as anp
from arrayx import lax
from arrayx.backend import KernelBackend
from arrayx.backend.registry import chosen, registry
from arrayx.conformance.sections.statement import statements
from arrayx.control.cond import cond
from arrayx.primitives.exponential import integer_pow
from arrayx.transforms.stage import stage
from arrayx.transforms.vmap import vmap_flat

_X = np.array([[0.5, -1.0], [2.0, 0.25]], np.float32)
_Y = np.array([[1.5, 0.5], [-0.5, 1.0]], np.float32)
_TOLERANCE = 1e-5


def _function(x: Any, y: Any) -> Any:
    """Not symmetric in anything; `x` is read three times, and one result comes twice."""
    a = anp.sin(x) * y
    b = a @ x + x
    return a, b, a


def _close(got: Any, wanted: Any, what: str) -> None:
    for g, w in zip(got, wanted, strict=True):
        near = np.allclose(np.asarray(g), np.asarray(w), _TOLERANCE, _TOLERANCE)
        assert near, f"{what}: {np.asarray(g).tolist()}, expected {np.asarray(w).tolist()}"


def forward_mode_by_each_argument(backend: str) -> None:
    """A compiled function has the tangents of the same function run eagerly, by any argument."""
    compiled = ax.jit(_function)
    with chosen(backend):
        for mask in ((1, 0), (0, 1), (1, 1)):

            def along(f: Any, mask: Any = mask) -> Any:
                moving = [a for a, m in zip((_X, _Y), mask, strict=True) if m]

                def moved(*given: Any) -> Any:
                    coming = iter(given)
                    return f(*(next(coming) if m else a for a, m in zip((_X, _Y), mask)))

                return ax.jvp(moved, tuple(moving), tuple(m + 1 for m in moving))[1]

            _close(along(compiled), along(_function), f"tangents by the arguments {mask}")


def reverse_mode_by_each_argument(backend: str) -> None:
    """A compiled function has the gradients of the same function run eagerly, by any argument."""
    compiled = ax.jit(_function)

    def loss(f: Any) -> Any:
        return lambda x, y: sum(anp.sum(r * (i + 1)) for i, r in enumerate(f(x, y)))

    with chosen(backend):
        for numbers in ((0,), (1,), (0, 1)):
            got, wanted = (ax.grad(loss(f), numbers)(_X, _Y) for f in (compiled, _function))
            _close(got, wanted, f"gradients by the arguments {numbers}")
            got, wanted = (
                ax.grad(lambda x, y: anp.sum(ax.grad(loss(f), numbers)(x, y)[0] ** 2))(_X, _Y)  # noqa: B023
                for f in (compiled, _function)
            )
            _close([got], [wanted], f"second gradients by the arguments {numbers}")


def a_result_that_comes_twice_has_two_cotangents(backend: str) -> None:
    """Each output has a cotangent of its own, also where two outputs are one value."""
    cts = (np.float32(2) * _X, np.float32(3) * _Y, _X - _Y)
    with chosen(backend):
        wanted = ax.grad(lambda x, y: sum(anp.sum(r * c) for r, c in zip(_function(x, y), cts)))
        for f in (_function, ax.jit(_function)):
            _, back = ax.vjp(f, _X, _Y)
            _close(back(cts)[:1], [wanted(_X, _Y)], "the pullback")


class _Strange(KernelBackend):
    """It has one kernel, which is wrong: nobody else's programs can run here unnoticed."""

    name = "conformance_strange"
    kernels = {"integer_pow": lambda x, exponent: x * 0 + 7}  # noqa: RUF012


def another_backend_gets_a_program_of_its_own(backend: str) -> None:
    """A function compiled for one backend is compiled again for the next."""
    other = _Strange()
    registry.add(other)
    try:
        f = ax.jit(lambda x: integer_pow(x, exponent=3))
        for name, wanted in ((backend, _X**3), (other.name, 0 * _X + 7), (backend, _X**3)):
            with chosen(name):
                _close([f(ax.device_put(_X, name))], [wanted], f"on {name}")
    finally:
        registry.remove(other.name)


def custom_pullbacks_are_used(backend: str) -> None:
    """The cotangents of `custom_vjp` are those of its rule, in order, however it is transformed."""

    @ax.custom_vjp
    def f(x: Any, n: Any, y: Any) -> Any:
        return anp.sin(x) * y * n

    def forward(x: Any, n: Any, y: Any) -> Any:
        return f(x, n, y), (x, n, y)

    def pull(kept: Any, ct: Any) -> Any:
        x, n, y = kept
        # Ten times and a hundred times the truth, so that nobody mistakes it for that.
        return 10 * ct * anp.cos(x) * y * n, None, 100 * ct * anp.sin(x) * n

    f.defvjp(forward, pull)
    n = np.int32(3)
    wanted = (30 * np.cos(_X) * _Y, 300 * np.sin(_X))

    def loss(x: Any, y: Any) -> Any:
        return anp.sum(f(x, n, y))

    def rows(x: Any, y: Any) -> Any:
        return anp.sum(ax.vmap(lambda a, b: f(a, n, b), 1, 1)(x, y))

    with chosen(backend):
        for what, function in (("itself", loss), ("batched", rows), ("compiled", ax.jit(loss))):
            got = ax.grad(function, (0, 1))(_X, _Y)
            _close(got, wanted, f"gradients of a function with a pullback, {what}")
            _close(
                [ax.grad(function, 1)(_X, _Y)], wanted[1:], f"by the second argument alone, {what}"
            )
        second = ax.grad(lambda y: anp.sum(ax.grad(loss)(_X, y)))(_Y)
        _close([second], [30 * np.cos(_X)], "the derivative of the pullback")


def batches_along_each_axis(backend: str) -> None:
    """A compiled function, batched along any axes, gives what a loop gives."""
    lane = ax.jit(lambda x, y: anp.sin(x) * y[::-1] + anp.cumsum(x))
    with chosen(backend):
        for axes in itertools.product((None, 0, 1), repeat=2):
            if axes == (None, None):
                continue
            got = ax.vmap(lane, axes)(*(a[0] if d is None else a for a, d in zip((_X, _Y), axes)))
            rows = [
                [a[0] if d is None else np.take(a, i, d) for a, d in zip((_X, _Y), axes)]
                for i in range(2)
            ]
            wanted = np.stack(
                [np.sin(x) * y[::-1] + np.cumsum(x) for x, y in rows],
            )
            _close([got], [wanted], f"batched along {axes}")


def transposes_by_each_argument(backend: str) -> None:
    """A compiled product is transposed in either factor."""
    product = ax.jit(lambda x, y: x @ y * 2)
    ct = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    with chosen(backend):
        (by_x,) = ax.linear_transpose(lambda x: product(x, _Y), _X)(ct)
        (by_y,) = ax.linear_transpose(lambda y: product(_X, y), _Y)(ct)
    _close([by_x, by_y], [2 * ct @ _Y.T, 2 * _X.T @ ct], "transposes")


def forward_mode_of_loops_by_what_steps_share(backend: str) -> None:
    """A value that all steps of a loop read has its derivative."""

    def loop(c: Any, x: Any) -> Any:
        test = lambda s: s[0] < 3  # noqa: E731
        return lax.while_loop(test, lambda s: (s[0] + 1, anp.sin(s[1]) * c), (0, x))[1]

    def plain(c: Any, x: Any) -> Any:
        for _ in range(3):
            x = anp.sin(x) * c
        return x

    with chosen(backend):
        for f in (loop, ax.jit(loop)):
            got = ax.jacfwd(f, (0, 1))(_X[0], _Y[0])
            _close(got, ax.jacfwd(plain, (0, 1))(_X[0], _Y[0]), "derivatives of a loop")


def lanes_choose_branches_beyond_the_ends(backend: str) -> None:
    """Below the first branch means the first, above the last means the last, lane by lane."""
    functions = (lambda x: (x * 2,), lambda x: (x + 1,), lambda x: (-x,))
    indices = np.array([-3, 0, 1, 2, 9], np.int32)
    with chosen(backend):
        x = ax.device_put(_X[0], backend)
        branches = tuple(stage(f, [x.aval]).graph for f in functions)
        apply = lambda i, v: cond(i, v, branches=branches)  # noqa: E731
        (got,), (dim,) = vmap_flat(apply, 5, [ax.device_put(indices, backend), x], [0, None])
        wanted = np.stack([functions[min(max(i, 0), 2)](_X[0])[0] for i in indices])
        assert dim is not None, "what depends on the lane is not batched"
        _close([np.moveaxis(np.asarray(got), dim, 0)], [wanted], "lanes")


def checkpoints_that_save_some(backend: str) -> None:
    """Whatever a checkpoint saves, the gradient is the same."""

    def f(x: Any, y: Any) -> Any:
        a = anp.sin(x @ y)
        b = anp.exp(a) @ anp.cos(y)
        # What may be saved is a result as well.
        return b, anp.tanh(b) * (a @ b)

    def loss(g: Any) -> Any:
        return lambda x, y: sum(anp.sum(r) for r in g(x, y))

    policies = ax.checkpoint_policies
    with chosen(backend):
        wanted = ax.grad(loss(f), (0, 1))(_X, _Y)
        for policy in (None, policies.dots_saveable, policies.everything_saveable):
            kept = ax.checkpoint(f, policy=policy)
            for how, g in (("eager", kept), ("compiled", ax.jit(kept))):
                _close(ax.grad(loss(g), (0, 1))(_X, _Y), wanted, f"{policy}, {how}")


def equal_callbacks_happen_each_time(backend: str) -> None:
    """Two equal callbacks in a program are two, also where a checkpoint runs it again."""
    seen: list[float] = []

    def note(v: Any) -> None:
        seen.append(float(v))

    # In line, the two calls are the same operation on the same operand.
    told = ax.jit(lambda v: ax.debug.callback(note, v))

    def answer(v: Any) -> Any:
        note(v)
        return np.float32(v)

    def asking(x: Any) -> Any:
        given = ax.io_callback(answer, ax.ShapeDtypeStruct((), "float32"), np.float32(1))
        return anp.sin(x * given) * given

    def f(x: Any) -> Any:
        told(x)
        told(x)
        return anp.sin(x) * x

    with chosen(backend):
        ax.block_until_ready(ax.jit(f)(np.float32(2)))
        ax.effects_barrier()
        assert seen == [2.0, 2.0], f"twice 2 was to be told, not {seen}"
        seen.clear()
        ax.block_until_ready(ax.grad(ax.checkpoint(f))(np.float32(3)))
        ax.effects_barrier()
        assert seen == [3.0, 3.0], f"twice 3 was to be told, not {seen}"
        seen.clear()
        ax.block_until_ready(ax.grad(ax.checkpoint(asking))(np.float32(3)))
        assert seen == [1.0], f"one question was to be asked, not {len(seen)}"


items = statements(
    "graphs",
    core=(
        forward_mode_by_each_argument,
        reverse_mode_by_each_argument,
        a_result_that_comes_twice_has_two_cotangents,
        another_backend_gets_a_program_of_its_own,
        custom_pullbacks_are_used,
        batches_along_each_axis,
        transposes_by_each_argument,
        forward_mode_of_loops_by_what_steps_share,
        lanes_choose_branches_beyond_the_ends,
        checkpoints_that_save_some,
    ),
)
effects = statements("effects", full=(equal_callbacks_happen_each_time,))
