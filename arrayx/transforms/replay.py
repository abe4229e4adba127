"""A linear tape as data: a graph, and the known values it needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from arrayx.core.array import is_scalar, typeof
from arrayx.core.checking import checked
from arrayx.core.graph import Equation, Graph, Var
from arrayx.core.linear import Zero
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.linearize import PRODUCT, Linearized, LinearTracer
from arrayx.transforms.vjp import transpose_graph


class LinearGraph(NamedTuple):
    """A derivative without its known values: equal for equal derivatives.

    `graph` takes known values, then the tangents of the inputs marked in `moving`; it gives the
    tangents of the outputs marked in `varying`.
    """

    graph: Graph
    moving: tuple[bool, ...]
    varying: tuple[bool, ...]


class Replayed:
    """A derivative, made of its graph and known values again; it serves as the tape did."""

    __slots__ = ("inputs", "known", "linear")

    def __init__(self, linear: LinearGraph, known: Sequence[Any]) -> None:
        self.linear = linear
        self.known = list(known)
        self.inputs = [True if m else None for m in linear.moving]

    def forward(self, tangents: Sequence[Any]) -> list[Any]:
        """The outputs' tangents (or `Zero`) for tangents of the differentiated inputs."""
        found = iter(evaluate(self.linear.graph, [*self.known, *tangents]))
        return [next(found) if v else Zero for v in self.linear.varying]

    def backward(self, cotangents: Sequence[Any]) -> list[Any]:
        """Cotangents (or `Zero`) of the differentiated inputs for those of the outputs."""
        graph = self.linear.graph
        cts = [ct for ct, v in zip(cotangents, self.linear.varying, strict=True) if v]
        n = len(self.known)
        linear = (*(False,) * n, *(True,) * (len(graph.inputs) - n))
        given = tuple(ct is not Zero for ct in cts)
        transposed, found = transpose_graph(graph, linear, given)
        results = iter(evaluate(transposed, [*self.known, *(ct for ct in cts if ct is not Zero)]))
        return [next(results) if f else Zero for f in found]


def as_data(linear: Linearized) -> tuple[LinearGraph, list[Any]]:
    """A tape as a graph, and the known values that stand on it."""
    tape = linear.tape
    tangents: list[Any] = [None] * tape.count
    first: list[Var] = []
    for t in linear.inputs:
        if t is not None:
            tangents[t.index] = Var(t.aval)
            first.append(tangents[t.index])
    known: dict[int, tuple[Var, Any]] = {}

    def operand(a: Any) -> Any:
        if type(a) is LinearTracer and a.interpreter is tape:
            return tangents[a.index]
        if is_scalar(a):
            return a
        if id(a) not in known:
            known[id(a)] = Var(typeof(a)), a
        return known[id(a)][0]

    equations = []
    for primitive, args, given, result in tape.entries:
        params = {} if given is PRODUCT else given
        if primitive.enclose is not None:
            # What is traced now ends before this runs.
            args, params = primitive.enclose(args, params)
        inputs = tuple(map(operand, args))
        outputs = []
        for r in result if primitive.multiple else (result,):
            tangents[r.index] = Var(r.aval)
            outputs.append(tangents[r.index])
        effects = primitive.effects(**params)
        equations.append(Equation(primitive, inputs, params, tuple(outputs), effects))
    graph = Graph(
        (*(v for v, _ in known.values()), *first),
        equations,
        [tangents[t.index] for t in linear.tangents if t is not Zero],
    )
    moving = tuple(t is not None for t in linear.inputs)
    varying = tuple(t is not Zero for t in linear.tangents)
    return LinearGraph(checked(graph), moving, varying), [x for _, x in known.values()]
