"""`shard_map`: a graph that each lane of a mesh runs on its own part of the operands.

A backend that runs on several devices at once takes it whole; for all others it is expanded into
the batched form: parts stacked along a batch axis for each mesh axis, and the graph batched over
them by `vmap`, which resolves its collectives.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from arrayx import dtypes, errors
from arrayx.control.layout import Mask, reached
from arrayx.core.aval import Aval
from arrayx.core.graph import Equation, Graph
from arrayx.core.linear import Zero
from arrayx.core.named_axes import NamedAxis, mapped_axis, resolving, surrounded
from arrayx.core.primitive import Primitive
from arrayx.primitives.axes import broadcast_in_dim, move_batch_dim, reshape, transpose
from arrayx.primitives.collectives import psum
from arrayx.primitives.families import is_linear
from arrayx.primitives.numeric import div
from arrayx.primitives.slicing import cut
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.jvp import jvp_graph
from arrayx.transforms.partial import Split, linearize_graph
from arrayx.transforms.simplify import dead_code_removed
from arrayx.transforms.stage import derive
from arrayx.transforms.varying import retyped, varying_of
from arrayx.transforms.vjp import transpose_graph
from arrayx.transforms.vmap import vmap_flat, vmap_graph

# For each axis of an array the mesh axes that it is cut along, of which the first counts slowest.
Spec = tuple[tuple[Any, ...], ...]
Axes = tuple[tuple[Any, int], ...]


def names_in_spec(spec: Spec) -> frozenset[Any]:
    """The mesh axes that an array is cut along."""
    return frozenset(name for names in spec for name in names)


def parts_of(names: Sequence[Any], axes: Axes) -> int:
    """How many parts cutting along these mesh axes makes."""
    sizes = dict(axes)
    return math.prod(sizes[name] for name in names)


def local_shape(shape: Sequence[int], spec: Spec, axes: Axes) -> tuple[int, ...]:
    """The shape of one part."""
    return tuple(n // parts_of(names, axes) for n, names in zip(shape, spec, strict=True))


class ShardMap(Primitive):
    """The results that the lanes of a mesh get from `graph`, put together.

    `axes` are the names and sizes of the mesh axes that the graph knows.  Operand i is cut into
    equal parts as `in_specs[i]` says, and a lane takes the part of its place; result j is put
    together as `out_specs[j]` says.  Where `tracked`, the types in the graph say what varies over
    which axes, and a result varies over just those of its spec; otherwise a result that is not
    put together along an axis is that of the first lane.
    """

    name = "shard_map"
    multiple = True
    holds_graphs = True

    def axis_names(self, *, axes: Axes, **params: Any) -> frozenset[Any]:
        return frozenset(name for name, _ in axes)

    def type_rule(
        self, *avals: Aval, graph: Graph, axes: Axes, in_specs: Any, out_specs: Any, **params: Any
    ) -> tuple[Aval, ...]:
        for x, part, spec in zip(avals, graph.in_avals, in_specs, strict=True):
            if part.shape != local_shape(x.shape, spec, axes) or part.dtype != x.dtype:
                raise errors.GraphError(f"shard_map cuts {x} by {spec}, but its graph takes {part}")
        own = self.axis_names(axes=axes)
        return tuple(
            a.update(
                shape=tuple(
                    n * parts_of(names, axes) for n, names in zip(a.shape, spec, strict=True)
                ),
                varying=a.varying - own,
            )
            for a, spec in zip(graph.out_avals, out_specs, strict=True)
        )

    def widen(self, avals: Any, params: dict[str, Any]) -> dict[str, Any]:
        graph = retyped(params["graph"], varying_of(avals))
        return params if graph is params["graph"] else params | {"graph": graph}

    def effects(self, *, graph: Graph, **params: Any) -> frozenset[str]:
        return graph.effects

    def repeats(self, *, axes: Axes, **params: Any) -> int:
        return math.prod(size for _, size in axes)

    def prune(self, equation: Equation, used: tuple[bool, ...]) -> Equation:
        params = equation.params
        graph = params["graph"]
        if all(used) or graph.effects:
            return equation
        kept = [i for i, wanted in enumerate(used) if wanted]
        smaller = Graph(
            graph.inputs,
            graph.equations,
            [graph.outputs[i] for i in kept],
            graph.constants,
            graph.constant_values,
        )
        out_specs = tuple(params["out_specs"][i] for i in kept)
        return equation.replace(
            params=params | {"graph": dead_code_removed(smaller), "out_specs": out_specs},
            outputs=tuple(equation.outputs[i] for i in kept),
        )

    # ------------------------------------------------------------- in simpler operations

    def expand(
        self, *args: Any, graph: Graph, axes: Axes, in_specs: Any, out_specs: Any, **params: Any
    ) -> Any:
        inputs = [names_in_spec(spec) for spec in in_specs]
        outputs = [names_in_spec(spec) for spec in out_specs]

        def over(level: int, values: Sequence[Any]) -> list[Any]:
            """The results over the mesh axes from this one on, each with an axis in front."""
            if level == len(axes):
                return evaluate(graph, values)
            name, size = axes[level]
            results, dims = vmap_flat(
                lambda *xs: over(level + 1, xs),
                size,
                values,
                [0 if name in names else None for names in inputs],
                name,
                "ax.shard_map",
            )
            return [
                move_batch_dim(size, r, d, 0) if name in names else first_lane(r, d)
                for r, d, names in zip(results, dims, outputs, strict=True)
            ]

        stacked = [stack_parts(x, spec, axes) for x, spec in zip(args, in_specs, strict=True)]
        results = over(0, stacked)
        return tuple(join_parts(r, spec, axes) for r, spec in zip(results, out_specs, strict=True))

    # ------------------------------------------------------------- derivatives

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        graph = params["graph"]
        active = tuple(t is not Zero for t in tangents)
        with opened_axes(params):
            moving = jvp_graph(graph, active)[1]
            both, _ = jvp_graph(graph, active, moving)
        results = self(
            *primals,
            *(t for t in tangents if t is not Zero),
            **params
            | {
                "graph": both,
                "in_specs": (*params["in_specs"], *chosen(params["in_specs"], active)),
                "out_specs": (*params["out_specs"], *chosen(params["out_specs"], moving)),
            },
        )
        n = len(graph.outputs)
        given = iter(results[n:])
        return results[:n], tuple(next(given) if m else Zero for m in moving)

    def linearize(self, tape: Any, primals: Any, tangents: Any, **params: Any) -> Any:
        graph, in_specs, out_specs = params["graph"], params["in_specs"], params["out_specs"]
        n = len(graph.outputs)
        active = tuple(t is not Zero for t in tangents)
        with opened_axes(params):
            moving = linearize_graph(graph, active).out_active
            if not any(moving):
                return self(*primals, **params), (Zero,) * n
            split = linearize_graph(graph, active, moving)
            forward, linear, extra = with_stacked_residuals(split, n, params)
        results = self(*primals, **params | {"graph": forward, "out_specs": (*out_specs, *extra)})
        all_specs = (*out_specs, *extra)
        residuals = [primals[i] if src == "input" else results[i] for src, i in split.residuals]
        specs = [in_specs[i] if src == "input" else all_specs[i] for src, i in split.residuals]
        linear_params = params | {
            "graph": linear,
            "in_specs": (*specs, *chosen(in_specs, active)),
            "out_specs": chosen(out_specs, moving),
        }
        operands = (*residuals, *(t for t in tangents if t is not Zero))
        avals = self.type_rule(*(x.aval for x in operands), **linear_params)
        given = iter(tape.record(self, operands, linear_params, avals))
        return results[:n], tuple(next(given) if m else Zero for m in moving)

    def reach(self, active: Mask, *, graph: Graph, **params: Any) -> Mask:
        return reached(graph, active)

    def transpose(self, cts: Any, *args: Any, **params: Any) -> Any:
        in_specs, out_specs = params["in_specs"], params["out_specs"]
        linear = tuple(is_linear(a) for a in args)
        given = tuple(ct is not Zero for ct in cts)
        with opened_axes(params):
            back, found = transpose_graph(params["graph"], linear, given)
            known = [a for a in args if not is_linear(a)]
            ct_specs = chosen(out_specs, given)
            wanted = chosen(chosen(in_specs, linear), found)
            if not params["tracked"]:
                back = balanced(back, len(known), ct_specs, wanted, params["axes"])
        results = iter(
            self(
                *known,
                *(ct for ct in cts if ct is not Zero),
                **params
                | {
                    "graph": back,
                    "in_specs": (*chosen(in_specs, [not m for m in linear]), *ct_specs),
                    "out_specs": wanted,
                },
            )
        )
        answers = iter([next(results) if f else None for f in found])
        return tuple(next(answers) if m else None for m in linear)

    # ------------------------------------------------------------- batches

    def vmap(self, size: int, args: Any, dims: Any, **params: Any) -> Any:
        name = mapped_axis.get()
        inside = None if name in self.axis_names(**params) else name
        with opened_axes(params), resolving(inside):
            graph, out_dims = vmap_graph(params["graph"], size, tuple(dims))
        results = self(
            *args,
            **params
            | {
                "graph": graph,
                "in_specs": tuple(map(with_axis, params["in_specs"], dims)),
                "out_specs": tuple(map(with_axis, params["out_specs"], out_dims)),
            },
        )
        return results, out_dims


def opened_axes(params: dict[str, Any]) -> AbstractContextManager[None]:
    """Opens the mesh axes, for the rules of users that deriving the graph may call."""
    return surrounded(*(NamedAxis(n, size, params["tracked"]) for n, size in params["axes"]))


def chosen(values: Sequence[Any], mask: Sequence[bool]) -> tuple[Any, ...]:
    """The values where the mask is true."""
    return tuple(v for v, wanted in zip(values, mask, strict=True) if wanted)


def with_axis(spec: Spec, dim: int | None) -> Spec:
    """The spec of an array with one more axis, which is not cut."""
    return spec if dim is None else (*spec[:dim], (), *spec[dim:])


# ----------------------------------------------------------------- parts and wholes


def stack_parts(x: Any, spec: Spec, axes: Axes) -> Any:
    """The parts of `x`, with an axis in front for each mesh axis that it is cut along."""
    if not names_in_spec(spec):
        return x
    sizes = dict(axes)
    shape: list[int] = []
    places: dict[Any, int] = {}
    rest = []
    for n, names in zip(x.aval.shape, spec, strict=True):
        for name in names:
            places[name] = len(shape)
            shape.append(sizes[name])
        rest.append(len(shape))
        shape.append(n // parts_of(names, axes))
    front = [places[name] for name, _ in axes if name in places]
    return transpose(reshape(x, shape=tuple(shape)), perm=(*front, *rest))


def join_parts(x: Any, spec: Spec, axes: Axes) -> Any:
    """The whole of parts that `stack_parts` would make of it."""
    front = [name for name, _ in axes if name in names_in_spec(spec)]
    if not front:
        return x
    perm: list[int] = []
    shape = []
    for i, names in enumerate(spec):
        perm += [front.index(name) for name in names]
        perm.append(len(front) + i)
        shape.append(x.aval.shape[len(front) + i] * parts_of(names, axes))
    return reshape(transpose(x, perm=tuple(perm)), shape=tuple(shape))


def first_lane(x: Any, dim: int | None) -> Any:
    """The value of the first lane."""
    if dim is None:
        return x
    shape = x.aval.shape
    return reshape(cut(x, dim, 0, 1), shape=(*shape[:dim], *shape[dim + 1 :]))


# ----------------------------------------------------------------- graphs


def with_stacked_residuals(
    split: Split, count: int, params: dict[str, Any]
) -> tuple[Graph, Graph, tuple[Spec, ...]]:
    """The two halves of a graph, where the forward one gives residuals that can be put together.

    Its first `count` outputs are the graph's own.  A residual that differs between lanes gets an
    axis in front, along which the lanes' values are stacked; the last result says so.
    """
    axes = params["axes"]
    saved = split.forward.out_avals[count:]
    over = [tuple(n for n, _ in axes if n in a.varying or not params["tracked"]) for a in saved]
    key = "stacked residuals", count, tuple(over)
    memo = split.linear.memo
    if key not in memo:

        def forward(*xs: Any) -> list[Any]:
            results = evaluate(split.forward, xs)
            return [
                *results[:count],
                *(
                    broadcast_in_dim(
                        r, shape=(1, *r.aval.shape), dims=tuple(range(1, r.aval.ndim + 1))
                    )
                    if names
                    else r
                    for r, names in zip(results[count:], over, strict=True)
                ),
            ]

        def linear(*xs: Any) -> list[Any]:
            inputs = zip(xs, split.linear.in_avals, strict=True)
            return evaluate(
                split.linear,
                [x if x.shape == a.shape else reshape(x, shape=a.shape) for x, a in inputs],
            )

        first = derive(forward, split.forward.in_avals)
        avals = list(split.linear.in_avals)
        for k, (source, i) in enumerate(split.residuals):
            if source == "output":
                avals[k] = first.out_avals[i]
        memo[key] = first, derive(linear, avals)
    specs = tuple(
        (names, *([()] * a.ndim)) if names else ((),) * a.ndim
        for a, names in zip(saved, over, strict=True)
    )
    return *memo[key], specs


def balanced(
    back: Graph, known: int, ct_specs: Sequence[Spec], wanted: Sequence[Spec], axes: Axes
) -> Graph:
    """A transposed graph whose types do not say what varies.

    A result that was not put together along an axis came from all its lanes alike, so each gets
    its share of the cotangent; an operand that all lanes shared gets the sum of theirs.
    """
    key = "balanced", known, tuple(ct_specs), tuple(wanted), axes
    if key not in back.memo:

        def run(*xs: Any) -> list[Any]:
            cts = []
            for ct, spec in zip(xs[known:], ct_specs, strict=True):
                lanes = math.prod(size for name, size in axes if name not in names_in_spec(spec))
                kind = dtypes.kind(ct.aval.dtype)
                cts.append(div(ct, complex(lanes) if kind == "complex" else float(lanes)))
            results = []
            for r, spec in zip(evaluate(back, [*xs[:known], *cts]), wanted, strict=True):
                shared = tuple(name for name, _ in axes if name not in names_in_spec(spec))
                results.append(psum(r, axes=shared, groups=None, tracked=False) if shared else r)
            return results

        back.memo[key] = derive(run, back.in_avals)
    return back.memo[key]  # type: ignore[no-any-return]


shard_map = ShardMap()
