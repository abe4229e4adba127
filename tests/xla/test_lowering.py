# ruff: noqa: E501 - programs are compared as they are written
"""The StableHLO text that programs become."""

from __future__ import annotations

import re

import numpy as np
import pytest

from arrayx.conformance.work import calls_of

pytest.importorskip("jaxlib", reason="the xla backend needs jaxlib: pip install 'arrayx[xla]'")

import arrayx as ax
import arrayx.numpy as anp
from arrayx.backend.legalise import legalise
from arrayx.backend.registry import registry
from arrayx.control.cond import cond
from arrayx.primitives import arithmetic, axes, gather, numeric, reduction, sorting
from arrayx.transforms.simplify import simplify
from arrayx.transforms.stage import stage
from arrayx_xla.emitter import MOST_INLINE_BYTES
from arrayx_xla.lower import lower, supports

F32 = np.dtype(np.float32)


@pytest.fixture(scope="module")
def backend():
    return registry.get("xla")


def graph_of(backend, function, *arrays):
    """The legalised graph of a flat function."""
    avals = [ax.typeof(np.asarray(a)) for a in arrays]
    return simplify(legalise(stage(lambda *xs: [function(*xs)], avals).graph, backend))


def text_of(backend, function, *arrays, **options):
    return lower(graph_of(backend, function, *arrays), **options).text


