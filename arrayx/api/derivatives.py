"""Derivatives at a point as functions: what `vjp` and `linearize` return.

They are trees, whose leaves are the values that they need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from arrayx.api.operands import (
    float0_zeros,
    given_tangents,
    home_of,
    instantiated,
    working_at,
)
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.transforms.linearize import Linearized
from arrayx.transforms.replay import Replayed, as_data
from arrayx.transforms.vjp import backward
from arrayx.tree_nodes import keystr, register_pytree_node
from arrayx.treedef import TreeDef, flatten_with_path, unflatten


def pulled_back(
    linear: Linearized | Replayed, cts: Sequence[Any], primals: Sequence[Any]
) -> list[Any]:
    """Cotangents of all primals as arrays, float0 where there is no derivative."""
    found = iter(linear.backward(cts) if isinstance(linear, Replayed) else backward(linear, cts))
    return [
        float0_zeros(p.aval) if t is None else instantiated(next(found), p.aval)
        for p, t in zip(primals, linear.inputs, strict=True)
    ]


class Outline(NamedTuple):
    """A function's name, the structure of its arguments and result, and their types."""

    name: str
    tree: TreeDef
    out_tree: TreeDef
    in_avals: tuple[Aval, ...]
    out_avals: tuple[Aval, ...]


class Derivative:
    """A function's derivative at a point, as a function of tangents or of cotangents.

    It is a tree: its leaves are the values that it needs, so that functions under `jit`, `vmap`
    and loops can return it and take it as an argument.
    """

    __slots__ = ("data", "device", "flat", "linear", "out_avals", "outs", "paths", "primals")

    def __init__(
        self,
        linear: Linearized | Replayed,
        flat: Outline,
        device: Any,
        outs: int,
        paths: Callable[[], list[str]] | None = None,
    ) -> None:
        self.linear = linear
        self.flat = flat
        # Types alone: the tape holds what it needs of the values.
        self.primals = [_Typed(a) for a in flat.in_avals]
        self.out_avals = flat.out_avals
        # How many arrays the function gave, auxiliary ones included.
        self.outs = outs
        self.paths = self.in_paths if paths is None else paths
        self.device = device
        self.data: Any = None

    def in_paths(self) -> list[str]:
        """How each leaf of the arguments is called where the function is not known."""
        marks = unflatten(self.flat.tree, list(range(self.flat.tree.num_leaves)))
        return ["args" + keystr(path) for path, _ in flatten_with_path(marks)[0]]

    def apart(self) -> tuple[list[Any], tuple[Any, ...]]:
        """The leaves, and all else, which is equal for equal derivatives."""
        if self.data is None:
            if type(self.linear) is Replayed:
                self.data = self.linear.linear, self.linear.known
            else:
                self.data = as_data(self.linear)  # type: ignore[arg-type]
        linear, known = self.data
        return known, (linear, self.flat, self.outs)

    def out_paths(self) -> list[str]:
        """How the user would write each leaf of the result."""
        marks = unflatten(self.flat.out_tree, list(range(len(self.flat.out_avals))))
        return ["the result" + keystr(path) for path, _ in flatten_with_path(marks)[0]]


class _Typed:
    """Stands for a value of which only the type matters."""

    __slots__ = ("aval",)

    def __init__(self, aval: Aval) -> None:
        self.aval = aval


class Pullback(Derivative):
    """Cotangents of the result to those of the arguments: what `ax.vjp` returns."""

    __slots__ = ()

    def __call__(self, cotangents: Any) -> Any:
        flat = self.flat
        with working_at(self.device):
            cts = given_tangents(
                "the function returned by ax.vjp",
                "cotangent",
                cotangents,
                flat.out_tree,
                self.out_avals,
                self.out_paths,
            )
            extra = [Zero] * (self.outs - len(flat.out_avals))
            found = pulled_back(self.linear, [*cts, *extra], self.primals)
        return unflatten(flat.tree, found)

    def __repr__(self) -> str:
        return f"<pullback of {self.flat.name}>"


class Pushforward(Derivative):
    """Tangents of the arguments to those of the result: what `ax.linearize` returns."""

    __slots__ = ()

    def __call__(self, *tangents: Any) -> Any:
        flat = self.flat
        with working_at(self.device):
            given = given_tangents(
                "the function returned by ax.linearize",
                "tangent",
                tangents,
                flat.tree,
                [p.aval for p in self.primals],
                self.paths,
            )
            moving = [t for t, i in zip(given, self.linear.inputs, strict=True) if i is not None]
            found = self.linear.forward(moving)[: len(flat.out_avals)]
            shown = [instantiated(t, a) for t, a in zip(found, self.out_avals, strict=True)]
        return unflatten(flat.out_tree, shown)

    def __repr__(self) -> str:
        return f"<pushforward of {self.flat.name}>"


def _register(cls: type[Derivative]) -> None:
    def again(aux: tuple[Any, ...], children: Any) -> Derivative:
        linear, flat, outs = aux
        known = list(children)
        return cls(Replayed(linear, known), flat, home_of(known), outs)

    register_pytree_node(cls, lambda x: x.apart(), again)


_register(Pullback)
_register(Pushforward)
