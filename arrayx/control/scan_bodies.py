"""The bodies of a scan and of what it becomes: expanded, differentiated, run backwards, pruned.

Each is made once and kept on the body; `scan.py` puts operands and results in their places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from arrayx import dtypes
from arrayx.control.layout import (
    Mask,
    chosen,
    order,
    part,
    rearranged,
    runs,
    settled,
    with_more_outputs,
)
from arrayx.core.array import typeof
from arrayx.core.aval import Aval
from arrayx.core.graph import Graph, Var
from arrayx.primitives.arithmetic import add, lt, sub
from arrayx.primitives.axes import broadcast_in_dim, reshape
from arrayx.primitives.creation import fill, instantiate, zero_literal
from arrayx.primitives.slicing import dynamic_slice, dynamic_update_slice
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.jvp import jvp_graph
from arrayx.transforms.partial import Split
from arrayx.transforms.simplify import dead_code_removed
from arrayx.transforms.stage import derive
from arrayx.transforms.vjp import transpose_graph


def places(mask: Sequence[bool]) -> list[int]:
    """The numbers of what is marked."""
    return [i for i, marked in enumerate(mask) if marked]


def needed(body: Graph, outputs: Mask) -> Mask:
    """The inputs that the outputs marked depend on."""
    live = {*chosen(body.outputs, outputs)}
    for e in reversed(body.equations):
        if not live.isdisjoint(e.outputs):
            live.update(a for a in e.inputs if type(a) is Var)
    return tuple(v in live for v in body.inputs)


def index_dtype(length: int) -> Any:
    """The dtype that counts to `length`."""
    return np.dtype(np.int32 if length < 2**31 else np.int64)


def zeros_of(aval: Aval) -> Any:
    """What stands in the place of results until they come; keys too."""
    value = 0 if dtypes.kind(aval.dtype) == "key" else zero_literal(aval.dtype)
    return fill(aval.shape, aval.dtype, value)


def one_step(
    body: Graph,
    length: int,
    reverse: bool,
    n_carry: int,
    consts: Sequence[Any],
    xs: Sequence[Any],
    state: Sequence[Any],
) -> list[Any]:
    """The next state: counter, carried values, stacked results so far."""
    (i,), carry, ys = runs(state, 1, n_carry)
    at = sub(length - 1, i) if reverse else i
    elements = []
    for x in xs:
        shape = x.aval.shape[1:]
        window = dynamic_slice(x, at, *([0] * len(shape)), sizes=(1, *shape))
        elements.append(reshape(window, shape=shape))
    following, made, _ = runs(evaluate(body, [*consts, *carry, *elements]), n_carry, len(ys))
    stacked = []
    for whole, y in zip(ys, made, strict=True):
        shape = whole.aval.shape[1:]
        update = broadcast_in_dim(y, shape=(1, *shape), dims=tuple(range(1, len(shape) + 1)))
        stacked.append(dynamic_update_slice(whole, update, at, *([0] * len(shape))))
    return [add(i, 1), *following, *stacked]


def expansion(
    body: Graph,
    length: int,
    stop: int,
    reverse: bool,
    unroll: int,
    n_consts: int,
    n_carry: int,
) -> tuple[Graph, Graph]:
    """The test and the round of the while_loop that a scan is."""
    key = "scan expansion", length, stop, reverse, unroll, n_consts, n_carry
    if key not in body.memo:
        in_avals, out_avals = body.in_avals, body.out_avals
        index = Aval((), index_dtype(length))
        consts, carry, elements = runs(in_avals, n_consts, n_carry)
        xs = [a.update(shape=(length, *a.shape)) for a in elements]
        ys = [a.update(shape=(length, *a.shape)) for a in out_avals[n_carry:]]
        state = [index, *carry, *ys]

        def round_(*args: Any) -> list[Any]:
            own, arrays, now = runs(args, n_consts, len(xs))
            for _ in range(unroll):
                now = one_step(body, length, reverse, n_carry, own, arrays, now)
            return now

        test = derive(lambda i, *_: [lt(i, stop)], state)
        body.memo[key] = test, derive(round_, [*consts, *xs, *state])
    return body.memo[key]  # type: ignore[no-any-return]


def moving_carry(primals: Sequence[Any], tangents: Sequence[Any], active: Mask) -> list[Any]:
    """The tangents that are carried, zeros where they begin as such."""
    return [
        instantiate(t, typeof(x).strong() if type(x) is not Aval else x)
        for x, t, moves in zip(primals, tangents, active, strict=True)
        if moves
    ]


def differentiated(body: Graph, consts: Mask, carry: Mask, xs: Mask) -> tuple[Graph, Mask]:
    """The body for values and tangents, and which of the stacked results have one."""
    key = "scan jvp", consts, carry, xs
    if key not in body.memo:
        n = len(carry)
        active = (*consts, *carry, *xs)
        out_active = jvp_graph(body, active)[1]
        ys = out_active[n:]
        both, _ = jvp_graph(body, active, (*carry, *ys))
        sizes = (len(consts), n, len(xs), sum(consts), sum(carry), sum(xs))
        outs = (n, len(ys), sum(carry), sum(ys))
        body.memo[key] = (
            rearranged(both, order(sizes, (0, 3, 1, 4, 2, 5)), order(outs, (0, 2, 1, 3))),
            ys,
        )
    return body.memo[key]  # type: ignore[no-any-return]


Place = tuple[str, int]


class Halves(NamedTuple):
    """A body taken apart for differentiation.

    `forward` gives further results to stack, which the linear part needs.  `linear` takes
    values that all steps share (`fixed`, then tangents), carried tangents, and elements of
    what was stacked (`stacked`, then tangents).  `shared` computes from constants and
    carried values what does not change from step to step.  Places say where a value is:
    ("const", i), ("init", i), ("xs", i), ("shared", i), or ("stacked", i), a result.
    """

    forward: Graph
    shared: Graph
    linear: Graph
    fixed: tuple[Place, ...]
    stacked: tuple[Place, ...]
    out_active: Mask


def linearized(
    split_of: Callable[..., Split], body: Graph, consts: Mask, carry: Mask, xs: Mask
) -> Halves:
    """The body's halves, where the masks say which inputs have tangents."""
    split = split_of(body, (*consts, *carry, *xs))
    wanted = (*carry, *split.out_active[len(carry) :])
    split = split_of(body, (*consts, *carry, *xs), wanted)
    key = "scan linearize", consts, carry, xs
    memo = split.linear.memo  # a graph of this split alone
    if key in memo:
        return memo[key]  # type: ignore[no-any-return]
    n_consts, n_carry, n_out = len(consts), len(carry), len(body.outputs)
    forward = split.forward
    # What a step hands on unchanged is the same in all of them.
    same: dict[Var, Place] = {v: ("const", i) for i, v in enumerate(forward.inputs[:n_consts])}
    for i, v in enumerate(forward.inputs[n_consts : n_consts + n_carry]):
        if forward.outputs[i] is v:
            same[v] = "init", i
    constant = {*same, *forward.constants}
    equations = []
    for e in forward.equations:
        if not e.effects and all(type(a) is not Var or a in constant for a in e.inputs):
            constant.update(e.outputs)
            equations.append(e)
    shared: dict[Var, None] = {}
    more: dict[Var, int] = {}
    fixed: list[tuple[Place, int]] = []
    stacked: list[tuple[Place, int]] = []
    for k, (source, i) in enumerate(split.residuals):
        var = forward.inputs[i] if source == "input" else forward.outputs[i]
        if var in same:
            fixed.append((same[var], k))
        elif var in constant:
            shared[var] = None
            fixed.append((("shared", [*shared].index(var)), k))
        elif source == "input" and i >= n_consts + n_carry:
            stacked.append((("xs", i - n_consts - n_carry), k))
        elif source == "output" and n_carry <= i < n_out:
            stacked.append((("stacked", i), k))
        else:
            stacked.append((("stacked", n_out + more.setdefault(var, len(more))), k))
    own = with_more_outputs(rearranged(forward, range(len(forward.inputs)), range(n_out)), [*more])
    n_res = len(split.residuals)
    tangents = [n_res + k for k in range(sum(consts) + sum(carry) + sum(xs))]
    dconsts, dcarry, dxs = runs(tangents, sum(consts), sum(carry))
    inputs = [*(k for _, k in fixed), *dconsts, *dcarry, *(k for _, k in stacked), *dxs]
    memo[key] = Halves(
        dead_code_removed(own),
        dead_code_removed(
            part(forward, forward.inputs[: n_consts + n_carry], equations, [*shared])
        ),
        rearranged(split.linear, inputs),
        tuple(p for p, _ in fixed),
        tuple(p for p, _ in stacked),
        split.out_active,
    )
    return memo[key]  # type: ignore[no-any-return]


