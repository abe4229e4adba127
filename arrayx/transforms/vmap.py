"""Vectorization: one program for a whole axis of inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayx.core.graph import Graph
from arrayx.core.interpreter import Interpreter, Tracer, current, opened
from arrayx.core.named_axes import mapped_axis, mentions, named_axis
from arrayx.core.primitive import Primitive
from arrayx.primitives.axes import move_batch_dim
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.jvp import without_rule
from arrayx.transforms.stage import derive, made_from


class BatchTracer(Tracer):
    """An array with one axis, number `dim`, that the function does not see."""

    __slots__ = ("dim", "roots", "value")
    # The arguments that it was computed from, as bits: for messages, at the cost of an `or`.
    roots: int

    def __init__(self, interpreter: Interpreter, value: Any, dim: int, roots: int = 0) -> None:
        self.interpreter = interpreter
        self.value = value
        self.dim = dim
        self.roots = roots
        aval = value.aval
        self.aval = aval.update(shape=aval.shape[:dim] + aval.shape[dim + 1 :])

    def origin(self) -> str:
        paths = getattr(self.interpreter, "paths", None)
        if paths is None or not self.roots:
            return self.value.origin() if isinstance(self.value, Tracer) else ""
        return made_from(None, [p for i, p in enumerate(paths()) if self.roots >> i & 1])


class VmapInterpreter(Interpreter):
    """Applies every primitive's `vmap` rule to arrays with a batch axis."""

    __slots__ = ("axis_name", "paths", "size", "word")
    remedy = (
        "in_axes=None of ax.vmap for an argument that every call shares, which keeps its value; "
        "or a Python loop over the examples"
    )

    def __init__(
        self,
        parent: Interpreter,
        size: int,
        axis_name: Any,
        word: str = "ax.vmap",
        paths: Callable[[], Sequence[str]] | None = None,
    ) -> None:
        super().__init__(parent)
        self.size = size
        self.axis_name = axis_name
        self.word = word
        # The arguments' paths, in the order of the bits of `BatchTracer.roots`.
        self.paths = paths

    def apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        values: list[Any] = []
        dims: list[int | None] = []
        batched = False
        roots = 0
        for a in args:
            if type(a) is BatchTracer and a.interpreter is self:
                values.append(a.value)
                dims.append(a.dim)
                roots |= a.roots
                batched = True
            else:
                values.append(a)
                dims.append(None)
        # What names axes, directly or in its graphs, may be different in each lane all the same.
        names_axes = primitive.names_axes or primitive.holds_graphs
        if not batched and not (names_axes and mentions(self.axis_name, primitive, params)):
            return self.parent.apply(primitive, args, params)  # type: ignore[union-attr]
        rule = primitive.vmap
        if rule is None:
            return without_rule(self, primitive, "vmap", args, params)
        token = current.set(self.parent)  # type: ignore[arg-type]
        # Rules learn here which axis they are asked about; most need not know.
        mapped = mapped_axis.set(self.axis_name) if names_axes else None
        try:
            result, dim = rule(self.size, values, dims, **params)
        finally:
            current.reset(token)
            if mapped is not None:
                mapped_axis.reset(mapped)
        if primitive.multiple:
            return tuple(
                r if d is None else BatchTracer(self, r, d, roots)
                for r, d in zip(result, dim, strict=True)
            )
        return result if dim is None else BatchTracer(self, result, dim, roots)


def vmap_flat(
    fun: Callable[..., Sequence[Any]],
    size: int,
    args: Sequence[Any],
    dims: Sequence[int | None],
    axis_name: Any = None,
    word: str = "ax.vmap",
    paths: Callable[[], Sequence[str]] | None = None,
) -> tuple[list[Any], list[int | None]]:
    """Runs a flat function over an axis; results come with the place of their batch axis.

    `word` names the transformation and `paths` the arguments in error messages.
    """
    interpreter = VmapInterpreter(current.get(), size, axis_name, word, paths)
    with opened(interpreter), named_axis(axis_name, size):
        inputs = [
            a if d is None else BatchTracer(interpreter, a, d, 1 << i)
            for i, (a, d) in enumerate(zip(args, dims, strict=True))
        ]
        results = fun(*inputs)
    outs: list[Any] = []
    out_dims: list[int | None] = []
    for r in results:
        if type(r) is BatchTracer and r.interpreter is interpreter:
            outs.append(r.value)
            out_dims.append(r.dim)
        else:
            outs.append(r)
            out_dims.append(None)
    return outs, out_dims


def vmap_graph(
    graph: Graph,
    size: int,
    dims: tuple[int | None, ...],
    out_dims: tuple[int | None, ...] | None = None,
) -> tuple[Graph, tuple[int | None, ...]]:
    """The graph over a batch of inputs; its outputs' batch axes are the second result.

    With `out_dims` the batch axes of the outputs are moved, or made, where it says; an
    output that is batched must not be None there.  In a `vmap` rule the axis has the name for
    which the rule was asked, and what the graph does over that name is resolved.
    """
    name = mapped_axis.get()
    key = "vmap", size, dims, out_dims, name
    if key not in graph.memo:
        found: tuple[int | None, ...] = ()

        def batched(*args: Any) -> list[Any]:
            nonlocal found
            outs, made = vmap_flat(lambda *xs: evaluate(graph, xs), size, args, dims, name)
            if out_dims is not None:
                outs = [
                    o if to is None else move_batch_dim(size, o, d, to)
                    for o, d, to in zip(outs, made, out_dims, strict=True)
                ]
                made = list(out_dims)
            found = tuple(made)
            return outs

        # Over an axis that is resolved, a value does not vary any more: it has the axis.
        given = [
            a.update(varying=a.varying - {name}) if name in a.varying else a for a in graph.in_avals
        ]
        avals = [
            a if d is None else a.update(shape=(*a.shape[:d], size, *a.shape[d:]))
            for a, d in zip(given, dims, strict=True)
        ]
        graph.memo[key] = derive(batched, avals), found
    return graph.memo[key]  # type: ignore[no-any-return]


def batched_outputs(graph: Graph, size: int, dims: tuple[int | None, ...]) -> tuple[bool, ...]:
    """Which outputs of the batched graph have a batch axis."""
    return tuple(d is not None for d in vmap_graph(graph, size, dims)[1])
