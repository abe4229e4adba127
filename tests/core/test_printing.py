"""Graphs as text: it reads well, and it reads back."""

from __future__ import annotations

import dataclasses
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings

from arrayx import dtypes, errors
from arrayx.conformance.programs import graphs
from arrayx.conformance.work import calls_of
from arrayx.control.call import call
from arrayx.core.aval import Aval
from arrayx.core.drawing import to_dot
from arrayx.core.graph import Equation, Graph, Var, param_class
from arrayx.core.parsing import parse_graph
from arrayx.core.primitive import Primitive
from arrayx.core.printing import constants_of, fingerprint, format_graph
from arrayx.primitives.arithmetic import add, mul
from arrayx.primitives.axes import reduce_sum
from arrayx.primitives.random import threefry2x32
from arrayx.primitives.trigonometric import sin
from arrayx.transforms.stage import stage

F32 = np.dtype("float32")
VECTOR = Aval((3,), F32)


class Anything(Primitive):
    """Takes any params; its result is its first operand's type."""

    name = "test_printing.anything"

    def type_rule(self, *avals, **params):
        return avals[0]


class Nothing(Primitive):
    """Has no result, only an effect."""

    name = "test_printing_nothing"
    multiple = True

    def type_rule(self, *avals, **params):
        return ()

    def effects(self, **params):
        return frozenset({"noise"})


anything = Anything()
nothing = Nothing()


@param_class
@dataclasses.dataclass(frozen=True)
class Numbers:
    """A class of params, as primitives with many dimension numbers have."""

    axes: tuple[int, ...]
    mode: str = "fill"


def with_params(**params) -> Graph:
    """A graph of one equation that has these params."""
    x, y = Var(VECTOR), Var(VECTOR)
    return Graph([x], [Equation(anything, (x,), params, (y,))], [y])


def example() -> Graph:
    inner = stage(lambda x: [sin(x), reduce_sum(x, axes=(0,))], [VECTOR]).graph
    table = np.array([1, 2, 3], F32)

    def program(a, b):
        e = mul(sin(a), 2.0)
        g, h = call(add(a, table), graph=inner, name="f")
        return [reduce_sum(e, axes=(0,)), g, h, b]

    return stage(program, [VECTOR, Aval((3,), F32, True)]).graph


EXAMPLE = """\
graph(a: float32[3], b: float32[3]~) const(c: float32[3]) {
  d: float32[3] = sin a
  e: float32[3] = mul d 2.0
  f: float32[3] = add a c
  g: float32[3], h: float32[] = call[name='f', graph=graph(a: float32[3]) {
    b: float32[3] = sin a
    c: float32[] = reduce_sum[axes=(0,)] a
    return b, c
  }] f
  i: float32[] = reduce_sum[axes=(0,)] e
  return i, g, h, b
}"""


def test_a_graph_prints_as_documented():
    assert str(example()) == EXAMPLE
    assert repr(example()) == (
        "<Graph (float32[3], float32[3]~) -> (float32[3], float32[3], float32[], "
        "float32[3]~), 5 equations>".replace("-> (float32[3], ", "-> (float32[], ")
    )


def test_the_text_reads_back_and_prints_the_same_again():
    graph = example()
    parsed = parse_graph(EXAMPLE)
    assert parsed.same_structure(graph)
    assert str(parsed) == EXAMPLE
    values = constants_of(graph)
    assert fingerprint(parse_graph(EXAMPLE, values)) == fingerprint(graph)
    assert parse_graph(EXAMPLE, values) == graph


INNER = stage(lambda x: [sin(x)], [VECTOR]).graph
PARAMS = {
    "true": True,
    "integer": -3,
    "large": 10**30,
    "one": 1.0,
    "small": 1e-300,
    "power": 1e22,
    "infinite": -math.inf,
    "nan": math.nan,
    "minus_zero": -0.0,
    "complex": 1 - 2j,
    "complex_zeros": complex(-0.0, -0.0),
    "complex_nan": complex(math.nan, -math.inf),
    "imaginary": 3j,
    "text": 'it\'s [a] "text", # é\n\\ <x>',
    "dtype": dtypes.as_dtype("bfloat16"),
    "boolean": np.dtype(bool),
    "key": dtypes.KeyDtype(),
    "float0": dtypes.float0,
    "none": None,
    "empty": (),
    "single": (1,),
    "nested": ((1, (2.5,)), (), (1j, 1 + 1j), ("a", None, F32)),
    "aval": Aval((2, 3), dtypes.KeyDtype(), False, frozenset({"j", "i"})),
    "weak": Aval((), F32, True, frozenset({"an axis"})),
    "object": Numbers((0, 1), "clip"),
    "objects": (Numbers(()),),
    "graph": INNER,
    "graphs": (INNER, (example(), 2), INNER),
}


@pytest.mark.parametrize("name", PARAMS)
def test_params_of_every_kind_read_back_with_their_type(name):
    graph = with_params(**{name: PARAMS[name]})
    assert parse_graph(str(graph)).same_structure(graph), str(graph)


