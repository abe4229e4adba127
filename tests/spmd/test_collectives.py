"""Each collective against a model on stacked lanes in NumPy, in every way that opens its axis."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors, lax

N = 4
PAIRS = [[0, 2], [3, 1]]
UNEQUAL = [[1, 2, 0], [3]]
RING = [(i, (i + 1) % N) for i in range(N)]
NEEDS_XLA = pytest.mark.skipif(
    importlib.util.find_spec("jaxlib") is None,
    reason="the xla backend needs jaxlib: pip install 'arrayx[xla]'",
)
BACKENDS = ["numpy", pytest.param("xla", marks=NEEDS_XLA)]
MESH = ax.make_mesh((N,), ("i",))


@dataclass(frozen=True)
class Row:
    """A collective of one lane's `x`, and what it makes of all lanes, stacked along axis 0."""

    name: str
    shape: tuple[int, ...]
    function: Callable[[Any], Any]
    model: Callable[[np.ndarray], np.ndarray]
    linear: bool = True


def over(groups: Any, reduce: Any) -> Callable[[np.ndarray], np.ndarray]:
    """A reduction of each group of lanes, given to all its members."""

    def model(x: np.ndarray) -> np.ndarray:
        out = np.empty_like(x)
        for group in groups or [list(range(N))]:
            out[group] = reduce(x[group], axis=0)
        return out

    return model


def gathered(axis: int, tiled: bool = False, groups: Any = None) -> Any:
    def model(x: np.ndarray) -> np.ndarray:
        out: list[Any] = [None] * N
        for group in groups or [list(range(N))]:
            join = np.concatenate if tiled else np.stack
            for i in group:
                out[i] = join([x[j] for j in group], axis=axis)
        return np.stack(out)

    return model


def scattered(axis: int, tiled: bool = False, groups: Any = None) -> Any:
    def model(x: np.ndarray) -> np.ndarray:
        out: list[Any] = [None] * N
        for group in groups or [list(range(N))]:
            parts = np.split(x[group].sum(0), len(group), axis=axis)
            for i, part in zip(group, parts, strict=True):
                out[i] = part if tiled else part.squeeze(axis)
        return np.stack(out)

    return model


def sent(perm: Any) -> Any:
    def model(x: np.ndarray) -> np.ndarray:
        out = np.zeros_like(x)
        for i, j in perm:
            out[j] = x[i]
        return out

    return model


def exchanged(split: int, concat: int, tiled: bool = False, groups: Any = None) -> Any:
    def model(x: np.ndarray) -> np.ndarray:
        out: list[Any] = [None] * N
        for group in groups or [list(range(N))]:
            parts = [np.split(x[j], len(group), axis=split) for j in group]
            for k, i in enumerate(group):
                mine = [p[k] for p in parts]
                if tiled:
                    out[i] = np.concatenate(mine, axis=concat)
                else:
                    out[i] = np.stack([p.squeeze(split) for p in mine], axis=concat)
        return np.stack(out)

    return model


def gather_row(label: str, axis: int, **options: Any) -> Row:
    groups = options.get("axis_index_groups")
    return Row(
        f"all_gather-{label}",
        (2, 3),
        lambda x: lax.all_gather(x, "i", axis=axis, **options),
        gathered(axis, options.get("tiled", False), groups),
    )


def scatter_row(label: str, shape: tuple[int, ...], axis: int, **options: Any) -> Row:
    groups = options.get("axis_index_groups")
    return Row(
        f"psum_scatter-{label}",
        shape,
        lambda x: lax.psum_scatter(x, "i", scatter_dimension=axis, **options),
        scattered(axis, options.get("tiled", False), groups),
    )


def exchange_row(
    label: str, shape: tuple[int, ...], split: int, concat: int, **options: Any
) -> Row:
    groups = options.get("axis_index_groups")
    return Row(
        f"all_to_all-{label}",
        shape,
        lambda x: lax.all_to_all(x, "i", split, concat, **options),
        exchanged(split, concat, options.get("tiled", False), groups),
    )


