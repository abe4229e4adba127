"""`graph.draw`: given to graphs here, drawn by a module that nobody needs before."""

from __future__ import annotations

from arrayx.core.graph import Graph
from arrayx.lazy import lazy

__all__ = ["Graph", "draw"]

_picture = lazy("arrayx.inspect.picture")


def draw(graph: Graph, form: str = "svg") -> str:
    """The picture of the graph as text: "svg", "html", or "dot" for Graphviz.

    Sub-graphs are boxes inside their equation's; equations of one colour are run as one loop.
    Where a box is pointed at, its source line, flops and bytes are shown.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> graph = ax.make_graph(anp.sin)(anp.ones(3))
    >>> graph.draw("svg").startswith("<svg")
    True
    """
    text: str = _picture.drawn(graph, form)
    return text


Graph.draw = draw
