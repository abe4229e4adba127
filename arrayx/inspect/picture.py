"""Graphs as pictures that need nothing else: SVG, and HTML pages around it."""

from __future__ import annotations

import html
import os
from collections.abc import Callable
from typing import Any

from arrayx import errors
from arrayx.api.staging import make_graph
from arrayx.core.drawing import to_dot
from arrayx.core.graph import Graph, Var
from arrayx.inspect.cost import bytes_of, flops_of, graph_cost, quantity
from arrayx.inspect.layout import LINE, Node, Picture, pictured
from arrayx.transforms.fuse import ROW_REDUCTIONS, Policy, plan

FORMS = ("dot", "svg", "html")
# Light enough for black text; groups that follow each other differ.
_COLOURS = ("#cfe8ff", "#ffe3b3", "#d5f2c8", "#f6cfe0", "#e0d7ff", "#fff2a8", "#c9f1ee", "#ffd3c7")
_PLAIN = "#f2f2f2"
_MARGIN = 16.0

_STYLE = """\
text { font: 12px monospace; }
.box { stroke: #444; }
.input .box { fill: #ffffff; stroke-width: 2; }
.constant .box { fill: #ffffff; stroke-dasharray: 4 2; }
.output .box { fill: #ffffff; stroke-width: 2; }
.edge { fill: none; stroke: #888; stroke-width: 1.2; }
.edge:hover { stroke: #000; stroke-width: 2.5; }
g.node:hover > .box { stroke-width: 3; }
.title { fill: #555; }
"""


def drawn(graph: Graph, form: str = "svg") -> str:
    """The picture of a graph as text: "dot" for Graphviz, "svg", or "html" for a browser."""
    if form == "dot":
        return to_dot(graph)
    if form == "svg":
        return to_svg(graph)
    if form == "html":
        return to_html(graph)
    raise errors.ArgumentError(f"graph.draw: the form is one of {', '.join(FORMS)}, got {form!r}")


def draw(fun: Callable[..., Any] | Graph, path: str | os.PathLike[str]) -> Callable[..., None]:
    """A function that writes the picture of `fun` for its arguments to a file.

    The file's ending says the form: .svg, .html or .dot.

    >>> import pathlib, tempfile, arrayx as ax, arrayx.numpy as anp
    >>> path = pathlib.Path(tempfile.mkdtemp(), "sine.svg")
    >>> ax.inspect.draw(lambda x: anp.sin(x) * 2, path)(anp.ones(3))
    >>> path.read_text().startswith("<svg")
    True
    """
    form = os.path.splitext(os.fspath(path))[1][1:]
    if form not in FORMS:
        raise errors.ArgumentError(
            f"ax.inspect.draw: {os.fspath(path)!r} ends in none of {', '.join(FORMS)}"
        )

    def write(*args: Any, **kwargs: Any) -> None:
        graph = fun if isinstance(fun, Graph) else make_graph(fun)(*args, **kwargs)
        text = drawn(graph, form)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    return write


def to_html(graph: Graph) -> str:
    """A page with the picture, and what the graph costs line by line."""
    table = html.escape(str(graph_cost(graph)))
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        "<title>arrayx graph</title>\n"
        "<style>body { margin: 1em; font-family: sans-serif; } "
        "div { overflow: auto; border: 1px solid #ccc; }</style></head>\n"
        f"<body>\n<div>{to_svg(graph)}</div>\n<pre>{table}</pre>\n"
        "<p>Boxes of one colour are run as one loop. Point at a box for its source line, flops "
        "and bytes; at a line for the value it carries.</p>\n</body>\n</html>\n"
    )


def to_svg(graph: Graph) -> str:
    """The picture as one SVG element, with styles inside."""
    picture = pictured(graph)
    width, height = picture.width + 2 * _MARGIN, picture.height + 2 * _MARGIN
    writer = _Writer()
    writer.picture(picture, _MARGIN, _MARGIN, _colours(graph))
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    body = "\n".join(writer.lines)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n<style>{_STYLE}</style>\n{body}\n</svg>'
    )


def _colours(graph: Graph) -> dict[Var, str]:
    """The colour of each variable whose equation shares a loop with another."""
    found: dict[Var, str] = {}
    number = 0
    for group in plan(graph, Policy(ROW_REDUCTIONS, duplicate=False)):
        if len(group.graph.equations) > 1:
            colour = _COLOURS[number % len(_COLOURS)]
            number += 1
            for equation in group.graph.equations:
                found.update(dict.fromkeys(equation.outputs, colour))
    return found


class _Writer:
    """The lines of an SVG, part by part."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def picture(self, picture: Picture, x: float, y: float, colours: dict[Var, str]) -> None:
        """A picture whose corner is at (x, y)."""
        for edge in picture.edges:
            x0, y0 = x + edge.start.x + edge.start.width / 2, y + edge.start.y + edge.start.height
            x1, y1 = x + edge.end.x + edge.end.width / 2, y + edge.end.y
            bend = (y1 - y0) / 2
            path = (
                f"M{x0:.0f},{y0:.0f} C{x0:.0f},{y0 + bend:.0f} "
                f"{x1:.0f},{y1 - bend:.0f} {x1:.0f},{y1:.0f}"
            )
            title = f"<title>{html.escape(edge.label)}</title>"
            self.lines.append(f'<path class="edge" d="{path}">{title}</path>')
        for node in picture.nodes:
            self.node(node, x, y, colours)

    def node(self, node: Node, x: float, y: float, colours: dict[Var, str]) -> None:
        """One box, with the pictures inside."""
        left, top = x + node.x, y + node.y
        fill = ""
        if node.equation is not None:
            outputs = node.equation.outputs
            fill = f' fill="{colours.get(outputs[0], _PLAIN) if outputs else _PLAIN}"'
        radius = 12 if node.kind != "equation" else 2
        self.lines.append(
            f'<g class="node {node.kind}"><title>{html.escape(_hover(node))}</title>'
            f'<rect class="box" x="{left:.0f}" y="{top:.0f}" width="{node.width:.0f}" '
            f'height="{node.height:.0f}" rx="{radius}"{fill}/>'
            f'<text x="{left + 10:.0f}" y="{top + 17:.0f}">{html.escape(node.label)}</text>'
        )
        below = top + LINE + 6
        for title, graph, inner in node.inside:
            self.lines.append(
                f'<text class="title" x="{left + 10:.0f}" y="{below + 12:.0f}">'
                f"{html.escape(title)}</text>"
            )
            self.picture(inner, left + 10, below + LINE, _colours(graph))
            below += LINE + inner.height + 10
        self.lines.append("</g>")


def _hover(node: Node) -> str:
    """What is shown where the pointer rests on a box."""
    if node.equation is None:
        return node.label
    equation = node.equation
    lines = [", ".join(str(v.aval) for v in equation.outputs)]
    if equation.source is not None:
        lines.append(str(equation.source))
    if not node.inside:
        flops, moved = quantity(flops_of(equation)), quantity(bytes_of(equation))
        lines.append(f"{flops}flop, {moved}B")
    return "\n".join(lines)
