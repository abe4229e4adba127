"""`shard_map`: specs, types that say what varies, what derivatives count, and errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors, lax
from arrayx.backend.legalise import legalise
from arrayx.backend.registry import registry
from arrayx.core.graph import Graph, subgraphs

P = ax.P
FOUR = ax.make_mesh((4,), ("x",))
GRID = ax.make_mesh((2, 3), ("x", "y"))
X = np.arange(8.0)
W = np.array([0.3, -0.7])


def close(got: Any, wanted: Any) -> None:
    np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)


def seen_types(function: Callable[..., Any], *args: Any, **options: Any) -> list[str]:
    """The types of what `function` gives in each place, as text."""
    types: list[str] = []

    def inside(*parts: Any) -> Any:
        types.extend(repr(ax.typeof(x)) for x in ax.tree.leaves(function(*parts)))
        return anp.zeros(())

    ax.shard_map(inside, out_specs=P(), **options)(*args)
    return types


# ----------------------------------------------------------------- parts and wholes

SPECS = [P(), P("x"), P("y", "x"), P(None, "y"), P(("x", "y")), P(("y", "x"), None)]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_parts_put_together_as_they_were_cut_are_the_whole(spec: Any) -> None:
    x = np.arange(72.0).reshape(6, 12)
    whole = ax.shard_map(lambda part: part, mesh=GRID, in_specs=spec, out_specs=spec)
    np.testing.assert_array_equal(whole(x), x)


def test_a_place_gets_the_part_that_its_indices_name() -> None:
    def where(part: Any) -> Any:
        return part + 10 * lax.axis_index("x") + 100 * lax.axis_index("y")

    both = ax.shard_map(where, mesh=GRID, in_specs=P("x", "y"), out_specs=P("x", "y"))
    np.testing.assert_array_equal(both(np.zeros((2, 3))), [[0, 100, 200], [10, 110, 210]])
    # Of two mesh axes that cut one axis the first counts slowest.
    one = ax.shard_map(where, mesh=GRID, in_specs=P(("y", "x")), out_specs=P(("y", "x")))
    np.testing.assert_array_equal(one(np.zeros(6)), [0, 10, 100, 110, 200, 210])


def test_what_is_not_cut_goes_to_all_places_and_comes_back_once() -> None:
    total = ax.shard_map(
        lambda w, x: (w, lax.psum(x * w, "x")),
        mesh=FOUR,
        in_specs=(P(), P("x")),
        out_specs=P(),
    )
    w, s = total(W, X)
    close(w, W)
    close(s, (X.reshape(4, 2) * W).sum(0))


def test_a_value_that_is_the_same_everywhere_can_be_put_together_all_the_same() -> None:
    twice = ax.shard_map(lambda w: w, mesh=FOUR, in_specs=P(), out_specs=P("x"))
    np.testing.assert_array_equal(twice(W), np.tile(W, 4))
    # Each copy counts.
    close(ax.grad(lambda w: anp.sum(twice(w) * X))(W), X.reshape(4, 2).sum(0))


def test_specs_are_the_upper_part_of_trees() -> None:
    def step(params: Any, batch: Any) -> Any:
        return {"loss": lax.pmean(anp.sum(params["w"] * batch[0]), "x"), "out": batch}

    mapped = ax.shard_map(
        step, mesh=FOUR, in_specs=(P(), (P("x"), None)), out_specs={"loss": P(), "out": P("x")}
    )
    result = mapped({"w": W, "b": anp.zeros(())}, (X, anp.ones(1)))
    assert result["out"][0].shape == (8,)
    assert result["out"][1].shape == (4,)


def test_it_decorates_and_works_inside_and_outside_of_jit() -> None:
    @ax.shard_map(mesh=FOUR, in_specs=P("x"), out_specs=P("x"))
    def ring(x: Any) -> Any:
        return lax.ppermute(x, "x", [(i, (i + 1) % 4) for i in range(4)])

    for function in (ring, ax.jit(ring), ax.jit(lambda x: ring(x))):
        np.testing.assert_array_equal(function(X), np.roll(X, 2))
    text = str(ax.make_graph(ring)(X))
    assert "shard_map[axes=(('x', 4),)" in text and "label='ring'" in text
    assert ax.parse_graph(text) == ax.make_graph(ring)(X)


def test_a_backend_without_collectives_gets_the_batched_form() -> None:
    total = ax.shard_map(lambda x: lax.psum(x, "x"), mesh=FOUR, in_specs=P("x"), out_specs=P())

    def names(graph: Graph) -> set[str]:
        inner = [names(g) for e in graph.equations for g in subgraphs(e)]
        return {e.primitive.name for e in graph.equations}.union(*inner)

    graph = ax.make_graph(total)(X)
    assert {"shard_map", "psum"} <= names(graph)
    assert names(legalise(graph, registry.get("numpy"))) == {"reshape", "transpose", "reduce_sum"}


def test_functions_may_close_over_traced_values() -> None:
    def loss(w: Any) -> Any:
        inner = ax.shard_map(
            lambda x: lax.psum(anp.sum(anp.sin(x * w)), "x"),
            mesh=FOUR,
            in_specs=P("x"),
            out_specs=P(),
        )
        return inner(X)

    wanted = ax.grad(lambda w: anp.sum(anp.sin(X.reshape(4, 2) * w)))
    close(ax.grad(loss)(W), wanted(W))
    close(ax.jit(ax.grad(loss))(W), wanted(W))
    batch = np.stack([W, 2 * W])
    close(ax.vmap(ax.grad(loss))(batch), [wanted(w) for w in batch])


def test_keys_are_cut_like_arrays() -> None:
    keys = ax.random.split(ax.random.key(0), 4)
    draw = ax.shard_map(
        lambda k: ax.random.normal(k[0], (2,)), mesh=FOUR, in_specs=P("x"), out_specs=P("x")
    )
    wanted = np.concatenate([np.asarray(ax.random.normal(k, (2,))) for k in keys])
    np.testing.assert_array_equal(draw(keys), wanted)


def test_some_axes_of_a_mesh_can_be_left_out() -> None:
    mapped = ax.shard_map(
        lambda x: lax.psum(x, "y"),
        mesh=GRID,
        in_specs=P(None, "y"),
        out_specs=P(),
        axis_names={"y"},
    )
    x = np.arange(12.0).reshape(2, 6)
    np.testing.assert_array_equal(mapped(x), x.reshape(2, 3, 2).sum(1))
    with pytest.raises(errors.ArgumentError, match=r"'x'.*none of axis_names"):
        ax.shard_map(lambda x: x, mesh=GRID, in_specs=P("x"), out_specs=P("y"), axis_names={"y"})(x)


def test_one_may_stand_in_another_over_other_axes() -> None:
    def inner(x: Any, w: Any) -> Any:
        return lax.psum(x * w, "y") + lax.pmean(x, "x") * w

    def outer(x: Any, w: Any) -> Any:
        mapped = ax.shard_map(
            inner, in_specs=(P(None, "y"), P()), out_specs=P(None, "y"), axis_names={"y"}
        )
        return mapped(x, w)

    whole = ax.shard_map(
        outer, mesh=GRID, in_specs=(P("x"), P()), out_specs=P("x"), axis_names={"x"}
    )
    x = np.random.default_rng(0).normal(size=(2, 6))

    def everything(x: Any, w: Any) -> Any:
        parts = anp.reshape(x, (2, 3, 2))
        total = anp.sum(parts, 1, keepdims=True) * w
        return anp.reshape(total + anp.mean(parts, 0, keepdims=True) * w, (2, 6))

    w = np.float64(0.7)
    close(whole(x, w), everything(x, w))
    for k in (0, 1):
        got = ax.grad(lambda *a: anp.sum(anp.sin(whole(*a))), k)(x, w)
        close(got, ax.grad(lambda *a: anp.sum(anp.sin(everything(*a))), k)(x, w))


def test_vmap_with_an_axis_name_goes_around_and_inside() -> None:
    def lane(x: Any) -> Any:
        return lax.psum(x, "x") + 100 * lax.psum(x, "b")

    mapped = ax.shard_map(lane, mesh=FOUR, in_specs=P("x"), out_specs=P("x"))
    x = np.stack([X, 10 * X])
    wanted = [np.tile(r.reshape(4, 2).sum(0), 4) + 100 * x.sum(0) for r in x]
    close(ax.vmap(mapped, axis_name="b")(x), wanted)
    inside = ax.shard_map(
        ax.vmap(lane, axis_name="b"), mesh=FOUR, in_specs=P(None, "x"), out_specs=P(None, "x")
    )
    close(inside(x), wanted)


# ----------------------------------------------------------------- what varies

TYPES: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "an operand that is cut": (lambda w, x: x, "float64[2]{x}"),
    "an operand that is not": (lambda w, x: w, "float64[2]"),
    "both together": (lambda w, x: w * x, "float64[2]{x}"),
    "a number": (lambda w, x: anp.ones(2), "float32[2]"),
    "psum": (lambda w, x: lax.psum(x, "x"), "float64[2]"),
    "psum of what does not vary": (lambda w, x: lax.psum(w, "x"), "float64[2]"),
    "psum of groups": (
        lambda w, x: lax.psum(w, "x", axis_index_groups=[[0], [1, 2, 3]]),
        "float64[2]{x}",
    ),
    "pmax": (lambda w, x: lax.pmax(x, "x"), "float64[2]"),
    "pmean": (lambda w, x: lax.pmean(x, "x"), "float64[2]"),
    "all_gather": (lambda w, x: lax.all_gather(x, "x"), "float64[4,2]{x}"),
    "all_gather to invarying": (
        lambda w, x: lax.all_gather(x, "x", to="invarying"),
        "float64[4,2]",
    ),
    "ppermute of what does not vary": (
        lambda w, x: lax.ppermute(w, "x", [(0, 1)]),
        "float64[2]{x}",
    ),
    "axis_index": (lambda w, x: lax.axis_index("x"), "int32[]{x}"),
    "pvary": (lambda w, x: lax.pvary(w, "x"), "float64[2]{x}"),
    "pcast": (lambda w, x: lax.pcast(w, "x", to="varying"), "float64[2]{x}"),
    "a compiled function": (lambda w, x: ax.jit(lambda a, b: a * b)(w, x), "float64[2]{x}"),
    "a compiled sum": (lambda w, x: ax.jit(lambda a: lax.psum(a, "x"))(x), "float64[2]"),
    "vmap over another axis": (
        lambda w, x: ax.vmap(lambda a: lax.psum(a, "b"), axis_name="b")(x),
        "float64[2]{x}",
    ),
    "a scan whose carry comes to vary": (
        lambda w, x: lax.scan(lambda c, t: (c + t * x, None), w, anp.ones(3))[0],
        "float64[2]{x}",
    ),
    "a scan whose carry does not": (
        lambda w, x: lax.scan(lambda c, t: (c + lax.psum(x, "x"), None), w, None, 3)[0],
        "float64[2]",
    ),
    "a carry that varies in the second step": (
        lambda w, x: lax.scan(lambda c, t: ((c[1], c[1] * x), None), (w, w), None, 3)[0][0],
        "float64[2]{x}",
    ),
    "a loop as long as each place likes": (
        lambda w, x: lax.while_loop(lambda c: c[0] < x[0], lambda c: c + 1.0, w),
        "float64[2]{x}",
    ),
    "a loop as long as all like": (
        lambda w, x: lax.while_loop(lambda c: c[0] < lax.psum(x, "x")[0], lambda c: c + 1.0, w),
        "float64[2]",
    ),
    "a choice that each place makes": (
        lambda w, x: lax.cond(x[0] > 1, lambda: w, lambda: 2 * w),
        "float64[2]{x}",
    ),
    "branches of which one varies": (
        lambda w, x: lax.cond(True, lambda: w, lambda: x),
        "float64[2]{x}",
    ),
    "a gradient in what does not vary": (
        lambda w, x: ax.grad(lambda w: anp.sum(w * x))(w),
        "float64[2]",
    ),
    "a gradient in what varies": (
        lambda w, x: ax.grad(lambda x: anp.sum(w * x))(x),
        "float64[2]{x}",
    ),
}


@pytest.mark.parametrize("name", TYPES)
def test_types_say_what_varies(name: str) -> None:
    function, wanted = TYPES[name]
    got = seen_types(function, W, X, mesh=FOUR, in_specs=(P(), P("x")))
    assert got == [wanted]


def test_types_say_nothing_where_they_are_not_checked() -> None:
    options = {"mesh": FOUR, "in_specs": P("x"), "check_vma": False}
    assert seen_types(lambda x: x, X, **options) == ["float64[2]"]


# ----------------------------------------------------------------- what derivatives count


def lane_loss(w: Any, x: Any) -> Any:
    return lax.psum(anp.sum(anp.sin(w * x)), "x")


def all_loss(w: Any, x: Any) -> Any:
    return anp.sum(anp.sin(w * x.reshape(4, 2)))


LOSSES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "psum": (lane_loss, all_loss),
    "psum twice": (
        lambda w, x: lax.psum(anp.sum(anp.sin(w * lax.psum(x, "x")) * x), "x"),
        lambda w, x: anp.sum(anp.sin(w * anp.sum(x.reshape(4, 2), 0)) * x.reshape(4, 2)),
    ),
    "psum of what is the same": (
        lambda w, x: anp.sum(lax.psum(w * w, "x")) + lane_loss(w, x),
        lambda w, x: 4 * anp.sum(w * w) + all_loss(w, x),
    ),
    "what is the same beside a sum": (
        lambda w, x: anp.sum(w**3) * lane_loss(w, x),
        lambda w, x: anp.sum(w**3) * all_loss(w, x),
    ),
    "pmean": (
        lambda w, x: anp.sum(lax.pmean(w * anp.cos(x), "x")),
        lambda w, x: anp.sum(anp.mean(w * anp.cos(x.reshape(4, 2)), 0)),
    ),
    "pmax": (
        lambda w, x: anp.sum(lax.pmax(anp.sin(w * x), "x")),
        lambda w, x: anp.sum(anp.max(anp.sin(w * x.reshape(4, 2)), 0)),
    ),
    "all_gather": (
        lambda w, x: lax.psum(anp.sum(anp.sin(lax.all_gather(w * x, "x")[0] * x)), "x"),
        lambda w, x: anp.sum(anp.sin(w * x[:2] * x.reshape(4, 2))),
    ),
    "all_gather to invarying": (
        lambda w, x: anp.sum(anp.sin(lax.all_gather(w * x, "x", to="invarying"))),
        lambda w, x: anp.sum(anp.sin(w * x.reshape(4, 2))),
    ),
    "psum_scatter": (
        lambda w, x: lax.psum(anp.sum(lax.psum_scatter(anp.outer(x, w).reshape(4), "x") ** 2), "x"),
        lambda w, x: anp.sum(anp.sum(x.reshape(4, 2, 1) * w, 0) ** 2),
    ),
    "rows that go around": (
        lambda w, x: lax.psum(anp.sum(lax.ppermute(w * x, "x", [(0, 1), (1, 3)]) * x), "x"),
        lambda w, x: anp.sum(w * x[:2] * x[2:4]) + anp.sum(w * x[2:4] * x[6:]),
    ),
    "pbroadcast": (
        lambda w, x: lax.psum(anp.sum(lax.pbroadcast(w * x, "x", 2) * x), "x"),
        lambda w, x: anp.sum(w * x[4:6] * x.reshape(4, 2)),
    ),
    "a choice that each place makes": (
        lambda w, x: lax.psum(
            anp.sum(lax.cond(x[0] > 3, lambda: w * w * x, lambda: anp.sin(w))), "x"
        ),
        lambda w, x: 2 * anp.sum(anp.sin(w)) + anp.sum(w * w * x[4:].reshape(2, 2)),
    ),
    "a scan": (
        lambda w, x: lax.psum(
            anp.sum(lax.scan(lambda c, t: (anp.sin(c + t * w), c * x), w, anp.ones(2))[1]), "x"
        ),
        lambda w, x: anp.sum((w + anp.sin(2 * w)) * x.reshape(4, 2)),
    ),
    "a part that is computed again": (
        lambda w, x: lax.psum(ax.checkpoint(lambda w, x: anp.sum(anp.sin(w) * x))(w, x), "x"),
        lambda w, x: anp.sum(anp.sin(w) * x.reshape(4, 2)),
    ),
    "the solution of equations": (
        lambda w, x: lax.psum(
            anp.sum(
                lax.custom_linear_solve(
                    lambda v: v * (2 + w * w), x, lambda _, b: b / (2 + w * w), symmetric=True
                )
            ),
            "x",
        ),
        lambda w, x: anp.sum(x.reshape(4, 2) / (2 + w * w)),
    ),
    "a compiled part": (
        lambda w, x: lax.psum(ax.jit(lambda w, x: anp.sum(anp.sin(w) * x))(w, x), "x"),
        lambda w, x: anp.sum(anp.sin(w) * x.reshape(4, 2)),
    ),
}
EACH_LOSS = pytest.mark.parametrize("name", LOSSES)
IN = (P(), P("x"))


@EACH_LOSS
def test_outside_a_result_that_is_the_same_everywhere_counts_once(name: str) -> None:
    lane, everything = LOSSES[name]
    mapped = ax.shard_map(lane, mesh=FOUR, in_specs=IN, out_specs=P())
    wanted = ax.grad(everything, (0, 1))(anp.asarray(W), anp.asarray(X))
    for gradient in (ax.grad(mapped, (0, 1)), ax.jit(ax.grad(mapped, (0, 1)))):
        for got, truth in zip(gradient(W, X), wanted, strict=True):
            close(got, truth)
    for got, truth in zip(ax.jacfwd(mapped, (0, 1))(W, X), wanted, strict=True):
        close(got, truth)


@EACH_LOSS
def test_inside_it_counts_once_too(name: str) -> None:
    lane, everything = LOSSES[name]
    inside = ax.shard_map(ax.grad(lane, (0, 1)), mesh=FOUR, in_specs=IN, out_specs=IN)
    wanted = ax.grad(everything, (0, 1))(anp.asarray(W), anp.asarray(X))
    for got, truth in zip(inside(W, X), wanted, strict=True):
        close(got, truth)
    for got, truth in zip(ax.jit(inside)(W, X), wanted, strict=True):
        close(got, truth)


@EACH_LOSS
def test_second_derivatives_inside_and_outside(name: str) -> None:
    lane, everything = LOSSES[name]
    mapped = ax.shard_map(lane, mesh=FOUR, in_specs=IN, out_specs=P())
    wanted = ax.hessian(everything)(anp.asarray(W), anp.asarray(X))
    close(ax.hessian(mapped)(W, X), wanted)
    close(ax.jacrev(ax.grad(mapped))(W, X), wanted)
    inside = ax.shard_map(ax.jacrev(ax.grad(lane)), mesh=FOUR, in_specs=IN, out_specs=P())
    close(inside(W, X), wanted)
    mixed = ax.shard_map(ax.grad(lane), mesh=FOUR, in_specs=IN, out_specs=P())
    close(ax.jacrev(mixed)(W, X), wanted)
    close(ax.jacfwd(mixed)(W, X), wanted)


@EACH_LOSS
def test_unchecked_derivatives_outside_are_the_same(name: str) -> None:
    lane, everything = LOSSES[name]
    mapped = ax.shard_map(lane, mesh=FOUR, in_specs=IN, out_specs=P(), check_vma=False)
    wanted = ax.grad(everything, (0, 1))(anp.asarray(W), anp.asarray(X))
    for got, truth in zip(ax.grad(mapped, (0, 1))(W, X), wanted, strict=True):
        close(got, truth)


def test_unchecked_derivatives_inside_count_every_place_as_under_pmap() -> None:
    options = {"mesh": FOUR, "in_specs": IN, "out_specs": P(), "check_vma": False}
    inside = ax.shard_map(lambda w, x: lax.psum(ax.grad(lane_loss)(w, x), "x"), **options)
    close(inside(W, X), 4 * np.asarray(ax.grad(all_loss)(anp.asarray(W), anp.asarray(X))))


def test_a_batch_of_gradients_inside_and_outside() -> None:
    ws = np.stack([W, 2 * W, -W])
    wanted = [ax.grad(all_loss)(anp.asarray(w), anp.asarray(X)) for w in ws]
    mapped = ax.shard_map(lane_loss, mesh=FOUR, in_specs=IN, out_specs=P())
    close(ax.vmap(ax.grad(mapped), (0, None))(ws, X), wanted)
    inside = ax.shard_map(
        ax.vmap(ax.grad(lane_loss), (0, None)), mesh=FOUR, in_specs=IN, out_specs=P()
    )
    close(inside(ws, X), wanted)


def test_a_custom_rule_may_use_collectives() -> None:
    @ax.custom_vjp
    def share(x: Any) -> Any:
        return x / lax.psum(x, "x")

    def forward(x: Any) -> Any:
        total = lax.psum(x, "x")
        return x / total, (x, total)

    def backward(residuals: Any, ct: Any) -> Any:
        x, total = residuals
        return (ct / total - lax.psum(ct * x, "x") / total**2,)

    share.defvjp(forward, backward)
    mapped = ax.shard_map(share, mesh=FOUR, in_specs=P("x"), out_specs=P("x"))
    x = X + 1

    def plain(x: Any) -> Any:
        parts = x.reshape(4, 2)
        return (parts / anp.sum(parts, 0)).reshape(8)

    for function in (mapped, ax.jit(mapped)):
        got = ax.grad(lambda x, f=function: anp.sum(anp.sin(f(x))))(x)
        close(got, ax.grad(lambda x: anp.sum(anp.sin(plain(x))))(anp.asarray(x)))


# ----------------------------------------------------------------- errors


def wrong(function: Any, *args: Any, **options: Any) -> Callable[[], Any]:
    return lambda: ax.shard_map(function, **({"mesh": FOUR} | options))(*args)


WRONG: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "a result that varies": (
        wrong(lambda x: anp.sin(x), X, in_specs=P("x"), out_specs=P()),
        ["'x'", "float64[2]{x}", "test_shard_map.py", "ax.lax.psum(x, 'x')", "check_vma=False"],
    ),
    "one of several results": (
        wrong(lambda x: {"a": lax.psum(x, "x"), "b": x}, X, in_specs=P("x"), out_specs=P()),
        ["the result['b']"],
    ),
    "a length that cannot be cut": (
        wrong(lambda x: x, np.zeros(6), in_specs=P("x"), out_specs=P("x")),
        ["argument x", "'x' of size 4", "length 6"],
    ),
    "a spec that is too long": (
        wrong(lambda x: x, np.zeros(4), in_specs=P("x", None), out_specs=P("x")),
        ["2 entries", "(4,)"],
    ),
    "a scalar that is to be put together": (
        wrong(lambda x: anp.sum(x), X, in_specs=P("x"), out_specs=P("x")),
        ["x[None]"],
    ),
    "an axis that the mesh has not": (
        wrong(lambda x: x, X, in_specs=P("z"), out_specs=P()),
        ["'z'", "'x'"],
    ),
    "an axis named twice": (
        wrong(lambda x: x, np.zeros((4, 4)), in_specs=P("x", "x"), out_specs=P()),
        ["twice"],
    ),
    "a spec that is none": (
        wrong(lambda x: x, X, in_specs=("x",), out_specs=P()),
        ["in_specs[0]", "PartitionSpec", "'x'"],
    ),
    "specs of another structure": (
        wrong(lambda x: x, X, in_specs=(P(), P()), out_specs=P()),
        ["in_specs", "the arguments"],
    ),
    "no mesh": (
        wrong(lambda x: x, X, in_specs=P(), out_specs=P(), mesh=None),
        ["ax.set_mesh"],
    ),
    "a mesh that is none": (
        wrong(lambda x: x, X, in_specs=P(), out_specs=P(), mesh=(4,)),
        ["Mesh"],
    ),
    "an axis that is open already": (
        wrong(
            lambda x: ax.shard_map(lambda y: y, mesh=FOUR, in_specs=P(), out_specs=P())(x),
            X,
            in_specs=P("x"),
            out_specs=P("x"),
        ),
        ["'x' is open already"],
    ),
    "axis_names that the mesh has not": (
        wrong(lambda x: x, X, in_specs=P(), out_specs=P(), axis_names={"q"}),
        ["'q'"],
    ),
    "a value that Python asks for": (
        wrong(lambda x: x if x[0] > 0 else -x, X, in_specs=P("x"), out_specs=P("x")),
        ["ax.shard_map of <lambda>", "ax.lax.cond"],
    ),
    "no function": (lambda: ax.shard_map(X, mesh=FOUR, in_specs=P(), out_specs=P()), ["function"]),
    "an axis of another mesh": (
        wrong(lambda x: lax.psum(x, "z"), X, in_specs=P("x"), out_specs=P("x")),
        ["'z'", "'x' of size 4"],
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_says_what_is_wrong_and_what_to_do(name: str) -> None:
    call, words = WRONG[name]
    with pytest.raises(errors.ArrayxError) as caught:
        call()
    for word in words:
        assert re.search(re.escape(word), str(caught.value)), str(caught.value)
