"""Random programs of nested control flow: hypothesis strategies, and how they are run.

A program is a tree of nodes.  Each node is a step from one state to the next, a vector and a
number; loops, choices and functions with rules of their own hold further nodes, whose
expressions use what all nodes around them have computed.  `run` takes the control flow that it
shall use (`by_hand.py`), so that every program is also the Python loop that it stands for.

    @given(nests())
    def test_my_backend_runs_nested_loops(nest):
        w, x = POINTS[0]
        nest.run(TRACED, w, x), nest.run(BY_HAND, w, x)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import arrayx as ax
import arrayx.numpy as anp
from arrayx import lax
from arrayx.conformance.by_hand import Control

Draw = Callable[[st.SearchStrategy[Any]], Any]

# Where programs are evaluated: values of the vector `w` and of the first state.
POINTS = tuple(
    (np.array(w), np.array(x))
    for w, x in [
        ((0.63, -0.41), (0.87, 0.29, -0.52)),
        ((-0.35, 0.78), (-0.94, 0.46, 0.71)),
        ((0.18, 0.57), (0.33, -0.68, 0.12)),
    ]
)


class State(NamedTuple):
    """What goes from step to step: a vector of two numbers, and a number."""

    vector: Any
    number: Any


class Scope(NamedTuple):
    """What an expression can use: the newest last."""

    vectors: tuple[Any, ...]
    numbers: tuple[Any, ...]
    counters: tuple[Any, ...]

    def of(self, state: State) -> Scope:
        """The scope with a state's values too."""
        return Scope((*self.vectors, state.vector), (*self.numbers, state.number), self.counters)


@dataclass(frozen=True)
class Node:
    """A step: its kind, the steps that it holds, and whatever else decides what it does."""

    kind: str
    parts: tuple[Node, ...] = ()
    how: tuple[Any, ...] = ()

    def count(self) -> int:
        """The number of nodes that hold others."""
        return bool(self.parts) + sum(p.count() for p in self.parts)


@dataclass(frozen=True)
class Nest:
    """A program, a scalar function of two vectors; `modes` are those it can be derived in."""

    body: Node
    modes: tuple[str, ...] = ("forward", "reverse")

    def run(self, control: Control, w: Any, x: Any) -> Any:
        """The program's value for a `w` of two numbers and an `x` of three."""
        w, x = anp.asarray(w), anp.asarray(x)
        state = State(x[:2], x[2])
        state = step(self.body, control, Scope((w,), (), ()), state)
        return anp.dot(state.vector, np.array([0.7, -1.1])) + 0.9 * state.number


# ----------------------------------------------------------------- expressions

# Operands: the first two vectors and numbers that were drawn, a constant, a counter.
VECTORS: dict[str, Callable[..., Any]] = {
    "tanh": lambda a, b, s, t, c, n: anp.tanh(c * a + b),
    "product": lambda a, b, s, t, c, n: anp.sin(a) * b,
    "scaled": lambda a, b, s, t, c, n: a * s + c,
    "quotient": lambda a, b, s, t, c, n: a / (1.5 + s * s),
    "chosen": lambda a, b, s, t, c, n: anp.where(a > c, anp.sin(a), b),
    "reversed": lambda a, b, s, t, c, n: a[::-1] + c * b,
    "matrix": lambda a, b, s, t, c, n: anp.tanh(anp.outer(a, b) @ a),
    "written": lambda a, b, s, t, c, n: a.at[0].set(s * t),
    "running": lambda a, b, s, t, c, n: 0.5 * anp.cumsum(a * b),
    "sorted": lambda a, b, s, t, c, n: anp.sort(a) * anp.cos(b),
    "constant": lambda a, b, s, t, c, n: anp.asarray(np.array([0.4, -0.3]) * c),
    "stopped": lambda a, b, s, t, c, n: lax.stop_gradient(a) * b,
    "bell": lambda a, b, s, t, c, n: anp.exp(-a * a) + b,
    "indexed": lambda a, b, s, t, c, n: b[n % 2] * a,
    "root": lambda a, b, s, t, c, n: anp.sqrt(1.1 + a * a) - 1.0,
}
NUMBERS: dict[str, Callable[..., Any]] = {
    "dot": lambda a, b, s, t, c, n: anp.dot(a, b) * c,
    "sine": lambda a, b, s, t, c, n: anp.sin(s + t),
    "product": lambda a, b, s, t, c, n: s * t + c,
    "largest": lambda a, b, s, t, c, n: anp.max(a) * c,
    "soft": lambda a, b, s, t, c, n: anp.log(anp.sum(anp.exp(a))) * c,
    "steps": lambda a, b, s, t, c, n: 0.25 * anp.floor(2.0 * s) * t,
    "counted": lambda a, b, s, t, c, n: anp.asarray(n, dtype=np.float64) * c + s,
    "constant": lambda a, b, s, t, c, n: anp.asarray(np.float64(0.6 * c)),
    "element": lambda a, b, s, t, c, n: a[n % 2] * t,
    "quotient": lambda a, b, s, t, c, n: s / (1.2 + t * t),
}
# No number that is computed exactly equals one of these.
CONSTANTS = (0.3137, -0.2718, 0.6931, -0.5772, 1.0472)


