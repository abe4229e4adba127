"""The named axes that are open around running code, and which of them a program mentions.

They are apart from `vmap`, which opens them, because primitives of several lanes (collectives)
stand below it and ask which axis is being resolved.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, NoReturn

from arrayx import errors, source
from arrayx.core.graph import Equation, Graph, graphs_in
from arrayx.core.primitive import NO_NAMES, Primitive


class NamedAxis(NamedTuple):
    """An open axis.

    `tracked` axes are those of a mesh under `shard_map`: types say over which of them a value
    varies.  The others are those of `vmap` and `pmap`.
    """

    name: Any
    size: int
    tracked: bool


# What is open around the running code, outermost first: named axes and, among them, meshes.
# It is part of every cache key of staged code.
axis_environment: ContextVar[tuple[Any, ...]] = ContextVar("arrayx_axes", default=())
# The name of the axis that a `vmap` rule is at work for; None for an axis without name.
mapped_axis: ContextVar[Any] = ContextVar("arrayx_mapped_axis", default=None)


def open_axes() -> list[NamedAxis]:
    """The named axes that are open here, outermost first."""
    return [x for x in axis_environment.get() if type(x) is NamedAxis]


def find_axis(name: Any, what: str = "a named axis") -> NamedAxis:
    """The open axis of this name, the innermost one; `what` asks for it."""
    for axis in reversed(axis_environment.get()):
        if type(axis) is NamedAxis and axis.name == name:
            return axis
    refuse_unbound(name, what)


def refuse_unbound(name: Any, what: str) -> NoReturn:
    """Raises the error for the name of an axis that is not open."""
    shown = ", ".join(f"{a.name!r} of size {a.size}" for a in open_axes()) or "none"
    raise errors.UnboundAxisError(
        f"{what}: no axis named {name!r} is open here; open axes: {shown}.\n"
        f"  asked at: {source.current()}\n"
        f"Axes are opened by ax.vmap(f, axis_name={name!r}), ax.pmap(f, axis_name={name!r}), and "
        "ax.shard_map for the axes of its mesh."
    )


@contextmanager
def named_axis(name: Any, size: int, tracked: bool = False) -> Iterator[None]:
    """Opens a named axis inside the block; no name, no axis."""
    if name is None:
        yield
        return
    with surrounded(NamedAxis(name, size, tracked)):
        yield


@contextmanager
def surrounded(*items: Any) -> Iterator[None]:
    """Adds axes or a mesh to what is open inside the block."""
    token = axis_environment.set((*axis_environment.get(), *items))
    try:
        yield
    finally:
        axis_environment.reset(token)


@contextmanager
def resolving(name: Any) -> Iterator[None]:
    """Works for the axis of this name inside the block; graphs batched there resolve it."""
    token = mapped_axis.set(name)
    try:
        yield
    finally:
        mapped_axis.reset(token)


# ----------------------------------------------------------------- what programs mention


def names_of(primitive: Primitive, params: dict[str, Any]) -> frozenset[Any]:
    """The named axes that an application mentions, in its graphs too."""
    if not primitive.holds_graphs:
        return primitive.axis_names(**params)
    found = NO_NAMES.union(*(names_in(g) for v in params.values() for g in graphs_in(v)))
    return found - primitive.axis_names(**params)


def mentions(name: Any, primitive: Primitive, params: dict[str, Any]) -> bool:
    """True where an application may mention the axis of this name."""
    if name is None:
        return False
    if primitive.callable_params and params.get("graph", params) is None:
        return True  # a function that nobody has staged so far
    return name in names_of(primitive, params)


def names_in(graph: Graph) -> frozenset[Any]:
    """The named axes that a graph mentions: by collectives, or because a type varies over them."""
    found = graph.memo.get("axis names")
    if found is None:
        names: set[Any] = set()
        for variables in (graph.inputs, graph.outputs):
            for v in variables:
                names |= v.aval.varying
        for e in graph.equations:
            names |= _names_at(e)
        found = graph.memo["axis names"] = frozenset(names)
    return found  # type: ignore[no-any-return]


def _names_at(e: Equation) -> frozenset[Any]:
    found = NO_NAMES
    if e.primitive.names_axes or e.primitive.holds_graphs:
        found = names_of(e.primitive, e.params)
    return NO_NAMES.union(found, *(v.aval.varying for v in e.outputs if v.aval.varying))
