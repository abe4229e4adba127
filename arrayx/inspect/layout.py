"""Where the parts of a graph's picture stand: rows by depth, few crossings, no overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from arrayx.core.graph import Equation, Graph, Var, graphs_in
from arrayx.core.printing import names_of, ordered_params

# Of the monospaced font of 12 pixels that the pictures use.
CHARACTER = 7.3
LINE = 20.0
_PADDING = 10.0
_GAP = 24.0
_ROW_GAP = 38.0


@dataclass
class Node:
    """A box of the picture: an input, a constant, an equation, or an output."""

    kind: str
    label: str
    equation: Equation | None = None
    var: Var | None = None
    inside: list[tuple[str, Graph, Picture]] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0

    def measure(self) -> None:
        """Finds the size from the label and the pictures inside."""
        self.width = len(self.label) * CHARACTER + 2 * _PADDING
        self.height = LINE + 6
        for title, _, picture in self.inside:
            wide = max(picture.width, len(title) * CHARACTER)
            self.width = max(self.width, wide + 2 * _PADDING)
            self.height += LINE + picture.height + _PADDING


@dataclass
class Edge:
    """A line from what makes a value to what reads it."""

    start: Node
    end: Node
    label: str


@dataclass
class Picture:
    """A graph with every part placed, the upper left corner at (0, 0)."""

    nodes: list[Node]
    edges: list[Edge]
    width: float = 0.0
    height: float = 0.0


def pictured(graph: Graph) -> Picture:
    """The nodes and edges of a graph, placed; sub-graphs are pictures inside their nodes."""
    names = names_of(graph)
    nodes: list[Node] = []
    edges: list[Edge] = []
    makers: dict[Var, Node] = {}
    depth: dict[int, int] = {}

    def new(node: Node, level: int) -> Node:
        node.measure()
        depth[id(node)] = level
        nodes.append(node)
        return node

    for kind, variables in (("input", graph.inputs), ("constant", graph.constants)):
        for var in variables:
            makers[var] = new(Node(kind, f"{names[var]}: {var.aval}", var=var), 0)
    for equation in graph.equations:
        operands = [a for a in equation.inputs if type(a) is Var]
        literals = [repr(a) for a in equation.inputs if type(a) is not Var]
        node = Node("equation", " ".join([equation.primitive.name, *literals]), equation)
        for param, value in ordered_params(equation.params):
            for i, sub in enumerate(graphs_in(value)):
                title = f"{param}[{i}]" if isinstance(value, tuple) else param
                node.inside.append((title, sub, pictured(sub)))
        level = 1 + max((depth[id(makers[v])] for v in operands), default=0)
        new(node, level)
        for v in dict.fromkeys(operands):
            edges.append(Edge(makers[v], node, f"{names[v]}: {v.aval}"))
        makers.update(dict.fromkeys(equation.outputs, node))
    last = 1 + max(depth.values(), default=0)
    for i, var in enumerate(graph.outputs):
        node = new(Node("output", f"output {i}: {var.aval}", var=var), last)
        edges.append(Edge(makers[var], node, f"{names[var]}: {var.aval}"))
    picture = Picture(nodes, edges)
    _lower_sources(nodes, edges, depth)
    _place(picture, depth)
    return picture


def _lower_sources(nodes: Sequence[Node], edges: Sequence[Edge], depth: dict[int, int]) -> None:
    """Moves constants next to what reads them: they need not stand at the top."""
    nearest: dict[int, int] = {}
    for edge in edges:
        level = depth[id(edge.end)] - 1
        nearest[id(edge.start)] = min(nearest.get(id(edge.start), level), level)
    for node in nodes:
        made = node.kind == "equation" and node.equation is not None and not node.equation.inputs
        if (node.kind == "constant" or made) and id(node) in nearest:
            depth[id(node)] = nearest[id(node)]


def _place(picture: Picture, depth: dict[int, int]) -> None:
    """Row by row from the top, each node below the middle of what it reads."""
    rows: dict[int, list[Node]] = {}
    for node in picture.nodes:
        rows.setdefault(depth[id(node)], []).append(node)
    readers: dict[int, list[Node]] = {}
    for edge in picture.edges:
        readers.setdefault(id(edge.end), []).append(edge.start)
    y = 0.0
    for level in sorted(rows):
        row = rows[level]
        wanted = {}
        for i, node in enumerate(row):
            above = [n for n in readers.get(id(node), ()) if depth[id(n)] < level]
            middles = [n.x + n.width / 2 for n in above]
            wanted[id(node)] = sum(middles) / len(middles) if middles else i * 100.0
        row.sort(key=lambda n: wanted[id(n)])
        right = None
        for node in row:
            x = wanted[id(node)] - node.width / 2
            node.x = x if right is None else max(x, right + _GAP)
            node.y = y
            right = node.x + node.width
        # Pushed to the right one after the other, the row is moved back as a whole.
        shift = sum(wanted[id(n)] - n.x - n.width / 2 for n in row) / len(row)
        for node in row:
            node.x += shift
        y += max(n.height for n in row) + _ROW_GAP
    left = min((n.x for n in picture.nodes), default=0.0)
    for node in picture.nodes:
        node.x -= left
    picture.width = max((n.x + n.width for n in picture.nodes), default=0.0)
    picture.height = max(y - _ROW_GAP, 0.0)