def operands(scope: Scope, how: tuple[Any, ...]) -> tuple[Any, ...]:
    """What an expression is computed from: each chosen by its distance from the newest."""
    i, j, k, m, c, q = how

    def at(values: tuple[Any, ...], distance: int) -> Any:
        return values[-1 - distance % len(values)]

    counter = at(scope.counters, q) if scope.counters else anp.asarray(1, dtype=anp.int32)
    return (
        at(scope.vectors, i),
        at(scope.vectors, j),
        at(scope.numbers, k),
        at(scope.numbers, m),
        c,
        counter,
    )


def test_of(how: tuple[Any, ...], scope: Scope) -> Any:
    """A condition: on a number, a vector, or a counter."""
    kind, *rest = how
    a, _, s, _, c, n = operands(scope, tuple(rest))
    if kind == "counter":
        return n % 2 == 0
    return anp.sum(a) > c if kind == "vector" else s > c


# ----------------------------------------------------------------- carried trees


def packed(form: int, state: State, counter: Any) -> Any:
    """A state as a tree of one of several structures; some hold a counter, or more."""
    v, s = state
    return (
        state,
        {"s": s, "v": v},
        {"b": (v, None), "a": [s, counter]},
        {"still": np.array([1.5, 2.5]), "n": counter, "state": {"v": v}, "s": (s,), "up": True},
    )[form]


def unpacked(form: int, tree: Any) -> tuple[State, tuple[Any, ...]]:
    """The state in such a tree, and its counter if it has one."""
    if form == 0:
        return tree, ()
    if form == 1:
        return State(tree["v"], tree["s"]), ()
    if form == 2:
        return State(tree["b"][0], tree["a"][0]), (tree["a"][1],)
    return State(tree["state"]["v"], tree["s"][0]), (tree["n"],)


def following(form: int, tree: Any, state: State, counter: Any) -> Any:
    """The next tree; what the program does not compute stays."""
    made = packed(form, state, counter)
    return (
        {**made, "still": tree["still"] * 1, "up": anp.logical_not(tree["up"])}
        if form == 3
        else made
    )


def counted(counters: tuple[Any, ...]) -> Any:
    """One more than the newest counter; None where there is none."""
    return counters[0] + 1 if counters else None


# ----------------------------------------------------------------- steps


def step(node: Node, control: Control, scope: Scope, state: State) -> State:
    """The state after a node."""
    after: State = STEPS[node.kind](node, control, scope, state)
    return after


def run_set(node: Node, control: Control, scope: Scope, state: State) -> Any:
    """An expression takes the place of the vector or of the number."""
    target, name, *how = node.how
    given = operands(scope.of(state), tuple(how))
    if target == "vector":
        return state._replace(vector=VECTORS[name](*given))
    return state._replace(number=NUMBERS[name](*given))


