"""A warning for Python loops that were unrolled into a graph, which costs tracing and compiling."""

from __future__ import annotations

import warnings
from collections import Counter

from arrayx.core.graph import Graph
from arrayx.errors import UnrolledLoopWarning

MOST_EQUATIONS = 500
_warned: set[tuple[str, int]] = set()


def warn_of_unrolled_loops(graph: Graph, name: str) -> None:
    """Warns once of each source line that contributed more than 500 equations to a graph."""
    if len(graph.equations) <= MOST_EQUATIONS:
        return
    positions = Counter(e.source for e in graph.equations if e.source is not None)
    lines: Counter[tuple[str, int]] = Counter()
    for position, count in positions.items():
        lines[position.file, position.line] += count
    for (file, line), count in lines.most_common():
        if count <= MOST_EQUATIONS:
            return
        if (file, line) in _warned:
            continue
        _warned.add((file, line))
        warnings.warn_explicit(
            f"this line contributed {count} of the {len(graph.equations)} equations of {name}: a "
            "Python loop is unrolled when it is traced. Use ax.lax.scan or ax.lax.fori_loop, "
            "which trace the body once",
            UnrolledLoopWarning,
            file,
            line,
        )
