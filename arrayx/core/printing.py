"""Graphs as text that reads well and parses back: for people, reproducers and cache keys.

    graph(a: float32[3], b: float32[3]) const(c: float32[3]) {
      d: float32[3] = sin a
      e: float32[3] = mul d 2.0
      f: float32[] = reduce_sum[axes=(0,)] e
      return f, d
    }

A variable's type follows its name, weak ones marked `~` and those that vary over mesh axes
`{i,j}`.  Sub-graphs stand among the params, with names of their own; one that occurs again is
written once, after a label, and named by it: `graph=@1 graph(...) {...}`, later `graph=@1`.
Constants are names with types; their values are apart (`constants_of`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import SCALARS
from arrayx.core.aval import Aval
from arrayx.core.graph import Equation, Graph, Var, fields_of, graphs_in
from arrayx.lazy import lazy

hashlib = lazy("hashlib")  # 9 ms, for fingerprints alone

_WIDTH = 96
_SCALARS = frozenset(SCALARS)
# Words that mean something else, so that no variable may be called so.
RESERVED = frozenset(
    {"graph", "const", "return", "True", "False", "None", "inf", "nan", "infj", "nanj"}
)


# ----------------------------------------------------------------- from graphs to text


def variable_names() -> Iterator[str]:
    """a, b, …, z, aa, ab, …

    >>> list(itertools.islice(variable_names(), 28))[-3:]
    ['z', 'aa', 'ab']
    """
    for length in itertools.count(1):
        for letters in itertools.product("abcdefghijklmnopqrstuvwxyz", repeat=length):
            name = "".join(letters)
            if name not in RESERVED:
                yield name


def names_of(graph: Graph) -> dict[Var, str]:
    """The name that each variable has in the graph's text."""
    made = (v for e in graph.equations for v in e.outputs)
    names: dict[Var, str] = {}
    fresh = variable_names()
    for var in itertools.chain(graph.inputs, graph.constants, made):
        if var not in names:
            names[var] = next(fresh)
    return names


def ordered_params(params: dict[str, Any]) -> list[tuple[str, Any]]:
    """Params in the order of the text: by name, those that hold graphs last."""
    return sorted(
        params.items(), key=lambda item: (next(graphs_in(item[1]), None) is not None, item[0])
    )


def format_graph(graph: Graph, sources: bool = False) -> str:
    """The graph as text, which `parse_graph` reads back.

    `sources` adds the line of the user's program that made an equation as a comment.
    """
    printer = _Printer(sources, _occurring_again(graph))
    printer.graph(graph, 0)
    return "".join(printer.parts)


def format_equation(equation: Equation, names: dict[Var, str]) -> str:
    """One equation as a line of text, sub-graphs left out, for messages."""
    printer = _Printer(False, {}, brief=True)
    printer.equation(equation, names, 0)
    return "".join(printer.parts)


def _occurring_again(graph: Graph) -> dict[int, int]:
    """Ids of the sub-graphs that occur more than once; their labels are given later."""
    seen: set[int] = set()
    again: dict[int, int] = {}
    todo = [graph]
    while todo:
        for equation in todo.pop().equations:
            for value in equation.params.values():
                for sub in graphs_in(value):
                    if id(sub) in seen:
                        again[id(sub)] = 0
                    else:
                        seen.add(id(sub))
                        todo.append(sub)
    return again


def constants_of(graph: Graph) -> tuple[Any, ...]:
    """All values of constants, sub-graphs' included, in the order the text names them."""
    found: list[Any] = []
    seen: set[int] = set()

    def visit(graph: Graph) -> None:
        if id(graph) in seen:
            return
        seen.add(id(graph))
        found.extend(graph.constant_values)
        for equation in graph.equations:
            for _, value in ordered_params(equation.params):
                for sub in graphs_in(value):
                    visit(sub)

    visit(graph)
    return tuple(found)