def test_all_params_together_read_back_also_with_sources():
    graph = with_params(**PARAMS)
    assert parse_graph(str(graph)).same_structure(graph)
    assert str(parse_graph(str(graph))) == str(graph)


def test_params_that_are_equal_but_not_the_same_stay_apart():
    one, true, real = (with_params(value=v) for v in (1, True, 1.0))
    assert len({str(one), str(true), str(real)}) == 3
    assert not one.same_structure(true)
    assert not one.same_structure(real)
    assert not with_params(value=Numbers((1,))).same_structure(with_params(value=Numbers((True,))))


def test_tuples_of_graphs_are_indented():
    assert str(with_params(branches=(INNER, 2))) == (
        "graph(a: float32[3]) {\n"
        "  b: float32[3] = test_printing.anything[branches=(\n"
        "    graph(a: float32[3]) {\n"
        "      b: float32[3] = sin a\n"
        "      return b\n"
        "    },\n"
        "    2,\n"
        "  )] a\n"
        "  return b\n"
        "}"
    )


def test_a_graph_that_occurs_again_is_written_once():
    def twice(x):
        (y,) = call(x, graph=INNER, name="f")
        return call(y, graph=INNER, name="f")

    graph = stage(twice, [VECTOR]).graph
    assert str(graph).count("sin") == 1
    assert "graph=@1 graph(" in str(graph) and "graph=@1]" in str(graph)
    parsed = parse_graph(str(graph))
    assert parsed.same_structure(graph)
    first, second = (e.params["graph"] for e in parsed.equations)
    assert first is second
    # Doubled forty times, it would never end if it were written out.
    for _ in range(40):
        graph = stage(
            lambda x, g=graph: call(*call(x, graph=g, name="g"), graph=g, name="g"), [VECTOR]
        ).graph
    assert str(parse_graph(str(graph))) == str(graph)


def test_equations_without_results_have_no_left_side():
    graph = stage(lambda x: [nothing(x), x][1:], [VECTOR]).graph
    assert str(graph) == ("graph(a: float32[3]) {\n  test_printing_nothing a\n  return a\n}")
    parsed = parse_graph(str(graph))
    assert parsed.same_structure(graph)
    assert parsed.effects == {"noise"}


def test_long_lists_of_inputs_stand_one_on_a_line():
    graph = stage(lambda *xs: [xs[0]], [VECTOR] * 30).graph
    assert str(graph).startswith("graph(\n  a: float32[3],\n  b: float32[3],\n")
    assert parse_graph(str(graph)).same_structure(graph)


def test_sources_are_comments_that_the_parser_skips():
    graph = example()
    text = format_graph(graph, sources=True)
    assert f"# {__file__}:" in text
    assert parse_graph(text).same_structure(graph)


def test_names_skip_the_words_that_mean_something_else():
    def program(x):
        for _ in range(8000):
            x = sin(x)
        return [x]

    graph = stage(program, [VECTOR]).graph
    names = {line.split(":")[0].strip() for line in str(graph).splitlines()}
    assert "zz" in names and "aaa" in names
    assert not names & {"inf", "nan"}
    assert parse_graph(str(graph)).same_structure(graph)


@settings(derandomize=True, max_examples=150, deadline=None, database=None)
@given(graphs())
def test_every_program_reads_back(graph):
    assert parse_graph(str(graph)).same_structure(graph)
    assert str(parse_graph(str(graph))) == str(graph)


ERRORS = {
    "": "line 1, column 1: expected 'graph' at the start of a graph, found the end of the text",
    "graph(a: float32[3]) {\n  b float32[3] = sin a\n  return b\n}": (
        "line 2, column 3: expected a primitive, but none is called 'b'"
    ),
    "graph(a: float32[3]) {\n  b: float32[3] = sin c\n  return b\n}": (
        "line 2, column 23: expected a variable, but 'c' is not defined before\n"
        "    b: float32[3] = sin c\n"
        "                        ^"
    ),
    "graph(a: float32[3]) {\n  b: float32[3] = sine a\n  return b\n}": "did you mean 'sin'?",
    "graph(a: float33[3]) {\n  return a\n}": (
        "line 1, column 10: expected a dtype, but none is called 'float33'; did you mean 'float3"
    ),
    "graph(a: float32[3]) {\n  a: float32[3] = sin a\n  return a\n}": "'a' is defined already",
    "graph(a: float32[3]) {\n  return a\n": "line 2, column 11: expected '}' after the outputs",
    "graph(a: float32[3]) {\n  return a\n}\nx": "line 4, column 1: expected the end of the text",
    "graph(a: float32[3]) { b: float32[3] = sin a\n return b}": "expected a new line before",
    "graph(a: float32[3]) {\n  b: float32[3] = sin[x=] a\n  return b\n}": "expected a value",
    "graph(a: float32[3]) {\n  b: float32[3] = sin[x=<function f>] a\n  return b\n}": (
        "line 2, column 25: <function f> is a function: a graph that holds one cannot be read"
    ),
    "graph(a: float32[3]) {\n  b: float32[] = reduce_sum[axes=Foo(x=1)] a\n  return b\n}": (
        "expected a class of params (one decorated with param_class), but none is called 'Foo'"
    ),
    "graph(a: float32[3]) {\n  b: float32[3] = sin 'text'\n  return b\n}": (
        "expected a variable, a number, or the end of the line"
    ),
    "graph(a: float32[3]) {\n  b: float32[3] = call[graph=@1] a\n  return b\n}": (
        "no graph is labelled @1 before this place"
    ),
    "graph(nan: float32[3]) {\n  return nan\n}": "expected the name of a variable, found 'nan'",
    "graph(graph: float32[3]) {\n  return a\n}": "'graph' is not a name for a variable",
    "graph(a: float32[3]) {\n  b: float32[3] = call a\n  return b\n}": (
        "call does not take these params"
    ),
    "graph(a: float32[3] $) {\n  return a\n}": "line 1, column 21: expected ',' or ')'",
}