def dependent(body: Graph, linear: Mask) -> set[Var]:
    """The variables that depend on the inputs marked `linear`."""
    found = {v for v, moves in zip(body.inputs, linear, strict=True) if moves}
    for e in body.equations:
        if not found.isdisjoint(e.inputs):
            found.update(e.outputs)
    return found


def linear_carry(body: Graph, linear: Mask, n_consts: int, n_carry: int) -> Mask:
    """Which carried values depend on the inputs marked `linear`, in some step."""

    def step(mask: Mask) -> Mask:
        moving = dependent(body, (*linear[:n_consts], *mask, *linear[n_consts + n_carry :]))
        return tuple(v in moving for v in body.outputs[:n_carry])

    return settled(linear[n_consts : n_consts + n_carry], step)


def taken_apart(body: Graph, linear: Mask, moves: Mask, n_consts: int) -> tuple[Graph, Graph]:
    """The part of a body that computes carried values which are known, and the rest.

    The first also stacks what those values are when a step begins; the second takes that as
    further elements.
    """
    key = "scan taken apart", linear, moves
    if key not in body.memo:
        n_carry = len(moves)
        moving = dependent(body, (*linear[:n_consts], *moves, *linear[n_consts + n_carry :]))
        inputs = [v for v in body.inputs if v not in moving]
        still = [k for k, m in enumerate(moves) if not m]
        begin = [body.inputs[n_consts + k] for k in still]
        known = part(
            body,
            inputs,
            [e for e in body.equations if moving.isdisjoint(e.outputs)],
            [*(body.outputs[k] for k in still), *begin],
        )
        going = [k for k, m in enumerate(moves) if m]
        rest = rearranged(
            body,
            [
                *range(n_consts),
                *(n_consts + k for k in going),
                *range(n_consts + n_carry, len(body.inputs)),
                *(n_consts + k for k in still),
            ],
            [*going, *range(n_carry, len(body.outputs))],
        )
        body.memo[key] = dead_code_removed(known), rest
    return body.memo[key]  # type: ignore[no-any-return]


