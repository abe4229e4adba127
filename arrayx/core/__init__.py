"""What a program is: types, graphs, primitives and interpreters (floor 1)."""

from arrayx.core.interpreter import Tracer

__all__ = ["Tracer"]
