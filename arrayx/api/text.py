"""Graphs from text, with every primitive at hand that a text may name."""

from __future__ import annotations

# A primitive is known by name once its module is imported; these are imported late otherwise.
from arrayx import random, scipy
from arrayx.core.parsing import parse_graph

__all__ = ["parse_graph", "random", "scipy"]