ROWS = [
    Row("psum", (2, 3), lambda x: lax.psum(x, "i"), over(None, np.sum)),
    Row(
        "psum-groups",
        (3,),
        lambda x: lax.psum(x, "i", axis_index_groups=PAIRS),
        over(PAIRS, np.sum),
    ),
    Row(
        "psum-unequal",
        (3,),
        lambda x: lax.psum(x, "i", axis_index_groups=UNEQUAL),
        over(UNEQUAL, np.sum),
    ),
    Row("psum-scalar", (), lambda x: lax.psum(x, "i"), over(None, np.sum)),
    Row("pmean", (2, 3), lambda x: lax.pmean(x, "i"), over(None, np.mean)),
    Row(
        "pmean-groups",
        (3,),
        lambda x: lax.pmean(x, "i", axis_index_groups=PAIRS),
        over(PAIRS, np.mean),
    ),
    Row("pmax", (2, 3), lambda x: lax.pmax(x, "i"), over(None, np.max), linear=False),
    Row("pmin", (3,), lambda x: lax.pmin(x, "i"), over(None, np.min), linear=False),
    Row(
        "pmax-groups",
        (3,),
        lambda x: lax.pmax(x, "i", axis_index_groups=UNEQUAL),
        over(UNEQUAL, np.max),
        linear=False,
    ),
    gather_row("first", 0),
    gather_row("middle", 1),
    gather_row("last", -1),
    gather_row("tiled", 1, tiled=True),
    gather_row("groups", 1, axis_index_groups=PAIRS),
    gather_row("tiled-groups", 0, tiled=True, axis_index_groups=PAIRS),
    scatter_row("plain", (2, 4), 1),
    scatter_row("tiled", (8, 2), 0, tiled=True),
    scatter_row("groups", (2, 3), 0, axis_index_groups=PAIRS),
    scatter_row("tiled-groups", (3, 4), 1, tiled=True, axis_index_groups=PAIRS),
    Row("ppermute-ring", (2,), lambda x: lax.ppermute(x, "i", RING), sent(RING)),
    Row(
        "ppermute-some",
        (2, 2),
        lambda x: lax.ppermute(x, "i", [(0, 2), (3, 0)]),
        sent([(0, 2), (3, 0)]),
    ),
    Row("ppermute-none", (2,), lambda x: lax.ppermute(x, "i", []), sent([])),
    Row("pshuffle", (2,), lambda x: lax.pshuffle(x, "i", [2, 0, 3, 1]), lambda x: x[[2, 0, 3, 1]]),
    exchange_row("same", (4, 2), 0, 0),
    exchange_row("up", (4, 2, 3), 0, 2),
    exchange_row("down", (2, 3, 4), 2, 0),
    exchange_row("beside", (2, 4, 3), 1, 2),
    exchange_row("tiled", (8, 3), 0, 1, tiled=True),
    exchange_row("tiled-same", (8, 3), 0, 0, tiled=True),
    exchange_row("tiled-back", (3, 8), 1, 0, tiled=True),
    exchange_row("groups", (2, 3), 0, 1, axis_index_groups=PAIRS),
    exchange_row("tiled-groups", (3, 4), 1, 0, tiled=True, axis_index_groups=PAIRS),
    Row("pswapaxes", (2, 4), lambda x: lax.pswapaxes(x, "i", 1), exchanged(1, 1)),
    Row("pbroadcast", (3,), lambda x: lax.pbroadcast(x, "i", 2), lambda x: x[[2] * N]),
    Row(
        "axis_index",
        (3,),
        lambda x: x * lax.axis_index("i"),
        lambda x: x * np.arange(N).reshape(N, *[1] * (x.ndim - 1)),
    ),
    Row("pvary", (3,), lambda x: lax.pvary(x, "i"), lambda x: x),
]
EACH_ROW = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
ON_BOTH = pytest.mark.parametrize("backend", BACKENDS)


def lanes(row: Row, seed: int = 0, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(N, *row.shape)).astype(dtype)