def run_sequence(node: Node, control: Control, scope: Scope, state: State) -> Any:
    """The parts, one after the other."""
    for part in node.parts:
        state = step(part, control, scope, state)
    return state


def part_of(
    node: Node, control: Control, scope: Scope, state: State, i: int = 0
) -> Callable[[Any], Any]:
    """The step of a part as a function; the state from around is in its scope."""
    around = scope.of(state)
    return lambda inner: step(node.parts[i], control, around, inner)


def run_cond(node: Node, control: Control, scope: Scope, state: State) -> Any:
    """One of two parts, as operands or closures have it."""
    closing, *test = node.how
    chosen = test_of(tuple(test), scope.of(state))
    first, second = (part_of(node, control, scope, state, i) for i in (0, 1))
    if closing:
        return control.cond(chosen, lambda: first(state), lambda: second(state))
    return control.cond(chosen, first, second, state)


def run_switch(node: Node, control: Control, scope: Scope, state: State) -> Any:
    """One of several parts, by a counter or by a value."""
    kind, *how = node.how
    _, _, s, _, _, n = operands(scope.of(state), tuple(how))
    index = n if kind == "counter" else anp.floor(3.0 * s + 1.0).astype(anp.int32)
    branches = [part_of(node, control, scope, state, i) for i in range(len(node.parts))]
    return control.switch(index, branches, state)


def run_scan(node: Node, control: Control, scope: Scope, state: State) -> Any:
    """A scan of the part, over what the node says, with what it stacks folded back in."""
    form, length, reverse, unroll, along, stacks, *how = node.how
    a, b, s, _, c, _ = operands(scope.of(state), tuple(how))
    ramp = anp.asarray(np.linspace(0.4, 1.3, length))
    xs = {
        "nothing": None,
        "constants": {"x": anp.asarray(np.linspace(-1.0, 1.0, 2 * length).reshape(length, 2))},
        "values": {"x": anp.outer(ramp, a)},
        "both": {"x": anp.outer(ramp, a), "y": ramp * s},
    }[along]
    around = scope.of(state)

    def body(carry: Any, x: Any) -> Any:
        inner, counters = unpacked(form, carry)
        here = Scope(
            (*around.vectors, *((x["x"],) if x is not None else ())),
            (*around.numbers, *((x["y"],) if along == "both" else ())),
            (*around.counters, *counters),
        )
        after = step(node.parts[0], control, here, inner)
        y = {
            "nothing": None,
            "before": inner.vector * 1.0,
            "after": (after.vector * b, after.number),
            "still": b * c,
        }[stacks]
        return following(form, carry, after, counted(counters)), y

    options = {"length": length, "reverse": reverse, "unroll": unroll}
    carry, ys = control.scan(body, packed(form, state, 0), xs, **options)
    after, _ = unpacked(form, carry)
    if stacks == "nothing":
        return after
    total = sum(anp.sum(y) for y in ax.tree.leaves(ys))
    return after._replace(number=after.number + 0.3 * anp.sin(total))


def run_while(node: Node, control: Control, scope: Scope, state: State) -> Any:
    """A bounded while loop of the part, its test by counter or by value."""
    form, most, count, *test = node.how
    around = scope.of(state)

    def going(carry: Any) -> Any:
        n, tree = carry
        inner, _ = unpacked(form, tree)
        return (n < count) & test_of(tuple(test), around.of(inner))

    def body(carry: Any) -> Any:
        n, tree = carry
        inner, counters = unpacked(form, tree)
        here = around._replace(counters=(*around.counters, n, *counters))
        after = step(node.parts[0], control, here, inner)
        return n + 1, following(form, tree, after, counted(counters))

    start = anp.asarray(0, dtype=anp.int32), packed(form, state, 0)
    return unpacked(form, control.while_loop(going, body, start, max_steps=most)[1])[0]


