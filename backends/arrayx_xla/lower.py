"""From a legalised graph to the text of a StableHLO module.

The same graph gives the same text, in time that grows linearly with its equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from arrayx.core.graph import Equation, Graph
from arrayx.core.primitive import Primitive
from arrayx_xla.emitter import Emitter, Module
from arrayx_xla.rules import RULES, WHEN


class Lowered(NamedTuple):
    """A module's text, and the arrays that `@main` takes behind its arguments."""

    text: str
    arrays: tuple[Any, ...]
    # The Python functions that it calls, by number.
    callbacks: tuple[Any, ...]
    # Whether it has effects; its last result then only says that they are over.
    ordered: bool


def takes(primitive: Primitive) -> bool | str:
    """True where there is a rule for the primitive."""
    return primitive.name in RULES or f"it has no lowering to StableHLO for {primitive.name!r}"


def supports(equation: Equation, platform: str) -> bool | str:
    """True where there is a rule for the equation, else the reason why not."""
    answer = takes(equation.primitive)
    when = WHEN.get(equation.primitive.name)
    return answer if when is None else when(platform, equation)


def lower(graph: Graph, donated: Sequence[int] = (), locations: bool = False) -> Lowered:
    """The StableHLO module of a graph.

    Its `donated` inputs are marked as memory that the program may take; with `locations`
    every operation carries the user's line.
    """
    module = Module(RULES, locations)
    main = Emitter(module, "main", private=False)
    main.write(graph, donated)
    functions = [main, *module.functions.values()]
    body = "\n".join(f.text() for f in functions)
    text = f"module @{module_name(graph)} {{\n{body}\n}}\n"
    arrays = tuple(array for _, array in main.arrays.values())
    return Lowered(text, arrays, tuple(module.callbacks), bool(graph.effects))


def module_name(graph: Graph) -> str:
    """What profiles show: the function's or operation's name where there is only one."""
    if len(graph.equations) != 1:
        return "arrayx"
    (e,) = graph.equations
    name = str(e.params.get("name", e.primitive.name)) if e.primitive.name == "call" else ""
    return Module({}).unused(name or e.primitive.name)
