"""What control flow means, as plain Python: loops, `if`, lists.

A program that takes its control flow from a `Control` can be run as users write it, on `TRACED`,
and as the Python loop that it stands for, on `BY_HAND`; whatever transformation is applied to the
first has to give what it gives of the second.  The second asks for values, so it runs eagerly,
under `grad` and `jvp` too, but not under `jit` or `vmap`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import arrayx as ax
import arrayx.numpy as anp
from arrayx import lax


class Control(NamedTuple):
    """Control flow and transformations for a program to use; signatures are those of arrayx.

    `custom_jvp(f)` and `custom_vjp(f)` are `f` with a rule that says what is true of it, and
    `other_rule(f, g)` has the value of `f` and the derivatives of `g`, in both modes.
    """

    cond: Callable[..., Any]
    switch: Callable[..., Any]
    scan: Callable[..., Any]
    while_loop: Callable[..., Any]
    fori_loop: Callable[..., Any]
    map: Callable[..., Any]
    associative_scan: Callable[..., Any]
    jit: Callable[..., Any]
    checkpoint: Callable[..., Any]
    custom_jvp: Callable[..., Any]
    custom_vjp: Callable[..., Any]
    other_rule: Callable[..., Any]
    vmap: Callable[..., Any]


def cond(pred: Any, true_fun: Any, false_fun: Any, *operands: Any) -> Any:
    """One of two functions."""
    return true_fun(*operands) if bool(pred) else false_fun(*operands)


def switch(index: Any, branches: Sequence[Any], *operands: Any) -> Any:
    """One of several functions."""
    return branches[min(max(int(index), 0), len(branches) - 1)](*operands)


def scan(
    f: Any,
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: Any = 1,
) -> Any:
    """A loop that carries and stacks."""
    leaves = ax.tree.leaves(xs)
    n = length if length is not None else leaves[0].shape[0]
    carry, ys = init, []
    for i in reversed(range(n)) if reverse else range(n):
        carry, y = f(carry, element(xs, i))
        ys.append(y)
    if reverse:
        ys.reverse()
    return carry, stacked(ys)


def while_loop(test: Any, step: Any, value: Any, *, max_steps: int | None = None) -> Any:
    """A loop with a test in front."""
    count = 0
    while (max_steps is None or count < max_steps) and bool(test(value)):
        value, count = step(value), count + 1
    return value


def fori_loop(
    lower: Any,
    upper: Any,
    step: Any,
    value: Any,
    *,
    unroll: Any = 1,
    max_steps: int | None = None,
) -> Any:
    """A loop that counts."""
    numbers = range(int(lower), int(upper))
    for i in numbers if max_steps is None else numbers[:max_steps]:
        value = step(anp.asarray(i, dtype=anp.int32), value)
    return value


def mapped(f: Any, xs: Any, *, batch_size: int | None = None) -> Any:
    """The same of each element."""
    return stacked([f(element(xs, i)) for i in range(ax.tree.leaves(xs)[0].shape[0])])


def associative_scan(fn: Any, elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """Running results along the first axis, one after the other."""
    n = ax.tree.leaves(elems)[0].shape[0]
    results: list[Any] = []
    for i in reversed(range(n)) if reverse else range(n):
        x = element(elems, i)
        results.append(fn(results[-1], x) if results else x)
    if reverse:
        results.reverse()
    return stacked(results)


def vmap(f: Any) -> Any:
    """A loop over the first axes of all arguments."""

    def looped(*args: Any) -> Any:
        n = ax.tree.leaves(args)[0].shape[0]
        return stacked([f(*element(args, i)) for i in range(n)])

    return looped


def element(tree: Any, i: int) -> Any:
    """Element number i of all arrays."""
    return ax.tree.map(lambda x: anp.asarray(x)[i], tree)


def stacked(trees: Sequence[Any]) -> Any:
    """Arrays in the same places, stacked."""
    return ax.tree.map(lambda *xs: anp.stack([anp.asarray(x) for x in xs]), *trees)


def itself(f: Any, **options: Any) -> Any:
    """What a transformation that changes nothing makes of a function."""
    return f


def by_value(f: Any, g: Any) -> Any:
    """A function with the value of `f` and the derivatives of `g`."""

    def both(x: Any) -> Any:
        value = f(lax.stop_gradient(x))
        moving = g(x)
        return ax.tree.map(lambda a, b: a + (b - lax.stop_gradient(b)), value, moving)

    return both


BY_HAND = Control(
    cond,
    switch,
    scan,
    while_loop,
    fori_loop,
    mapped,
    associative_scan,
    itself,
    itself,
    itself,
    itself,
    by_value,
    vmap,
)


def with_jvp_rule(f: Any) -> Any:
    """`f` with a `custom_jvp` rule: its own derivative."""
    function = ax.custom_jvp(f)

    @function.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        return ax.jvp(f, primals, tangents)

    return function


def with_vjp_rule(f: Any, again: bool = False) -> Any:
    """`f` with a `custom_vjp` rule: its own pullback, saved or, with `again`, made again."""
    function = ax.custom_vjp(f)

    def forward(x: Any) -> Any:
        return (f(x), x) if again else ax.vjp(f, x)

    def backward(residuals: Any, ct: Any) -> Any:
        return ax.vjp(f, residuals)[1](ct) if again else residuals(ct)

    function.defvjp(forward, backward)
    return function


def with_other_rule(f: Any, g: Any) -> Any:
    """`f` with a `custom_jvp` rule that takes the derivative of `g`."""
    function = ax.custom_jvp(f)

    @function.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        return function(*primals), ax.jvp(g, primals, tangents)[1]

    return function


TRACED = Control(
    lax.cond,
    lax.switch,
    lax.scan,
    lax.while_loop,
    lax.fori_loop,
    lax.map,
    lax.associative_scan,
    ax.jit,
    ax.checkpoint,
    with_jvp_rule,
    with_vjp_rule,
    with_other_rule,
    ax.vmap,
)
