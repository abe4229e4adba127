"""`bounded_while_loop`: a while_loop with a limit to its steps, which reverse mode can go back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from arrayx.control.cond import cond as choose
from arrayx.control.layout import runs
from arrayx.control.scan import scan
from arrayx.control.while_loop import WhileLoop, while_loop
from arrayx.core.aval import Aval
from arrayx.core.graph import Graph
from arrayx.core.linear import Zero
from arrayx.primitives.arithmetic import add, lt
from arrayx.primitives.bitwise import bitwise_and
from arrayx.primitives.conversion import convert
from arrayx.primitives.creation import fill
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.partial import linearize_from_inputs
from arrayx.transforms.stage import derive

INDEX = np.dtype(np.int32)
COUNTER = Aval((), INDEX)


class BoundedWhileLoop(WhileLoop):
    """A `while_loop` that ends after `max_steps` steps at the latest.

    Reverse mode goes back block by block: the carried values at the start of each block are
    saved, its steps are run again.  With √max_steps blocks of √max_steps steps that needs
    memory for 2·√max_steps of them (Griewank, 1992, with two levels).
    """

    name = "bounded_while_loop"

    def repeats(self, **params: Any) -> int:
        return int(params["max_steps"])

    def expand(
        self, *args: Any, cond: Graph, body: Graph, n_cond: int, n_body: int, max_steps: int
    ) -> Any:
        tests, steps, carry = runs(args, n_cond, n_body)
        test, step = counted(cond, body, n_cond, n_body, max_steps)
        results = while_loop(
            *tests,
            *steps,
            fill((), INDEX, 0),
            *carry,
            cond=test,
            body=step,
            n_cond=n_cond,
            n_body=n_body,
        )
        return results[1:]

    def linearize(
        self,
        tape: Any,
        primals: Any,
        tangents: Any,
        *,
        cond: Graph,
        body: Graph,
        n_cond: int,
        n_body: int,
        max_steps: int,
    ) -> Any:
        size = max(math.isqrt(max_steps), 1)
        n = n_cond + n_body
        results, out_tangents = scan.linearize_by(
            linearize_from_inputs,
            tape,
            [*primals[:n], fill((), INDEX, 0), *primals[n:]],
            [*tangents[:n], Zero, *tangents[n:]],
            body=block(cond, body, n_cond, n_body, max_steps, size),
            length=-(-max_steps // size),
            reverse=False,
            unroll=1,
            n_consts=n,
            n_carry=1 + len(body.outputs),
        )
        return results[1:], out_tangents[1:]


def counted(
    cond: Graph, body: Graph, n_cond: int, n_body: int, max_steps: int
) -> tuple[Graph, Graph]:
    """Test and step of the loop that carries the number of its steps in front."""
    key = "counted", cond, n_cond, n_body, max_steps
    if key not in body.memo:
        carry = body.out_avals

        def test(*args: Any) -> list[Any]:
            own, (i,), now = runs(args, n_cond, 1)
            (going,) = evaluate(cond, [*own, *now])
            return [bitwise_and(going, lt(i, max_steps))]

        def step(*args: Any) -> list[Any]:
            own, (i,), now = runs(args, n_body, 1)
            return [add(i, 1), *evaluate(body, [*own, *now])]

        body.memo[key] = (
            derive(test, [*cond.in_avals[:n_cond], COUNTER, *carry]),
            derive(step, [*body.in_avals[:n_body], COUNTER, *carry]),
        )
    return body.memo[key]  # type: ignore[no-any-return]


def block(cond: Graph, body: Graph, n_cond: int, n_body: int, max_steps: int, size: int) -> Graph:
    """`size` steps, as far as the loop goes: constants of both, counter and carried values."""
    key = "block", cond, n_cond, n_body, max_steps, size
    if key not in body.memo:
        test, step = counted(cond, body, n_cond, n_body, max_steps)
        avals = [*test.in_avals[:n_cond], *step.in_avals]
        n = n_cond + n_body

        def stays(*args: Any) -> Any:
            return args[n:]

        def steps(*args: Any) -> Any:
            return evaluate(step, args[n_cond:])

        one = derive(chosen_by(test, n_cond, n, stays, steps, avals), avals)

        def many(*args: Any) -> Any:
            return scan(
                *args,
                body=one,
                length=size,
                reverse=False,
                unroll=1,
                n_consts=n,
                n_carry=len(avals) - n,
            )

        body.memo[key] = derive(chosen_by(test, n_cond, n, stays, many, avals), avals)
    return body.memo[key]  # type: ignore[no-any-return]


def chosen_by(test: Graph, n_cond: int, n: int, stays: Any, goes: Any, avals: list[Aval]) -> Any:
    """A function that goes on where the test says so."""
    branches = derive(stays, avals), derive(goes, avals)

    def choice(*args: Any) -> Any:
        (going,) = evaluate(test, [*args[:n_cond], *args[n:]])
        index = convert(going, dtype=INDEX, weak_type=False)
        return choose(index, *args, branches=branches)

    return choice


bounded_while_loop = BoundedWhileLoop()