class _Printer:
    """Appends pieces of text to `parts`; pieces are joined once, at the end."""

    def __init__(self, sources: bool, again: dict[int, int], brief: bool = False) -> None:
        self.parts: list[str] = []
        self.sources = sources
        self.brief = brief
        # Labels by id of the sub-graph; 0 until it is printed for the first time.
        self.again = again
        self.labels = itertools.count(1)
        # What cannot be read back.
        self.opaque: list[Any] = []

    def graph(self, graph: Graph, indent: int) -> None:
        if self.brief:
            self.parts.append("graph(...)")
            return
        label = self.again.get(id(graph))
        if label:
            self.parts.append(f"@{label}")
            return
        if label == 0:
            label = self.again[id(graph)] = next(self.labels)
            self.parts.append(f"@{label} ")
        names = names_of(graph)
        self.parts.append("graph")
        self.declarations(graph.inputs, names, indent)
        if graph.constants:
            self.parts.append(" const")
            self.declarations(graph.constants, names, indent)
        self.parts.append(" {")
        line = "\n" + " " * (indent + 2)
        for equation in graph.equations:
            self.parts.append(line)
            self.equation(equation, names, indent + 2)
            if self.sources and equation.source is not None:
                self.parts.append(f"  # {_position(equation.source)}")
        outputs = ", ".join(_name(v, names) for v in graph.outputs)
        self.parts.append(line + ("return " + outputs if outputs else "return"))
        self.parts.append("\n" + " " * indent + "}")

    def declarations(self, variables: Sequence[Var], names: dict[Var, str], indent: int) -> None:
        """Names with types in parentheses: on one line, or each on its own."""
        items = [f"{names[v]}: {v.aval}" for v in variables]
        text = ", ".join(items)
        if indent + len(text) > _WIDTH:
            line = "\n" + " " * (indent + 2)
            text = line + ("," + line).join(items) + ",\n" + " " * indent
        self.parts.append(f"({text})")

    def equation(self, equation: Equation, names: dict[Var, str], indent: int) -> None:
        parts = self.parts
        outputs = equation.outputs
        if outputs:
            parts.append(", ".join([f"{_name(v, names)}: {v.aval!r}" for v in outputs]))
            parts.append(" = ")
        parts.append(equation.primitive.name)
        if equation.params:
            separator = "["
            for name, value in ordered_params(equation.params):
                parts.append(f"{separator}{name}=")
                self.value(value, indent)
                separator = ", "
            parts.append("]")
        for atom in equation.inputs:
            parts.append(" ")
            if type(atom) is Var:
                parts.append(_name(atom, names))
            else:
                self.value(atom, indent)

    def value(self, value: Any, indent: int) -> None:
        """A literal or a param."""
        cls = type(value)
        if value is None or cls in _SCALARS or cls is str:
            self.parts.append(repr(value))
        elif cls is tuple:
            self.tuple(value, indent)
        elif cls is Aval:
            self.parts.append(repr(value))
        elif isinstance(value, np.dtype | dtypes.KeyDtype):
            self.parts.append(dtypes.dtype_name(value))
        elif isinstance(value, Graph):
            self.graph(value, indent)
        elif getattr(cls, "__dataclass_params__", None) is not None:
            self.parts.append(cls.__name__ + "(")
            for i, (name, item) in enumerate(fields_of(value)):
                self.parts.append(f"{', ' if i else ''}{name}=")
                self.value(item, indent)
            self.parts.append(")")
        else:
            self.opaque.append(value)
            self.parts.append(_opaque(value))

    def tuple(self, value: tuple[Any, ...], indent: int) -> None:
        """On one line, or, where there are graphs in it, each item on lines of its own."""
        self.parts.append("(")
        if not self.brief and next(graphs_in(value), None) is not None:
            for item in value:
                self.parts.append("\n" + " " * (indent + 2))
                self.value(item, indent + 2)
                self.parts.append(",")
            self.parts.append("\n" + " " * indent + ")")
            return
        for i, item in enumerate(value):
            if i:
                self.parts.append(", ")
            self.value(item, indent)
        self.parts.append(",)" if len(value) == 1 else ")")


def _name(var: Var, names: dict[Var, str]) -> str:
    # Ill-formed graphs are printed too, by the checker's messages.
    return names.get(var) or f"<undefined {var.aval}>"


def _opaque(value: Any) -> str:
    """In place of what text cannot hold: functions and what is no param at all."""
    if callable(value):
        name = getattr(value, "__name__", type(value).__name__)
        return f"<function {name.strip('<>')}>"
    shown = re.sub(r"[<>\s]+", " ", repr(value))[:60].strip()
    return f"<{type(value).__name__} {shown}>"


def _position(source: Any) -> str:
    file = getattr(source, "file", None)
    return f"{file}:{source.line}" if file is not None else " ".join(str(source).split())


# ----------------------------------------------------------------- identity across processes


class Absent:
    """Stands for the value of a constant in a graph that was parsed without values."""

    __slots__ = ("aval",)

    def __init__(self, aval: Aval) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"<the absent constant of type {self.aval}; give parse_graph the values>"


def fingerprint(graph: Graph) -> str:
    """A name for the program, the same in every process: sha256 of text and constants.

    Raises `GraphError` for a graph with functions among its params, which have no such
    name, or with constants whose values are absent.
    """
    if "fingerprint" in graph.memo:
        return graph.memo["fingerprint"]  # type: ignore[no-any-return]
    printer = _Printer(False, _occurring_again(graph))
    printer.graph(graph, 0)
    if printer.opaque:
        raise errors.GraphError(
            f"a graph that holds {_opaque(printer.opaque[0])} has no fingerprint: a function "
            "is not the same from one process to the next"
        )
    digest = hashlib.sha256(b"arrayx graph 1\n")
    digest.update("".join(printer.parts).encode())
    for value in constants_of(graph):
        if type(value) is Absent:
            raise errors.GraphError("a graph without its constants' values has no fingerprint")
        host = value.host() if hasattr(value, "host") else np.asarray(value)
        digest.update(f"\n{host.dtype}{host.shape}\n".encode())
        if host.nbytes:
            digest.update(np.ascontiguousarray(host).reshape(-1).view(np.uint8).data)
    graph.memo["fingerprint"] = digest.hexdigest()
    return graph.memo["fingerprint"]  # type: ignore[no-any-return]


Graph.text = format_graph
