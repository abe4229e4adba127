"""Plans: groups that run one after the other compute what the whole graph does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrayx.backend import dispatch  # noqa: F401  (evaluation needs it)
from arrayx.conformance.programs import arguments_of, graphs, host_values, same_elements
from arrayx.conformance.work import calls_of
from arrayx.core.aval import Aval
from arrayx.core.checking import check_graph
from arrayx.core.graph import Graph, Var
from arrayx.core.primitive import Primitive
from arrayx.primitives.arithmetic import add, mul, neg, sub
from arrayx.primitives.axes import broadcast_in_dim, reduce_sum, reshape, unreduced
from arrayx.primitives.contraction import dot_general
from arrayx.primitives.creation import fill
from arrayx.primitives.exponential import exp
from arrayx.primitives.numeric import div
from arrayx.primitives.reduction import reduce_max
from arrayx.primitives.trigonometric import cos, sin, tanh
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.fuse import ROW_REDUCTIONS, Group, Policy, plan, run_plan
from arrayx.transforms.stage import stage

F32 = np.dtype("float32")
MATRIX = Aval((4, 3), F32)
ROWS = Policy(reductions=ROW_REDUCTIONS)
POLICIES = {
    "default": Policy(),
    "rows": ROWS,
    "nothing twice": Policy(duplicate=False),
    "rows, nothing twice": Policy(reductions=ROW_REDUCTIONS, duplicate=False),
    "small groups": Policy(reductions=ROW_REDUCTIONS, most_equations=2),
    "without sin and add": Policy(excluded=frozenset({"sin", "add"})),
}


class Noise(Primitive):
    """Gives its operand, with an effect."""

    name = "test_fuse_noise"

    def type_rule(self, x, *, number):
        return x

    def effects(self, *, number):
        return frozenset({"noise"})


noise = Noise()


def staged(function, *avals) -> Graph:
    return stage(function, avals or (MATRIX,)).graph


def contents(groups) -> list[str]:
    """Kinds with the names of the primitives, for comparison with what is expected."""
    return [f"{g.kind}: " + " ".join(e.primitive.name for e in g.graph.equations) for g in groups]


def product(x, y):
    return dot_general(x, y, contracting=((1,), (0,)), batch=((), ()), precision=None)


def test_a_chain_of_elementwise_equations_is_one_group():
    graph = staged(lambda x: [add(sin(x), mul(x, 2.0))])
    (group,) = plan(graph)
    assert (group.kind, group.shape) == ("elementwise", (4, 3))
    assert group.inputs == graph.inputs and group.outputs == graph.outputs
    assert group.graph == graph


def test_softmax_is_two_row_reductions_and_a_loop():
    def softmax(x):
        top = unreduced(reduce_max(x, axes=(1,)), x.shape, (1,))
        e = exp(sub(x, top))
        return [div(e, unreduced(reduce_sum(e, axes=(1,)), x.shape, (1,)))]

    graph = staged(softmax)
    assert contents(plan(graph, ROWS)) == [
        "reduction: reduce_max",
        "reduction: broadcast_in_dim sub exp reduce_sum",
        "elementwise: broadcast_in_dim div",
    ]
    assert contents(plan(graph)) == [
        "other: reduce_max",
        "elementwise: broadcast_in_dim sub exp",
        "other: reduce_sum",
        "elementwise: broadcast_in_dim div",
    ]


def test_reductions_over_the_same_rows_share_a_group():
    def moments(x):
        return [
            reduce_sum(x, axes=(1,)),
            reduce_sum(mul(x, x), axes=(1,)),
            reduce_sum(x, axes=(0, 1)),
        ]

    groups = plan(staged(moments), ROWS)
    assert contents(groups) == ["reduction: reduce_sum mul reduce_sum", "reduction: reduce_sum"]
    assert [g.axes for g in groups] == [(1,), (0, 1)]


def test_reductions_over_leading_axes_stand_alone():
    groups = plan(staged(lambda x: [reduce_sum(sin(x), axes=(0,))]), ROWS)
    assert contents(groups) == ["elementwise: sin", "other: reduce_sum"]


def test_equations_move_up_across_what_they_do_not_depend_on():
    def program(x, y):
        a = sin(x)
        b = product(x, y)
        return [add(a, cos(x)), b]

    assert contents(plan(staged(program, MATRIX, Aval((3, 3), F32)))) == [
        "elementwise: sin cos add",
        "other: dot_general",
    ]


def test_equations_move_down_to_their_only_reader():
    def program(x, y):
        a = sin(x)
        b = product(a, y)
        c = tanh(cos(x))
        return [add(b, c)]

    assert contents(plan(staged(program, MATRIX, Aval((3, 3), F32)))) == [
        "elementwise: sin",
        "other: dot_general",
        "elementwise: cos tanh add",
    ]


def test_constants_and_broadcasts_are_made_where_they_are_read():
    def program(x, row, y):
        one, wide = fill((4, 3), F32, 1.0), broadcast_in_dim(row, shape=(4, 3), dims=(1,))
        a = mul(add(x, one), wide)
        return [mul(add(product(a, y), one), wide)]

    graph = staged(program, MATRIX, Aval((3,), F32), Aval((3, 3), F32))
    loop = "elementwise: full broadcast_in_dim add mul"
    groups = plan(graph)
    assert contents(groups) == [loop, "other: dot_general", loop]
    assert [len(g.outputs) for g in groups] == [1, 1, 1]
    once = plan(graph, Policy(duplicate=False))
    assert contents(once) == [loop, "other: dot_general", "elementwise: add mul"]
    assert [len(g.outputs) for g in once] == [3, 1, 1]


def test_a_broadcast_that_something_else_reads_is_written_once():
    def program(row, y):
        wide = broadcast_in_dim(row, shape=(4, 3), dims=(1,))
        return [neg(product(wide, y)), wide]

    groups = plan(staged(program, Aval((3,), F32), Aval((3, 3), F32)))
    assert contents(groups) == [
        "elementwise: broadcast_in_dim",
        "other: dot_general",
        "elementwise: neg",
    ]


def test_effects_keep_their_order_and_stand_alone():
    def program(x):
        a = noise(sin(x), number=1)
        noise(cos(x), number=2)
        noise(x, number=3)
        return [add(a, 1.0)]

    groups = plan(staged(program))
    assert contents(groups)[0] == "elementwise: sin cos"
    numbers = [g.graph.equations[0].params["number"] for g in groups if g.kind == "effect"]
    assert numbers == [1, 2, 3]


def test_dead_equations_are_left_out():
    assert contents(plan(staged(lambda x: [sin(x), cos(x)][:1]))) == ["elementwise: sin"]


def test_constants_are_in_the_graphs_of_the_groups_that_read_them():
    table = np.ones((4, 3), F32)
    graph = staged(lambda x: [reshape(add(x, table), shape=(12,)), neg(x)])
    first, second = plan(graph)
    (held,) = first.graph.constant_values
    assert np.array_equal(held, table) and not second.graph.constants
    assert first.inputs == graph.inputs


def test_groups_of_repeated_layers_are_equal_graphs():
    def layers(x, y):
        for _ in range(3):
            x = tanh(add(product(x, y), 1.0))
        return [x]

    groups = [g for g in plan(staged(layers, MATRIX, Aval((3, 3), F32))) if g.kind != "other"]
    assert len(groups) == 3 and len({g.graph for g in groups}) == 1


def check_plan(graph: Graph, groups: tuple[Group, ...], policy: Policy) -> None:
    """The invariants that backends rely on."""
    known = {*graph.inputs, *graph.constants}
    for group in groups:
        check_graph(group.graph)
        assert {*group.inputs} <= known, "a group reads what no earlier group gives"
        known.update(group.outputs)
        made = {v for e in group.graph.equations for v in e.outputs}
        if group.kind in ("other", "effect"):
            (equation,) = group.graph.equations
            assert bool(equation.effects) == (group.kind == "effect")
            continue
        reduced = set()
        for e in group.graph.equations:
            assert e.primitive.name not in policy.excluded
            if e.primitive.name in ROW_REDUCTIONS:
                assert group.kind == "reduction" and tuple(sorted(e.params["axes"])) == group.axes
                assert group.axes[-1] == len(group.shape) - 1
                reduced.update(e.outputs)
                assert e.inputs[0].aval.shape == group.shape
                continue
            assert e.outputs[0].aval.shape == group.shape
            for a in e.inputs:
                assert a not in reduced, "a reduction's result is read in its own group"
                if type(a) is Var and a.aval.shape != group.shape:
                    assert e.primitive.name == "broadcast_in_dim" and a not in made
    assert {*graph.outputs} <= known


@pytest.mark.parametrize("name", POLICIES)
@settings(derandomize=True, max_examples=60, deadline=None, database=None)
@given(data=st.data())
def test_running_the_groups_equals_running_the_whole(name, data):
    graph = data.draw(graphs(size=14))
    groups = plan(graph, POLICIES[name])
    check_plan(graph, groups, POLICIES[name])
    arguments = data.draw(arguments_of(graph))
    whole = host_values(evaluate(graph, arguments))
    parts = host_values(run_plan(graph, groups, arguments))
    for a, b in zip(whole, parts, strict=True):
        assert same_elements(a, b), f"{a} became {b}\n{graph}"


def test_the_work_is_linear():
    def program(x, y, n):
        for i in range(n // 4):
            x = add(sin(x), mul(x, 1.5))
            x = product(x, y) if i % 3 == 0 else neg(x)
        return [x]

    def work(n):
        graph = staged(lambda x, y: program(x, y, n), MATRIX, Aval((3, 3), F32))
        return calls_of(lambda: plan(graph, ROWS))

    assert work(10_000) < 6 * work(2_000)
