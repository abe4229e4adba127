"""Floor 1: what a program is."""

from arrayx.core.interpreter import Tracer

__all__ = ["Tracer"]
