"""From a staged graph to the core dialect that a backend compiles.

After it no `call` is left that the backend does not keep, every primitive is one that the
backend supports, keys are pairs of uint32, and types are strong.  `check_core` is the
definition of that dialect as a check.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayx import errors
from arrayx.backend.concrete import physical
from arrayx.backend.contract import Backend
from arrayx.control.call import call
from arrayx.core.aval import Aval
from arrayx.core.graph import Equation, Graph, Var
from arrayx.core.interpreter import Interpreter, current, opened
from arrayx.core.primitive import Primitive, aval_or_scalar_type
from arrayx.dtypes import KeyDtype
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.stage import StageInterpreter, derive


def legalise(graph: Graph, backend: Backend) -> Graph:
    """The graph in the core dialect of `backend`; raises `UnsupportedError` if it cannot be."""
    key = "legal", backend.name
    if key not in graph.memo:
        expanded = derive(
            lambda *args: _expanding(graph, args, backend), graph.in_avals
        )
        graph.memo[key] = _physical(expanded)
    return graph.memo[key]  # type: ignore[no-any-return]


def _expanding(graph: Graph, args: Sequence[Any], backend: Backend) -> list[Any]:
    interpreter = Legaliser(current.get(), backend)
    with opened(interpreter):
        return evaluate(graph, args)


class Legaliser(Interpreter):
    """Passes on what the backend supports and expands everything else."""

    __slots__ = ("backend",)
    word = "legalisation"

    def __init__(self, parent: Interpreter, backend: Backend) -> None:
        super().__init__(parent)
        self.backend = backend

    def apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if primitive is call and not self.backend.keeps_calls:
            return tuple(evaluate(params["graph"], args))
        params = {k: self.subgraph(v) for k, v in params.items()}
        answer = self.backend.supports(as_equation(primitive, args, params))
        if answer is True:
            # Recorded as it is: what is special about staging it has happened already.
            stage = self.parent
            assert isinstance(stage, StageInterpreter)
            return stage.record(primitive, args, params)
        if primitive.expand is None:
            reason = answer if isinstance(answer, str) else "it has no kernel for it"
            raise errors.UnsupportedError(
                f"backend {self.backend.name!r} cannot run {primitive.name}: {reason}"
            )
        return primitive.expand(*args, **params)

    def subgraph(self, value: Any) -> Any:
        """Graphs among the params are legalised like the whole."""
        if isinstance(value, Graph):
            return legalise(value, self.backend)
        if type(value) is tuple and any(isinstance(v, Graph) for v in value):
            return tuple(self.subgraph(v) for v in value)
        return value


def as_equation(primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Equation:
    """An application as an equation, for `Backend.supports`."""
    avals = tuple(aval_or_scalar_type(a) for a in args)
    result = primitive.infer(avals, params)
    inputs = tuple(Var(a.aval) if hasattr(a, "aval") else a for a in args)
    outputs = tuple(Var(a) for a in (result if primitive.multiple else (result,)))
    return Equation(primitive, inputs, params, outputs)


def _has_keys(avals: Sequence[Any]) -> bool:
    return any(type(a) is Aval and isinstance(a.dtype, KeyDtype) for a in avals)


def _physical(graph: Graph) -> Graph:
    """Keys as pairs of uint32, weak types forgotten."""
    avals = [v.aval for v in (*graph.inputs, *graph.constants)]
    avals += [v.aval for e in graph.equations for v in e.outputs]
    if not _has_keys(avals):
        return graph

    def run(*args: Any) -> list[Any]:
        values: dict[Any, Any] = dict(zip(graph.inputs, args, strict=True))
        for var, value in zip(graph.constants, graph.constant_values, strict=True):
            values[var] = value.unwrapped() if _has_keys([var.aval]) else value
        for e in graph.equations:
            inputs = [values[a] if type(a) is Var else a for a in e.inputs]
            touched = [a.aval for a in (*e.inputs, *e.outputs) if type(a) is Var]
            if _has_keys(touched):
                operands = [a.aval if type(a) is Var else a for a in e.inputs]
                result = e.primitive.on_keys(operands, *inputs, **e.params)  # type: ignore[attr-defined]
            else:
                result = e.primitive(*inputs, **e.params)
            results = result if e.primitive.multiple else (result,)
            values.update(zip(e.outputs, results, strict=True))
        return [values[v] for v in graph.outputs]

    return derive(run, [physical_aval(a) for a in graph.in_avals])


def physical_aval(aval: Aval) -> Aval:
    """The type that the elements are kept in."""
    shape, dtype = physical(aval)
    return aval if dtype is aval.dtype else Aval(shape, dtype)


def check_core(graph: Graph, backend: Backend) -> None:
    """Raises `GraphError` where a graph is not in the backend's core dialect."""
    for e in graph.equations:
        if e.primitive is call and not backend.keeps_calls:
            raise errors.GraphError("a call was left after legalisation")
        answer = backend.supports(e)
        if answer is not True:
            raise errors.GraphError(f"{e.primitive.name} is not supported: {answer}")
        if _has_keys([v.aval for v in e.outputs]):
            raise errors.GraphError(f"{e.primitive.name} still gives keys")
        for value in e.params.values():
            for sub in value if type(value) is tuple else (value,):
                if isinstance(sub, Graph):
                    check_core(sub, backend)
