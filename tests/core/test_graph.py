"""Graphs are values: equal by structure, hashable, and told apart where they differ."""

from __future__ import annotations

import dataclasses
import gc
import math
import weakref

import numpy as np
import pytest
from hypothesis import given, settings

from arrayx import device_put, errors
from arrayx.conformance.programs import graphs
from arrayx.control.call import call
from arrayx.core.aval import Aval
from arrayx.core.graph import check_param, graphs_in, literal_key, param_key, subgraphs
from arrayx.core.parsing import parse_graph
from arrayx.primitives.arithmetic import add, mul
from arrayx.primitives.trigonometric import cos, sin
from arrayx.transforms.simplify import simplify
from arrayx.transforms.stage import stage

F32 = np.dtype("float32")
VECTOR = Aval((3,), F32)


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: object


@dataclasses.dataclass
class Thawed:
    x: object


def staged(function, *avals):
    return stage(function, avals or (VECTOR,)).graph


def test_graphs_staged_twice_are_equal_and_have_one_hash():
    first, second = (staged(lambda x: [mul(sin(x), 2.0)]) for _ in range(2))
    assert first == second and hash(first) == hash(second)
    assert {first: 1}[second] == 1


@pytest.mark.parametrize(
    "other",
    [
        lambda x: [mul(cos(x), 2.0)],
        lambda x: [mul(sin(x), -2.0)],
        lambda x: [sin(mul(x, 2.0))],
        lambda x: [mul(sin(x), 2.0), x],
    ],
)
def test_graphs_that_differ_are_unequal(other):
    assert staged(lambda x: [mul(sin(x), 2.0)]) != staged(other)


def test_literals_that_compare_equal_make_different_graphs():
    zeros = [staged(lambda x, z=z: [add(x, z)]) for z in (0.0, -0.0, 0, False)]
    assert all(a != b for i, a in enumerate(zeros) for b in zeros[:i])
    assert staged(lambda x: [add(x, math.nan)]) == staged(lambda x: [add(x, math.nan)])


def test_constants_are_compared_by_identity_and_not_at_all_by_structure():
    table, copy = (device_put(np.zeros(3, F32)) for _ in range(2))
    of = lambda t: staged(lambda x: [add(x, t)])  # noqa: E731
    assert of(table) == of(table)
    assert of(table) != of(copy)
    assert of(table).same_structure(of(copy))
    holding = lambda t: staged(lambda x: call(x, graph=of(t), name="f"))  # noqa: E731
    assert holding(table) != holding(copy)
    assert holding(table).same_structure(holding(copy))


def test_keys_of_params_tell_types_apart():
    assert param_key(1) != param_key(True) != param_key(1.0)
    assert param_key((0.0,)) != param_key((-0.0,))
    assert param_key(Frozen(1)) != param_key(Frozen(True))
    assert literal_key(math.nan) == literal_key(math.nan)


@pytest.mark.parametrize("value", [[1], {1: 2}, np.float64(1.0), np.zeros(2), Thawed(1), len])
def test_what_is_no_param_is_refused(value):
    for wrapped in (value, (1, value), Frozen(value)):
        with pytest.raises(errors.GraphError, match="is not one of: bool, int"):
            check_param("p", wrapped)


def test_functions_are_params_only_where_they_are_allowed():
    check_param("p", (len, 1), callables=True)


def test_sub_graphs_are_found_inside_tuples_and_dataclasses():
    graph = staged(lambda x: [sin(x)])
    assert list(graphs_in((1, (graph, Frozen(graph)), None))) == [graph, graph]
    outer = staged(lambda x: call(x, graph=graph, name="f"))
    assert subgraphs(outer.equations[0]) == (graph,)


def test_a_graph_dies_with_its_last_reference_also_after_simplifying():
    graph = staged(lambda x: [sin(x)])
    simplify(graph)
    str(graph)
    gone = weakref.ref(graph)
    gc.disable()
    try:
        del graph
        assert gone() is None
    finally:
        gc.enable()


@settings(derandomize=True, max_examples=40, deadline=None, database=None)
@given(graphs(size=6))
def test_a_parsed_graph_is_equal_where_there_are_no_constants(graph):
    parsed = parse_graph(str(graph))
    assert not graph.constants
    assert parsed == graph and hash(parsed) == hash(graph)