def by_vmap(function: Any) -> Any:
    return ax.vmap(function, axis_name="i")


def by_pmap(function: Any) -> Any:
    return ax.pmap(function, "i", devices=N * ax.devices())


def by_shard_map(function: Any, **options: Any) -> Any:
    def lane(x: Any) -> Any:
        return function(x[0])[None]

    return ax.shard_map(lane, mesh=MESH, in_specs=ax.P("i"), out_specs=ax.P("i"), **options)


def by_unchecked_shard_map(function: Any) -> Any:
    return by_shard_map(function, check_vma=False)


WAYS = {
    "vmap": by_vmap,
    "jit-vmap": lambda f: ax.jit(by_vmap(f)),
    "vmap-jit": lambda f: by_vmap(ax.jit(f)),
    "pmap": by_pmap,
    "shard_map": by_shard_map,
    "jit-shard_map": lambda f: ax.jit(by_shard_map(f)),
    "unchecked": by_unchecked_shard_map,
}


def ways(*quick: str) -> Any:
    """Every way on both backends; those that are not named, such as "numpy-vmap", are slow."""
    cases = []
    for backend in ("numpy", "xla"):
        for way in WAYS:
            name = f"{backend}-{way}"
            marks = [] if name in quick else [pytest.mark.slow]
            if backend == "xla":
                marks.append(NEEDS_XLA)
            cases.append(pytest.param(way, backend, id=name, marks=marks))
    return pytest.mark.parametrize(("way", "backend"), cases)


@EACH_ROW
@ways("numpy-vmap", "numpy-vmap-jit", "numpy-shard_map", "xla-jit-vmap")
def test_a_collective_gives_what_the_model_gives(row: Row, way: str, backend: str) -> None:
    with ax.default_backend(backend):
        x = lanes(row)
        np.testing.assert_allclose(WAYS[way](row.function)(x), row.model(x), rtol=2e-6, atol=1e-6)


@EACH_ROW
def test_a_collective_of_an_axis_anywhere_in_the_operand(row: Row) -> None:
    x = lanes(row)
    for axis in range(x.ndim):
        mapped = ax.vmap(row.function, in_axes=axis, axis_name="i")
        result = mapped(np.moveaxis(x, 0, axis))
        np.testing.assert_allclose(result, row.model(x), rtol=2e-6, atol=1e-6)


@EACH_ROW
def test_a_collective_of_what_all_lanes_share(row: Row) -> None:
    x = lanes(row)[0]
    mapped = ax.vmap(row.function, in_axes=None, axis_name="i", axis_size=N)
    np.testing.assert_allclose(mapped(x), row.model(np.stack([x] * N)), rtol=2e-6, atol=1e-6)


@EACH_ROW
@pytest.mark.parametrize("way", ["vmap", "shard_map"])
def test_a_collective_moves_along_where_another_axis_is_batched(row: Row, way: str) -> None:
    x = np.stack([lanes(row, seed) for seed in range(3)])
    wanted = np.stack([row.model(part) for part in x])
    outside = ax.vmap(WAYS[way](row.function))(x)
    np.testing.assert_allclose(outside, wanted, rtol=2e-6, atol=1e-6)
    for axis in range(x.ndim - 1):
        # The other axis is batched inside, at every place of the lane's operand.
        moved = np.moveaxis(x, 0, axis + 1)
        inside = WAYS[way](ax.vmap(row.function, in_axes=axis))(moved)
        np.testing.assert_allclose(np.moveaxis(inside, 1, 0), wanted, rtol=2e-6, atol=1e-6)