VECTOR = np.zeros(3, np.float32)
PROGRAMS = {
    "a chain with a literal": (
        lambda x: arithmetic.mul(arithmetic.add(x, 1.0), x),
        (VECTOR,),
        """\
module @arrayx {
  func.func public @main(%arg0: tensor<3xf32>) -> (tensor<3xf32>) {
    %c = stablehlo.constant dense<1.0> : tensor<3xf32>
    %add = stablehlo.add %arg0, %c : tensor<3xf32>
    %multiply = stablehlo.multiply %add, %arg0 : tensor<3xf32>
    return %multiply : tensor<3xf32>
  }
}
""",
    ),
    "a product in which zeros absorb": (
        arithmetic.absorb_mul,
        (VECTOR, VECTOR),
        """\
module @absorb_mul {
  func.func public @main(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>) -> (tensor<3xf32>) {
    %multiply = stablehlo.multiply %arg0, %arg1 : tensor<3xf32>
    %c = stablehlo.constant dense<0.0> : tensor<3xf32>
    %compare = stablehlo.compare EQ, %arg0, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %compare_1 = stablehlo.compare EQ, %arg1, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %or = stablehlo.or %compare, %compare_1 : tensor<3xi1>
    %select = stablehlo.select %or, %c, %multiply : tensor<3xi1>, tensor<3xf32>
    return %select : tensor<3xf32>
  }
}
""",
    ),
    "a sum of narrow floats": (
        lambda x: axes.reduce_sum(x, axes=(0,)),
        (VECTOR.astype(np.float16),),
        """\
module @reduce_sum {
  func.func public @main(%arg0: tensor<3xf16>) -> (tensor<f16>) {
    %convert = stablehlo.convert %arg0 : (tensor<3xf16>) -> tensor<3xf32>
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %reduce = stablehlo.reduce(%convert init: %c) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %convert_1 = stablehlo.convert %reduce : (tensor<f32>) -> tensor<f16>
    return %convert_1 : tensor<f16>
  }
}
""",
    ),
    "a matrix product": (
        lambda x, y: anp.matmul(x, y),
        (np.zeros((2, 3), np.float32), np.zeros((3, 4), np.float32)),
        """\
module @dot_general {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3x4xf32>) -> (tensor<2x4xf32>) {
    %dot_general = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    return %dot_general : tensor<2x4xf32>
  }
}
""",
    ),
    "a sort": (
        lambda x: sorting.sort(x, axis=0, num_keys=1)[0],
        (VECTOR,),
        """\
module @sort {
  func.func public @main(%arg0: tensor<3xf32>) -> (tensor<3xf32>) {
    %sort = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      %t0 = stablehlo.compare LT, %a0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %t1 = stablehlo.compare EQ, %a0, %a0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %t2 = stablehlo.compare NE, %b0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %t3 = stablehlo.and %t1, %t2 : tensor<i1>
      %t4 = stablehlo.or %t0, %t3 : tensor<i1>
      stablehlo.return %t4 : tensor<i1>
    }) : (tensor<3xf32>) -> (tensor<3xf32>)
    return %sort : tensor<3xf32>
  }
}
""",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_written_as_expected(backend, name):
    function, arrays, expected = PROGRAMS[name]
    assert text_of(backend, function, *arrays) == expected


def test_the_same_graph_gives_the_same_text(backend):
    def function(x):
        return anp.sum(anp.where(x > 0, anp.sin(x), anp.exp(x)) ** 3)

    texts = {text_of(backend, function, VECTOR) for _ in range(3)}
    assert len(texts) == 1


def test_a_function_called_twice_is_written_once(backend):
    @ax.jit
    def inner(x):
        return anp.sin(x) * 2

    text = text_of(backend, lambda x: inner(inner(x)), VECTOR)
    assert text.count("func.func private @inner(") == 1
    assert text.count("func.call @inner(") == 2


def test_functions_of_one_name_are_told_apart(backend):
    def made(factor):
        def inner(x):
            return x * factor

        return ax.jit(inner)

    text = text_of(backend, lambda x: made(2.0)(made(3.0)(x)), VECTOR)
    assert "@inner(" in text
    assert "@inner_1(" in text


def test_a_module_is_called_by_its_one_function(backend):
    def spectral_norm(x):
        return anp.sin(x) * 2

    inner = ax.jit(spectral_norm)
    assert text_of(backend, lambda x: inner(x), VECTOR).startswith("module @spectral_norm {")
    assert text_of(backend, spectral_norm, VECTOR).startswith("module @arrayx {")
    anonymous = ax.jit(lambda x: anp.sin(x) * 2)
    assert text_of(backend, lambda x: anonymous(x), VECTOR).startswith("module @lambda {")


def test_short_constants_stand_in_the_text_and_long_ones_are_arguments(backend):
    short = np.arange(MOST_INLINE_BYTES // 4, dtype=np.float32)
    long = np.arange(MOST_INLINE_BYTES // 4 + 1, dtype=np.float32)
    for array, held in ((short, 0), (long, 1)):
        constant = ax.device_put(array, "xla")
        lowered = lower(graph_of(backend, lambda x, c=constant: arithmetic.add(x, c), array))
        assert len(lowered.arrays) == held
        assert ("%held0: " in lowered.text) == bool(held)


def test_long_constants_of_an_inner_function_reach_it_as_arguments(backend):
    constant = ax.device_put(np.arange(1000, dtype=np.float32), "xla")
    inner = ax.jit(lambda x: x + constant)

    def function(x):
        return inner(inner(x)) * constant

    lowered = lower(graph_of(backend, function, np.zeros(1000, np.float32)))
    assert len(lowered.arrays) == 1
    x = ax.device_put(np.ones(1000, np.float32), "xla")
    wanted = (1 + 2 * np.arange(1000.0)) * np.arange(1000.0)
    np.testing.assert_allclose(ax.jit(function)(x), wanted)


def test_branches_use_the_values_around_them(backend):
    up = stage(lambda x, y: [arithmetic.add(x, y)], [ax.typeof(VECTOR)] * 2).graph
    down = stage(lambda x, y: [arithmetic.sub(x, y)], [ax.typeof(VECTOR)] * 2).graph

    def function(i, x):
        return cond(i, x, arithmetic.mul(x, 2.0), branches=(up, down, up))[0]

    text = text_of(backend, function, np.int32(0), VECTOR)
    assert text.count('"stablehlo.case"') == 1
    x = ax.device_put(np.ones(3, np.float32), "xla")
    for i, wanted in ((-5, 3.0), (0, 3.0), (1, -1.0), (2, 3.0), (9, 3.0)):
        result = ax.jit(function)(ax.device_put(np.int32(i), "xla"), x)
        np.testing.assert_array_equal(result, np.full(3, wanted))


def test_donated_inputs_are_marked(backend):
    text = text_of(backend, arithmetic.add, VECTOR, VECTOR, donated=(1,))
    assert "%arg1: tensor<3xf32> {jax.buffer_donor = true}" in text
    assert "%arg0: tensor<3xf32>," in text


def test_operations_carry_the_users_line_where_asked(backend):
    text = text_of(backend, lambda x: anp.sin(x) * 2, VECTOR, locations=True)
    assert re.search(r'sine .* loc\("sin"\(".*test_lowering\.py":\d+:0\)\)', text)
    backend.client.compile(text, [ax.typeof(VECTOR)])


def test_what_has_no_rule_is_refused_with_a_sentence(backend):
    graph = stage(
        lambda x: [reduction.argmax(x, axis=0, dtype=np.dtype("int32"))], [ax.typeof(VECTOR)]
    ).graph
    (equation,) = graph.equations
    assert supports(equation, "cpu") == "it has no lowering to StableHLO for 'argmax'"
    (equation,) = stage(lambda x: [numeric.abs(x)], [ax.typeof(VECTOR)]).graph.equations
    assert supports(equation, "cpu") is True


def test_a_gather_is_refused_in_the_mode_that_stablehlo_lacks():
    dims, sizes = gather.points((3,), (0,), 1)
    for mode, answer in (("clip", True), ("promise", True), ("fill", "fills nothing")):
        (equation,) = stage(
            lambda x, i, mode=mode: [
                gather.gather(x, i, dims=dims, sizes=sizes, mode=mode, fill=None)
            ],
            [ax.typeof(VECTOR), ax.typeof(np.zeros((2, 1), np.int32))],
        ).graph.equations
        found = supports(equation, "cpu")
        assert found is True if answer is True else answer in found


def test_results_without_elements_are_constants(backend):
    empty = np.zeros((0, 3), np.float32)
    text = text_of(backend, lambda x: anp.sin(x) @ anp.cos(x).T, empty)
    assert "stablehlo.constant dense<> : tensor<0x0xf32>" in text


def test_lowering_grows_linearly_with_the_program(backend):
    def work(count):
        def function(x):
            for _ in range(count):
                x = arithmetic.mul(arithmetic.add(x, x), x)
            return x

        graph = graph_of(backend, function, VECTOR)
        return calls_of(lambda: lower(graph))

    assert work(4000) < 5 * work(1000)
