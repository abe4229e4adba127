"""A staged function on its way to a program: traced, lowered, compiled.

These are what `jit(f).trace`, `.lower` and `.compile` return, apart from how calls find them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from arrayx import errors
from arrayx.api.arguments import ShapeDtypeStruct, as_value
from arrayx.backend.contract import CompileOptions, Device, Executable
from arrayx.backend.dispatch import compile_graph, run_graph
from arrayx.core.graph import Graph
from arrayx.treedef import TreeDef, flatten, unflatten


class Traced(NamedTuple):
    """A function staged for one kind of arguments."""

    graph: Graph
    out_tree: TreeDef
    captured: tuple[Any, ...]
    # Leaves of the result that no program computes: derivatives of integers (float0).
    fixed: tuple[tuple[int, Any], ...]

    def rebuild(self, results: Sequence[Any]) -> Any:
        """The function's result from the program's outputs."""
        if self.fixed:
            leaves = list(results)
            for i, leaf in self.fixed:
                leaves.insert(i, leaf)
            return unflatten(self.out_tree, leaves)
        return unflatten(self.out_tree, results)


class TracedFunction:
    """A function staged for one kind of arguments: its graph, and the way on to a program."""

    def __init__(
        self,
        traced: Traced,
        in_tree: TreeDef,
        device: Device,
        donated: tuple[int, ...],
        name: str,
    ) -> None:
        self.graph = traced.graph
        self.traced = traced
        self.in_tree = in_tree
        self.device = device
        self.donated = donated
        self.name = name

    @property
    def out_info(self) -> Any:
        """The types of the results, in their structure."""
        return types_of(self.traced)

    def lower(self) -> Lowered:
        """Prepares the graph for its device."""
        return Lowered(self)


class Lowered:
    """A staged function in the language of its backend."""

    def __init__(self, traced: TracedFunction) -> None:
        self.traced = traced
        self.graph = traced.graph

    @property
    def out_info(self) -> Any:
        """The types of the results, in their structure."""
        return self.traced.out_info

    def as_text(self) -> str:
        """The program as text: StableHLO on `xla`, generated Python on `numpy`."""
        return self.traced.device.backend.lowered_text(self.graph, self.options())

    def options(self) -> CompileOptions:
        """How it is going to be compiled."""
        return CompileOptions(self.traced.device, self.traced.donated)

    def compile(self) -> Compiled:
        """Compiles the program."""
        return Compiled(self, compile_graph(self.graph, self.options()))


class Compiled:
    """A compiled function: called with arguments of the types it was compiled for."""

    def __init__(self, lowered: Lowered, program: Executable) -> None:
        self.lowered = lowered
        self.program = program

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        traced = self.lowered.traced
        leaves, in_tree = flatten((list(args), kwargs))
        if in_tree != traced.in_tree:
            raise errors.ArgumentError(
                f"{traced.name} was compiled for arguments of structure {traced.in_tree}, "
                f"called with {in_tree}"
            )
        values = [as_value(x) for x in leaves]
        for i, (x, aval) in enumerate(zip(values, traced.graph.in_avals, strict=True)):
            if x.shape != aval.shape or x.dtype != aval.dtype:
                raise errors.ArgumentError(
                    f"{traced.name} was compiled for {aval} as leaf {i} of its arguments, "
                    f"called with {x.dtype}{list(x.shape)}"
                )
        results = run_graph(traced.graph, values, traced.device, traced.donated, traced.name)
        return traced.traced.rebuild(results)

    def as_text(self) -> str:
        """The compiled program as text, as optimised as its backend shows it."""
        return self.program.text()

    def cost_analysis(self) -> dict[str, float]:
        """Figures such as flops and bytes accessed, where the backend knows them."""
        return self.program.cost_analysis()

    def memory_analysis(self) -> Any:
        """Bytes of arguments, outputs and temporaries, where the backend knows them."""
        return self.program.memory_analysis()


def types_of(traced: Traced) -> Any:
    """The results' types as ShapeDtypeStructs in their structure."""
    types = [
        ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in traced.graph.out_avals
    ]
    for i, leaf in traced.fixed:
        types.insert(i, ShapeDtypeStruct(leaf.shape, leaf.dtype))
    return unflatten(traced.out_tree, types)