@EACH_ROW
@ways("numpy-vmap", "numpy-shard_map")
def test_derivatives_of_a_collective(row: Row, way: str, backend: str) -> None:
    with ax.default_backend(backend):
        x, dx = (anp.asarray(lanes(row, seed, np.float64)) for seed in (0, 1))
        function = WAYS[way](row.function)
        out, tangent = ax.jvp(function, (x,), (dx,))
        step = 1e-6
        differences = (
            row.model(np.asarray(x) + step * np.asarray(dx))
            - row.model(np.asarray(x) - step * np.asarray(dx))
        ) / (2 * step)
        np.testing.assert_allclose(tangent, differences, rtol=1e-6, atol=1e-7)
        ct = anp.asarray(np.random.default_rng(2).normal(size=out.shape))
        (back,) = ax.vjp(function, x)[1](ct)
        np.testing.assert_allclose(
            np.sum(np.asarray(ct) * np.asarray(tangent)),
            np.sum(np.asarray(back) * np.asarray(dx)),
            rtol=1e-10,
            atol=1e-10,
        )


@EACH_ROW
@pytest.mark.parametrize(
    "way",
    [
        "vmap",
        pytest.param("shard_map", marks=pytest.mark.slow),
        pytest.param("unchecked", marks=pytest.mark.slow),
    ],
)
def test_second_derivatives_of_a_collective(row: Row, way: str) -> None:
    x = lanes(row, 0, np.float64)
    v = lanes(row, 1, np.float64)
    function = WAYS[way](row.function)

    def value(x: Any) -> Any:
        return anp.sum(anp.sin(function(x * x)))

    gradient = ax.grad(value)
    step = 1e-5
    differences = (np.asarray(gradient(x + step * v)) - np.asarray(gradient(x - step * v))) / (
        2 * step
    )
    reverse = ax.grad(lambda x: anp.sum(gradient(x) * v))(x)
    forward = ax.jvp(gradient, (anp.asarray(x),), (anp.asarray(v),))[1]
    np.testing.assert_allclose(reverse, differences, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(forward, differences, rtol=1e-6, atol=1e-6)


@EACH_ROW
def test_the_gradient_in_each_lane_is_that_of_the_sum_of_all_lanes(row: Row) -> None:
    x = lanes(row)

    def lane(x: Any) -> Any:
        return anp.sum(anp.sin(row.function(x * x)))

    wanted = ax.grad(lambda x: anp.sum(by_vmap(lane)(x)))(x)
    for mapped in (by_vmap, by_pmap):
        np.testing.assert_allclose(mapped(ax.grad(lane))(x), wanted, rtol=1e-5, atol=1e-6)


# ----------------------------------------------------------------- several axes

GRID = (2, 3)
LANES = GRID[0] * GRID[1]
BOTH = ("a", "b")
TURN = [(i, (5 * i + 1) % LANES) for i in range(LANES)]
SEVERAL = {
    "psum": ((3,), lambda x, n: lax.psum(x, n)),
    "pmean": ((3,), lambda x, n: lax.pmean(x, n)),
    "pmax": ((3,), lambda x, n: lax.pmax(x, n)),
    "all_gather": ((2, 3), lambda x, n: lax.all_gather(x, n, axis=1)),
    "all_gather-tiled": ((2, 3), lambda x, n: lax.all_gather(x, n, axis=1, tiled=True)),
    "psum_scatter": ((2, 6), lambda x, n: lax.psum_scatter(x, n, scatter_dimension=1)),
    "psum_scatter-tiled": ((12, 2), lambda x, n: lax.psum_scatter(x, n, tiled=True)),
    "all_to_all": ((6, 2), lambda x, n: lax.all_to_all(x, n, 0, 1)),
    "all_to_all-tiled": ((12, 2), lambda x, n: lax.all_to_all(x, n, 0, 1, tiled=True)),
    "all_to_all-same": ((12, 2), lambda x, n: lax.all_to_all(x, n, 0, 0, tiled=True)),
    "ppermute": ((2,), lambda x, n: lax.ppermute(x, n, TURN)),
    "ppermute-some": ((2,), lambda x, n: lax.ppermute(x, n, [(5, 2), (0, 1)])),
    "pbroadcast": ((2,), lambda x, n: lax.pbroadcast(x, n, 4)),
    "axis_index": ((2,), lambda x, n: x * lax.axis_index(n)),
    "axis_size": ((2,), lambda x, n: x * lax.axis_size(n)),
}


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_several_axes_are_one_axis_whose_lanes_are_counted_through(name: str, order: Any) -> None:
    shape, function = SEVERAL[name]
    x = np.random.default_rng(0).normal(size=(LANES, *shape)).astype(np.float32)
    wanted = ax.vmap(lambda x: function(x, "i"), axis_name="i")(x)
    sizes = dict(zip(BOTH, GRID, strict=True))
    grid = x.reshape(*(sizes[n] for n in order), *shape)
    outer, inner = order
    nested = ax.vmap(ax.vmap(lambda x: function(x, order), axis_name=inner), axis_name=outer)(grid)
    np.testing.assert_allclose(nested.reshape(wanted.shape), wanted, rtol=1e-5)
    # The order of the names counts, not which axis was opened first.
    turned = ax.vmap(ax.vmap(lambda x: function(x, order), axis_name=outer), axis_name=inner)(
        np.swapaxes(grid, 0, 1)
    )
    np.testing.assert_allclose(
        np.swapaxes(np.asarray(turned), 0, 1).reshape(wanted.shape), wanted, rtol=1e-5
    )
    mesh = ax.make_mesh(GRID, BOTH)
    whole = ax.shard_map(
        lambda x: function(x[0], order)[None],
        mesh=mesh,
        in_specs=ax.P(order),
        out_specs=ax.P(order),
    )
    np.testing.assert_allclose(whole(x), wanted, rtol=1e-5)


def test_one_of_several_axes() -> None:
    x = np.arange(6.0, dtype=np.float32).reshape(GRID)
    nested = ax.vmap(ax.vmap(lambda x: lax.psum(x, "a"), axis_name="b"), axis_name="a")
    np.testing.assert_array_equal(nested(x), np.broadcast_to(x.sum(0), GRID))


# ----------------------------------------------------------------- dtypes, scalars, trees

DTYPES = ["int8", "int32", "uint16", "bool", "float16", "bfloat16", "float64", "complex64"]


@pytest.mark.parametrize("dtype", DTYPES)
@ON_BOTH
def test_a_sum_has_the_dtype_of_its_operand(dtype: str, backend: str) -> None:
    with ax.default_backend(backend):
        x = anp.asarray([[1, 0], [1, 1], [0, 1]]).astype(dtype)
        result = by_vmap(lambda x: lax.psum(x, "i"))(x)
        assert str(result.dtype) == ("int32" if dtype == "bool" else dtype)
        np.testing.assert_array_equal(np.asarray(result)[0].astype(complex).real, [2, 2])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats_are_added_up_in_float32(dtype: str) -> None:
    ones = anp.ones(1000, dtype)
    assert float(by_vmap(lambda x: lax.psum(x, "i"))(ones)[0]) == 1000
    shared = ax.vmap(lambda x: lax.psum(x, "i"), in_axes=None, axis_name="i", axis_size=1000)
    assert float(shared(anp.ones((), dtype))[0]) == 1000


def test_integers_wrap_around_also_where_all_lanes_share_them() -> None:
    shared = ax.vmap(lambda x: lax.psum(x, "i"), in_axes=None, axis_name="i", axis_size=300)
    assert int(shared(anp.asarray(3, "int8"))[0]) == np.int8(900 - 4 * 256 + 0).item()


def test_a_python_number_is_multiplied_by_the_number_of_lanes() -> None:
    seen = []

    def lane(x: Any) -> Any:
        seen.append((lax.psum(1, "i"), lax.psum(2.5, "i"), lax.axis_size("i"), lax.pmean(3, "i")))
        return x

    by_vmap(lane)(anp.zeros(4))
    assert seen == [(4, 10.0, 4, 3.0)]


def test_collectives_take_trees() -> None:
    tree = {"u": anp.arange(4.0), "v": (anp.ones((4, 2)), None)}
    out = by_vmap(lambda t: lax.pmax(lax.psum(t, "i"), "i"))(tree)
    np.testing.assert_array_equal(out["u"], np.full(4, 6.0))
    np.testing.assert_array_equal(out["v"][0], np.full((4, 2), 4.0))


def test_numbers_among_the_names_are_axes_of_the_array() -> None:
    x = np.arange(24.0, dtype=np.float32).reshape(4, 2, 3)
    result = by_vmap(lambda x: lax.psum(x, ("i", 1)))(x)
    np.testing.assert_array_equal(result, np.broadcast_to(x.sum((0, 2)), (4, 2)))


def test_lanes_that_reach_the_extreme_share_its_derivative() -> None:
    x = anp.asarray([1.0, 3.0, 3.0])
    gradient = ax.grad(lambda x: by_vmap(lambda x: lax.pmax(x, "i"))(x)[0])(x)
    np.testing.assert_array_equal(gradient, [0.0, 0.5, 0.5])


def test_random_keys_go_from_lane_to_lane() -> None:
    keys = ax.random.split(ax.random.key(0), 3)
    moved = by_vmap(lambda k: lax.ppermute(k, "i", [(0, 1), (1, 2), (2, 0)]))(keys)
    np.testing.assert_array_equal(
        ax.random.key_data(moved), np.roll(np.asarray(ax.random.key_data(keys)), 1, axis=0)
    )


# ----------------------------------------------------------------- errors


def test_an_axis_that_is_not_open_is_an_error_that_names_those_that_are() -> None:
    with pytest.raises(errors.UnboundAxisError, match=r"'j' is open.*'i' of size 3") as caught:
        by_vmap(lambda x: lax.psum(x, "j"))(anp.zeros(3))
    assert "test_collectives.py" in str(caught.value)
    with pytest.raises(NameError, match="open axes: none"):
        lax.axis_index("i")


def test_an_axis_is_closed_after_its_vmap() -> None:
    by_vmap(ax.jit(lambda x: lax.psum(x, "i")))(anp.zeros(3))
    with pytest.raises(errors.UnboundAxisError):
        ax.jit(lambda x: lax.psum(x, "i"))(anp.zeros(3))


def test_compiled_code_is_kept_for_each_size_of_an_axis() -> None:
    count = ax.jit(lambda x: x * lax.psum(1, "i"))
    for n in (2, 3):
        np.testing.assert_array_equal(by_vmap(count)(anp.ones(n)), np.full(n, n))


WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "groups that leave a lane out": (
        lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1]]),
        "exactly once",
    ),
    "groups of unequal sizes": (
        lambda x: lax.all_gather(x, "i", axis_index_groups=UNEQUAL),
        "one size",
    ),
    "a lane that receives twice": (
        lambda x: lax.ppermute(x, "i", [(0, 1), (2, 1)]),
        "receives twice",
    ),
    "a lane that is not there": (lambda x: lax.ppermute(x, "i", [(0, 7)]), "0 to 3"),
    "no permutation": (lambda x: lax.pshuffle(x, "i", [0, 0, 1, 2]), "permutation"),
    "a source that is not there": (lambda x: lax.pbroadcast(x, "i", 4), "0 to 3"),
    "parts that are not equal": (lambda x: lax.psum_scatter(x, "i", tiled=True), "multiple of 4"),
    "parts of another number": (lambda x: lax.all_to_all(x, "i", 0, 0), "has to be 4"),
    "an axis that is not there": (lambda x: lax.all_gather(x, "i", axis=5), "axis 5"),
    "an axis named twice": (lambda x: lax.psum(x, ("i", "i")), "twice"),
    "another cast": (lambda x: lax.pcast(x, "i", to="reduced"), "psum"),
    "another result": (lambda x: lax.all_gather(x, "i", to="reduced"), "invarying"),
    "text": (lambda x: lax.psum("x", "i"), "not an array"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_a_collective_cannot_do_is_an_error_that_says_what_it_can(name: str) -> None:
    function, words = WRONG[name]
    with pytest.raises(errors.ArrayxError, match=words):
        by_vmap(function)(anp.zeros((4, 3)))