@pytest.mark.parametrize("text", ERRORS)
def test_syntax_errors_say_where_and_what_was_expected(text):
    with pytest.raises(errors.GraphSyntaxError) as caught:
        parse_graph(text)
    assert ERRORS[text] in str(caught.value)


def test_functions_print_but_do_not_read_back():
    graph = with_params(rule=lambda x: x)
    assert "rule=<function lambda>" in str(graph)
    with pytest.raises(errors.GraphSyntaxError, match="is a function"):
        parse_graph(str(graph))
    with pytest.raises(errors.GraphError, match="has no fingerprint"):
        fingerprint(graph)


def test_the_number_and_types_of_constants_are_checked():
    with pytest.raises(errors.ArgumentError, match="was given 2 constants, the text has 1"):
        parse_graph(EXAMPLE, [np.zeros(3, F32), 1.0])
    with pytest.raises(errors.GraphSyntaxError, match="but the text has more"):
        parse_graph(EXAMPLE, [])
    with pytest.raises(errors.GraphSyntaxError, match="constant 0 has type float32"):
        parse_graph(EXAMPLE, [np.zeros(3)])


def test_classes_of_params_are_frozen_dataclasses_of_different_names():
    with pytest.raises(errors.GraphError, match="not a frozen dataclass"):
        param_class(int)
    with pytest.raises(errors.GraphError, match="called Numbers already"):
        param_class(dataclasses.make_dataclass("Numbers", ["x"], frozen=True))


def test_fingerprints_differ_by_program_and_by_constants():
    graph = example()
    assert fingerprint(graph) == fingerprint(graph)
    text = str(graph)
    made = {
        fingerprint(parse_graph(text, [np.array(values, F32)]))
        for values in ([1, 2, 3], [1, 2, 4], [0.0, 0, 0], [-0.0, 0, 0])
    }
    assert len(made) == 4 and fingerprint(graph) in made
    with pytest.raises(errors.GraphError, match="without its constants' values"):
        fingerprint(parse_graph(text))


PROGRAM = """
import numpy as np
from arrayx.core.aval import Aval
from arrayx.core.printing import fingerprint
from arrayx.primitives.arithmetic import add, mul
from arrayx.primitives.trigonometric import sin
from arrayx.transforms.stage import stage
aval = Aval((2,), np.dtype("float32"), False, frozenset({"i", "j", "k"}))
table = np.array([1, 2], "float32")
print(fingerprint(stage(lambda x: [add(mul(sin(x), 0.1), table)], [aval]).graph))
"""


def test_fingerprints_are_the_same_in_every_process():
    answers = set()
    for seed in ("0", "1", "12345"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", PROGRAM]
        answers.add(subprocess.check_output(command, env=environment, text=True))
    assert len(answers) == 1
    assert len(answers.pop().strip()) == 64


def test_the_work_of_printing_and_parsing_is_linear():
    def program(x, n):
        for _ in range(n // 2):
            x = add(sin(x), 1.5)
        return [x]

    def work(n):
        graph = stage(lambda x: program(x, n), [VECTOR]).graph
        assert parse_graph(str(graph)).same_structure(graph)
        return calls_of(lambda: parse_graph(str(graph)))

    assert work(10_000) < 6 * work(2_000)


def test_a_drawing_has_every_equation_and_a_cluster_for_sub_graphs():
    text = to_dot(example())
    assert text.startswith("digraph {") and text.endswith("}\n")
    assert text.count("shape=box") == 7
    assert "subgraph cluster_" in text and 'label="mul 2.0"' in text
    assert text.count("{") == text.count("}")


def test_a_fresh_process_knows_every_primitive_of_a_text():
    graph = stage(lambda x: list(threefry2x32(x, x, x, x)), [Aval((2,), np.dtype("uint32"))]).graph
    program = f"import arrayx as ax; print(ax.parse_graph({str(graph)!r}))"
    printed = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert printed.strip() == str(graph)
