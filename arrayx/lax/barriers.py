"""`optimization_barrier`: what compilers may not look through."""

from __future__ import annotations

from typing import Any

from arrayx.api.operands import arrays_of, home_of
from arrayx.primitives.barrier import optimization_barrier as optimization_barrier_primitive
from arrayx.tree_nodes import keystr
from arrayx.treedef import flatten, flatten_with_path, unflatten

__all__ = ["optimization_barrier"]


def optimization_barrier(operand: Any, /) -> Any:
    """The tree of arrays `operand`, as values that compilers know nothing of.

    What is computed from the result is not merged with equal work on the operand, and is done
    after all of the operand is there.

    >>> import arrayx as ax
    >>> ax.lax.optimization_barrier((1.0, 2))
    (Array(1., dtype=float32, weak_type=True), Array(2, dtype=int32, weak_type=True))
    """
    leaves, tree = flatten(operand)

    def paths() -> list[str]:
        return ["operand" + keystr(path) for path, _ in flatten_with_path(operand)[0]]

    arrays = arrays_of(leaves, home_of(leaves), "ax.lax.optimization_barrier", paths)
    return unflatten(tree, list(optimization_barrier_primitive(*arrays)) if arrays else [])
