"""Programs with branches and loops, against the same in plain Python on NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

import arrayx as ax
import arrayx.numpy as anp
from arrayx import lax
from arrayx.conformance.case import Case, Operand

_FLOATS = ("float32", "float64")
_COUNT = Operand((), dtype="int32", values=3)


def _row(name: str, call: Any, reference: Any, *operands: Any, **facts: Any) -> Case:
    facts.setdefault("dtypes", _FLOATS)
    facts.setdefault("ulps", 16.0)
    # What a program does with nan is said by the rows of its parts.
    facts.setdefault("special", False)
    return Case(name, call, operands, reference=reference, **facts)


def _branch(x: Any) -> Any:
    return lax.cond(anp.sum(x) > 0, lambda y: anp.sin(y) * 2, lambda y: anp.cos(y) - y, x)


def _branch_plain(x: Any) -> Any:
    return np.sin(x) * 2 if np.sum(x) > 0 else np.cos(x) - x


def _captured(x: Any, y: Any) -> Any:
    return lax.cond(x[0] > y[0], lambda: x * y, lambda: lax.cond(y[1] > 0, lambda: y, lambda: x))


def _captured_plain(x: Any, y: Any) -> Any:
    return x * y if x[0] > y[0] else (y if y[1] > 0 else x)


def _choice(i: Any, x: Any) -> Any:
    return lax.switch(i, [lambda y: y * 2.0, anp.sin, lambda y: y**3], x)


def _choice_plain(i: Any, x: Any) -> Any:
    return (x * 2, np.sin(x), x**3)[int(np.clip(i, 0, 2))]


def _collatz(n: Any) -> Any:
    def step(state: Any) -> Any:
        value, count = state
        return anp.where(value % 2 == 0, value // 2, 3 * value + 1), count + 1

    return lax.while_loop(lambda s: s[0] != 1, step, (n, anp.zeros_like(n)))


def _collatz_plain(n: Any) -> Any:
    value, count = int(n), 0
    while value != 1:
        value, count = (value // 2 if value % 2 == 0 else 3 * value + 1), count + 1
    return np.asarray(value, n.dtype), np.asarray(count, n.dtype)


def _until_small(x: Any) -> Any:
    return lax.while_loop(
        lambda y: anp.sum(y * y) > 0.5, lambda y: 0.7 * anp.sin(y), x, max_steps=20
    )


def _until_small_plain(x: Any) -> Any:
    while np.sum(x * x) > 0.5:
        x = 0.7 * np.sin(x)
    return x


def _counted(x: Any) -> Any:
    return lax.fori_loop(0, 4, lambda i, y: y + anp.sin(y * i), x)


def _counted_plain(x: Any) -> Any:
    for i in range(4):
        x = x + np.sin(x * i)
    return x


def _counted_by_operand(n: Any, x: Any) -> Any:
    return lax.fori_loop(0, n, lambda i, y: anp.sin(y) + 0.5 * i, x, max_steps=5)


def _counted_by_operand_plain(n: Any, x: Any) -> Any:
    for i in range(int(n)):
        x = np.sin(x) + 0.5 * i
    return x


def _carried(c: Any, xs: Any, **options: Any) -> Any:
    def step(carry: Any, x: Any) -> Any:
        carry = anp.tanh(carry * x + 0.5)
        return carry, carry * x

    return lax.scan(step, c, xs, **options)


def _carried_plain(c: Any, xs: Any, **options: Any) -> Any:
    order = range(len(xs))
    ys = np.zeros((len(xs), *c.shape), c.dtype)
    for i in reversed(order) if options.get("reverse") else order:
        c = np.tanh(c * xs[i] + 0.5)
        ys[i] = c * xs[i]
    return c, ys


def _nested(c: Any, xs: Any) -> Any:
    def outer(carry: Any, row: Any) -> Any:
        def inner(state: Any, x: Any) -> Any:
            state = lax.cond(x > 0, lambda: anp.sin(state + x), lambda: state * x)
            return state, state

        end, states = lax.scan(inner, carry, row)
        return end, anp.sum(states, 0)

    return lax.scan(outer, c, xs)


def _nested_plain(c: Any, xs: Any) -> Any:
    sums = []
    for row in xs:
        states = []
        for x in row:
            c = np.sin(c + x) if x > 0 else c * x
            states.append(c)
        sums.append(np.sum(states, 0))
    return c, np.array(sums)


def _tree_carry(a: Any, b: Any) -> Any:
    def step(carry: Any, _: Any) -> Any:
        new = {"a": anp.sin(carry["b"]), "b": (carry["a"][0] * 0.5 + carry["b"])}
        return {"a": (new["a"],), "b": new["b"]}, None

    end, _ = lax.scan(step, {"a": (a,), "b": b}, None, length=3)
    return end["a"][0], end["b"]


def _tree_carry_plain(a: Any, b: Any) -> Any:
    for _ in range(3):
        a, b = np.sin(b), a * 0.5 + b
    return a, b


def _closed_over(w: Any, xs: Any) -> Any:
    grown = anp.exp(w)  # the same at every step: belongs before the loop
    return lax.scan(lambda c, x: (c * x + anp.sum(grown), c), anp.sum(w), xs)


def _closed_over_plain(w: Any, xs: Any) -> Any:
    c, ys = np.sum(w), []
    for x in xs:
        ys.append(c)
        c = c * x + np.sum(np.exp(w))
    return c, np.array(ys)


def _compiled_inside(x: Any) -> Any:
    inner = ax.jit(lambda y: anp.sin(y) * y)
    return lax.fori_loop(0, 3, lambda i, y: inner(y) + inner(2 * y), x)


def _compiled_inside_plain(x: Any) -> Any:
    for _ in range(3):
        x = np.sin(x) * x + np.sin(2 * x) * 2 * x
    return x


def _remade(x: Any) -> Any:
    block = ax.checkpoint(lambda y: anp.sin(anp.exp(anp.sin(y)) * y))
    return block(block(x))


def _remade_plain(x: Any) -> Any:
    for _ in range(2):
        x = np.sin(np.exp(np.sin(x)) * x)
    return x


def _products(x: Any, **options: Any) -> Any:
    return lax.associative_scan(lambda a, b: a * b, x, **options)


def _products_plain(x: Any, **options: Any) -> Any:
    return np.cumprod(x[::-1], 0)[::-1] if options.get("reverse") else np.cumprod(x, 0)


def _mapped(x: Any, **options: Any) -> Any:
    return lax.map(lambda row: anp.sum(anp.sin(row)) * row, x, **options)


def _mapped_plain(x: Any, **options: Any) -> Any:
    return np.sum(np.sin(x), 1, keepdims=True) * x


_STEPS = Operand((4, 3), domain=(-1.0, 1.0))

CASES = (
    _row("branch", _branch, _branch_plain, (3,)),
    _row("branch_with_captures", _captured, _captured_plain, (3,), (3,)),
    _row("switch", _choice, _choice_plain, Operand((), dtype="int32", values=1), (3,)),
    _row(
        "switch_below",
        _choice,
        _choice_plain,
        Operand((), dtype="int32", values=-5),
        (3,),
    ),
    _row("switch_above", _choice, _choice_plain, Operand((), dtype="int32", values=7), (3,)),
    _row("while_loop", _collatz, _collatz_plain, (), dtypes=("int32",), domain=(3, 30)),
    _row("while_loop_with_most_steps", _until_small, _until_small_plain, (3,), ulps=64.0),
    _row("fori_loop", _counted, _counted_plain, (3,), ulps=64.0),
    _row(
        "fori_loop_to_an_operand",
        _counted_by_operand,
        _counted_by_operand_plain,
        _COUNT,
        (3,),
        ulps=64.0,
    ),
    _row("scan", _carried, _carried_plain, (3,), _STEPS),
    _row("scan", _carried, _carried_plain, (3,), _STEPS, params={"reverse": True}, label="back"),
    _row("scan", _carried, _carried_plain, (3,), _STEPS, params={"unroll": 2}, label="unrolled"),
    _row("scan", _carried, _carried_plain, (3,), (0, 3), label="no_steps"),
    _row("scan_of_trees", _tree_carry, _tree_carry_plain, (2,), (2,)),
    _row("scan_with_captures", _closed_over, _closed_over_plain, (3,), (4,), ulps=64.0),
    _row("nested_loops", _nested, _nested_plain, (), Operand((2, 3), domain=(-1.0, 1.0))),
    _row("compiled_in_a_loop", _compiled_inside, _compiled_inside_plain, (3,), domain=(-0.5, 0.5)),
    _row("checkpoint", _remade, _remade_plain, (3,), ulps=64.0),
    _row("map", _mapped, _mapped_plain, (4, 3)),
    _row(
        "map",
        _mapped,
        _mapped_plain,
        (4, 3),
        params={"batch_size": 3},
        label="in_batches",
    ),
    _row("associative_scan", _products, _products_plain, (5, 2)),
    _row(
        "associative_scan",
        _products,
        _products_plain,
        (5, 2),
        params={"reverse": True},
        label="back",
    ),
)
