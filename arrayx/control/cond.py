"""`cond`: one of several graphs, chosen by a number that is known only when the program runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import errors
from arrayx.control import lanes
from arrayx.control.feeding import chosen_lanes, fed, harmless
from arrayx.control.layout import Mask, reached
from arrayx.control.scan_bodies import zeros_of
from arrayx.core.array import typeof
from arrayx.core.aval import Aval
from arrayx.core.graph import Equation, Graph, Var
from arrayx.core.linear import Zero
from arrayx.core.primitive import NO_EFFECTS, Primitive, aval_or_scalar_type
from arrayx.primitives.arithmetic import eq
from arrayx.primitives.conversion import convert
from arrayx.primitives.families import is_linear
from arrayx.primitives.numeric import clamp
from arrayx.primitives.reduction import reduce_or
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.jvp import jvp_graph
from arrayx.transforms.partial import Split, linearize_graph, zeros_equations
from arrayx.transforms.stage import derive
from arrayx.transforms.varying import retyped, varying_of
from arrayx.transforms.vjp import transpose_graph
from arrayx.transforms.vmap import vmap_graph

INDEX = np.dtype(np.int32)
BOOL = np.dtype(bool)


class Cond(Primitive):
    """The outputs of `branches[index]` for the operands.

    `index` is an int32 of rank 0; below 0 it means the first branch, above the last branch
    the last.  The branches are graphs whose inputs and outputs have the same types, but for
    the weak mark, which a result has if it has it in every branch.
    """

    name = "cond"
    multiple = True
    exclusive = True
    holds_graphs = True

    def type_rule(self, index: Any, *avals: Any, branches: tuple[Graph, ...]) -> tuple[Aval, ...]:
        branches = self.widen((index, *avals), {"branches": branches})["branches"]
        for graph in branches:
            have = graph.in_avals
            if len(have) != len(avals) or not all(
                type(a) is Aval and a.fits(b) for a, b in zip(avals, have, strict=True)
            ):
                raise errors.GraphError(f"a branch of cond takes {have}, not {list(avals)}")
        results = []
        for types in zip(*(g.out_avals for g in branches), strict=True):
            first = types[0].strong().unvarying()
            if any(t.strong().unvarying() is not first for t in types):
                raise errors.GraphError(f"branches of cond differ in a result: {types}")
            aval = types[0] if all(t.weak_type for t in types) else first
            over = varying_of((index,))[0].union(*(t.varying for t in types))
            results.append(aval.update(varying=over))
        return tuple(results)

    def widen(self, avals: Any, params: dict[str, Any]) -> dict[str, Any]:
        # Where the choice differs between lanes, whatever a branch takes may differ: what sums
        # over lanes, the cotangent of what they share, has to stand outside of the branches.
        first, *others = varying_of(avals)
        branches = params["branches"]
        fitting = tuple(retyped(g, [v | first for v in others]) for g in branches)
        return params if fitting == branches else params | {"branches": fitting}

    def effects(self, *, branches: tuple[Graph, ...]) -> frozenset[str]:
        return NO_EFFECTS.union(*(g.effects for g in branches))

    def key(self, params: dict[str, Any]) -> tuple[Any, ...]:
        return ()  # there is no eager kernel to find, and graphs are slow to hash

    def evaluate(self, index: Any, *operands: Any, branches: tuple[Graph, ...]) -> Any:
        value = int(index.host()) if hasattr(index, "host") else int(index)
        return tuple(evaluate(branches[min(max(value, 0), len(branches) - 1)], operands))

    def jvp(self, primals: Any, tangents: Any, *, branches: tuple[Graph, ...]) -> Any:
        active = tuple(t is not Zero for t in tangents[1:])
        out_active = united([jvp_graph(g, active)[1] for g in branches])
        both = tuple(jvp_graph(g, active, out_active)[0] for g in branches)
        results = self(*primals, *(t for t in tangents if t is not Zero), branches=both)
        n = len(out_active)
        given = iter(results[n:])
        return results[:n], tuple(next(given) if a else Zero for a in out_active)

    def linearize(
        self, tape: Any, primals: Any, tangents: Any, *, branches: tuple[Graph, ...]
    ) -> Any:
        index, *operands = primals
        active = tuple(t is not Zero for t in tangents[1:])
        out_active = united([linearize_graph(g, active).out_active for g in branches])
        n = len(out_active)
        if not any(out_active):
            return self(*primals, branches=branches), (Zero,) * n
        splits = [linearize_graph(g, active, out_active) for g in branches]
        forward, linear, sources = with_common_residuals(splits, n)
        results = self(*primals, branches=forward)
        residuals = [operands[i] if src == "input" else results[i] for src, i in sources]
        moving = [t for t in tangents if t is not Zero]
        operands = (index, *residuals, *moving)
        avals = self.type_rule(*map(aval_or_scalar_type, operands), branches=linear)
        given = iter(tape.record(self, operands, {"branches": linear}, avals))
        return results[:n], tuple(next(given) if a else Zero for a in out_active)

    def reach(self, active: Mask, *, branches: tuple[Graph, ...]) -> Mask:
        if active[0]:
            return (True,) * len(branches[0].outputs)
        return united([reached(g, active[1:]) for g in branches])

    def transpose(
        self, cts: Any, index: Any, *args: Any, branches: tuple[Graph, ...]
    ) -> tuple[Any, ...]:
        linear = tuple(is_linear(a) for a in args)
        given = tuple(ct is not Zero for ct in cts)
        found = united([transpose_graph(g, linear, given)[1] for g in branches])
        transposed = tuple(transpose_graph(g, linear, given, found)[0] for g in branches)
        known = [a for a in args if not is_linear(a)]
        results = iter(
            self(index, *known, *(ct for ct in cts if ct is not Zero), branches=transposed)
        )
        answers = iter([next(results) if f else None for f in found])
        return (None, *(next(answers) if lin else None for lin in linear))

    def vmap(self, size: int, args: Any, dims: Any, *, branches: tuple[Graph, ...]) -> Any:
        (index, *operands), (dim, *inner) = args, dims
        places = tuple(inner)
        if dim is not None:
            return self.of_many(size, index, operands, places, branches)
        made = united(
            [tuple(d is not None for d in vmap_graph(g, size, places)[1]) for g in branches]
        )
        out_dims = tuple(0 if batched else None for batched in made)
        batched = tuple(vmap_graph(g, size, places, out_dims)[0] for g in branches)
        return self(*args, branches=batched), out_dims

    def of_many(
        self, size: int, index: Any, operands: Any, dims: Any, branches: tuple[Graph, ...]
    ) -> Any:
        """A choice for each element of a batch: what any of them chose runs, once for all.

        Elements that chose otherwise are fed with one that did not.  Branches of little work
        that cannot go wrong run in any case; one with effects runs element by element.
        """
        out_dims = (0,) * len(branches[0].outputs)
        results: Any
        if any(g.effects for g in branches):
            params = {"branches": branches}
            return lanes.one_by_one(self, size, (index, *operands), (0, *dims), params)
        if size == 0:
            return tuple(
                evaluate(vmap_graph(branches[0], 0, dims, out_dims)[0], operands)
            ), out_dims
        index = clamp(0, index, len(branches) - 1)
        if harmless(branches):
            *others, results = [
                evaluate(vmap_graph(g, size, dims, out_dims)[0], operands) for g in branches
            ]
            for i in reversed(range(len(others))):
                takes_part = eq(index, i)
                results = [
                    chosen_lanes(takes_part, x, y) for x, y in zip(others[i], results, strict=True)
                ]
            return tuple(results), out_dims
        results = [zeros_of(a.update(shape=(size, *a.shape))) for a in self.out_avals(branches)]
        for i, graph in enumerate(branches):
            takes_part = eq(index, i)
            some = convert(reduce_or(takes_part, axes=(0,)), dtype=INDEX, weak_type=False)
            types = tuple(typeof(x) for x in (*operands, *results))
            choice = kept_or_run(graph, size, dims, types)
            results = self(some, takes_part, *operands, *results, branches=choice)
        return tuple(results), out_dims

    def out_avals(self, branches: tuple[Graph, ...]) -> tuple[Aval, ...]:
        """The types of the results."""
        return self.type_rule(None, *branches[0].in_avals, branches=branches)


def kept_or_run(
    graph: Graph, size: int, dims: tuple[int | None, ...], types: tuple[Aval, ...]
) -> tuple[Graph, Graph]:
    """Two branches of a cond: results as they are, or with those of the lanes that chose `graph`.

    Both take who chose it, its operands, and the results so far, of these types.
    """
    key = "kept or run", size, dims, types
    if key not in graph.memo:
        n = len(dims)
        out_dims = (0,) * len(graph.outputs)
        batched = vmap_graph(graph, size, dims, out_dims)[0]

        def run(takes_part: Any, *args: Any) -> list[Any]:
            made = evaluate(batched, fed(takes_part, args[:n], dims))
            return [
                chosen_lanes(takes_part, new, old) for new, old in zip(made, args[n:], strict=True)
            ]

        avals = [Aval((size,), BOOL), *types]
        graph.memo[key] = derive(lambda _, *args: args[n:], avals), derive(run, avals)
    return graph.memo[key]  # type: ignore[no-any-return]


def united(masks: Sequence[Mask]) -> Mask:
    """True where it is true in some mask."""
    return tuple(any(column) for column in zip(*masks, strict=True))


def with_common_residuals(
    splits: Sequence[Split], count: int
) -> tuple[tuple[Graph, ...], tuple[Graph, ...], list[tuple[str, int]]]:
    """Forward and linear graphs of all branches that pass the same residuals.

    `count` outputs are the branches' own.  What only one branch saves is zeros from the
    others, and branches share places of equal types, so that no more is passed than one
    branch needs.  The last result says where each residual comes from, as in `Split`.
    """
    places: dict[Any, None] = {}
    used: list[dict[Any, Var]] = []  # for each branch: place -> the linear graph's variable
    made: list[dict[Any, Var]] = []  # for each branch: place -> the forward graph's variable
    for split in splits:
        taken: dict[Any, Var] = {}
        given: dict[Any, Var] = {}
        counts: dict[Aval, int] = {}
        for (source, i), var in zip(split.residuals, split.linear.inputs, strict=False):
            place: Any = source, i
            if source == "output" and i >= count:
                saved = split.forward.outputs[i]
                aval = saved.aval.strong()
                counts[aval] = counts.get(aval, -1) + 1
                place = aval, counts[aval]
                given[place] = saved
            places[place] = None
            taken[place] = var
        used.append(taken)
        made.append(given)
    extra = [p for p in places if isinstance(p[0], Aval)]
    forward = tuple(
        _forward(split.forward, extra, given, count)
        for split, given in zip(splits, made, strict=True)
    )
    types = {p: v.aval for taken in used for p, v in taken.items()}
    linear = tuple(
        Graph(
            (
                *(taken.get(p) or Var(types[p]) for p in places),
                *split.linear.inputs[len(split.residuals) :],
            ),
            split.linear.equations,
            split.linear.outputs,
            split.linear.constants,
            split.linear.constant_values,
        )
        for split, taken in zip(splits, used, strict=True)
    )
    sources = [("output", count + extra.index(p)) if isinstance(p[0], Aval) else p for p in places]
    return forward, linear, sources


def _forward(graph: Graph, extra: list[Any], given: dict[Any, Var], count: int) -> Graph:
    missing = {p: Var(p[0]) for p in extra if p not in given}
    return Graph(
        graph.inputs,
        (*graph.equations, *(e for v in missing.values() for e in zeros_equations(v))),
        (*graph.outputs[:count], *(given.get(p) or missing[p] for p in extra)),
        graph.constants,
        graph.constant_values,
    )


def with_inputs(graph: Graph, own: Sequence[Any], wanted: Sequence[Any]) -> Graph:
    """A graph whose first inputs stand for the values `wanted`, of which it uses `own`."""
    by_value = {id(x): v for x, v in zip(own, graph.inputs, strict=False)}
    first = [by_value.get(id(x)) or Var(x.aval) for x in wanted]
    return Graph(
        (*first, *graph.inputs[len(own) :]),
        graph.equations,
        graph.outputs,
        graph.constants,
        graph.constant_values,
    )


def with_outputs(graph: Graph, more: Sequence[Equation], outputs: Sequence[Var]) -> Graph:
    """A graph with further equations at its end, and other outputs."""
    return Graph(
        graph.inputs,
        (*graph.equations, *more),
        outputs,
        graph.constants,
        graph.constant_values,
    )


cond = Cond()