def run_fori(node: Node, control: Control, scope: Scope, state: State) -> Any:
    """A counted loop of the part, its end a number, a counter or a value."""
    form, kind, count, *how = node.how
    around = scope.of(state)
    _, _, s, _, _, n = operands(around, tuple(how))

    def body(i: Any, tree: Any) -> Any:
        inner, counters = unpacked(form, tree)
        here = around._replace(counters=(*around.counters, *counters, i))
        return following(form, tree, step(node.parts[0], control, here, inner), counted(counters))

    start = packed(form, state, 0)
    if kind == "known":
        result = control.fori_loop(1, 1 + count, body, start)
    else:
        upper = n + 1 if kind == "counter" else anp.floor(2.0 * s + 2.0).astype(anp.int32)
        result = control.fori_loop(0, upper, body, start, max_steps=count)
    return unpacked(form, result)[0]


def run_map(node: Node, control: Control, scope: Scope, state: State) -> Any:
    """The part mapped over several states, whose mean goes on."""
    size, batch, *how = node.how
    body = part_of(node, control, scope, state)
    a = operands(scope.of(state), tuple(how))[0]
    ramp = anp.asarray(np.linspace(0.5, 1.2, size))
    xs = State(anp.outer(ramp, a), ramp * state.number)
    options = {} if batch is None else {"batch_size": batch}
    results = control.map(body, xs, **options)
    return State(anp.sum(results.vector, 0) / size, anp.mean(results.number))


def run_vmap(node: Node, control: Control, scope: Scope, state: State) -> Any:
    """The part batched over several states, whose mean goes on."""
    size, *how = node.how
    body = part_of(node, control, scope, state)
    a = operands(scope.of(state), tuple(how))[0]
    ramp = anp.asarray(np.linspace(0.5, 1.2, size))
    results = control.vmap(body)(State(anp.outer(ramp, a), ramp * state.number))
    return State(anp.sum(results.vector, 0) / size, anp.mean(results.number))


def run_associative(node: Node, control: Control, scope: Scope, state: State) -> Any:
    """An associative scan, whose last result goes through the part."""
    kind, size, reverse, *how = node.how
    a, b, s, _, _, _ = operands(scope.of(state), tuple(how))
    ramp = anp.asarray(np.linspace(0.5, 1.2, size))
    xs = anp.outer(ramp, a)
    combine: Any
    if kind == "circle":  # x + y + s·x·y is associative for every s
        combine = lambda x, y: x + y + s * x * y  # noqa: E731
        result = control.associative_scan(combine, 0.4 * xs, reverse=reverse)
    else:  # affine functions, composed
        combine = lambda x, y: {"m": x["m"] * y["m"], "k": x["k"] * y["m"] + y["k"]}  # noqa: E731
        given = {"m": anp.outer(anp.cos(ramp), b), "k": xs}
        result = control.associative_scan(combine, given, reverse=reverse)["k"]
    inside = step(node.parts[0], control, scope.of(state), State(result[-1], state.number))
    return inside._replace(vector=inside.vector + 0.3 * anp.tanh(result[0]))


def run_call(node: Node, control: Control, scope: Scope, state: State) -> Any:
    """The part as a function of its own, compiled or with a forward rule, called again."""
    times, *_ = node.how
    body = part_of(node, control, scope, state)
    function = {"jit": control.jit, "custom_jvp": control.custom_jvp}[node.kind](body)
    for _ in range(times):
        state = function(state)
    return state


def run_custom_vjp(node: Node, control: Control, scope: Scope, state: State) -> Any:
    """The part with a backward rule."""
    again, *_ = node.how
    return control.custom_vjp(part_of(node, control, scope, state), again=again)(state)


def run_checkpoint(node: Node, control: Control, scope: Scope, state: State) -> Any:
    """The part, made again in the backward pass but for what the policy keeps."""
    policy, *_ = node.how
    chosen = None if policy is None else getattr(ax.checkpoint_policies, policy)
    return control.checkpoint(part_of(node, control, scope, state), policy=chosen)(state)


