"""Graphs as pictures: text in the DOT language, for Graphviz and what reads its files."""

from __future__ import annotations

from arrayx.core.graph import Graph, Var, graphs_in
from arrayx.core.printing import names_of, ordered_params


def to_dot(graph: Graph) -> str:
    """The graph in the DOT language: equations are boxes, sub-graphs are clusters.

    Render it with `dot -Tsvg`, or any viewer of DOT files.
    """
    drawing = _Drawing()
    drawing.graph(graph, "  ")
    return "digraph {\n  node [fontname=monospace]\n" + "\n".join(drawing.lines) + "\n}\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Drawing:
    """Nodes are numbered over the whole picture; each graph has names of its own."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def node(self, label: str, shape: str, indent: str) -> str:
        name = f"n{self.count}"
        self.count += 1
        self.lines.append(f"{indent}{name} [shape={shape}, label={_quoted(label)}]")
        return name

    def graph(self, graph: Graph, indent: str) -> None:
        names = names_of(graph)
        makers: dict[Var, str] = {}
        for kind, variables in (("ellipse", graph.inputs), ("cylinder", graph.constants)):
            for var in variables:
                makers[var] = self.node(f"{names[var]}: {var.aval}", kind, indent)
        for equation in graph.equations:
            literals = [repr(a) for a in equation.inputs if type(a) is not Var]
            label = " ".join([equation.primitive.name, *literals])
            box = self.node(label, "box", indent)
            for atom in equation.inputs:
                if type(atom) is Var:
                    self.edge(makers[atom], box, f"{names[atom]}: {atom.aval}", indent)
            makers.update(dict.fromkeys(equation.outputs, box))
            for param, value in ordered_params(equation.params):
                for i, sub in enumerate(graphs_in(value)):
                    label = f"{equation.primitive.name} {param} {i}"
                    self.lines.append(f"{indent}subgraph cluster_{box}_{param}_{i} {{")
                    self.lines.append(f"{indent}  label={_quoted(label)}")
                    self.graph(sub, indent + "  ")
                    self.lines.append(f"{indent}}}")
        for i, var in enumerate(graph.outputs):
            end = self.node(f"output {i}", "ellipse", indent)
            self.edge(makers[var], end, f"{names[var]}: {var.aval}", indent)

    def edge(self, start: str, end: str, label: str, indent: str) -> None:
        self.lines.append(f"{indent}{start} -> {end} [label={_quoted(label)}]")
