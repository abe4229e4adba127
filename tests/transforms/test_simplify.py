"""Simplified graphs are smaller and compute the same, to the last bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrayx import dtypes
from arrayx.backend import dispatch  # noqa: F401  (evaluation needs it)
from arrayx.conformance.programs import arguments_of, graphs, host_values, same_elements
from arrayx.conformance.work import calls_of
from arrayx.control.call import call
from arrayx.core.aval import Aval
from arrayx.core.checking import check_graph
from arrayx.core.graph import Graph
from arrayx.core.primitive import Primitive
from arrayx.primitives.arithmetic import absorb_mul, add, eq, ge, mul, ne, neg, select, sub
from arrayx.primitives.axes import broadcast_in_dim, reduce_sum, reshape, rev, transpose
from arrayx.primitives.bitwise import bitwise_and, bitwise_not, bitwise_or
from arrayx.primitives.conversion import convert
from arrayx.primitives.creation import fill, iota
from arrayx.primitives.numeric import div
from arrayx.primitives.numeric import max as maximum
from arrayx.primitives.numeric import min as minimum
from arrayx.primitives.reduction import reduce_max
from arrayx.primitives.slicing import slice
from arrayx.primitives.trigonometric import cos, sin
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.simplify import dead_code_removed, simplify
from arrayx.transforms.stage import stage

F32, F64, I32, BOOL = (np.dtype(n) for n in ("float32", "float64", "int32", "bool"))
FLOATS = Aval((2, 3), F32)
INTEGERS = Aval((2, 3), I32)
TRUTHS = Aval((2, 3), BOOL)
COMPLEXES = Aval((2, 3), np.dtype("complex64"))


class Noise(Primitive):
    """Gives its operand, with an effect."""

    name = "test_simplify_noise"

    def type_rule(self, x, *, number):
        return x

    def effects(self, *, number):
        return frozenset({"noise"})


class Applied(Primitive):
    """Holds a function."""

    name = "test_simplify_applied"
    callable_params = True

    def type_rule(self, x, *, function):
        return x


noise, applied = Noise(), Applied()


def full(value, dtype=F32, shape=(2, 3)):
    return fill(shape, dtype, value)


def repeated(x, shape=(4, 2, 3), dims=(1, 2)):
    return broadcast_in_dim(x, shape=shape, dims=dims)


def text_of(function, *avals) -> str:
    """What is left of a function: the lines between the first and the last."""
    graph = simplify(stage(lambda *xs: [function(*xs)], avals).graph)
    check_graph(graph)
    lines = [line.strip() for line in str(graph).splitlines()[1:-1]]
    return "; ".join(lines)


NAN = math.nan
# The function, the types of its operands, and what is left of it.
EXACT = {
    "x * 1": (lambda x: mul(x, 1.0), FLOATS, "return a"),
    "1 * x": (lambda x: mul(1.0, x), FLOATS, "return a"),
    "x * ones": (lambda x: mul(x, full(1.0)), FLOATS, "return a"),
    "integer x * 1": (lambda x: mul(x, 1), INTEGERS, "return a"),
    "integer x * 0": (lambda x: add(mul(x, 0), 2), INTEGERS, "full 2"),
    "x + -0.0": (lambda x: add(-0.0, x), FLOATS, "return a"),
    "x - 0.0": (lambda x: sub(x, 0.0), FLOATS, "return a"),
    "integer x + 0": (lambda x: add(x, 0), INTEGERS, "return a"),
    "integer x - x": (lambda x: sub(x, x), INTEGERS, "full 0"),
    "x / 1": (lambda x: div(x, 1.0), FLOATS, "return a"),
    "absorbing x * 0": (lambda x: absorb_mul(x, 0.0), FLOATS, "full 0.0"),
    "absorbing x * 2": (
        lambda x: absorb_mul(x, 2.0), FLOATS, "b: float32[2,3] = mul a 2.0; return b",
    ),
    "absorbing x * 1": (lambda x: absorb_mul(x, 1.0), FLOATS, "return a"),
    "-(-x)": (lambda x: neg(neg(x)), FLOATS, "return a"),
    "not not x": (lambda x: bitwise_not(bitwise_not(x)), TRUTHS, "return a"),
    "max(x, x)": (lambda x: maximum(x, x), FLOATS, "return a"),
    "min(x, x)": (lambda x: minimum(x, x), FLOATS, "return a"),
    "x and True": (lambda x: bitwise_and(x, full(True, BOOL)), TRUTHS, "return a"),
    "x and False": (lambda x: bitwise_and(x, full(False, BOOL)), TRUTHS, "full False"),
    "x or True": (lambda x: bitwise_or(full(True, BOOL), x), TRUTHS, "full True"),
    "integer x == x": (lambda x: eq(x, x), INTEGERS, "full True"),
    "integer x != x": (lambda x: ne(x, x), INTEGERS, "full False"),
    "convert to the same": (lambda x: convert(x, dtype=F32, weak_type=False), FLOATS, "return a"),
    "transposed twice": (
        lambda x: transpose(transpose(x, perm=(1, 0)), perm=(1, 0)), FLOATS, "return a",
    ),
    "not transposed": (lambda x: transpose(x, perm=(0, 1)), FLOATS, "return a"),
    "turned around twice": (lambda x: rev(rev(x, axes=(1,)), axes=(1,)), FLOATS, "return a"),
    "reshaped and back": (
        lambda x: reshape(reshape(x, shape=(6,)), shape=(2, 3)), FLOATS, "return a",
    ),
    "reshaped twice": (
        lambda x: reshape(reshape(x, shape=(6,)), shape=(3, 2)),
        FLOATS,
        "b: float32[3,2] = reshape[shape=(3, 2)] a; return b",
    ),
    "broadcast twice": (
        lambda x: broadcast_in_dim(
            broadcast_in_dim(x, shape=(4, 2, 3), dims=(1, 2)), shape=(4, 5, 2, 3), dims=(0, 2, 3)
        ),
        FLOATS,
        "b: float32[4,5,2,3] = broadcast_in_dim[dims=(2, 3), shape=(4, 5, 2, 3)] a; return b",
    ),
    "broadcast to the same": (
        lambda x: broadcast_in_dim(x, shape=(2, 3), dims=(0, 1)), FLOATS, "return a",
    ),
    "computed before it is repeated": (
        lambda x: sin(mul(repeated(x), 2.0)),
        FLOATS,
        "b: float32[2,3] = mul a 2.0; c: float32[2,3] = sin b; "
        "d: float32[4,2,3] = broadcast_in_dim[dims=(1, 2), shape=(4, 2, 3)] c; return d",
    ),
    "computed of what is repeated alike": (
        lambda x: select(ge(repeated(x), 0.0), repeated(x), repeated(sin(x))),
        FLOATS,
        "b: bool[2,3] = ge a 0.0; c: float32[2,3] = sin a; d: float32[2,3] = select b a c; "
        "e: float32[4,2,3] = broadcast_in_dim[dims=(1, 2), shape=(4, 2, 3)] d; return e",
    ),
    "all of it": (
        lambda x: slice(x, starts=(0, 0), limits=(2, 3), strides=(1, 1)), FLOATS, "return a",
    ),
    "integers summed over nothing": (lambda x: reduce_sum(x, axes=()), INTEGERS, "return a"),
    "the greatest over nothing": (lambda x: reduce_max(x, axes=()), FLOATS, "return a"),
    "select of the same": (lambda x: select(eq(x, 0.0), x, x), FLOATS, "return a"),
    "select by True": (lambda x: select(full(True, BOOL), x, sin(x)), FLOATS, "return a"),
    "select by False": (lambda x: select(full(False, BOOL), x, 1.0), FLOATS, "full 1.0"),
    "select of equal constants": (
        lambda x: select(eq(x, 0.0), full(0.1), 0.1), FLOATS, f"full {float(np.float32(0.1))}",
    ),
    "the same twice": (
        lambda x: add(sin(x), sin(x)),
        FLOATS,
        "b: float32[2,3] = sin a; c: float32[2,3] = add b b; return c",
    ),
    "constants as literals": (
        lambda x: add(x, full(0.5)), FLOATS, "b: float32[2,3] = add a 0.5; return b",
    ),
    "folded": (lambda x: add(full(0.5), mul(full(2.0), full(3.0))), FLOATS, "full 6.5"),
    "folded in the dtype": (
        lambda x: add(full(1.0), full(1e-9)), FLOATS, "full 1.0",
    ),
    "folded with wrapping": (
        lambda x: add(full(127, np.dtype("int8")), full(1, np.dtype("int8"))), FLOATS, "full -128",
    ),
    "folded to nan": (lambda x: sub(full(math.inf), full(math.inf)), FLOATS, "full nan"),
    "a comparison of constants": (lambda x: ge(full(NAN), full(0.0)), FLOATS, "full False"),
    "moved constants": (
        lambda x: rev(transpose(reshape(full(2.0), shape=(3, 2)), perm=(1, 0)), axes=(0,)),
        FLOATS,
        "full 2.0",
    ),
    "a broadcast constant": (
        lambda x: broadcast_in_dim(full(2.0, shape=()), shape=(2, 3), dims=()), FLOATS, "full 2.0",
    ),
    "a converted constant": (
        lambda x: convert(full(2.5), dtype=I32, weak_type=False), INTEGERS, None,
    ),
    "an exactly converted constant": (
        lambda x: convert(full(2.0), dtype=I32, weak_type=False), INTEGERS, "full 2",
    ),
    "the sum of zeros": (
        lambda x: reduce_sum(full(0.0), axes=(0,)), FLOATS, "full 0.0",
    ),
    "the greatest of equals": (lambda x: reduce_max(full(2.0), axes=(0,)), FLOATS, "full 2.0"),
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_what_is_exact_is_simplified(name):
    function, aval, wanted = EXACT[name]
    text = text_of(function, aval)
    if wanted is None:
        assert "full" in text and "convert" in text
    elif wanted.startswith("full "):
        assert text.count("=") > 1 and text.startswith("b: ") and text.endswith("; return b")
        assert f"value={wanted[5:]}," in text and text.count(";") == 1
    else:
        assert text == wanted


# Each of these would change a bit somewhere.
INEXACT = {
    "x + 0.0 turns -0.0 around": (lambda x: add(x, 0.0), FLOATS),
    "x - -0.0 turns -0.0 around": (lambda x: sub(x, -0.0), FLOATS),
    "x * 0.0 is nan for infinities": (lambda x: mul(x, 0.0), FLOATS),
    "x - x is nan for nan": (lambda x: sub(x, x), FLOATS),
    "nan differs from itself": (lambda x: eq(x, x), FLOATS),
    "complex products mix infinities": (lambda x: mul(x, 1 + 0j), COMPLEXES),
    "complex sums have signed zeros": (lambda x: add(x, 0j), COMPLEXES),
    "x * inf may be nan": (lambda x: absorb_mul(x, math.inf), FLOATS),
    "a weak type is another type": (lambda x: convert(x, dtype=F32, weak_type=True), FLOATS),
    "sums of others than zero are rounded": (lambda x: reduce_sum(full(0.1), axes=(0,)), FLOATS),
    "sums of -0.0 may be 0.0": (lambda x: reduce_sum(full(-0.0), axes=(0,)), FLOATS),
    "a sum over nothing turns -0.0 around": (lambda x: reduce_sum(x, axes=()), FLOATS),
    "sines differ in the last bit": (lambda x: sin(full(0.1)), FLOATS),
    "zeros of both signs are two values": (
        lambda x: select(eq(x, 1.0), full(0.0), -0.0), FLOATS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", INEXACT)
def test_what_is_not_exact_is_left_alone(name):
    function, aval = INEXACT[name]
    primitive = stage(lambda x: [function(x)], [aval]).graph.equations[-1].primitive
    assert f"= {primitive.name}" in text_of(function, aval)


def test_literals_that_compare_equal_are_not_merged():
    def program(x):
        return [add(x, 0.0), sub(x, -0.0), add(x, 0.0), mul(x, 0.0), mul(x, -0.0)]

    graph = simplify(stage(program, [FLOATS]).graph)
    assert [e.primitive.name for e in graph.equations] == ["add", "sub", "mul", "mul"]
    assert graph.outputs[0] is graph.outputs[2]

    def constants(x):
        return [full(0.0), full(-0.0), full(NAN), full(NAN), full(0, I32), full(False, BOOL)]

    assert len(simplify(stage(constants, [FLOATS]).graph).equations) == 5


def test_effects_are_neither_merged_nor_removed_nor_reordered():
    def program(x):
        y = sin(x)
        noise(y, number=1)
        noise(y, number=1)
        noise(sin(x), number=2)
        cos(x)
        return [x]

    graph = simplify(stage(program, [FLOATS]).graph)
    assert [e.params.get("number") for e in graph.equations] == [None, 1, 1, 2]
    assert graph.effects == {"noise"}


def test_equations_that_hold_functions_are_not_merged():
    def program(x):
        return [applied(x, function=len), applied(x, function=len)]

    assert len(simplify(stage(program, [FLOATS]).graph).equations) == 2


def test_what_is_repeated_differently_is_computed_after_it():
    def program(x, y):
        rows, columns = (repeated(v, (3, 3), (i,)) for i, v in enumerate((x, y)))
        thin = repeated(reshape(x, shape=(3, 1)), (3, 3), (0, 1))
        whole = transpose(rows, perm=(1, 0))
        return [add(rows, columns), add(rows, thin), add(rows, whole), reduce_sum(rows, axes=(1,))]

    row = Aval((3,), F32)
    graph = simplify(stage(program, [row, row]).graph)
    added = [e.outputs[0].aval.shape for e in graph.equations if e.primitive is add]
    assert added == [(3, 3)] * 3


def test_equal_results_are_found_below_repetitions():
    graph = stage(lambda x: [sin(repeated(x)), sin(x), sin(repeated(x, (5, 2, 3)))], [FLOATS]).graph
    names = [e.primitive.name for e in simplify(graph).equations]
    assert sorted(names) == ["broadcast_in_dim", "broadcast_in_dim", "sin"]


def test_the_order_of_effects_holds_below_repetitions():
    graph = stage(lambda x: [noise(sin(noise(repeated(x), number=1)), number=2)], [FLOATS]).graph
    assert [e.primitive.name for e in simplify(graph).equations].index("sin") == 2


def test_sources_are_kept():
    graph = simplify(stage(lambda x: [absorb_mul(sin(x), 2.0)], [FLOATS]).graph)
    assert [e.source.file for e in graph.equations] == [__file__, __file__]


def test_unused_constants_and_equations_go():
    table = np.zeros((2, 3), F32)
    graph = stage(lambda x: [add(x, table), sin(x)][1:], [FLOATS]).graph
    assert graph.constants
    small = dead_code_removed(graph)
    assert not small.constants and not small.constant_values and len(small.equations) == 1


def test_sub_graphs_are_simplified_too():
    inner = stage(lambda x: [neg(neg(sin(x)))], [FLOATS]).graph
    graph = simplify(stage(lambda x: call(x, graph=inner, name="f"), [FLOATS]).graph)
    assert len(graph.equations[0].params["graph"].equations) == 1


def test_a_simple_graph_is_itself_and_remembers_it():
    simple = stage(lambda x: [sin(x)], [FLOATS]).graph
    assert simplify(simple) is simple
    graph = stage(lambda x: [neg(neg(sin(x)))], [FLOATS]).graph
    assert simplify(graph) is simplify(graph) is simplify(simplify(graph))


def test_constants_that_a_loop_counts_are_no_scalars():
    graph = simplify(
        stage(lambda x: [add(x, iota(shape=(2, 3), dtype=F32, axis=0))], [FLOATS]).graph
    )
    assert [e.primitive.name for e in graph.equations] == ["iota", "add"]


def run(graph: Graph, arguments) -> list[np.ndarray]:
    return host_values(evaluate(graph, arguments))


# Rows without nan and with it: kernels may take another way where there is one.
SPECIAL = {
    FLOATS: [
        [[-0.0, 0.0, 1.5], [math.inf, -math.inf, -2.0]],
        [[-0.0, 0.0, NAN], [math.inf, 1, -1]],
    ],
    INTEGERS: [[[0, 1, -1], [2**31 - 1, -(2**31), 7]]],
    TRUTHS: [[[True, False, True], [False, False, True]]],
    COMPLEXES: [[[complex(-0.0, 0.0), complex(0.0, -0.0), complex(math.inf, NAN)], [1j, 1, -2]]],
}


# `absorb_mul` is 0 where a factor is: of which sign is not said, and kernels differ in it.
ZERO_WITHOUT_SIGN = frozenset({"absorbing x * 0"})


@pytest.mark.parametrize("name", [*EXACT, *INEXACT])
def test_simplified_functions_keep_special_values(name):
    function, aval = (EXACT.get(name) or INEXACT[name])[:2]
    graph = stage(lambda x: [function(x)], [aval]).graph
    for elements in SPECIAL[aval]:
        argument = [np.array(elements, aval.dtype)]
        (before,), (after,) = run(graph, argument), run(simplify(graph), argument)
        if name in ZERO_WITHOUT_SIGN:
            assert np.array_equal(before, after, equal_nan=True), f"{before} became {after}"
        else:
            assert same_elements(before, after), f"{before} became {after}"


@settings(derandomize=True, max_examples=200, deadline=None, database=None)
@given(st.data())
def test_every_program_computes_the_same_when_simplified(data):
    graph = data.draw(graphs())
    arguments = data.draw(arguments_of(graph))
    simpler = simplify(graph)
    check_graph(simpler)
    for before, after in zip(run(graph, arguments), run(simpler, arguments), strict=True):
        assert same_elements(before, after), f"{before} became {after}\n{graph}\n{simpler}"


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int64", "float16", "bfloat16", "float32", "float64"]
)
def test_folded_arithmetic_is_that_of_the_backend(dtype):
    dtype = dtypes.as_dtype(dtype)
    values = [1, 3, 7, 100] if dtypes.is_integer(dtype) else [0.0, -0.0, 0.1, 3.7, 1e30, math.inf]

    def program(x):
        made = []
        for a in values:
            for b in values:
                x, y = (fill((), dtype, v) for v in (a, b))
                made += [f(x, y) for f in (add, sub, mul, eq, ge)] + [neg(x)]
        return made

    graph = stage(program, [Aval((), dtype)]).graph
    simpler = simplify(graph)
    assert {e.primitive.name for e in simpler.equations} == {"full"}
    argument = [np.zeros((), dtype)]
    for before, after in zip(run(graph, argument), run(simpler, argument), strict=True):
        assert same_elements(before, after)


@pytest.mark.parametrize("shape", [(2, 3), (4, 2, 3)])
def test_the_work_is_linear(shape):
    def program(x, n):
        x = repeated(x, shape, (0, 1) if len(shape) == 2 else (1, 2))
        for _ in range(n // 4):
            x = mul(neg(neg(add(sin(x), full(1.5, shape=shape)))), 1.0)
        return [x]

    def work(n):
        graph = stage(lambda x: program(x, n), [FLOATS]).graph
        return calls_of(lambda: simplify(graph))

    assert work(10_000) < 6 * work(2_000)