def run_other_rule(node: Node, control: Control, scope: Scope, state: State) -> Any:
    """The first part, with the derivative of the second."""
    # Both see the state alone: of what a function closes over a rule says nothing.
    alone = Scope((), (), ())
    first, second = node.parts
    return control.other_rule(
        lambda inner: step(first, control, alone, inner),
        lambda inner: step(second, control, alone, inner),
    )(state)


def run_slope(node: Node, control: Control, scope: Scope, state: State) -> Any:
    """The gradient of a number that the part leads to."""
    body = part_of(node, control, scope, state)

    def loss(inner: State) -> Any:
        after = body(inner)
        return anp.sum(anp.sin(after.vector)) + after.number

    slopes = ax.grad(loss)(state)
    return State(anp.tanh(slopes.vector), anp.tanh(slopes.number))


def run_tangent(node: Node, control: Control, scope: Scope, state: State) -> Any:
    """The part's value, and its derivative along the state."""
    body = part_of(node, control, scope, state)
    moving = State(anp.cos(state.vector), 0.5 * state.number)
    after, along = ax.jvp(body, (state,), (moving,))
    return State(after.vector, anp.tanh(along.number + anp.sum(along.vector)))


STEPS: dict[str, Callable[[Node, Control, Scope, State], Any]] = {
    "set": run_set,
    "sequence": run_sequence,
    "cond": run_cond,
    "switch": run_switch,
    "scan": run_scan,
    "while": run_while,
    "fori": run_fori,
    "map": run_map,
    "vmap": run_vmap,
    "associative": run_associative,
    "jit": run_call,
    "custom_jvp": run_call,
    "custom_vjp": run_custom_vjp,
    "checkpoint": run_checkpoint,
    "other_rule": run_other_rule,
    "slope": run_slope,
    "tangent": run_tangent,
}


# ----------------------------------------------------------------- one of each kind


def _number(name: str, *how: Any) -> Node:
    """One expression as a step."""
    return Node("set", (), ("number", name, *how))


_ONE = (0, 0, 0, 0, 0.3137, 0)
_HALF = Node("sequence", (_number("quotient", *_ONE),))
_WAVE = Node("sequence", (_number("sine", 0, 0, 0, 1, 0.3137, 0),))
# One node of each kind that holds others, whose steps use what is around them.
EACH: dict[str, Node] = {
    "cond": Node("cond", (_WAVE, _HALF), (True, "number", *_ONE)),
    "switch": Node("switch", (_WAVE, _HALF, _WAVE), ("number", *_ONE)),
    "scan": Node("scan", (_WAVE,), (3, 3, True, 2, "both", "after", *_ONE)),
    "while": Node("while", (_WAVE,), (2, 5, 3, "number", *_ONE)),
    "fori": Node("fori", (_WAVE,), (1, "number", 3, *_ONE)),
    "map": Node("map", (_WAVE,), (3, 2, *_ONE)),
    "vmap": Node("vmap", (_WAVE,), (2, *_ONE)),
    "associative": Node("associative", (_WAVE,), ("circle", 4, False, *_ONE)),
    "jit": Node("jit", (_WAVE,), (2,)),
    "checkpoint": Node("checkpoint", (_WAVE,), (None,)),
    "custom_jvp": Node("custom_jvp", (_WAVE,), (1,)),
    "custom_vjp": Node("custom_vjp", (_WAVE,), (True,)),
    "other_rule": Node("other_rule", (_WAVE, _HALF)),
    "slope": Node("slope", (_WAVE,)),
    "tangent": Node("tangent", (_WAVE,)),
}


# ----------------------------------------------------------------- strategies

_DISTANCES = st.integers(0, 3)
_OPERANDS = st.tuples(
    _DISTANCES, _DISTANCES, _DISTANCES, _DISTANCES, st.sampled_from(CONSTANTS), st.integers(0, 1)
)
_TESTS = st.builds(
    lambda kind, how: (kind, *how), st.sampled_from(("number", "vector", "counter")), _OPERANDS
)
_FORMS = st.integers(0, 3)
_COUNTS = st.sampled_from(("known", "counter", "number"))
_COMBINED = st.sampled_from(("circle", "affine"))
_POLICIES = (None, None, "everything_saveable", "nothing_saveable", "dots_saveable")


