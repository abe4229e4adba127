"""The checker finds what is wrong with a graph, and says where."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from arrayx import errors
from arrayx.config import config
from arrayx.conformance.programs import graphs
from arrayx.control.call import call
from arrayx.core.aval import Aval
from arrayx.core.checking import check_graph, checked
from arrayx.core.graph import Equation, Graph, Var
from arrayx.core.parsing import parse_graph
from arrayx.core.primitive import Primitive
from arrayx.primitives.arithmetic import add
from arrayx.primitives.axes import reduce_sum
from arrayx.primitives.trigonometric import sin
from arrayx.transforms.jvp import jvp_graph
from arrayx.transforms.partial import linearize_graph
from arrayx.transforms.simplify import simplify
from arrayx.transforms.stage import derive, stage
from arrayx.transforms.vjp import transpose_graph
from arrayx.transforms.vmap import vmap_graph

F32 = np.dtype("float32")
VECTOR = Aval((3,), F32)


class Callback(Primitive):
    """A primitive that holds a function."""

    name = "test_checking_callback"
    callable_params = True

    def type_rule(self, x, *, function):
        return x


callback = Callback()


def one_equation(primitive, inputs, params, outputs, **others) -> Graph:
    variables = [a for a in inputs if type(a) is Var]
    return Graph(variables, [Equation(primitive, inputs, params, outputs, **others)], outputs)


def bugs():
    x, y, z = Var(VECTOR), Var(VECTOR), Var(VECTOR)
    scalar, wide = Var(Aval((), F32)), Var(Aval((3,), np.dtype("float64")))
    first = Equation(sin, (x,), {}, (y,))
    yield (
        "a wrong type",
        one_equation(sin, (x,), {}, (wide,)),
        r"the outputs have the types float64\[3\], the type rule gives float32\[3\]\n"
        r"  in: b: float64\[3\] = sin a",
    )
    yield (
        "use before definition",
        Graph([x], [Equation(sin, (y,), {}, (z,)), first], [z]),
        r"operand 0 of type float32\[3\] is not defined before its use\n  in: b: .* = sin c",
    )
    yield (
        "an unknown variable",
        Graph([x], [Equation(sin, (z,), {}, (y,))], [y]),
        r"in: b: float32\[3\] = sin <undefined float32\[3\]>",
    )
    yield (
        "double assignment",
        Graph([x], [first, Equation(sin, (y,), {}, (y,))], [y]),
        "output 0 of type .* is assigned a second time",
    )
    yield ("a twice named input", Graph([x, x], [], [x]), "input a is named twice")
    yield (
        "a bad param",
        one_equation(reduce_sum, (x,), {"axes": [0]}, (scalar,)),
        r"param axes=\[0\] of type list is not one of: bool, int, (.|\n)*in: .*<list \[0\]>",
    )
    yield (
        "a NumPy scalar as param",
        one_equation(reduce_sum, (x,), {"axes": (np.int64(0),)}, (scalar,)),
        "of type int64 is not one of",
    )
    yield (
        "a function as param",
        one_equation(reduce_sum, (x,), {"axes": (0,), "f": len}, (scalar,)),
        "param f=<built-in function len>",
    )
    yield (
        "params that the rule does not take",
        one_equation(reduce_sum, (x,), {"axis": 0}, (scalar,)),
        "its type rule refuses it: TypeError",
    )
    yield (
        "operands that the rule refuses",
        Graph([x, wide], [Equation(add, (x, wide), {}, (y,))], [y]),
        "its type rule refuses it: DtypeError: add needs operands of equal dtype",
    )
    yield (
        "an array as operand",
        one_equation(add, (x, np.zeros(3, F32)), {}, (y,)),
        "neither a variable nor a Python scalar",
    )
    yield (
        "effects that nobody states",
        one_equation(sin, (x,), {}, (y,), effects=frozenset({"noise"})),
        r"it has the effects \['noise'\], its primitive \[\]",
    )
    yield ("an output from nowhere", Graph([x], [], [y]), "output 0 of the graph, .* not defined")
    yield ("a constant without value", Graph([], [], [x], [x]), "1 constants and 0 values")
    yield (
        "a constant of another type",
        Graph([], [], [x], [x], [np.zeros(4, F32)]),
        r"constant a of type float32\[3\] has a value of type float32\[4\]",
    )
    inner = one_equation(sin, (x,), {}, (wide,))
    yield (
        "a bug in a sub-graph",
        one_equation(call, (z,), {"graph": inner, "name": "f"}, (Var(wide.aval),)),
        r"the outputs have the types float64(.|\n)*in: b: .* = call\[name='f', graph=graph",
    )


BUGS = {name: (graph, message) for name, graph, message in bugs()}


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_found_and_named(name):
    graph, message = BUGS[name]
    with pytest.raises(errors.GraphError, match=message):
        check_graph(graph)


def test_the_message_names_the_line_of_the_user():
    good = stage(lambda x: [sin(x)], [VECTOR]).graph
    (equation,) = good.equations
    bad = Graph(good.inputs, [equation.replace(primitive=reduce_sum)], good.outputs)
    with pytest.raises(errors.GraphError, match=rf"made at {__file__}:\d+"):
        check_graph(bad)


def test_functions_are_allowed_where_the_primitive_says_so():
    check_graph(stage(lambda x: [callback(x, function=len)], [VECTOR]).graph)


def test_parsed_text_is_checked_like_any_graph():
    text = "graph(a: float32[3]) {\n  b: float32[4] = sin a\n  return b\n}"
    with pytest.raises(errors.GraphError, match=r"type rule gives float32\[3\]"):
        check_graph(parse_graph(text))


def test_the_setting_decides_whether_transforms_check():
    bad, _ = BUGS["a wrong type"]
    with config(check_graphs=False):
        assert checked(bad) is bad
    with config(check_graphs=True):
        with pytest.raises(errors.GraphError):
            checked(bad)
        with pytest.raises(errors.GraphError):
            simplify(bad)


class Liar(Primitive):
    """Its type rule is right only when it is asked for the first time."""

    name = "test_checking_liar"
    asked = 0

    def type_rule(self, x):
        return x

    def infer(self, avals, params):
        self.asked += 1
        return avals[0] if self.asked % 2 else avals[0].update(dtype=np.dtype("int8"))


@pytest.mark.parametrize("function", [stage, derive])
def test_staging_checks_what_it_wrote(function):
    liar = Liar()
    with config(check_graphs=True), pytest.raises(errors.GraphError, match="test_checking_liar"):
        function(lambda x: [liar(x)], [VECTOR])


@settings(derandomize=True, max_examples=60, deadline=None, database=None)
@given(graphs(size=8, finite=True))
def test_graphs_are_well_formed_after_every_transform(graph):
    check_graph(graph)
    check_graph(simplify(graph))
    active = tuple(a.dtype.kind == "f" for a in graph.in_avals)
    batched, _ = vmap_graph(graph, 2, tuple(0 for _ in graph.inputs))
    check_graph(batched)
    both, _ = jvp_graph(graph, active)
    check_graph(both)
    check_graph(simplify(both))
    split = linearize_graph(graph, active)
    check_graph(split.forward)
    check_graph(split.linear)
    linear = tuple(i >= len(split.residuals) for i in range(len(split.linear.inputs)))
    given_cts = tuple(True for _ in split.linear.outputs)
    if any(given_cts):
        transposed, _ = transpose_graph(split.linear, linear, given_cts)
        check_graph(transposed)
        check_graph(simplify(transposed))