class Transposed(NamedTuple):
    """A body run backwards: which constants and elements get a cotangent, types of the carry."""

    graph: Graph
    consts: Mask
    xs: Mask
    carry: tuple[Aval, ...]


def transposed(
    body: Graph, linear: Mask, active: Mask, given_ys: Mask, n_consts: int, n_carry: int
) -> Transposed:
    """The transpose of a body: cotangents of constants are added up in the carried values."""
    key = "scan transpose", linear, active, given_ys, n_consts, n_carry
    if key in body.memo:
        return body.memo[key]  # type: ignore[no-any-return]
    const_linear = linear[:n_consts]
    n = sum(const_linear)
    given = (*active, *given_ys)
    found = transpose_graph(body, linear, given)[1]
    wanted = (*found[:n], *active, *found[n + n_carry :])
    back, found = transpose_graph(body, linear, given, wanted)
    by_consts, _, by_xs = runs(found, n, n_carry)
    avals = body.in_avals
    known_consts = [a for a, lin in zip(avals, linear, strict=True) if not lin][: n_consts - n]
    known_xs = [a for a, lin in zip(avals, linear, strict=True) if not lin][n_consts - n :]
    sums = chosen(chosen(avals[:n_consts], const_linear), by_consts)
    sums = [a.strong() for a in sums]
    carried = tuple(a.strong() for a in body.out_avals[:n_carry])
    cts = [a.strong() for a in chosen(body.out_avals, given)]

    def step(*args: Any) -> list[Any]:
        shared, ct_carry, so_far, elements, ct_ys = runs(
            args, len(known_consts), sum(active), len(sums), len(known_xs)
        )
        results = evaluate(back, [*shared, *elements, *ct_carry, *ct_ys])
        added, ct_carry, ct_xs = runs(results, len(sums), sum(active))
        return [*ct_carry, *(add(a, b) for a, b in zip(so_far, added, strict=True)), *ct_xs]

    ct_carry, ct_ys = runs(cts, sum(active))
    graph = derive(step, [*known_consts, *ct_carry, *sums, *known_xs, *ct_ys])
    body.memo[key] = Transposed(graph, tuple(by_consts), tuple(by_xs), carried)
    return body.memo[key]  # type: ignore[no-any-return]
