"""What authors of primitives from outside use: the class, its families, types and rules.

A primitive is a class with rules as methods; `docs/extending.md` shows how to write one.
"""

from arrayx.backend.core_primitives import core_set
from arrayx.core.aval import Aval, Undefined
from arrayx.core.checking import check_graph
from arrayx.core.graph import param_class
from arrayx.core.linear import Zero
from arrayx.core.primitive import Fault, Primitive
from arrayx.primitives.axes import move_batch_dim
from arrayx.primitives.families import (
    ANY,
    COMPLEX,
    FLOAT,
    INEXACT,
    INTEGER,
    LOGICAL,
    NUMERIC,
    ORDERED,
    REAL,
    Differentiable,
    Elementwise,
    Linear,
    NonDifferentiable,
    add_tangents,
    aligned,
    binary,
    is_linear,
    same_type,
    scaled,
    step,
    unary,
)

__all__ = [
    "ANY",
    "COMPLEX",
    "FLOAT",
    "INEXACT",
    "INTEGER",
    "LOGICAL",
    "NUMERIC",
    "ORDERED",
    "REAL",
    "Aval",
    "Differentiable",
    "Elementwise",
    "Fault",
    "Linear",
    "NonDifferentiable",
    "Primitive",
    "Undefined",
    "Zero",
    "add_tangents",
    "aligned",
    "binary",
    "check_graph",
    "core_set",
    "is_linear",
    "move_batch_dim",
    "param_class",
    "same_type",
    "scaled",
    "step",
    "unary",
]
