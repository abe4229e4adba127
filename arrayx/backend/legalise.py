"""From a staged graph to the core dialect that a backend compiles.

After it no `call` is left that the backend does not keep, every primitive is one that the
backend supports, keys are pairs of uint32, and types are strong.  `check_core` is the
definition of that dialect as a check.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from arrayx import errors
from arrayx.backend.concrete import ConcreteArray, physical_aval
from arrayx.backend.contract import Backend
from arrayx.control.call import call
from arrayx.control.placement import device_put
from arrayx.control.shard_map import shard_map
from arrayx.core.array import is_scalar, typeof
from arrayx.core.aval import Aval
from arrayx.core.graph import Equation, Graph, Var, subgraphs
from arrayx.core.interpreter import Interpreter, Tracer, current, opened
from arrayx.core.primitive import Primitive
from arrayx.dtypes import KeyDtype
from arrayx.primitives.axes import move_batch_dim
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.stage import StageInterpreter, derive


def legalise(graph: Graph, backend: Backend) -> Graph:
    """The graph in the core dialect of `backend`; raises `UnsupportedError` if it cannot be."""
    key = "legal", backend
    if key not in graph.memo:
        avals = [physical_aval(a) for a in graph.in_avals]
        graph.memo[key] = derive(lambda *args: _legalised(graph, args, backend), avals)
    return graph.memo[key]  # type: ignore[no-any-return]


def _legalised(graph: Graph, args: Sequence[Any], backend: Backend) -> list[Any]:
    interpreter = Legaliser(current.get(), backend)
    with opened(interpreter):
        inputs = [interpreter.logical(x, a) for x, a in zip(args, graph.in_avals, strict=True)]
        return [interpreter.physical(x) for x in evaluate(graph, inputs)]


def refuse_other_place(wanted: str, here: str, kind: str) -> NoReturn:
    """Raises the error for a part of a program that asks for another place than the whole.

    `kind` is what the places are: backends or devices.
    """
    raise errors.MixedBackendsError(
        f"a program that is compiled for the {kind} {here!r} has a part that asks for "
        f"{wanted!r} (ax.device_put, or ax.jit with device= or backend=), but the whole of a "
        f"program runs on one {kind}. Give the outermost ax.jit that {kind} or arguments that "
        "live there, or call the part outside of it."
    )


def places_in(graph: Graph) -> frozenset[str]:
    """The devices that parts of a program ask for."""
    key = "places"
    if key not in graph.memo:
        found: set[str] = set()
        for e in graph.equations:
            if e.primitive is device_put:
                found.add(e.params["device"])
            for inner in subgraphs(e):
                found |= places_in(inner)
        graph.memo[key] = frozenset(found)
    return graph.memo[key]  # type: ignore[no-any-return]


class KeyTracer(Tracer):
    """Random keys, whose elements `value` holds as pairs of uint32."""

    __slots__ = ("value",)

    def __init__(self, interpreter: Interpreter, aval: Aval, value: Any) -> None:
        self.interpreter = interpreter
        self.aval = aval
        self.value = value


class Legaliser(Interpreter):
    """Passes on what the backend supports and expands everything else.

    Keys become pairs of uint32 on the way, so that no backend ever meets them.
    """

    __slots__ = ("backend", "unwrapped")
    word = "legalisation"

    def __init__(self, parent: Interpreter, backend: Backend) -> None:
        super().__init__(parent)
        self.backend = backend
        # Constant keys and their words, by identity; the key is held so that its id stays.
        self.unwrapped: dict[int, tuple[Any, Any]] = {}

    def apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if primitive is call and not self.backend.keeps_calls:
            return tuple(evaluate(params["graph"], args))
        if primitive is device_put:
            wanted = params["device"].partition(":")[0]
            if wanted != self.backend.name:
                refuse_other_place(wanted, self.backend.name, "backend")
        if primitive is shard_map and not self.backend.collectives:
            return shard_map.expand(*args, **params)
        avals = tuple([type(a) if is_scalar(a) else typeof(a) for a in args])
        out = primitive.infer(avals, params)
        outs = out if primitive.multiple else (out,)
        if not has_keys((*avals, *outs)):
            return self.pass_on(primitive, args, args, params)
        operands = tuple([self.physical(a) for a in args])
        if primitive.on_keys is not None:
            result = primitive.on_keys(avals, *operands, **params)
        elif _holds_graphs(params):
            result = self.pass_on(primitive, args, operands, params)
        elif primitive.vmap is not None and not primitive.multiple:
            result = _moved(primitive, avals, out, operands, params)
        else:
            result = self.expanded(primitive, args, params, "it is not defined for keys")
        if not primitive.multiple:
            return self.logical(result, out)
        return tuple([self.logical(r, a) for r, a in zip(result, outs, strict=True)])

    def pass_on(
        self,
        primitive: Primitive,
        args: tuple[Any, ...],
        operands: tuple[Any, ...],
        params: dict[str, Any],
    ) -> Any:
        """Records what the backend supports; `operands` are `args` without keys."""
        legal = {k: self.subgraph(v) for k, v in params.items()}
        answer = self.backend.supports(as_equation(primitive, operands, legal))
        if answer is True:
            # Recorded as it is: what is special about staging it has happened already.
            stage = self.parent
            assert isinstance(stage, StageInterpreter)
            return stage.record(primitive, operands, legal)
        reason = answer if isinstance(answer, str) else "it has no kernel for it"
        return self.expanded(primitive, args, params, reason)

    def expanded(
        self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any], reason: str
    ) -> Any:
        """The expansion of a primitive that cannot be run for this reason."""
        if primitive.expand is None:
            raise errors.UnsupportedError(
                f"backend {self.backend.name!r} cannot run {primitive.name}: {reason}"
            )
        return primitive.expand(*args, **params)

    def physical(self, x: Any) -> Any:
        """The words of keys; everything else is what it is."""
        if type(x) is KeyTracer:
            return x.value
        if isinstance(x, ConcreteArray) and isinstance(x.aval.dtype, KeyDtype):
            held = self.unwrapped.get(id(x))
            if held is None:
                held = self.unwrapped[id(x)] = x, x.unwrapped()
            return held[1]
        return x

    def logical(self, x: Any, aval: Aval) -> Any:
        """A value of type `aval` from its words."""
        if isinstance(aval.dtype, KeyDtype) and type(x) is not KeyTracer:
            return KeyTracer(self, aval, x)
        return x

    def subgraph(self, value: Any) -> Any:
        """Graphs among the params are legalised like the whole."""
        if isinstance(value, Graph):
            return legalise(value, self.backend)
        if type(value) is tuple and any(isinstance(v, Graph) for v in value):
            return tuple(self.subgraph(v) for v in value)
        return value


def as_equation(primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Equation:
    """An application as an equation, for `Backend.supports`."""
    avals = tuple([type(a) if is_scalar(a) else typeof(a) for a in args])
    result = primitive.infer(avals, params)
    inputs = tuple([a if is_scalar(a) else Var(typeof(a)) for a in args])
    outputs = tuple(Var(a) for a in (result if primitive.multiple else (result,)))
    return Equation(primitive, inputs, params, outputs)


def has_keys(avals: Sequence[Any]) -> bool:
    """True if one of these types is that of random keys."""
    return any(type(a) is Aval and isinstance(a.dtype, KeyDtype) for a in avals)


def _holds_graphs(params: dict[str, Any]) -> bool:
    return any(
        isinstance(v, Graph) or (type(v) is tuple and any(isinstance(w, Graph) for w in v))
        for v in params.values()
    )


def _moved(
    primitive: Primitive,
    avals: Sequence[Any],
    out: Aval,
    operands: Sequence[Any],
    params: dict[str, Any],
) -> Any:
    """A primitive that moves elements without looking at them, applied to the words of keys.

    Keys are arrays of uint32 with one axis more, at the end, which the primitive does not
    see: that is what its vmap rule is for.  Type rules let keys in only where this is right.
    """
    (words,) = KeyDtype().physical_shape
    dims = [a.ndim if has_keys((a,)) else None for a in avals]
    result, dim = primitive.vmap(words, operands, dims, **params)  # type: ignore[misc]
    return move_batch_dim(words, result, dim, out.ndim)


def check_core(graph: Graph, backend: Backend) -> None:
    """Raises `GraphError` where a graph is not in the backend's core dialect."""
    for e in graph.equations:
        if e.primitive is call and not backend.keeps_calls:
            raise errors.GraphError("a call was left after legalisation")
        answer = backend.supports(e)
        if answer is not True:
            raise errors.GraphError(f"{e.primitive.name} is not supported: {answer}")
        if has_keys([v.aval for v in e.outputs]):
            raise errors.GraphError(f"{e.primitive.name} still gives keys")
        for value in e.params.values():
            for sub in value if type(value) is tuple else (value,):
                if isinstance(sub, Graph):
                    check_core(sub, backend)