def _sets(target: str, names: dict[str, Any]) -> st.SearchStrategy[Node]:
    """Steps that write a vector, or a number."""
    return st.builds(
        lambda name, how: Node("set", (), (target, name, *how)),
        st.sampled_from([*names]),
        _OPERANDS,
    )


_SETS = st.one_of(_sets("vector", VECTORS), _sets("number", NUMBERS))
_STRAIGHT = st.lists(_SETS, min_size=1, max_size=3).map(lambda p: Node("sequence", tuple(p)))


@cache
def _inner(mode: str, depth: int) -> st.SearchStrategy[Node]:
    """Steps around and after one that holds others, as deep as may be."""
    if depth == 0:
        return st.one_of(_STRAIGHT, st.just(Node("sequence")))
    return st.builds(
        lambda before, node, after: Node("sequence", (*before, node, *after)),
        st.lists(_SETS, max_size=1),
        _holding(mode, depth),
        st.lists(_SETS, max_size=2),
    )


@cache
def _holding(mode: str, depth: int) -> st.SearchStrategy[Node]:
    """A node that holds others; `mode` says what it has to be differentiated in."""

    def node(kind: str, *how: st.SearchStrategy[Any], parts: int = 1, inside: str = mode) -> Any:
        part = _inner(inside, depth - 1)
        few = st.one_of(_STRAIGHT, st.just(Node("sequence")))
        held = st.tuples(part, *[few] * (parts - 1))
        return st.builds(
            lambda p, h, turn: Node(kind, p[turn:] + p[:turn], tuple(y for x in h for y in x)),
            held,
            st.tuples(*how),
            st.integers(0, parts - 1),
        )

    def one(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any]]:
        return st.tuples(strategy)

    lengths = st.integers(0, 3)
    options = [
        node("cond", one(st.booleans()), _TESTS, parts=2),
        node("switch", one(st.sampled_from(("counter", "number"))), _OPERANDS, parts=3),
        *[
            node(
                "scan",
                st.tuples(
                    _FORMS,
                    st.integers(1, 3),
                    st.booleans(),
                    st.sampled_from((1, 1, 2, True)),
                    st.sampled_from(("nothing", "constants", "values", "both")),
                    st.sampled_from(("nothing", "before", "after", "still")),
                ),
                _OPERANDS,
            )
        ]
        * 2,
        node("while", st.tuples(_FORMS, st.sampled_from((1, 2, 3, 5)), lengths), _TESTS),
        node("fori", st.tuples(_FORMS, _COUNTS, lengths), _OPERANDS),
        node("map", st.tuples(st.integers(1, 3), st.sampled_from((None, None, 2))), _OPERANDS),
        node("vmap", one(st.integers(1, 2)), _OPERANDS),
        node("associative", st.tuples(_COMBINED, st.integers(1, 4), st.booleans()), _OPERANDS),
        node("jit", one(st.integers(1, 2))),
        node("checkpoint", one(st.sampled_from(_POLICIES))),
        node("custom_jvp", one(st.integers(1, 2)), inside="both" if mode == "reverse" else mode),
        node("other_rule", parts=2, inside="both" if mode == "reverse" else mode),
    ]  # fmt: skip
    if mode == "reverse":
        options.append(node("custom_vjp", one(st.booleans())))
    if mode == "forward":
        options.append(node("while", st.tuples(_FORMS, st.none(), lengths), _TESTS))
    if mode != "forward":
        options.append(node("slope"))
    if mode != "reverse":
        options.append(node("tangent"))
    return st.one_of(options)


_MODES = {"both": ("forward", "reverse"), "reverse": ("reverse",), "forward": ("forward",)}


@st.composite
def nests(draw: Draw, depth: int = 3) -> Nest:
    """Programs of control flow, nested up to `depth` times."""
    mode = draw(st.sampled_from(("both", "both", "both", "reverse", "forward")))
    return Nest(draw(_inner(mode, draw(st.integers(1, depth)))), _MODES[mode])
