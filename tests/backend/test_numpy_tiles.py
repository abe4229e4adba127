"""Programs that run tile by tile compute what they do in one piece."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arrayx as ax
import arrayx.numpy as anp
from arrayx.backend.legalise import legalise
from arrayx.backend.registry import registry
from arrayx.conformance.programs import arguments_of, graphs, same_elements
from arrayx.core.aval import Aval
from arrayx.core.graph import Graph
from arrayx.core.quiet import quietly
from arrayx.primitives.arithmetic import absorb_mul, add, mul, select
from arrayx.primitives.axes import broadcast_in_dim, reduce_sum, reshape, transpose
from arrayx.primitives.bitwise import bitwise_not
from arrayx.primitives.complex import complex as from_parts
from arrayx.primitives.conversion import convert
from arrayx.primitives.exponential import exp, logistic
from arrayx.primitives.numeric import abs as magnitude
from arrayx.primitives.numeric import clamp, div
from arrayx.primitives.reduction import reduce_and, reduce_max, reduce_min, reduce_or, reduce_prod
from arrayx.primitives.trigonometric import sin
from arrayx.transforms.simplify import simplify
from arrayx.transforms.stage import stage
from arrayx_numpy import groups, into, tiles
from arrayx_numpy.program import Program

F32 = np.dtype("float32")
# Tiles of few rows, and nothing too small for a group or for planned memory.
TINY = {"BUDGET": 1 << 9, "LARGE": 1, "_WORTH_PLANNING": 0, "MANY": 0}
# No tile is ever full.
NEVER = {"BUDGET": 1 << 60}
MODULES = {"BUDGET": tiles, "LARGE": groups, "_WORTH_PLANNING": tiles, "MANY": into}


def compiled(graph: Graph, **constants: int) -> Program:
    """The program of a graph while these constants of the planner hold."""
    backend = registry.get("numpy")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in constants.items():
            patch.setattr(MODULES[name], name, value)
        legal = simplify(legalise(graph, backend))
        return Program(legal, backend.kernel_of, backend.devices()[0])  # type: ignore[attr-defined]


def results(program: Program, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    return [np.asarray(x) for x in quietly(program.run, arguments)]


def staged(function: Callable[..., Any], arguments: Sequence[Any]) -> Graph:
    def listed(*xs: Any) -> list[Any]:
        result = function(*xs)
        return list(result) if isinstance(result, tuple) else [result]

    return stage(listed, [Aval(x.shape, x.dtype) for x in arguments]).graph


def both(function: Callable[..., Any], *arguments: Any, at_least: int = 1) -> Any:
    """The results in tiles and in one piece; there are `at_least` so many groups."""
    graph = staged(function, arguments)
    program = compiled(graph, **TINY)
    assert program.text().count("in_tiles(") >= at_least, program.text()
    return results(program, arguments), results(compiled(graph, **NEVER), arguments)


def check_same(function: Callable[..., Any], *arguments: Any, at_least: int = 1) -> None:
    for tiled, whole in zip(*both(function, *arguments, at_least=at_least), strict=True):
        assert same_elements(tiled, whole)


def check_close(function: Callable[..., Any], *arguments: Any, at_least: int = 1) -> None:
    """For sums of floats: tiles add up in another order."""
    for tiled, whole in zip(*both(function, *arguments, at_least=at_least), strict=True):
        assert tiled.dtype == whole.dtype and tiled.shape == whole.shape
        wide = np.complex128 if whole.dtype.kind == "c" else np.float64
        tolerance = 1e-5 if whole.dtype.itemsize >= 4 else 2e-2
        np.testing.assert_allclose(tiled.astype(wide), whole.astype(wide), tolerance, tolerance)


def values(*shape: int, dtype: Any = F32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def across(x: Any, shape: tuple[int, ...], *dims: int) -> Any:
    return broadcast_in_dim(x, shape=shape, dims=dims)


def chain(x: Any) -> Any:
    return mul(sin(mul(x, 2.0)), add(x, 1.0))


SHAPES = [(512,), (1000,), (1001,), (64, 16), (63, 17), (7, 9, 11), (3, 300), (300, 3), (1, 500)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_chains_of_every_shape(shape):
    check_same(chain, values(*shape))


@pytest.mark.parametrize("height", [1, 2, 3, 10, 33, 49, 50])
def test_the_last_tile_may_be_shorter(height):
    x = values(100, 8)
    graph = staged(chain, [x])
    program = compiled(graph, **TINY | {"BUDGET": height * 96})  # three rows are live
    assert f"height={height}," in program.text()
    assert same_elements(results(program, [x])[0], results(compiled(graph, **NEVER), [x])[0])


def softmax(x: Any) -> Any:
    kept = tuple(range(x.ndim - 1))
    e = exp(add(x, mul(across(reduce_max(x, axes=(x.ndim - 1,)), x.shape, *kept), -1.0)))
    return div(e, across(reduce_sum(e, axes=(x.ndim - 1,)), x.shape, *kept))


@pytest.mark.parametrize("shape", [(64, 16), (63, 17), (5, 13, 8), (3, 2, 31, 8)], ids=str)
def test_what_is_reduced_in_a_row_is_used_in_it(shape):
    check_close(softmax, values(*shape))


def test_rows_are_taken_together_over_several_axes():
    x = values(5, 13, 800)  # five rows of 13 × 800 are too long to be handy
    assert "count=65," in compiled(staged(softmax, [x]), **TINY).text()
    check_close(softmax, x)


REPETITIONS = {
    "over rows": ((7,), (1,)),
    "along rows": ((40,), (0,)),
    "along rows, of length 1": ((40, 1), (0, 1)),
    "over rows, of length 1": ((1, 7), (0, 1)),
    "of one element": ((1, 1), (0, 1)),
    "of a scalar": ((), ()),
}


@pytest.mark.parametrize("name", REPETITIONS)
def test_every_kind_of_repetition(name):
    shape, dims = REPETITIONS[name]
    x, y = values(40, 7), np.asarray(values(*shape, seed=1))

    def function(x, y):
        wide = across(y, x.shape, *dims)
        return add(mul(x, wide), wide), select(eq_zero(wide), wide, sin(x))

    check_same(function, x, y)


def eq_zero(x: Any) -> Any:
    return bitwise_not(convert(x, dtype=np.dtype(bool), weak_type=False))


def test_repetition_in_the_middle():
    x, y, z = values(6, 5, 7), values(6, 7, seed=1), values(5, seed=2)
    check_same(
        lambda x, y, z: add(mul(x, across(y, x.shape, 0, 2)), across(z, x.shape, 1)), x, y, z
    )


def test_a_result_that_only_repeats():
    x, y = values(40, 7), values(40, seed=1)

    def function(x, y):
        column = across(sin(mul(y, 2.0)), x.shape, 0)
        return mul(column, x), column, across(y, x.shape, 0)

    check_same(function, x, y)


def test_kernels_that_take_equal_shapes_only():
    x, y = values(40, 7), values(40, seed=1)
    check_same(lambda x, y: magnitude(from_parts(sin(x), across(sin(y), x.shape, 0))), x, y)


def test_reductions_over_rows_and_more():
    x = values(33, 4, 6)

    def function(x):
        y = chain(x)
        axes = ((0,), (0, 1), (0, 2), (0, 1, 2), (1,), (2,), (1, 2))
        return tuple(reduce_sum(y, axes=a) for a in axes)

    check_close(function, x)


EXACT = {
    "max": (reduce_max, F32),
    "min": (reduce_min, F32),
    "and": (reduce_and, np.dtype(bool)),
    "or": (reduce_or, np.dtype(bool)),
    "bits, and": (reduce_and, np.dtype("int32")),
    "bits, or": (reduce_or, np.dtype("uint8")),
    "sum of integers": (reduce_sum, np.dtype("int8")),
    "product of integers": (reduce_prod, np.dtype("int16")),
    "max of 16 bits": (reduce_max, np.dtype(ml_dtypes.bfloat16)),
}


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
def test_reductions_that_do_not_round(name, axes):
    reduction, dtype = EXACT[name]
    x = values(200, 5) * 100
    x = (x > -90) if dtype.kind == "b" else x.astype(np.int64).astype(dtype)
    twice = bitwise_not if dtype.kind in "biu" else lambda x: mul(x, 2.0)
    check_same(lambda x: (reduction(twice(x), axes=axes), twice(x)), x)


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16, "float64", "complex64"])
def test_sums_of_every_dtype(dtype):
    x = values(100, 12, dtype=np.dtype(dtype))
    check_close(lambda x: (reduce_sum(chain(x), axes=(0, 1)), reduce_sum(x, axes=(1,))), x)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64", "float16", "complex128"])
def test_conversions_and_choices_of_every_dtype(dtype):
    x = values(70, 11, dtype=np.dtype("float64")) * 3
    other = np.abs(x).astype(dtype)

    def function(x, other):
        which = eq_zero(other)
        back = convert(other, dtype=F32, weak_type=False)
        return select(which, other, other), select(which, 1.0, back), select(which, x, 0.0), which

    check_same(function, x, other)


def test_zeros_absorb_in_every_tile():
    x = values(100, 8)
    x[3, 3] = x[99, 7] = 0.0
    y = values(100, seed=1)
    y[3] = np.inf
    y[99] = np.nan
    check_same(lambda x, y: absorb_mul(sin(x), across(y, x.shape, 0)), x, y)


def test_more_kernels_with_planned_memory():
    x = values(90, 9)
    check_same(lambda x: clamp(-0.5, logistic(mul(x, 3.0)), 0.7), x)
    check_same(lambda x: clamp(x, 0.25, logistic(mul(x, 3.0))), x)


@pytest.mark.parametrize("shape", [(0,), (0, 5), (5, 0)])
def test_arrays_of_no_elements_are_in_no_group(shape):
    x = values(*shape)
    assert "in_tiles(" not in compiled(staged(chain, [x]), **TINY).text()
    check_same(chain, x, at_least=0)


def test_operands_that_are_views():
    x = values(40, 60)
    check_same(chain, x[::2, ::-3])
    check_same(chain, x.T)
    check_same(chain, np.broadcast_to(x[0], (30, 60)))
    check_same(chain, values(5, 6, 70).transpose(2, 0, 1))
    check_same(lambda x, y: mul(chain(x), y), x, x)
    check_same(lambda x, y: mul(chain(x), y), x[:30], x[10:])
    check_close(softmax, np.asfortranarray(x))


def test_reshapes_that_keep_rows():
    x = values(40, 6, 4)

    def function(x):
        y = reshape(sin(x), shape=(40, 24))
        z = mul(y, across(reduce_max(y, axes=(1,)), (40, 24), 0))
        return reshape(z, shape=(40, 4, 6)), reshape(z, shape=(960,)), reshape(sin(x), shape=(960,))

    check_same(function, x)


def test_groups_stop_at_what_needs_all_rows():
    x = values(40, 40)

    def function(x):
        y = chain(x)
        z = add(y, transpose(y, perm=(1, 0)))
        total = reduce_sum(z, axes=(0, 1))
        return mul(chain(z), across(total, z.shape))

    check_close(function, x, at_least=2)


def test_results_are_never_buffers():
    x, y = values(100, 8), values(100, 8, seed=1)
    program = compiled(staged(lambda x: (chain(x), reduce_max(chain(x), axes=(1,))), [x]), **TINY)
    first = results(program, [x])
    kept = [np.array(v) for v in first]
    results(program, [y])
    for value, before in zip(first, kept, strict=True):
        assert same_elements(value, before)


def test_operands_stay_as_they_are():
    x = values(100, 8)
    before = x.copy()
    results(compiled(staged(lambda x: chain(chain(x)), [x]), **TINY), [x])
    assert same_elements(x, before)


def test_a_program_is_usable_after_an_exception():
    x = values(100, 8)
    program = compiled(staged(lambda x: (chain(x), reduce_sum(chain(x), axes=(0,))), [x]), **TINY)
    wanted = results(program, [x])
    broken = np.empty((100, 8), object)  # no ufunc takes it
    for _ in range(3):
        with pytest.raises((TypeError, ValueError, AttributeError)):
            program.run([broken])
        for got, expected in zip(results(program, [x]), wanted, strict=True):
            assert same_elements(got, expected)


def test_tiles_in_several_threads_at_once():
    inputs = [values(300, 8, seed=i) for i in range(4)]
    program = compiled(staged(lambda x: (chain(x), softmax(x)), inputs[:1]), **TINY)
    expected = [results(program, [x]) for x in inputs]
    wrong = []

    def work(i: int) -> None:
        for _ in range(20):
            got = results(program, [inputs[i]])
            if not all(map(same_elements, got, expected[i])):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_large_arrays_run_in_tiles_and_small_ones_do_not():
    def text(n: int) -> str:
        return ax.jit(chain, backend="numpy").lower(anp.ones((n, 256), "float32")).as_text()

    assert "in_tiles(" not in text(100)
    assert "def tile_0(" in text(4000) and "# " in text(4000)


@settings(derandomize=True, max_examples=300, deadline=None, database=None)
@given(st.data())
def test_random_programs_run_tiled(data):
    graph = data.draw(graphs(size=20))
    arguments = data.draw(arguments_of(graph))
    budget = data.draw(st.sampled_from([1, 16]))
    tiled = results(compiled(graph, **TINY | {"BUDGET": budget}), arguments)
    whole = results(compiled(graph, **NEVER), arguments)
    for x, y in zip(tiled, whole, strict=True):
        assert same_elements(x, y) or (x.dtype.kind != "b" and close(x, y)), (x, y)


def close(x: np.ndarray, y: np.ndarray) -> bool:
    """Equal but for the order of sums."""
    a, b = x.astype(np.float64), y.astype(np.float64)
    return (x.shape, x.dtype) == (y.shape, y.dtype) and np.allclose(
        a, b, 1e-4, 1e-4, equal_nan=True
    )
